//! Clients of librdkafka: their settings, what they hear, and what their errors mean.
//!
//! Its defaults wait for minutes where a server is away. Here each call is bounded by seconds, and whoever calls tries
//! again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rdkafka::client::ClientContext;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, Consumer as _, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::statistics::Statistics;

use crate::error::{Error, Result};
use crate::kafka::access::Access;
use crate::kafka::address::Address;

/// How long a call may wait for servers.
pub(super) const ANSWER: Duration = Duration::from_secs(6);
/// How long to hear why there is no connection.
const HEAR: Duration = Duration::from_millis(50);
/// How long a transaction may take before servers give it up.
pub(super) const TRANSACTION: Duration = Duration::from_secs(10);

/// How long a connection of a client that stores may be idle: well within a transaction.
const IDLE: Duration = Duration::from_secs(5);

/// The settings of every client.
pub(super) fn config(address: &Address, access: &Access) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set_log_level(RDKafkaLogLevel::Emerg);
    for (key, value) in [
        ("client.id", "perfkit"),
        ("socket.timeout.ms", "6000"),
        ("socket.connection.setup.timeout.ms", "6000"),
        ("reconnect.backoff.ms", "50"),
        ("reconnect.backoff.max.ms", "500"),
        ("retry.backoff.ms", "100"),
        ("retry.backoff.max.ms", "500"),
        ("topic.metadata.propagation.max.ms", "5000"),
    ] {
        config.set(key, value);
    }
    for (key, value) in access.settings() {
        config.set(key, value);
    }
    config.set("bootstrap.servers", address.servers());
    config
}

/// The settings of a client that reads what transactions have stored.
pub(super) fn reader(address: &Address, access: &Access) -> ClientConfig {
    let mut config = config(address, access);
    for (key, value) in [
        ("isolation.level", "read_committed"),
        ("enable.auto.commit", "false"),
        ("enable.auto.offset.store", "false"),
        ("auto.offset.reset", "earliest"),
        ("allow.auto.create.topics", "false"),
        // Nobody joins it, but the client wants one.
        ("group.id", "perfkit"),
        ("queued.max.messages.kbytes", "8192"),
        ("fetch.wait.max.ms", "100"),
    ] {
        config.set(key, value);
    }
    config
}

/// The settings of a client that stores in transactions, messages up to a length.
pub(super) fn writer(
    address: &Address,
    access: &Access,
    transactional: &str,
    bytes_max: usize,
) -> ClientConfig {
    let mut config = config(address, access);
    config.set("transactional.id", transactional);
    config.set(
        "transaction.timeout.ms",
        TRANSACTION.as_millis().to_string(),
    );
    config.set("acks", "all");
    config.set("linger.ms", "0");
    // After an outage the client may wait for the coordinator of a group on a connection that it has given up, beyond
    // all timeouts, until another connection opens or closes (librdkafka's issues 5456 and 5511). An idle one does.
    config.set("connections.max.idle.ms", IDLE.as_millis().to_string());
    // A batch of messages is bounded as one message is.
    let bytes_max = bytes_max.clamp(1_000, 1_000_000_000).to_string();
    config.set("message.max.bytes", bytes_max);
    config
}

/// What a client says by itself: the last reason why it has no connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard(Arc<Mutex<Option<String>>>);

impl Heard {
    fn last(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Only what is said from now on counts.
    pub(super) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl ClientContext for Heard {
    // Servers that close a connection are not errors to the client, which only logs them.
    fn log(&self, _: RDKafkaLogLevel, facility: &str, text: &str) {
        if facility == "FAIL" {
            let text = text.split_once("]: ").map_or(text, |(_, text)| text);
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.to_owned());
        }
    }

    fn stats(&self, _: Statistics) {}

    fn error(&self, error: KafkaError, reason: &str) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // That none is left says less than why the last one is not.
        if last.is_none() || code(&error) != Some(Code::AllBrokersDown) {
            *last = Some(reason.to_owned());
        }
    }
}

impl ConsumerContext for Heard {}

/// Makes a client that reads, and is in no group.
pub(super) fn open_reader(config: &ClientConfig) -> Result<BaseConsumer<Heard>> {
    let mut config = config.clone();
    config.set_log_level(RDKafkaLogLevel::Info);
    config
        .create_with_context(Heard::default())
        .map_err(|error| wrong(&error))
}

/// Why a client cannot be made. The values of settings are not shown.
pub(super) fn wrong(error: &KafkaError) -> Error {
    let reason = match error {
        KafkaError::ClientConfig(_, _, key, _) => {
            format!("{key} is no setting, or has no such value")
        }
        error => reason(error),
    };
    Error::Settings {
        what: "the settings of the client".to_owned(),
        reason,
        help: "see the file of --kafka-config, and CONFIGURATION.md of librdkafka; this build has no Kerberos"
            .to_owned(),
    }
}

/// The code of an error, if it has one.
pub(super) fn code(error: &KafkaError) -> Option<Code> {
    match error {
        KafkaError::Transaction(error) => Some(error.code()),
        error => error.rdkafka_error_code(),
    }
}

/// An error in words.
pub(super) fn reason(error: &KafkaError) -> String {
    match error {
        KafkaError::Transaction(error) => error.string(),
        error => code(error).map_or_else(|| error.to_string(), |code| code.to_string()),
    }
}

/// What an error means for whoever did `what`: that it may be tried again, or not.
pub(super) fn meaning(what: &str, error: &KafkaError) -> Error {
    let reason = reason(error);
    let message = format!("{what}: {reason}");
    let help = match code(error) {
        Some(Code::InvalidTransactionTimeout) => {
            return Error::Settings {
                what: "the servers".to_owned(),
                reason: format!(
                    "they allow no transactions of {} s, so that answers and the place up to which blocks are done \
                     cannot be stored together ({reason})",
                    TRANSACTION.as_secs()
                ),
                help: format!(
                    "set transaction.max.timeout.ms to {} or more",
                    TRANSACTION.as_millis()
                ),
            };
        }
        Some(Code::InvalidSessionTimeout) => {
            return Error::Settings {
                what: "--ack-wait".to_owned(),
                reason: format!(
                    "the servers do not wait for so long for a worker, or for longer ({reason})"
                ),
                help: "choose one between group.min.session.timeout.ms (6 s by default) and \
                       group.max.session.timeout.ms of the servers (30 min)"
                    .to_owned(),
            };
        }
        Some(Code::UnsupportedFeature | Code::UnsupportedVersion) => {
            "transactions need servers of Kafka 2.5 or later"
        }
        Some(Code::Authentication | Code::SaslAuthenticationFailed) => {
            "see the file of --kafka-config"
        }
        Some(
            Code::TopicAuthorizationFailed
            | Code::GroupAuthorizationFailed
            | Code::ClusterAuthorizationFailed
            | Code::TransactionalIdAuthorizationFailed,
        ) => {
            "allow this user to read and write the topics, and to use groups and transactional ids of this prefix"
        }
        Some(Code::InconsistentGroupProtocol) => {
            "members of the group are no workers of perfkit: choose another --consumer"
        }
        _ => return Error::Later(message),
    };
    Error::refused(message, help)
}

/// Why there is no connection, as far as a client has said. The callback that hears it is served by a poll.
pub(super) fn heard_after_poll(consumer: &BaseConsumer<Heard>) -> Option<String> {
    let _ = consumer.poll(HEAR);
    consumer.context().last()
}

/// Whether servers were not even reached, by what the client says.
pub(super) fn is_unreached(reason: &str) -> bool {
    let said = ["state CONNECT)", "Connection refused", "resolve"];
    said.iter().any(|said| reason.contains(said))
}

/// Asks whether servers answer.
pub(super) fn check(consumer: &BaseConsumer<Heard>, address: &Address) -> Result<()> {
    let found = consumer
        .client()
        .fetch_metadata(Some(address.topic()), ANSWER);
    let Err(error) = found else { return Ok(()) };
    let heard = heard_after_poll(consumer);
    let reason = heard.unwrap_or_else(|| reason(&error));
    let (message, help) = (
        format!("cannot connect to {address}: {reason}"),
        advice(&reason),
    );
    Err(match is_unreached(&reason) {
        true => Error::absent(message, help),
        false => Error::refused(message, help),
    })
}

/// What to do where the server refuses the client's certificate, or the lack of one.
const CERTIFICATE: &str = "the server wants a certificate that it trusts: write ssl.certificate.location=FILE and \
     ssl.key.location=FILE into the file of --kafka-config";

/// What to do where there is no connection, for a reason in the words of the client.
fn advice(reason: &str) -> &'static str {
    let cases = [
        (
            "certificate could not be verified",
            "name the authority that signed the server's certificate, ssl.ca.location=FILE in the file of --kafka-config, \
             and the server by a name that its certificate has",
        ),
        (
            "PLAINTEXT broker listener",
            "the server may have no TLS at this port: see its listeners, and security.protocol in the file of \
             --kafka-config",
        ),
        // What a server answers to no certificate depends on its version of TLS and its library.
        ("certificate required", CERTIFICATE),
        ("alert bad certificate", CERTIFICATE),
        // The first request gets no answer.
        (
            "state APIVERSION_QUERY",
            "the server may want TLS: write security.protocol=SSL, or SASL_SSL, and ssl.ca.location=FILE into the file of \
             --kafka-config",
        ),
    ];
    let found = cases.iter().find(|(said, _)| reason.contains(said));
    found.map_or(
        "see that the server runs, its port (9092 unless stated), the listeners that it advertises, and --kafka-config",
        |(_, help)| help,
    )
}
