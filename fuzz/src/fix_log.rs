//! Logs of FIX messages: any bytes, whatever pieces they come in.

use std::io;

use fixcore::Decoder;
use fixcore::dict::Version;
use fixlog::{
    Block, Blocks, Found, Got, Job, Lines, Logs, Made, Messages, Place, Printer, Pseudonyms,
    Readers, RowForm, RowWriter, Rows, Scratch, Separator, Source, Task, Worker, Workers, split,
};

/// A log that brings a few bytes at a time.
struct Pieces<'d> {
    rest: &'d [u8],
    bytes: usize,
}

impl Source for Pieces<'_> {
    fn read(&mut self, room: &mut [u8], _: &dyn Fn() -> bool) -> io::Result<Got> {
        let count = self.rest.len().min(self.bytes).min(room.len());
        let (piece, rest) = self.rest.split_at(count);
        room[..count].copy_from_slice(piece);
        self.rest = rest;
        Ok(match count {
            0 => Got::End,
            count => Got::Bytes(count),
        })
    }
}

/// One log.
struct One<'d>(Option<Pieces<'d>>);

impl<'d> Logs for One<'d> {
    type Log = Pieces<'d>;

    fn open(&mut self, _: usize) -> Option<io::Result<Pieces<'d>>> {
        self.0.take().map(Ok)
    }
}

/// What was found, with its place, and how many bytes are in no message.
type All = (Vec<(u64, Result<Vec<u8>, String>)>, u64);

fn all(data: &[u8], bytes: usize, separator: Separator, lengths_differ: bool) -> All {
    let pieces = Pieces { rest: data, bytes };
    let mut blocks = Blocks::new(One(Some(pieces)), separator).lengths_differ(lengths_differ);
    let (mut block, mut messages) = (Block::default(), Messages::new());
    let (mut found, mut between_bytes) = (Vec::new(), 0);
    let mut decoder = Decoder::new();
    while blocks.next(&mut block, &|| false) {
        messages.each(&block, &mut |offset, what| {
            match what {
                Found::Message(bytes, _) => found.push((offset, Ok(bytes.to_vec()))),
                Found::Bad(why) => found.push((offset, Err(why.to_string()))),
                Found::Noise(bytes) => found.push((offset, Err(format!("{bytes} bytes of noise")))),
                Found::Between(bytes) => between_bytes += bytes,
                _ => {}
            }
            !matches!(what, Found::Message(bytes, _) if fixlog::parse(&mut decoder, bytes).is_err())
        });
    }
    (found, between_bytes)
}

/// Any bytes as a log: what is found lies in the log and in order, and does not depend on the pieces in
/// which it comes. A message that is valid has a pseudonym of the same form that is valid too, and text
/// and JSON.
pub fn fix_log(data: &[u8]) {
    for (separator, lengths_differ) in [
        (Separator::Auto, false),
        (Separator::Soh, false),
        (Separator::Caret, false),
        (Separator::Text(b"##"), false),
        (Separator::Auto, true),
        (Separator::Soh, true),
    ] {
        let whole = all(data, usize::MAX, separator, lengths_differ);
        for bytes in [1, 7] {
            assert_eq!(
                all(data, bytes, separator, lengths_differ),
                whole,
                "{bytes} bytes at a time"
            );
        }
        let (found, between_bytes) = whole;
        let places = found.iter().map(|found| found.0);
        assert!(places.clone().is_sorted());
        assert!(
            places
                .chain([between_bytes])
                .all(|at| at <= data.len() as u64)
        );
        let messages = found.iter().filter_map(|found| found.1.as_deref().ok());
        messages.for_each(message);
        if !lengths_differ {
            anonymized(data, separator);
        }
    }
}

/// The tags and lengths of a message.
type Form = Vec<(u32, usize)>;

/// The valid messages of a log, and their separators.
fn valid(log: &[u8], separator: Separator) -> (Vec<Form>, Vec<&'static [u8]>) {
    let (mut decoder, mut forms, mut separators) = (Decoder::new(), Vec::new(), Vec::new());
    let read = split(log, separator, |_, what| {
        if let Found::Message(bytes, separator) = what
            && let Ok(message) = decoder.parse(bytes)
        {
            let fields = message.fields();
            forms.push(fields.map(|field| (field.tag, field.value.len())).collect());
            separators.push(separator);
        }
    });
    read.expect("a slice is read");
    (forms, separators)
}

/// A log with pseudonyms has the messages of the log, with the same tags and lengths. Logs whose messages
/// have several separators are left out: which one a log has is told by its first message.
fn anonymized(data: &[u8], separator: Separator) {
    let (forms, separators) = valid(data, separator);
    if separators.windows(2).any(|pair| pair[0] != pair[1]) {
        return;
    }
    let pseudonyms = Pseudonyms::new(b"sixteen bytes ok").expect("it is long enough");
    let worker = Worker::new(Task::new(Job::Anonymize(&pseudonyms)));
    let mut hidden = Vec::new();
    let ended = Workers::new().separator(separator).run(
        &|| false,
        Readers::new([data]),
        vec![worker],
        |worker, block, made: &mut Made| worker.block(block, made),
        |_, made| {
            hidden.extend_from_slice(&made.out);
            Ok::<(), io::Error>(())
        },
    );
    assert!(ended.result.is_ok());
    assert_eq!(
        valid(&hidden, Separator::Auto).0,
        forms,
        "{}",
        hidden.escape_ascii()
    );
}

fn message(bytes: &[u8]) {
    let mut decoder = Decoder::new();
    let Ok(message) = decoder.parse(bytes) else {
        return;
    };
    let pseudonyms = Pseudonyms::new(b"sixteen bytes ok").expect("it is long enough");
    let hidden = pseudonyms
        .message(&message, &mut Scratch::default())
        .to_vec();
    assert_eq!(hidden.len(), bytes.len());
    let mut out = Vec::new();
    let place = Place {
        path: None,
        offset: 7,
        line: Some(9),
        origin: None,
    };
    Lines::new().message(&mut out, place, &message);
    let line: serde_json::Value = serde_json::from_slice(&out).expect("it is JSON");
    assert_eq!(line["fields"].as_array().map(Vec::len), Some(message.len()));
    out.clear();
    let names = [Version::Fix44.dictionary(), None];
    Printer::new(Lines::new()).message(&mut out, place, &message, names);
    let lines = out.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines, 1 + message.len());
    let mut writer = RowWriter::new(None);
    for separator in [&b"\x01"[..], b"|", b" | "] {
        let raw = Rows::new(RowForm::Raw, Lines::new());
        out.clear();
        writer.message(&raw, &mut out, place, (&message, separator), b"");
        let again = all(&out, out.len().max(1), Separator::Auto, false).0;
        assert!(
            again.iter().any(|(_, found)| found.as_deref() == Ok(bytes)),
            "{}",
            out.escape_ascii()
        );
    }
    let tags: Vec<_> = message.fields().map(|field| field.tag).collect();
    let hidden = decoder
        .parse(&hidden)
        .expect("a message with pseudonyms is valid");
    assert!(hidden.fields().map(|field| field.tag).eq(tags));
}
