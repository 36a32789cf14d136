//! A frame in progress: its blocks on their way through the pipeline and the window.

use std::hash::Hasher as _;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use twox_hash::XxHash64;

use super::bits::PAD;
use super::block::{Layout, Sources, Stored};
use super::dictionary::Parsed;
use super::pipeline::{Entry, Fault, Next, Pipeline, Slot, Task};
use super::window::Window;
use super::{Reason, TOO_MUCH};
use crate::error::{Error, Repr};
use crate::format::{Block, BlockKind, Header};
use crate::walk::{Event, Walker};

/// The most buffers of blocks that are kept.
const SPARE_MAX: usize = 8;

pub(super) struct Frame {
    header: Header,
    start: u64,
    walker: Walker,
    window: Window,
    sources: Sources,
    hash: Option<XxHash64>,
    /// The block that is being gathered, and its start.
    gathering: Option<(Block, u64)>,
    bytes: Vec<u8>,
    /// Content that was not handed out yet, in the window.
    content: Range<usize>,
    /// The stored checksum, once the last block was taken, and its byte.
    end: Option<(Option<u32>, u64)>,
    /// An error that belongs behind the blocks in flight.
    held: Option<Error>,
    spare: Vec<Vec<u8>>,
    /// What the frame may still produce.
    room: u64,
    limit: u64,
}

/// What a step did.
pub(super) enum Progress {
    Content,
    /// Work was done, but there is no content.
    Some,
    /// A thread is at work, but nothing has come yet.
    Waited,
    /// More input is needed.
    Hungry,
    /// The frame is complete. Whether its checksum was verified.
    Complete(bool),
}

impl Frame {
    pub(super) fn new(
        header: Header,
        walker: Walker,
        memory: Vec<u8>,
        dictionary: Option<&Parsed>,
        hashed: bool,
    ) -> Self {
        let block_max = header.block_bytes_max();
        let bytes = Window::bytes(header.window, block_max.into(), header.content_size);
        let mut window = Window::new(
            memory,
            bytes as usize,
            header.window as usize,
            block_max as usize,
        );
        let mut sources = Sources::default();
        if let Some(parsed) = dictionary {
            window.refer(&parsed.dictionary, parsed.content_start, parsed.offsets);
            if let Some(own) = &parsed.own {
                sources = Sources::of_dictionary(own);
            }
        }
        Self {
            header,
            start: walker.frame_start(),
            walker,
            window,
            sources,
            hash: (hashed && header.checksum).then(|| XxHash64::with_seed(0)),
            gathering: None,
            bytes: Vec::new(),
            content: 0..0,
            end: None,
            held: None,
            spare: Vec::new(),
            room: u64::MAX,
            limit: u64::MAX,
        }
    }

    /// Refuses to produce more than the room that is left of a limit.
    pub(super) fn limit(&mut self, room: u64, limit: u64) {
        self.room = room;
        self.limit = limit;
    }

    pub(super) fn walker(&self) -> &Walker {
        &self.walker
    }

    pub(super) fn into_memory(self) -> Vec<u8> {
        self.window.into_memory()
    }

    /// All content so far that was handed out.
    pub(super) fn handed_out(&self) -> u64 {
        self.window.produced() - self.content.len() as u64
    }

    pub(super) fn has_content(&self) -> bool {
        !self.content.is_empty()
    }

    /// Writes content that is ready.
    pub(super) fn hand_out(&mut self, output: &mut [u8]) -> usize {
        let count = self.content.len().min(output.len());
        let from = self.content.start;
        output[..count].copy_from_slice(self.window.content(from..from + count));
        self.content.start += count;
        count
    }

    /// Takes input until enough blocks are in flight.
    pub(super) fn absorb(&mut self, input: &[u8], pipeline: &mut Pipeline) -> usize {
        let mut taken = 0;
        while self.end.is_none() && self.held.is_none() && !pipeline.is_full() {
            let (count, event) = match self.walker.next(&input[taken..]) {
                Ok(next) => next,
                Err(error) => {
                    // The walker has taken the part that it refuses.
                    self.held = Some(error);
                    return input.len();
                }
            };
            taken += count;
            match event {
                Event::NeedInput => break,
                Event::Block(block) => {
                    let start = self.walker.offset() - crate::format::BLOCK_HEADER_BYTES as u64;
                    self.gathering = Some((block, start));
                    self.bytes.clear();
                    self.bytes.resize(PAD, 0);
                    if block.stored_bytes() == 0 {
                        self.submit(pipeline);
                    }
                }
                Event::Body(left) => {
                    let rest = &input[taken..];
                    let body = &rest[..rest.len().min(left as usize)];
                    self.bytes.extend_from_slice(body);
                    taken += body.len();
                    self.walker.take(body.len() as u32);
                    let raw = matches!(
                        self.gathering,
                        Some((
                            Block {
                                kind: BlockKind::Raw,
                                ..
                            },
                            _
                        ))
                    );
                    // A block that is stored as it is comes out as it comes in.
                    if raw || body.len() == left as usize {
                        self.submit(pipeline);
                    }
                }
                Event::FrameEnd(checksum) => self.end = Some((checksum, self.walker.part_start())),
                // Not inside of a frame.
                Event::Header(_) | Event::Skippable(_) | Event::SkippableEnd(_) => break,
            }
        }
        taken
    }

    /// Sends a block on its way.
    fn submit(&mut self, pipeline: &mut Pipeline) {
        let Some((block, offset)) = self.gathering else {
            return;
        };
        let mut next = self.spare.pop().unwrap_or_default();
        next.clear();
        next.resize(PAD, 0);
        let bytes = std::mem::replace(&mut self.bytes, next);
        let max = self.header.block_bytes_max() as usize;
        let slot = match block.kind {
            BlockKind::Raw => Slot::Raw(bytes),
            BlockKind::Rle => {
                Slot::Repeated(bytes.last().copied().unwrap_or(0), block.size as usize)
            }
            BlockKind::Compressed => match Layout::read(&bytes, max) {
                Err(reason) => Slot::Faulty(Fault::Corrupt(reason)),
                Ok(layout) => {
                    let block = Arc::new(Stored::new(bytes, layout));
                    self.sources.enter(&block);
                    Slot::Waiting(Task {
                        block,
                        sources: self.sources.clone(),
                        max,
                    })
                }
            },
        };
        pipeline.push(Entry { offset, slot });
    }

    /// Goes on with the first block in flight. Call it when all content was handed out.
    pub(super) fn advance(
        &mut self,
        pipeline: &mut Pipeline,
        wait: Duration,
    ) -> Result<Progress, Error> {
        match pipeline.next(wait) {
            Next::Helped => Ok(Progress::Some),
            Next::Waited => Ok(Progress::Waited),
            Next::Ready(entry) => {
                self.content = self.decode(entry, pipeline)?;
                if let Some(hash) = &mut self.hash {
                    hash.write(self.window.content(self.content.clone()));
                }
                Ok(match self.content.is_empty() {
                    true => Progress::Some,
                    false => Progress::Content,
                })
            }
            Next::Idle => {
                if let Some(error) = self.held.take() {
                    return Err(error);
                }
                if self.end.is_some() || self.walker.after_last_block() {
                    self.check_size()?;
                }
                match self.end {
                    Some((checksum, offset)) => self.close(checksum, offset),
                    None => Ok(Progress::Hungry),
                }
            }
        }
    }

    /// Decodes the next block in order.
    fn decode(&mut self, entry: Entry, pipeline: &mut Pipeline) -> Result<Range<usize>, Error> {
        let offset = entry.offset;
        let corrupt = |reason: Reason| Error::from(Repr::Block { offset, reason });
        match entry.slot {
            Slot::Raw(bytes) => {
                self.admit(bytes.len() - PAD)?;
                let content = self.window.append(&bytes[PAD..]);
                self.reuse(bytes);
                Ok(content)
            }
            Slot::Repeated(byte, count) => {
                self.admit(count)?;
                Ok(self.window.repeat(byte, count))
            }
            Slot::Decoded(block, decoded) => {
                self.admit(decoded.content_len)?;
                let content = self.window.execute(&decoded).map_err(corrupt)?;
                pipeline.recycle(decoded);
                // Otherwise later blocks may use its tables.
                if let Ok(block) = Arc::try_unwrap(block) {
                    self.reuse(block.bytes);
                }
                Ok(content)
            }
            Slot::Faulty(Fault::Corrupt(reason)) => {
                let reach = self.window.produced() + u64::from(self.header.block_bytes_max());
                match self.header.content_size {
                    // Near its stated end, a block with too much content means that the frame is longer.
                    Some(stated) if reason == TOO_MUCH && reach > stated => {
                        Err(Error::wrong_size(self.start, "more than ", stated, stated))
                    }
                    _ => Err(corrupt(reason)),
                }
            }
            Slot::Faulty(Fault::Panicked) | Slot::Waiting(_) | Slot::Busy => {
                Err(Repr::WorkerGone { offset }.into())
            }
        }
    }

    fn reuse(&mut self, bytes: Vec<u8>) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(bytes);
        }
    }

    /// Checks that the frame may have this much more content.
    fn admit(&mut self, count: usize) -> Result<(), Error> {
        let produced = self.window.produced() + count as u64;
        if let Some(stated) = self.header.content_size.filter(|&stated| produced > stated) {
            return Err(Error::wrong_size(self.start, "more than ", stated, stated));
        }
        if produced > self.room {
            return Err(Repr::OutputLimit {
                offset: self.start,
                limit: self.limit,
            }
            .into());
        }
        Ok(())
    }

    /// Checks the content size behind the last block.
    fn check_size(&self) -> Result<(), Error> {
        let produced = self.window.produced();
        match self.header.content_size {
            Some(stated) if produced != stated => {
                Err(Error::wrong_size(self.start, "", produced, stated))
            }
            _ => Ok(()),
        }
    }

    fn close(&self, checksum: Option<u32>, offset: u64) -> Result<Progress, Error> {
        let (Some(stored), Some(hash)) = (checksum, &self.hash) else {
            return Ok(Progress::Complete(false));
        };
        let computed = hash.finish() as u32;
        match stored == computed {
            true => Ok(Progress::Complete(true)),
            false => Err(Repr::Checksum {
                offset,
                stored,
                computed,
            }
            .into()),
        }
    }
}
