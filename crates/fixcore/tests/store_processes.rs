//! The store when processes end: killed at any moment, it loses nothing that was acknowledged; two
//! processes cannot share one; a file that may not grow is an error. `PERFKIT_KILLS` sets the number of
//! kills; without it there are 50, in memory.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the place in hand"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use fixcore::store::{Durability, Options, Store, StoreError};

/// The role of a child process, which is this program started again.
/// The name of the test that is started so.
const CHILD: &str = "child";
const ROLE: &str = "PERFKIT_STORE_ROLE";
const DIR: &str = "PERFKIT_STORE_DIR";
const RUN: &str = "PERFKIT_STORE_RUN";
const SEGMENT_BYTES: usize = 64 << 10;

fn tempdir() -> tempfile::TempDir {
    let memory = tempfile::tempdir_in("/dev/shm");
    memory.or_else(|_| tempfile::tempdir()).unwrap()
}

fn options(durability: Durability) -> Options {
    let mut options = Options::default();
    options.segment_bytes = SEGMENT_BYTES;
    options.durability = durability;
    options
}

/// The message of a number in a run: it names the run, with a length and bytes of its own.
fn message(number: u64, run: u64) -> Vec<u8> {
    let length = 16 + (number.wrapping_mul(37) ^ run) % 400;
    let mut bytes = [number.to_le_bytes(), run.to_le_bytes()].concat();
    bytes.resize(length as usize, (number ^ run) as u8);
    bytes
}

/// The entry of a child process. It is a test, because a test program can only start its tests; without a
/// role it does nothing.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let dir = std::env::var(DIR).unwrap();
    let run: u64 = std::env::var(RUN).unwrap().parse().unwrap();
    let mut out = std::io::stdout().lock();
    match role.as_str() {
        "append" => append(&dir, run, &mut out),
        "hold" => {
            let store = Store::open(&dir, options(Durability::None)).unwrap();
            writeln!(out, "\nopen {}", store.next_sender()).unwrap();
            // Until the process that waits for it closes the pipe.
            let _ = std::io::stdin().read_line(&mut String::new());
        }
        "fill" => {
            // The store has segments of 64 KiB, files may have 100 KiB, and new segments are larger.
            let mut large = options(Durability::None);
            large.segment_bytes = 256 << 10;
            let mut store = Store::open(&dir, options(Durability::None)).unwrap();
            store.append(1, b"kept").unwrap();
            drop(store);
            let mut store = Store::open(&dir, large).unwrap();
            let error = loop {
                let number = store.next_sender();
                if let Err(error) = store.append(number, &message(number, run)) {
                    break error;
                }
            };
            let next = store.next_sender();
            let kept = store.range(1..=next).filter(|(_, found)| found.is_ok());
            let (kept, is_full) = (kept.count(), error.is_full());
            writeln!(out, "\nfull {is_full} next {next} kept {kept}").unwrap();
        }
        _ => panic!("no such role"),
    }
}

fn append(dir: &str, run: u64, out: &mut impl std::io::Write) {
    let durability = [Durability::None, Durability::Batch][usize::from(run % 8 == 7)];
    let batch = [1, 20, 300][run as usize % 3];
    let mut store = Store::open(dir, options(durability)).unwrap();
    writeln!(
        out,
        "\nopen {} {}",
        store.next_sender(),
        store.next_target()
    )
    .unwrap();
    loop {
        for _ in 0..batch {
            let number = store.next_sender();
            store.append(number, &message(number, run)).unwrap();
            if number.is_multiple_of(7) {
                store.set_next_target(number * 3).unwrap();
            }
        }
        if durability == Durability::Batch {
            store.sync().unwrap();
        }
        let acknowledged = store.next_sender() - 1;
        writeln!(out, "ack {acknowledged} {}", store.next_target()).unwrap();
    }
}

fn start(role: &str, dir: &Path, run: u64) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", CHILD, "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(DIR, dir)
        .env(RUN, run.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

/// The numbers after a word of a complete line.
fn numbers(line: &str, word: &str) -> Option<Vec<u64>> {
    let rest = line.strip_suffix('\n')?.strip_prefix(word)?;
    rest.split_whitespace()
        .map(|word| word.parse().ok())
        .collect()
}

#[test]
fn killed_at_any_moment_it_keeps_what_it_acknowledged() {
    let kills = std::env::var("PERFKIT_KILLS")
        .ok()
        .and_then(|word| word.parse().ok());
    let kills: u64 = kills.unwrap_or(50);
    let dir = match kills {
        ..=50 => tempdir(),
        _ => tempfile::tempdir().unwrap(),
    };
    // For each run the first number that it used and the last that it acknowledged.
    let mut runs: Vec<(u64, u64, u64)> = Vec::new();
    let (mut torn, mut acknowledging, mut messages) = (0, 0, 0);
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut expected = 1;
    for run in 0..kills {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let lines = random % 12;
        let (mut child, mut out) = start("append", dir.path(), run);
        let (mut first, mut acknowledged) = (None, None);
        let (mut line, mut seen) = (String::new(), 0);
        while out.read_line(&mut line).unwrap() > 0 {
            if let Some(found) = numbers(&line, "open ") {
                assert_eq!(found[0], expected, "a number was given twice");
                first = Some(found[0]);
                seen += 1;
            }
            if let Some(found) = numbers(&line, "ack ") {
                acknowledged = Some((found[0], found[1]));
                seen += 1;
            }
            // Numbers still in the pipe at the end were acknowledged too.
            if seen == lines + 1 {
                child.kill().unwrap();
            }
            line.clear();
        }
        child.wait().unwrap();
        let mut store = Store::open(dir.path(), options(Durability::None)).unwrap();
        assert!(store.opened().damaged.is_empty());
        torn += u64::from(store.opened().torn.is_some());
        expected = store.next_sender();
        let first = first.expect("the child opened the store");
        if let Some((last, target)) = acknowledged {
            assert!(expected > last, "run {run} acknowledged {last}");
            assert!(
                store.next_target() >= target,
                "run {run} acknowledged {target}"
            );
            runs.push((run, first, last));
            acknowledging += 1;
        }
        for number in first..expected {
            let found = store.verified(number).unwrap();
            assert_eq!(found, Some(&message(number, run)[..]), "message {number}");
        }
        messages += expected - first;
        // Now and then reads everything again, and resets the store to its own numbers.
        if run % 20 == 19 {
            check_all(&store, &runs);
            runs.clear();
            store.reset(expected, store.next_target()).unwrap();
        }
    }
    assert!(kills < 50 || acknowledging > kills / 2);
    writeln!(
        std::io::stderr(),
        "{kills} kills, {messages} messages, {torn} torn ends, {acknowledging} runs acknowledged"
    )
    .unwrap();
}

/// Every message is present, and each acknowledged one belongs to its run.
fn check_all(store: &Store, runs: &[(u64, u64, u64)]) {
    let mut runs = runs.iter().peekable();
    let mut expected = None;
    for (number, found) in store.range(1..=u64::MAX) {
        assert_eq!(*expected.get_or_insert(number), number);
        expected = Some(number + 1);
        while runs.next_if(|(_, _, last)| *last < number).is_some() {}
        match runs.peek() {
            Some((run, first, _)) if *first <= number => {
                assert_eq!(found.unwrap(), message(number, *run), "message {number}");
            }
            _ => assert!(found.is_ok()),
        }
    }
    assert_eq!(expected, Some(store.next_sender()));
}

#[test]
fn two_processes_do_not_share_a_store_and_a_kill_frees_it() {
    let dir = tempdir();
    let (mut child, mut out) = start("hold", dir.path(), 0);
    let mut line = String::new();
    while numbers(&line, "open ").is_none() {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0);
    }
    let refused = Store::open(dir.path(), options(Durability::None)).unwrap_err();
    assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
    child.kill().unwrap();
    child.wait().unwrap();
    let store = Store::open(dir.path(), options(Durability::None)).unwrap();
    assert!(matches!(
        Store::open(dir.path(), options(Durability::None)),
        Err(StoreError::Locked { .. })
    ));
    drop(store);
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_nothing_else() {
    let dir = tempdir();
    // If the signal does not end the process, the call fails like one on a full disk.
    let script = r#"trap "" XFSZ; ulimit -f 200; exec "$0" "$@""#;
    let program = std::env::current_exe().unwrap();
    let ran = Command::new("sh")
        .args(["-c", script])
        .arg(program)
        .args(["--exact", CHILD, "--nocapture", "--test-threads=1"])
        .env(ROLE, "fill")
        .env(DIR, dir.path())
        .env(RUN, "3")
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    let line = out.lines().find(|line| line.starts_with("full "));
    let line = line.unwrap_or_else(|| panic!("{out}{}", String::from_utf8_lossy(&ran.stderr)));
    let words: Vec<_> = line.split(' ').collect();
    assert_eq!(words[1], "true", "{line}");
    let (next, kept): (u64, u64) = (words[3].parse().unwrap(), words[5].parse().unwrap());
    assert!(next > 100 && kept == next - 1, "{line}");
    let mut store = Store::open(dir.path(), options(Durability::None)).unwrap();
    assert_eq!(store.next_sender(), next);
    while store.segments() == 1 {
        store.append(store.next_sender(), &[0; 1000]).unwrap();
    }
}
