//! `perfkit fix settings`: what a settings file does, line by line, and which keys there are.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use files::source::Source;
use fixcore::Timestamp;
use fixsession::Role;
use fixsession::settings::{Check, Key, LineKind, Service, SessionSettings, SettingsError, keys};
use fixsession::stores::store_name;
use latency::report::{Table, Unit};
use report::{ExitStatus, plain};

use crate::commands::fix::conclude::named_some;
use crate::commands::fix::settings_flags::{SettingsArgs, SettingsCheckArgs, SettingsCommand};
use crate::commands::found::Found;
use crate::failure::Result;
use crate::io::context;
use crate::term::message;

/// More of a file is not read: the library refuses it by its length.
const FILE_BYTES_MAX: usize = (16 << 20) + 1;
/// Problems that are shown to people.
const SHOWN_MAX: usize = 100;

/// Runs the command.
pub(super) fn run(
    args: &SettingsArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    match &args.command {
        SettingsCommand::Check(args) => check(args, name, argv),
        SettingsCommand::Keys(_) => {
            message::output(table().as_bytes())?;
            Ok(ExitStatus::Ok)
        }
    }
}

fn check(args: &SettingsCheckArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let columns = [
        ("file", Unit::Text),
        ("line", Unit::Count),
        ("kind", Unit::Text),
        ("problem", Unit::Text),
    ];
    let mut found = Found::start(name, argv, &args.output, Table::new("problems", &columns))?;
    let text = content(&args.file)?;
    let mut check = Check::new(&text, &args.file, &|name| std::env::var(name).ok());
    add_unusable(&mut check, &args.file);
    // A file without sessions is none of settings: its lines say nothing.
    let explains = args.output.terminal.wants_warnings() && !check.sessions.is_empty();
    if explains && found.wants_text() {
        message::output(explained(&check).as_bytes())?;
    }
    let problems = problems(&check);
    for (at, (kind, problem)) in problems.iter().enumerate() {
        let line = || match explains || at >= SHOWN_MAX {
            true => String::new(),
            false => problem_line(kind, problem),
        };
        found.add(line, || {
            vec![
                problem.file.display().to_string().into(),
                (problem.line > 0).then_some(u64::from(problem.line)).into(),
                (*kind).into(),
                problem.problem.to_string().into(),
            ]
        })?;
    }
    if problems.len() > SHOWN_MAX && found.wants_text() {
        let all = problems.len() as u64;
        named_some(SHOWN_MAX, all, "problems", "--export-json FILE has all");
    }
    let counts = [
        ("session", check.sessions.len()),
        ("error", check.errors.len()),
        ("warning", check.warnings.len()),
    ];
    let count = |at: usize| u64::try_from(counts[at].1).unwrap_or(u64::MAX);
    found.summary([
        ("sessions", count(0)),
        ("errors", count(1)),
        ("warnings", count(2)),
    ]);
    if found.wants_lines() {
        let words = counts.map(|(one, count)| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {one}s"),
        });
        message::status(&words.join(", "));
    }
    found.finish(match check.errors.is_empty() {
        true => ExitStatus::Ok,
        false => ExitStatus::Failure,
    })
}

/// Adds what the settings name and a session could not use.
#[cfg(target_os = "linux")]
fn add_unusable(check: &mut Check, file: &Path) {
    let found = fixsession::engine::Engine::unusable(&check.sessions, file);
    check.errors.extend(found);
}

/// There are no sessions here.
#[cfg(not(target_os = "linux"))]
fn add_unusable(_: &mut Check, _: &Path) {}

fn content(path: &Path) -> Result<Vec<u8>> {
    let mut source = Source::open(path, context())?;
    let mut text = Vec::new();
    while text.len() < FILE_BYTES_MAX {
        let piece = source.next_buffer().map_err(|error| source.error(error))?;
        if piece.is_empty() {
            break;
        }
        text.extend_from_slice(&piece);
    }
    Ok(text)
}

/// What is wrong, by lines.
fn problems(check: &Check) -> Vec<(&'static str, &SettingsError)> {
    let errors = check.errors.iter().map(|error| ("error", error));
    let warnings = check.warnings.iter().map(|warning| ("warning", warning));
    let mut all: Vec<_> = errors.chain(warnings).collect();
    all.sort_by_key(|(_, found)| found.line);
    all
}

fn problem_line(kind: &str, found: &SettingsError) -> String {
    let (file, problem) = (found.file.display(), &found.problem);
    let line = match found.line {
        0 => format!("{file}: {kind}: {problem}"),
        line => format!("{file}:{line}: {kind}: {problem}"),
    };
    format!("{}\n", plain::visible(&line))
}

/// Every line with what it does and what is wrong with it, and the defaults that hold.
fn explained(check: &Check) -> String {
    let mut wrong: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (kind, found) in problems(check).into_iter().take(SHOWN_MAX) {
        let lines = wrong.entry(found.line).or_default();
        lines.push(format!("{kind}: {}", found.problem));
    }
    let mut out = String::new();
    let now = now();
    for checked in &check.lines {
        // Lines that are no key and no section, but wrong.
        let later = wrong.split_off(&checked.line);
        let before = std::mem::replace(&mut wrong, later);
        before
            .iter()
            .for_each(|(line, wrong)| other(&mut out, *line, wrong));
        let line = checked.line;
        match &checked.kind {
            LineKind::Section { name, session } => {
                let settings = session.and_then(|at| check.sessions.get(at));
                let text = match settings {
                    None => format!("[{name}]"),
                    Some(settings) => format!("[{name}] {}", settings.session.id),
                };
                heading(&mut out, line, &text);
                if let Some(settings) = settings {
                    detail(&mut out, &summary(settings, now));
                }
            }
            LineKind::Key {
                stated,
                value,
                key,
                sessions,
            } => {
                heading(&mut out, line, &format!("{stated}={value}"));
                if let Some(key) = key.filter(|key| key.service == Service::Served) {
                    detail(&mut out, &effect(key, value, *sessions));
                }
            }
            _ => {}
        }
        for wrong in wrong.remove(&line).unwrap_or_default() {
            detail(&mut out, &wrong);
        }
    }
    wrong
        .iter()
        .for_each(|(line, wrong)| other(&mut out, *line, wrong));
    if !check.holds.is_empty() {
        out.push_str("defaults\n");
    }
    for holds in &check.holds {
        let Key { name, default, .. } = holds.key;
        heading(&mut out, 0, &format!("{name}={default}"));
        detail(&mut out, &effect(holds.key, default, holds.sessions));
    }
    out
}

/// What a value does, and for how many sessions.
fn effect(key: &Key, value: &str, sessions: usize) -> String {
    let state = match (key.takes, value) {
        ("Y or N", "Y" | "y") => ", on",
        ("Y or N", "N" | "n") => ", off",
        _ => "",
    };
    format!("{}{state}: {}", many(sessions), key.what)
}

fn heading(out: &mut String, line: u32, text: &str) {
    let number = if line == 0 {
        String::new()
    } else {
        line.to_string()
    };
    let _ = writeln!(out, "{number:>5} {}", plain::visible(text));
}

fn detail(out: &mut String, text: &str) {
    let _ = writeln!(out, "        {}", plain::visible(text));
}

fn other(out: &mut String, line: u32, wrong: &[String]) {
    for wrong in wrong {
        heading(out, line, wrong);
    }
}

fn many(sessions: usize) -> String {
    match sessions {
        0 => "no session".to_owned(),
        1 => "1 session".to_owned(),
        _ => format!("{sessions} sessions"),
    }
}

/// Who connects, when it is open, and where its store is.
fn summary(settings: &SessionSettings, now: Timestamp) -> String {
    let kind = match (settings.is_template, settings.session.role) {
        (true, _) => "template of acceptors",
        (false, Role::Acceptor) => "acceptor",
        (false, Role::Initiator) => "initiator",
    };
    let seconds = |at: Timestamp| {
        let text = at.to_millis();
        String::from_utf8_lossy(&text[..17]).into_owned()
    };
    let schedule = &settings.schedule;
    let open = match (schedule.interval_at(now), schedule.next_change(now)) {
        (Some(_), None) => "always open".to_owned(),
        (Some(interval), Some(_)) => format!("open until {} UTC", seconds(interval.end)),
        (None, Some(next)) => format!("closed until {} UTC", seconds(next)),
        (None, None) => "never open".to_owned(),
    };
    let store = match &settings.storage.path {
        None => "its numbers are kept in memory only".to_owned(),
        Some(path) if settings.is_template => format!("stores in {}", path.display()),
        Some(path) => {
            let store = path.join(store_name(&settings.session.id));
            format!("its store is {}", store.display())
        }
    };
    format!("{kind}, {open}; {store}")
}

fn now() -> Timestamp {
    let ns = jiff::Timestamp::now().as_nanosecond();
    Timestamp(i64::try_from(ns).unwrap_or(i64::MAX))
}

/// All keys as Markdown, a table for each group.
fn table() -> String {
    let mut out = String::new();
    let mut group = None;
    for key in keys() {
        if group.replace(key.group) != Some(key.group) {
            let gap = if out.is_empty() { "" } else { "\n" };
            let title = key.group.title();
            let _ = write!(
                out,
                "{gap}### {title}\n\n| key | takes | default | what it does |\n|---|---|---|---|\n"
            );
        }
        let names: Vec<String> = [key.name]
            .iter()
            .chain(key.aliases)
            .map(|name| format!("`{name}`"))
            .collect();
        let what = match key.service {
            Service::Served => key.what.to_owned(),
            Service::NoEffect => format!("**no effect**: {}", key.what),
            Service::Refused => format!("**refused**: {}", key.what),
        };
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            names.join(", "),
            cell(key.takes),
            cell(key.default),
            cell(&what)
        );
    }
    out
}
