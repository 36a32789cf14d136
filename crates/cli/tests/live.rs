//! `--live`: what is drawn on a terminal is removed again, and nothing of it is on standard output.

#![cfg(unix)]

use std::process::{Command, Stdio};

use crate::common::{directory, file, perfkit, pty, run, words};

/// A terminal that takes escapes, without the environment of whoever runs the tests.
fn command(dir: &std::path::Path, line: &str) -> Command {
    let mut command = perfkit();
    command
        .current_dir(dir)
        .args(words(line))
        .env("TERM", "xterm")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null());
    command
}

/// What a terminal of lines without an end shows when all of this was written to it: `None` where there is an
/// escape that it does not know.
fn left(written: &str) -> Option<Vec<String>> {
    let (mut lines, mut row) = (vec![String::new()], 0_usize);
    let mut column = 0_usize;
    let mut rest = written;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        match letter {
            '\r' => column = 0,
            '\n' => {
                // Terminals that are not raw go to the start, too.
                (row, column) = (row + 1, 0);
                if row == lines.len() {
                    lines.push(String::new());
                }
            }
            '\u{1b}' => {
                rest = rest.strip_prefix('[')?;
                let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
                let (number, kind) = (&rest[..end], &rest[end..=end]);
                rest = &rest[end + 1..];
                match kind {
                    "A" => row = row.checked_sub(number.parse().ok()?)?,
                    "K" => lines[row] = lines[row].chars().take(column).collect(),
                    "J" => {
                        lines[row] = lines[row].chars().take(column).collect();
                        lines.truncate(row + 1);
                    }
                    "m" => {}
                    _ => return None,
                }
            }
            letter => {
                let mut line: Vec<char> = lines[row].chars().collect();
                line.resize(line.len().max(column), ' ');
                match line.get_mut(column) {
                    Some(there) => *there = letter,
                    None => line.push(letter),
                }
                lines[row] = line.into_iter().collect();
                column += 1;
            }
        }
    }
    lines.retain(|line| !line.is_empty());
    Some(lines)
}

#[test]
fn a_view_is_drawn_on_standard_error_and_leaves_nothing_there() {
    let dir = directory();
    for line in [
        "stress --codec none --pool fresh --blocks 500 -q --live --report json",
        "stress --codec none,lz4 --pool fresh --blocks 600 -q --live --report json",
    ] {
        let shown = pty::run(command(dir.path(), line));
        let stderr = String::from_utf8_lossy(&shown.stderr);
        assert_eq!(shown.code, Some(0), "{stderr}");
        assert!(
            stderr.contains("stress") && stderr.contains("\u{1b}[K"),
            "{stderr:?}"
        );
        assert_eq!(left(&stderr), Some(Vec::new()), "{stderr:?}");
        let report: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("JSON alone");
        assert_eq!(report["complete"], true);
    }
}

#[test]
fn an_error_stands_where_the_view_was() {
    let dir = directory();
    let line = "stress --codec zstd:1 --pool leaking --blocks 20000 -qq --live";
    let shown = pty::run(command(dir.path(), line));
    let stderr = String::from_utf8_lossy(&shown.stderr);
    assert_eq!(shown.code, Some(4), "{stderr}");
    let left = left(&stderr).expect("known escapes");
    assert!(left[0].starts_with("perfkit: "), "{left:?}");
    assert!(!left.concat().contains("stress  "), "{left:?}");
}

#[test]
fn colours_are_left_out_where_they_are_not_wanted_and_escapes_where_they_are_not_known() {
    let dir = directory();
    let line = "stress --codec none --pool fresh --blocks 500 -qq --live";
    let mut plain = command(dir.path(), line);
    plain.env("NO_COLOR", "1");
    let stderr = String::from_utf8(pty::run(plain).stderr).expect("text");
    assert!(
        stderr.contains("\u{1b}[K") && !stderr.contains("\u{1b}[1m"),
        "{stderr:?}"
    );
    let mut dumb = command(dir.path(), line);
    dumb.env("TERM", "dumb");
    let stderr = pty::run(dumb).stderr;
    assert!(!stderr.contains(&0x1b), "{stderr:?}");
    // Neither are there any in a pipe: a run that takes long enough has lines.
    let piped = run(dir.path(), words(line)).expect(0).stderr;
    assert!(
        piped.lines().all(|line| line.starts_with("stress  ")),
        "{piped:?}"
    );
}

#[test]
fn the_last_of_both_words_wins() {
    let dir = directory();
    let line = "stress --codec none --pool fresh --blocks 500 -qq --live --no-live";
    assert_eq!(pty::run(command(dir.path(), line)).stderr, b"");
}

#[test]
fn matches_on_a_terminal_leave_no_room_for_a_view() {
    let dir = directory();
    let inputs = "betree generate bool --expressions 9 --events 9 -fo .";
    run(dir.path(), words(inputs)).expect(0);
    let line = "betree match -q --live --domains domains --expressions expressions --events events";
    let shown = pty::run(command(dir.path(), line));
    assert_eq!(shown.code, Some(2));
    assert!(String::from_utf8_lossy(&shown.stderr).contains("--live"));
    assert!(shown.stdout.is_empty());
    // Into a pipe they are as without it.
    let found = run(dir.path(), words(line)).expect(0);
    let without = run(dir.path(), words(&line.replace(" --live", ""))).expect(0);
    assert_eq!(found.text(), without.text());
}

#[test]
fn benches_have_a_view_too() {
    let dir = directory();
    file(dir.path(), "a", &[b'a'; 5_000]);
    for line in [
        "betree-bench --expressions 200 --buckets 6 --bucket-size 10 -qq --live",
        "compress-bench -i 0.01 -b1 -e2 -qq --live a",
        "fix-bench encode --batches 6 --batch-size 20 -qq --live",
    ] {
        let shown = pty::run(command(dir.path(), line));
        let stderr = String::from_utf8_lossy(&shown.stderr);
        assert_eq!(shown.code, Some(0), "{line}: {stderr}");
        assert!(stderr.contains("-bench"), "{line}: {stderr:?}");
        assert_eq!(left(&stderr), Some(Vec::new()), "{line}: {stderr:?}");
    }
}
