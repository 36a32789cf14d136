//! Addresses of streams, whichever broker has them, and how to reach Kafka.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use files::conflicts::Files;
use workers::nats;

use crate::args::nats::AccessArgs;
use crate::args::units;

/// A stream of NATS JetStream, or a topic of Kafka.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Nats(nats::Address),
    #[cfg(feature = "kafka")]
    Kafka(workers::kafka::Address),
}

impl Address {
    /// The name of the stream or topic.
    pub(crate) fn stream(&self) -> &str {
        match self {
            Self::Nats(address) => address.stream(),
            #[cfg(feature = "kafka")]
            Self::Kafka(address) => address.topic(),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.starts_with("kafka://") {
            true => kafka(text),
            false => match text.parse() {
                Ok(address) => Ok(Self::Nats(address)),
                #[cfg(feature = "kafka")]
                Err(error @ nats::WrongAddress::Form) => {
                    Err(format!("{error}, or kafka://HOST[:PORT]/TOPIC"))
                }
                Err(error) => Err(error.to_string()),
            },
        }
    }
}

#[cfg(feature = "kafka")]
fn kafka(text: &str) -> Result<Address, String> {
    let address = text.parse();
    address
        .map(Address::Kafka)
        .map_err(|error: workers::kafka::WrongAddress| error.to_string())
}

#[cfg(not(feature = "kafka"))]
fn kafka(_: &str) -> Result<Address, String> {
    Err("this build has no Kafka: build it with --features kafka".to_owned())
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nats(address) => address.fmt(out),
            #[cfg(feature = "kafka")]
            Self::Kafka(address) => address.fmt(out),
        }
    }
}

/// How long to wait for what is not there yet.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WaitArgs {
    /// How long to wait for a server, a stream or others that are not there yet
    ///
    /// Then it ends with 1. What does not get better by waiting ends it at once: a certificate that is not trusted,
    /// credentials that the server does not take, what it does not permit.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = units::duration, hide_short_help = true)]
    pub(crate) wait: Duration,
}

/// Who we are to whichever broker it is.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BrokerArgs {
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) nats: AccessArgs,
    #[cfg(feature = "kafka")]
    #[command(flatten)]
    pub(crate) kafka: KafkaArgs,
}

impl BrokerArgs {
    /// What they read.
    pub(crate) fn files<'a>(&'a self, files: Files<'a>) -> Files<'a> {
        #[cfg(feature = "kafka")]
        let files = self.kafka.files(files);
        self.nats.files(files)
    }
}

/// How to reach servers of Kafka.
#[cfg(feature = "kafka")]
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Access")]
pub(crate) struct KafkaArgs {
    /// File with lines `key=value` for the client of Kafka, secrets included; or KAFKA_CONFIG
    ///
    /// The keys are those of librdkafka: sasl.username, sasl.password, client.id. Settings that would break the promise
    /// that each event is answered once are refused.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) kafka_config: Option<std::path::PathBuf>,
}

#[cfg(feature = "kafka")]
impl KafkaArgs {
    /// What it reads.
    pub(crate) fn files<'a>(&'a self, files: Files<'a>) -> Files<'a> {
        files.reads_some("--kafka-config", &self.kafka_config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_says_which_broker() {
        let address: Address = "nats://a/IN".parse().unwrap();
        assert_eq!(
            (address.stream(), address.to_string().as_str()),
            ("IN", "nats://a/IN")
        );
        let kafka = "kafka://a/in".parse::<Address>();
        match cfg!(feature = "kafka") {
            true => assert_eq!(kafka.unwrap().to_string(), "kafka://a:9092/in"),
            false => assert!(kafka.unwrap_err().contains("--features kafka")),
        }
        let other = "http://a/IN".parse::<Address>().unwrap_err();
        assert!(other.contains("nats://HOST"), "{other}");
    }
}
