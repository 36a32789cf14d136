//! Decoding of a stream, wherever its input and the room for content end.
//!
//! An item, at most a length with its distance, is read completely or not at all: bits kept between
//! calls belong to an item that needs more of them. The end of the stream is therefore known to the
//! byte.

use super::copy::copy_exactly;
use super::dispatch::{Isa, run};
use super::entry::{END, LITERAL, SPECIAL, bits, byte, distance, is_link, length, linked};
use super::error::{InflateError, InflateFlaw};
use super::fast::{self, Stop};
use super::head::Head;
use super::packs::Packing;
use super::source::{Bits, Source};
use super::table::{Codes, DISTANCE_BITS, DISTANCE_PLACES, LITLEN_BITS, LITLEN_PLACES};

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Bits before the first block, of a stream that is not read from its start.
    Skip(u32),
    /// The three bits before a block.
    Block,
    /// The length of a stored block.
    StoredLength,
    /// Stored content: bytes left.
    Stored(usize),
    /// The description of codes: the counts, the code of lengths, the lengths.
    Counts,
    Precode,
    Lengths,
    /// Symbols.
    Body,
    /// A copy: bytes left, and the distance.
    Copy(usize, usize),
    Done,
}

/// Why a call stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// All input is consumed.
    Input,
    /// There is no room left.
    Room,
    /// A block follows, and the caller asked for it.
    Block,
    /// The stream is complete.
    Done,
}

/// The result of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ran {
    /// Input consumed.
    pub(super) consumed: usize,
    /// The first byte after the content.
    pub(super) at: usize,
    pub(super) pause: Pause,
}

/// The state of a stream.
pub(super) struct Machine {
    state: State,
    bits: Bits,
    /// Input of earlier calls.
    consumed: u64,
    last: bool,
    fixed: bool,
    /// Which of the next blocks to stop before, counted from 1.
    stops: u8,
    failed: Option<InflateError>,
    isa: Isa,
    head: Head,
    codes: Codes,
    packing: Packing,
    /// The bit at which the symbols of the block begin, and the bytes that those of the one before took.
    begin: u64,
    before: Option<usize>,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            state: State::Block,
            bits: Bits::default(),
            consumed: 0,
            last: false,
            fixed: false,
            stops: 0,
            failed: None,
            isa: Isa::detect(),
            head: Head::default(),
            codes: Codes::default(),
            packing: Packing::None,
            begin: 0,
            before: None,
        }
    }
}

impl Machine {
    /// One that needs no instructions but those that all of the crate is compiled for.
    pub(super) fn portable() -> Self {
        Self {
            isa: Isa::Portable,
            ..Self::default()
        }
    }

    /// Starts a stream.
    pub(super) fn restart(&mut self) {
        (self.state, self.bits) = (State::Block, Bits::default());
        (self.consumed, self.failed, self.last, self.stops) = (0, None, false, 0);
        self.before = None;
    }

    /// Starts at a bit of a stream, where a block starts; the next input begins with its byte.
    pub(super) fn start_at(&mut self, bit: u64) {
        self.restart();
        self.consumed = bit / 8;
        self.state = State::Skip((bit % 8) as u32);
    }

    /// Stops before the next block but the one that comes next.
    pub(super) fn stop_at_block(&mut self) {
        self.stops = 1 + u8::from(matches!(self.state, State::Block | State::Skip(_)));
    }

    /// The bit at which a block starts, if one comes next.
    pub(super) fn block_start(&self) -> Option<u64> {
        (self.state == State::Block && !self.last).then(|| self.bit())
    }

    /// Input consumed in total.
    pub(super) fn consumed(&self) -> u64 {
        self.consumed
    }

    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The position of the first held bit.
    pub(super) fn bit(&self) -> u64 {
        8 * self.consumed - u64::from(self.bits.count)
    }

    /// The position of the first bit that a call did not use.
    fn taken(&self, source: &Source<'_>) -> u64 {
        8 * (self.consumed + source.at as u64) - u64::from(source.count)
    }

    /// Writes content from `at` on, after all bytes that matches may refer to, until it reaches
    /// `full`. It may exceed that, within `out` and by less than [`fast::ROOM_BYTES`]. After a flaw
    /// every call fails.
    pub(super) fn run(
        &mut self,
        input: &[u8],
        out: &mut [u8],
        mut at: usize,
        full: usize,
    ) -> Result<Ran, InflateError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut source = Source::new(input, self.bits);
        let full = full.min(out.len());
        let pause = loop {
            match self.step(&mut source, out, &mut at, full) {
                Ok(None) => {}
                Ok(Some(pause)) => break pause,
                Err((flaw, back)) => {
                    let error = InflateError::new(flaw, self.taken(&source) - u64::from(back));
                    self.failed = Some(error);
                    return Err(error);
                }
            }
        };
        if pause != Pause::Input {
            source.give_back();
        }
        if pause == Pause::Done {
            // The rest of the last byte is unused.
            (source.held, source.count) = (0, 0);
        }
        self.bits = source.bits();
        self.consumed += source.at as u64;
        Ok(Ran {
            consumed: source.at,
            at,
            pause,
        })
    }

    /// Does the next step, or returns why it cannot. A flaw comes with the number of consumed bits
    /// that belong to it.
    fn step(
        &mut self,
        source: &mut Source<'_>,
        out: &mut [u8],
        at: &mut usize,
        full: usize,
    ) -> Result<Option<Pause>, (InflateFlaw, u32)> {
        let whole = |flaw| (flaw, 0);
        match self.state {
            State::Skip(bits) => {
                if !source.need(bits) {
                    return Ok(Some(Pause::Input));
                }
                source.drop(bits);
                self.state = State::Block;
            }
            State::Block => return self.block(source),
            State::StoredLength => return self.stored_length(source),
            State::Stored(left) => {
                let bytes = left.min(source.input.len() - source.at);
                let bytes = bytes.min(full.saturating_sub(*at));
                let content = &source.input[source.at..source.at + bytes];
                out[*at..*at + bytes].copy_from_slice(content);
                (source.at, *at) = (source.at + bytes, *at + bytes);
                self.state = State::Stored(left - bytes);
                if left > bytes {
                    let dry = source.at == source.input.len();
                    return Ok(Some(if dry { Pause::Input } else { Pause::Room }));
                }
                self.state = State::Block;
            }
            State::Counts => {
                if !source.need(14) {
                    return Ok(Some(Pause::Input));
                }
                let stated = source.take(14);
                self.head.counts(stated).map_err(|flaw| (flaw, 14))?;
                self.state = State::Precode;
            }
            State::Precode => {
                if !self.head.precode(source).map_err(whole)? {
                    return Ok(Some(Pause::Input));
                }
                self.state = State::Lengths;
            }
            State::Lengths => {
                if !self.head.lengths(source).map_err(whole)? {
                    return Ok(Some(Pause::Input));
                }
                self.head.codes(&mut self.codes).map_err(whole)?;
                self.packing = Packing::start(self.before);
                self.begin = self.taken(source);
                self.state = State::Body;
            }
            State::Body => return self.body(source, out, at, full),
            State::Copy(left, distance) => {
                let bytes = left.min(full.saturating_sub(*at));
                copy_exactly(out, *at, distance, bytes);
                *at += bytes;
                if left > bytes {
                    self.state = State::Copy(left - bytes, distance);
                    return Ok(Some(Pause::Room));
                }
                self.state = State::Body;
            }
            State::Done => return Ok(Some(Pause::Done)),
        }
        Ok(None)
    }

    fn block(&mut self, source: &mut Source<'_>) -> Result<Option<Pause>, (InflateFlaw, u32)> {
        if self.last {
            self.state = State::Done;
            return Ok(Some(Pause::Done));
        }
        if !source.need(3) {
            return Ok(Some(Pause::Input));
        }
        let stops = self.stops == 1;
        self.stops = self.stops.saturating_sub(1);
        if stops {
            return Ok(Some(Pause::Block));
        }
        let stated = source.take(3);
        self.state = match stated >> 1 {
            0 => State::StoredLength,
            1 => State::Body,
            2 => State::Counts,
            _ => return Err((InflateFlaw::BlockType, 3)),
        };
        self.last = stated & 1 == 1;
        self.fixed = stated >> 1 == 1;
        if self.state == State::StoredLength {
            source.drop(source.count % 8);
        }
        Ok(None)
    }

    fn stored_length(
        &mut self,
        source: &mut Source<'_>,
    ) -> Result<Option<Pause>, (InflateFlaw, u32)> {
        if !source.need(32) {
            return Ok(Some(Pause::Input));
        }
        let stated = source.take(32);
        if stated & 0xffff != !stated >> 16 {
            return Err((InflateFlaw::StoredLength, 32));
        }
        // All bits left came with this input.
        source.give_back();
        self.state = State::Stored(stated as usize & 0xffff);
        Ok(None)
    }

    /// Does what is far from the end of input and room in a block with codes of its own.
    fn dynamic(&mut self, source: &mut Source<'_>, out: &mut [u8], at: &mut usize) -> Stop {
        if let Packing::Wait(bytes) = self.packing {
            // The first bytes of the block, after which packs are worth their making.
            let (input, begin) = (source.input, source.at);
            let end = input.len().min(begin + bytes + fast::LOOK_BYTES);
            source.input = &input[..end];
            let stop = run::<false>(self.isa, &self.codes, source, out, at);
            source.input = input;
            if stop != Stop::Edge {
                return stop;
            }
            let rest = input.len() - source.at;
            if self.packing.waited(source.at - begin) && rest >= fast::LOOK_BYTES {
                let ahead = self.before.unwrap_or(rest);
                let lengths = self.head.litlen_lengths();
                self.packing = Packing::decide(ahead, &mut self.codes, lengths);
            }
        }
        match self.packing {
            Packing::Done => run::<true>(self.isa, &self.codes, source, out, at),
            Packing::None => run::<false>(self.isa, &self.codes, source, out, at),
            Packing::Wait(_) => Stop::Edge,
        }
    }

    fn end_block(&mut self, source: &Source<'_>) {
        self.state = State::Block;
        if !self.fixed {
            let bits = self.taken(source) - self.begin;
            self.before = Some((bits / 8) as usize);
        }
    }

    fn body(
        &mut self,
        source: &mut Source<'_>,
        out: &mut [u8],
        at: &mut usize,
        full: usize,
    ) -> Result<Option<Pause>, (InflateFlaw, u32)> {
        let (codes, stop) = if self.fixed {
            let codes = Codes::fixed();
            (codes, run::<false>(self.isa, codes, source, out, at))
        } else {
            let stop = self.dynamic(source, out, at);
            (&self.codes, stop)
        };
        match stop {
            Stop::Edge => {}
            Stop::End => {
                self.end_block(source);
                return Ok(None);
            }
            Stop::Flaw(flaw, back) => return Err((flaw, back)),
        }
        loop {
            let symbol = match symbol(codes, source)? {
                Some(symbol) => symbol,
                None => return Ok(Some(Pause::Input)),
            };
            match symbol {
                (Symbol::Literal(_) | Symbol::Copy(..), _) if *at >= full => {
                    return Ok(Some(Pause::Room));
                }
                (Symbol::Literal(byte), bits) => {
                    source.drop(bits);
                    out[*at] = byte;
                    *at += 1;
                }
                (Symbol::Copy(length, distance), bits) => {
                    source.drop(bits);
                    if distance > *at {
                        return Err((InflateFlaw::TooFar, bits));
                    }
                    let bytes = length.min(full - *at);
                    copy_exactly(out, *at, distance, bytes);
                    *at += bytes;
                    if length > bytes {
                        self.state = State::Copy(length - bytes, distance);
                        return Ok(Some(Pause::Room));
                    }
                }
                (Symbol::End, bits) => {
                    source.drop(bits);
                    self.end_block(source);
                    return Ok(None);
                }
            }
        }
    }
}

/// The meaning of a code and its extra bits.
enum Symbol {
    Literal(u8),
    /// A length and a distance.
    Copy(usize, usize),
    End,
}

/// The next symbol and its bits, which are not dropped yet; `None` if the input ends.
fn symbol(
    codes: &Codes,
    source: &mut Source<'_>,
) -> Result<Option<(Symbol, u32)>, (InflateFlaw, u32)> {
    if source.count < REFILL_BELOW_BITS {
        source.refill();
    }
    let (held, count) = (source.held, source.count);
    let mut used = 0;
    let mut entry = codes.litlen[held as usize & ((1 << LITLEN_BITS) - 1)];
    if is_link(entry) {
        used = LITLEN_BITS;
        entry = codes.litlen[linked(entry, held >> used) & (LITLEN_PLACES - 1)];
    }
    let litlen_bits = used + bits(entry);
    if count < litlen_bits {
        return Ok(None);
    }
    if entry & LITERAL != 0 {
        return Ok(Some((Symbol::Literal(byte(entry)), litlen_bits)));
    }
    if entry & SPECIAL != 0 {
        if entry & END != 0 {
            return Ok(Some((Symbol::End, litlen_bits)));
        }
        return Err((InflateFlaw::Litlen, 0));
    }
    let length = length(entry, held >> used);
    used = litlen_bits;
    entry = codes.distance[(held >> used) as usize & ((1 << DISTANCE_BITS) - 1)];
    if is_link(entry) {
        used += DISTANCE_BITS;
        entry = codes.distance[linked(entry, held >> used) & (DISTANCE_PLACES - 1)];
    }
    let all_bits = used + bits(entry);
    if count < all_bits {
        return Ok(None);
    }
    if entry & SPECIAL != 0 {
        return Err((InflateFlaw::Distance, 0));
    }
    let distance = distance(entry, held >> used);
    Ok(Some((Symbol::Copy(length, distance), all_bits)))
}

/// The longest symbol: a length and a distance with their extra bits.
const REFILL_BELOW_BITS: u32 = 15 + 5 + 15 + 13;
