//! Archives that say two things at once: how other programs read them, and that the strict profile refuses
//! all that two programs read differently.
//!
//! The table in `HOSTILE.md` is the record of a run with all readers: `PERFKIT_BLESS=1 cargo test -p zipstream
//! --test contradictions` makes it again. Without them, that record is held to the profile; with some of them,
//! these read all archives again.

mod cases;
mod fields;
mod flips;
mod plain;
mod readers;
mod reading;
mod table;
mod verdict;

use std::collections::BTreeMap;

use libtest_mimic::{Arguments, Failed, Trial};
use zipstream::{ArchiveReader, ReadOptions, Warning};

use cases::Case;
use reading::{Reading, letters, split};
use table::Row;

fn main() {
    let trial = |name: &'static str, here: bool, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok::<(), Failed>(())
        })
        .with_ignored_flag(!here)
    };
    let here = readers::ALL
        .iter()
        .filter(|reader| reader.is_here())
        .count();
    let mut trials = vec![
        trial("a_file_and_a_pipe_agree", true, a_file_and_a_pipe_agree),
        trial(
            "a_file_and_a_pipe_agree_on_flipped_bits",
            true,
            a_file_and_a_pipe_agree_on_flipped_bits,
        ),
        trial(
            "a_unicode_path_wins_in_the_default_profile",
            true,
            a_unicode_path_wins_in_the_default_profile,
        ),
        trial(
            "plain_archives_are_accepted",
            true,
            plain_archives_are_accepted,
        ),
        trial(
            "what_the_record_splits_is_refused",
            true,
            what_the_record_splits_is_refused,
        ),
        trial("the_table_is_current", !blesses(), the_table_is_current),
        trial(
            "what_two_readers_split_is_refused",
            here > 1,
            what_two_readers_split_is_refused,
        ),
    ];
    trials.push(trial(
        "what_is_accepted_of_flipped_bits_is_read_alike",
        here > 1 && std::env::var_os("PERFKIT_FLIPS").is_some(),
        what_is_accepted_of_flipped_bits_is_read_alike,
    ));
    // One for each reader, so that an absent one is seen as `ignored`.
    trials.extend(readers::ALL.iter().map(|reader| {
        let name = format!("reader: {}", reader.name);
        Trial::test(name, move || {
            reads_what_has_no_contradiction(reader);
            Ok::<(), Failed>(())
        })
        .with_ignored_flag(!reader.is_here())
    }));
    trials.extend(plain::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn blesses() -> bool {
    std::env::var_os("PERFKIT_BLESS").is_some()
}

/// Either profile from both sides; where both read, they read the same.
fn a_file_and_a_pipe_agree() {
    let mut wrong = Vec::new();
    for case in cases::all() {
        let strict = ReadOptions::strict();
        let file = verdict::by_file(&case.bytes, &strict);
        let pipe = verdict::by_pipe(&case.bytes, &strict);
        if file.is_ok() != pipe.is_ok() || (file.is_ok() && file != pipe) {
            wrong.push(format!(
                "{}\n    file: {file:?}\n    pipe: {pipe:?}",
                case.name
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The same for each case with one more bit turned over, a byte at a time: two things wrong at once.
fn a_file_and_a_pipe_agree_on_flipped_bits() {
    let mut wrong = Vec::new();
    for case in cases::all() {
        for at in 0..case.bytes.len().min(600) {
            let mut bytes = case.bytes.clone();
            bytes[at] ^= 1 << (at % 8);
            let strict = ReadOptions::strict();
            let file = verdict::by_file(&bytes, &strict);
            let pipe = verdict::by_pipe(&bytes, &strict);
            if file.is_ok() != pipe.is_ok() || (file.is_ok() && file != pipe) {
                let name = &case.name;
                wrong.push(format!(
                    "{name}, byte {at}\n    file: {file:?}\n    pipe: {pipe:?}"
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn plain_archives_are_accepted() {
    for case in cases::all().iter().filter(|case| case.plain) {
        let strict = ReadOptions::strict();
        let file = verdict::by_file(&case.bytes, &strict);
        assert!(file.is_ok(), "{}: {file:?}", case.name);
    }
}

/// Readers that stand alone in what many archives need: a case, the reader, and why it is left out.
const EXCEPTIONS: &[(&str, &str)] = &[
    // Python takes names without a flag for code page 437. They are all that zip writes on most systems.
    ("name of UTF-8 without a flag", "Python"),
    ("local: Unicode Path of a name of UTF-8", "Python"),
    ("directory: Unicode Path of a name of UTF-8", "Python"),
    ("both: Unicode Path of a name of UTF-8", "Python"),
];

/// Whether two readers read a case differently.
fn is_split(row: &Row) -> bool {
    let counted = row.letters.iter().zip(readers::ALL).filter(|(_, reader)| {
        !EXCEPTIONS
            .iter()
            .any(|(case, name)| *case == row.case && *name == reader.name)
    });
    split(counted.map(|(letter, _)| letter.as_str()))
}

/// In the default profile a Unicode Path field wins over the name in the record, as in unzip, 7-Zip and bsdtar,
/// with a warning; not over one that is flagged as UTF-8, nor with the checksum of another name.
fn a_unicode_path_wins_in_the_default_profile() {
    let options = ReadOptions::default();
    for (what, name, warned) in [
        ("another name", "evil.txt", true),
        ("another name, and the flag of UTF-8", "b.txt", false),
        ("another name of another checksum", "b.txt", false),
        ("the same name", "b.txt", false),
    ] {
        let case = format!("both: Unicode Path: {what}");
        let all = cases::all();
        let case = all.iter().find(|found| found.name == case);
        let case = case.expect("there is one");
        let file = verdict::by_file(&case.bytes, &options).expect("it reads");
        assert!(
            file.iter().any(|(found, _)| found == name),
            "{what}: {file:?}"
        );
        assert_eq!(verdict::by_pipe(&case.bytes, &options), Ok(file), "{what}");
        let reader = ArchiveReader::open(&case.bytes[..]).expect("it opens");
        let warning = Warning::UnicodeNames { entries: 1 };
        assert_eq!(
            reader.directory().warnings().contains(&warning),
            warned,
            "{what}"
        );
    }
}

fn refused(verdicts: &[String; 2]) -> bool {
    verdicts.iter().all(|verdict| verdict != "reads")
}

/// The record of all readers against the profile as it is now.
fn what_the_record_splits_is_refused() {
    let cases: BTreeMap<String, Case> = cases::all()
        .into_iter()
        .map(|case| (Row::new(&case, Vec::new()).case, case))
        .collect();
    let mut wrong = Vec::new();
    for row in table::stated() {
        let Some(case) = cases.get(&row.case) else {
            continue;
        };
        if is_split(&row) && !refused(&table::verdicts(case)) {
            wrong.push(row.case);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Cases, their bytes and the verdicts are those of the table.
fn the_table_is_current() {
    let stated = table::stated();
    let cases = cases::all();
    let hint =
        "run `PERFKIT_BLESS=1 cargo test -p zipstream --test contradictions` with all readers";
    for (row, case) in stated.iter().zip(&cases) {
        let now = Row::new(case, row.letters.clone());
        assert_eq!(*row, now, "{hint}");
    }
    assert_eq!(stated.len(), cases.len(), "{hint}");
}

/// Lets the readers that are here read all cases.
fn read_all(cases: &[Case]) -> Vec<Vec<Option<Reading>>> {
    let folder = tempfile::tempdir().expect("a directory");
    let files: Vec<String> = (0..cases.len()).map(|at| format!("{at:04}.zip")).collect();
    for (case, file) in cases.iter().zip(&files) {
        std::fs::write(folder.path().join(file), &case.bytes).expect("written");
    }
    let mut all: Vec<Vec<Option<Reading>>> = vec![Vec::new(); cases.len()];
    let read = |reader: &readers::Reader| match reader.is_here() {
        true => Some(reader.read(folder.path(), &files)),
        false => None,
    };
    let by_reader: Vec<_> = std::thread::scope(|scope| {
        let threads = readers::ALL
            .iter()
            .map(|reader| scope.spawn(|| read(reader)));
        let threads: Vec<_> = threads.collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|read| read.expect("it read")).collect()
    });
    for (reader, mut read) in readers::ALL.iter().zip(by_reader) {
        for (readings, file) in all.iter_mut().zip(&files) {
            let reading = read.as_mut().map(|read| {
                let said = read.remove(file);
                said.unwrap_or_else(|| panic!("{} said nothing to {file}", reader.name))
            });
            readings.push(reading);
        }
    }
    for (readings, case) in all.iter_mut().zip(cases) {
        if case.timeless {
            let items = readings
                .iter_mut()
                .flatten()
                .flat_map(|reading| reading.items.values_mut());
            items.for_each(|item| item.seconds = None);
        }
    }
    all
}

fn reads_what_has_no_contradiction(reader: &readers::Reader) {
    let folder = tempfile::tempdir().expect("a directory");
    let case = cases::all().swap_remove(0);
    std::fs::write(folder.path().join("a.zip"), &case.bytes).expect("written");
    let read = reader.read(folder.path(), &["a.zip".to_owned()]);
    let reading = read.get("a.zip").expect("it was read");
    let names: Vec<&String> = reading.items.keys().collect();
    assert!(!reading.refused, "{}: {reading:?}", reader.name);
    assert_eq!(names, ["a.txt", "b.txt"], "{}", reader.name);
}

/// Lets all readers read cases: their rows, and what is split and not refused.
fn rows(cases: &[Case]) -> (Vec<Row>, Vec<String>) {
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for (case, readings) in cases.iter().zip(read_all(cases)) {
        let row = Row::new(case, letters(&readings));
        if is_split(&row) && !refused(&row.verdicts) {
            let read = readers::ALL.iter().zip(&readings);
            let read = read.map(|(reader, reading)| format!("\n    {}: {reading:?}", reader.name));
            let read: String = read.collect();
            wrong.push(format!(
                "{}: {:?} {:?}{read}",
                row.case, row.letters, row.verdicts
            ));
        }
        rows.push(row);
    }
    (rows, wrong)
}

fn what_two_readers_split_is_refused() {
    let (rows, wrong) = rows(&cases::all());
    if blesses() {
        let here = |row: &Row| row.letters.iter().all(|letter| letter != "?");
        assert!(rows.iter().all(here), "all readers have to be here");
        table::bless(&rows);
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// What is accepted with one bit turned over is read alike. It takes minutes: `PERFKIT_FLIPS=1` asks for it.
fn what_is_accepted_of_flipped_bits_is_read_alike() {
    let (_, wrong) = rows(&flips::all());
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
