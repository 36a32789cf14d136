//! FIX: fixcore beside fefix and QuickFIX on the same messages, each in a program of its own that is run
//! in rounds of random order, fixcore twice. [`record`] is what comes of it.

mod record;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

pub(crate) use self::record::Fix;
use self::record::Row;
use super::rounds::{self, Spread};
use super::{LAST_CPU, Size};
use crate::record::{Machine, Made, Record, Results};
use crate::sh;

const ROUNDS: usize = 15;
const ROUNDS_QUICK: usize = 2;
/// How long a batch takes at least; each turn has five of a case.
const BATCH_MS: &str = "2";
const BATCH_MS_QUICK: &str = "1";
/// Messages in no order that every library takes, and how many there are to choose from.
const SHUFFLED: usize = 256;
const CANDIDATES: &str = "1024";

/// Whose times the others are held against, and the same once more.
const BASE: &str = "fixcore";
const CONTROL: &str = "fixcore again";
const LIBRARIES: [&str; 5] = [BASE, "fefix", "quickfix", "quickfix-dictionary", CONTROL];

/// The programs, and where the sets of messages are.
struct Bench {
    fix: PathBuf,
    quickfix: PathBuf,
    dictionary: PathBuf,
    folder: tempfile::TempDir,
}

/// The output of a program for one turn.
#[derive(Debug, Deserialize)]
struct Turn {
    rows: Vec<Timed>,
}

/// One case of a turn.
#[derive(Debug, Clone, Deserialize)]
struct Timed {
    case: String,
    set: String,
    ns: f64,
    answer: String,
}

/// Times of a library on a case and set, one a round.
type Times = BTreeMap<(String, String, &'static str), Vec<f64>>;

/// Measures and writes the record.
pub(crate) fn run(size: Size) -> Result<()> {
    let bench = Bench::new()?;
    let sets = bench.make_sets()?;
    let (rounds, batch_ms, name) = match size {
        Size::Full => (ROUNDS, BATCH_MS, "fix"),
        Size::Quick => (ROUNDS_QUICK, BATCH_MS_QUICK, "fix-quick"),
    };
    let mut random = rounds::SEED;
    let mut times = Times::new();
    for round in 1..=rounds {
        println!("round {round} of {rounds}, {} turns", LIBRARIES.len());
        let mut answers = BTreeMap::new();
        for at in rounds::shuffled(LIBRARIES.len(), &mut random) {
            let library = LIBRARIES[at];
            for timed in bench.turn(library, batch_ms)? {
                let key = (timed.case, timed.set);
                agree(&mut answers, &key, library, &timed.answer)?;
                let key = (key.0, key.1, library);
                times.entry(key).or_default().push(timed.ns);
            }
        }
    }
    let results = Results::Fix(Fix {
        rounds,
        rows: rows(&times),
    });
    let mut record = Record::new(
        "fixcore beside fefix and QuickFIX",
        "cargo xtask peers fix",
        results,
    );
    record.quick = size == Size::Quick;
    record.made = vec![Made::now(None, Vec::new())?];
    record.versions = versions()?;
    record.machine = Some(Machine::here());
    record.facts = vec![sets];
    println!("{}", record.write(name)?.display());
    Ok(())
}

/// Every library has to find the same, and to write the same fields.
fn agree(
    answers: &mut BTreeMap<(String, String), (&'static str, String)>,
    key: &(String, String),
    library: &'static str,
    answer: &str,
) -> Result<()> {
    // Each writes the frame and the order of fields in its own way.
    let answer = if key.0.starts_with("encode") {
        let framed = |field: &&str| !["8=", "9=", "10="].iter().any(|tag| field.starts_with(tag));
        let mut fields: Vec<&str> = answer.split('|').filter(framed).collect();
        fields.sort_unstable();
        fields.join("|")
    } else {
        answer.to_owned()
    };
    let (first, expected) = answers
        .entry(key.clone())
        .or_insert_with(|| (library, answer.clone()));
    ensure!(
        *expected == answer,
        "{} of {}: {library} answers '{answer}', {first} '{expected}'",
        key.0,
        key.1
    );
    Ok(())
}

fn rows(times: &Times) -> Vec<Row> {
    let row = |((case, set, library), ns): (&(String, String, &'static str), &Vec<f64>)| {
        let base = times.get(&(case.clone(), set.clone(), BASE));
        let pairs = base.into_iter().flatten().zip(ns);
        let over = Spread::of(pairs.map(|(base, ns)| ns / base));
        let spread = Spread::of(ns.iter().copied());
        Row {
            case: case.clone(),
            set: set.clone(),
            library: (*library).to_owned(),
            rounds: ns.len(),
            ns_p50: spread.median,
            ns_min: spread.range[0],
            ratio_p50: over.median.is_finite().then_some(over.median),
            ratio_range: over.median.is_finite().then_some(over.range),
        }
    };
    times.iter().map(row).collect()
}

impl Bench {
    /// Builds both programs.
    fn new() -> Result<Self> {
        let source = sh::root().join("bench-peers");
        let target = source.join("target/fix");
        let quickfix = target.join("quickfix-peer");
        if !super::is_built() {
            let mut cargo = sh::cargo(&["build", "--release", "--locked", "--target-dir"]);
            sh::run(cargo.arg(&target).current_dir(source.join("fix")))?;
            build_quickfix(&quickfix)?;
        }
        Ok(Self {
            fix: target.join("release/fix-peer"),
            quickfix,
            dictionary: dictionary(&source.join("fix"))?,
            folder: tempfile::tempdir()?,
        })
    }

    /// The program of a library, pinned where that can be done.
    fn command(&self, library: &str) -> Command {
        let mut words = Vec::new();
        let processors = std::thread::available_parallelism();
        if sh::find("taskset").is_some() && processors.is_ok_and(|count| count.get() > 1) {
            words.extend(["taskset", "-c", LAST_CPU].map(OsStr::new));
        }
        let library = library.trim_end_matches(" again");
        if library.starts_with("quickfix") {
            words.extend([self.quickfix.as_os_str(), library.as_ref()]);
            words.push(self.dictionary.as_os_str());
        } else {
            words.extend([self.fix.as_os_str(), library.as_ref()]);
        }
        let mut command = sh::command(words[0]);
        command.args(&words[1..]).current_dir(self.folder.path());
        command
    }

    /// Writes the message sets, and describes their content.
    fn make_sets(&self) -> Result<String> {
        let folder = self.folder.path();
        let mut make = sh::command(&self.fix);
        sh::output(make.arg("sets").arg(folder).arg(CANDIDATES))?;
        let candidates = fs::read(folder.join("candidates"))?;
        let mut messages = framed(&candidates);
        let mut said = Vec::new();
        for library in &LIBRARIES[..4] {
            let digits = sh::text(self.command(library).args(["accept", "candidates"]))?;
            ensure!(digits.len() == messages.len(), "{library} leaves some out");
            let taken = digits.matches('1').count();
            said.push(format!("{library} {taken}"));
            let kept = messages.into_iter().zip(digits.bytes());
            messages = kept
                .map(|(message, digit)| message.filter(|_| digit == b'1'))
                .collect();
        }
        let chosen: Vec<&[u8]> = messages.into_iter().flatten().take(SHUFFLED).collect();
        ensure!(chosen.len() == SHUFFLED, "too few are taken by all");
        let bytes = chosen.concat();
        fs::write(folder.join("shuffled"), &bytes)?;
        Ok(format!(
            "{SHUFFLED} messages of types in no order, {} bytes in the mean: the first that all take \
             of {CANDIDATES} by fixcore's generator over its dictionary of FIX 4.4 (taken: {})",
            bytes.len() / SHUFFLED - LENGTH_BYTES,
            said.join(", ")
        ))
    }

    fn turn(&self, library: &str, batch_ms: &str) -> Result<Vec<Timed>> {
        let mut command = self.command(library);
        let made = sh::output(command.args(["turn", ".", batch_ms]))?;
        let turn: Turn = serde_json::from_slice(&made.stdout)
            .with_context(|| format!("{library} prints something else"))?;
        Ok(turn.rows)
    }
}

/// Builds QuickFIX's program.
fn build_quickfix(program: &Path) -> Result<()> {
    compile_quickfix("main.cpp", program)
}

/// Builds a program of QuickFIX.
pub(super) fn compile_quickfix(source: &str, program: &Path) -> Result<()> {
    if let Some(folder) = program.parent() {
        fs::create_dir_all(folder)?;
    }
    // Its headers state what functions throw, which later standards forbid.
    let mut compile = sh::command("c++");
    compile.args(["-std=c++14", "-O3", "-DNDEBUG", "-Wall", "-Wextra", "-o"]);
    let source = sh::root().join("bench-peers/quickfix").join(source);
    compile.arg(program).arg(source);
    sh::run(compile.arg("-lquickfix")).context("QuickFIX cannot be built: install libquickfix-dev")
}

/// QuickFIX's program and its dictionary, if it is installed.
pub(super) fn quickfix() -> Result<Option<(PathBuf, PathBuf)>> {
    let bench_peers = sh::root().join("bench-peers");
    let program = bench_peers.join("target/fix/quickfix-peer");
    if !super::is_built() && build_quickfix(&program).is_err() {
        return Ok(None);
    }
    let dictionary = dictionary(&bench_peers.join("fix"))?;
    Ok(program.is_file().then_some((program, dictionary)))
}

/// Bytes of a length in front of a message.
const LENGTH_BYTES: usize = 4;

/// Messages with their lengths before them.
fn framed(mut rest: &[u8]) -> Vec<Option<&[u8]>> {
    let mut messages = Vec::new();
    while let Some(length) = rest.first_chunk::<LENGTH_BYTES>() {
        let end = LENGTH_BYTES + u32::from_le_bytes(*length) as usize;
        let Some((message, behind)) = rest.split_at_checked(end) else {
            break;
        };
        messages.push(Some(message));
        rest = behind;
    }
    messages
}

/// The dictionary of FIX 4.4 in the XML of QuickFIX that the crate fefix brings.
pub(super) fn dictionary(folder: &Path) -> Result<PathBuf> {
    let args = ["metadata", "--format-version=1", "--locked"];
    let text = sh::text(sh::cargo(&args).current_dir(folder))?;
    let metadata: serde_json::Value = serde_json::from_str(&text)?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let package = packages.find(|package| package["name"] == "fefix");
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let folder = manifest.and_then(|path| Path::new(path).parent());
    let file = folder.map(|at| at.join("src/fefix_core/resources/quickfix/FIX-4.4.xml"));
    match file.filter(|file| file.is_file()) {
        Some(file) => Ok(file),
        None => bail!("the crate fefix brings no dictionary of FIX 4.4"),
    }
}

fn versions() -> Result<Vec<String>> {
    let rustc = sh::text(sh::command("rustc").arg("--version"))?;
    let lock = fs::read_to_string(sh::root().join("bench-peers/fix/Cargo.lock"))?;
    let of = |name: &str| super::locked(&lock, name);
    Ok(vec![
        format!("{}, {rustc}", of("fixcore").unwrap_or_default()),
        of("fefix").unwrap_or_default(),
        quickfix_version()?,
    ])
}

/// The versions of QuickFIX and of its compiler.
pub(super) fn quickfix_version() -> Result<String> {
    let compiler = sh::text(sh::command("c++").arg("--version"))?;
    let package = ["-W", "-f", "${Version}", "libquickfix-dev"];
    let quickfix = sh::text(sh::command("dpkg-query").args(package));
    let quickfix = quickfix.unwrap_or_else(|_| "of an unknown version".to_owned());
    let compiler = compiler.lines().next().unwrap_or_default();
    Ok(format!("QuickFIX {quickfix}, {compiler}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_ratios_of_the_same_round() {
        let key = |library| ("parse".to_owned(), "nos".to_owned(), library);
        let times = Times::from([
            (key(BASE), vec![10.0, 20.0, 30.0]),
            (key("fefix"), vec![100.0, 400.0, 90.0]),
        ]);
        let rows = rows(&times);
        let fefix = rows.iter().find(|row| row.library == "fefix").unwrap();
        assert_eq!((fefix.ns_p50, fefix.ns_min, fefix.rounds), (100.0, 90.0, 3));
        assert_eq!(fefix.ratio_p50, Some(10.0));
        assert_eq!(fefix.ratio_range, Some([3.0, 20.0]));
    }

    #[test]
    fn a_wrong_answer_is_refused_and_another_order_of_fields_is_not() {
        let mut answers = BTreeMap::new();
        let encode = ("encode".to_owned(), "nos".to_owned());
        let mut hear = |library, answer| agree(&mut answers, &encode, library, answer);
        assert!(hear(BASE, "8=F|9=7|35=D|34=1|10=001|").is_ok());
        assert!(hear("fefix", "8=F|9=007|34=1|35=D|10=002|").is_ok());
        let wrong = hear("quickfix", "8=F|9=7|35=D|34=2|10=002|").unwrap_err();
        assert!(wrong.to_string().contains("quickfix answers"), "{wrong}");
    }

    #[test]
    fn sets_are_read_by_their_lengths() {
        let bytes = [&2_u32.to_le_bytes()[..], b"ab", &[9, 0, 0, 0, b'c']].concat();
        assert_eq!(framed(&bytes), [Some(&bytes[..6])]);
    }
}
