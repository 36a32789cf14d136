//! Addresses of topics: `kafka://HOST[:PORT][,HOST…]/TOPIC`. None holds a secret.

use std::fmt;
use std::str::FromStr;

/// Servers of one cluster to ask first, and a topic there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Hosts, each with a port.
    hosts: Vec<String>,
    topic: String,
}

/// Why a text is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WrongAddress {
    /// It has another form.
    #[error("expected kafka://HOST[:PORT][,HOST…]/TOPIC")]
    Form,
    /// It names somebody, and command lines are seen by others.
    #[error(
        "an address holds no user or password: everybody on this machine can read command lines; use --kafka-config"
    )]
    Secret,
    /// The name of the topic cannot be one.
    #[error("the name of a topic has up to 249 letters, digits, dots, `_` and `-`")]
    Topic,
}

/// The most servers of an address.
const HOSTS_MAX: usize = 64;
/// The port of a host that states none.
const PORT: u16 = 9092;
/// The longest name of a topic.
const TOPIC_BYTES_MAX: usize = 249;

impl Address {
    /// The name of the topic.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// The servers, as clients want them.
    #[must_use]
    pub fn servers(&self) -> String {
        self.hosts.join(",")
    }

    /// Whether both are topics of the same servers.
    #[must_use]
    pub fn is_same_cluster(&self, other: &Self) -> bool {
        self.hosts == other.hosts
    }
}

fn host(text: &str) -> Option<String> {
    let is_wrong = |letter: char| letter.is_whitespace() || letter.is_control();
    if text.is_empty() || text.contains(is_wrong) {
        return None;
    }
    // An IPv6 address has colons of its own, within brackets.
    let behind = text.rsplit_once(']').map_or(text, |(_, behind)| behind);
    match behind.rsplit_once(':') {
        Some((_, port)) => port.parse::<u16>().ok().map(|_| text.to_owned()),
        None => Some(format!("{text}:{PORT}")),
    }
}

impl FromStr for Address {
    type Err = WrongAddress;

    fn from_str(text: &str) -> Result<Self, WrongAddress> {
        let rest = text.strip_prefix("kafka://").ok_or(WrongAddress::Form)?;
        // Before anything else is said about it.
        if rest.contains('@') {
            return Err(WrongAddress::Secret);
        }
        let (hosts, topic) = rest.split_once('/').ok_or(WrongAddress::Form)?;
        let hosts: Option<Vec<String>> = hosts.split(',').map(host).collect();
        let hosts = hosts
            .filter(|hosts| hosts.len() <= HOSTS_MAX)
            .ok_or(WrongAddress::Form)?;
        if topic.is_empty() {
            return Err(WrongAddress::Form);
        }
        match is_topic(topic) {
            true => Ok(Self {
                hosts,
                topic: topic.to_owned(),
            }),
            false => Err(WrongAddress::Topic),
        }
    }
}

/// Whether a text can be the name of a topic.
pub(super) fn is_topic(text: &str) -> bool {
    let is_right =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    !matches!(text, "" | "." | "..") && text.len() <= TOPIC_BYTES_MAX && text.chars().all(is_right)
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "kafka://{}/{}", self.servers(), self.topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_servers_and_a_topic() {
        let address: Address = "kafka://a:9093,b,[::1],[::1]:9/day.1-in".parse().unwrap();
        assert_eq!(address.servers(), "a:9093,b:9092,[::1]:9092,[::1]:9");
        assert_eq!(address.topic(), "day.1-in");
        let again: Address = address.to_string().parse().unwrap();
        assert_eq!(again, address);
        let other: Address = "kafka://a/day".parse().unwrap();
        assert!(!other.is_same_cluster(&address));
    }

    #[test]
    fn secrets_and_other_forms_are_refused() {
        for (text, wrong) in [
            ("kafka://me:secret@a/T", WrongAddress::Secret),
            ("nats://a/T", WrongAddress::Form),
            ("kafka://a", WrongAddress::Form),
            ("kafka://a/", WrongAddress::Form),
            ("kafka:///T", WrongAddress::Form),
            ("kafka://a,,b/T", WrongAddress::Form),
            ("kafka://a:port/T", WrongAddress::Form),
            ("kafka://a/T/U", WrongAddress::Topic),
            ("kafka://a/..", WrongAddress::Topic),
            ("kafka://a/ä", WrongAddress::Topic),
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert_eq!(error, wrong, "{text}");
            assert!(!error.to_string().contains("me:secret"));
        }
    }
}
