//! Differences between SendingTime and the times of a log, and the zones that the log's times are in.

use super::rows::Skew;
use crate::arrival::{Logged, zone_ns};

/// Zones that are told apart in a direction: what is in others beyond these is counted with the nearest.
const ZONES_MAX: usize = 16;
/// Both parties of a session are in a zone if both are as near to it.
const NEAR_NS: u64 = 60_000_000_000;
const SECOND_NS: i64 = 1_000_000_000;

/// Differences near the same zone.
#[derive(Debug, Clone, Copy)]
struct Near {
    zone_ns: i64,
    is_utc: bool,
    messages: u64,
    least_ns: i64,
    largest_ns: i64,
    sum_ns: i128,
}

impl Near {
    /// How far they are from the zone, as a whole.
    fn off_ns(&self) -> u64 {
        let mean = self.sum_ns / i128::from(self.messages.max(1));
        let mean = i64::try_from(mean).unwrap_or(i64::MAX);
        mean.abs_diff(self.zone_ns)
    }
}

/// The differences of one direction, by zone.
#[derive(Debug, Default)]
pub(super) struct Skews {
    near: Vec<Near>,
    /// Whether a time of the log had a fraction of a second.
    has_fractions: bool,
}

impl Skews {
    /// Adds the times of a message.
    pub(super) fn add(&mut self, logged: Logged, sent_ns: i64) {
        let ns = logged.ns.saturating_sub(sent_ns);
        self.has_fractions |= logged.ns % SECOND_NS != 0;
        let zone = if logged.is_utc { 0 } else { zone_ns(ns) };
        let is = |near: &Near| near.zone_ns == zone && near.is_utc == logged.is_utc;
        let mut at = self.near.iter().position(is);
        if at.is_none() && self.near.len() >= ZONES_MAX {
            let nearest = |at: &usize| self.near[*at].zone_ns.abs_diff(zone);
            at = (0..self.near.len()).min_by_key(nearest);
        }
        let at = at.unwrap_or_else(|| {
            self.near.push(Near {
                zone_ns: zone,
                is_utc: logged.is_utc,
                messages: 0,
                least_ns: ns,
                largest_ns: ns,
                sum_ns: 0,
            });
            self.near.len() - 1
        });
        if let Some(near) = self.near.get_mut(at) {
            near.messages += 1;
            near.least_ns = near.least_ns.min(ns);
            near.largest_ns = near.largest_ns.max(ns);
            near.sum_ns += i128::from(ns);
        }
    }

    /// What there is without the zones of the log.
    pub(super) fn skew(&self, zones: &[i64]) -> Option<Skew> {
        let mut skew: Option<Skew> = None;
        for near in &self.near {
            let distance = |zone: &&i64| zone.abs_diff(near.zone_ns);
            let zone = match near.is_utc {
                true => 0,
                false => zones.iter().min_by_key(distance).copied().unwrap_or(0),
            };
            let least_ns = near.least_ns.saturating_sub(zone);
            let largest_ns = near.largest_ns.saturating_sub(zone);
            let skew = skew.get_or_insert(Skew {
                zone_ns: zone,
                least_ns,
                largest_ns,
                is_whole_seconds: !self.has_fractions,
                ..Skew::default()
            });
            skew.messages += near.messages;
            skew.least_ns = skew.least_ns.min(least_ns);
            skew.largest_ns = skew.largest_ns.max(largest_ns);
            skew.sum_ns += near.sum_ns - i128::from(zone) * i128::from(near.messages);
        }
        skew
    }
}

/// The zones of a log, from both directions of a session. The log is written by the clock of one of the parties, or
/// near it. A zone is one that both directions are near: there are two where the time of the year changed. If there
/// is none, the clock of one party is wrong, and the zone is that which a direction is nearest to.
pub(super) fn zones(ways: [&Skews; 2]) -> Vec<i64> {
    let local = |skews: &Skews| {
        let near = skews.near.iter().filter(|near| !near.is_utc);
        near.copied().collect::<Vec<_>>()
    };
    let [a, b] = ways.map(local);
    let near_b = |near: &&Near| {
        let is_same = |other: &Near| other.zone_ns == near.zone_ns && other.off_ns() <= NEAR_NS;
        b.is_empty() || b.iter().any(is_same)
    };
    let of_both = match a.is_empty() {
        true => &b,
        false => &a,
    };
    let is_near = |near: &&Near| near.off_ns() <= NEAR_NS && (a.is_empty() || near_b(near));
    let common: Vec<_> = of_both
        .iter()
        .filter(is_near)
        .map(|near| near.zone_ns)
        .collect();
    if !common.is_empty() {
        return common;
    }
    let all = a.iter().chain(&b);
    let best = all.min_by_key(|near| {
        let seconds = near.off_ns() / 1_000_000_000;
        (seconds, near.zone_ns.unsigned_abs())
    });
    best.map(|near| near.zone_ns).into_iter().collect()
}
