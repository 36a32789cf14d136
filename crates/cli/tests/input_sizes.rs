//! Every command that reads something ends, and gives the right answer, whatever the kind and the size
//! of what it reads: around one buffer, around all buffers that are in flight, and far beyond.
//!
//! Each row names a line, how an input of a given size is made, the exit code, and what holds of the
//! output. Expectations are counted from the input itself.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::LazyLock;

use crate::common::fix::{message, order};
use crate::common::inputs::{Kind, SIZES, run_on};
use crate::common::{self, Run, directory, file};
use memchr::{memchr_iter, memmem};
use zstdkit::workload;

/// A line with each kind of input.
struct Row {
    /// `{}` stands for the input.
    line: &'static str,
    /// What names standard input in it.
    stdin: &'static str,
    /// An input of this many bytes.
    input: fn(usize) -> Vec<u8>,
    /// The exit code that it shall have; `None`: the command takes no such input.
    code: fn(Kind, usize) -> Option<i32>,
    /// Looks at what a run left that ended with 0.
    check: fn(&Path, &[u8], &Run),
}

const ROW: Row = Row {
    line: "",
    stdin: "-",
    input: content,
    code: |_, _| Some(0),
    check: |_, _, _| {},
};

/// Runs all of them on each kind of input at each size.
fn run_all(rows: &[Row]) {
    let dir = directory();
    let dir = dir.path();
    file(dir, "one", &order(1, "one", 0));
    file(dir, "small", b"a few bytes of content");
    file(dir, "key", &[7; 32]);
    file(dir, "domains", b"age|integer|true|0|120\n");
    file(dir, "expressions", b"age >= 18\nage < 18\n");
    file(dir, "events", b"{\"age\":20}\n");
    for row in rows {
        for size in SIZES {
            let input = (row.input)(size);
            assert_eq!(input.len(), size, "{}", row.line);
            file(dir, "copy", &input);
            for kind in Kind::ALL.iter().copied() {
                let Some(code) = (row.code)(kind, size) else {
                    continue;
                };
                let place = format!("{} with {size} bytes as {kind:?}", row.line);
                let run = run_on(dir, row.line, kind, row.stdin, &input);
                assert_eq!(run.code, Some(code), "{place}: {}", run.stderr);
                if code == 0 {
                    let check = AssertUnwindSafe(|| (row.check)(dir, &input, &run));
                    assert!(catch_unwind(check).is_ok(), "{place}");
                }
            }
        }
    }
}

/// Bytes that do not compress.
fn content(size: usize) -> Vec<u8> {
    static LONGEST: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let longest = SIZES.into_iter().max().expect("some sizes");
        workload::generate(workload::Kind::Random, 7, longest)
    });
    LONGEST[..size].to_vec()
}

/// A log of messages one a line, the last of them filled up; below the size of a message a letter.
fn log(size: usize) -> Vec<u8> {
    let first = order(1, "one", 0);
    if size <= first.len() {
        return vec![b'x'; size];
    }
    let mut log = Vec::with_capacity(size);
    let mut number = 1;
    loop {
        let next = order(number, "an order", number % 1000);
        if log.len() + 2 * next.len() + 64 > size {
            break;
        }
        log.extend_from_slice(&next);
        log.push(b'\n');
        number += 1;
    }
    // Digits of the length take room as well.
    let left = size - log.len() - 1;
    let filled = (0..left).find_map(|fill| {
        let text = "t".repeat(fill + 1);
        let last = message(&format!(
            "35=0|49=A|56=B|34={number}|52=20260305-14:15:16|112={text}|"
        ));
        (last.len() == left).then_some(last)
    });
    log.extend_from_slice(&filled.expect("a message of this length"));
    log.push(b'\n');
    log
}

/// The code of a command that reads a log: one that has no message is not what was meant, but it may be empty.
fn with_messages(_: Kind, size: usize) -> Option<i32> {
    Some(match log(size) {
        log if log.is_empty() || messages(&log) > 0 => 0,
        _ => 3,
    })
}

fn messages(log: &[u8]) -> usize {
    memmem::find_iter(log, "8=FIX.").count()
}

fn lines(bytes: &[u8]) -> usize {
    memchr_iter(b'\n', bytes).count()
}

fn a_line_a_message(_: &Path, input: &[u8], run: &Run) {
    assert_eq!(lines(&run.stdout), messages(input));
}

fn nothing(_: &Path, _: &[u8], run: &Run) {
    assert_eq!(run.text(), "");
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn messages_of_logs() {
    run_all(&[
        Row {
            line: "fix parse -qq {}",
            input: log,
            code: with_messages,
            check: |_, input, run| {
                a_line_a_message(Path::new(""), input, run);
                if let Some(offset) = memmem::rfind(input, b"8=FIX.") {
                    let line = run.text().lines().last().expect("a line");
                    assert!(line.starts_with(&format!("{{\"offset\":{offset},")));
                }
            },
            ..ROW
        },
        Row {
            line: "fix validate -qq {}",
            input: log,
            code: with_messages,
            check: nothing,
            ..ROW
        },
        Row {
            line: "fix print -qq {}",
            input: log,
            code: with_messages,
            check: |_, input, run| {
                let heads = run.text().lines().filter(|line| !line.starts_with(' '));
                assert_eq!(heads.count(), messages(input));
            },
            ..ROW
        },
        Row {
            line: "fix stats --report json {}",
            input: log,
            code: with_messages,
            check: |_, input, run| {
                let count = &run.json()["workload"]["params"]["messages"];
                assert_eq!(count.as_u64(), Some(messages(input) as u64));
            },
            ..ROW
        },
        Row {
            line: "fix anonymize -qq --key-file key {}",
            input: log,
            code: with_messages,
            check: a_line_a_message,
            ..ROW
        },
    ]);
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn logs_beside_each_other_and_sent_once_more() {
    run_all(&[
        Row {
            line: "fix diff -qq {} copy",
            input: log,
            check: nothing,
            ..ROW
        },
        Row {
            line: "fix diff -qq copy {}",
            input: log,
            check: nothing,
            ..ROW
        },
        Row {
            line: "fix replay -qq --speed 0 {}",
            input: log,
            check: |_, input, run| {
                let ends = memchr_iter(b'\n', input);
                let starts = std::iter::once(0).chain(ends.clone().map(|end| end + 1));
                let sent: Vec<_> = starts
                    .zip(ends)
                    .map(|(start, end)| &input[start..end])
                    .collect();
                assert!(run.stdout == sent.concat());
            },
            ..ROW
        },
    ]);
}

fn two_bytes_at_least(_: Kind, size: usize) -> Option<i32> {
    Some(i32::from(size < 2))
}

/// A dictionary with a comment that fills it up.
fn dictionary(size: usize) -> Vec<u8> {
    let head =
        "<fix major='4' minor='4'><header/><trailer/><messages/><components/><fields/></fix>";
    let around = head.len() + "<!---->".len();
    if size < around {
        return vec![b'<'; size];
    }
    format!(
        "{head}<!--{}-->",
        "-x".repeat(size).get(..size - around).expect("text")
    )
    .into_bytes()
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn dictionaries_and_keys() {
    run_all(&[
        Row {
            line: "fix parse -qq --dictionary {} one",
            input: dictionary,
            code: two_bytes_at_least,
            check: |_, _, run| assert_eq!(lines(&run.stdout), 1),
            ..ROW
        },
        Row {
            line: "fix print -qq --dictionary {} one",
            input: dictionary,
            code: two_bytes_at_least,
            check: |_, _, run| assert!(run.text().contains("at 0, line 1\n")),
            ..ROW
        },
        Row {
            line: "fix anonymize -qq --key-file {} one",
            stdin: "/dev/stdin",
            code: |_, size| Some(i32::from(!(16..=1 << 20).contains(&size))),
            check: |_, _, run| assert_eq!(lines(&run.stdout), 1),
            ..ROW
        },
        Row {
            line: "zip -qq -e --password-file {} - small",
            stdin: "/dev/stdin",
            // A password has a byte at least and 1024 at most.
            code: |_, size| Some(if size == 1 { 0 } else { 2 }),
            ..ROW
        },
        Row {
            line: "compress -qqc -D {} small",
            stdin: "/dev/stdin",
            code: |_, size| Some(i32::from(size == 0)),
            check: |dir, input, run| {
                let dictionary = zstdkit::Dictionary::new(input.to_vec()).expect("a dictionary");
                let options = zstdkit::DecoderOptions::default().with_dictionaries([dictionary]);
                let back = zstdkit::decompress(&run.stdout, &options).expect("a frame");
                assert_eq!(back, std::fs::read(dir.join("small")).expect("read"));
            },
            ..ROW
        },
        Row {
            line: "compress -qqc --patch-from {} small",
            stdin: "/dev/stdin",
            // A pipe does not say how long it is.
            code: |kind, size| {
                let is_regular = matches!(kind, Kind::File | Kind::Redirected);
                Some(i32::from(size == 0 || !is_regular))
            },
            ..ROW
        },
    ]);
}

fn decompressed(stream: &[u8]) -> Vec<u8> {
    zstdkit::decompress(stream, &zstdkit::DecoderOptions::default()).expect("frames")
}

fn comes_back(_: &Path, input: &[u8], run: &Run) {
    assert!(decompressed(&run.stdout) == input);
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn content_to_compress() {
    let row = |line| Row {
        line,
        check: comes_back,
        ..ROW
    };
    run_all(&[
        row("compress -qqc -1 {}"),
        row("compress -qqc -1 -T2 --verify {}"),
        row("compress -qqc -1 --recipe auto {}"),
        row("compress -qqc -1 --seekable {}"),
    ]);
}

/// A frame, and one that is passed over and fills it up.
fn frames(size: usize) -> Vec<u8> {
    const SPARE: usize = 8 << 10;
    if size < SPARE {
        return vec![b'x'; size];
    }
    let content = content(size - SPARE);
    let mut stream =
        zstdkit::compress(&content, &zstdkit::EncoderOptions::default()).expect("compressed");
    let left = size - stream.len() - 8;
    stream.extend_from_slice(&0x184d_2a50_u32.to_le_bytes());
    stream.extend_from_slice(&u32::try_from(left).expect("small").to_le_bytes());
    stream.resize(size, 0);
    stream
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn frames_to_decompress() {
    let row = |line, check| Row {
        line,
        input: frames,
        code: two_bytes_at_least,
        check,
        ..ROW
    };
    run_all(&[
        row("decompress -qqc {}", |_, input, run| {
            assert!(run.stdout == decompressed(input));
        }),
        row("decompress -qqc -T2 {}", |_, input, run| {
            assert!(run.stdout == decompressed(input));
        }),
        Row {
            // A range is sought.
            code: |kind, size| (kind == Kind::File).then_some(i32::from(size < 2)),
            ..row("decompress -qqc --range 100..200100 {}", |_, input, run| {
                assert!(run.stdout == decompressed(input)[100..200_100]);
            })
        },
        row("decompress -qq -t {}", |_, _, _| {}),
        row("decompress -l --report json {}", |_, input, run| {
            let inputs = &run.json()["workload"]["inputs"];
            assert_eq!(inputs[0]["bytes"].as_u64(), Some(input.len() as u64));
        }),
    ]);
}

/// An archive of one stored entry.
fn archive(size: usize) -> Vec<u8> {
    const AROUND: usize = 30 + 46 + 22 + 2;
    if size < AROUND {
        return vec![b'P'; size];
    }
    let content = content(size - AROUND);
    let mut sum = zipstream::Crc32::new();
    sum.update(&content);
    let bytes = u32::try_from(content.len()).expect("small").to_le_bytes();
    let mut facts = vec![10, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
    facts.extend_from_slice(&sum.sum().to_le_bytes());
    facts.extend_from_slice(&[bytes, bytes].concat());
    facts.extend_from_slice(&[1, 0, 0, 0]);
    let mut archive = Vec::with_capacity(size);
    archive.extend_from_slice(b"PK\x03\x04");
    archive.extend_from_slice(&facts);
    archive.push(b'a');
    archive.extend_from_slice(&content);
    let directory = u32::try_from(archive.len()).expect("small");
    archive.extend_from_slice(b"PK\x01\x02\x0a\x00");
    archive.extend_from_slice(&facts);
    archive.extend_from_slice(&[0; 14]);
    archive.push(b'a');
    archive.extend_from_slice(b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00\x2f\x00\x00\x00");
    archive.extend_from_slice(&directory.to_le_bytes());
    archive.extend_from_slice(&[0, 0]);
    archive
}

#[test]
fn archives() {
    let row = |line, check| Row {
        line,
        input: archive,
        code: two_bytes_at_least,
        check,
        ..ROW
    };
    run_all(&[
        row("unzip -qq -p {}", |_, input, run| {
            assert!(run.stdout == input[31..input.len() - 69]);
        }),
        row("unzip -qq -t {}", |_, _, _| {}),
        row("unzip -l {}", |_, _, run| assert!(run.text().contains('a'))),
        Row {
            line: "zip -qq -1 - {}",
            // By its name a FIFO is no file to pack.
            code: |kind, _| (format!("{kind:?}") != "Fifo").then_some(0),
            check: |dir, input, run| {
                let path = file(dir, "packed.zip", &run.stdout);
                let back = common::run(dir, ["unzip", "-qq", "-p", path.to_str().expect("text")]);
                assert!(back.expect(0).stdout == input);
            },
            ..ROW
        },
    ]);
}

/// Lines filled up with blank ones, of blanks and at the end without. They are not short: an unoptimised binary takes
/// most of its time for beginning a line.
fn blank_filled(line: &str, size: usize) -> Vec<u8> {
    let mut text = line.repeat(size / line.len() / 16 + 1).into_bytes();
    if size < line.len() {
        return vec![b'\n'; size];
    }
    while text.len() > size {
        text.truncate(text.len() - line.len());
    }
    let blanks = format!("{:63}\n", "").repeat((size - text.len()) / 64);
    text.extend_from_slice(blanks.as_bytes());
    text.resize(size, b'\n');
    text
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn expressions_events_and_domains() {
    let row = |line, input: fn(usize) -> Vec<u8>| Row {
        line,
        stdin: "/dev/stdin",
        input,
        ..ROW
    };
    let events: fn(usize) -> Vec<u8> =
        |size| blank_filled("{\"age\":20                              }\n", size);
    let expressions: fn(usize) -> Vec<u8> =
        |size| blank_filled("age >= 18                              \n", size);
    run_all(&[
        Row {
            stdin: "-",
            check: |_, input, run| {
                let given = memchr_iter(b'{', input).count();
                assert_eq!(lines(&run.stdout), given);
            },
            ..row(
                "betree match -qq --domains domains --expressions expressions --events {}",
                events,
            )
        },
        Row {
            stdin: "-",
            check: |_, input, run| {
                let given = memchr_iter(b'{', input).count();
                assert_eq!(run.text().matches("expression 1 matches").count(), given);
            },
            ..row(
                "betree explain --domains domains --expressions expressions --id 1 --events {}",
                events,
            )
        },
        Row {
            check: |_, input, run| {
                let given = memchr_iter(b'>', input).count();
                assert_eq!(run.text().trim(), given.to_string());
            },
            ..row(
                "betree match -qq --domains domains --expressions {} --events events --format count",
                expressions,
            )
        },
        row(
            "betree build -q -f -o snapshot --domains domains --expressions {}",
            expressions,
        ),
    ]);
}

/// A report, or a column of numbers, with blanks behind it.
fn numbers(size: usize) -> Vec<u8> {
    blank_filled("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", size)
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn columns_of_numbers_and_reports() {
    run_all(&[
        Row {
            line: "compare --report json {} copy",
            input: numbers,
            code: two_bytes_at_least,
            check: |_, _, run| {
                assert_eq!(run.json()["comparisons"][0]["verdict"], "no_difference");
            },
            ..ROW
        },
        Row {
            line: "report --report json {}",
            input: report,
            code: two_bytes_at_least,
            check: |_, _, run| assert!(run.json()["schema"].is_string()),
            ..ROW
        },
    ]);
}

/// A report with blanks behind it.
fn report(size: usize) -> Vec<u8> {
    let dir = directory();
    let mut bytes = common::run(dir.path(), ["env", "--report", "json"])
        .expect(0)
        .stdout;
    if size < bytes.len() {
        return vec![b'{'; size];
    }
    bytes.resize(size, b' ');
    bytes
}
