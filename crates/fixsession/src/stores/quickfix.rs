//! The files of QuickFIX for C++: `header` has triples of text, `seqnums` both next numbers, `session` a time.

use std::io::BufRead as _;
use std::path::Path;

use fixcore::Timestamp;

use super::parts::{FileFormat, ForeignError, Index, Numbers, Place, decimal, path, reader, small};

/// The longest triple of a header.
const TRIPLE_BYTES_MAX: usize = 3 * 20 + 3;

/// The header: `num,offset,size ` for each message.
pub(super) fn index(prefix: &Path) -> Result<Index, ForeignError> {
    let header = path(prefix, "header");
    let mut reader = reader(&header)?;
    let mut index = Index::default();
    let mut triple = Vec::with_capacity(TRIPLE_BYTES_MAX);
    let mut at = 0;
    loop {
        triple.clear();
        let mut limited = std::io::Read::take(&mut reader, TRIPLE_BYTES_MAX as u64 + 1);
        let read = limited.read_until(b' ', &mut triple);
        read.map_err(ForeignError::io("read", &header))?;
        if triple.is_empty() {
            return Ok(index);
        }
        let place = triple.strip_suffix(b" ").and_then(|numbers| {
            let mut numbers = numbers.split(|byte| *byte == b',').map(decimal);
            let mut next = || numbers.next().flatten();
            let (number, offset, bytes) = (next()?, next()?, next()?);
            let place = Place {
                offset,
                bytes,
                stated_at: at,
            };
            numbers.next().is_none().then_some((number, place))
        });
        let Some((number, place)) = place else {
            let what = format!(
                "found '{}', expected 'number,offset,size '",
                triple.escape_ascii()
            );
            return Err(ForeignError::damaged(&header, at, what));
        };
        index.add(&header, number, place)?;
        at += triple.len() as u64;
    }
}

/// The next numbers and the time, and by how many digits they are stated.
pub(super) fn numbers(prefix: &Path) -> Result<(Numbers, FileFormat), ForeignError> {
    let seqnums = path(prefix, "seqnums");
    let bytes = small(&seqnums)?;
    let text = bytes.trim_ascii_end();
    let split = text.windows(3).position(|three| three == b" : ");
    let both = split.and_then(|at| {
        let sender = decimal(text.get(..at)?).filter(|number| *number > 0)?;
        let target = decimal(text.get(at + 3..)?).filter(|number| *number > 0)?;
        Some((sender, target, at))
    });
    let Some((next_sender, next_target, digits)) = both else {
        let what = format!(
            "found '{}', expected both next numbers as 'sender : target', from 1",
            bytes.escape_ascii()
        );
        return Err(ForeignError::damaged(&seqnums, 0, what));
    };
    let format = match digits {
        10 => FileFormat::QuickFix115,
        _ => FileFormat::QuickFix,
    };
    let session = path(prefix, "session");
    let bytes = small(&session)?;
    let numbers = Numbers {
        next_sender,
        next_target,
        created: time(&session, 0, bytes.trim_ascii())?,
    };
    Ok((numbers, format))
}

/// A time of UTC.
pub(super) fn time(path: &Path, offset: u64, text: &[u8]) -> Result<Timestamp, ForeignError> {
    Timestamp::parse(text).ok_or_else(|| {
        let found = text.escape_ascii();
        let what = format!("found '{found}', expected a time as 20260102-03:04:05");
        ForeignError::damaged(path, offset, what)
    })
}

/// The triple of a message.
pub(super) fn triple(number: u64, place: Place) -> Vec<u8> {
    format!("{number},{},{} ", place.offset, place.bytes).into_bytes()
}

/// The files of numbers, by their endings.
pub(super) fn files(numbers: Numbers, format: FileFormat) -> Vec<(&'static str, Vec<u8>)> {
    let Numbers {
        next_sender,
        next_target,
        created,
    } = numbers;
    let seqnums = match format {
        FileFormat::QuickFix115 => format!("{next_sender:010} : {next_target:010}"),
        _ => format!("{next_sender:020} : {next_target:020}"),
    };
    const SECONDS_BYTES: usize = 17;
    let session = created.to_millis()[..SECONDS_BYTES].to_vec();
    vec![("session", session), ("seqnums", seqnums.into_bytes())]
}
