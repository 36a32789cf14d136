//! Addresses of streams: `nats://HOST[:PORT][,HOST…]/STREAM`, or `tls://…`. None holds a secret.

use std::fmt;
use std::str::FromStr;

/// Servers of one cluster, and a stream there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// `nats` or `tls`.
    scheme: String,
    /// Hosts, each perhaps with a port.
    hosts: Vec<String>,
    stream: String,
}

/// Why a text is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WrongAddress {
    /// It has another form.
    #[error("expected nats://HOST[:PORT]/NAME or tls://HOST[:PORT]/NAME of a stream or bucket")]
    Form,
    /// It names somebody, and command lines are seen by others.
    #[error(
        "an address holds no user, password or token: everybody on this machine can read command lines; \
         use --creds, --user with --password-file, --token-file, or the environment"
    )]
    Secret,
    /// The name of the stream cannot be one.
    #[error("the name of a stream or bucket has no blanks, dots, `*`, `>`, `/` or `\\`")]
    Stream,
}

/// The most servers of an address.
const HOSTS_MAX: usize = 64;

impl Address {
    /// The name of the stream.
    #[must_use]
    pub fn stream(&self) -> &str {
        &self.stream
    }

    /// Whether only TLS will do.
    #[must_use]
    pub fn wants_tls(&self) -> bool {
        self.scheme == "tls"
    }

    /// The servers as URLs.
    pub fn servers(&self) -> impl Iterator<Item = String> {
        let scheme = &self.scheme;
        self.hosts
            .iter()
            .map(move |host| format!("{scheme}://{host}"))
    }

    /// Whether both are streams of the same servers.
    #[must_use]
    pub fn is_same_cluster(&self, other: &Self) -> bool {
        (&self.scheme, &self.hosts) == (&other.scheme, &other.hosts)
    }

    /// Another stream of the same servers.
    #[must_use]
    pub fn with_stream(&self, stream: &str) -> Self {
        Self {
            stream: stream.to_owned(),
            ..self.clone()
        }
    }
}

impl FromStr for Address {
    type Err = WrongAddress;

    fn from_str(text: &str) -> Result<Self, WrongAddress> {
        let (scheme, rest) = text.split_once("://").ok_or(WrongAddress::Form)?;
        // Before anything else is said about it.
        if rest.contains('@') {
            return Err(WrongAddress::Secret);
        }
        let (hosts, stream) = rest.split_once('/').ok_or(WrongAddress::Form)?;
        let hosts: Vec<String> = hosts.split(',').map(str::to_owned).collect();
        let is_host = |host: &String| {
            !host.is_empty()
                && !host.contains(|letter: char| letter.is_whitespace() || letter.is_control())
        };
        if !matches!(scheme, "nats" | "tls")
            || hosts.len() > HOSTS_MAX
            || !hosts.iter().all(is_host)
            || stream.is_empty()
        {
            return Err(WrongAddress::Form);
        }
        let is_wrong = |letter: char| {
            letter.is_whitespace()
                || letter.is_control()
                || matches!(letter, '.' | '*' | '>' | '/' | '\\')
        };
        if stream.contains(is_wrong) || stream.len() > 255 {
            return Err(WrongAddress::Stream);
        }
        Ok(Self {
            scheme: scheme.to_owned(),
            hosts,
            stream: stream.to_owned(),
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scheme,
            hosts,
            stream,
        } = self;
        write!(out, "{scheme}://{}/{stream}", hosts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_servers_and_a_stream() {
        let text = "nats://a:4222,b/EVENTS";
        let address: Address = text.parse().unwrap();
        assert_eq!(address.to_string(), text);
        assert_eq!(address.stream(), "EVENTS");
        let servers: Vec<String> = address.servers().collect();
        assert_eq!(servers, ["nats://a:4222", "nats://b"]);
        assert!(!address.wants_tls());
        let other: Address = "tls://[::1]:4222/OUT".parse().unwrap();
        assert!(other.wants_tls() && !other.is_same_cluster(&address));
        assert!(address.with_stream("X").is_same_cluster(&address));
    }

    #[test]
    fn secrets_and_other_forms_are_refused() {
        for (text, wrong) in [
            ("nats://me:secret@a/S", WrongAddress::Secret),
            ("nats://token@a/S", WrongAddress::Secret),
            ("http://a/S", WrongAddress::Form),
            ("nats://a", WrongAddress::Form),
            ("nats://a/", WrongAddress::Form),
            ("nats:///S", WrongAddress::Form),
            ("nats://a,,b/S", WrongAddress::Form),
            ("a/S", WrongAddress::Form),
            ("nats://a/S.T", WrongAddress::Stream),
            ("nats://a/S/T", WrongAddress::Stream),
            ("nats://a/>", WrongAddress::Stream),
            ("nats://a/a\nb", WrongAddress::Stream),
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert_eq!(error, wrong, "{text}");
            assert!(!error.to_string().contains("me:secret"));
        }
    }
}
