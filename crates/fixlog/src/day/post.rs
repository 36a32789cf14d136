//! Parties, their clocks and sessions, and messages between them.

use std::collections::HashMap;

use fixcore::{Timestamp, frame};

use super::files::DayLog;

/// 2026-03-05 00:00:00 UTC.
pub(super) const DAY_NS: i64 = 1_772_668_800_000_000_000;
/// The shortest way between two parties, there and back.
const WAY_NS: u64 = 80_000;

/// Who sends and gets messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Party {
    Client(u32),
    Gate,
    Router,
    Venue(u32),
}

/// The names of venues.
pub(super) const VENUES: [&str; 3] = ["XNYS", "XLON", "XPAR"];

impl Party {
    pub(super) fn name(self) -> String {
        match self {
            Self::Client(number) => format!("CLIENT{number:02}"),
            Self::Gate => "GATE".to_owned(),
            Self::Router => "ROUTER".to_owned(),
            Self::Venue(number) => VENUES[number as usize % VENUES.len()].to_owned(),
        }
    }

    /// How much its clock is ahead of the true time, in nanoseconds.
    pub(super) fn ahead_ns(self) -> i64 {
        match self {
            Self::Client(_) => 25_000_000,
            Self::Gate => 0,
            Self::Router => 180_000_000,
            Self::Venue(_) => -45_000_000,
        }
    }

    /// The log that it writes.
    pub(super) fn log(self) -> Option<DayLog> {
        match self {
            Self::Client(_) => None,
            Self::Gate => Some(DayLog::Gateway),
            Self::Router => Some(DayLog::Router),
            Self::Venue(_) => Some(DayLog::Venue),
        }
    }

    /// A time of the day by its clock, as FIX writes it, with microseconds.
    pub(super) fn time(self, true_ns: u64) -> String {
        let ns = DAY_NS + true_ns as i64 + self.ahead_ns();
        let millis = Timestamp(ns).to_millis();
        let micros = ns.rem_euclid(1_000_000) / 1000;
        format!("{}{micros:03}", String::from_utf8_lossy(&millis))
    }

    /// What [`time`](Self::time) says, in nanoseconds since 1970.
    pub(super) fn stamp_ns(self, true_ns: u64) -> i64 {
        let ns = DAY_NS + true_ns as i64 + self.ahead_ns();
        ns - ns.rem_euclid(1000)
    }
}

/// How long a message takes from one party to the next.
pub(super) fn way_ns(random: u64) -> u64 {
    // Most are fast, some are not.
    let slow = match random % 100 {
        0..70 => random >> 8 & 0xffff,
        70..98 => random >> 8 & 0x7_ffff,
        _ => random >> 8 & 0x3f_ffff,
    };
    WAY_NS + slow
}

/// A message that is sent at some time.
#[derive(Debug, Clone)]
pub(super) struct Letter {
    pub(super) from: Party,
    pub(super) to: Party,
    pub(super) msg_type: &'static str,
    /// The fields behind the header, with the byte 1 behind each.
    pub(super) body: String,
    /// When it is at its target.
    pub(super) there_ns: u64,
    /// Whether it does not arrive: the connection is gone.
    pub(super) is_lost: bool,
}

/// The next number of each direction of each session.
#[derive(Debug, Default)]
pub(super) struct Numbers(HashMap<(Party, Party), u64>);

impl Numbers {
    /// The message with its header, sent at this time.
    pub(super) fn write(&mut self, letter: &Letter, at_ns: u64) -> (u64, Vec<u8>) {
        let next = self.0.entry((letter.from, letter.to)).or_insert(1);
        let number = *next;
        *next += 1;
        (number, bytes(letter, number, at_ns, None))
    }

    /// The number that a direction has next.
    pub(super) fn next(&self, from: Party, to: Party) -> u64 {
        self.0.get(&(from, to)).copied().unwrap_or(1)
    }
}

/// A message with its header; sent again, if it was sent before.
pub(super) fn bytes(letter: &Letter, number: u64, at_ns: u64, before_ns: Option<u64>) -> Vec<u8> {
    let (from, to) = (letter.from.name(), letter.to.name());
    let sent = letter.from.time(at_ns);
    let again = before_ns.map_or_else(String::new, |before| {
        format!("43=Y\x01122={}\x01", letter.from.time(before))
    });
    let head = format!(
        "35={}\x0149={from}\x0156={to}\x0134={number}\x01{again}52={sent}\x01",
        letter.msg_type
    );
    let mut out = Vec::with_capacity(head.len() + letter.body.len() + 32);
    frame::write(
        b"FIX.4.4",
        format!("{head}{}", letter.body).as_bytes(),
        &mut out,
    );
    out
}
