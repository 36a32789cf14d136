//! HDR V2 coding of a histogram: to bytes, and back from untrusted bytes.
//!
//! The histogram crate writes and reads. Before it reads, the header and every count are checked here:
//! the crate allocates what a header asks for (up to 4 GiB) before it reads further, and it negates and
//! adds counts without overflow checks.

use std::io::{self, Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};

use crate::read::{Place, ReadError, ReadErrorKind};

const COOKIE_V2: u32 = 0x1c84_9313;
const COOKIE_V2_DEFLATE: u32 = 0x1c84_9314;
/// Those of a histogram of doubles, packed and not.
const COOKIES_DOUBLE: [u32; 2] = [0x0c72_124f, 0x0c72_124e];
const HEADER_BYTES: usize = 40;

/// Most counts in a histogram that is read: 5 digits up to 1 h of nanoseconds fit, which is 28 MB.
const COUNTS_MAX: u64 = 1 << 22;
/// Histograms up to this size are stored uncompressed in their deflate stream: creating a compressor takes
/// longer than everything else that a small run does with its histogram.
const STORED_BYTES_MAX: u16 = 512;

/// A count takes at most nine bytes.
const INFLATED_BYTES_MAX: usize = HEADER_BYTES + 9 * COUNTS_MAX as usize;

/// Memory that the histograms of one input may take together, so that a small file of many rows cannot cost
/// hours and gigabytes.
#[derive(Debug)]
pub(crate) struct Budget {
    counts: u64,
    inflated_bytes: usize,
}

impl Budget {
    /// For the intervals of a report, which stay packed: a million of the usual range and precision.
    pub(crate) fn of_intervals() -> Self {
        Self {
            counts: 1 << 35,
            inflated_bytes: 1 << 30,
        }
    }

    /// Takes what a histogram needs.
    fn spend(&mut self, slots: u64, inflated_bytes: usize) -> Result<(), ReadError> {
        let left = (
            self.counts.checked_sub(slots),
            self.inflated_bytes.checked_sub(inflated_bytes),
        );
        let (Some(counts), Some(inflated_bytes)) = left else {
            let message = "the histograms of this input are too large together";
            return Err(too_large(message));
        };
        (self.counts, self.inflated_bytes) = (counts, inflated_bytes);
        Ok(())
    }
}

impl Default for Budget {
    /// Ten thousand rows of the usual range and precision, or 128 of the greatest.
    fn default() -> Self {
        Self {
            counts: 128 * COUNTS_MAX,
            inflated_bytes: 256 << 20,
        }
    }
}

/// HDR V2, packed. `None` only when a count is above `i64::MAX`, which the format cannot represent.
pub(crate) fn encode_deflate(histogram: &Histogram<u64>) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    if !encode_plain(histogram, &mut plain) {
        return None;
    }
    let packed = match u16::try_from(plain.len()) {
        Ok(length) if length <= STORED_BYTES_MAX => stored(&plain, length),
        _ => deflated(&plain).ok()?,
    };
    let mut bytes = COOKIE_V2_DEFLATE.to_be_bytes().to_vec();
    bytes.extend(u32::try_from(packed.len()).ok()?.to_be_bytes());
    bytes.extend(packed);
    Some(bytes)
}

fn deflated(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain)?;
    encoder.finish()
}

/// A zlib stream of one stored block (RFC 1950 and 1951).
fn stored(plain: &[u8], length: u16) -> Vec<u8> {
    const ZLIB_HEADER: [u8; 2] = [0x78, 0x01];
    const LAST_AND_STORED: u8 = 1;
    let mut packed = ZLIB_HEADER.to_vec();
    packed.push(LAST_AND_STORED);
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend(plain);
    packed.extend(adler32(plain).to_be_bytes());
    packed
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (low, high) = bytes.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    high << 16 | low
}

/// HDR V2, not packed: quick to write and still small.
pub(crate) fn encode_plain(histogram: &Histogram<u64>, bytes: &mut Vec<u8>) -> bool {
    V2Serializer::new().serialize(histogram, bytes).is_ok()
}

/// HDR V2, packed, base64; empty when the format cannot represent it (see [`encode_deflate`]).
pub(crate) fn encode_base64(histogram: &Histogram<u64>) -> String {
    encode_deflate(histogram)
        .map(|bytes| BASE64.encode(bytes))
        .unwrap_or_default()
}

/// Back from [`encode_base64`].
pub(crate) fn decode_base64(text: &str) -> Result<Histogram<u64>, ReadError> {
    decode(&bytes_of_base64(text)?)
}

/// The same within `budget`.
pub(crate) fn decode_base64_within(
    text: &str,
    budget: &mut Budget,
) -> Result<Histogram<u64>, ReadError> {
    let plain = unpacked(&bytes_of_base64(text)?, budget.inflated_bytes)?;
    budget.spend(check_plain(&plain)?.slots, plain.len())?;
    deserialize(&plain)
}

/// How many values an encoded histogram holds, which is checked within `budget` and not built.
pub(crate) fn values_within(bytes: &[u8], budget: &mut Budget) -> Result<u64, ReadError> {
    let plain = unpacked(bytes, budget.inflated_bytes)?;
    let found = check_plain(&plain)?;
    budget.spend(found.slots, plain.len())?;
    Ok(found.values)
}

pub(crate) fn bytes_of_base64(text: &str) -> Result<Vec<u8>, ReadError> {
    BASE64
        .decode(text)
        .map_err(|error| ReadError::malformed(Place::Whole, format!("not base64: {error}")))
}

/// Decode packed or plain V2.
pub(crate) fn decode(bytes: &[u8]) -> Result<Histogram<u64>, ReadError> {
    deserialize(&checked(bytes)?)
}

fn deserialize(mut plain: &[u8]) -> Result<Histogram<u64>, ReadError> {
    Deserializer::new()
        .deserialize(&mut plain)
        .map_err(|error| ReadError::malformed(Place::Whole, format!("not a histogram: {error}")))
}

/// Unpack a zlib stream to at most `bytes_max`; what follows its end is ignored.
fn inflate(packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, ReadError> {
    let mut plain = Vec::new();
    ZlibDecoder::new(packed)
        .take(bytes_max as u64 + 1)
        .read_to_end(&mut plain)
        .map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => truncated(8 + packed.len()),
            _ => malformed(8, "invalid deflate stream"),
        })?;
    if plain.len() > bytes_max {
        return Err(too_large(
            "the histogram unpacks to more bytes than allowed",
        ));
    }
    Ok(plain)
}

/// Unpacks and checks everything that [`decode`] relies on, without building the histogram. Returns plain
/// V2.
pub(crate) fn checked(bytes: &[u8]) -> Result<Vec<u8>, ReadError> {
    let plain = unpacked(bytes, INFLATED_BYTES_MAX)?;
    check_plain(&plain)?;
    Ok(plain)
}

/// Plain V2, unchecked, unpacked to at most `bytes_max`.
fn unpacked(bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>, ReadError> {
    match be32(bytes, 0)? {
        COOKIE_V2 => Ok(bytes.to_vec()),
        COOKIE_V2_DEFLATE => {
            let length = be32(bytes, 4)? as usize;
            let packed = bytes.get(8..).unwrap_or_default();
            let packed = packed.get(..length).ok_or_else(|| truncated(bytes.len()))?;
            inflate(packed, bytes_max.min(INFLATED_BYTES_MAX))
        }
        cookie if COOKIES_DOUBLE.contains(&cookie) => {
            let message = "a DoubleHistogram, which has no unit of whole numbers: log a Histogram, \
                           of nanoseconds for one";
            Err(ReadError::new(
                ReadErrorKind::Foreign,
                Place::Byte(0),
                message,
            ))
        }
        _ => {
            let message = "not an HDR V2 histogram (first four bytes)";
            Err(ReadError::new(
                ReadErrorKind::Foreign,
                Place::Byte(0),
                message,
            ))
        }
    }
}

/// What a histogram will be.
struct Checked {
    /// The length of its counts array.
    slots: u64,
    /// The sum of its counts.
    values: u64,
}

fn check_plain(plain: &[u8]) -> Result<Checked, ReadError> {
    if be32(plain, 0)? != COOKIE_V2 {
        return Err(malformed(
            0,
            "not an HDR V2 histogram inside the deflate stream",
        ));
    }
    let payload_bytes = be32(plain, 4)? as usize;
    let normalizing_offset = be32(plain, 8)?;
    let digits = be32(plain, 12)?;
    let low = be64(plain, 16)?;
    let high = be64(plain, 24)?;
    let ratio = f64::from_bits(be64(plain, 32)?);
    if normalizing_offset != 0 || ratio != 1.0 {
        return Err(malformed(
            8,
            "shifted and scaled histograms are not supported",
        ));
    }
    if digits > 5 || low == 0 || low > 1 << 40 || high < 2 * low {
        return Err(malformed(12, "impossible precision or range"));
    }
    let counts_max = counts_len(low, high, digits);
    if counts_max > COUNTS_MAX {
        return Err(too_large("histogram has more than 4 million counts"));
    }
    let payload = plain.get(HEADER_BYTES..).unwrap_or_default();
    if payload.len() != payload_bytes {
        let found = payload.len();
        let message = format!("length of the counts: stated {payload_bytes}, found {found} bytes");
        return Err(malformed(4, &message));
    }
    Ok(Checked {
        slots: counts_max,
        values: check_counts(payload, counts_max)?,
    })
}

/// Length of the counts array, as the histogram crate makes it.
fn counts_len(low: u64, high: u64, digits: u32) -> u64 {
    let largest_single_unit = 2 * 10u64.pow(digits);
    let sub_buckets = largest_single_unit.next_power_of_two().max(2);
    let unit_bits = low.ilog2();
    let mut buckets = 1;
    let mut untrackable = u128::from(sub_buckets) << unit_bits;
    while untrackable <= u128::from(high) {
        untrackable <<= 1;
        buckets += 1;
    }
    (buckets + 1) * (sub_buckets / 2)
}

/// Checks the counts: every run is in range, and no sum overflows. Returns their sum.
fn check_counts(payload: &[u8], counts_max: u64) -> Result<u64, ReadError> {
    let mut at = 0;
    let mut index = 0u64;
    let mut total = 0i64;
    while at < payload.len() {
        let place = HEADER_BYTES + at;
        let value = zig_zag(varint(payload, &mut at).ok_or_else(|| truncated(place))?);
        let step = if value < 0 {
            value.unsigned_abs()
        } else {
            total = total
                .checked_add(value)
                .ok_or_else(|| malformed(place, "counts overflow"))?;
            1
        };
        index = index.saturating_add(step);
        if index > counts_max {
            return Err(malformed(place, "more counts than the histogram's range"));
        }
    }
    // Only counts of 0 or more were added.
    Ok(total.unsigned_abs())
}

/// LEB128 in at most nine bytes, the ninth taken whole.
fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for nth in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if nth == 8 {
            return Some(value | u64::from(byte) << 56);
        }
        value |= u64::from(byte & 0x7f) << (7 * nth);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    Some(value)
}

fn zig_zag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn be32(bytes: &[u8], at: usize) -> Result<u32, ReadError> {
    let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
    word.map(u32::from_be_bytes)
        .ok_or_else(|| truncated(bytes.len()))
}

fn be64(bytes: &[u8], at: usize) -> Result<u64, ReadError> {
    let word = bytes.get(at..at + 8).and_then(|word| word.try_into().ok());
    word.map(u64::from_be_bytes)
        .ok_or_else(|| truncated(bytes.len()))
}

fn truncated(at: usize) -> ReadError {
    malformed(at, "the histogram is truncated")
}

fn malformed(at: usize, message: &str) -> ReadError {
    ReadError::malformed(Place::Byte(at as u64), message)
}

fn too_large(message: &str) -> ReadError {
    ReadError::new(ReadErrorKind::TooLarge, Place::Whole, message)
}

/// An empty histogram of this range, if its size is within the limit.
pub(crate) fn new_histogram(low: u64, high: u64, digits: u8) -> Result<Histogram<u64>, ReadError> {
    if counts_len(low.max(1), high, u32::from(digits.min(5))) > COUNTS_MAX {
        return Err(too_large("histogram has more than 4 million counts"));
    }
    Histogram::new_with_bounds(low, high, digits)
        .map_err(|error| ReadError::malformed(Place::Whole, format!("not a histogram: {error}")))
}

#[cfg(test)]
pub(crate) mod tests_support {
    use super::*;

    /// A header that asks for 4 GiB of counts, base64.
    pub(crate) fn lying_header() -> String {
        let mut bytes = COOKIE_V2.to_be_bytes().to_vec();
        bytes.extend([0xff; 4]);
        bytes.extend([0; 32]);
        BASE64.encode(bytes)
    }
}

#[cfg(test)]
mod tests;
