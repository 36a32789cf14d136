//! Sessions whose fate is known.

use fixcore::{Decoder, frame};

use super::{Direction, Finding, Health, HealthPart, Watch};

mod silences;

/// What was found, in words.
#[derive(Default)]
struct Seen {
    found: Vec<Finding>,
    late_ns: Vec<u64>,
}

impl Watch for Seen {
    fn found(&mut self, finding: Finding) {
        self.found.push(finding);
    }

    fn heartbeat(&mut self, _: &[Vec<u8>; 2], late_ns: u64) {
        self.late_ns.push(late_ns);
    }
}

impl Seen {
    /// Gaps: expected, got, seconds until filled, how.
    fn gaps(&self) -> Vec<(u64, u64, Option<i64>, &'static str)> {
        let gap = |finding: &Finding| match finding {
            Finding::Gap(gap) => {
                let took = gap.start_ns.zip(gap.end_ns).map(|(start, end)| end - start);
                Some((
                    gap.expected,
                    gap.got,
                    took.map(|ns| ns / 1_000_000_000),
                    gap.how,
                ))
            }
            _ => None,
        };
        self.found.iter().filter_map(gap).collect()
    }

    /// Connections: how they ended, messages, by whom, seconds down before.
    fn connections(&self) -> Vec<(&'static str, u64, String, Option<u64>)> {
        let one = |finding: &Finding| match finding {
            Finding::Connection(one) => {
                let by = String::from_utf8_lossy(&one.by).into_owned();
                Some((
                    one.how,
                    one.messages,
                    by,
                    one.down_ns.map(|ns| ns / 1_000_000_000),
                ))
            }
            _ => None,
        };
        self.found.iter().filter_map(one).collect()
    }

    fn kinds(&self, kind: &str) -> Vec<&Finding> {
        let of = |finding: &&Finding| finding.kind() == kind;
        self.found.iter().filter(of).collect()
    }
}

/// Lines of `SENDER TARGET second fields`, such as `A B 5 35=0|34=1|`.
fn read(lines: &[&str]) -> (Seen, Vec<Direction>) {
    let (mut part, mut decoder) = (HealthPart::default(), Decoder::new());
    for (at, line) in lines.iter().enumerate() {
        let mut words = line.splitn(4, ' ');
        let mut word = || words.next().expect("a word");
        let (sender, target, second, fields) = (word(), word(), word(), word());
        let second: u32 = second.parse().expect("a second");
        let (msg_type, rest) = fields.split_once('|').expect("a type");
        let (minute, second) = (second / 60, second % 60);
        let body = format!(
            "{msg_type}|49={sender}|56={target}|{rest}52=20260305-14:{minute:02}:{second:02}.000|"
        );
        let mut bytes = Vec::new();
        frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut bytes);
        let message = decoder.parse(&bytes).expect("valid");
        part.message((at as u64, Some(at as u64 + 1)), b"", &message);
    }
    let (mut health, mut seen) = (Health::new(), Seen::default());
    health.add(0, 0, &part, &mut seen);
    health.finish(&mut seen);
    let directions = health.directions().into_iter().cloned().collect();
    (seen, directions)
}

#[test]
fn gaps_have_times_and_say_how_they_were_filled() {
    let torn = ["A B 0 35=0|34=1|", "A B 10 35=0|34=5|"];
    let then = |more: &[&str]| read(&[&torn, more].concat()).0.gaps();
    assert_eq!(then(&[]), [(2, 5, None, "never")]);
    let resent = [
        "A B 12 35=D|34=2|43=Y|",
        "A B 12 35=D|34=3|43=Y|",
        "A B 13 35=D|34=4|43=Y|",
    ];
    assert_eq!(then(&resent), [(2, 5, Some(3), "resent")]);
    assert_eq!(
        then(&resent[..2]),
        [(2, 5, None, "never")],
        "a part is not all"
    );
    let filled = ["A B 14 35=4|34=2|43=Y|123=Y|36=5|"];
    assert_eq!(then(&filled), [(2, 5, Some(4), "gap fill")]);
    let both = ["A B 12 35=D|34=2|43=Y|", "A B 15 35=4|34=3|123=Y|36=5|"];
    assert_eq!(then(&both), [(2, 5, Some(5), "resent and gap fill")]);
    let late = [
        "A B 10 35=0|34=4|",
        "A B 10 35=0|34=2|",
        "A B 11 35=0|34=3|",
    ];
    assert_eq!(then(&late), [(2, 5, Some(1), "late")]);
    let reset = ["A B 20 35=4|34=6|36=100|", "A B 21 35=0|34=100|"];
    assert_eq!(then(&reset), [(2, 5, Some(10), "reset")]);
    // A new day begins with 1, and a gap of the other direction is one of its own.
    let day = [
        "A B 30 35=A|34=1|108=30|",
        "B A 31 35=0|34=9|",
        "B A 32 35=0|34=11|",
    ];
    assert_eq!(
        then(&day),
        [(2, 5, Some(20), "reset"), (10, 11, None, "never")]
    );
    let (_, sums) = read(&[&torn[..], &["A B 11 35=0|34=5|"]].concat());
    assert_eq!(
        (sums[0].gaps, sums[0].missing, sums[0].duplicates),
        (1, 3, 1)
    );
}

#[test]
fn connections_end_with_or_without_logout() {
    let logon = ["A B 0 35=A|34=1|108=30|", "B A 1 35=A|34=1|108=30|"];
    let then = |more: &[&str]| read(&[&logon, more].concat()).0.connections();
    assert_eq!(then(&[]), [("end of log", 2, String::new(), None)]);
    let end = ["B A 9 35=5|34=2|58=bye|", "A B 10 35=5|34=2|"];
    assert_eq!(then(&end), [("logout", 4, "B".to_owned(), None)]);
    assert_eq!(
        then(&end[..1]),
        [("logout not confirmed", 3, "B".to_owned(), None)]
    );
    let again = [
        "A B 5 35=0|34=2|",
        "A B 65 35=A|34=3|108=30|",
        "B A 66 35=A|34=2|108=30|",
    ];
    let wanted = [
        ("no logout", 3, String::new(), None),
        ("end of log", 2, String::new(), Some(60)),
    ];
    assert_eq!(then(&again), wanted);
    let refused = read(&["A B 0 35=A|34=1|108=30|", "B A 1 35=5|34=1|58=no|"]).0;
    assert_eq!(
        refused.connections(),
        [("logon refused", 2, "B".to_owned(), None)]
    );
    let silent = read(&["A B 0 35=A|34=1|108=30|", "A B 9 35=A|34=2|108=30|"]).0;
    let found = silent.connections();
    assert_eq!(
        (found[0].0, found[1].0),
        ("logon not answered", "logon not answered")
    );
    // A log of one side alone.
    let one = read(&["A B 0 35=A|34=1|108=30|", "A B 9 35=D|34=2|"]).0;
    assert_eq!(one.connections(), [("end of log", 2, String::new(), None)]);
}

#[test]
fn requests_are_answered_and_many_are_a_storm() {
    let (seen, sums) = read(&[
        "B A 0 35=2|34=1|7=3|16=0|",
        "A B 2 35=D|34=2|43=Y|",
        "A B 3 35=D|34=3|43=Y|",
        "B A 4 35=2|34=2|7=9|16=9|",
        "B A 5 35=2|34=3|7=9|16=9|",
        "B A 7 35=2|34=4|7=9|16=9|",
        "A B 8 35=4|34=4|43=Y|123=Y|36=9|",
        "A B 9 35=4|34=9|43=Y|123=Y|36=10|",
        "B A 10 35=2|34=5|7=20|16=0|",
    ]);
    let requests: Vec<_> = seen
        .kinds("resend request")
        .into_iter()
        .map(|finding| match finding {
            Finding::Request(one) => (one.from, one.to, one.how),
            _ => unreachable!("of its kind"),
        })
        .collect();
    let fill = (9, 9, "gap fill");
    assert_eq!(
        requests,
        [(3, 0, "resent"), fill, fill, fill, (20, 0, "never")]
    );
    let storms = seen.kinds("storm");
    let Some(Finding::Storm(storm)) = storms.first() else {
        panic!("no storm: {:?}", seen.found);
    };
    assert_eq!((storms.len(), storm.from, storm.requests), (1, 9, 3));
    assert_eq!(
        storm
            .end_ns
            .zip(storm.start_ns)
            .map(|(end, start)| end - start),
        Some(3_000_000_000)
    );
    let of = sums.iter().find(|sum| sum.session[0] == b"B").expect("B");
    assert_eq!((of.requests, of.storms), (5, 1));
}

#[test]
fn heartbeats_are_late_by_what_is_over_their_interval_and_tests_are_answered_by_their_id() {
    let (seen, sums) = read(&[
        "A B 0 35=A|34=1|108=30|",
        "B A 0 35=A|34=1|108=30|",
        "A B 30 35=0|34=2|",
        "A B 65 35=0|34=3|",
        "A B 66 35=1|34=4|112=one|",
        "A B 67 35=1|34=5|112=two|",
        "B A 68 35=0|34=2|112=two|",
        "A B 110 35=D|34=6|",
        "A B 111 35=5|34=7|",
        "B A 111 35=5|34=3|",
    ]);
    // 30 s are right, 35 s are 5 s late; the answer of a test is no Heartbeat of the interval.
    assert_eq!(seen.late_ns, [0, 5_000_000_000]);
    let [a, b] = [&sums[0], &sums[1]];
    assert_eq!(
        (a.heartbeats, a.overdue, a.silence_ns),
        (2, 1, 43_000_000_000)
    );
    assert_eq!(
        (b.heartbeats, b.overdue, b.silence_ns),
        (0, 2, 68_000_000_000)
    );
    assert_eq!((a.tests, a.unanswered), (2, 1));
    let tests = seen.kinds("unanswered test request");
    let Some(Finding::Test(test)) = tests.first() else {
        panic!("no test: {:?}", seen.found);
    };
    assert_eq!(
        (tests.len(), test.id.as_slice(), test.spot.line),
        (1, &b"one"[..], Some(5))
    );
}

#[test]
fn rejects_are_counted_by_reason_and_by_text_without_numbers() {
    let (mut part, mut decoder) = (HealthPart::default(), Decoder::new());
    for (at, fields) in [
        "35=3|373=5|58=value of tag 38",
        "35=3|373=5|58=value of tag 40",
        "35=j|380=3|58=unsupported",
        "35=8|39=8|103=1|58=unknown symbol",
        "35=8|39=0|103=1|58=no reject",
        "35=9|102=1|58=unknown order X17",
        "35=9|102=1|58=unknown order X18",
    ]
    .iter()
    .enumerate()
    {
        let (msg_type, rest) = fields.split_once('|').expect("a type");
        let body = format!("{msg_type}|49=A|56=B|34={}|{rest}|", at + 1).replace('|', "\x01");
        let mut bytes = Vec::new();
        frame::write(b"FIX.4.4", body.as_bytes(), &mut bytes);
        part.message(
            (at as u64, None),
            b"",
            &decoder.parse(&bytes).expect("valid"),
        );
    }
    let mut health = Health::new();
    health.add(0, 0, &part, &mut Seen::default());
    let found: Vec<_> = health
        .rejects()
        .into_iter()
        .map(|one| {
            let text = String::from_utf8_lossy(&one.text).into_owned();
            (one.msg_type, one.tag, one.count, text)
        })
        .collect();
    let row = |msg_type, tag, count, text: &str| (msg_type, tag, count, text.to_owned());
    let wanted = [
        row(b'3', 373, 2, "value of tag 38"),
        row(b'9', 102, 2, "unknown order X17"),
        row(b'j', 380, 1, "unsupported"),
        row(b'8', 103, 1, "unknown symbol"),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn the_zone_of_a_log_is_no_skew() {
    let (mut part, mut decoder) = (HealthPart::default(), Decoder::new());
    let mut seen = Seen::default();
    let mut health = Health::new();
    let mut bytes = Vec::new();
    let body = "35=0\x0149=A\x0156=B\x0134=1\x0152=20260305-14:00:00.000\x01";
    frame::write(b"FIX.4.4", body.as_bytes(), &mut bytes);
    let message = decoder.parse(&bytes).expect("valid");
    for prefix in [
        "2026-03-05 15:00:00.250 ",
        "2026-03-05 14:59:59.900 ",
        "no time ",
    ] {
        part.message((0, None), prefix.as_bytes(), &message);
    }
    health.add(0, 0, &part, &mut seen);
    health.finish(&mut seen);
    let skew = health.directions()[0].skew.expect("two times");
    assert_eq!((skew.messages, skew.sum_ns), (2, 150_000_000));
    assert_eq!(
        (skew.least_ns, skew.largest_ns),
        (-100_000_000, 250_000_000)
    );
    assert_eq!(skew.zone_ns, 3_600_000_000_000);
}

#[test]
fn memory_is_bounded_whatever_comes() {
    let (mut part, mut decoder) = (HealthPart::default(), Decoder::new());
    let (mut health, mut seen, mut bytes) = (Health::new(), Seen::default(), Vec::new());
    for number in 1..2000_u64 {
        let body = format!(
            "35=3\x0149=A{number}\x0156=B\x0134={}\x0158={}\x01",
            number * 3,
            "x".repeat(number as usize)
        );
        bytes.clear();
        frame::write(b"FIX.4.4", body.as_bytes(), &mut bytes);
        part.message((0, None), b"", &decoder.parse(&bytes).expect("valid"));
        let body = format!(
            "35=2\x0149=A\x0156=B\x0134={}\x017={number}\x01",
            number * 3
        );
        bytes.clear();
        frame::write(b"FIX.4.4", body.as_bytes(), &mut bytes);
        part.message((0, None), b"", &decoder.parse(&bytes).expect("valid"));
    }
    for group in 0..5 {
        health.add(0, group, &part, &mut seen);
    }
    assert_eq!(health.directions().len(), 4096);
    assert!(health.unfollowed() > 0);
    let before = seen.found.len();
    health.finish(&mut seen);
    let open = seen.found[before..].iter();
    let of_a =
        open.filter(|finding| matches!(finding, Finding::Gap(gap) if gap.spot.session[0] == b"A"));
    assert!(of_a.count() <= 3 * 64, "ranges of a direction");
}
