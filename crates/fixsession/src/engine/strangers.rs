//! Connections whose Logon has not come yet: how many there may be, what they sent, and how long each may take.
//! Without sockets and without a clock.
//!
//! Not here: their sockets and the thread that serves them (`lobby`), what a Logon leads to (`first`).

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use super::happening::TurnedAway;
use super::timers::Timers;
use crate::first::{First, first_message};

/// How many connections may wait for their Logon, and what each may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) most: usize,
    pub(super) most_of_an_address: usize,
    /// Bytes up to the end of the Logon.
    pub(super) bytes_max: usize,
}

/// One of them.
#[derive(Debug)]
struct Stranger {
    peer: IpAddr,
    bytes: Vec<u8>,
    until: Duration,
}

/// What follows from bytes of one of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Its Logon is not complete yet.
    Wait,
    /// Its Logon came; these are all bytes so far.
    LoggedOn(Vec<u8>),
    /// It is to be closed.
    Away(TurnedAway),
}

/// All of them, by a place that is used again.
#[derive(Debug)]
pub(super) struct Strangers {
    limits: Limits,
    places: Vec<Option<Stranger>>,
    free: Vec<usize>,
    by_address: HashMap<IpAddr, usize>,
    timers: Timers,
}

impl Strangers {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            places: Vec::new(),
            free: Vec::new(),
            by_address: HashMap::new(),
            timers: Timers::default(),
        }
    }

    /// Takes a connection, whose Logon has to come before `until`. Returns its place.
    pub(super) fn admit(&mut self, peer: IpAddr, until: Duration) -> Result<usize, TurnedAway> {
        if self.places.len() - self.free.len() >= self.limits.most {
            return Err(TurnedAway::Full);
        }
        let of_address = self.by_address.entry(peer).or_default();
        if *of_address >= self.limits.most_of_an_address {
            return Err(TurnedAway::Crowded);
        }
        *of_address += 1;
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        if let Some(free) = self.places.get_mut(place) {
            let bytes = Vec::new();
            *free = Some(Stranger { peer, bytes, until });
        }
        self.timers.arm(place, until);
        Ok(place)
    }

    /// Bytes of one of them came. Unless it waits for more, its place is free afterwards.
    pub(super) fn received(&mut self, place: usize, bytes: &[u8]) -> Step {
        let Some(Some(stranger)) = self.places.get_mut(place) else {
            return Step::Wait;
        };
        stranger.bytes.extend_from_slice(bytes);
        match first_message(&stranger.bytes, self.limits.bytes_max) {
            First::NeedMore => Step::Wait,
            First::Refused(_) => {
                self.leave(place);
                Step::Away(TurnedAway::NoLogon)
            }
            First::Logon { .. } => {
                let bytes = std::mem::take(&mut stranger.bytes);
                self.leave(place);
                Step::LoggedOn(bytes)
            }
        }
    }

    /// A connection is not one of them any more. Its place is free afterwards.
    pub(super) fn leave(&mut self, place: usize) {
        let Some(stranger) = self.places.get_mut(place).and_then(Option::take) else {
            return;
        };
        self.free.push(place);
        if let Some(of_address) = self.by_address.get_mut(&stranger.peer) {
            *of_address -= 1;
            if *of_address == 0 {
                self.by_address.remove(&stranger.peer);
            }
        }
    }

    /// One whose time is over. It stays until it [leaves](Self::leave).
    pub(super) fn late(&mut self, now: Duration) -> Option<usize> {
        while let Some(place) = self.timers.due(now) {
            let Some(Some(stranger)) = self.places.get(place) else {
                continue;
            };
            if stranger.until <= now {
                return Some(place);
            }
            // The place was used again.
            self.timers.arm(place, stranger.until);
        }
        None
    }

    /// When [`late`](Self::late) is to be asked again.
    pub(super) fn next(&self) -> Option<Duration> {
        self.timers.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        most: 6,
        most_of_an_address: 4,
        bytes_max: 1024,
    };

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn there_are_no_more_than_the_limits_allow() {
        let mut strangers = Strangers::new(LIMITS);
        let mut places = Vec::new();
        for _ in 0..4 {
            places.push(strangers.admit(address(1), at(5)).unwrap());
        }
        assert_eq!(
            strangers.admit(address(1), at(5)),
            Err(TurnedAway::Crowded),
            "of this address"
        );
        for _ in 0..2 {
            strangers.admit(address(2), at(5)).unwrap();
        }
        assert_eq!(strangers.admit(address(3), at(5)), Err(TurnedAway::Full));
        strangers.leave(places[0]);
        strangers.leave(places[0]);
        assert_eq!(strangers.admit(address(3), at(5)), Ok(places[0]));
    }

    #[test]
    fn noise_goes_at_its_first_bytes_and_a_long_message_at_the_limit() {
        let mut strangers = Strangers::new(LIMITS);
        let away = Step::Away(TurnedAway::NoLogon);
        for noise in [
            &b"GET / HTTP/1.1"[..],
            b"8=FIX.4.4\x019=\xff\xff",
            b"8=FIX.4.4\x01noise",
            b"8=FIX.4.4\x019=2000\x0135=A\x01",
        ] {
            let place = strangers.admit(address(1), at(5)).unwrap();
            assert_eq!(strangers.received(place, noise), away, "{noise:?}");
        }
        let place = strangers.admit(address(1), at(5)).unwrap();
        let begin = b"8=FIX.4.4\x019=900\x0135=A\x0158=";
        assert_eq!(strangers.received(place, begin), Step::Wait);
        let mut kept = begin.len();
        while strangers.received(place, &[b'x'; 100]) == Step::Wait {
            kept += 100;
            assert!(kept <= LIMITS.bytes_max);
        }
        assert_eq!(strangers.by_address.len(), 0, "all have left");
    }

    #[test]
    fn a_logon_in_pieces_comes_out_whole_with_what_follows() {
        let mut logon = Vec::new();
        fixcore::frame::write(b"FIX.4.4", b"35=A\x0149=A\x0156=B\x0134=1\x01", &mut logon);
        let mut strangers = Strangers::new(LIMITS);
        let place = strangers.admit(address(1), at(5)).unwrap();
        let (last, begin) = logon.split_last().unwrap();
        for byte in begin {
            assert_eq!(strangers.received(place, &[*byte]), Step::Wait);
        }
        let rest = [*last, b'8', b'='];
        let all = [&logon[..], b"8="].concat();
        assert_eq!(strangers.received(place, &rest), Step::LoggedOn(all));
    }

    #[test]
    fn the_silent_are_late_at_their_time_and_not_before() {
        let mut strangers = Strangers::new(LIMITS);
        let first = strangers.admit(address(1), at(5)).unwrap();
        strangers.leave(first);
        let again = strangers.admit(address(1), at(8)).unwrap();
        let other = strangers.admit(address(1), at(6)).unwrap();
        assert_eq!(first, again, "the place is used again");
        assert_eq!(strangers.late(at(5)), None);
        assert_eq!(strangers.late(at(6)), Some(other));
        strangers.leave(other);
        assert_eq!(strangers.next(), Some(at(8)));
        assert_eq!(strangers.late(at(9)), Some(again));
    }
}
