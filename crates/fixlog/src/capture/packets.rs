//! The packets of a capture file, pcap or pcapng, in pieces of any size.

use pcap_parser::nom::Err as Nom;
use pcap_parser::traits::PcapNGPacketBlock as _;
use pcap_parser::{
    Block, PcapError, PcapHeader, parse_block_be, parse_block_le, parse_pcap_frame,
    parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};

/// Bytes of the longest record: the longest packet that libpcap writes is 256 KiB, and blocks of pcapng may hold
/// lists of names or keys.
const RECORD_BYTES_MAX: usize = 16 << 20;
/// What sections begin with, in any order of bytes.
const SECTION: &[u8] = &[0x0a, 0x0d, 0x0d, 0x0a];
/// Interfaces that are told apart.
const INTERFACES_MAX: usize = 1 << 16;
/// The upper bits of a link type say how long checksums of frames are.
const LINK_MASK: i32 = 0x0fff_ffff;
/// Seconds of what `if_tsresol` may state as the highest power of ten.
const TENS_MAX: u8 = 18;
const SECOND_NS: i128 = 1_000_000_000;

/// A packet.
#[derive(Debug)]
pub(super) struct Packet<'p> {
    /// Counted from 1.
    pub(super) number: u64,
    /// In nanoseconds since 1970.
    pub(super) time_ns: Option<i64>,
    pub(super) link: i32,
    pub(super) data: &'p [u8],
    /// How long it was on the network.
    pub(super) original_bytes: usize,
    /// The byte of the file that `data` begins with.
    pub(super) offset: u64,
}

/// What is wrong with a capture: it cannot be read further.
#[derive(Debug, thiserror::Error)]
#[error("{what} behind packet {packet}, at byte {offset} of the capture")]
pub(super) struct Damaged {
    what: &'static str,
    packet: u64,
    offset: u64,
}

/// An interface of a pcapng section.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link: i32,
    /// Units per second.
    units: u64,
    offset_s: i64,
}

#[derive(Debug)]
enum Format {
    Unknown,
    Pcap(PcapHeader),
    Ng {
        is_big: bool,
        interfaces: Vec<Interface>,
    },
}

/// Takes packets from the bytes of a capture.
#[derive(Debug)]
pub(super) struct Packets {
    buffer: Vec<u8>,
    at: usize,
    /// The byte of the file that the buffer begins with.
    offset: u64,
    number: u64,
    format: Format,
}

/// Whether bytes begin like a capture; `None` if more of them are needed to tell.
pub(super) fn is_capture(bytes: &[u8]) -> Option<bool> {
    const MAGIC: [[u8; 4]; 6] = [
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0x4d, 0x3c, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
        [0x34, 0xcd, 0xb2, 0xa1],
        [0x0a, 0x0d, 0x0d, 0x0a],
    ];
    let begins = |magic: &[u8; 4]| magic.starts_with(&bytes[..bytes.len().min(magic.len())]);
    match MAGIC.iter().any(begins) {
        false => Some(false),
        true => (bytes.len() >= 4).then_some(true),
    }
}

impl Packets {
    pub(super) fn new() -> Self {
        Self {
            buffer: Vec::new(),
            at: 0,
            offset: 0,
            number: 0,
            format: Format::Unknown,
        }
    }

    /// Adds the next bytes of the file.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.at);
        self.offset += self.at as u64;
        self.at = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// How many bytes are left, of a packet that is cut off.
    pub(super) fn left(&self) -> usize {
        self.buffer.len() - self.at
    }

    /// How many packets there were, and the byte of the file behind them.
    pub(super) fn place(&self) -> (u64, u64) {
        (self.number, self.offset + self.at as u64)
    }

    fn damaged(&self, what: &'static str) -> Damaged {
        let (packet, offset) = self.place();
        Damaged {
            what,
            packet,
            offset,
        }
    }

    /// The next packet; `None` if more bytes are needed.
    pub(super) fn next(&mut self) -> Result<Option<Packet<'_>>, Damaged> {
        loop {
            let rest = self.buffer.get(self.at..).unwrap_or(&[]);
            if rest.is_empty() {
                return Ok(None);
            }
            let start = self.offset + self.at as u64;
            let before = rest.len();
            // What is borrowed of the buffer ends here: only its place is kept.
            let (taken, found) = match &mut self.format {
                Format::Unknown => match open(rest) {
                    Ok(Some((taken, format))) => {
                        self.format = format;
                        self.at += taken;
                        continue;
                    }
                    Ok(None) => return Ok(None),
                    Err(what) => return Err(self.damaged(what)),
                },
                Format::Pcap(header) => match frame(header, rest) {
                    Ok((left, found)) => (before - left, Some(found)),
                    Err(Stop::More) if is_too_long(rest, 8, header.is_bigendian()) => {
                        return Err(self.damaged("a packet states an impossible length"));
                    }
                    Err(Stop::More) => return Ok(None),
                    Err(Stop::Wrong) => return Err(self.damaged("there is no packet")),
                },
                Format::Ng { is_big, interfaces } => match block(is_big, interfaces, rest) {
                    Ok((left, found)) => (before - left, found),
                    Err(Stop::More)
                        if is_big_block(rest, *is_big)
                            .is_some_and(|is_big| is_too_long(rest, 4, is_big)) =>
                    {
                        return Err(self.damaged("a block states an impossible length"));
                    }
                    Err(Stop::More) => return Ok(None),
                    Err(Stop::Wrong) => return Err(self.damaged("there is no block of pcapng")),
                },
            };
            if taken == 0 {
                return Err(self.damaged("there is no packet"));
            }
            let from = self.at;
            self.at += taken;
            let Some(found) = found else { continue };
            self.number += 1;
            let range = from + found.at..from + found.at + found.bytes;
            return Ok(Some(Packet {
                number: self.number,
                time_ns: found.time_ns,
                link: found.link,
                data: self.buffer.get(range).unwrap_or(&[]),
                original_bytes: found.original_bytes,
                offset: start + found.at as u64,
            }));
        }
    }
}

/// Whether the length that a record states at a place is one that none has.
fn is_too_long(record: &[u8], at: usize, is_big: bool) -> bool {
    let stated = record.get(at..).and_then(|rest| rest.first_chunk());
    let stated = stated.map(|bytes| match is_big {
        true => u32::from_be_bytes(*bytes),
        false => u32::from_le_bytes(*bytes),
    });
    stated.is_some_and(|stated| stated as usize > RECORD_BYTES_MAX)
}

/// The order of bytes in a block; `None` as long as a section has not said it.
fn is_big_block(block: &[u8], is_big: bool) -> Option<bool> {
    match block.starts_with(SECTION) {
        true => Some(block.get(8..12)? == [0x1a, 0x2b, 0x3c, 0x4d]),
        false => Some(is_big),
    }
}

/// Where in a record a packet is.
struct Record {
    at: usize,
    bytes: usize,
    time_ns: Option<i64>,
    link: i32,
    original_bytes: usize,
}

enum Stop {
    /// More bytes are needed.
    More,
    Wrong,
}

impl From<Nom<PcapError<&[u8]>>> for Stop {
    fn from(error: Nom<PcapError<&[u8]>>) -> Self {
        match error {
            Nom::Incomplete(_) | Nom::Error(PcapError::Incomplete(_)) => Self::More,
            Nom::Error(_) | Nom::Failure(_) => Self::Wrong,
        }
    }
}

/// What the file begins with.
fn open(rest: &[u8]) -> Result<Option<(usize, Format)>, &'static str> {
    // The first section header is a block like any other.
    if rest.starts_with(SECTION) {
        let (is_big, interfaces) = (false, Vec::new());
        return Ok(Some((0, Format::Ng { is_big, interfaces })));
    }
    match parse_pcap_header(rest) {
        Ok((left, header)) => Ok(Some((rest.len() - left.len(), Format::Pcap(header)))),
        Err(Nom::Incomplete(_)) => Ok(None),
        Err(_) => Err("there is no header of pcap or pcapng"),
    }
}

/// A record of pcap; how much is left behind it.
fn frame(header: &PcapHeader, rest: &[u8]) -> Result<(usize, Record), Stop> {
    const HEAD: usize = 16;
    const HEAD_MODIFIED: usize = 24;
    let (head, parsed) = match (header.is_modified_format(), header.is_bigendian()) {
        (true, _) => (HEAD_MODIFIED, parse_pcap_frame_modified(rest)),
        (false, true) => (HEAD, parse_pcap_frame_be(rest)),
        (false, false) => (HEAD, parse_pcap_frame(rest)),
    };
    let (left, found) = parsed?;
    let unit_ns = match header.is_nanosecond_precision() {
        true => 1,
        false => 1000,
    };
    let time = i64::from(found.ts_sec)
        .checked_mul(1_000_000_000)
        .and_then(|ns| ns.checked_add(i64::from(found.ts_usec) * unit_ns));
    let record = Record {
        at: head,
        bytes: found.data.len(),
        time_ns: time,
        link: header.network.0 & LINK_MASK,
        original_bytes: found.origlen as usize,
    };
    Ok((left.len(), record))
}

/// A block of pcapng; how much is left behind it, and the packet in it, if there is one.
fn block(
    is_big: &mut bool,
    interfaces: &mut Vec<Interface>,
    rest: &[u8],
) -> Result<(usize, Option<Record>), Stop> {
    const DATA_OF_ENHANCED: usize = 28;
    const DATA_OF_SIMPLE: usize = 12;
    let (left, found) = match is_big {
        true => parse_block_be(rest),
        false => parse_block_le(rest),
    }?;
    let record = match found {
        Block::SectionHeader(section) => {
            *is_big = section.big_endian();
            interfaces.clear();
            None
        }
        Block::InterfaceDescription(interface) => {
            if interfaces.len() == INTERFACES_MAX {
                return Err(Stop::Wrong);
            }
            interfaces.push(Interface {
                link: interface.linktype.0,
                units: units(interface.if_tsresol).ok_or(Stop::Wrong)?,
                offset_s: interface.if_tsoffset,
            });
            None
        }
        Block::EnhancedPacket(packet) => {
            let of = interfaces.get(packet.if_id as usize).ok_or(Stop::Wrong)?;
            let units = (u64::from(packet.ts_high) << 32) | u64::from(packet.ts_low);
            let ns = i128::from(units) * SECOND_NS / i128::from(of.units)
                + i128::from(of.offset_s) * SECOND_NS;
            Some(Record {
                at: DATA_OF_ENHANCED,
                bytes: packet.packet_data().len(),
                time_ns: i64::try_from(ns).ok(),
                link: of.link,
                original_bytes: packet.origlen as usize,
            })
        }
        Block::SimplePacket(packet) => Some(Record {
            at: DATA_OF_SIMPLE,
            bytes: packet.packet_data().len(),
            time_ns: None,
            link: interfaces.first().ok_or(Stop::Wrong)?.link,
            original_bytes: packet.origlen as usize,
        }),
        _ => None,
    };
    Ok((left.len(), record))
}

/// Units of time per second: a power of ten, or of two if the highest bit is set.
fn units(resolution: u8) -> Option<u64> {
    let power = resolution & 0x7f;
    match resolution & 0x80 {
        0 if power <= TENS_MAX => Some(10_u64.pow(u32::from(power))),
        0 => None,
        _ => 1_u64.checked_shl(u32::from(power)),
    }
}
