//! The compressor: content in parts, each primed by the content before it, into blocks.

use super::bits::BitWriter;
use super::block::{self, Block};
use super::chains::Chains;
use super::fast;
use super::lazy::{self, Effort, Span};
use super::medium::Medium;
use super::optimal::Optimal;
use super::pairs::Places;
use super::plain::Plain;
use super::prices::Prices;
use super::repeat;
use super::sample::{self, Deep};
use super::sequences::{FIELD_MAX, Freqs, Sequences};
use super::split;
use super::symbols::{END, WINDOW};

/// The unit in which block boundaries are decided.
const STRETCH_MATCHES: usize = 1024;
const STRETCH_BYTES: usize = 12 << 10;
/// The most content of a block; it bounds the sequences in memory.
const BLOCK_BYTES_MAX: usize = 256 << 10;
const _: () = assert!(BLOCK_BYTES_MAX <= FIELD_MAX);

/// Compresses contents one after the other and keeps its memory: 230 KiB (630 KiB from level 7 on, 2.7 MiB
/// at level 10), and up to 700 KiB for the sequences of a block.
///
/// The result depends on the content, its window and the level, and not on earlier contents.
///
/// ```
/// use zipstream::deflate::Compressor;
///
/// let (content, mut stream) = (b"some text, some text, more text", Vec::new());
/// let mut compressor = Compressor::new(6);
/// compressor.compress(content, 0, false, &mut stream);
/// // What came before primes what follows, here nothing but the end.
/// compressor.compress(content, content.len(), true, &mut stream);
/// assert!(stream.len() < content.len());
/// ```
#[derive(Debug)]
pub struct Compressor {
    level: i32,
    /// Created when there is something to search.
    search: Option<Search>,
    /// The search of level 10, created likewise.
    optimal: Option<Box<Optimal>>,
    /// The compressor of a lower level, for content that a deep search makes larger.
    lower: Option<Box<Self>>,
    /// The period, if the content repeats itself from end to end.
    period: Option<usize>,
    prices: Prices,
    plain: Plain,
    sequences: Sequences,
    /// Frequencies of the block, without the current stretch.
    block: Freqs,
}

/// The search of a level.
#[derive(Debug)]
enum Search {
    Fast(Box<Places>),
    Medium(Medium),
    Lazy(Box<Chains>, Effort),
}

/// From this length on, levels 2 to 6 take a match without searching at the next place.
const GOOD: [usize; 5] = [0, 6, 8, 12, 32];
/// The effort of levels 7 to 9.
const EFFORTS: [Effort; 3] = [
    Effort::new(16, 96).lazy(2, 16, 8),
    Effort::new(64, 258).lazy(2, 32, 16),
    Effort::new(192, 258).lazy(2, 64, 64),
];

/// The level that is tried after a higher one left content hardly smaller. Where few matches pay off, a
/// deeper search finds more of those that only seem to.
pub(crate) const LOWER: i32 = 6;

/// The level that takes the cheapest way through all matches.
pub(crate) const OPTIMAL: i32 = 10;

/// The level below it, which is tried as well where the cheapest way saves less than one part in [`SURPRISE`] of what
/// [`LOWER`] leaves, or leaves less than one part in [`REPETITIVE`]: there it has too many matches, or too few.
const DEEPEST: i32 = OPTIMAL - 1;
const SURPRISE: usize = 64;
const REPETITIVE: usize = 16;

/// Of content of which [`LOWER`] saves less than one part in this many, [`OPTIMAL`] saves hardly more.
const NOISE: usize = 64;

/// Whether compressed content is so large that [`LOWER`] may be smaller. What is stored stays stored.
pub(crate) fn is_hardly_smaller(packed: usize, content: usize) -> bool {
    packed > content / 5 * 2 && packed < content
}

impl Search {
    fn of(level: i32) -> Self {
        match level {
            ..=1 => Self::Fast(Box::default()),
            2..=6 => Self::Medium(Medium::new(GOOD[level as usize - 2])),
            _ => {
                let index = (level as usize - 7).min(EFFORTS.len() - 1);
                Self::Lazy(Box::default(), EFFORTS[index])
            }
        }
    }

    /// Whether it finds short matches.
    fn is_deep(&self) -> bool {
        !matches!(self, Self::Fast(_))
    }

    /// Clears the search and primes it with `data[..start]`.
    fn start(&mut self, prices: &Prices, data: &[u8], start: usize) {
        match self {
            Self::Fast(places) => {
                places.start(data.len(), prices);
                places.prime(data, start);
            }
            Self::Medium(medium) => medium.start(prices, data, start),
            Self::Lazy(chains, _) => {
                chains.start(prices);
                lazy::prime(chains, data, start);
            }
        }
    }

    /// Makes sequences of `data[at..end]` until a stretch is full; returns where it stopped.
    fn sequence(
        &mut self,
        prices: &Prices,
        in_rows: bool,
        data: &[u8],
        at: usize,
        end: usize,
        out: &mut Sequences,
    ) -> usize {
        let span = Span {
            at,
            end,
            pause: at + STRETCH_BYTES,
            matches: STRETCH_MATCHES,
            in_rows,
        };
        match self {
            Self::Fast(places) => fast::sequence(places, prices, data, span, out),
            Self::Medium(medium) => medium.sequence(prices, data, span, out),
            Self::Lazy(chains, effort) => lazy::sequence(chains, *effort, prices, data, span, out),
        }
    }
}

impl Compressor {
    /// A compressor of a level from 0 to 10; other values are clamped.
    pub fn new(level: i32) -> Self {
        let level = level.clamp(0, OPTIMAL);
        Self {
            level,
            search: None,
            optimal: None,
            lower: None,
            period: None,
            prices: Prices::default(),
            plain: Plain::default(),
            sequences: Sequences::default(),
            block: Freqs::default(),
        }
    }

    /// Its level.
    pub fn level(&self) -> i32 {
        self.level
    }

    /// The largest compressed size of `content` bytes in one call.
    pub const fn bound(content: u64) -> u64 {
        block::stored_bytes(content) + 5
    }

    /// Appends `data[start..]` compressed. Matches may refer to the 32 KiB before it. Unless it is
    /// the `last` part of a stream, the output ends at a byte boundary, so that another part can
    /// follow.
    pub fn compress(&mut self, data: &[u8], start: usize, last: bool, out: &mut Vec<u8>) {
        let before = out.len();
        let content = data.len().saturating_sub(start);
        if self.level < OPTIMAL {
            let deep = match self.level > LOWER {
                true => self.sample(data.get(start..).unwrap_or(&[])),
                false => Deep::Wins,
            };
            if deep == Deep::Loses {
                self.lower().compress_once(data, start, last, out);
                return;
            }
            self.compress_once(data, start, last, out);
            let packed = out.len() - before;
            let is_enough = deep == Deep::Wins || self.period.is_some();
            if is_enough || !is_hardly_smaller(packed, content) {
                return;
            }
        }
        let mut other = Vec::new();
        let lower = (self.lower).get_or_insert_with(|| Box::new(Self::new(LOWER)));
        lower.compress_once(data, start, last, &mut other);
        // Of noise, or of what repeats itself from end to end, no way is much cheaper.
        let is_all = self.level >= OPTIMAL
            && (lower.period.is_some() || other.len() > content - content / NOISE);
        if self.level >= OPTIMAL && !is_all {
            self.compress_once(data, start, last, out);
        }
        let is_surprise = |own: usize, lower: usize| {
            own >= lower - lower / SURPRISE || own < content / REPETITIVE
        };
        if self.level >= OPTIMAL && !is_all && is_surprise(out.len() - before, other.len()) {
            let mut deep = Vec::new();
            Self::new(DEEPEST).compress_once(data, start, last, &mut deep);
            if deep.len() < other.len() {
                other = deep;
            }
        }
        if is_all || other.len() < out.len() - before {
            out.truncate(before);
            out.append(&mut other);
        }
    }

    /// What this level makes of a sample. Where its first piece becomes much smaller or does not at all, a deep search is
    /// not tried: most often it pays off there, or costs nothing.
    fn sample(&mut self, content: &[u8]) -> Deep {
        let mut packed = Vec::new();
        for (at, piece) in sample::pieces(content).enumerate() {
            self.lower().compress_once(piece, 0, true, &mut packed);
            if at == 0 && !is_hardly_smaller(packed.len(), piece.len()) {
                return Deep::Either;
            }
        }
        let lower = packed.len();
        if lower == 0 {
            return Deep::Either;
        }
        packed.clear();
        for piece in sample::pieces(content) {
            self.compress_once(piece, 0, true, &mut packed);
        }
        Deep::of(packed.len(), lower)
    }

    fn lower(&mut self) -> &mut Self {
        self.lower.get_or_insert_with(|| Box::new(Self::new(LOWER)))
    }

    fn compress_once(&mut self, data: &[u8], start: usize, last: bool, out: &mut Vec<u8>) {
        let start = start.min(data.len());
        let data = &data[start.saturating_sub(WINDOW)..];
        let start = start.min(WINDOW);
        let content = &data[start..];
        let mut writer = BitWriter::default();
        if content.is_empty() {
            if last {
                block::end(&mut writer, out);
            }
            return;
        }
        let before = out.len();
        if self.level > 0 {
            self.period = repeat::period(data, start);
            if self.period.is_none() && self.level == OPTIMAL {
                let optimal = self.optimal.get_or_insert_default();
                optimal.start(data, start);
            } else if self.period.is_none() {
                let search = self.search.get_or_insert_with(|| Search::of(self.level));
                self.prices.start(content);
                self.plain.start();
                search.start(&self.prices, data, start);
            }
            let mut at = start;
            let mut aligned = true;
            while at < data.len() {
                (at, aligned) = self.blocks(&mut writer, data, at, last, out);
            }
            if last {
                writer.align(out);
            } else if !aligned {
                block::store(&mut writer, b"", false, out);
            }
            if (out.len() - before) as u64 <= block::stored_bytes(content.len() as u64) {
                return;
            }
            out.truncate(before);
        }
        block::store(&mut BitWriter::default(), content, last, out);
    }

    /// Writes blocks for up to [`BLOCK_BYTES_MAX`] of content; returns where it stopped, and
    /// whether the stream is at a byte boundary.
    fn blocks(
        &mut self,
        writer: &mut BitWriter,
        data: &[u8],
        start: usize,
        last: bool,
        out: &mut Vec<u8>,
    ) -> (usize, bool) {
        if let (None, Some(optimal)) = (self.period, &mut self.optimal) {
            return optimal.blocks(writer, data, start, last, &mut self.sequences, out);
        }
        let end = data.len().min(start + BLOCK_BYTES_MAX);
        let sequences = &mut self.sequences;
        sequences.clear();
        self.block.clear();
        // The block so far: its content, sequences and bits.
        let (mut from, mut first, mut before) = (start, 0, 0);
        let mut at = start;
        let mut aligned = true;
        let mut put = |from: usize, to: usize, list: &[u64], freqs: &mut Freqs| {
            freqs.litlens[END] = 1;
            let block = Block {
                content: &data[from..to],
                sequences: list,
                freqs,
                last: last && to == data.len(),
            };
            aligned = block::write(writer, &block, out);
        };
        while at < end {
            let (stretch, first_of_stretch) = (at, sequences.list.len());
            at = match (self.period, &mut self.search) {
                (Some(period), _) => {
                    let span = Span::all(at, end);
                    repeat::sequence(data, period, span, sequences)
                }
                (None, Some(search)) => {
                    let in_rows = self.plain.in_rows();
                    let stop = search.sequence(&self.prices, in_rows, data, at, end, sequences);
                    // Nothing follows the end that has a price.
                    if !in_rows && stop < data.len() {
                        self.prices.update(&sequences.freqs);
                    }
                    if search.is_deep()
                        && let Some(plain) = self.plain.judge(&data[at..stop], sequences)
                    {
                        sequences.list.truncate(first_of_stretch);
                        sequences.close(stop - at);
                        sequences.freqs = plain;
                    }
                    stop
                }
                (None, None) => end,
            };
            if from == stretch && at == end {
                put(from, at, &sequences.list[first..], &mut sequences.freqs);
                return (at, aligned);
            }
            let mut together = self.block.clone();
            together.add(&sequences.freqs);
            let (own, both) = (split::bits(&sequences.freqs), split::bits(&together));
            if from < stretch && split::pays_off(before, own, both) {
                let list = &sequences.list[first..first_of_stretch];
                put(from, stretch, list, &mut self.block);
                (from, first, before) = (stretch, first_of_stretch, own);
                self.block = sequences.freqs.clone();
            } else {
                before = both;
                self.block = together;
            }
            sequences.freqs.clear();
            if at == end {
                put(from, at, &sequences.list[first..], &mut self.block);
            }
        }
        (at, aligned)
    }
}
