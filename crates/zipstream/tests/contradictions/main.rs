//! Archives that say two things at once: how other programs read them, and that the strict profile refuses
//! all that two programs read differently.
//!
//! The table in `HOSTILE.md` is the record of a run with all readers: `PERFKIT_BLESS=1 cargo test -p zipstream
//! --test contradictions` makes it again. Without them, that record is held to the profile; with some of them,
//! these read all archives again.

mod cases;
mod fields;
mod plain;
mod readers;
mod reading;
mod table;
mod verdict;

use std::collections::BTreeMap;

use libtest_mimic::{Arguments, Failed, Trial};
use zipstream::ReadOptions;

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
    for reader in readers::ALL {
        let here = reader.is_here();
        let mut read = if here {
            reader.read(folder.path(), &files)
        } else {
            BTreeMap::new()
        };
        for (readings, file) in all.iter_mut().zip(&files) {
            let reading = read.remove(file);
            assert!(
                reading.is_some() == here,
                "{} said nothing to {file}",
                reader.name
            );
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

fn what_two_readers_split_is_refused() {
    let cases = cases::all();
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for (case, readings) in cases.iter().zip(read_all(&cases)) {
        let row = Row::new(case, letters(&readings));
        if is_split(&row) && !refused(&row.verdicts) {
            let read = readers::ALL.iter().zip(&readings);
            let read = read.map(|(reader, reading)| format!("\n    {}: {reading:?}", reader.name));
            let read: String = read.collect();
            wrong.push(format!("{}: {:?}{read}", row.case, row.verdicts));
        }
        rows.push(row);
    }
    if blesses() {
        let whole = rows
            .iter()
            .all(|row| row.letters.iter().all(|letter| letter != "?"));
        assert!(whole, "all readers have to be here");
        table::bless(&rows);
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
