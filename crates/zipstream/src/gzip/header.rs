//! A member's header: read in any cut of the input, and written.

use super::error::GzipFlaw;
use super::member::{GzipMember, NAME_BYTES_MAX};

/// The first two bytes of each member.
pub const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Magic number, method, flags, time, extra flags, system.
const FIXED_BYTES: usize = 10;

const HAS_CHECKSUM: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;
/// The system of headers that are written: Unix.
const UNIX: u8 = 3;
/// Flags that RFC 1952 reserves.
const RESERVED: u8 = 0b1110_0000;

/// The part of the header that comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Fixed,
    ExtraLength,
    Extra { left: usize },
    Name,
    Comment,
    Checksum,
    Done,
}

/// Reads a header. Comments and extra fields are skipped, and so are names unless they are wanted: a hostile one needs no
/// memory.
#[derive(Debug, Clone)]
pub(super) struct Header {
    part: Part,
    /// The bytes of a part of fixed size so far.
    gathered: [u8; FIXED_BYTES],
    count: usize,
    flags: u8,
    sum: crc32fast::Hasher,
    /// Bytes of the header before those of the current call.
    before: u64,
    /// What it says, if that is wanted.
    member: Option<GzipMember>,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            part: Part::Fixed,
            gathered: [0; FIXED_BYTES],
            count: 0,
            flags: 0,
            sum: crc32fast::Hasher::new(),
            before: 0,
            member: None,
        }
    }
}

impl Header {
    /// A header whose name and time are kept.
    pub(super) fn kept() -> Self {
        Self {
            member: Some(GzipMember::new()),
            ..Self::default()
        }
    }

    /// What it says, if that was kept.
    pub(super) fn take_member(&mut self) -> Option<GzipMember> {
        self.member.take()
    }

    /// Keeps a part of the name.
    fn keep_name(&mut self, part: &[u8]) {
        let Some(member) = &mut self.member else {
            return;
        };
        let name = member.name.get_or_insert_default();
        // One byte beyond the longest says that it is too long.
        let room = (NAME_BYTES_MAX + 1).saturating_sub(name.len());
        name.extend_from_slice(&part[..part.len().min(room)]);
    }

    pub(super) fn is_done(&self) -> bool {
        self.part == Part::Done
    }

    /// Bytes of the header that were read.
    pub(super) fn before(&self) -> u64 {
        self.before
    }

    /// Consumes what belongs to the header. An error comes with its byte of the header.
    pub(super) fn read(&mut self, input: &[u8]) -> Result<usize, (GzipFlaw, u64)> {
        let mut at = 0;
        while at < input.len() && self.part != Part::Done {
            let rest = &input[at..];
            let taken = match self.part {
                Part::Fixed => self.fixed(rest, FIXED_BYTES),
                Part::ExtraLength | Part::Checksum => self.fixed(rest, 2),
                Part::Extra { left } => {
                    let taken = left.min(rest.len());
                    self.part = Part::Extra { left: left - taken };
                    taken
                }
                Part::Name | Part::Comment => {
                    let zero = rest.iter().position(|byte| *byte == 0);
                    zero.map_or(rest.len(), |zero| zero + 1)
                }
                Part::Done => 0,
            };
            let part = self.part;
            let here = self.before + at as u64;
            if part != Part::Checksum {
                self.sum.update(&rest[..taken]);
            }
            at += taken;
            let ended = match part {
                Part::Fixed => self.count == FIXED_BYTES,
                Part::ExtraLength | Part::Checksum => self.count == 2,
                Part::Extra { .. } => self.part == Part::Extra { left: 0 },
                Part::Name | Part::Comment => rest[taken - 1] == 0,
                Part::Done => false,
            };
            match part {
                Part::Fixed => self.judge(ended)?,
                Part::Name => self.keep_name(&rest[..taken - usize::from(ended)]),
                _ => {}
            }
            if ended {
                let first = here + taken as u64 - self.count as u64;
                self.next(part).map_err(|flaw| (flaw, first))?;
            }
        }
        self.before += at as u64;
        Ok(at)
    }

    /// Gathers up to `bytes` bytes.
    fn fixed(&mut self, rest: &[u8], bytes: usize) -> usize {
        let taken = (bytes - self.count).min(rest.len());
        self.gathered[self.count..self.count + taken].copy_from_slice(&rest[..taken]);
        self.count += taken;
        taken
    }

    /// Refuses a wrong magic number as soon as a byte of it is there, and what else the fixed part may not
    /// state.
    fn judge(&mut self, whole: bool) -> Result<(), (GzipFlaw, u64)> {
        let magic = self.count.min(MAGIC.len());
        if self.gathered[..magic] != MAGIC[..magic] {
            return Err((GzipFlaw::NotGzip, 0));
        }
        if whole {
            self.flags = self.gathered[3];
            if self.gathered[2] != 8 {
                let stated = self.gathered[2];
                return Err((GzipFlaw::Method { stated }, 2));
            }
            if self.flags & RESERVED != 0 {
                let stated = self.flags;
                return Err((GzipFlaw::Flags { stated }, 3));
            }
            if let Some(member) = &mut self.member {
                let [.., a, b, c, d, _, _] = self.gathered;
                member.modified = u32::from_le_bytes([a, b, c, d]);
            }
        }
        Ok(())
    }

    /// Goes on after a part that ended.
    fn next(&mut self, ended: Part) -> Result<(), GzipFlaw> {
        let two = u16::from_le_bytes([self.gathered[0], self.gathered[1]]);
        self.count = 0;
        let extra = usize::from(two);
        match ended {
            Part::ExtraLength if extra > 0 => {
                self.part = Part::Extra { left: extra };
                return Ok(());
            }
            Part::Name => {
                if let Some(member) = &mut self.member {
                    member.name = member
                        .name
                        .take()
                        .filter(|name| name.len() <= NAME_BYTES_MAX);
                }
            }
            Part::Checksum => {
                let computed = (self.sum.clone().finalize() & 0xffff) as u16;
                if two != computed {
                    let stated = two;
                    return Err(GzipFlaw::HeaderChecksum { stated, computed });
                }
            }
            _ => {}
        }
        let order = [
            (HAS_EXTRA, Part::ExtraLength),
            (HAS_NAME, Part::Name),
            (HAS_COMMENT, Part::Comment),
            (HAS_CHECKSUM, Part::Checksum),
        ];
        let from = match ended {
            Part::Fixed => 0,
            Part::ExtraLength | Part::Extra { .. } => 1,
            Part::Name => 2,
            Part::Comment => 3,
            Part::Checksum | Part::Done => 4,
        };
        let next = order[from..]
            .iter()
            .find(|(flag, _)| self.flags & flag != 0);
        self.part = next.map_or(Part::Done, |(_, part)| *part);
        Ok(())
    }
}

/// Appends the header of a member of this level.
pub(super) fn write(member: &GzipMember, level: i32, out: &mut Vec<u8>) {
    let name = member.name.as_deref().unwrap_or_default();
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let flags = if name.is_empty() { 0 } else { HAS_NAME };
    let effort = match level {
        ..=1 => 4,
        9.. => 2,
        _ => 0,
    };
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[8, flags]);
    out.extend_from_slice(&member.modified.to_le_bytes());
    out.extend_from_slice(&[effort, UNIX]);
    if flags != 0 {
        out.extend_from_slice(name);
        out.push(0);
    }
}
