//! Messages to test decoders with: valid, faulty, and changed.

use fixcore::workload::Sample;

use crate::common::framed;

/// Pairs of a length field and its data field.
const PAIRS: [(u32, u32); 4] = [(95, 96), (93, 89), (354, 355), (1184, 1185)];

/// Random numbers from a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// A random message: mostly valid, with data fields, long tags, `=` in values, or faulty fields.
pub(crate) fn message(random: &mut Random) -> Vec<u8> {
    if random.below(8) == 0 {
        return Sample::ALL[random.below(4)].bytes();
    }
    let mut body = b"35=D\x01".to_vec();
    for _ in 0..random.below(40) {
        match random.below(40) {
            0 | 1 => data(random, &mut body),
            2 => body.extend_from_slice(b"5=\x01"),
            3 => body.extend_from_slice(b"=x\x01"),
            4 => body.extend_from_slice(b"012=x\x01"),
            5 => body.extend_from_slice(b"12\x01"),
            6 => body.extend_from_slice(b"1x=2\x01"),
            _ => field(random, &mut body),
        }
    }
    framed(&body)
}

fn field(random: &mut Random, body: &mut Vec<u8>) {
    let tag = match random.below(12) {
        0 => 10_000 + random.below(90_000),
        1 => 1 + random.below(999_999_999),
        2 => 1 + random.below(9),
        3 => 9_000 + random.below(1_000),
        _ => 1 + random.below(1_500),
    };
    body.extend_from_slice(format!("{tag}=").as_bytes());
    let length = match random.below(20) {
        0 => 1 + random.below(300),
        _ => 1 + random.below(12),
    };
    for _ in 0..length {
        body.push(b"0123456789=ABC.=\x02\xff \n"[random.below(20)]);
    }
    body.push(1);
}

fn data(random: &mut Random, body: &mut Vec<u8>) {
    let (length_tag, tag) = PAIRS[random.below(PAIRS.len())];
    let content: Vec<u8> = (0..1 + random.below(80))
        .map(|_| b"ab\x01=38\x0110=\x01"[random.below(11)])
        .collect();
    let length = content.len() + usize::from(random.below(10) == 0);
    body.extend_from_slice(format!("{length_tag}={length}\x01{tag}=").as_bytes());
    body.extend_from_slice(&content);
    body.push(1);
}

/// Changes a few bytes of a message, and often corrects its CheckSum.
pub(crate) fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len());
        match random.below(5) {
            0 => drop(bytes.splice(at..at, [b"\x01=0159"[random.below(6)]])),
            1 => drop(bytes.remove(at)),
            2 => bytes[at] = b"\x01=0159"[random.below(6)],
            3 => bytes[at] ^= 1 << random.below(8),
            _ => bytes.truncate(at + 1),
        }
        if bytes.is_empty() {
            return;
        }
    }
    if let (Some(body), true) = (bytes.len().checked_sub(7), random.below(2) == 0) {
        let sum = bytes[..body]
            .iter()
            .fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        let trailer = format!("10={sum:03}\x01");
        bytes.truncate(body);
        bytes.extend_from_slice(trailer.as_bytes());
    }
}
