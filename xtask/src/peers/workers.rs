//! How fast workers on NATS JetStream answer events, by number of workers and length of blocks, beside the same matching
//! without a broker: in one run, in turns of random order.

use std::fmt::Write;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::peers::rounds::Spread;
use crate::record::Body;

mod cpu;
pub(crate) mod run;
mod server;

/// Events per second of each way.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Workers {
    rounds: u32,
    events: u64,
    expressions: u64,
    processors: u32,
    rows: Vec<Row>,
}

/// One way to match the events.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// Threads that match, each one in a worker of its own where there is a broker.
    threads: u32,
    /// Events of a message on average; none without a broker.
    block_events: Option<f64>,
    /// Whether it is the first way once more.
    #[serde(default)]
    again: bool,
    /// Events a second, of each round.
    per_s: Vec<f64>,
    /// Seconds of processor time of each round.
    cpu_s: Vec<Cpu>,
}

/// Seconds of processor time that a turn took.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cpu {
    /// Of the processes that match.
    matching: f64,
    /// Of the server meanwhile.
    server: f64,
}

impl Cpu {
    /// What came to it since then.
    fn since(self, before: Self) -> Self {
        Self {
            matching: self.matching - before.matching,
            server: self.server - before.server,
        }
    }
}

impl Workers {
    /// The rounds of matching without a broker on this many threads.
    fn plain(&self, threads: u32) -> Option<&Row> {
        let is = |row: &&Row| row.threads == threads && row.block_events.is_none() && !row.again;
        self.rows.iter().find(is)
    }

    /// How fast a way is compared with matching without a broker on as many threads, round by round.
    fn shares(&self, row: &Row) -> Spread {
        let plain = self.plain(row.threads).map_or(&[][..], |row| &row.per_s);
        let pairs = row.per_s.iter().zip(plain);
        Spread::of(pairs.map(|(own, plain)| own / plain))
    }

    /// The share that processors leave where they have nothing else to do: all the processor time of a turn on
    /// all processors, compared with the time of matching without a broker on as many threads.
    fn bound(&self, row: &Row) -> Option<f64> {
        let plain = self.plain(row.threads)?;
        let plain = self.events as f64 / Spread::of(plain.per_s.iter().copied()).median;
        let of = |part: fn(&Cpu) -> f64| Spread::of(row.cpu_s.iter().map(part)).median;
        let all = of(|cpu| cpu.matching) + of(|cpu| cpu.server);
        let least = all / f64::from(self.processors);
        Some((plain / least).min(1.0))
    }
}

impl Body for Workers {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "{} events against {} expressions (`betree generate ad`); {} rounds of all ways in random order, medians. Workers have \
             one thread each; without a broker one process has as many. Each time is from the start of the processes to the \
             last answer: for workers, to the time at which the server stored it. Every answer is there once in each turn, and \
             in the first round all are compared with those without a broker. The share is that of each round, with its least \
             and greatest. Server and workers share {} processors: the last columns are the processor time of a turn, and the \
             share that would be left if it were spread over all of them without a gap.\n\n\
             | threads | events a message | events per s | share of without a broker | least and greatest | CPU: matching, s | \
             server, s | greatest possible share |\n\
             |---|---|---|---|---|---|---|---|",
            self.events, self.expressions, self.rounds, self.processors
        )?;
        let median =
            |row: &Row, part: fn(&Cpu) -> f64| Spread::of(row.cpu_s.iter().map(part)).median;
        for row in &self.rows {
            let block = match (row.block_events, row.again) {
                (None, false) => "without a broker".to_owned(),
                (None, true) => "without a broker, again".to_owned(),
                (Some(events), _) => format!("{events:.1}"),
            };
            let share = self.shares(row);
            let bound = match (row.block_events, self.bound(row)) {
                (Some(_), Some(bound)) => format!("{bound:.2}"),
                _ => String::new(),
            };
            writeln!(
                out,
                "| {} | {block} | {:.0} | {:.2} | {:.2} to {:.2} | {:.2} | {:.2} | {} |",
                row.threads,
                Spread::of(row.per_s.iter().copied()).median,
                share.median,
                share.range[0],
                share.range[1],
                median(row, |cpu| cpu.matching),
                median(row, |cpu| cpu.server),
                bound,
            )?;
        }
        Ok(())
    }

    fn faults(&self) -> Vec<String> {
        let short = self
            .rows
            .iter()
            .filter(|row| [row.per_s.len(), row.cpu_s.len()] != [self.rounds as usize; 2]);
        short
            .map(|row| format!("a way has {} of {} rounds", row.per_s.len(), self.rounds))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_each_round() {
        let row = |threads, block_events, again, per_s: [f64; 3]| Row {
            threads,
            block_events,
            again,
            per_s: per_s.to_vec(),
            cpu_s: vec![
                Cpu {
                    matching: 0.125,
                    server: 0.125
                };
                3
            ],
        };
        let found = Workers {
            rounds: 3,
            events: 10,
            expressions: 5,
            processors: 2,
            rows: vec![
                row(1, None, false, [100.0, 200.0, 50.0]),
                row(1, None, true, [100.0, 100.0, 100.0]),
                row(1, Some(100.0), false, [90.0, 190.0, 45.0]),
            ],
        };
        assert_eq!(found.shares(&found.rows[2]).median, 0.9);
        assert_eq!(found.shares(&found.rows[1]).range, [0.5, 2.0]);
        assert!(found.faults().is_empty());
        let mut page = String::new();
        found.write(&mut page).unwrap();
        assert!(
            page.contains("| 1 | 100.0 | 90 | 0.90 | 0.90 to 0.95 | 0.12 | 0.12 | 0.80 |"),
            "{page}"
        );
    }
}
