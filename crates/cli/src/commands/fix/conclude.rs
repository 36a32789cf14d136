//! What all parts of `fix` do at the end: write lines, account for files, name bad messages, report an error.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use files::display;
use files::output::Output;
use fixlog::{Accept, AllFaults, Clock, Error, Lines, Statistics};
use latency::report::{Input, Table, Unit};
use report::plain::is_unfit;
use report::{ExitStatus, INPUTS_LISTED, Outcome, names};

use crate::commands::fix_logs;
use crate::commands::stop::Stop;
use crate::failure::Failure;
use crate::term::message;

/// Messages that a report names as bad.
pub(super) const BAD_NAMED: usize = 20;

/// What is written for a terminal and for programs: no character in it is obeyed by a terminal.
pub(super) fn lines() -> Lines {
    Lines::new().escape(is_unfit)
}

/// A log of this size without messages has ended. An empty one is whole: a session without traffic has one. Whoever
/// named any other meant something else.
pub(super) fn no_messages(
    files: &[PathBuf],
    file: usize,
    bytes: u64,
    warns: bool,
    outcome: &mut Outcome,
) {
    if bytes > 0 && outcome.status == ExitStatus::Ok {
        outcome.status = ExitStatus::Partial;
    }
    if !warns {
        return;
    }
    let name = files
        .get(file)
        .map_or_else(String::new, |path| display(path));
    let help = match files.get(file).and_then(|path| unpacker(path)) {
        _ if bytes == 0 => "it is empty".to_owned(),
        None if files.get(file).is_some_and(|path| is_utf_16(path)) => {
            "it is UTF-16: iconv -f UTF-16 -t UTF-8 FILE | perfkit fix …".to_owned()
        }
        Some(unpacker) => format!("it is compressed: {unpacker} FILE | perfkit fix …"),
        None => "messages begin with 8=FIX".to_owned(),
    };
    message::note(&format!("there are no messages in {name}"), &help);
}

/// The first bytes of a file. Of a pipe, they are gone.
fn first_bytes(path: &Path, most: u64) -> Vec<u8> {
    let mut first = Vec::new();
    if path.is_file()
        && let Ok(file) = std::fs::File::open(path)
    {
        // What cannot be read says nothing.
        let _ = file.take(most).read_to_end(&mut first);
    }
    first
}

/// Whether a file is text in units of two bytes, as some shells of Windows write it.
fn is_utf_16(path: &Path) -> bool {
    let first = first_bytes(path, 64);
    let is_letter = |at: usize| {
        first
            .get(at)
            .is_some_and(|byte| (b' '..=b'~').contains(byte))
    };
    let pairs = first.chunks_exact(2).enumerate().skip(1);
    let of = |own: usize| {
        let mut pairs = pairs
            .clone()
            .map(|(at, pair)| is_letter(2 * at + own) && pair[1 - own] == 0);
        pairs.len() > 3 && pairs.all(|is_wide| is_wide)
    };
    matches!(first.get(..2), Some(b"\xff\xfe" | b"\xfe\xff")) || of(0) || of(1)
}

/// The command that unpacks a file, if its first bytes say that it is compressed.
fn unpacker(path: &Path) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 3] = [
        (b"BZh", "bzcat"),
        (b"\xfd7zXZ", "xzcat"),
        (b"PK\x03\x04", "perfkit unzip -p"),
    ];
    let first = first_bytes(path, 8);
    let found = MAGIC.iter().find(|magic| first.starts_with(magic.0));
    found.map(|magic| magic.1)
}

/// A report that names the first of many says how many there are.
pub(super) fn named_some(named: usize, all: u64, what: &str, help: &str) {
    if all > named as u64 {
        let more = all - named as u64;
        message::note(
            &format!("the report names {named} {what}; {more} more are not named"),
            help,
        );
    }
}

/// The logs of both parties of a session have its messages twice, and the pieces of one log have parts of them.
pub(super) fn in_several_logs(stats: &Statistics) {
    if let (sessions, Some([one, other])) = stats.shared() {
        let text = format!(
            "{sessions} sessions, such as {} and {}, are in several logs: each log counts for itself, and the time of an \
             order counts once",
            one.escape_ascii(),
            other.escape_ascii()
        );
        message::note(&text, "if the files are pieces of one log: --one-log");
    }
}

/// Orders and executions that lack the time that is asked for are in no latency.
pub(super) fn untimed(stats: &Statistics, clock: Clock) {
    let (what, help) = match clock {
        Clock::Log => (
            "the time of the log",
            "--clock sending takes SendingTime (52)",
        ),
        _ => (
            "TransactTime (60)",
            "--clock sending takes SendingTime (52)",
        ),
    };
    let count = stats.untimed();
    if count > 0 {
        message::note(
            &format!("{count} orders and executions lack {what}: they are in no latency"),
            help,
        );
    }
}

/// Messages beyond the rows that are kept.
pub(super) fn ungrouped(stats: &Statistics) {
    let count = stats.ungrouped();
    if count > 0 {
        message::note(
            &format!("{count} messages are in no row of --group-by: it has 65,536 rows"),
            "count by a field with fewer values, or filter the messages",
        );
    }
}

/// What helps against faults that have a reason of their own: messages with a masked value have a wrong CheckSum, and
/// often a wrong BodyLength; and some logs have a separator that is not known.
pub(super) fn advice(faults: &AllFaults, messages: u64, accepted: Accept) {
    let classes = faults.classes();
    let count = |class: &str| {
        let found = classes.iter().find(|seen| seen.class == class);
        found.map_or(0, |seen| seen.count)
    };
    let unknown = count("separator not known");
    if unknown > 0 {
        message::note(
            &format!("of {unknown} messages it is not known what stands between fields"),
            "--separator TEXT states it, such as '##'",
        );
    }
    let (sums, lengths) = (count("checksum"), count("length"));
    let (what, help) = match (sums, lengths) {
        (0, 0) => return,
        (_, 0) => (
            "only a wrong CheckSum (10)",
            "--accept checksum counts them",
        ),
        _ => (
            "a wrong BodyLength (9) or CheckSum (10)",
            "--accept checksum,length counts those with nothing else wrong",
        ),
    };
    if accepted.checksum && accepted.length {
        return;
    }
    let wrong = sums + lengths;
    message::note(
        &format!("{wrong} of {messages} messages have {what}: are they masked?"),
        help,
    );
}

/// Whoever wants no message of a log may have misspelt what they want.
pub(super) fn no_match(messages: u64) {
    message::note(
        "no message passes the filters",
        &format!("{messages} messages were read"),
    );
}

/// What stayed as it was may say who, and only the user knows.
pub(super) fn left_values(left: &BTreeMap<u32, u64>) {
    const NAMED: usize = 8;
    let mut tags: Vec<_> = left.iter().collect();
    tags.sort_by_key(|(tag, values)| (std::cmp::Reverse(**values), **tag));
    let named = tags.iter().take(NAMED);
    let named = named.map(|(tag, values)| match values {
        1 => format!("tag {tag}: 1 value"),
        values => format!("tag {tag}: {values} values"),
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match tags.len().saturating_sub(NAMED) {
        0 => String::new(),
        1 => " and 1 more tag".to_owned(),
        more => format!(" and {more} more tags"),
    };
    message::note(
        &format!(
            "no dictionary has these fields, whose numbers and codes were left as they were: {named}{more}"
        ),
        "--also replaces them",
    );
}

/// Adds the first messages that are bad to what the report says, and how that ends the process.
pub(super) fn conclude_bad(
    bad: u64,
    named: Vec<(usize, u64, String)>,
    files: &[PathBuf],
    outcome: &mut Outcome,
) {
    if !named.is_empty() {
        let columns = [
            ("file", Unit::Text),
            ("offset", Unit::Count),
            ("error", Unit::Text),
        ];
        let mut table = Table::new("bad messages", &columns);
        for (file, offset, error) in named {
            let path = files.get(file).map(|path| names::path(path));
            let row = vec![path.unwrap_or_default().into(), offset.into(), error.into()];
            table.rows.push(row);
        }
        outcome.tables.push(table);
    }
    if bad > 0 && outcome.status == ExitStatus::Ok {
        outcome.status = ExitStatus::Partial;
    }
}

/// Writes to standard output; how many bytes that were.
pub(super) fn write_out(file: &mut Output, bytes: &[u8]) -> std::result::Result<u64, Stop> {
    match file.write_all(bytes) {
        Ok(()) => Ok(bytes.len() as u64),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Stop::Closed),
        Err(error) => Err(Failure::io("write", Path::new("standard output"), &error).into()),
    }
}

/// Adds a file that has ended to what the report says.
pub(super) fn ended_file(
    files: &[PathBuf],
    file: usize,
    bytes: u64,
    error: Option<Error>,
    outcome: &mut Outcome,
) {
    outcome.bytes_in += bytes;
    if let Some(error) = error {
        let failure = fix_logs::failure(files, error);
        message::failure(&failure);
        outcome.complete = false;
        outcome.status = match files.len() {
            1 => failure.exit_status(),
            _ => ExitStatus::Partial,
        };
        return;
    }
    outcome.workload.inputs_total += 1;
    if outcome.workload.inputs.len() < INPUTS_LISTED {
        let path = files.get(file).map(|path| names::path(path));
        outcome.workload.inputs.push(Input {
            path: path.unwrap_or_default(),
            bytes,
            xxh64: None,
        });
    }
}
