//! Sessions of FIX 4.4 between `BUYER` and `SELLER`, their messages and times.

use std::time::Duration;

use fixcore::{Decoder, Timestamp};
use fixsession::{
    Dictionaries, MemoryStore, Now, Role, Session, SessionId, SessionOptions, Status,
};

pub(crate) fn at(seconds: u64) -> Now {
    let start: Timestamp = "20260102-03:04:05".parse().unwrap();
    Now {
        monotonic: Duration::from_secs(seconds),
        utc: Timestamp(start.0 + i64::try_from(seconds).unwrap() * 1_000_000_000),
    }
}

pub(crate) fn options(from: &str, to: &str, role: Role) -> SessionOptions {
    let mut options = SessionOptions::new(SessionId::new("FIX.4.4", from, to));
    options.role = role;
    options
}

pub(crate) fn session(options: SessionOptions) -> Session<MemoryStore> {
    let dictionaries = Dictionaries::built_in("FIX.4.4");
    Session::new(options, dictionaries, MemoryStore::new(at(0).utc))
}

pub(crate) fn buyer() -> SessionOptions {
    options("BUYER", "SELLER", Role::Initiator)
}

pub(crate) fn seller() -> SessionOptions {
    options("SELLER", "BUYER", Role::Acceptor)
}

/// A message of the counterparty `BUYER`, with these fields behind its type.
pub(crate) fn from_buyer(msg_type: &str, number: u64, body: &str, now: Now) -> Vec<u8> {
    from(("BUYER", "SELLER"), msg_type, number, body, now)
}

pub(crate) fn from(
    (sender, target): (&str, &str),
    msg_type: &str,
    number: u64,
    body: &str,
    now: Now,
) -> Vec<u8> {
    let body = format!(
        "35={msg_type}|34={number}|49={sender}|52={}|56={target}|{body}",
        now.utc
    );
    let mut out = Vec::new();
    fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut out);
    out
}

/// Takes the output: type, number and all of each message.
pub(crate) fn taken(session: &mut Session<MemoryStore>) -> Vec<(String, u64, String)> {
    let output = session.output().to_vec();
    session.sent(output.len());
    let mut messages = Vec::new();
    let mut rest = output.as_slice();
    while let Some(end) = rest.windows(4).position(|bytes| bytes == b"\x0110=") {
        let (bytes, behind) = rest.split_at(end + 8);
        let mut decoder = Decoder::new();
        let message = decoder.parse_lenient(bytes, true).unwrap().message;
        messages.push((
            String::from_utf8(message.msg_type().to_vec()).unwrap(),
            message.get_u64(34).unwrap().unwrap(),
            String::from_utf8(bytes.to_vec())
                .unwrap()
                .replace('\x01', "|"),
        ));
        rest = behind;
    }
    assert!(rest.is_empty());
    messages
}

pub(crate) fn types(messages: &[(String, u64, String)]) -> Vec<(&str, u64)> {
    messages.iter().map(|it| (it.0.as_str(), it.1)).collect()
}

/// An acceptor that is logged on.
pub(crate) fn logged_on(options: SessionOptions) -> Session<MemoryStore> {
    let mut session = session(options);
    session.connected(at(0), &mut ());
    session.bytes(
        &from_buyer("A", 1, "98=0|108=30|", at(0)),
        9,
        at(0),
        &mut (),
    );
    assert_eq!(session.status(), Status::LoggedOn);
    taken(&mut session);
    session
}
