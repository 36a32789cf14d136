//! How to reach servers and who somebody is to them: lines `key=value` of a file, as librdkafka or Kafka's own tools name
//! them. What would break the promise that an event is answered once is refused; values are never shown.

use std::fmt;

use crate::error::Error;
use crate::kafka::java::{self, JAAS, Setting};

/// Settings of the client.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Access {
    settings: Vec<(String, String)>,
}

/// Settings that are perfkit's own, and why nobody else may have a say.
const OWN: [(&str, &str); 28] = [
    (
        "bootstrap.servers",
        "the address says where the servers are",
    ),
    (
        "metadata.broker.list",
        "the address says where the servers are",
    ),
    ("group.id", "it is made of the topic and of --consumer"),
    (
        "transactional.id",
        "it is made of the group and the partition, so that a new owner shuts out the one before",
    ),
    (
        "enable.auto.commit",
        "a block would be committed before its answer is stored, and lost with its worker",
    ),
    (
        "auto.commit.enable",
        "a block would be committed before its answer is stored, and lost with its worker",
    ),
    (
        "auto.commit.interval.ms",
        "a block is committed in the transaction of its answer",
    ),
    (
        "enable.auto.offset.store",
        "a block would be committed before its answer is stored, and lost with its worker",
    ),
    (
        "isolation.level",
        "answers of transactions that were given up would be read",
    ),
    (
        "auto.offset.reset",
        "blocks from before the first worker would be left out",
    ),
    ("enable.idempotence", "an answer could be stored twice"),
    ("enable.gapless.guarantee", "transactions do the same"),
    ("acks", "an answer could be lost with a server"),
    (
        "request.required.acks",
        "an answer could be lost with a server",
    ),
    ("max.in.flight", "it belongs to the order of answers"),
    (
        "max.in.flight.requests.per.connection",
        "it belongs to the order of answers",
    ),
    (
        "transaction.timeout.ms",
        "it bounds how long a killed worker holds up others",
    ),
    (
        "message.timeout.ms",
        "it belongs to the timeout of transactions",
    ),
    (
        "delivery.timeout.ms",
        "it belongs to the timeout of transactions",
    ),
    (
        "connections.max.idle.ms",
        "it ends waits for servers that are gone",
    ),
    ("session.timeout.ms", "--ack-wait says it"),
    ("max.poll.interval.ms", "it belongs to --ack-wait"),
    ("heartbeat.interval.ms", "it belongs to --ack-wait"),
    (
        "partition.assignment.strategy",
        "workers of one group need the same one",
    ),
    ("group.protocol", "workers of one group need the same one"),
    (
        "group.instance.id",
        "a worker that is started again would wait for the one before",
    ),
    (
        "enable.partition.eof",
        "the ends of partitions are looked for",
    ),
    ("message.max.bytes", "the topics say it"),
];

/// The most settings of a file.
const SETTINGS_MAX: usize = 256;

/// Whether the client was built with OpenSSL.
const HAS_TLS: bool = cfg!(feature = "kafka-tls");

/// Whether a setting wants what OpenSSL does.
fn needs_tls(key: &str, value: &str) -> bool {
    let value = value.to_ascii_uppercase();
    match key {
        "security.protocol" => matches!(value.as_str(), "SSL" | "SASL_SSL"),
        "sasl.mechanism" | "sasl.mechanisms" => value.starts_with("SCRAM-"),
        key => key.starts_with("ssl."),
    }
}

impl Access {
    /// Reads lines `key=value`. Empty lines and those that start with `#` say nothing. `name` is that of the file.
    ///
    /// # Errors
    ///
    /// If a line is no setting, or a setting would break what is promised, or this build or the client cannot do what it
    /// says.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let refuse = |line: usize, reason: String, help: &str| Error::Settings {
            what: format!("{name}, line {line}"),
            reason,
            help: help.to_owned(),
        };
        let mut settings = Vec::new();
        let mut lines = (1..).zip(text.lines());
        while let Some((line, text)) = lines.next() {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let pair = text.split_once('=');
            let (key, value) = pair.map_or(("", ""), |(key, value)| (key.trim(), value.trim()));
            let is_key = |letter: char| letter.is_ascii_lowercase() || matches!(letter, '.' | '_');
            if key.is_empty() || !key.chars().all(is_key) || value.contains('\0') {
                let reason = "it is not a setting".to_owned();
                return Err(refuse(
                    line,
                    reason,
                    "write `key=value`, with the keys of librdkafka",
                ));
            }
            if let Some((_, why)) = OWN.iter().find(|(own, _)| *own == key) {
                let reason = format!("{key} is not for the file to set: {why}");
                return Err(refuse(line, reason, "leave the line out"));
            }
            if needs_tls(key, value) && !HAS_TLS {
                let reason = format!("{key}: this build has no TLS and no SCRAM for Kafka");
                return Err(refuse(line, reason, "build it with --features kafka-tls"));
            }
            if settings.len() == SETTINGS_MAX {
                let reason = format!("there are more than {SETTINGS_MAX} settings");
                return Err(refuse(line, reason, "leave some out"));
            }
            let mut value = value.to_owned();
            while key == JAAS && value.ends_with('\\') {
                value.pop();
                value.push_str(lines.next().map_or("", |(_, more)| more.trim()));
            }
            let key = key.to_owned();
            settings.push(Setting { line, key, value });
        }
        let settings = java::translate(settings)
            .map_err(|wrong| refuse(wrong.line, wrong.reason.to_owned(), wrong.help))?;
        let settings = settings.into_iter().map(|one| (one.key, one.value));
        Ok(Self {
            settings: settings.collect(),
        })
    }

    pub(super) fn settings(&self) -> &[(String, String)] {
        &self.settings
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self.settings.iter().map(|(key, _)| key.as_str()).collect();
        out.debug_struct("Access").field("settings", &keys).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_settings_and_values_are_not_shown() {
        let text = "# who\nsasl.username = me\n\nsasl.password=s3cret=1\n";
        let access = Access::parse("file", text).unwrap();
        assert_eq!(access.settings()[1].1, "s3cret=1");
        let shown = format!("{access:?}");
        assert!(
            shown.contains("sasl.password") && !shown.contains("s3cret"),
            "{shown}"
        );
    }

    #[test]
    fn files_of_kafka_s_tools_serve_as_they_are() {
        let text = "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n  \
                    username=\"me\" \\\n  password=\"s3cret\";\nclient.id=mine\n";
        let access = Access::parse("file", text).unwrap();
        let said: Vec<_> = access.settings().iter().collect();
        let pairs = [
            ("sasl.username", "me"),
            ("sasl.password", "s3cret"),
            ("client.id", "mine"),
        ];
        for (said, (key, value)) in said.iter().zip(pairs) {
            assert_eq!((said.0.as_str(), said.1.as_str()), (key, value));
        }
        assert_eq!(said.len(), 3);
        let error = Access::parse("file", "a=b\nsasl.jaas.config=Other s3cret").unwrap_err();
        let shown = error.to_string();
        assert!(shown.contains("file, line 2: sasl.jaas.config"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn tls_is_a_feature() {
        for text in [
            "security.protocol=SSL",
            "security.protocol=sasl_ssl",
            "sasl.mechanism=SCRAM-SHA-512",
            "ssl.ca.location=ca.pem",
        ] {
            let parsed = Access::parse("file", text);
            match HAS_TLS {
                true => assert_eq!(parsed.unwrap().settings().len(), 1, "{text}"),
                false => {
                    let error = parsed.unwrap_err();
                    assert!(error.to_string().contains("no TLS"), "{error}");
                    assert!(error.help().unwrap().contains("kafka-tls"));
                }
            }
        }
        assert!(Access::parse("file", "security.protocol=SASL_PLAINTEXT").is_ok());
    }

    #[test]
    fn what_breaks_the_promise_is_refused_with_its_line() {
        for (text, said) in [
            (
                "\nenable.auto.commit=true",
                "file, line 2: enable.auto.commit",
            ),
            ("isolation.level=read_uncommitted", "given up"),
            ("acks=1", "lost with a server"),
            ("s3cret", "line 1: it is not a setting"),
            ("a b=s3cret", "line 1: it is not a setting"),
        ] {
            let error = Access::parse("file", text).unwrap_err();
            let shown = error.to_string();
            assert!(shown.contains(said) && !shown.contains("s3cret"), "{shown}");
            assert!(error.help().is_some());
        }
    }
}
