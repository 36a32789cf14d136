//! What a member of a group notices of blocks that the servers removed before it had read them.
//!
//! Offsets have gaps where transactions end, and where messages were removed: only the first offset of a partition tells
//! which. A partition that is read to its end is done up to there, ends of transactions included; the group learns that, so
//! that their removal is no loss.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rdkafka::message::Message as _;

use crate::error::Result;
use crate::kafka::plan::Plan;
use crate::kafka::scan::Scanner;
use crate::kafka::shared::LOOK;

/// How often to look at partitions of which nothing comes.
const EVERY: Duration = Duration::from_secs(2);
/// How long the group may take to learn what the last look has found.
const LAST: Duration = Duration::from_secs(3);

/// What was noticed.
pub(super) struct Removed<'a> {
    plan: &'a Plan,
    /// Gaps for which the servers did not say where the partition begins: partition, first offset, end.
    open: Vec<(i32, i64, i64)>,
    looked: Instant,
}

impl<'a> Removed<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            open: Vec::new(),
            looked: Instant::now(),
        }
    }

    /// A message was read: what is between it and the one before may be lost.
    pub(super) fn follows(&mut self, partition: i32, offset: i64) {
        let state = self.plan.shared.lock();
        let held = state.partitions.get(&partition);
        let gap = held.and_then(|held| held.gap(offset));
        drop(state);
        if let Some(first) = gap {
            self.open.push((partition, first, offset));
            self.ask();
        }
    }

    /// Asks about gaps.
    fn ask(&mut self) {
        let plan = self.plan;
        self.open.retain(|(partition, first, end)| {
            let Ok((begins, _)) = plan.cluster.ends(&plan.from.name, *partition) else {
                return true;
            };
            if begins > *first {
                plan.lose(*partition, *first, begins.min(*end));
            }
            false
        });
    }

    /// Nothing has come for a moment.
    pub(super) fn look(&mut self) {
        if self.looked.elapsed() < EVERY {
            return;
        }
        self.ask();
        // If the servers do not answer, they are asked again.
        let _ = self.settle();
        self.looked = Instant::now();
    }

    /// The member leaves.
    pub(super) fn last_look(&mut self) {
        self.ask();
        if self.settle().is_ok() {
            let until = Instant::now() + LAST;
            while self.plan.shared.has_floors() && Instant::now() < until {
                std::thread::sleep(LOOK / 10);
            }
        }
    }

    /// Looks at partitions of which everything that was read is done.
    fn settle(&self) -> Result<()> {
        let plan = self.plan;
        let mut quiet = plan.shared.idle();
        let mut ends = quiet.clone();
        for (partition, next) in &quiet {
            let (begins, end) = plan.cluster.ends(&plan.from.name, *partition)?;
            if begins > *next {
                plan.lose(*partition, *next, begins);
            }
            // Not the end of what is written: transactions that are open stand behind it, as the client reads what is committed.
            ends.insert(*partition, end);
        }
        quiet.retain(|partition, next| ends[partition] > *next);
        if quiet.is_empty() {
            return Ok(());
        }
        // Whatever is there now stands before the ends that are found now.
        let scanner = Scanner::open(&plan.cluster, &plan.from, None)?;
        let mut from = scanner.all_ends()?;
        from.extend(&quiet);
        let mut blocks = BTreeSet::new();
        scanner.read(&from, |message| {
            if quiet.contains_key(&message.partition()) {
                blocks.insert(message.partition());
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        if blocks.is_empty() {
            for partition in quiet.keys() {
                plan.shared.skip(*partition, ends[partition]);
            }
        }
        Ok(())
    }
}
