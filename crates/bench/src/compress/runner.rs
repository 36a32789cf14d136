//! A candidate at work on an input: warm-up, turns, and the comparison of every answer.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use latency::report::Latency;
use latency::{Recorder, Recording};

use super::codec::{Frame, Press, Unpress};
use super::data::{Block, Data};
use super::measure::{Contender, Lane, PASS_MIN};
use super::plan::Mode;
use super::rank::Speed;
use crate::{Error, Watch};

/// Decompression is repeated for this share of the time that compression takes: it is quicker, and
/// would else be measured over a few short passes.
const DECOMPRESS_SHARE: u32 = 4;
/// Passes before the measuring, unless the first takes the whole time.
const WARM_UPS: u32 = 3;

/// An input cut into blocks, with room for what candidates make of them. All candidates use the same
/// room, one after the other.
pub(crate) struct Group<'a> {
    pub(crate) data: &'a Data,
    pub(crate) blocks: Vec<Block>,
    scratch: RefCell<Scratch>,
    /// Bytes that frames which are kept may still take, all candidates together.
    room_bytes: Cell<u64>,
}

struct Scratch {
    frames: Vec<Frame>,
    contents: Vec<Vec<u8>>,
}

impl<'a> Group<'a> {
    pub(crate) fn new(data: &'a Data, block_bytes: Option<usize>, room_bytes: u64) -> Self {
        let blocks = data.blocks(block_bytes);
        let frames = match &data.frames {
            Some(_) => Vec::new(),
            None => blocks
                .iter()
                .map(|block| Frame::with_room_for(block.range.len()))
                .collect(),
        };
        let contents = vec![Vec::new(); blocks.len()];
        Self {
            data,
            blocks,
            scratch: RefCell::new(Scratch { frames, contents }),
            room_bytes: Cell::new(room_bytes),
        }
    }

    /// Bytes of the largest block.
    pub(crate) fn block_bytes(&self) -> usize {
        let sizes = self.blocks.iter().map(|block| block.range.len());
        sizes.max().unwrap_or(0)
    }

    /// A block. Every group has one.
    pub(crate) fn content(&self, index: usize) -> &[u8] {
        &self.data.bytes[self.blocks[index].range.clone()]
    }

    /// How many answers are not what they should be. Answers are spoilt on the way, so that one that
    /// is not written again is wrong the next time.
    fn count_wrong(&self, contents: &mut [Vec<u8>]) -> u64 {
        let mut wrong = 0;
        for (index, answer) in contents.iter_mut().enumerate() {
            wrong += u64::from(answer != self.content(index));
            let ends = [0, answer.len() / 2, answer.len().saturating_sub(1)];
            for end in ends {
                if let Some(byte) = answer.get_mut(end) {
                    *byte = !*byte;
                }
            }
        }
        wrong
    }
}

/// What a candidate came to.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// The candidate, with the mode where there are several.
    pub(crate) candidate: String,
    /// The candidate alone.
    pub(crate) choice: String,
    pub(crate) mode: Mode,
    pub(crate) content_bytes: u64,
    /// Bytes of all frames; 0 when there are none.
    pub(crate) frame_bytes: u64,
    /// Speeds by wall time and by processor time, of each direction that was measured.
    pub(crate) compress: Option<Speeds>,
    pub(crate) decompress: Option<Speeds>,
    /// Of single calls of each direction, where they were timed by themselves.
    pub(crate) compress_tail: Option<Tail>,
    pub(crate) decompress_tail: Option<Tail>,
    pub(crate) predicted_bytes: Option<u64>,
    pub(crate) compress_held_bytes: Option<u64>,
    pub(crate) decompress_held_bytes: u64,
    pub(crate) ops: u64,
}

impl Found {
    /// Content over frames, where there are frames.
    pub(crate) fn ratio(&self) -> Option<f64> {
        (self.frame_bytes > 0).then(|| self.content_bytes as f64 / self.frame_bytes as f64)
    }
}

/// What single calls took: operations, or the calls or chunks of streams.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tail {
    pub(crate) n: u64,
    pub(crate) p50_ns: Option<u64>,
    pub(crate) p99_ns: Option<u64>,
}

impl Tail {
    fn of(row: &Latency) -> Self {
        Self {
            n: row.n,
            p50_ns: row.percentile(50.0),
            p99_ns: row.percentile(99.0),
        }
    }
}

/// Content bytes a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Speeds {
    pub(crate) wall: Speed,
    /// Absent where the system does not say what a thread used.
    pub(crate) cpu: Option<Speed>,
}

impl Speeds {
    fn of(lane: &Lane) -> Option<Self> {
        Some(Self {
            wall: Speed::of(&lane.wall)?,
            cpu: Speed::of(&lane.cpu),
        })
    }
}

/// One candidate on one group.
pub(crate) struct Runner<'a> {
    pub(crate) watch: &'a dyn Watch,
    pub(crate) name: String,
    /// The name without the mode.
    pub(crate) choice: String,
    pub(crate) mode: Mode,
    pub(crate) group: &'a Group<'a>,
    /// `None`: the frames are there already.
    pub(crate) press: Option<Press>,
    pub(crate) unpress: Unpress,
    /// `None`: compression is not timed.
    pub(crate) compress: Option<Lane>,
    pub(crate) decompress: Lane,
    /// What an encoder was expected to hold.
    pub(crate) predicted_bytes: Option<u64>,
    /// Frames of this candidate alone, when compression is not timed.
    pub(crate) kept: Option<Vec<Frame>>,
    pub(crate) frame_bytes: u64,
    pub(crate) spent: Duration,
    pub(crate) checked: u64,
    pub(crate) wrong: u64,
    /// Why an answer could not be had at all.
    pub(crate) refused: Option<Error>,
}

impl Runner<'_> {
    /// Compresses and decompresses everything, which warms caches and contexts, checks the answers and
    /// sizes batches. A pass so long that it is half of `time` is measured already.
    pub(crate) fn warm_up(&mut self, time: Duration, floor_ns: u64) -> Result<(), Error> {
        let began = Instant::now();
        self.keep_frames()?;
        let count = self.group.blocks.len();
        // What a cold first operation takes says little about the others: short ones go again.
        for _ in 0..WARM_UPS {
            let compressed = self.compress_pass()?;
            self.frame_bytes =
                self.with_frames(|frames| frames.iter().map(|f| f.bytes().len() as u64).sum());
            let Some(decompressed) = self.decompress_pass()? else {
                return Ok(());
            };
            let mut counts = (compressed + decompressed) * 2 >= time;
            if let Some(lane) = &mut self.compress {
                counts &= lane.calibrate(compressed, count, floor_ns);
            }
            counts &= self.decompress.calibrate(decompressed, count, floor_ns);
            if counts && decompressed >= PASS_MIN {
                self.spent = began.elapsed();
                self.end_turn();
                return Ok(());
            }
            self.compress.iter_mut().for_each(Lane::reset);
            self.decompress.reset();
            if began.elapsed() >= time.min(PASS_MIN * 10) {
                break;
            }
        }
        Ok(())
    }

    /// Where compression is not timed, does it now.
    fn keep_frames(&mut self) -> Result<(), Error> {
        let (None, Some(press)) = (&self.compress, &mut self.press) else {
            return Ok(());
        };
        let mut kept = Vec::with_capacity(self.group.blocks.len());
        let mut room = Frame::with_room_for(self.group.block_bytes());
        for index in 0..self.group.blocks.len() {
            press
                .run(self.group.content(index), &mut room, None)
                .map_err(|error| failed("compress", &self.name, self.group, &error))?;
            let left = self.group.room_bytes.get();
            let left = left.checked_sub(room.bytes().len() as u64).ok_or_else(|| {
                Error::new("the frames of all candidates do not fit into memory")
                    .help("name fewer levels, or measure a part of the data")
            })?;
            self.group.room_bytes.set(left);
            kept.push(Frame::of(room.bytes()));
        }
        self.kept = Some(kept);
        Ok(())
    }

    fn with_frames<T>(&self, look: impl FnOnce(&[Frame]) -> T) -> T {
        match self.kept.as_ref().or(self.group.data.frames.as_ref()) {
            Some(frames) => look(frames),
            None => look(&self.group.scratch.borrow().frames),
        }
    }

    /// Nothing, in no time, where compression is not timed.
    fn compress_pass(&mut self) -> Result<Duration, Error> {
        let (Some(lane), Some(press)) = (&mut self.compress, &mut self.press) else {
            return Ok(Duration::ZERO);
        };
        let (group, name) = (self.group, &self.name);
        let frames = &mut group.scratch.borrow_mut().frames;
        lane.pass(
            (&group.blocks, self.watch),
            |block| group.data.describe(block),
            |index, holds| {
                press
                    .run(group.content(index), &mut frames[index], holds)
                    .map_err(|error| failed("compress", name, group, &error))
            },
        )
    }

    /// Decompresses everything and compares it. `None`: an answer could not be had.
    fn decompress_pass(&mut self) -> Result<Option<Duration>, Error> {
        let (group, name, unpress) = (self.group, &self.name, &mut self.unpress);
        let scratch = &mut *group.scratch.borrow_mut();
        let own = self.kept.as_ref().or(group.data.frames.as_ref());
        let (frames, contents) = (own.unwrap_or(&scratch.frames), &mut scratch.contents);
        let result = self.decompress.pass(
            (&group.blocks, self.watch),
            |block| group.data.describe(block),
            |index, holds| {
                unpress
                    .run(frames[index].bytes(), &mut contents[index], holds)
                    .map_err(|error| failed("decompress", name, group, &error))
            },
        );
        match result {
            Ok(spent) => {
                self.checked += group.blocks.len() as u64;
                self.wrong += group.count_wrong(contents);
                Ok(Some(spent))
            }
            Err(Error::Stopped) => Err(Error::Stopped),
            Err(failure) => {
                self.checked += 1;
                self.wrong += 1;
                self.refused = Some(failure);
                Ok(None)
            }
        }
    }

    fn end_turn(&mut self) {
        self.compress.iter_mut().for_each(Lane::end_turn);
        self.decompress.end_turn();
    }

    /// The figures and the distributions; neither speeds nor distributions when an answer was wrong.
    pub(crate) fn finish(self) -> (Found, Vec<Recording>) {
        let right = self.wrong == 0;
        let speeds = |lane: &Lane| Speeds::of(lane).filter(|_| right);
        let ops = |lane: &Lane| lane.ops;
        let mut found = Found {
            candidate: self.name,
            choice: self.choice,
            mode: self.mode,
            content_bytes: self.group.data.bytes.len() as u64,
            frame_bytes: self.frame_bytes,
            compress: self.compress.as_ref().and_then(speeds),
            decompress: speeds(&self.decompress),
            compress_tail: None,
            decompress_tail: None,
            predicted_bytes: self.predicted_bytes,
            compress_held_bytes: self.press.as_ref().map(Press::memory_bytes),
            decompress_held_bytes: self.unpress.memory_bytes(),
            ops: self.compress.as_ref().map_or(0, ops) + self.decompress.ops,
        };
        let mut recordings = Vec::new();
        if right {
            if let Some(lane) = self.compress {
                found.compress_tail = finish(lane, &mut recordings);
            }
            found.decompress_tail = finish(self.decompress, &mut recordings);
        }
        (found, recordings)
    }
}

/// The distributions of a lane; the percentiles of its shortest timed spans, the last of them.
fn finish(lane: Lane, recordings: &mut Vec<Recording>) -> Option<Tail> {
    let recorders = [Some(lane.service), lane.holds].into_iter().flatten();
    let before = recordings.len();
    recordings.extend(recorders.filter(|r| !r.is_empty()).map(Recorder::finish));
    let last = recordings[before..].last();
    last.map(|recording| Tail::of(&recording.latency()))
}

impl Contender for Runner<'_> {
    fn turn(&mut self, due: Duration) -> Result<(), Error> {
        let before = self.spent;
        let began = Instant::now();
        loop {
            let compressed = self.compress_pass()?;
            let mut decompressed = Duration::ZERO;
            loop {
                let Some(pass) = self.decompress_pass()? else {
                    return Ok(());
                };
                decompressed += pass;
                self.spent = before + began.elapsed();
                let enough = decompressed * DECOMPRESS_SHARE >= compressed;
                if enough || self.spent >= due || self.out() {
                    break;
                }
            }
            if self.spent >= due || self.out() {
                break;
            }
        }
        self.end_turn();
        Ok(())
    }

    fn spent(&self) -> Duration {
        self.spent
    }

    fn measured(&self) -> bool {
        !self.decompress.wall.is_empty()
    }

    fn out(&self) -> bool {
        self.wrong > 0
    }
}

fn failed(verb: &str, name: &str, group: &Group<'_>, error: &zstdkit::Error) -> Error {
    Error::new(format!(
        "cannot {verb} {} with {name}: {error}",
        group.data.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_compared_and_an_old_one_is_not_taken_for_a_new_one() {
        let mut data = Data::new("d");
        data.push("d", b"abcdefgh");
        let group = Group::new(&data, Some(4), 0);
        let mut answers = [b"abcd".to_vec(), b"efgh".to_vec()];
        assert_eq!(group.count_wrong(&mut answers), 0);
        assert_eq!(group.count_wrong(&mut answers), 2, "nothing was written");
        let mut answers = [b"abcd".to_vec(), b"efg".to_vec()];
        assert_eq!(group.count_wrong(&mut answers), 1);
    }
}
