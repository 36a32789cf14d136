//! Where a session listens or connects, and who may connect.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use crate::options::Role;

use super::reader::{Reader, Stated, takes};
use super::socket::{self, SocketOptions};
use super::tls::{self, TlsOptions};
use super::value::is_host;

/// The most hosts of a session.
const HOSTS_MAX: u32 = 1000;
/// The most intervals of a list.
const INTERVALS_MAX: usize = 10_000;

/// The connections of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EndpointOptions {
    /// `SocketAcceptPort`: where an acceptor listens; 0 for any free port.
    pub accept_port: Option<u16>,
    /// `SocketAcceptAddress`, `SocketAcceptHost`. Default: all addresses.
    pub accept_address: Option<String>,
    /// `LogonTimeout` if it is stated: how long a connection to an acceptor may take for its first message.
    pub logon_timeout: Option<Duration>,
    /// `AllowedRemoteAddresses`; empty for all.
    pub allowed_remote_addresses: Vec<RemoteAddress>,
    /// `SocketConnectHost` and `SocketConnectPort`, then those with 1, 2 …: where an initiator connects.
    pub connect: Vec<ConnectTarget>,
    /// `ReconnectInterval`: pauses between attempts; the last one repeats. Never empty. Default: 30 s.
    pub reconnect_intervals: Vec<Duration>,
    /// `HostSelectionPolicy`. Default: round robin.
    pub host_selection: HostSelection,
    /// `ProxyType` and others. Default: none.
    pub proxy: Option<ProxyOptions>,
    /// `DynamicSession`: does not connect by itself. Default: no.
    pub is_dynamic: bool,
    /// `SocketUseSSL` and others. Default: none.
    pub tls: Option<TlsOptions>,
    /// Options of the sockets.
    pub socket: SocketOptions,
}

/// Where an initiator connects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectTarget {
    /// A name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// `SocketConnectSourceHost`: the local address. Default: any.
    pub source_host: Option<String>,
    /// `SocketConnectSourcePort`: the local port. Default: any.
    pub source_port: Option<u16>,
}

/// Which host comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostSelection {
    /// The one after the last that was tried.
    RoundRobin,
    /// The same, but the first one when the last attempt was so long ago.
    Priority {
        /// How long.
        start_over: Duration,
    },
}

/// A proxy that an initiator connects through.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProxyOptions {
    /// Its protocol.
    pub kind: ProxyKind,
    /// A name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// `ProxyUser`.
    pub user: Option<String>,
    /// `ProxyPassword`.
    pub password: Option<String>,
}

/// Without the password.
impl fmt::Debug for ProxyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyOptions")
            .field("kind", &self.kind)
            .field("host", &self.host)
            .field("port", &self.port)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// The protocol of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyKind {
    /// HTTP/1.0 with CONNECT.
    Http10,
    /// HTTP/1.1 with CONNECT.
    Http11,
    /// SOCKS 4: the proxy gets an address.
    Socks4,
    /// SOCKS 4a: the proxy gets the name.
    Socks4a,
    /// SOCKS 5.
    Socks5,
}

/// Who may connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteAddress {
    /// An address.
    Ip(IpAddr),
    /// A network: an address, and how many of its first bits count.
    Network(IpAddr, u8),
    /// A host, whose addresses the caller looks up.
    Name(String),
}

impl RemoteAddress {
    /// Whether an address is this one or in this network; `false` for a name.
    #[must_use]
    pub fn has(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        match self {
            Self::Ip(ip) => *ip == address,
            Self::Network(network, bits) => match (network, address) {
                (IpAddr::V4(network), IpAddr::V4(address)) => {
                    let difference = network.to_bits() ^ address.to_bits();
                    difference.leading_zeros() >= u32::from(*bits)
                }
                (IpAddr::V6(network), IpAddr::V6(address)) => {
                    let difference = network.to_bits() ^ address.to_bits();
                    difference.leading_zeros() >= u32::from(*bits)
                }
                _ => false,
            },
            Self::Name(_) => false,
        }
    }

    fn new(text: &str) -> Option<Self> {
        if let Some((network, bits)) = text.split_once('/') {
            let network: IpAddr = network.parse().ok()?;
            let bits: u8 = bits.parse().ok()?;
            let bits_max = if network.is_ipv4() { 32 } else { 128 };
            return (bits <= bits_max).then_some(Self::Network(network, bits));
        }
        match text.parse::<IpAddr>() {
            Ok(ip) => Some(Self::Ip(ip.to_canonical())),
            Err(_) => is_host(text).then(|| Self::Name(text.to_owned())),
        }
    }
}

pub(super) fn endpoint(reader: &Reader<'_>, role: Option<Role>) -> EndpointOptions {
    let accept_port = reader.number("SocketAcceptPort", 0);
    if role == Some(Role::Acceptor) && accept_port.is_none() {
        reader.missing("SocketAcceptPort");
    }
    for protocol in ["SocketAcceptProtocol", "SocketConnectProtocol"] {
        if let Some(stated) = reader.stated(protocol)
            && !stated.value.eq_ignore_ascii_case("TCP")
        {
            reader.wrong(&stated, takes(protocol));
        }
    }
    let connect = connect(reader);
    if role == Some(Role::Initiator) && connect.is_empty() {
        reader.missing("SocketConnectHost");
        reader.missing("SocketConnectPort");
    }
    EndpointOptions {
        accept_port,
        accept_address: host(reader, "SocketAcceptAddress"),
        logon_timeout: None,
        allowed_remote_addresses: allowed(reader),
        connect,
        reconnect_intervals: reconnect(reader),
        host_selection: selection(reader),
        proxy: proxy(reader),
        is_dynamic: reader.flag("DynamicSession").unwrap_or(false),
        tls: tls::tls(reader, role),
        socket: socket::socket(reader),
    }
}

fn host(reader: &Reader<'_>, name: &'static str) -> Option<String> {
    reader
        .stated(name)
        .and_then(|stated| as_host(reader, stated, name))
}

fn as_host(reader: &Reader<'_>, stated: Stated, name: &'static str) -> Option<String> {
    if !is_host(&stated.value) {
        reader.wrong(&stated, takes(name));
        return None;
    }
    Some(stated.value)
}

fn port(reader: &Reader<'_>, name: &'static str, rest: &str) -> Option<u16> {
    let stated = reader.suffixed(name, rest)?;
    reader.as_number(&stated, takes(name), 1)
}

fn connect(reader: &Reader<'_>) -> Vec<ConnectTarget> {
    let mut targets = Vec::new();
    let mut last = 0;
    for number in 0..=HOSTS_MAX {
        let rest = if number == 0 {
            String::new()
        } else {
            number.to_string()
        };
        last = number;
        let of = |name| reader.suffixed(name, &rest);
        let (host, port_stated) = (of("SocketConnectHost"), of("SocketConnectPort"));
        let half = match (&host, &port_stated) {
            (None, None) => break,
            (Some(_), Some(_)) => None,
            (Some(host), None) => Some((host, "SocketConnectPort")),
            (None, Some(port)) => Some((port, "SocketConnectHost")),
        };
        if let Some((stated, other)) = half {
            reader.conflict(stated, &format!("{other}{rest} is missing"));
            break;
        }
        let source_host = of("SocketConnectSourceHost")
            .and_then(|stated| as_host(reader, stated, "SocketConnectSourceHost"));
        let source_port = port(reader, "SocketConnectSourcePort", &rest);
        let host = host.and_then(|stated| as_host(reader, stated, "SocketConnectHost"));
        let port = port(reader, "SocketConnectPort", &rest);
        if let (Some(host), Some(port)) = (host, port) {
            targets.push(ConnectTarget {
                host,
                port,
                source_host,
                source_port,
            });
        }
    }
    for name in ["SocketConnectHost", "SocketConnectPort"] {
        for number in reader.numbers(name).range(last..) {
            if let Some(stated) = reader.suffixed(name, &number.to_string())
                && *number != last
            {
                let conflict = format!("it is not used, because {name}{last} is missing");
                let key = stated.key;
                reader.warn(
                    stated.line,
                    super::error::Problem::Conflict { key, conflict },
                );
            }
        }
    }
    targets
}

/// `3x5;2x30;60`: five seconds three times, thirty twice, then a minute. Java writes `*` as well as `x`.
fn reconnect(reader: &Reader<'_>) -> Vec<Duration> {
    const DEFAULT: Duration = Duration::from_secs(30);
    let name = "ReconnectInterval";
    let Some(stated) = reader.stated(name) else {
        return vec![DEFAULT];
    };
    let mut intervals = Vec::new();
    for part in stated.value.split(';') {
        let (times, seconds) = part.split_once(['x', '*']).unwrap_or(("1", part));
        let number = |text: &str| text.trim().parse::<u32>().ok();
        match (number(times), number(seconds)) {
            (Some(times), Some(seconds))
                if seconds > 0 && intervals.len() + times as usize <= INTERVALS_MAX =>
            {
                let interval = Duration::from_secs(seconds.into());
                intervals.extend((0..times).map(|_| interval));
            }
            _ => {
                reader.wrong(&stated, takes(name));
                return vec![DEFAULT];
            }
        }
    }
    if intervals.is_empty() {
        reader.wrong(&stated, takes(name));
        intervals.push(DEFAULT);
    }
    intervals
}

fn selection(reader: &Reader<'_>) -> HostSelection {
    let interval = reader.seconds("HostSelectionPolicyPriorityStartOverInterval", 0);
    let start_over = interval.unwrap_or(Duration::from_secs(120));
    let name = "HostSelectionPolicy";
    match reader.stated(name) {
        Some(stated) if stated.value.eq_ignore_ascii_case("PRIORITY") => {
            HostSelection::Priority { start_over }
        }
        Some(stated) if !stated.value.eq_ignore_ascii_case("ROUNDROBIN") => {
            reader.wrong(&stated, takes(name));
            HostSelection::RoundRobin
        }
        _ => HostSelection::RoundRobin,
    }
}

fn proxy(reader: &Reader<'_>) -> Option<ProxyOptions> {
    let version = reader.stated("ProxyVersion");
    let (host, port) = (host(reader, "ProxyHost"), port(reader, "ProxyPort", ""));
    let (user, password) = (reader.text("ProxyUser"), reader.text("ProxyPassword"));
    let stated = reader.stated("ProxyType")?;
    let wanted = version
        .as_ref()
        .map_or("", |version| version.value.as_str());
    let kind = match (stated.value.to_ascii_lowercase().as_str(), wanted) {
        ("http", "" | "1.0") => ProxyKind::Http10,
        ("http", "1.1") => ProxyKind::Http11,
        ("socks", "4") => ProxyKind::Socks4,
        ("socks", "4a" | "4A") => ProxyKind::Socks4a,
        ("socks", "" | "5") => ProxyKind::Socks5,
        ("http" | "socks", _) => {
            if let Some(version) = &version {
                reader.wrong(version, takes("ProxyVersion"));
            }
            return None;
        }
        _ => {
            reader.wrong(&stated, takes("ProxyType"));
            return None;
        }
    };
    if host.is_none() {
        reader.missing("ProxyHost");
    }
    if port.is_none() {
        reader.missing("ProxyPort");
    }
    Some(ProxyOptions {
        kind,
        host: host?,
        port: port?,
        user,
        password,
    })
}

fn allowed(reader: &Reader<'_>) -> Vec<RemoteAddress> {
    let name = "AllowedRemoteAddresses";
    let Some(stated) = reader.stated(name) else {
        return Vec::new();
    };
    let texts = stated
        .value
        .split(',')
        .map(str::trim)
        .filter(|text| !text.is_empty());
    let allowed: Option<Vec<_>> = texts.map(RemoteAddress::new).collect();
    // A list that is wrong must not allow all.
    allowed
        .filter(|allowed| !allowed.is_empty())
        .unwrap_or_else(|| {
            reader.wrong(&stated, takes(name));
            vec![RemoteAddress::Name(String::new())]
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_have_their_addresses() {
        let has = |text: &str, ip: &str| RemoteAddress::new(text).unwrap().has(ip.parse().unwrap());
        assert!(has("10.0.0.0/8", "10.1.2.3"));
        assert!(has("10.0.0.0/8", "::ffff:10.1.2.3"));
        assert!(!has("10.0.0.0/8", "11.0.0.1"));
        assert!(has("0.0.0.0/0", "1.2.3.4"));
        assert!(!has("0.0.0.0/0", "::1"));
        assert!(has("2001:db8::/32", "2001:db8::1"));
        assert!(has("127.0.0.1", "127.0.0.1"));
        assert!(!has("localhost", "127.0.0.1"));
        for wrong in ["10.0.0.0/33", "10.0.0/8", "a b", "", "::/129"] {
            assert_eq!(RemoteAddress::new(wrong), None, "{wrong}");
        }
    }
}
