//! The decoder: header, deflate stream and trailer of each member, and what may follow the last one.

use super::error::{GzipError, GzipFlaw};
use super::header::Header;
use super::member::GzipMember;
use crate::crc::Crc32;
use crate::deflate::Inflater;

/// CRC-32 and size.
const TRAILER_BYTES: usize = 8;

/// The result of [`GzipDecoder::read`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GzipStep {
    /// Input bytes consumed.
    pub consumed: usize,
    /// Content bytes produced.
    pub produced: usize,
    /// Whether there is more to produce from input that was consumed already: the output was too small.
    pub more_output: bool,
}

/// What was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GzipTotals {
    /// Members read, each verified.
    pub members: u64,
    /// Input bytes consumed.
    pub bytes_in: u64,
    /// Content bytes produced.
    pub bytes_out: u64,
    /// CRC-32 of the last member's content.
    pub crc32: u32,
    /// The byte at which other data follows the last member, if that is skipped.
    pub trailing: Option<u64>,
}

/// What comes next.
#[derive(Debug)]
enum Part {
    Header(Header),
    Content,
    Trailer {
        gathered: [u8; TRAILER_BYTES],
        count: usize,
    },
    /// After a member: another one, or zeros up to the end.
    Between,
    Padding,
    /// What follows the last member is skipped.
    Trailing,
}

/// Decompresses a gzip file: any number of members, whose contents follow each other. Holds no call longer
/// than its input and output are long, and needs 200 KiB. Zeros behind the last member are padding, as gzip
/// has it; other data is an error, unless [`skip_trailing`](Self::skip_trailing) was called.
///
/// ```
/// use zipstream::gzip::GzipDecoder;
///
/// // "hello\n" by gzip -n.
/// let file = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\xe7\x02\0\x20\x30\x3a\x36\x06\0\0\0";
/// let (mut decoder, mut out) = (GzipDecoder::new(), [0; 64]);
/// let step = decoder.read(file, &mut out)?;
/// assert_eq!(&out[..step.produced], b"hello\n");
/// assert_eq!(decoder.finish()?.members, 1);
/// # Ok::<(), zipstream::gzip::GzipError>(())
/// ```
#[derive(Debug)]
pub struct GzipDecoder {
    part: Part,
    inflater: Inflater,
    sum: Crc32,
    /// Where the deflate stream of the member starts, and its content so far.
    stream_start: u64,
    content: u64,
    totals: GzipTotals,
    member: Option<GzipMember>,
    skips_trailing: bool,
}

impl Default for GzipDecoder {
    fn default() -> Self {
        Self {
            part: Part::Header(Header::kept()),
            inflater: Inflater::new(),
            sum: Crc32::new(),
            stream_start: 0,
            content: 0,
            totals: GzipTotals::default(),
            member: None,
            skips_trailing: false,
        }
    }
}

impl GzipDecoder {
    /// A decoder at the start of a file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts another file, and keeps its memory.
    pub fn restart(&mut self) {
        self.part = Part::Header(Header::kept());
        self.inflater.restart();
        self.totals = GzipTotals::default();
        self.member = None;
    }

    /// Whether other data behind the last member is skipped, as gzip does with a warning. It is data that does
    /// not begin like a member; [`GzipTotals::trailing`] is its byte.
    pub fn skip_trailing(&mut self, skips: bool) {
        self.skips_trailing = skips;
    }

    /// What the header of the first member says, once it was read.
    pub fn member(&self) -> Option<&GzipMember> {
        self.member.as_ref()
    }

    /// What was read so far.
    pub fn totals(&self) -> GzipTotals {
        self.totals
    }

    /// Consumes input and writes content to `output`, until either is used up. Content is returned before
    /// its member is verified.
    ///
    /// # Errors
    /// The file is invalid. Its place is a byte of the file; the decoder has to be restarted.
    pub fn read(&mut self, input: &[u8], output: &mut [u8]) -> Result<GzipStep, GzipError> {
        let (mut consumed, mut produced) = (0, 0);
        let mut more_output = false;
        loop {
            let rest = &input[consumed..];
            let here = self.totals.bytes_in;
            let taken = match &mut self.part {
                Part::Content => {
                    let room = &mut output[produced..];
                    let step = self.inflater.read(rest, room).map_err(|error| {
                        GzipError::new(GzipFlaw::Deflate(error), self.stream_start + error.offset())
                    })?;
                    let content = &room[..step.produced];
                    more_output = step.produced == room.len() && !step.done;
                    self.sum.update(content);
                    self.content += step.produced as u64;
                    self.totals.bytes_out += step.produced as u64;
                    produced += step.produced;
                    if step.done {
                        let (gathered, count) = ([0; TRAILER_BYTES], 0);
                        self.part = Part::Trailer { gathered, count };
                    }
                    let idle = !step.done && step.consumed == 0;
                    if idle || (more_output && rest.len() == step.consumed) {
                        consumed += step.consumed;
                        self.totals.bytes_in += step.consumed as u64;
                        break;
                    }
                    step.consumed
                }
                _ if rest.is_empty() => break,
                Part::Header(header) => {
                    let start = here - header.before();
                    let behind = self.totals.members > 0;
                    let taken = match header.read(rest) {
                        Ok(taken) => taken,
                        Err((GzipFlaw::NotGzip, _)) if behind && self.skips_trailing => {
                            self.totals.trailing = Some(start);
                            self.part = Part::Trailing;
                            continue;
                        }
                        Err((flaw, at)) => {
                            let behind = behind && flaw == GzipFlaw::NotGzip;
                            let flaw = if behind { GzipFlaw::TrailingData } else { flaw };
                            return Err(GzipError::new(flaw, start + at));
                        }
                    };
                    if header.is_done() {
                        self.member = self.member.take().or_else(|| header.take_member());
                        self.inflater.restart();
                        self.sum = Crc32::new();
                        (self.stream_start, self.content) = (here + taken as u64, 0);
                        self.part = Part::Content;
                    }
                    taken
                }
                Part::Trailer { gathered, count } => {
                    let taken = (TRAILER_BYTES - *count).min(rest.len());
                    gathered[*count..*count + taken].copy_from_slice(&rest[..taken]);
                    *count += taken;
                    if *count == TRAILER_BYTES {
                        let trailer = *gathered;
                        self.verify(trailer, here + taken as u64 - TRAILER_BYTES as u64)?;
                        self.totals.members += 1;
                        self.totals.crc32 = self.sum.sum();
                        self.part = Part::Between;
                    }
                    taken
                }
                Part::Between => {
                    self.part = match rest[0] {
                        0 => Part::Padding,
                        _ => Part::Header(Header::default()),
                    };
                    0
                }
                Part::Trailing => rest.len(),
                Part::Padding => match rest.iter().position(|byte| *byte != 0) {
                    Some(at) if self.skips_trailing => {
                        self.totals.trailing = Some(here + at as u64);
                        self.part = Part::Trailing;
                        at
                    }
                    Some(at) => {
                        let offset = here + at as u64;
                        return Err(GzipError::new(GzipFlaw::TrailingData, offset));
                    }
                    None => rest.len(),
                },
            };
            consumed += taken;
            self.totals.bytes_in += taken as u64;
        }
        Ok(GzipStep {
            consumed,
            produced,
            more_output,
        })
    }

    fn verify(&self, trailer: [u8; TRAILER_BYTES], offset: u64) -> Result<(), GzipError> {
        let [a, b, c, d, e, f, g, h] = trailer;
        let stated = u32::from_le_bytes([a, b, c, d]);
        let computed = self.sum.sum();
        if stated != computed {
            let flaw = GzipFlaw::Checksum { stated, computed };
            return Err(GzipError::new(flaw, offset));
        }
        let stated = u32::from_le_bytes([e, f, g, h]);
        let counted = (self.content & u64::from(u32::MAX)) as u32;
        if stated != counted {
            let flaw = GzipFlaw::Size { stated, counted };
            return Err(GzipError::new(flaw, offset + 4));
        }
        Ok(())
    }

    /// What was read, if the input may end here.
    ///
    /// # Errors
    /// The input ends inside a member, or was empty.
    pub fn finish(&self) -> Result<GzipTotals, GzipError> {
        match &self.part {
            Part::Between | Part::Padding | Part::Trailing => Ok(self.totals),
            _ => Err(GzipError::new(GzipFlaw::Truncated, self.totals.bytes_in)),
        }
    }
}
