//! Initiators behind a proxy of each kind.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use crate::engine::{Running, settings};

fn byte(stream: &mut TcpStream) -> u8 {
    let mut byte = [0];
    stream.read_exact(&mut byte).expect("a byte");
    byte[0]
}

fn bytes(stream: &mut TcpStream, count: usize) -> Vec<u8> {
    (0..count).map(|_| byte(stream)).collect()
}

fn text_until(stream: &mut TcpStream, end: &[u8]) -> String {
    let mut text = Vec::new();
    while !text.ends_with(end) {
        text.push(byte(stream));
    }
    String::from_utf8(text).expect("text")
}

/// Reads what the client asks for and agrees.
type Agree = fn(&mut TcpStream, u16);

fn http(stream: &mut TcpStream, port: u16) {
    let head = text_until(stream, b"\r\n\r\n");
    assert!(
        head.starts_with(&format!("CONNECT localhost:{port} HTTP/1.1\r\n")),
        "{head}"
    );
    assert!(
        head.contains("\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n"),
        "{head}"
    );
    stream
        .write_all(b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n")
        .expect("sent");
}

fn socks4(stream: &mut TcpStream, port: u16) {
    let head = bytes(stream, 8);
    assert_eq!(
        head,
        [&[4, 1][..], &port.to_be_bytes(), &[127, 0, 0, 1]].concat()
    );
    assert_eq!(text_until(stream, b"\0"), "me\0");
    stream.write_all(&[0, 90, 0, 0, 0, 0, 0, 0]).expect("sent");
}

fn socks4a(stream: &mut TcpStream, port: u16) {
    let head = bytes(stream, 8);
    assert_eq!(
        head,
        [&[4, 1][..], &port.to_be_bytes(), &[0, 0, 0, 1]].concat()
    );
    assert_eq!(text_until(stream, b"\0"), "me\0");
    assert_eq!(text_until(stream, b"\0"), "localhost\0");
    stream.write_all(&[0, 90, 0, 0, 0, 0, 0, 0]).expect("sent");
}

fn socks5(stream: &mut TcpStream, port: u16) {
    assert_eq!(bytes(stream, 4), [5, 2, 0, 2]);
    stream.write_all(&[5, 2]).expect("sent");
    assert_eq!(bytes(stream, 11), b"\x01\x02me\x06secret");
    stream.write_all(&[1, 0]).expect("sent");
    let wanted = [&b"\x05\x01\x00\x03\x09localhost"[..], &port.to_be_bytes()].concat();
    assert_eq!(bytes(stream, wanted.len()), wanted);
    stream
        .write_all(&[5, 0, 0, 3, 2, b'h', b'i', 0, 80])
        .expect("sent");
}

/// A proxy for one connection.
fn proxy(agree: Agree, port: u16) -> (u16, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let own = listener.local_addr().expect("known").port();
    let thread = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("accepted");
        agree(&mut client, port);
        let mut server = TcpStream::connect(("127.0.0.1", port)).expect("connected");
        let (mut from, mut to) = (
            client.try_clone().expect("cloned"),
            server.try_clone().expect("cloned"),
        );
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Write);
        });
        let _ = std::io::copy(&mut server, &mut client);
    });
    (own, thread)
}

#[test]
fn every_kind_of_proxy_leads_to_the_acceptor() {
    let kinds: [(&str, &str, Agree); 4] = [
        ("http", "1.1", http),
        ("socks", "4", socks4),
        ("socks", "4a", socks4a),
        ("socks", "5", socks5),
    ];
    for (kind, version, agree) in kinds {
        let acceptor = Running::start(&settings(&["BeginString=FIX.4.4"]), |_| {});
        let port = acceptor.address.expect("it listens").port();
        let (own, thread) = proxy(agree, port);
        let text = format!(
            "[SESSION]\nConnectionType=initiator\nSocketConnectHost=localhost\nSocketConnectPort={port}\n\
             ProxyType={kind}\nProxyVersion={version}\nProxyHost=127.0.0.1\nProxyPort={own}\nProxyUser=me\n\
             ProxyPassword=secret\nStartTime=00:00:00\nEndTime=00:00:00\nBeginString=FIX.4.4\nHeartBtInt=30\n\
             SenderCompID=PEER\nTargetCompID=OURS\nReconnectInterval=1\n"
        );
        let initiator = Running::start(&text, |_| {});
        let states = initiator.stop_when_logged_on();
        let state = states.first().map(|state| (state.1, state.2));
        assert_eq!(state, Some((3, 3)), "{kind} {version}");
        thread.join().expect("it agreed");
    }
}
