//! `--find`: of the messages of any log, those that contain a text, and what is bad with it.

use crate::common::{directory, file, pipe, run, words};

/// Flags of generated logs of every shape.
const LOGS: [&str; 7] = [
    "--form lines",
    "--form stream",
    "--form prefixed",
    "--form prefixed --separator pipe",
    "--form lines --separator caret",
    "--form prefixed --separator hex",
    "--form lines --separator <SOH>",
];

fn lines(dir: &std::path::Path, line: &str) -> Vec<String> {
    let found = run(dir, words(line));
    assert!(
        matches!(found.code, Some(0 | 3)),
        "{line}: {}",
        found.stderr
    );
    // Messages of a damaged log are not all text.
    let text = String::from_utf8_lossy(&found.stdout);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn what_is_found_is_what_a_search_of_all_messages_finds() {
    let dir = directory();
    for flags in LOGS {
        for hostile in ["0", "0.05"] {
            let line =
                format!("fix generate -f --messages 3000 --hostile {hostile} {flags} -o log");
            run(dir.path(), words(&line)).expect(0);
            let all = lines(dir.path(), "fix parse -qq --format raw log");
            let json = lines(dir.path(), "fix parse -qq log");
            assert!(all.len() > 2000, "{flags}");
            for text in [
                "ORD00000000009",
                "DESK00001",
                "35=D",
                "10=1",
                "8",
                "nothing",
            ] {
                // What stands before a message is no part of it: a time, or a message that is cut off.
                let message =
                    |line: &String| line[line.rfind("8=FIX").expect("a message")..].to_owned();
                let wanted = all.iter().filter(|line| message(line).contains(text));
                let wanted: Vec<_> = wanted.cloned().collect();
                for threads in [1, 3] {
                    let line = format!("fix parse -qq -T{threads} --format raw --find {text} log");
                    let found = lines(dir.path(), &line);
                    let is_same = match hostile {
                        "0" => found == wanted,
                        _ => found.iter().map(message).eq(wanted.iter().map(message)),
                    };
                    assert!(is_same, "{flags}: {line}");
                }
                // With the same places, and bad messages among them.
                let found = lines(dir.path(), &format!("fix parse -qq --find {text} log"));
                let is_error = |line: &&String| line.contains("\"error\":");
                assert_eq!(
                    found.iter().filter(|line| !is_error(line)).count(),
                    wanted.len()
                );
                let mut rest = json.iter();
                for line in &found {
                    assert!(rest.any(|other| other == line), "{flags} {text}: {line}");
                }
            }
        }
    }
}

#[test]
fn messages_without_the_text_are_not_checked() {
    let dir = directory();
    let good = "8=FIX.4.4|9=5|35=0|10=163|\n";
    let bad = "8=FIX.4.4|9=5|35=0|10=164|\n";
    let texts = [
        ("log", [good, bad, good].concat()),
        ("soh", [good, bad, good].concat().replace('|', "\x01")),
    ];
    for (name, text) in texts {
        file(dir.path(), name, text.as_bytes());
        let found = |text: &str, code| {
            let line = format!("fix parse -qq --find {text} {name}");
            run(dir.path(), words(&line))
                .expect(code)
                .text()
                .lines()
                .count()
        };
        assert_eq!(found("163", 0), 2);
        assert_eq!(found("10=164", 3), 1);
        assert_eq!(found("35=0", 3), 3);
        assert_eq!(found("35=1", 0), 0);
        let line = format!("fix parse --find 35=1 {name}");
        let shown = run(dir.path(), words(&line)).expect(0);
        assert!(
            shown.stderr.contains("no message contains '35=1'"),
            "{}",
            shown.stderr
        );
    }
    // A text over the end of a message is in none.
    let found = pipe(
        dir.path(),
        words("fix parse -qq --find |8=FIX"),
        good.repeat(2).replace('\n', "").as_bytes(),
    );
    assert_eq!(found.expect(0).text(), "");
}

#[test]
fn other_flags_are_for_what_is_found() {
    let dir = directory();
    run(dir.path(), words("fix generate --messages 3000 -o log")).expect(0);
    let all = lines(
        dir.path(),
        "fix parse -qq --where ClOrdID=ORD00000000009 log",
    );
    let found = lines(
        dir.path(),
        "fix parse -qq --find ORD00000000009 --where ClOrdID=ORD00000000009 log",
    );
    assert_eq!(found, all);
    assert!(all.len() > 1);
    let first = lines(
        dir.path(),
        "fix parse -qq --find ORD00000000009 --limit 1 log",
    );
    assert_eq!(first, all[..1]);
    let printed = run(dir.path(), words("fix print -qq --find ORD00000000009 log")).expect(0);
    assert!(printed.text().contains("ORD00000000009"));
    let by_time = lines(
        dir.path(),
        "fix parse -qq --by-time --find ORD00000000009 log",
    );
    assert_eq!(by_time.len(), all.len());
    for wrong in ["--find= log", "--find x --context 2 log"] {
        run(dir.path(), words(&format!("fix parse {wrong}"))).expect(2);
    }
}

/// Blocks without the text are passed over, up to where a message ends: lines and bytes stay those of the log.
#[test]
fn what_is_passed_over_is_counted_as_lines_and_bytes() {
    let dir = directory();
    for form in ["lines", "prefixed", "stream"] {
        let line = format!("fix generate -f --messages 12000 --hostile 0.01 --form {form} -o log");
        run(dir.path(), words(&line)).expect(0);
        let all = lines(dir.path(), "fix parse -qq log");
        let (orders, mut far) = (["ORD00000000003", "ORD00000002000", "ORD00000005000"], 0);
        for order in orders {
            let wanted: Vec<_> = all
                .iter()
                .filter(|line| line.contains(&format!("\"{order}\"")))
                .collect();
            for threads in [1, 2] {
                let line = format!("fix parse -qq -T{threads} --find {order} log");
                let found = lines(dir.path(), &line);
                let found = found.iter().filter(|line| !line.contains("\"error\":"));
                assert!(found.eq(wanted.iter().copied()), "{form}: {line}");
            }
            far += wanted.len();
        }
        assert!(far > 3, "{form}");
    }
    // Of messages longer than a block, and with ends of messages in their data.
    let data = format!(
        "{}|10=123|8=FIX.4.4|9=5|35=0|10=163|{}",
        "x".repeat(200_000),
        "y".repeat(200_000)
    );
    let body = format!("35=B|49=A|56=B|34=1|95={}|96={data}|58=needle|", data.len());
    let long = crate::common::fix::message(&body);
    let small = crate::common::fix::message("35=0|49=A|56=B|34=1|");
    let log = [&small[..], &long, &small, &long].concat();
    file(dir.path(), "long", &log);
    let found = lines(dir.path(), "fix parse -qq --find needle --fields 58 long");
    let all = lines(
        dir.path(),
        "fix parse -qq --where 58=needle --fields 58 long",
    );
    assert_eq!(found.len(), 2);
    assert_eq!(found, all);
}
