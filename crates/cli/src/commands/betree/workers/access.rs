//! Who we are to the broker: the engine is chosen by the addresses, and flags of the other one are refused.

#[cfg(feature = "kafka")]
use workers::kafka;
use workers::nats;

use crate::args::broker::{Address, BrokerArgs};
#[cfg(feature = "kafka")]
use crate::failure::Failure;
use crate::failure::Result;

/// Two addresses of one kind of broker, and who we are there.
pub(super) enum Pair<'a> {
    Nats(&'a nats::Address, &'a nats::Address, nats::Access),
    #[cfg(feature = "kafka")]
    Kafka(&'a kafka::Address, &'a kafka::Address, kafka::Access),
}

/// Reads secrets for the broker of both addresses.
pub(super) fn pair<'a>(
    one: &'a Address,
    other: &'a Address,
    flags: &BrokerArgs,
) -> Result<Pair<'a>> {
    match (one, other) {
        (Address::Nats(one), Address::Nats(other)) => {
            #[cfg(feature = "kafka")]
            if flags.kafka.kafka_config.is_some() {
                return Err(Failure::usage("--kafka-config is for addresses kafka://…")
                    .help("leave it out, or see --creds, --user and --token-file"));
            }
            Ok(Pair::Nats(
                one,
                other,
                crate::commands::nats::access(&flags.nats)?,
            ))
        }
        #[cfg(feature = "kafka")]
        (Address::Kafka(one), Address::Kafka(other)) => {
            if let Some(flag) = flags.nats.stated() {
                return Err(Failure::usage(format!(
                    "{flag} is for addresses nats://… and tls://…"
                ))
                .help("put what the client of Kafka needs in a file: --kafka-config"));
            }
            let access = crate::commands::kafka::access(&flags.kafka)?;
            Ok(Pair::Kafka(one, other, access))
        }
        #[cfg(feature = "kafka")]
        _ => {
            let message = format!("{one} and {other} are of different brokers");
            Err(Failure::usage(message).help("blocks and their answers have the same broker"))
        }
    }
}
