//! `perfkit fix diff`: two logs message by message, whatever their shape and order, in bounded memory.
//!
//! Both logs are read in turns. A message waits until its like comes in the other log, or until as
//! many wait as may: then the oldest has none.

mod fields;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use fixcore::{Decoder, Field, Message};
use latency::report::{Table, Unit};

use super::blocks::{Block, Blocks};
use super::crew::Stop;
use super::read::{conclude_bad, ended_file, write_out};
use super::texts::{Found, Texts};
use crate::args::fix::{DiffArgs, Match};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::io::target::duplicate_stdout;
use crate::session::Outcome;
use crate::term::{message, signal};
use fields::{identity, key, merge, numbered, optional};

/// Bytes of messages that wait on a side, however few these are.
const WAITING_BYTES_MAX: usize = 256 << 20;
/// Output that is gathered while there is more to read.
const OUTPUT_BYTES: usize = 64 << 10;

/// The hash of what is the same in messages that belong together.
type Key = u128;

/// A message that waits for its like.
struct Kept {
    offset: u64,
    bytes: Vec<u8>,
}

/// One log.
struct Side<'s> {
    blocks: Blocks<'s>,
    block: Block,
    texts: Texts,
    /// Of the last block: what is wrong, or a message and its key.
    ready: VecDeque<(Key, Kept)>,
    ended: bool,
    /// Messages that did not find their like yet, those of a key in their order.
    waiting: HashMap<Key, VecDeque<Kept>>,
    waiting_count: usize,
    waiting_bytes: usize,
    /// In which order they came: a key and a place, of some that wait no more as well.
    order: VecDeque<(Key, u64)>,
    only: u64,
}

/// What was found so far.
struct Diff<'a> {
    args: &'a DiffArgs,
    /// Sorted.
    ignored: Vec<u32>,
    decoders: [Decoder; 2],
    out: Vec<u8>,
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
        waiting: HashMap::new(),
        waiting_count: 0,
        waiting_bytes: 0,
        order: VecDeque::new(),
        only: 0,
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
    diff.conclude(&sides, &files, outcome);
}

impl Diff<'_> {
    fn all(
        &mut self,
        sides: &mut [Side<'_>; 2],
        files: &[PathBuf],
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        let failed = |error| Failure::io("write", Path::new("standard output"), &error);
        let mut file = duplicate_stdout().map_err(failed)?;
        while !signal::interrupted() && !sides.iter().all(|side| side.ended) {
            for at in 0..2 {
                self.read(at, sides, files, outcome);
            }
            // Both logs are followed at the same pace, message by message.
            while let Some(at) = (0..2)
                .filter(|at| !sides[*at].ready.is_empty())
                .max_by_key(|at| sides[*at].ready.len())
            {
                if let Some((key, kept)) = sides[at].ready.pop_front() {
                    self.place(at, key, kept, sides);
                }
                if sides
                    .iter()
                    .any(|side| side.ready.is_empty() && !side.ended)
                {
                    break;
                }
            }
            if self.out.len() >= OUTPUT_BYTES {
                outcome.bytes_out += write_out(&mut file, &self.out)?;
                self.out.clear();
            }
        }
        if !signal::interrupted() {
            for at in 0..2 {
                while let Some((key, number)) = sides[at].order.pop_front() {
                    self.alone(at, key, number, sides);
                }
            }
        }
        outcome.bytes_out += write_out(&mut file, &self.out)?;
        Ok(())
    }

    /// Reads a block of a side that has no messages ready.
    fn read(
        &mut self,
        at: usize,
        sides: &mut [Side<'_>; 2],
        files: &[PathBuf],
        outcome: &mut Outcome,
    ) {
        let side = &mut sides[at];
        if !side.ready.is_empty() || side.ended {
            return;
        }
        if !side.blocks.next(&mut side.block) {
            side.ended = true;
            return;
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
                        let key = key(&message, by, ignored);
                        let bytes = bytes.to_vec();
                        ready.push_back((key, Kept { offset, bytes }));
                        return;
                    }
                    Err(error) => error.to_string(),
                },
            };
            *bad += 1;
            if named.len() < super::read::BAD_NAMED {
                named.push((at, offset, error));
            }
        });
        if let Some(ended) = side.block.ended.take() {
            side.ended = true;
            ended_file(files, at, ended, outcome);
        }
    }

    /// A message finds its like, or waits for it.
    fn place(&mut self, at: usize, key: Key, kept: Kept, sides: &mut [Side<'_>; 2]) {
        if let Some(other) = sides[1 - at].take(key) {
            match at {
                0 => self.compare(&kept, &other),
                _ => self.compare(&other, &kept),
            }
            return;
        }
        let side = &mut sides[at];
        side.waiting_count += 1;
        side.waiting_bytes += kept.bytes.len();
        side.order.push_back((key, kept.offset));
        side.waiting.entry(key).or_default().push_back(kept);
        while sides[at].waiting_count > self.args.window as usize
            || sides[at].waiting_bytes > WAITING_BYTES_MAX
        {
            let Some((key, offset)) = sides[at].order.pop_front() else {
                break;
            };
            self.alone(at, key, offset, sides);
        }
        sides[at].tidy();
    }

    /// A message that has no like, if it still waits.
    fn alone(&mut self, at: usize, key: Key, offset: u64, sides: &mut [Side<'_>; 2]) {
        let side = &mut sides[at];
        if !side.waits(key, offset) {
            return;
        }
        let Some(kept) = side.take(key) else {
            return;
        };
        side.only += 1;
        let Ok(message) = self.decoders[at].parse(&kept.bytes) else {
            return;
        };
        let name = ["a", "b"][at];
        let _ = write!(self.out, "{{\"only\":\"{name}\",\"offset\":{offset},");
        identity(&mut self.out, &message);
        self.out.extend_from_slice(b"}\n");
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

    fn conclude(self, sides: &[Side<'_>; 2], files: &[PathBuf], outcome: &mut Outcome) {
        let [only_a, only_b] = [sides[0].only, sides[1].only];
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

impl Side<'_> {
    /// The first message of a key that waits.
    fn take(&mut self, key: Key) -> Option<Kept> {
        let queue = self.waiting.get_mut(&key)?;
        let kept = queue.pop_front()?;
        if queue.is_empty() {
            self.waiting.remove(&key);
        }
        self.waiting_count -= 1;
        self.waiting_bytes -= kept.bytes.len();
        Some(kept)
    }

    fn waits(&self, key: Key, offset: u64) -> bool {
        let first = self.waiting.get(&key).and_then(VecDeque::front);
        first.is_some_and(|kept| kept.offset == offset)
    }

    /// Forgets in which order messages came that wait no more.
    fn tidy(&mut self) {
        if self.order.len() > 2 * self.waiting_count + 1024 {
            let mut order = std::mem::take(&mut self.order);
            // Of a key those that came first are gone first.
            order.retain(|(key, offset)| {
                let first = self.waiting.get(key).and_then(VecDeque::front);
                first.is_some_and(|kept| kept.offset <= *offset)
            });
            self.order = order;
        }
    }
}
