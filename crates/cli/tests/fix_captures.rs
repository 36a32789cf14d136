//! Captures of network traffic: what `perfkit fix` reads of them, beside tshark.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use crate::common::{directory, file, run, words};
use crate::peer;

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let tshark = peer::works(Command::new("tshark").arg("--version"))
        && peer::works(Command::new("editcap").arg("--version"));
    peer::trials![
        true => [
            every_command_reads_a_capture,
            what_a_capture_lacks_is_named_and_the_exit_code_is_3,
        ],
        tshark => [
            tshark_counts_the_same_messages,
        ],
    ]
}

/// The lines of a pcap file's packets: where each begins, and the end.
fn packets(capture: &[u8]) -> Vec<usize> {
    let mut at = 24;
    let mut starts = Vec::new();
    while let Some(length) = capture.get(at + 8..at + 12) {
        starts.push(at);
        at += 16 + u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
    }
    starts.push(at);
    starts
}

fn every_command_reads_a_capture() {
    let dir = directory();
    let dir = dir.path();
    for form in ["pcap", "lines"] {
        let line = format!("fix generate --messages 3000 --form {form} -o day.{form}");
        run(dir, words(&line)).expect(0);
    }
    let parsed = run(dir, words("fix parse -qq --fields 34 day.pcap")).expect(0);
    assert_eq!(parsed.text().lines().count(), 3000);
    let first: serde_json::Value =
        serde_json::from_str(parsed.text().lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["packet"], 4);
    assert_eq!(first["stream"], "10.0.0.1:40000 > 10.0.0.2:5001");
    assert!(
        first["arrived"]
            .as_str()
            .is_some_and(|time| time.starts_with("20260305-08:00:00"))
    );
    // Behind time and stream, a capture is the same log.
    let raw = run(dir, words("fix parse -qq --format raw day.pcap")).expect(0);
    let lines = std::fs::read_to_string(dir.join("day.lines")).expect("read");
    let bare = raw
        .text()
        .lines()
        .map(|line| line.split_once(" : ").expect("a prefix").1);
    assert!(bare.eq(lines.lines()));
    for command in ["validate", "anonymize"] {
        run(dir, words(&format!("fix {command} -qq day.pcap"))).expect(0);
    }
    run(dir, words("fix diff -qq day.pcap day.lines")).expect(0);
    let replayed = run(dir, words("fix replay -qq --speed 0 day.pcap")).expect(0);
    assert_eq!(replayed.text().matches("8=FIX.4.4").count(), 3000);
    for name in ["day.pcap", "day.lines"] {
        let line = format!("fix orders -qq --export-json {name}.json {name}");
        run(dir, words(&line)).expect(0);
    }
    let orders = ["day.pcap.json", "day.lines.json"].map(|name| {
        let text = std::fs::read(dir.join(name)).expect("a report");
        let report: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        report["tables"][0]["rows"].clone()
    });
    assert_eq!(orders[0], orders[1]);
}

fn what_a_capture_lacks_is_named_and_the_exit_code_is_3() {
    let dir = directory();
    let dir = dir.path();
    let line = "fix generate --messages 300 --sessions 1 --form pcap -o day.pcap";
    run(dir, words(line)).expect(0);
    let capture = std::fs::read(dir.join("day.pcap")).expect("read");
    let starts = packets(&capture);
    // The twentieth packet was never captured.
    let lacking = [&capture[..starts[19]], &capture[starts[20]..]].concat();
    file(dir, "lacking.pcap", &lacking);
    let found = run(dir, words("fix validate -qq lacking.pcap")).expect(3);
    let lines: Vec<_> = found.text().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains(" bytes are missing in 10.0.0."),
        "{}",
        lines[0]
    );
    let parsed = run(dir, words("fix parse -qq --fields 34 lacking.pcap")).expect(3);
    assert_eq!(parsed.text().lines().count(), 299 + 1);
    // It was cut off within a packet.
    file(dir, "cut.pcap", &capture[..starts[40] - 5]);
    let found = run(dir, words("fix validate -qq cut.pcap")).expect(3);
    assert!(
        found.text().contains("the capture ends within this packet"),
        "{}",
        found.text()
    );
    // What cannot be read further is an error with its place.
    let mut damaged = capture.clone();
    damaged[starts[50] + 8..starts[50] + 12].fill(0xff);
    file(dir, "damaged.pcap", &damaged);
    let found = run(dir, words("fix parse -qq damaged.pcap")).expect(1);
    assert!(
        found.stderr.contains("behind packet 50, at byte"),
        "{}",
        found.stderr
    );
}

/// How many FIX messages tshark counts, and perfkit.
fn counts(dir: &Path, name: &str) -> [usize; 2] {
    let tshark = Command::new("tshark")
        .args([
            "-r",
            name,
            "-d",
            "tcp.port==5001,fix",
            "-Y",
            "fix",
            "-T",
            "fields",
            "-e",
        ])
        .args(["fix.MsgType", "-o", "tcp.reassemble_out_of_order:TRUE"])
        .current_dir(dir)
        .output()
        .expect("tshark runs");
    let types = String::from_utf8_lossy(&tshark.stdout);
    let theirs = types
        .split([',', '\n'])
        .filter(|text| !text.is_empty())
        .count();
    let ours = run(dir, words(&format!("fix parse -qq --fields 35 {name}"))).expect(0);
    [theirs, ours.text().lines().count()]
}

fn tshark_counts_the_same_messages() {
    let dir = directory();
    let dir = dir.path();
    let line = "fix generate --messages 4000 --mix 1,4,4,4 --form pcap -o day.pcap";
    run(dir, words(line)).expect(0);
    assert_eq!(counts(dir, "day.pcap"), [4000, 4000]);
    let editcap = |arguments: &[&str]| {
        let done = Command::new("editcap")
            .args(arguments)
            .current_dir(dir)
            .status();
        assert!(done.expect("editcap runs").success());
    };
    editcap(&["-F", "pcapng", "day.pcap", "day.pcapng"]);
    assert_eq!(counts(dir, "day.pcapng"), [4000, 4000]);
    // Neighbours in the wrong order, and some twice.
    let capture = std::fs::read(dir.join("day.pcap")).expect("read");
    let starts = packets(&capture);
    let all: Vec<_> = starts
        .windows(2)
        .map(|pair| &capture[pair[0]..pair[1]])
        .collect();
    let mut disturbed = capture[..24].to_vec();
    for (at, pair) in all.chunks(2).enumerate() {
        let mut pair = pair.to_vec();
        if at > 20 && at % 3 == 0 {
            pair.reverse();
        }
        if at > 20 && at % 5 == 0 {
            pair.push(pair[0]);
        }
        disturbed.extend(pair.concat());
    }
    file(dir, "disturbed.pcap", &disturbed);
    assert_eq!(counts(dir, "disturbed.pcap"), [4000, 4000]);
}
