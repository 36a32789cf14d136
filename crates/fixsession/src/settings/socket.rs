//! Options of sockets.

use std::time::Duration;

use super::reader::{Reader, takes};

/// Options of the sockets of a session, or of the listener.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketOptions {
    /// `SocketReuseAddress`: a listener takes an address that an earlier one just left. Default: yes.
    pub reuse_address: bool,
    /// `SocketNodelay`, `SocketTcpNoDelay`. Default: yes.
    pub no_delay: bool,
    /// `SocketKeepAlive`. Default: no.
    pub keep_alive: bool,
    /// `SocketLinger`. Default: the system's.
    pub linger: Option<Duration>,
    /// `SocketSendBufferSize`, in bytes. Default: the system's.
    pub send_buffer_bytes: Option<u32>,
    /// `SocketReceiveBufferSize`, in bytes. Default: the system's.
    pub receive_buffer_bytes: Option<u32>,
    /// `SocketTrafficClass`: the type-of-service octet. Default: the system's.
    pub traffic_class: Option<u8>,
    /// `MaxScheduledWriteRequests`: messages that may wait to be sent; with more, the connection is closed. 0: no
    /// limit but that of bytes. Default: 0.
    pub max_scheduled_write_requests: u32,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            reuse_address: true,
            no_delay: true,
            keep_alive: false,
            linger: None,
            send_buffer_bytes: None,
            receive_buffer_bytes: None,
            traffic_class: None,
            max_scheduled_write_requests: 0,
        }
    }
}

/// The longest time that a system takes for a lingering close.
const LINGER_SECONDS_MAX: u32 = 65_535;

pub(super) fn socket(reader: &Reader<'_>) -> SocketOptions {
    let default = SocketOptions::default();
    let linger = reader.number("SocketLinger", 0_u32);
    synchronous(reader);
    SocketOptions {
        reuse_address: reader
            .flag("SocketReuseAddress")
            .unwrap_or(default.reuse_address),
        no_delay: reader.flag("SocketNodelay").unwrap_or(default.no_delay),
        keep_alive: reader.flag("SocketKeepAlive").unwrap_or(default.keep_alive),
        linger: linger.map(|seconds| Duration::from_secs(seconds.min(LINGER_SECONDS_MAX).into())),
        send_buffer_bytes: buffer(reader, "SocketSendBufferSize"),
        receive_buffer_bytes: buffer(reader, "SocketReceiveBufferSize"),
        traffic_class: traffic_class(reader),
        max_scheduled_write_requests: reader
            .number("MaxScheduledWriteRequests", 0)
            .unwrap_or(default.max_scheduled_write_requests),
    }
}

/// Writes that block are not served; their time-out holds for nothing else.
fn synchronous(reader: &Reader<'_>) {
    let is_asked = reader.flag("SocketSynchronousWrites") == Some(true);
    if is_asked && let Some(stated) = reader.stated("SocketSynchronousWrites") {
        let instead = "one thread serves all sessions, so no write blocks; leave it out, and limit what waits for a \
                       slow peer by MaxScheduledWriteRequests";
        reader.refuse(&stated, instead);
    }
    let name = "SocketSynchronousWriteTimeout";
    let Some(stated) = reader.stated(name) else {
        return;
    };
    if reader.as_number(&stated, takes(name), 0_u32).is_some() && !is_asked {
        reader.no_effect(&stated, "it is a limit of SocketSynchronousWrites=Y only");
    }
}

/// The size of a buffer, which a system takes as a positive `int`. QuickFIX for C++ states 0 for the system's.
fn buffer(reader: &Reader<'_>, name: &'static str) -> Option<u32> {
    let stated = reader.stated(name)?;
    let bytes: u32 = reader.as_number(&stated, takes(name), 0)?;
    if i32::try_from(bytes).is_err() {
        reader.wrong(&stated, takes(name));
    }
    (bytes > 0).then_some(bytes)
}

/// The octet: a number, or names of its bits.
fn traffic_class(reader: &Reader<'_>) -> Option<u8> {
    const BITS: [(&str, u8); 4] = [
        ("IPTOS_LOWCOST", 0x02),
        ("IPTOS_RELIABILITY", 0x04),
        ("IPTOS_THROUGHPUT", 0x08),
        ("IPTOS_LOWDELAY", 0x10),
    ];
    let name = "SocketTrafficClass";
    let stated = reader.stated(name)?;
    if stated.value.starts_with(|c: char| c.is_ascii_digit()) {
        return reader.as_number(&stated, takes(name), 0);
    }
    let bit = |text: &str| {
        let named = BITS
            .iter()
            .find(|(name, _)| text.trim().eq_ignore_ascii_case(name));
        named.map(|(_, bit)| *bit)
    };
    let octet = stated
        .value
        .split('|')
        .try_fold(0, |octet, text| Some(octet | bit(text)?));
    if octet.is_none() {
        reader.wrong(&stated, takes(name));
    }
    octet
}
