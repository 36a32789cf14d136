//! `perfkit betree match` by several threads, with the ids of events, and with events that are refused: every
//! event has its line, in order, and the bytes are the same for any number of threads.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Run, directory, file, perfkit, pipe, run, words};

const TREE: &str = "--domains domains --expressions expressions";
const OUTPUTS: [&str; 4] = ["json", "ids", "count", "bitmap"];

/// Whether an expression of [`files`] matches: an evaluator that knows only these.
fn is_match(expression: usize, country: &str, age: Option<usize>) -> bool {
    let floor = expression % 90;
    match expression % 3 {
        0 => {
            country == ["FR", "DE", "ES"][expression / 3 % 3] && age.is_some_and(|age| age >= floor)
        }
        1 => age.is_some_and(|age| age < floor),
        _ => country != "FR" && age.is_none_or(|age| age > floor),
    }
}

fn files(dir: &Path, expressions: usize) {
    file(
        dir,
        "domains",
        b"country|string|false\nage|integer|true|0|120\n",
    );
    let line = |expression: usize| {
        let floor = expression % 90;
        let text = match expression % 3 {
            0 => {
                let country = ["FR", "DE", "ES"][expression / 3 % 3];
                format!("country = '{country}' and age >= {floor}")
            }
            1 => format!("age < {floor}"),
            _ => format!("not (country = 'FR') and (age > {floor} or age is null)"),
        };
        format!("e{expression}\t{text}\n")
    };
    let lines: String = (0..expressions).map(line).collect();
    file(dir, "expressions", lines.as_bytes());
}

/// The country and the age of an event.
type Event = (&'static str, Option<usize>);

/// Events, and what each of them is; some are refused.
fn events(count: usize) -> (Vec<u8>, Vec<Option<Event>>) {
    let (mut text, mut truth) = (String::new(), Vec::new());
    for at in 0..count {
        let country = ["FR", "DE", "ES", "IT"][at * 7 % 4];
        let age = (at % 5 > 0).then_some(at * 31 % 121);
        let age_text = age.map_or(String::new(), |age| format!(",\"age\":{age}"));
        if at % 101 == 100 {
            text.push_str(&format!("{{\"request\":\"r{at}\",\"country\":{at}}}\n"));
            truth.push(None);
        } else {
            text.push_str(&format!(
                "{{\"request\":\"r{at}\",\"country\":\"{country}\"{age_text}}}\n"
            ));
            truth.push(Some((country, age)));
        }
    }
    (text.into_bytes(), truth)
}

fn matches(dir: &Path, flags: &str) -> Run {
    run(dir, words(&format!("betree match {TREE} {flags}")))
}

#[test]
fn every_event_has_its_line_with_its_id_and_the_bytes_do_not_depend_on_threads() {
    let dir = directory();
    files(dir.path(), 300);
    let (content, truth) = events(6_000);
    file(dir.path(), "events", &content);
    for output in OUTPUTS {
        let flags = format!("-q --events events --event-id request --keep-going --format {output}");
        let one = matches(dir.path(), &format!("{flags} -T1 --report json")).expect(3);
        for threads in [2, 3, 16] {
            let several =
                matches(dir.path(), &format!("{flags} -T{threads} --report json")).expect(3);
            assert!(several.text() == one.text(), "{output} -T{threads}");
            let messages = |run: &Run| -> Vec<String> {
                let lines = run
                    .stderr
                    .lines()
                    .filter(|line| line.starts_with("perfkit: "));
                lines.map(str::to_owned).collect()
            };
            assert_eq!(messages(&several), messages(&one));
            let report = several.stderr.find("\n{").expect("a report");
            let report: Value = serde_json::from_str(&several.stderr[report..]).expect("JSON");
            assert_eq!(report["workload"]["params"]["threads"], threads);
            let rows = report["latencies"].as_array().expect("rows");
            let count = |series: &str| -> u64 {
                let row = rows
                    .iter()
                    .find(|row| row["series"] == series)
                    .expect("a row");
                row["n"].as_u64().expect("a count")
            };
            assert_eq!(count("read"), truth.iter().flatten().count() as u64);
            assert_eq!(count("search"), 3, "batches");
        }
        // From a pipe they are searched one by one.
        let flags = flags.replace("--events events", "-T3 --export-json report -f");
        let line = words(&format!("betree match {TREE} {flags}"));
        let singles = pipe(dir.path(), line, &content).expect(3);
        assert!(singles.text() == one.text(), "{output}");
        let report = std::fs::read(dir.path().join("report")).expect("a report");
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        let searches = &report["latencies"][0];
        assert_eq!(searches["n"], truth.iter().flatten().count());
        let mut lines = one.text().lines();
        for (at, event) in truth.iter().enumerate() {
            let Some((country, age)) = event else {
                if output != "json" {
                    assert_eq!(lines.next(), Some(&*format!("r{at}\t-")));
                }
                continue;
            };
            let line = lines.next().expect("a line");
            let found: Vec<usize> = (0..300).filter(|e| is_match(*e, country, *age)).collect();
            let names: Vec<String> = found.iter().map(|e| format!("e{e}")).collect();
            let expected = match output {
                "json" => {
                    let ids = names.join("\",\"");
                    let ids = if ids.is_empty() {
                        ids
                    } else {
                        format!("\"{ids}\"")
                    };
                    format!("{{\"event\":{},\"id\":\"r{at}\",\"ids\":[{ids}]}}", at + 1)
                }
                "ids" => format!("r{at}\t{}", names.join(" ")),
                "count" => format!("r{at}\t{}", names.len()),
                _ => {
                    let bit = |e: usize| if found.contains(&e) { '1' } else { '0' };
                    format!("r{at}\t{}", (0..300).map(bit).collect::<String>())
                }
            };
            assert_eq!(line, expected);
        }
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn an_error_ends_the_output_at_the_same_place_for_any_number_of_threads() {
    let dir = directory();
    files(dir.path(), 30);
    let (content, _) = events(40_000);
    // The first event that is refused is far behind the first block.
    let mut content: Vec<u8> = content
        .split_inclusive(|byte| *byte == b'\n')
        .enumerate()
        .filter(|(at, _)| at % 101 != 100 || *at == 100 + 101 * 300)
        .flat_map(|(_, line)| line.to_vec())
        .collect();
    file(dir.path(), "events", &content);
    let flags = "-qq --events events --event-id request --format ids";
    let one = matches(dir.path(), flags).expect(1);
    assert_eq!(one.text().lines().count(), 100 * 301);
    assert!(
        one.stderr.contains("line 30101: attribute 'country'"),
        "{}",
        one.stderr
    );
    for threads in [2, 5] {
        let several = matches(dir.path(), &format!("{flags} -T{threads}")).expect(1);
        assert!(several.text() == one.text(), "-T{threads}");
        assert_eq!(several.stderr, one.stderr);
    }
    // A line that is too long, after good ones.
    content.truncate(1 << 20);
    content.resize((1 << 20) + (65 << 20), b' ');
    let line = words(&format!(
        "betree match {TREE} -qq --event-id request --format ids -T2"
    ));
    let several = pipe(dir.path(), line, &content).expect(1);
    assert!(
        several.stderr.contains("is longer than 67108864 bytes"),
        "{}",
        several.stderr
    );
    assert!(
        one.text().starts_with(several.text()),
        "what came before is written"
    );
    assert!(several.text().len() > 100_000);
}

/// Output much longer than what a block of events may make.
#[test]
fn long_output_is_written_in_parts_and_batches_give_the_same_lines() {
    let dir = directory();
    let line = "betree generate bool --attributes 24 --expressions 150 --events 3000 -o bool";
    run(dir.path(), words(line)).expect(0);
    let files_of = "--domains bool/domains --expressions bool/expressions";
    let events = std::fs::read(dir.path().join("bool/events")).expect("generated");
    for output in OUTPUTS {
        let line = words(&format!("betree match {files_of} -qq --format {output}"));
        let piped = pipe(dir.path(), line, &events).expect(0);
        for threads in [1, 2, 4] {
            let flags = format!("--events bool/events -qq --format {output} -T{threads}");
            let batches = run(
                dir.path(),
                words(&format!("betree match {files_of} {flags}")),
            )
            .expect(0);
            assert!(batches.text() == piped.text(), "{output} -T{threads}");
        }
    }
    files(dir.path(), 20_000);
    let event = b"{\"country\":\"DE\",\"age\":119}\n";
    file(dir.path(), "events", &event.repeat(700));
    let one = matches(dir.path(), "-qq --events events").expect(0);
    assert!(one.text().len() > 24 << 20, "{}", one.text().len());
    assert!(
        one.text()
            .lines()
            .skip(1)
            .zip(one.text().lines())
            .all(|(next, line)| {
                let ids = |line: &str| line[line.find("ids").expect("ids")..].to_owned();
                ids(next) == ids(line)
            })
    );
    let several = matches(dir.path(), "-qq --events events -T2").expect(0);
    assert!(several.text() == one.text());
}

#[test]
fn a_pipe_that_pauses_is_answered_at_once() {
    let dir = directory();
    files(dir.path(), 30);
    for threads in [1, 3] {
        let line = format!("betree match {TREE} -qq --format count -T{threads}");
        let mut child = perfkit()
            .current_dir(dir.path())
            .args(words(&line))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut to = child.stdin.take().expect("a pipe");
        let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
        let start = Instant::now();
        for _ in 0..20 {
            // The second event is not whole yet.
            to.write_all(b"{\"country\":\"FR\"}\n{\"coun")
                .expect("written");
            let mut answer = String::new();
            from.read_line(&mut answer).expect("an answer");
            assert!(answer.trim().parse::<u64>().is_ok(), "{answer}");
            to.write_all(b"try\":\"DE\"}\n").expect("written");
            answer.clear();
            from.read_line(&mut answer).expect("an answer");
        }
        assert!(start.elapsed() < Duration::from_secs(120));
        drop(to);
        assert!(child.wait().expect("it ends").success());
    }
}

#[test]
fn ids_of_events_are_strings_or_numbers_and_refused_ones_keep_their_line() {
    let dir = directory();
    file(dir.path(), "domains", b"a|integer|true\nid|integer|true\n");
    file(dir.path(), "expressions", b"a > 0\nid > 5\n");
    let events = concat!(
        "{\"a\":1,\"rid\":\"plain\"}\n",
        "\n",
        "{\"rid\":\"t\\tab \\u0000\",\"a\":1}\n",
        "{\"a\":0,\"rid\":-1.50e3}\n",
        "{\"a\":0}\n",
        "{\"a\":0,\"rid\":null}\n",
        "{\"a\":0,\"rid\":[1]}\n",
        "{\"rid\":\"seen\",\"a\":\"x\"}\n",
        "{\"a\":\"x\",\"rid\":\"unseen\"}\n",
        "{\"rid\":1,\"rid\":2}\n",
        "{\"a\":1,\"other\":1}\n",
        "{\"rid\":\"-\",\"a\":1}\n",
        "{\"rid\":\"\",\"a\":1}\n",
        "{\"rid\":\"\u{202e}\",\"a\":1}",
    );
    let found = |flags: &str, code: i32| -> String {
        let line = words(&format!("betree match {TREE} -qq {flags}"));
        let run = pipe(dir.path(), line, events.as_bytes()).expect(code);
        for part in [
            "line 7: the event's id 'rid': expected a string or a number, found a list at byte 13",
            "line 10: the event's id 'rid' appears twice",
        ] {
            assert!(run.stderr.contains(part), "{}", run.stderr);
        }
        run.text().to_owned()
    };
    let ids = found("--event-id rid --keep-going --format ids", 3);
    let expected = "plain\t1\n\"t\\tab \\u0000\"\t1\n-1.50e3\t\n\t\n\t\n\t-\nseen\t-\n\t-\n1\t-\n\t-\n\"-\"\t1\n\"\"\t1\n\"\u{202e}\"\t1\n";
    assert_eq!(ids, expected);
    let lines = found("--event-id rid --keep-going", 3);
    let read: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let numbers: Vec<_> = read.iter().map(|line| line["event"].as_u64()).collect();
    assert_eq!(numbers, [1, 3, 4, 5, 6, 12, 13, 14].map(Some));
    assert_eq!(read[1]["id"], "t\tab \u{0}");
    assert_eq!(read[2]["id"], -1500.0);
    assert!(
        lines
            .lines()
            .nth(2)
            .expect("a line")
            .contains("\"id\":-1.50e3,")
    );
    assert_eq!(read[3]["id"], Value::Null);
    // An attribute may be the id, too.
    let line = words(&format!(
        "betree match {TREE} -qq --event-id id --format ids"
    ));
    let run = pipe(dir.path(), line, b"{\"id\":7}\n").expect(0);
    assert_eq!(run.text(), "7\t2\n");
}
