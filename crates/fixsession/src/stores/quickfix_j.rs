//! The files of QuickFIX/J: a binary `header`, and text with its length before it for numbers and the time.

use std::io::Read as _;
use std::path::Path;

use super::parts::{ForeignError, Index, Numbers, Place, decimal, path, reader, small};
use super::quickfix::time;

/// An entry of the header: number, offset and size.
const ENTRY_BYTES: usize = 4 + 8 + 4;

/// The header: for each message an `int`, a `long` and an `int`, the highest byte first.
pub(super) fn index(prefix: &Path) -> Result<Index, ForeignError> {
    let header = path(prefix, "header");
    let mut reader = reader(&header)?;
    let mut index = Index::default();
    let mut at = 0;
    loop {
        let mut entry = Vec::with_capacity(ENTRY_BYTES);
        let read = (&mut reader)
            .take(ENTRY_BYTES as u64)
            .read_to_end(&mut entry);
        read.map_err(ForeignError::io("read", &header))?;
        if entry.is_empty() {
            return Ok(index);
        }
        let place = parse(&entry, at);
        let Some((number, place)) = place else {
            let what = format!(
                "found {} bytes '{}', expected an entry of {ENTRY_BYTES} bytes",
                entry.len(),
                entry.escape_ascii()
            );
            return Err(ForeignError::damaged(&header, at, what));
        };
        index.add(&header, number, place)?;
        at += ENTRY_BYTES as u64;
    }
}

fn parse(entry: &[u8], stated_at: u64) -> Option<(u64, Place)> {
    let (number, rest) = entry.split_first_chunk::<4>()?;
    let (offset, rest) = rest.split_first_chunk::<8>()?;
    let bytes = rest.first_chunk::<4>()?;
    let place = Place {
        offset: u64::try_from(i64::from_be_bytes(*offset)).ok()?,
        bytes: u64::try_from(i32::from_be_bytes(*bytes)).ok()?,
        stated_at,
    };
    let number = u64::try_from(i32::from_be_bytes(*number)).ok()?;
    Some((number, place))
}

/// The next numbers and the time.
pub(super) fn numbers(prefix: &Path) -> Result<Numbers, ForeignError> {
    let number = |ending| {
        let file = path(prefix, ending);
        let bytes = small(&file)?;
        let digits = text(&file, &bytes)?;
        decimal(digits).filter(|number| *number > 0).ok_or_else(|| {
            let what = format!(
                "found '{}', expected a number from 1",
                digits.escape_ascii()
            );
            ForeignError::damaged(&file, 2, what)
        })
    };
    let session = path(prefix, "session");
    let bytes = small(&session)?;
    Ok(Numbers {
        next_sender: number("senderseqnums")?,
        next_target: number("targetseqnums")?,
        created: time(&session, 2, text(&session, &bytes)?)?,
    })
}

/// The text at the beginning of a file. What follows is left of a longer one.
fn text<'b>(path: &Path, bytes: &'b [u8]) -> Result<&'b [u8], ForeignError> {
    let split = bytes.split_first_chunk::<2>();
    let text = split.and_then(|(length, rest)| {
        let length = usize::from(u16::from_be_bytes(*length));
        rest.get(..length)
    });
    text.ok_or_else(|| {
        let what = format!(
            "found {} bytes, expected a length of two bytes and a text",
            bytes.len()
        );
        ForeignError::damaged(path, 0, what)
    })
}

/// The entry of a message; `None` if a number is too large for it.
pub(super) fn entry(number: u64, place: Place) -> Option<Vec<u8>> {
    let number = i32::try_from(number).ok()?;
    let offset = i64::try_from(place.offset).ok()?;
    let bytes = i32::try_from(place.bytes).ok()?;
    let mut entry = number.to_be_bytes().to_vec();
    entry.extend(offset.to_be_bytes());
    entry.extend(bytes.to_be_bytes());
    Some(entry)
}

/// The files of numbers, by their endings.
pub(super) fn files(numbers: Numbers) -> Vec<(&'static str, Vec<u8>)> {
    let text = |text: &[u8]| {
        // The texts are shorter than 65,536 bytes.
        let mut bytes = (text.len() as u16).to_be_bytes().to_vec();
        bytes.extend_from_slice(text);
        bytes
    };
    vec![
        ("session", text(&numbers.created.to_millis())),
        (
            "targetseqnums",
            text(numbers.next_target.to_string().as_bytes()),
        ),
        (
            "senderseqnums",
            text(numbers.next_sender.to_string().as_bytes()),
        ),
    ]
}
