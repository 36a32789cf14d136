//! The naive parser: a search for the end of each field, a vector of fields, and a loop over bytes for the sum.

use fixcore::{DataPairs, ErrorKind, SOH};
use memchr::memchr;

/// A field: its tag, and where its value begins and ends.
pub type Field = (u32, u32, u32);

/// Parses messages, with the checks of fixcore: the frame, tags, values, data fields and the sum.
#[derive(Debug)]
pub struct Parser {
    fields: Vec<Field>,
    /// By the tag of a length field: the tag of its data field. Data fields have [`DATA`].
    pairs: Vec<u32>,
}

/// The entry of a data field.
const DATA: u32 = u32::MAX;
/// `10=` and three digits, with the separator.
const TRAILER: usize = 7;

fn number(digits: &[u8]) -> Option<usize> {
    let mut number = 0;
    for digit in digits {
        number = number * 10 + usize::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
    }
    (1..=9).contains(&digits.len()).then_some(number)
}

impl Parser {
    /// A parser that knows these data fields.
    #[must_use]
    pub fn new(known: &DataPairs) -> Self {
        let most = known.pairs().iter().map(|pair| pair.0.max(pair.1)).max();
        let mut pairs = vec![0; most.unwrap_or(0) as usize + 1];
        for (length, data) in known.pairs() {
            (pairs[*length as usize], pairs[*data as usize]) = (*data, DATA);
        }
        let fields = Vec::new();
        Self { fields, pairs }
    }

    /// Parses exactly one message.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<&[Field], ErrorKind> {
        self.fields.clear();
        let (mut at, mut due, mut last) = (0, None, 0);
        while at < bytes.len() {
            let (start, mut tag, mut digits) = (at, 0, 0);
            loop {
                match *bytes.get(at).ok_or(ErrorKind::Truncated)? {
                    digit @ b'0'..=b'9' if digits < 9 => tag = tag * 10 + usize::from(digit - b'0'),
                    b'=' if digits > 0 && bytes[start] != b'0' => break,
                    _ => return Err(ErrorKind::Tag),
                }
                (digits, at) = (digits + 1, at + 1);
            }
            let (role, value) = (self.pairs.get(tag).copied().unwrap_or(0), at + 1);
            let end = match due.take() {
                Some((data, length)) if data == tag => value + length,
                Some(_) => return Err(ErrorKind::DataPair),
                None if role == DATA => return Err(ErrorKind::DataPair),
                None => value + memchr(SOH, &bytes[value..]).ok_or(ErrorKind::Unterminated)?,
            };
            match bytes.get(end) {
                Some(&SOH) if end > value => {}
                Some(&SOH) if tag == 9 && self.fields.len() == 1 => {
                    return Err(ErrorKind::BodyLength);
                }
                Some(&SOH) if tag == 10 && end + 1 == bytes.len() => {
                    return Err(ErrorKind::CheckSum);
                }
                Some(&SOH) => return Err(ErrorKind::EmptyValue),
                Some(_) => return Err(ErrorKind::DataLength),
                None => return Err(ErrorKind::Truncated),
            }
            if role != 0 && role != DATA {
                let length = number(&bytes[value..end]).ok_or(ErrorKind::DataLength)?;
                due = Some((role as usize, length));
            }
            if [8, 9, 35]
                .get(self.fields.len())
                .is_some_and(|wanted| *wanted != tag)
            {
                return Err(ErrorKind::HeaderOrder);
            }
            if self.fields.len() == 1 {
                check_length(bytes, number(&bytes[value..end]), end + 1)?;
            }
            self.fields.push((tag as u32, value as u32, end as u32));
            (last, at) = (start, end + 1);
        }
        match *self.fields.as_slice() {
            [] => Err(ErrorKind::Truncated),
            [.., (10, value, end)] if self.fields.len() > 3 => {
                let sum = bytes[..last]
                    .iter()
                    .fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
                let stated = number(&bytes[value as usize..end as usize]);
                let stated = stated.filter(|_| end - value == 3);
                let is_right = stated == Some(sum.into());
                is_right.then_some(&*self.fields).ok_or(ErrorKind::CheckSum)
            }
            [_, _, _, _, ..] => Err(ErrorKind::Trailer),
            _ => Err(ErrorKind::HeaderOrder),
        }
    }

    /// The value of the first field with a tag, of a message that was parsed.
    #[must_use]
    pub fn find(fields: &[Field], tag: u32) -> Option<&Field> {
        fields.iter().find(|field| field.0 == tag)
    }
}

/// Whether the body that begins at `start` ends where CheckSum begins.
fn check_length(bytes: &[u8], length: Option<usize>, start: usize) -> Result<(), ErrorKind> {
    let before = bytes.strip_suffix(&[SOH]).unwrap_or(&[]);
    let trailer = before
        .iter()
        .rposition(|byte| *byte == SOH)
        .map(|at| at + 1);
    let trailer = trailer.filter(|at| before[*at..].starts_with(b"10="));
    match length.map(|length| start + length) {
        Some(end) if trailer == Some(end) || end + TRAILER == bytes.len() => Ok(()),
        Some(end) if trailer.is_none() && end + TRAILER > bytes.len() => Err(ErrorKind::Truncated),
        _ => Err(ErrorKind::BodyLength),
    }
}
