//! Captures to try things on: messages as they would be on a network.

use std::collections::HashMap;

use fixcore::SOH;

/// Bytes of TCP in a packet of an Ethernet without options.
const SEGMENT_BYTES_MAX: usize = 1460;
/// The port that orders are sent to.
const PORT: u16 = 5001;
const FIN: u8 = 1;
const SYN: u8 = 2;
const PUSH: u8 = 8;
const ACK: u8 = 16;
/// Between the packets of one message.
const APART_NS: i64 = 1_000;

/// Writes messages as a capture (pcap with nanoseconds, Ethernet, IPv4): each session is a TCP connection of its
/// own, opened before its first message.
///
/// ```
/// use fixlog::{CaptureWriter, Captured, Found, Reader, Separator, Source, split};
///
/// let message = b"8=FIX.4.4\x019=23\x0135=0\x0149=DESK\x0156=MARKET\x0110=018\x01";
/// let (mut writer, mut capture) = (CaptureWriter::new(), Vec::new());
/// writer.message(1_772_720_116_000_000_000, message, &mut capture);
/// writer.message(1_772_720_117_000_000_000, message, &mut capture);
///
/// let mut log = Captured::new(Reader(&capture[..]));
/// let mut room = vec![0; 128 << 10];
/// let fixlog::Got::Bytes(bytes) = log.read(&mut room, &|| false)? else { panic!() };
/// let mut messages = 0;
/// split(&room[..bytes], Separator::Auto, |_, found| {
///     messages += u64::from(matches!(found, Found::Message(..)));
/// })?;
/// assert_eq!(messages, 2);
/// assert_eq!(&*log.origins().pieces[0].1.stream, "10.0.0.1:40000 > 10.0.0.2:5001");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct CaptureWriter {
    has_head: bool,
    connections: HashMap<Vec<u8>, u32>,
    /// By connection: the sequence numbers of who opened it and of the other side.
    numbers: Vec<[u32; 2]>,
    first_names: Vec<Vec<u8>>,
}

impl CaptureWriter {
    /// A capture without packets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the packets of a message that is sent at some time, in nanoseconds since 1970.
    pub fn message(&mut self, time_ns: i64, message: &[u8], out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_head, true) {
            for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 1 << 18, 1] {
                out.extend_from_slice(&word.to_le_bytes());
            }
        }
        let [sender, target] = [&b"49="[..], b"56="].map(|tag| {
            let mut fields = message.split(|byte| *byte == SOH);
            fields
                .find_map(|field| field.strip_prefix(tag))
                .unwrap_or_default()
        });
        let mut names = [sender, target];
        names.sort_unstable();
        let key = names.join(&SOH);
        let next = self.numbers.len() as u32;
        let connection = *self.connections.entry(key).or_insert(next);
        if connection == next {
            // Any numbers will do, also those that pass 2^32 soon.
            self.numbers
                .push([next.wrapping_mul(0x9e37_79b9), !next.wrapping_mul(2000)]);
            self.first_names.push(sender.to_vec());
            let at = time_ns - 10 * APART_NS;
            self.packet(at, connection, 0, SYN, &[], out);
            self.packet(at + APART_NS, connection, 1, SYN | ACK, &[], out);
            self.packet(at + 2 * APART_NS, connection, 0, ACK, &[], out);
        }
        let is_first = self.first_names.get(connection as usize).map(Vec::as_slice) == Some(sender);
        let side = usize::from(!is_first);
        let mut at = time_ns;
        for segment in message.chunks(SEGMENT_BYTES_MAX) {
            self.packet(at, connection, side, PUSH | ACK, segment, out);
            at += APART_NS;
        }
    }

    /// Appends the ends of all connections.
    pub fn finish(&mut self, time_ns: i64, out: &mut Vec<u8>) {
        for connection in 0..self.numbers.len() as u32 {
            self.packet(time_ns, connection, 0, FIN | ACK, &[], out);
            self.packet(time_ns, connection, 1, FIN | ACK, &[], out);
        }
    }

    fn packet(
        &mut self,
        time_ns: i64,
        connection: u32,
        side: usize,
        flags: u8,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) {
        let Some(numbers) = self.numbers.get_mut(connection as usize) else {
            return;
        };
        let (number, other) = (numbers[side], numbers[1 - side]);
        let taken = payload.len() as u32 + u32::from(flags & (SYN | FIN) != 0);
        numbers[side] = number.wrapping_add(taken);
        // Odd addresses open connections, even ones accept them.
        let address =
            |side: u32| (0x0a00_0001_u32 + 2 * (connection % 0x007f_ffff) + side).to_be_bytes();
        let port = |side: u32| match side {
            0 => 40_000 + (connection % 20_000) as u16,
            _ => PORT,
        };
        let (from, to) = (side as u32, 1 - side as u32);
        let total = 40 + payload.len();
        let mut ip = [0; 20];
        ip[0] = 0x45;
        ip[2..4].copy_from_slice(&(total as u16).to_be_bytes());
        ip[8] = 64;
        ip[9] = 6;
        ip[12..16].copy_from_slice(&address(from));
        ip[16..20].copy_from_slice(&address(to));
        let sum = checksum(&ip, 0);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        let mut tcp = [0; 20];
        tcp[0..2].copy_from_slice(&port(from).to_be_bytes());
        tcp[2..4].copy_from_slice(&port(to).to_be_bytes());
        tcp[4..8].copy_from_slice(&number.to_be_bytes());
        tcp[8..12].copy_from_slice(&if flags & ACK == 0 { 0 } else { other }.to_be_bytes());
        tcp[12] = 0x50;
        tcp[13] = flags;
        tcp[14..16].copy_from_slice(&u16::MAX.to_be_bytes());
        let mut summed = tcp.to_vec();
        summed.extend_from_slice(payload);
        let pseudo = [
            &ip[12..20],
            &[0, 6],
            &((20 + payload.len()) as u16).to_be_bytes(),
        ]
        .concat();
        let sum = checksum(&summed, u32::from(!checksum(&pseudo, 0)));
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
        let ns = time_ns.rem_euclid(1_000_000_000) as u32;
        let seconds = time_ns.div_euclid(1_000_000_000) as u32;
        let bytes = (14 + total) as u32;
        for word in [seconds, ns, bytes, bytes] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&[
            2,
            0,
            0,
            0,
            0,
            2 - from as u8,
            2,
            0,
            0,
            0,
            0,
            2 - to as u8,
            8,
            0,
        ]);
        out.extend_from_slice(&ip);
        out.extend_from_slice(&tcp);
        out.extend_from_slice(payload);
    }
}

/// The checksum of IP and TCP over bytes, going on from a sum.
fn checksum(bytes: &[u8], sum: u32) -> u16 {
    let words = bytes.chunks(2).map(|pair| match pair {
        [high, low] => u32::from(u16::from_be_bytes([*high, *low])),
        [high] => u32::from(*high) << 8,
        _ => 0,
    });
    let mut sum = words.fold(sum, |sum, word| sum + word);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
