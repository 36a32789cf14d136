//! `perfkit fix diff`: two logs message by message, whatever their shape and order, in bounded memory.
//!
//! Both logs are followed at the same pace, message by message. A message waits until its like comes in
//! the other log, or until as many wait as may: then the oldest has none (`waiting`).

mod fields;
mod restarts;
mod waiting;

use std::collections::{BTreeMap, VecDeque};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use fixcore::{Decoder, Field, Message};
use latency::report::{Table, Unit};

use crate::commands::fix::blocks::{Block, Blocks};
use crate::commands::fix::crew::Stop;
use crate::commands::fix::flags::{DiffArgs, Match};
use crate::commands::fix::read::{conclude_bad, ended_file, write_out};
use crate::commands::fix::texts::{Found, Texts};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::io::context;
use crate::io::output::Output;
use crate::session::Outcome;
use crate::term::{message, signal};
use fields::{identity, key, merge, numbered, optional, place};
use waiting::{Kept, Waiting};

/// Bytes of messages that wait on a side, however few these are.
const WAITING_BYTES_MAX: usize = 256 << 20;
/// Output that is gathered while there is more to read.
const OUTPUT_BYTES: usize = 64 << 10;

/// One log.
struct Side<'s> {
    blocks: Blocks<'s>,
    block: Block,
    texts: Texts,
    /// Messages of the last block that had no turn yet.
    ready: VecDeque<Kept>,
    ended: bool,
}

/// What was found so far.
struct Diff<'a> {
    args: &'a DiffArgs,
    /// Sorted.
    ignored: Vec<u32>,
    decoders: [Decoder; 2],
    out: Vec<u8>,
    waiting: Waiting,
    only: [u64; 2],
    bad: u64,
    named: Vec<(usize, u64, String)>,
    same: u64,
    different: u64,
    /// By tag: in how many messages it differs.
    tags: BTreeMap<u32, u64>,
}

/// Compares, and says what came of it.
pub(super) fn run(args: &DiffArgs, decoders: [Decoder; 2], outcome: &mut Outcome) {
    let mut ignored = args.ignore.clone();
    ignored.extend([9, 10]);
    if args.by == Match::Order {
        // Belonging together says nothing of the place in the session then.
        ignored.push(34);
    }
    ignored.sort_unstable();
    let mut diff = Diff {
        args,
        ignored,
        decoders,
        out: Vec::new(),
        waiting: Waiting::new(args.window as usize, WAITING_BYTES_MAX),
        only: [0, 0],
        bad: 0,
        named: Vec::new(),
        same: 0,
        different: 0,
        tags: BTreeMap::new(),
    };
    let stopped = || false;
    let files = [args.first.clone(), args.second.clone()];
    let side = |file: &PathBuf| Side {
        blocks: Blocks::new(std::slice::from_ref(file), args.separator, &stopped),
        block: Block::default(),
        texts: Texts::new(),
        ready: VecDeque::new(),
        ended: false,
    };
    let mut sides = [side(&files[0]), side(&files[1])];
    match diff.all(&mut sides, &files, outcome) {
        Ok(()) | Err(Stop::Closed) => {}
        Err(Stop::Failed(failure)) => {
            message::failure(&failure);
            outcome.complete = false;
            outcome.status = failure.exit_status();
        }
    }
    diff.conclude(&files, outcome);
}

impl Diff<'_> {
    fn all(
        &mut self,
        sides: &mut [Side<'_>; 2],
        files: &[PathBuf],
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        let failed = |error| Failure::io("write", Path::new("standard output"), &error);
        let mut file = Output::stdout(context()).map_err(failed)?;
        while !signal::interrupted() {
            for at in 0..2 {
                while sides[at].ready.is_empty() && !sides[at].ended {
                    self.read(at, sides, files, outcome)?;
                }
            }
            if sides.iter().all(|side| side.ready.is_empty()) {
                break;
            }
            for (at, side) in sides.iter_mut().enumerate() {
                if let Some(kept) = side.ready.pop_front() {
                    self.place(at, kept);
                }
            }
            self.unpaired(Waiting::trim);
            if self.out.len() >= OUTPUT_BYTES {
                outcome.bytes_out += write_out(&mut file, &self.out)?;
                self.out.clear();
            }
        }
        if !signal::interrupted() {
            self.unpaired(Waiting::rest);
        }
        outcome.bytes_out += write_out(&mut file, &self.out)?;
        Ok(())
    }

    /// Reads the next block of a log.
    fn read(
        &mut self,
        at: usize,
        sides: &mut [Side<'_>; 2],
        files: &[PathBuf],
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        let side = &mut sides[at];
        if !side.blocks.next(&mut side.block) {
            side.ended = true;
            return Ok(());
        }
        let (decoder, ready) = (&mut self.decoders[at], &mut side.ready);
        let (bad, named, by) = (&mut self.bad, &mut self.named, self.args.by);
        let ignored = &self.ignored;
        side.texts.each(&side.block, &mut |offset, found| {
            let error = match found {
                Found::Noise(_) | Found::Between(_) => return,
                Found::Bad(why) => why.to_string(),
                Found::Message(bytes, _) => match decoder.parse(bytes) {
                    Ok(message) => {
                        ready.push_back(Kept {
                            key: key(&message, by, ignored),
                            place: place(&message, by),
                            offset,
                            bytes: bytes.to_vec(),
                        });
                        return;
                    }
                    Err(error) => error.to_string(),
                },
            };
            *bad += 1;
            if named.len() < crate::commands::fix::read::BAD_NAMED {
                named.push((at, offset, error));
            }
        });
        if let Some(mut ended) = side.block.ended.take() {
            side.ended = true;
            // What was not read is not missing: nothing can be said of the other log then.
            if let Some(failure) = ended.failure.take() {
                return Err(failure.into());
            }
            ended_file(files, at, ended, outcome);
        }
        Ok(())
    }

    /// A message finds its like, or waits for it.
    fn place(&mut self, at: usize, kept: Kept) {
        let mut pair = None;
        self.unpaired(|waiting, alone| pair = waiting.place(at, kept, alone));
        match pair {
            Some((kept, other)) if at == 0 => self.compare(&kept, &other),
            Some((kept, other)) => self.compare(&other, &kept),
            None => {}
        }
    }

    /// Tells of the messages that turn out to have no like.
    fn unpaired(&mut self, turn: impl FnOnce(&mut Waiting, &mut dyn FnMut(usize, Kept))) {
        let (out, only, decoders) = (&mut self.out, &mut self.only, &mut self.decoders);
        turn(&mut self.waiting, &mut |at, kept| {
            only[at] += 1;
            // It was parsed before.
            let Ok(message) = decoders[at].parse(&kept.bytes) else {
                return;
            };
            let (name, offset) = (["a", "b"][at], kept.offset);
            let _ = write!(out, "{{\"only\":\"{name}\",\"offset\":{offset},");
            identity(out, &message);
            out.extend_from_slice(b"}\n");
        });
    }

    fn compare(&mut self, a: &Kept, b: &Kept) {
        let [first, second] = &mut self.decoders;
        // Both were parsed before.
        let (Ok(one), Ok(two)) = (first.parse(&a.bytes), second.parse(&b.bytes)) else {
            return;
        };
        let kept = |field: &Field<'_>| self.ignored.binary_search(&field.tag).is_err();
        let fields = |message: &Message<'_, '_>| message.fields().filter(kept).count();
        if fields(&one) == fields(&two)
            && one
                .fields()
                .filter(kept)
                .zip(two.fields().filter(kept))
                .all(|(a, b)| (a.tag, a.value) == (b.tag, b.value))
        {
            self.same += 1;
            return;
        }
        self.different += 1;
        let (out, tags) = (&mut self.out, &mut self.tags);
        let _ = write!(out, "{{\"a\":{},\"b\":{},", a.offset, b.offset);
        identity(out, &one);
        out.extend_from_slice(b",\"differences\":[");
        let mut comma = "";
        let mut last = 0;
        merge(
            numbered(&one, &kept),
            numbered(&two, &kept),
            &mut |tag, a, b| {
                let _ = write!(out, "{comma}[{tag},");
                comma = ",";
                optional(out, a);
                out.push(b',');
                optional(out, b);
                out.push(b']');
                if last != tag {
                    *tags.entry(tag).or_insert(0) += 1;
                    last = tag;
                }
            },
        );
        out.extend_from_slice(b"]}\n");
    }

    fn conclude(self, files: &[PathBuf], outcome: &mut Outcome) {
        let [only_a, only_b] = self.only;
        let params = &mut outcome.workload.params;
        params.insert("messages_bad".to_owned(), self.bad.into());
        outcome.ops = Some(2 * (self.same + self.different) + only_a + only_b);
        outcome.bytes_content = outcome.bytes_in;
        let columns = ["same", "different", "only_a", "only_b"].map(|name| (name, Unit::Count));
        let mut table = Table::new("messages", &columns);
        let row = [self.same, self.different, only_a, only_b];
        table.rows.push(row.into_iter().map(Into::into).collect());
        outcome.tables.push(table);
        if !self.tags.is_empty() {
            let columns = [("tag", Unit::Count), ("messages", Unit::Count)];
            let mut table = Table::new("tags that differ", &columns);
            let mut tags: Vec<_> = self.tags.into_iter().collect();
            tags.sort_by_key(|(tag, count)| (std::cmp::Reverse(*count), *tag));
            for (tag, count) in tags.into_iter().take(100) {
                table.rows.push(vec![u64::from(tag).into(), count.into()]);
            }
            outcome.tables.push(table);
        }
        conclude_bad(self.bad, self.named, files, outcome);
        let differs = self.different + only_a + only_b > 0;
        if differs && matches!(outcome.status, ExitStatus::Ok | ExitStatus::Partial) {
            outcome.status = ExitStatus::Failure;
        }
    }
}
