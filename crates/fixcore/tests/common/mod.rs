//! A simple, slow decoder written from the specification: the oracle of the tests.

/// The fields of a message, or `None` if it is invalid.
pub(crate) type Fields = Option<Vec<(u32, Vec<u8>)>>;

/// The pairs of length and data fields in the messages here.
const PAIRS: [(u32, u32); 4] = [(95, 96), (93, 89), (354, 355), (1184, 1185)];
/// All other tags of data pairs.
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

/// Decodes a message by the specification.
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

/// A body in its frame, with correct BodyLength and CheckSum.
pub(crate) fn framed(body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("8=FIX.4.4\x019={}\x01", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    bytes
}
