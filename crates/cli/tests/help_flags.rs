//! Every flag that a `help:` line advises is one that the command has which prints it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::common::{self, commands, directory, run, words};
#[cfg(target_os = "linux")]
use crate::streams;

/// What messages of other programs' flags are about.
const OTHER_PROGRAMS: [&str; 6] = ["chmod", "ulimit", "head -c", "aws ", "gcloud", "apt"];

/// The commands that a source file speaks for, by the start of its path below `src/`: the first that
/// fits. Files that are not listed speak for no command in particular.
const SPEAKERS: [(&str, &[&str]); 21] = [
    ("commands/betree/workers/feed.rs", &["betree feed"]),
    ("commands/betree/workers/feeder.rs", &["betree feed"]),
    ("commands/betree/workers/join.rs", &["betree join"]),
    ("commands/betree/workers/matching.rs", &["betree match"]),
    ("commands/betree/workers/open.rs", &["betree match"]),
    ("commands/compress_bench/", &["compress-bench"]),
    ("commands/zip_bench/", &["zip-bench"]),
    ("commands/zip/", &["zip"]),
    ("commands/unzip/", &["unzip"]),
    ("commands/decompress/", &["decompress"]),
    ("commands/compress/", &["compress"]),
    ("commands/train/", &["compress"]),
    ("commands/list.rs", &["decompress"]),
    ("commands/frames.rs", &["decompress"]),
    ("commands/transfer/", &["compress", "decompress"]),
    ("commands/stress/", &["stress"]),
    ("commands/compare/", &["compare"]),
    ("commands/interleave.rs", &["compare"]),
    ("commands/report/", &["report"]),
    ("commands/env/", &["env"]),
    ("io/failures.rs", &["compress", "decompress"]),
];

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The texts of a source file that are given to `.help(…)`.
fn helps(source: &str) -> Vec<String> {
    let source = source
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or(source);
    let mut found = Vec::new();
    for call in source.split(".help(").skip(1) {
        let (mut depth, mut chars, mut text) = (1, call.chars(), String::new());
        while let Some(char) = chars.next().filter(|_| depth > 0) {
            match char {
                '(' => depth += 1,
                ')' => depth -= 1,
                '"' => {
                    while let Some(char) = chars.next().filter(|char| *char != '"') {
                        let escaped = if char == '\\' {
                            chars.next()
                        } else {
                            Some(char)
                        };
                        text.extend(escaped.filter(|char| *char != '\n'));
                    }
                    text.push(' ');
                }
                _ => {}
            }
        }
        found.push(text);
    }
    found
}

/// The flags in a text.
fn flags(text: &str) -> BTreeSet<String> {
    let words = text.split(|char: char| !char.is_ascii_alphanumeric() && char != '-');
    let is_flag = |word: &&str| match word.strip_prefix("--") {
        Some(long) => long.starts_with(|char: char| char.is_ascii_lowercase()),
        None => word.len() == 2 && word.starts_with('-') && !word.ends_with(['-', '0', '9']),
    };
    words.filter(is_flag).map(str::to_owned).collect()
}

/// The flags that a command has.
fn known(command: &str) -> BTreeSet<String> {
    let dir = directory();
    let help = run(dir.path(), words(&format!("{command} --help"))).expect(0);
    flags(help.text())
}

#[test]
fn advice_names_flags_that_the_command_has() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    let mut commands: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for path in &paths {
        let name = path
            .strip_prefix(&root)
            .expect("below it")
            .to_string_lossy()
            .into_owned();
        // Of flags that this build does not have.
        let is_built = cfg!(feature = "workers")
            || !(name.contains("stress/agents")
                || name.contains("betree/workers")
                || name.ends_with("flags/agents.rs"));
        let speaker = SPEAKERS.iter().find(|(start, _)| name.starts_with(start));
        let Some((_, speakers)) = speaker.filter(|_| is_built) else {
            continue;
        };
        for help in helps(&std::fs::read_to_string(path).expect("read")) {
            if OTHER_PROGRAMS.iter().any(|program| help.contains(program)) {
                continue;
            }
            // A command that is named is the one that the flags are of.
            let named = help.split_once("perfkit ").and_then(|(_, rest)| {
                rest.split(|char: char| !char.is_ascii_lowercase() && char != '-')
                    .next()
            });
            let speakers = named.map_or(speakers.to_vec(), |named| vec![named]);
            for command in speakers {
                let known = commands
                    .entry(command.to_owned())
                    .or_insert_with(|| known(command));
                for flag in flags(&help) {
                    checked += 1;
                    if !known.contains(&flag) {
                        wrong.push(format!("{name}: {command} has no {flag}: {help}"));
                    }
                }
            }
        }
    }
    assert!(checked > 60, "{checked} flags were found");
    assert_eq!(wrong, [""; 0]);
}

/// Flags of other programs, which texts name with them.
const OTHERS: [&str; 13] = [
    // cargo
    "--features",
    "--release",
    // nats stream edit
    "--discard",
    "--dupe-window",
    "--max-age",
    "--max-bytes",
    "--max-msgs",
    "--max-msgs-per-subject",
    "--subjects",
    // pytest-benchmark
    "--benchmark-save-data",
    // A run of itself, which no help shows
    "--once",
    "--once-bytes",
    // Several of this program: `--export-json` and so on.
    "--export",
];

/// Characters that are a quotation mark, as sources have them: no text begins there.
const CHARACTERS: [&str; 2] = ["'\"'", "'\\\"'"];

/// The texts of a source file, without those of its tests.
fn texts(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests").next();
    let mut rest = source.unwrap_or_default();
    let mut found = Vec::new();
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (before, here) = rest.split_at(at);
        if here.starts_with("//") {
            rest = here.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(after) = CHARACTERS.iter().find_map(|text| here.strip_prefix(text)) {
            rest = after;
        } else if let Some(inside) = here.strip_prefix('"') {
            let hashes = before.chars().rev().take_while(|char| *char == '#').count();
            let is_raw = before[..before.len() - hashes].ends_with('r');
            let (text, after) = match is_raw {
                true => inside
                    .split_once(&format!("\"{}", "#".repeat(hashes)))
                    .unwrap_or((inside, "")),
                false => {
                    let mut is_escaped = false;
                    let end = inside.find(|char| {
                        let ends = char == '"' && !is_escaped;
                        is_escaped = char == '\\' && !is_escaped;
                        ends
                    });
                    let end = end.unwrap_or(inside.len());
                    (&inside[..end], inside.get(end + 1..).unwrap_or_default())
                }
            };
            found.push(text.to_owned());
            rest = after;
        } else {
            rest = &here[1..];
        }
    }
    found
}

/// Libraries give advice, too, and a text may be for several commands: each flag in it is one of some command.
#[test]
fn every_flag_in_a_text_is_one_of_some_command() {
    let mut existing: BTreeSet<String> = OTHERS.map(str::to_owned).into();
    let compatible = ["hyperfine".to_owned()];
    for command in commands::all().into_iter().chain(compatible) {
        existing.extend(known(&command));
    }
    // Builds without brokers have no flags for them.
    let has_brokers = cfg!(all(feature = "workers", feature = "kafka"));
    let of_brokers = [
        "/workers/",
        "/agents",
        "/nats.rs",
        "/kafka.rs",
        "/broker.rs",
        // Examples of all commands.
        "/declared.rs",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    for library in std::fs::read_dir(&root).expect("crates") {
        let source = library.expect("an entry").path().join("src");
        if source.is_dir() {
            sources(&source, &mut paths);
        }
    }
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for path in &paths {
        let name = path.strip_prefix(&root).expect("below it");
        let name = format!("/{}", name.to_string_lossy());
        let is_left_out = name.contains("_compat/")
            || name.ends_with("/tests.rs")
            || (!has_brokers && of_brokers.iter().any(|part| name.contains(part)));
        if is_left_out {
            continue;
        }
        for text in texts(&std::fs::read_to_string(path).expect("read")) {
            let flags = flags(&text);
            for flag in flags.iter().filter(|flag| flag.starts_with("--")) {
                checked += 1;
                if !flag.ends_with('-') && !existing.contains(flag) {
                    wrong.push(format!("{name}: {flag}: {text}"));
                }
            }
        }
    }
    assert!(checked > 400, "{checked} flags were found");
    assert_eq!(wrong, [""; 0]);
}

/// The same of advice that depends on the command: how a file is overwritten.
#[cfg(target_os = "linux")]
#[test]
fn what_overwrites_a_file_is_a_flag_of_the_command() {
    let dir = directory();
    streams::fixture(dir.path());
    common::file(dir.path(), "kept", b"content");
    let (mut checked, mut wrong) = (BTreeSet::new(), Vec::new());
    for (command, uses, line) in streams::ROWS {
        if uses == streams::Uses::Long {
            continue;
        }
        let known = known(command);
        if !known.contains("--export-json") || checked.contains(command) {
            continue;
        }
        let line = format!("{line} --export-json kept");
        let ended = run(dir.path(), words(&line));
        let Some((_, told)) = ended.stderr.split_once("'kept' exists already\n") else {
            continue;
        };
        let help = told.lines().next().unwrap_or_default();
        checked.insert(command);
        let unknown = flags(help).into_iter().filter(|flag| !known.contains(flag));
        wrong.extend(unknown.map(|flag| format!("{command} has no {flag}: {help}")));
        if flags(help).is_empty() {
            wrong.push(format!("{command} names no flag: {help}"));
        }
    }
    assert!(checked.len() > 12, "{checked:?}");
    assert_eq!(wrong, [""; 0]);
    // A file that a command writes for itself.
    common::file(dir.path(), "zeros", &[0; 9000]);
    run(dir.path(), words("zip -qq zeros.zip zeros")).expect(0);
    let line = "unzip -qqt zeros.zip zeros --write-index a.idx";
    run(dir.path(), words(line)).expect(0);
    let again = words(line);
    let ended = run(dir.path(), again).expect(1);
    let help = "'a.idx' exists already\nhelp: add --force to overwrite it";
    assert!(ended.stderr.contains(help), "{}", ended.stderr);
}

#[test]
fn a_directory_in_the_place_of_a_file_is_refused_without_flags_that_are_not_there() {
    let dir = directory();
    for name in ["d", "d.zst"] {
        std::fs::create_dir(dir.path().join(name)).expect("made");
    }
    common::file(dir.path(), "a", b"content");
    for line in [
        "unzip d",
        "unzip -l d",
        "compress -D d a",
        "fix parse --dictionary d a",
    ] {
        let ended = run(dir.path(), words(line));
        assert!(
            matches!(ended.code, Some(1 | 2)),
            "{line}: {}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains("'d' is a directory"),
            "{line}: {}",
            ended.stderr
        );
        assert!(!ended.stderr.contains("-r"), "{line}: {}", ended.stderr);
    }
    for line in ["compress d", "decompress d.zst", "compress-bench d"] {
        let ended = run(dir.path(), words(line)).expect(1);
        assert!(ended.stderr.contains("add -r"), "{line}: {}", ended.stderr);
    }
}
