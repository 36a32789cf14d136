//! The words with which a proxy is asked for a connection: HTTP CONNECT, SOCKS 4, 4a and 5. They are exchanged on a
//! thread that may block.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::settings::{ConnectTarget, ProxyKind, ProxyOptions};

/// Bytes of the head of an HTTP answer.
const HEAD_BYTES_MAX: usize = 8 << 10;

/// Asks a proxy at the other end of `stream` for a connection to `target`.
pub(super) fn ask(
    stream: &mut (impl Read + Write),
    proxy: &ProxyOptions,
    target: &ConnectTarget,
) -> io::Result<()> {
    match proxy.kind {
        ProxyKind::Http10 => http(stream, proxy, target, "1.0"),
        ProxyKind::Http11 => http(stream, proxy, target, "1.1"),
        ProxyKind::Socks4 | ProxyKind::Socks4a => socks4(stream, proxy, target),
        ProxyKind::Socks5 => socks5(stream, proxy, target),
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::ConnectionRefused,
        format!("the proxy: {why}"),
    )
}

fn http(
    stream: &mut (impl Read + Write),
    proxy: &ProxyOptions,
    target: &ConnectTarget,
    version: &str,
) -> io::Result<()> {
    let (host, port) = (&target.host, target.port);
    let bracket = host.contains(':');
    let (open, close) = if bracket { ("[", "]") } else { ("", "") };
    let place = format!("{open}{host}{close}:{port}");
    let mut request = format!("CONNECT {place} HTTP/{version}\r\nHost: {place}\r\n");
    if let Some(user) = &proxy.user {
        let password = proxy.password.as_deref().unwrap_or_default();
        let words = BASE64_STANDARD.encode(format!("{user}:{password}"));
        request.push_str(&format!("Proxy-Authorization: Basic {words}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes())?;
    // One byte at a time: what follows the head belongs to the session.
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES_MAX {
            return Err(refused("its answer is too long"));
        }
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.extend_from_slice(&byte);
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    match line.split(' ').nth(1) {
        Some(code) if line.starts_with("HTTP/1.") && code.starts_with('2') => Ok(()),
        _ => Err(refused(&line.replace(char::is_control, "?"))),
    }
}

fn socks4(
    stream: &mut (impl Read + Write),
    proxy: &ProxyOptions,
    target: &ConnectTarget,
) -> io::Result<()> {
    let named = proxy.kind == ProxyKind::Socks4a;
    let address = match named {
        // No address: the name follows.
        true => [0, 0, 0, 1],
        false => (target.host.as_str(), target.port)
            .to_socket_addrs()?
            .find_map(|address| match address {
                SocketAddr::V4(address) => Some(address.ip().octets()),
                SocketAddr::V6(_) => None,
            })
            .ok_or_else(|| refused("SOCKS 4 needs an address of IPv4"))?,
    };
    let mut request = vec![4, 1];
    request.extend_from_slice(&target.port.to_be_bytes());
    request.extend_from_slice(&address);
    request.extend_from_slice(proxy.user.as_deref().unwrap_or_default().as_bytes());
    request.push(0);
    if named {
        request.extend_from_slice(target.host.as_bytes());
        request.push(0);
    }
    stream.write_all(&request)?;
    let mut answer = [0; 8];
    stream.read_exact(&mut answer)?;
    match answer {
        [0, 90, ..] => Ok(()),
        [_, code, ..] => Err(refused(&format!("SOCKS 4 answer {code}"))),
    }
}

fn socks5(
    stream: &mut (impl Read + Write),
    proxy: &ProxyOptions,
    target: &ConnectTarget,
) -> io::Result<()> {
    let length = |text: &str, what: &str| {
        let length = u8::try_from(text.len()).ok().filter(|length| *length > 0);
        length.ok_or_else(|| refused(&format!("{what} has to have 1 to 255 bytes")))
    };
    let methods: &[u8] = if proxy.user.is_some() {
        &[5, 2, 0, 2]
    } else {
        &[5, 1, 0]
    };
    stream.write_all(methods)?;
    let mut method = [0; 2];
    stream.read_exact(&mut method)?;
    match (method, &proxy.user) {
        ([5, 0], _) => {}
        ([5, 2], Some(user)) => {
            let password = proxy.password.as_deref().unwrap_or_default();
            let mut words = vec![1, length(user, "ProxyUser")?];
            words.extend_from_slice(user.as_bytes());
            words.push(length(password, "ProxyPassword")?);
            words.extend_from_slice(password.as_bytes());
            stream.write_all(&words)?;
            let mut verdict = [0; 2];
            stream.read_exact(&mut verdict)?;
            if verdict != [1, 0] {
                return Err(refused("it does not accept ProxyUser and ProxyPassword"));
            }
        }
        ([5, 255], _) => return Err(refused("it asks for an authentication that is not set")),
        _ => return Err(refused("it does not speak SOCKS 5")),
    }
    let mut request = vec![5, 1, 0, 3, length(&target.host, "the host")?];
    request.extend_from_slice(target.host.as_bytes());
    request.extend_from_slice(&target.port.to_be_bytes());
    stream.write_all(&request)?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer)?;
    if answer[1] != 0 {
        return Err(refused(&format!("SOCKS 5 answer {}", answer[1])));
    }
    // The address that it connects from, which says nothing here.
    let bytes = match answer[3] {
        1 => 4,
        4 => 16,
        3 => {
            let mut length = [0];
            stream.read_exact(&mut length)?;
            usize::from(length[0])
        }
        _ => return Err(refused("it does not speak SOCKS 5")),
    };
    stream.read_exact(vec![0; bytes + 2].as_mut_slice())
}
