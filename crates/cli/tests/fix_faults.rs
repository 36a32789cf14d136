//! What `perfkit fix` says of logs that are not as they should be: classes of bad messages, whatever
//! separates their fields, and noise between messages.

use crate::common::fix::{Fault, execution, faults, message, order};
use crate::common::{directory, file, pipe, run, words};
use serde_json::{Value, json};

/// A log whose fields are separated by something else, a message a line.
fn logged(parts: &[&[u8]], separator: &str) -> Vec<u8> {
    let mut log = Vec::new();
    for part in parts {
        for byte in *part {
            match byte {
                1 => log.extend_from_slice(separator.as_bytes()),
                byte => log.push(*byte),
            }
        }
        log.push(b'\n');
    }
    log
}

/// The rows of a table of a report; none where there is no such table.
fn rows(report: &Value, name: &str) -> Vec<Value> {
    let tables = report["tables"].as_array().expect("tables");
    let table = tables.iter().find(|table| table["name"] == name);
    table.map_or_else(Vec::new, |table| {
        table["rows"].as_array().expect("rows").clone()
    })
}

#[test]
fn every_fault_is_of_its_class_whatever_separates_fields() {
    let dir = directory();
    let (first, last) = (order(1, "one", 100), execution(1, "one", 130));
    for separator in ["\x01", "|", "^A", "\\x01"] {
        for fault in faults() {
            let log = logged(&[&first, &fault.bytes, &last], separator);
            let place = first.iter().filter(|byte| **byte == 1).count() * (separator.len() - 1)
                + first.len()
                + 1;
            for part in ["parse", "validate", "stats"] {
                let line = format!("fix {part} --report json");
                let found = pipe(dir.path(), words(&line), &log).expect(3);
                // Of a filter the report stands beside the data.
                let report = match part {
                    "stats" => found.text(),
                    _ => &found.stderr,
                };
                let report: Value = serde_json::from_str(report).expect("a report");
                let what = format!("{separator} {}: {}", fault.name, report["tables"]);
                let wanted = [json!([fault.class, 1, "-", place])];
                let rows = rows(&report, "faults");
                match part {
                    // All that is wrong with it, by the dictionary too.
                    "validate" => assert!(rows.contains(&wanted[0]), "{part} {what}"),
                    _ => assert_eq!(rows, wanted, "{part} {what}"),
                }
            }
        }
    }
}

#[test]
fn a_place_in_a_message_is_that_of_the_log() {
    let dir = directory();
    let bad = message("35=D|49=A|55=|");
    for separator in ["\x01", "|", "^A", "<SOH>"] {
        let log = logged(&[&bad], separator);
        let found = pipe(dir.path(), words("fix validate -qq"), &log).expect(3);
        let line: Value = serde_json::from_str(found.text()).expect("JSON");
        let text = String::from_utf8(log).expect("text");
        let place = text.find("55=").expect("the field") + 3;
        let wanted = format!("tag 55: empty value, at byte {place}");
        assert_eq!(line["error"], wanted, "{separator}");
    }
}

#[test]
fn a_message_with_another_separator_than_its_log_is_named_so() {
    let dir = directory();
    let (first, other) = (order(1, "one", 100), order(2, "two", 110));
    let log = [first.clone(), logged(&[&other], "|"), first.clone()].concat();
    let line = words("fix validate -qq --separator soh");
    let found = pipe(dir.path(), line, &log).expect(3);
    let line: Value = serde_json::from_str(found.text()).expect("JSON");
    assert_eq!(line["offset"], first.len());
    assert_eq!(
        line["error"],
        "fields are not separated by the byte 1 (SOH)"
    );
    // Whoever states no separator has a log that goes on in another way.
    let found = pipe(dir.path(), words("fix validate -qq"), &log).expect(0);
    assert!(found.text().is_empty(), "{}", found.text());
    // Lines may each have their own.
    let log = [
        logged(&[&first], "|"),
        logged(&[&other], "^A"),
        logged(&[&other], "~"),
        logged(&[&first], "\t"),
    ];
    let found = pipe(dir.path(), words("fix parse -qq"), &log.concat()).expect(0);
    assert_eq!(found.text().lines().count(), 4);
    // One that is not known.
    let found = pipe(dir.path(), words("fix parse -qq"), &logged(&[&first], "@")).expect(3);
    assert!(
        found.text().contains("behind 8=FIX.4.4 stands '@'"),
        "{}",
        found.text()
    );
}

#[test]
fn noise_between_messages_is_counted_and_named() {
    let dir = directory();
    let (first, last) = (order(1, "one", 100), execution(1, "one", 130));
    let large = vec![0; 700_000];
    for separator in ["\x01", "|"] {
        let one = |bytes: &[u8]| logged(&[bytes], separator);
        let noise: [&[u8]; 2] = [b"noise\x00\xff", &large];
        let log = [
            &large[..],
            b"\n",
            &one(&first),
            noise[0],
            b"\n",
            "gr\u{fc}\u{df}e: ".as_bytes(),
            &one(&last),
        ]
        .concat();
        file(dir.path(), "log", &log);
        let second = large.len() + 1 + one(&first).len();
        // In a stream an end of line is a byte as any other.
        let lengths = match separator {
            "|" => [700_000, 7],
            _ => [700_001, 18],
        };
        let offset = |at: usize| match separator {
            "|" => [0, second][at],
            _ => [0, second - 1][at],
        };
        let wanted: Vec<_> = (0..2)
            .map(|at| json!(["log", offset(at), lengths[at]]))
            .collect();
        let messages = one(&first).len() + one(&last).len() - 2;
        for part in ["parse", "validate", "print"] {
            let line = words(&format!("fix {part} --report json -T2 log"));
            let code = if part == "validate" { 3 } else { 0 };
            let found = run(dir.path(), line).expect(code);
            let report: Value = serde_json::from_str(&found.stderr).expect("a report");
            assert_eq!(rows(&report, "noise"), wanted, "{part} {separator:?}");
            assert_eq!(
                rows(&report, "faults"),
                [json!(["noise", 2, "log", 0])],
                "{part}"
            );
            let params = &report["workload"]["params"];
            assert_eq!(params["messages"], 2);
            assert_eq!(params["noise"], 2);
            assert_eq!(params["noise_bytes"], lengths[0] + lengths[1]);
            let between = log.len() - messages;
            assert_eq!(params["between_bytes"], between, "{part} {separator:?}");
            assert_eq!(found.text().contains("no text"), part == "validate");
        }
        let shown = run(dir.path(), words("fix stats log")).expect(0);
        assert!(shown.text().contains("noise"), "{}", shown.text());
    }
}

#[test]
fn text_around_messages_is_no_noise() {
    let dir = directory();
    let log = [
        "2026-03-05 14:15:16.100 \x1b[32mINFO\x1b[0m started, caf\u{e9}\r\n\tout: ".as_bytes(),
        &order(1, "one", 100),
        b" [gw]\n",
    ]
    .concat();
    let found = pipe(dir.path(), words("fix validate --report json"), &log).expect(0);
    let report: Value = serde_json::from_str(&found.stderr).expect("a report");
    assert_eq!(report["workload"]["params"]["noise"], 0);
    let between = log.len() - order(1, "one", 100).len();
    assert_eq!(report["workload"]["params"]["between_bytes"], between);
    assert!(rows(&report, "faults").is_empty());
}

#[test]
fn a_table_of_faults_counts_them_and_says_where_each_was_first() {
    let dir = directory();
    let all: Vec<Fault> = faults();
    let mut log = order(1, "one", 100);
    let first_sum = log.len();
    for _ in 0..3 {
        log.extend_from_slice(&all[0].bytes);
    }
    log.extend_from_slice(&order(2, "two", 110));
    file(dir.path(), "a", &order(1, "one", 100));
    file(dir.path(), "b", &log);
    let found = run(dir.path(), words("fix validate a b")).expect(3);
    let lines: Vec<&str> = found.stderr.lines().collect();
    let at = lines.iter().position(|line| *line == "faults");
    let row = lines[at.expect("a table") + 2];
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["checksum", "3", "b", &first_sum.to_string()]);
}

#[test]
fn a_dictionary_of_another_version_is_named_so_and_one_of_applications_needs_no_frame() {
    let dir = directory();
    let field = |number: u32, name: &str, kind: &str| {
        format!("<field number='{number}' name='{name}' type='{kind}'/>")
    };
    let xml = |kind: &str, version: [u32; 2], body: &str| {
        let head = match kind {
            "FIX" if version[0] == 5 => "<header/>".to_owned(),
            _ => "<header><field name='BeginString' required='Y'/><field name='BodyLength' \
                required='Y'/><field name='MsgType' required='Y'/></header>"
                .to_owned(),
        };
        let fields = [
            field(8, "BeginString", "STRING"),
            field(9, "BodyLength", "LENGTH"),
            field(35, "MsgType", "STRING"),
            field(10, "CheckSum", "STRING"),
            field(20_001, "Sign", "CHAR"),
        ];
        let trailer = if head == "<header/>" {
            "<trailer/>"
        } else {
            "<trailer><field name='CheckSum' required='Y'/></trailer>"
        };
        format!(
            "<fix type='{kind}' major='{}' minor='{}'>{head}<messages>{body}</messages>{trailer}\
             <components/><fields>{}</fields></fix>",
            version[0],
            version[1],
            fields.concat()
        )
    };
    let own =
        "<message name='Own' msgtype='U1' msgcat='app'><field name='Sign' required='Y'/></message>";
    file(dir.path(), "44.xml", xml("FIX", [4, 4], own).as_bytes());
    file(dir.path(), "50.xml", xml("FIX", [5, 0], own).as_bytes());
    let by = |name: &str, bytes: &[u8], code: i32| {
        let line = format!("fix validate -qq --dictionary {name}");
        let found = pipe(dir.path(), words(&line), bytes).expect(code);
        found.text().to_owned()
    };
    let begins = |begin: &str| {
        let body = "35=U1|49=A|56=B|34=1|52=20260305-14:15:16|20001=x|".replace('|', "\x01");
        let head = format!("8={begin}\x019={}\x01{body}", body.len());
        let sum = head.bytes().fold(0_u8, u8::wrapping_add);
        format!("{head}10={sum:03}\x01").into_bytes()
    };
    // The frame of FIXT 1.1 is built in.
    assert_eq!(by("50.xml", &begins("FIXT.1.1"), 0), "");
    // Messages of other versions have the built-in ones.
    let found = by("44.xml", &begins("FIXT.1.1"), 3);
    assert!(!found.contains("dictionary of"), "{found}");
    let found = by("50.xml", &begins("FIX.4.4"), 3);
    assert!(!found.contains("dictionary of"), "{found}");
    let found = by("44.xml", &begins("FIX.9.9"), 3);
    assert!(
        found.contains("the message is of FIX.9.9, the dictionary of FIX.4.4"),
        "{found}"
    );
    // One for each version, in any order, and none twice.
    for flags in ["44.xml --dictionary 50.xml", "50.xml --dictionary 44.xml"] {
        assert_eq!(by(flags, &begins("FIXT.1.1"), 0), "", "{flags}");
        // The header of the own one has no SenderCompID.
        let found = by(flags, &begins("FIX.4.4"), 3);
        assert!(found.contains("\"tag\":49,"), "{found}");
    }
    let twice = words("fix stats --dictionary 44.xml --dictionary 44.xml");
    let found = pipe(dir.path(), twice, b"").expect(2);
    assert!(
        found.stderr.contains("two dictionaries are of FIX.4.4"),
        "{}",
        found.stderr
    );
    for part in ["print", "parse --fields Sign", "orders"] {
        let line = format!("fix {part} -qq --application-dictionary 50.xml");
        pipe(dir.path(), words(&line), &begins("FIXT.1.1")).expect(0);
    }
}

#[test]
fn whoever_names_something_else_than_a_log_is_told() {
    let dir = directory();
    file(dir.path(), "text", b"nothing of the kind\n");
    file(dir.path(), "empty", b"");
    file(dir.path(), "bz2", b"BZh91AY&SY");
    for part in ["parse", "print", "validate", "stats", "anonymize"] {
        let found = run(dir.path(), words(&format!("fix {part} empty text"))).expect(3);
        let warned: Vec<&str> = found
            .stderr
            .lines()
            .filter(|line| line.contains("warning"))
            .collect();
        let wanted = [
            "warning: there are no messages in 'empty' (it is empty)",
            "warning: there are no messages in 'text' (messages begin with 8=FIX)",
        ];
        assert_eq!(warned, wanted, "{part}");
        let found = run(dir.path(), words(&format!("fix {part} -q text"))).expect(3);
        assert!(!found.stderr.contains("warning"), "{part}");
        run(dir.path(), words(&format!("fix {part} -q empty"))).expect(0);
        let found = run(dir.path(), words(&format!("fix {part} bz2"))).expect(3);
        assert!(
            found.stderr.contains("bzcat FILE | perfkit fix"),
            "{}",
            found.stderr
        );
    }
    let found = run(dir.path(), words("fix diff - -")).expect(2);
    assert!(found.stderr.contains("both logs"), "{}", found.stderr);
    let found = run(dir.path(), words("fix store verify nowhere")).expect(1);
    assert!(
        found
            .stderr
            .starts_with("perfkit: cannot read 'nowhere': no such file or directory\n"),
        "{}",
        found.stderr
    );
    let line = words("fix-bench store --store-dir nowhere --batches 1");
    let found = run(dir.path(), line).expect(1);
    assert!(
        found.stderr.contains("cannot make a store in 'nowhere': "),
        "{}",
        found.stderr
    );
}
