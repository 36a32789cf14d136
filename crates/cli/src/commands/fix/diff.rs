//! `perfkit fix diff`: what two logs have otherwise, as lines of JSON and counts.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use files::output::Output;
use fixcore::Message;
use fixlog::diff::{Counts, Diff, Event, Options};
use fixlog::{Filter, Lines};
use latency::report::{Table, Unit};
use report::{ExitStatus, Outcome};

use crate::commands::fix::conclude::{BAD_NAMED, conclude_bad, ended_file, lines, write_out};
use crate::commands::fix::flags::DiffArgs;
use crate::commands::fix_logs::{self, Inputs};
use crate::commands::stop::{Stop, stopped};
use crate::failure::Failure;
use crate::io::context;
use crate::term::progress::Progress;
use crate::term::signal;

/// Output that is gathered while there is more to read.
const OUTPUT_BYTES: usize = 64 << 10;

/// What was found so far.
struct Found<'a> {
    files: &'a [PathBuf; 2],
    outcome: &'a mut Outcome,
    out: Vec<u8>,
    named: Vec<(usize, u64, String)>,
}

/// Compares, and says what came of it.
pub(super) fn run(args: &DiffArgs, filter: Filter, outcome: &mut Outcome) {
    let terminal = &args.output.terminal;
    let shows_progress = terminal.wants_progress() && !std::io::stdout().is_terminal();
    let options = Options::new()
        .by(args.by.into())
        .ignore(&args.ignore)
        .window(args.window as usize)
        .separator(args.separator.into())
        .accept(args.accept.accepted())
        .filter(filter);
    let files = [args.first.clone(), args.second.clone()];
    let progress = Progress::late(shows_progress, fix_logs::bytes_of(&files));
    let logs = files
        .each_ref()
        .map(|file| Inputs::new(std::slice::from_ref(file)).count(progress.counter()));
    let mut diff = Diff::new(logs, &options);
    let mut found = Found {
        files: &files,
        outcome,
        out: Vec::new(),
        named: Vec::new(),
    };
    let result = found.all(&mut diff);
    progress.finish();
    let named = found.named;
    if let Err(stop) = result {
        stopped(stop, outcome);
    }
    conclude(diff.counts(), named, &files, outcome);
}

impl Found<'_> {
    fn all(&mut self, diff: &mut Diff<Inputs<'_>>) -> Result<(), Stop> {
        let failed = |error| Failure::io("write", Path::new("standard output"), &error);
        let mut file = Output::stdout(context()).map_err(failed)?;
        while !signal::interrupted() {
            let step = diff.step(&|| false, &mut |event| self.visit(event));
            let more = step.map_err(|error| fix_logs::failure(self.files, error))?;
            if !more {
                break;
            }
            if self.out.len() >= OUTPUT_BYTES {
                self.outcome.bytes_out += write_out(&mut file, &self.out)?;
                self.out.clear();
            }
        }
        if !signal::interrupted() {
            diff.rest(&mut |event| self.visit(event));
        }
        self.outcome.bytes_out += write_out(&mut file, &self.out)?;
        Ok(())
    }

    fn visit(&mut self, event: Event<'_>) {
        let (out, lines) = (&mut self.out, lines());
        match event {
            Event::Only {
                log,
                offset,
                line,
                message,
            } => {
                let name = ["a", "b"][log];
                let _ = write!(out, "{{\"only\":\"{name}\",\"offset\":{offset},");
                line_of(out, "line", line);
                identity(out, lines, message);
                out.extend_from_slice(b"}\n");
            }
            Event::Different {
                offsets: [a, b],
                lines: [a_line, b_line],
                message,
                differences,
            } => {
                let _ = write!(out, "{{\"a\":{a},\"b\":{b},");
                line_of(out, "a_line", a_line);
                line_of(out, "b_line", b_line);
                identity(out, lines, message);
                out.extend_from_slice(b",\"differences\":[");
                let mut comma = "";
                for field in differences {
                    let _ = write!(out, "{comma}[{},", field.tag);
                    comma = ",";
                    optional(out, lines, field.first);
                    out.push(b',');
                    optional(out, lines, field.second);
                    out.push(b']');
                }
                out.extend_from_slice(b"]}\n");
            }
            Event::Bad { log, offset, error } if self.named.len() < BAD_NAMED => {
                self.named.push((log, offset, error));
            }
            Event::Ended { log, bytes } => {
                ended_file(self.files, log, bytes, None, self.outcome);
            }
            _ => {}
        }
    }
}

fn line_of(out: &mut Vec<u8>, name: &str, line: Option<u64>) {
    if let Some(line) = line {
        let _ = write!(out, "\"{name}\":{line},");
    }
}

fn identity(out: &mut Vec<u8>, lines: Lines, message: &Message<'_, '_>) {
    out.extend_from_slice(b"\"msg_type\":");
    lines.string(out, message.msg_type());
    for (name, tag) in [
        ("sender", 49),
        ("target", 56),
        ("number", 34),
        ("order", 11),
    ] {
        if let Some(value) = message.get(tag) {
            let _ = write!(out, ",\"{name}\":");
            lines.string(out, value);
        }
    }
}

fn optional(out: &mut Vec<u8>, lines: Lines, value: Option<&[u8]>) {
    match value {
        Some(value) => lines.string(out, value),
        None => out.extend_from_slice(b"null"),
    }
}

fn conclude(
    counts: &Counts,
    named: Vec<(usize, u64, String)>,
    files: &[PathBuf],
    outcome: &mut Outcome,
) {
    let [only_a, only_b] = counts.only;
    let params = &mut outcome.workload.params;
    params.insert("messages_bad".to_owned(), counts.bad.into());
    params.insert("messages_accepted".to_owned(), counts.accepted.into());
    outcome.ops = Some(2 * (counts.same + counts.different) + only_a + only_b);
    outcome.bytes_content = outcome.bytes_in;
    let columns = ["same", "different", "only_a", "only_b"].map(|name| (name, Unit::Count));
    let mut table = Table::new("messages", &columns);
    let row = [counts.same, counts.different, only_a, only_b];
    table.rows.push(row.into_iter().map(Into::into).collect());
    outcome.tables.push(table);
    if !counts.tags.is_empty() {
        let columns = [("tag", Unit::Count), ("messages", Unit::Count)];
        let mut table = Table::new("tags that differ", &columns);
        let mut tags: Vec<_> = counts.tags.iter().collect();
        tags.sort_by_key(|(tag, count)| (std::cmp::Reverse(**count), **tag));
        for (tag, count) in tags.into_iter().take(100) {
            table
                .rows
                .push(vec![u64::from(*tag).into(), (*count).into()]);
        }
        outcome.tables.push(table);
    }
    conclude_bad(counts.bad, named, files, outcome);
    let differs = counts.different + only_a + only_b > 0;
    if differs && matches!(outcome.status, ExitStatus::Ok | ExitStatus::Partial) {
        outcome.status = ExitStatus::Failure;
    }
}
