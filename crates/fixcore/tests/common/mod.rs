//! A decoder written by the specification, slow and without tricks, and messages to try it on.

use fixcore::workload::Sample;

/// Fields of a message, or `None` if it is none.
pub(crate) type Fields = Option<Vec<(u32, Vec<u8>)>>;

/// The pairs of length and data that the messages here have.
const PAIRS: [(u32, u32); 4] = [(95, 96), (93, 89), (354, 355), (1184, 1185)];
/// Any other tag that has to do with data.
const OTHERS: [(u32, u32); 20] = [
    (90, 91),
    (212, 213),
    (348, 349),
    (350, 351),
    (352, 353),
    (356, 357),
    (358, 359),
    (360, 361),
    (362, 363),
    (364, 365),
    (445, 446),
    (618, 619),
    (621, 622),
    (1277, 1278),
    (1280, 1281),
    (1282, 1283),
    (1397, 1398),
    (1401, 1402),
    (1403, 1404),
    (1468, 1469),
];

/// What a message is by the specification.
pub(crate) fn oracle(bytes: &[u8]) -> Fields {
    let pairs = || PAIRS.iter().chain(&OTHERS);
    let mut fields: Vec<(u32, Vec<u8>)> = Vec::new();
    let mut rest = bytes;
    let mut body_start = 0;
    let mut due: Option<(u32, usize)> = None;
    while !rest.is_empty() {
        let start = bytes.len() - rest.len();
        let equals = rest.iter().position(|byte| *byte == b'=')?;
        let digits = std::str::from_utf8(&rest[..equals]).ok()?;
        if digits.is_empty() || digits.len() > 9 || digits.starts_with('0') {
            return None;
        }
        if !digits.chars().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let tag: u32 = digits.parse().ok()?;
        rest = &rest[equals + 1..];
        let length = match due.take() {
            Some((data, length)) if data == tag => length,
            Some(_) => return None,
            None if pairs().any(|pair| pair.1 == tag) => return None,
            None => rest.iter().position(|byte| *byte == 1)?,
        };
        if length == 0 || rest.get(length) != Some(&1) {
            return None;
        }
        let value = rest[..length].to_vec();
        rest = &rest[length + 1..];
        if let Some(pair) = pairs().find(|pair| pair.0 == tag) {
            due = Some((pair.1, number(&value)?));
        }
        let wanted = [8, 9, 35].get(fields.len());
        if wanted.is_some_and(|wanted| *wanted != tag) {
            return None;
        }
        if fields.len() == 1 {
            body_start = bytes.len() - rest.len();
        }
        if rest.is_empty() {
            if tag != 10 || value.len() != 3 || fields.len() < 3 {
                return None;
            }
            let sum: u64 = bytes[..start].iter().map(|byte| u64::from(*byte)).sum();
            if number(&value)? as u64 != sum % 256 || number(&fields[1].1)? != start - body_start {
                return None;
            }
            fields.push((tag, value));
            return Some(fields);
        }
        fields.push((tag, value));
    }
    None
}

fn number(value: &[u8]) -> Option<usize> {
    let digits = std::str::from_utf8(value).ok()?;
    let valid = digits.len() <= 9 && digits.chars().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|_| valid)
}

/// How many cases a test tries: `FIX_CASES`, or this many.
pub(crate) fn cases(default: u64) -> u64 {
    let set = std::env::var("FIX_CASES").ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Numbers by a seed.
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

/// A frame around a body, with its length and sum right.
pub(crate) fn framed(body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("8=FIX.4.4\x019={}\x01", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    bytes
}

/// Some message: mostly valid, with data, long tags, `=` in values, or fields that are faulty.
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

/// Changes a few bytes of a message, and often makes its sum right again.
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
