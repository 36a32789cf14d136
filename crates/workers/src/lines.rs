//! The lines of several shards as one line an event.

use bytes::Bytes;
use memchr::memmem;

use crate::merge::MergeError;

/// The lines of one answer of `betree match`, `{"event":1,"ids":[…]}`, made of those of several shards: each event has
/// the ids of all, in ascending order where all are integers.
///
/// # Errors
///
/// If shards have lines of different events.
pub fn join_lines(parts: &[Bytes], out: &mut Vec<u8>) -> Result<(), MergeError> {
    let [first, others @ ..] = parts else {
        return Ok(());
    };
    if others.is_empty() {
        out.extend_from_slice(first);
        return Ok(());
    }
    let mut rests: Vec<&[u8]> = others.iter().map(AsRef::as_ref).collect();
    let mut ids = Vec::new();
    for line in first.split_inclusive(|byte| *byte == b'\n') {
        let (head, own) = parse(line)?;
        ids.clear();
        split_ids(own, &mut ids);
        for rest in &mut rests {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (other, tail) = rest.split_at(end);
            *rest = tail;
            let (other_head, other_ids) = parse(other)?;
            if other_head != head {
                return Err(different(head, other_head));
            }
            split_ids(other_ids, &mut ids);
        }
        if let Some(mut numbers) = integers(&ids) {
            numbers.sort_unstable();
            ids = numbers.into_iter().map(|(_, text)| text).collect();
        }
        out.extend_from_slice(head);
        out.extend_from_slice(&ids.join(&b','));
        out.extend_from_slice(b"]}\n");
    }
    match rests.iter().find(|rest| !rest.is_empty()) {
        Some(rest) => Err(different(b"the end", rest)),
        None => Ok(()),
    }
}

fn different(one: &[u8], other: &[u8]) -> MergeError {
    let shown = |bytes: &[u8]| {
        let text: String = String::from_utf8_lossy(bytes).chars().take(80).collect();
        text.escape_debug().to_string()
    };
    MergeError::Different(format!("'{}' and '{}'", shown(one), shown(other)))
}

/// The start of a line up to its ids, and the ids.
fn parse(line: &[u8]) -> Result<(&[u8], &[u8]), MergeError> {
    const IDS: &[u8] = b"\"ids\":[";
    let found = memmem::find(line, IDS).map(|at| line.split_at(at + IDS.len()));
    let parsed = found.and_then(|(head, rest)| {
        let rest = rest.strip_suffix(b"\n").unwrap_or(rest);
        Some((head, rest.strip_suffix(b"]}")?))
    });
    parsed.ok_or_else(|| different(b"a line of `--format json`", line))
}

/// Ids between commas, of which strings may have some inside.
fn split_ids<'a>(ids: &'a [u8], out: &mut Vec<&'a [u8]>) {
    let (mut start, mut in_string, mut escaped) = (0, false, false);
    for (at, byte) in ids.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' if !in_string => {
                out.push(&ids[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < ids.len() {
        out.push(&ids[start..]);
    }
}

fn integers<'a>(ids: &[&'a [u8]]) -> Option<Vec<(u64, &'a [u8])>> {
    let integer = |text: &&'a [u8]| Some((std::str::from_utf8(text).ok()?.parse().ok()?, *text));
    ids.iter().map(integer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Bytes {
        Bytes::copy_from_slice(text.as_bytes())
    }

    #[test]
    fn lines_of_shards_become_one() {
        let joined = |parts: &[&str]| {
            let parts: Vec<Bytes> = parts.iter().map(|part| bytes(part)).collect();
            let mut out = Vec::new();
            join_lines(&parts, &mut out).map(|()| String::from_utf8(out).unwrap())
        };
        let one = "{\"event\":1,\"ids\":[2,30]}\n{\"event\":2,\"ids\":[]}\n";
        let other = "{\"event\":1,\"ids\":[1,9]}\n{\"event\":2,\"ids\":[7]}\n";
        let both = "{\"event\":1,\"ids\":[1,2,9,30]}\n{\"event\":2,\"ids\":[7]}\n";
        assert_eq!(joined(&[one, other]), Ok(both.to_owned()));
        assert_eq!(joined(&[one]), Ok(one.to_owned()));
        let named = joined(&[
            "{\"event\":1,\"id\":\"x\",\"ids\":[\"b,\\\"\"]}\n",
            "{\"event\":1,\"id\":\"x\",\"ids\":[\"a\"]}\n",
        ]);
        let expected = "{\"event\":1,\"id\":\"x\",\"ids\":[\"b,\\\"\",\"a\"]}\n";
        assert_eq!(named.as_deref(), Ok(expected));
        for wrong in ["{\"event\":2,\"ids\":[]}\n", "", "x\n"] {
            assert!(joined(&[one, wrong]).is_err(), "{wrong}");
        }
        let longer = format!("{other}{{\"event\":3,\"ids\":[]}}\n");
        assert!(joined(&[one, &longer]).is_err());
    }
}
