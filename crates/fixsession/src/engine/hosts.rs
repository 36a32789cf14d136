//! Which host an initiator tries next, and when.

use std::time::Duration;

use crate::settings::{ConnectTarget, HostSelection};

/// The hosts of an initiator, and the times of its attempts.
#[derive(Debug, Clone)]
pub(super) struct Hosts {
    hosts: Vec<ConnectTarget>,
    policy: HostSelection,
    /// Pauses after the first, second… failed attempt; the last one repeats.
    intervals: Vec<Duration>,
    next: usize,
    failures: usize,
    /// When the list was begun.
    begun: Option<Duration>,
    not_before: Duration,
}

impl Hosts {
    /// Hosts in their order, with the pauses between attempts (`ReconnectInterval`): the n-th follows the n-th
    /// failure, and the last one repeats. Without pauses, 30 s.
    pub(super) fn new(
        hosts: Vec<ConnectTarget>,
        policy: HostSelection,
        intervals: Vec<Duration>,
    ) -> Self {
        Self {
            hosts,
            policy,
            intervals,
            next: 0,
            failures: 0,
            begun: None,
            not_before: Duration::ZERO,
        }
    }

    /// When the next attempt may be made.
    pub(super) fn next_attempt(&self) -> Duration {
        self.not_before
    }

    /// The host of the attempt that is made now.
    pub(super) fn attempt(&mut self, now: Duration) -> Option<&ConnectTarget> {
        let begun = *self.begun.get_or_insert(now);
        if let HostSelection::Priority { start_over } = self.policy
            && now.saturating_sub(begun) >= start_over
        {
            self.next = 0;
            self.begun = Some(now);
        }
        let at = self.next.checked_rem(self.hosts.len())?;
        self.next = at + 1;
        self.hosts.get(at)
    }

    /// The attempt failed, or the connection ended: a pause follows, except before hosts of the list that
    /// were not yet tried.
    pub(super) fn failed(&mut self, now: Duration) {
        self.failures += 1;
        let hosts = self.hosts.len().max(1);
        let first = self.intervals.first().copied();
        let pause = match (self.failures % hosts, self.failures / hosts) {
            (0, rounds) => self
                .intervals
                .get(rounds - 1)
                .or(self.intervals.last())
                .copied(),
            _ => first.map(|first| first.min(Duration::from_secs(1))),
        };
        self.not_before = now + pause.unwrap_or(Duration::from_secs(30));
    }

    /// The session is logged on: the pauses begin anew, and its host is tried first once it goes away.
    pub(super) fn succeeded(&mut self) {
        self.failures = 0;
        self.begun = None;
        self.next = self.next.saturating_sub(1);
        if matches!(self.policy, HostSelection::Priority { .. }) {
            self.next = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(policy: HostSelection) -> Hosts {
        let at = |name: &str| ConnectTarget {
            host: name.to_owned(),
            port: 1,
            source_host: None,
            source_port: None,
        };
        let intervals = vec![Duration::from_secs(2), Duration::from_secs(20)];
        Hosts::new(vec![at("a"), at("b"), at("c")], policy, intervals)
    }

    fn names(hosts: &mut Hosts, times: u32) -> (String, Duration) {
        let mut now = Duration::ZERO;
        let mut names = String::new();
        for _ in 0..times {
            now = now.max(hosts.next_attempt());
            names.push_str(&hosts.attempt(now).unwrap().host.clone());
            hosts.failed(now);
        }
        (names, hosts.next_attempt() - now)
    }

    #[test]
    fn hosts_take_turns_and_pauses_grow_round_by_round() {
        let mut hosts = hosts(HostSelection::RoundRobin);
        assert_eq!(
            names(&mut hosts, 3),
            ("abc".to_owned(), Duration::from_secs(2))
        );
        assert_eq!(
            names(&mut hosts, 3),
            ("abc".to_owned(), Duration::from_secs(20))
        );
        hosts.succeeded();
        assert_eq!(names(&mut hosts, 1).0, "c", "the one that answered");
    }

    #[test]
    fn by_priority_the_first_host_comes_again_after_its_time() {
        let mut hosts = hosts(HostSelection::Priority {
            start_over: Duration::from_secs(30),
        });
        let (first, _) = names(&mut hosts, 4);
        assert_eq!(first, "abca");
        let later = Duration::from_secs(1000);
        assert_eq!(hosts.attempt(later).unwrap().host, "a");
        hosts.failed(later);
        assert_eq!(hosts.attempt(later).unwrap().host, "b");
        assert!(
            Hosts::new(Vec::new(), HostSelection::RoundRobin, Vec::new())
                .attempt(later)
                .is_none()
        );
    }
}
