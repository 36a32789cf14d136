//! What `join` has joined, and what it says of it.

use std::collections::BTreeSet;

use latency::report::{Table, Unit};
use report::units::counted;
use report::{ExitStatus, Outcome};
use workers::Lost;

use crate::commands::betree::workers::flags::JoinArgs;
use crate::commands::betree::workers::losses;
use crate::failure::Failure;
use crate::term::message;

/// The most epochs that are told apart.
const EPOCHS_MAX: usize = 1000;
/// The most dead letters that are named.
const DEAD_NAMED: usize = 3;
/// The most names of shards that are told though they were not asked for.
const OTHERS_MAX: usize = 10;

/// What was joined.
#[derive(Debug, Default)]
pub(super) struct Joined {
    pub(super) blocks: u64,
    pub(super) lines: u64,
    pub(super) bytes: u64,
    dead: u64,
    /// The first of them.
    first_dead: Vec<u64>,
    /// Blocks that were removed without an answer, in ranges from the first to the last.
    pub(super) lost: Vec<(u64, u64)>,
    /// Blocks that were removed before they could be read, and whose answers have no order.
    pub(super) removed: Vec<Lost>,
    /// Answers that were there before.
    pub(super) repeated: u64,
    /// Answers to blocks that were counted as dead before.
    pub(super) late: u64,
    /// Answers to blocks of another stream, or of shards that were not asked for.
    pub(super) others: u64,
    /// Names of shards that were not asked for and answered.
    other_shards: BTreeSet<String>,
    /// The states of the expressions that answered, in the order of their first answers, each with how many it gave.
    epochs: Vec<(String, u64)>,
    /// Answers of epochs beyond the first ones.
    more_epochs: u64,
}

impl Joined {
    pub(super) fn answered_by(&mut self, epoch: &str) {
        // The last one answers most likely again.
        match self.epochs.iter().rposition(|(known, _)| known == epoch) {
            Some(at) => self.epochs[at].1 += 1,
            None if self.epochs.len() < EPOCHS_MAX => self.epochs.push((epoch.to_owned(), 1)),
            None => self.more_epochs += 1,
        }
    }

    /// Counts a block that is a dead letter.
    pub(super) fn died(&mut self, sequence: u64) {
        self.dead += 1;
        if self.first_dead.len() < DEAD_NAMED {
            self.first_dead.push(sequence);
        }
    }

    /// Blocks that are dead letters.
    pub(super) fn dead(&self) -> u64 {
        self.dead
    }

    /// Counts an answer that is not wanted.
    pub(super) fn pass_over(&mut self, shard: Option<&str>) {
        self.others += 1;
        if self.other_shards.len() < OTHERS_MAX {
            self.other_shards.extend(shard.map(str::to_owned));
        }
    }

    fn epochs(&self) -> Table {
        let columns = [("epoch", Unit::Text), ("answers", Unit::Count)];
        let mut table = Table::new("epochs", &columns);
        let more = (self.more_epochs > 0).then(|| ("(more)".to_owned(), self.more_epochs));
        for (epoch, count) in self.epochs.iter().cloned().chain(more) {
            table.rows.push(vec![epoch.into(), count.into()]);
        }
        table
    }

    fn other_shards(&self) -> String {
        let names: Vec<&str> = self.other_shards.iter().map(String::as_str).collect();
        names.join(", ")
    }

    /// Answers that are there and not asked for, if any.
    pub(super) fn passed_over(&self) -> String {
        match (self.others, self.other_shards()) {
            (0, _) => String::new(),
            (count, shards) if shards.is_empty() => {
                format!(" ({count} answers are to blocks of other streams)")
            }
            (count, shards) => {
                format!(
                    " ({count} answers are not of --shards or to other streams: of shard {shards})"
                )
            }
        }
    }

    fn blocks_lost(&self) -> u64 {
        let lost = self.lost.iter().map(|(first, last)| last + 1 - first);
        let removed = self.removed.iter().map(|lost| lost.count);
        lost.chain(removed).sum()
    }

    /// Writes what was joined into the report, and says what is missing.
    pub(super) fn describe(&self, outcome: &mut Outcome, args: &JoinArgs) {
        outcome.ops = Some(self.lines);
        outcome.bytes_out = self.bytes;
        outcome.bytes_content = self.bytes;
        outcome.did(self.lines, ["event", "events"]);
        outcome.did(self.blocks, ["block", "blocks"]);
        let lost = self.blocks_lost();
        for (count, names) in [
            (self.dead, ["dead letter", "dead letters"]),
            (lost, ["block lost", "blocks lost"]),
            (self.repeated, ["repeated answer", "repeated answers"]),
        ] {
            if count > 0 {
                outcome.did(count, names);
            }
        }
        if self.dead > 0 || (lost > 0 && !args.allow_removed) {
            outcome.status = ExitStatus::Partial;
            outcome.complete = false;
        }
        let params = &mut outcome.workload.params;
        for (name, value) in [
            ("dead_letters", self.dead),
            ("blocks_lost", lost),
            ("repeated_answers", self.repeated),
            ("late_answers", self.late),
            ("other_answers", self.others),
            ("shards", args.shards.len() as u64),
        ] {
            params.insert(name.to_owned(), value.into());
        }
        outcome.tables.push(self.epochs());
        let tells = args.output.terminal.wants_warnings();
        if lost > 0 {
            self.say_lost(args, tells);
        }
        if self.dead > 0 {
            self.say_dead(args);
        }
        if !self.other_shards.is_empty() && tells {
            message::note(
                &format!("answers of shard {} were not joined", self.other_shards()),
                "name all shards of the workers in --shards",
            );
        }
        if self.late > 0 && tells {
            let late = counted(self.late, ["block was", "blocks were"]);
            message::remark(&format!(
                "{late} answered after being counted as a dead letter or as lost: join again, with a larger --hold if that \
                 does not help"
            ));
        }
    }

    fn say_dead(&self, args: &JoinArgs) {
        let named: Vec<String> = self.first_dead.iter().map(u64::to_string).collect();
        let noun = if named.len() == 1 { "block" } else { "blocks" };
        let more = match self.dead - named.len() as u64 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (named, stream) = (named.join(", "), args.events.stream());
        let text = format!("left out, as dead letters: {noun} {named} of {stream}{more}");
        message::failure(&Failure::new(text).help(
            "the stream of dead letters says why (Perfkit-Reason); once that is mended, `betree match --from` that stream \
             answers them",
        ));
    }

    fn say_lost(&self, args: &JoinArgs, tells: bool) {
        let ranges = self.lost.iter().map(|(first, last)| Lost {
            stream: args.events.stream().to_owned(),
            first: *first,
            last: *last,
            count: last + 1 - first,
        });
        let lost = losses::listed(ranges);
        let removed = losses::listed(self.removed.iter().cloned());
        let lost = (!lost.is_empty())
            .then(|| format!("lost: {lost}, removed from the stream and without an answer"));
        let removed = (!removed.is_empty()).then(|| {
            format!(
                "left out: {removed}, removed from the topic, so that the order of their answers is not known"
            )
        });
        for text in lost.into_iter().chain(removed) {
            if args.allow_removed {
                if tells {
                    message::remark(&text);
                }
                continue;
            }
            message::failure(&Failure::new(text).help(
                "feed their events again, and keep events until they are joined; --allow-removed joins what is there",
            ));
        }
    }
}
