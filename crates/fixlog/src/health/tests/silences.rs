//! Silences, refused Logons, sessions with the same names, and clocks.

use super::*;

/// Silences: who, seconds, how.
fn silences(lines: &[&str]) -> Vec<(String, u64, &'static str)> {
    let (seen, sums) = read(lines);
    let silences = seen.kinds("silence").into_iter().map(|one| match one {
        Finding::Silence(one) => {
            let who = String::from_utf8_lossy(&one.spot.session[0]).into_owned();
            (who, one.took_ns / 1_000_000_000, one.how)
        }
        _ => unreachable!("of its kind"),
    });
    let silences: Vec<_> = silences.collect();
    let overdue: u64 = sums.iter().map(|sum| sum.overdue).sum();
    assert_eq!(overdue, silences.len() as u64);
    silences
}

#[test]
fn who_sends_nothing_any_more_is_silent_until_the_other_side_has_said_its_last() {
    let alive = [
        "A B 0 35=A|34=1|108=30|",
        "B A 0 35=A|34=1|108=30|",
        "A B 30 35=0|34=2|",
        "B A 30 35=0|34=2|",
        "A B 60 35=0|34=3|",
        "A B 90 35=0|34=4|",
    ];
    let with = |more: &[&str]| silences(&[&alive[..], more].concat());
    let dead = |seconds| vec![("B".to_owned(), seconds, "never")];
    assert_eq!(with(&[]), dead(60), "the log ends");
    assert_eq!(
        with(&["A B 95 35=5|34=5|58=timed out|"]),
        dead(65),
        "a Logout"
    );
    assert_eq!(with(&["A B 100 35=A|34=5|108=30|"]), dead(60), "a Logon");
    assert_eq!(
        with(&["A B 95 35=1|34=5|112=x|", "B A 96 35=0|34=3|112=x|"]),
        [("B".to_owned(), 66, "resumed")]
    );
    // A clock that is ahead, or is set, is no silence.
    assert_eq!(
        silences(&[
            "A B 0 35=A|34=1|108=30|",
            "B A 600 35=A|34=1|108=30|",
            "A B 30 35=0|34=2|",
            "B A 630 35=0|34=2|"
        ]),
        []
    );
}

#[test]
fn without_a_logon_heartbeats_are_counted_and_show_their_interval() {
    let lines: Vec<_> = [0, 30, 60, 90, 170, 200]
        .into_iter()
        .enumerate()
        .map(|(at, second)| format!("A B {second} 35=0|34={}|", at + 1))
        .collect();
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    assert_eq!(silences(&lines), [("A".to_owned(), 80, "resumed")]);
    let (_, sums) = read(&lines);
    let sum = &sums[0];
    assert_eq!(
        (sum.heartbeats, sum.heartbeat_s, sum.is_heartbeat_inferred),
        (6, Some(30), true)
    );
    let (_, sums) = read(&lines[..2]);
    let sum = &sums[0];
    assert_eq!(
        (sum.heartbeats, sum.heartbeat_s, sum.silence_ns),
        (2, None, 30_000_000_000)
    );
    let none = [&["A B 0 35=A|34=1|108=0|"], &lines[1..]].concat();
    let (_, sums) = read(&none);
    assert_eq!(
        (sums[0].heartbeats, sums[0].overdue, sums[0].heartbeat_s),
        (5, 0, Some(0))
    );
}

#[test]
fn a_refused_logon_is_one_connection_whatever_follows() {
    let how = |lines: &[&str]| {
        let found = read(lines).0.connections();
        found
            .into_iter()
            .map(|one| (one.0, one.2))
            .collect::<Vec<_>>()
    };
    let refused = [("logon refused", "B".to_owned())];
    let logon = "A B 0 35=A|34=1|108=30|";
    assert_eq!(
        how(&[logon, "B A 1 35=5|34=1|58=no|", "A B 1 35=5|34=2|"]),
        refused
    );
    let reject = "B A 1 35=3|34=1|45=1|372=A|373=9|58=CompID|";
    assert_eq!(how(&[logon, reject, "B A 1 35=5|34=2|"]), refused);
    assert_eq!(how(&[logon, reject]), refused);
}

#[test]
fn numbers_that_begin_anew_within_a_connection_end_it_not() {
    let alive = [
        "A B 0 35=A|34=1|108=30|",
        "B A 0 35=A|34=1|108=30|",
        "A B 30 35=0|34=2|",
        "B A 30 35=0|34=2|",
        "A B 31 35=A|34=1|108=30|141=Y|",
        "B A 31 35=A|34=1|108=30|141=Y|",
        "A B 61 35=0|34=2|",
    ];
    let (seen, sums) = read(&alive);
    assert_eq!(seen.connections(), [("end of log", 7, String::new(), None)]);
    assert!(sums.iter().all(|sum| sum.gaps + sum.duplicates == 0));
    // Long after the last message it is another connection.
    let later = [&alive[..4], &["A B 300 35=A|34=1|108=30|141=Y|"]].concat();
    assert_eq!(read(&later).0.connections().len(), 2);
}

#[test]
fn versions_and_the_sub_ids_of_logons_are_sessions_of_their_own_and_those_of_users_are_not() {
    let names = |lines: &[&str]| {
        let (_, sums) = read(lines);
        assert!(sums.iter().all(|sum| sum.duplicates + sum.gaps == 0));
        sums.iter()
            .map(|sum| (sum.title(), sum.messages))
            .collect::<Vec<_>>()
    };
    let two = names(&[
        "A B 0 35=A|34=1|50=S1|108=30|",
        "B A 0 35=A|34=1|57=S1|108=30|",
        "A B 1 35=A|34=1|50=S2|108=30|",
        "B A 1 35=A|34=1|57=S2|108=30|",
        "A B 2 35=0|34=2|50=S1|",
        "A B 3 35=0|34=2|50=S2|",
        "B A 3 35=0|34=2|57=S2|",
    ]);
    let row = |name: &str, messages| (name.to_owned(), messages);
    assert_eq!(
        two,
        [
            row("A/S1 → B", 2),
            row("A/S2 → B", 2),
            row("B → A/S1", 1),
            row("B → A/S2", 2)
        ]
    );
    let users = names(&[
        "A B 0 35=A|34=1|108=30|",
        "B A 0 35=A|34=1|108=30|",
        "A B 2 35=D|34=2|50=anna|",
        "A B 3 35=D|34=3|50=bert|",
    ]);
    assert_eq!(users, [row("A → B", 3), row("B → A", 1)]);
}

/// The mean differences of clocks in seconds, by sender, and the zone, of lines of `sender|sent|prefix`.
fn clocks(lines: &[(&str, &str, &str)]) -> Vec<(i128, i64)> {
    let (mut part, mut decoder) = (HealthPart::default(), Decoder::new());
    for (at, (sender, sent, prefix)) in lines.iter().enumerate() {
        let target = if *sender == "A" { "B" } else { "A" };
        let body = format!(
            "35=0\x0149={sender}\x0156={target}\x0134={}\x0152=20260305-{sent}\x01",
            at + 1
        );
        let mut bytes = Vec::new();
        frame::write(b"FIX.4.4", body.as_bytes(), &mut bytes);
        let message = decoder.parse(&bytes).expect("valid");
        part.message((at as u64, None), prefix.as_bytes(), &message);
    }
    let (mut health, mut seen) = (Health::new(), Seen::default());
    health.add(0, 0, &part, &mut seen);
    health.finish(&mut seen);
    let skews = health.directions().into_iter().filter_map(|one| one.skew);
    let hour_ns = 3_600_000_000_000;
    skews
        .map(|skew| {
            (
                skew.sum_ns / i128::from(skew.messages) / 1_000_000_000,
                skew.zone_ns / hour_ns,
            )
        })
        .collect()
}

#[test]
fn a_clock_that_is_wrong_is_that_of_its_party_whoever_is_first() {
    // B is ten minutes ahead, and its message is the first.
    let stated = [
        ("B", "08:10:00", "2026-03-05T08:00:00Z "),
        ("A", "08:00:01", "2026-03-05T09:00:01+01:00 "),
    ];
    assert_eq!(clocks(&stated), [(0, 0), (-600, 0)]);
    let local = [
        ("B", "08:10:00", "2026-03-05 03:00:00 "),
        ("A", "08:00:01", "2026-03-05 03:00:01 "),
    ];
    assert_eq!(clocks(&local), [(0, -5), (-600, -5)]);
    // The time of the year changes.
    let summer = [
        ("A", "08:00:00", "2026-03-05 09:00:00 "),
        ("B", "08:00:01", "2026-03-05 09:00:01 "),
        ("A", "08:00:02", "2026-03-05 10:00:02 "),
        ("B", "08:00:03", "2026-03-05 10:00:03 "),
    ];
    assert_eq!(clocks(&summer), [(0, 1), (0, 1)]);
}
