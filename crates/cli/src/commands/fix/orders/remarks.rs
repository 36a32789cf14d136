//! What the user should know of the logs of orders beside the report.

use std::path::PathBuf;

use files::display;
use fixlog::orders::Book;
use report::units;

use crate::term::message;

/// What says that the logs are not what they seem, or too much for what is remembered.
pub(super) fn remarks(book: &Book, files: &[PathBuf]) {
    let seconds = |ns: i64| format!("{:.1} s", ns as f64 / 1e9);
    if let Some(back) = book.back() {
        let times = match back.times {
            1 => String::new(),
            times => format!("; there are {times} such places"),
        };
        let what = format!(
            "{}: at {}, time goes back by {}{times}",
            name(files, back.log),
            place(back.offset, back.line),
            seconds(back.ns)
        );
        message::note(
            &what,
            "of logs that were put together, give each as a file of its own: they are read in the order of their times",
        );
    }
    unordered(book, files);
    if book.drop_copies() > 0 {
        let what = format!("{} executions are drop copies", book.drop_copies());
        message::note(
            &what,
            "they say again what another session has, and count as no orders",
        );
    }
    clocks(book);
    if book.forgotten() > 0 {
        message::note(
            &format!("{} ended orders are no longer remembered", book.forgotten()),
            "what came for them later counts as orders begun before the logs",
        );
    }
}

/// A log that was not written in the order in which its messages were sent.
fn unordered(book: &Book, files: &[PathBuf]) {
    let Some(unordered) = book.unordered() else {
        return;
    };
    let place = place(unordered.offset, unordered.line);
    let place = format!("{place} of {}", name(files, unordered.log));
    if unordered.far > 0 {
        let orders = match unordered.far {
            1 => "1 order comes".to_owned(),
            far => format!("{far} orders come"),
        };
        let what = format!(
            "{orders} long after the answers; the first message out of order is at {place}"
        );
        message::note(
            &what,
            "they were matched by their ids and times; of logs that were put together, such as one for each direction, \
             give each as a file of its own: they are read in the order of their times",
        );
    }
    if unordered.moved > 0 {
        let messages = match unordered.moved {
            1 => "1 message is".to_owned(),
            moved => format!("{moved} messages are"),
        };
        let what = format!("{messages} behind some that were sent later, the first one at {place}");
        message::note(
            &what,
            "they were put in order: that is done within 1,024 messages and 2 s",
        );
    }
}

fn name(files: &[PathBuf], log: usize) -> String {
    files
        .get(log)
        .map_or_else(String::new, |path| display(path))
}

/// A place in a log.
fn place(offset: u64, line: Option<u64>) -> String {
    match line {
        Some(line) => format!("line {line}"),
        None => format!("byte {offset}"),
    }
}

/// Names the clocks that differ by a good part of the time from one party to the next: the times of orders are between
/// the stamps of two parties, and have that part in them.
fn clocks(book: &Book) {
    const NAMED: usize = 5;
    /// Clocks that differ by less than this part of the time of an answer say nothing of it.
    const PART: u64 = 20;
    let mut apart: Vec<_> = book
        .hops()
        .into_iter()
        .filter_map(|hop| {
            let (ahead, word) = match (hop.offset_ns, hop.ahead_at_most_ns) {
                (Some(ns), _) => (ns, ""),
                (None, Some(ns)) if ns < 0 => (ns, "at least "),
                _ => return None,
            };
            let mean_ns = hop.stamped_mean_ns.map_or(0, i64::unsigned_abs);
            let is_much = ahead != 0 && ahead.unsigned_abs().saturating_mul(PART) >= mean_ns;
            is_much.then_some((ahead, word, hop))
        })
        .collect();
    apart.sort_by_key(|(ahead, ..)| std::cmp::Reverse(ahead.unsigned_abs()));
    for (ahead, word, hop) in apart.into_iter().take(NAMED) {
        let [from, to] = [&hop.from, &hop.to].map(|name| name.escape_ascii().to_string());
        let (fast, slow) = if ahead > 0 {
            (&to, &from)
        } else {
            (&from, &to)
        };
        let far = units::duration(ahead.unsigned_abs() as f64);
        let sign = if ahead > 0 { "too long" } else { "too short" };
        let help = match word {
            "" => "the timeline and times of hops are corrected, those of orders are not",
            _ => {
                "nothing came back to compare with: perfkit fix health compares each clock with that of the log"
            }
        };
        let early = match hop.early[0] {
            0 => String::new(),
            early => format!("; {early} messages of {to} are stamped before their cause"),
        };
        message::note(
            &format!(
                "the clock of {fast} is {word}{far} ahead of that of {slow}: times from an order of {from} to an \
                 answer of {to} are {sign} by that{early}"
            ),
            help,
        );
    }
}
