//! Logs of trading sessions: orders, executions, market data and heartbeats in time order, with sequence
//! numbers, and some messages damaged on purpose.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::collections::VecDeque;

use super::{EXECUTION, NEW_ORDER, Sample};
use crate::encoder::Encoder;
use crate::error::Result;
use crate::value::{Decimal, Timestamp};

/// How many orders may wait for an execution at once.
const OPEN_ORDERS_MAX: usize = 1000;
/// 2026-03-05 08:00:00 UTC.
const BEGIN_NS: i64 = 1_772_697_600_000_000_000;
/// The longest time between two messages.
const APART_NS_MAX: u64 = 400_000;

/// How frequent each kind of message is, as weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    /// The weights of the samples, in the order of [`Sample::ALL`].
    pub weights: [u32; 4],
}

impl Default for Mix {
    fn default() -> Self {
        Self {
            weights: [4, 44, 48, 4],
        }
    }
}

/// How a message of a log was damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Harm {
    /// A wrong digit in CheckSum (10).
    CheckSum,
    /// A wrong digit in BodyLength (9).
    BodyLength,
    /// A tag that is not a number.
    Tag,
    /// Its end is missing.
    Truncated,
    /// Random bytes follow it.
    Noise,
    /// It appears twice.
    Repeated,
    /// It is missing, which leaves a gap in the sequence numbers.
    Lost,
}

impl Harm {
    const ALL: [Self; 7] = [
        Self::CheckSum,
        Self::BodyLength,
        Self::Tag,
        Self::Truncated,
        Self::Noise,
        Self::Repeated,
        Self::Lost,
    ];
}

/// Writes a log message by message from a seed, the same bytes on every platform.
#[derive(Debug)]
pub struct Log {
    encoder: Encoder,
    random: SplitMix64,
    mix: Mix,
    /// The next number of each side, for each session.
    numbers: Vec<[u64; 2]>,
    now_ns: i64,
    orders: u64,
    executions: u64,
    /// The numbers and sessions of orders without an execution.
    open: VecDeque<(u64, usize)>,
    harmed_of_million: u64,
}

impl Log {
    /// A log of this many sessions (at least one). `harmed` is the share of damaged messages, from 0 to 1.
    #[must_use]
    pub fn new(mix: Mix, sessions: usize, harmed: f64, seed: u64) -> Self {
        Self {
            encoder: Encoder::new("FIX.4.4"),
            random: SplitMix64::seed_from_u64(seed),
            mix,
            numbers: vec![[1, 1]; sessions.max(1)],
            now_ns: BEGIN_NS,
            orders: 0,
            executions: 0,
            open: VecDeque::new(),
            harmed_of_million: (harmed.clamp(0.0, 1.0) * 1e6) as u64,
        }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random.next_u64() % end.max(1)
    }

    /// The time of the last message.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        Timestamp(self.now_ns)
    }

    /// Appends the next message to `out`. Returns how it was damaged, if it was.
    ///
    /// # Errors
    /// Never: all of these values can be written.
    pub fn message(&mut self, out: &mut Vec<u8>) -> Result<Option<Harm>> {
        self.now_ns += self.below(APART_NS_MAX) as i64;
        let sample = self.sample();
        let session = match (sample, self.open.front()) {
            (Sample::Execution, Some((_, session))) => *session,
            _ => self.below(self.numbers.len() as u64) as usize,
        };
        let start = out.len();
        self.write(sample, session, out)?;
        let harmed = self.harmed_of_million > 0 && self.below(1_000_000) < self.harmed_of_million;
        Ok(harmed.then(|| self.harm(out, start)))
    }

    fn sample(&mut self) -> Sample {
        let all: u64 = self
            .mix
            .weights
            .iter()
            .map(|weight| u64::from(*weight))
            .sum();
        let mut at = self.below(all);
        let mut sample = Sample::NewOrder;
        for (weight, other) in self.mix.weights.into_iter().zip(Sample::ALL) {
            if at < u64::from(weight) {
                sample = other;
                break;
            }
            at -= u64::from(weight);
        }
        sample
    }

    fn write(&mut self, sample: Sample, session: usize, out: &mut Vec<u8>) -> Result<()> {
        let from_market = matches!(sample, Sample::Execution | Sample::MarketData);
        let pair = self.numbers.get_mut(session);
        let number = pair.map_or(1, |pair| {
            let number = &mut pair[usize::from(from_market)];
            *number += 1;
            *number - 1
        });
        let price = 41_000 + (self.below(1000) as i64);
        let quantity = 100 * (1 + self.below(50));
        let order = match sample {
            Sample::NewOrder => {
                self.orders += 1;
                if self.open.len() < OPEN_ORDERS_MAX {
                    self.open.push_back((self.orders, session));
                }
                self.orders
            }
            _ => self.open.front().map_or(0, |open| open.0),
        };
        if sample == Sample::Execution {
            self.open.pop_front();
            self.executions += 1;
        }
        let id = format!("ORD{order:011}");
        let (desk, market) = (format!("DESK{session:05}"), "MARKET01");
        let [sender, target] = match from_market {
            true => [market, desk.as_str()],
            false => [desk.as_str(), market],
        };
        let msg_type = match sample {
            Sample::Heartbeat => "0",
            Sample::NewOrder => "D",
            Sample::Execution => "8",
            Sample::MarketData => "X",
        };
        let now = Timestamp(self.now_ns).to_millis();
        let mut message = self
            .encoder
            .start(msg_type)
            .bytes(49, sender.as_bytes())
            .bytes(56, target.as_bytes())
            .unsigned(34, number)
            .bytes(52, &now);
        let fields: &[(u32, &str)] = match sample {
            Sample::NewOrder => &NEW_ORDER,
            Sample::Execution => &EXECUTION,
            Sample::Heartbeat | Sample::MarketData => &[],
        };
        for (tag, value) in fields {
            message = match tag {
                11 => message.bytes(11, id.as_bytes()),
                38 => message.unsigned(38, quantity),
                44 => message.decimal(
                    44,
                    Decimal {
                        mantissa: price,
                        scale: 2,
                    },
                ),
                60 => message.bytes(60, &now),
                17 => message.unsigned(17, self.executions),
                _ => message.bytes(*tag, value.as_bytes()),
            };
        }
        if sample == Sample::MarketData {
            message = message.bytes(262, b"SUB-7").unsigned(268, 24);
            for entry in 0..24_u64 {
                let mantissa = 512_000 + 25 * entry as i64 + price % 100;
                message = message
                    .unsigned(279, 0)
                    .unsigned(269, entry % 2)
                    .bytes(55, b"NQM6")
                    .decimal(270, Decimal { mantissa, scale: 2 })
                    .unsigned(271, 10 + entry)
                    .bytes(273, &now[9..]);
            }
        }
        out.extend_from_slice(message.finish()?);
        Ok(())
    }

    /// Damages the message that begins at `start`.
    fn harm(&mut self, out: &mut Vec<u8>, start: usize) -> Harm {
        let harm = Harm::ALL[self.below(Harm::ALL.len() as u64) as usize];
        let end = out.len();
        let other = |byte: &mut u8| *byte = if *byte == b'7' { b'3' } else { b'7' };
        match harm {
            Harm::CheckSum => other(&mut out[end - 2]),
            // After `8=FIX.4.4`, a separator and `9=`.
            Harm::BodyLength => other(&mut out[start + 12]),
            // The second digit of tag 49, after a length of two to four digits and the type.
            Harm::Tag => {
                let at = out[start..]
                    .windows(4)
                    .position(|bytes| bytes == b"\x0149=");
                if let Some(at) = at {
                    out[start + at + 2] = b'x';
                }
            }
            Harm::Truncated => {
                let cut = 8 + self.below((end - start - 8) as u64) as usize;
                out.truncate(end - cut);
            }
            Harm::Noise => {
                for _ in 0..1 + self.below(40) {
                    let byte = self.random.next_u64() as u8;
                    out.push(byte);
                }
            }
            Harm::Repeated => out.extend_from_within(start..),
            Harm::Lost => out.truncate(start),
        }
        harm
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;

    #[test]
    fn a_log_is_valid_but_for_what_was_harmed_and_the_same_for_a_seed() {
        let write = |harmed, seed| {
            let mut log = Log::new(Mix::default(), 3, harmed, seed);
            let mut out = Vec::new();
            let mut decoder = Decoder::new();
            let mut good = 0;
            for _ in 0..2000 {
                let start = out.len();
                let harm = log.message(&mut out).unwrap();
                good += usize::from(harm.is_none());
                assert!(harm.is_some() || decoder.parse(&out[start..]).is_ok());
            }
            (out, good)
        };
        let (whole, good) = write(0.0, 7);
        assert_eq!(good, 2000);
        assert!(write(0.0, 7).0 == whole && write(0.0, 8).0 != whole);
        let (_, good) = write(0.5, 7);
        assert!((800..1200).contains(&good));
    }
}
