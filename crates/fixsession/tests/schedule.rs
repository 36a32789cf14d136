//! Schedules against a stepper that walks through time minute by minute and knows no calendar but the offset of a
//! zone at an instant. `PERFKIT_SCHEDULE_YEARS=10 PERFKIT_SCHEDULE_ZONES=20` is the full run.

use fixcore::Timestamp;
use fixsession::schedule::{Days, Endpoint, Interval, Rule, Schedule, Zone};

/// 2018-01-01, in minutes.
const FIRST: i64 = 1_514_764_800 / 60;
const DAY: i64 = 1440;
/// What the stepper cannot know at both ends.
const MARGIN: i64 = 10 * DAY;
const MINUTE_NS: i64 = 60_000_000_000;

/// Zones with changes of every kind: of half an hour and of two, at midnight, of the other sign, of rules.
const ZONES: [&str; 20] = [
    "America/New_York",
    "Europe/London",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "America/Havana",
    "Asia/Tehran",
    "Asia/Beirut",
    "Antarctica/Troll",
    "America/Santiago",
    "Africa/Cairo",
    "UTC",
    "Asia/Kathmandu",
    "Europe/Dublin",
    "America/Asuncion",
    "Pacific/Apia",
    "America/Sao_Paulo",
    "Asia/Gaza",
    "Europe/Volgograd",
    "Pacific/Chatham",
    "America/St_Johns",
];

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

/// The local minute at each minute.
fn local(zone: &str, minutes: i64) -> Vec<i64> {
    let zone = jiff::tz::TimeZone::get(zone).unwrap();
    let at = |minute: i64| {
        let at = jiff::Timestamp::from_second((FIRST + minute) * 60).unwrap();
        FIRST + minute + i64::from(zone.to_offset(at).seconds()) / 60
    };
    (0..minutes).map(at).collect()
}

/// One end as the stepper sees it: a minute of the day, and the days of the week.
struct End {
    minute: i64,
    days: Vec<i64>,
}

impl End {
    /// How often it happens when a clock that has shown `before` shows `now`: hands that go back do not count.
    fn happens(&self, before: i64, now: i64) -> bool {
        (before + 1..=now).any(|shown| {
            let day = shown.div_euclid(DAY);
            shown.rem_euclid(DAY) == self.minute && self.days.contains(&(day + 4).rem_euclid(7))
        })
    }
}

/// The sessions as the stepper finds them.
fn stepped(start: (&End, &[i64]), end: (&End, &[i64])) -> Vec<(i64, i64)> {
    let mut sessions = Vec::new();
    let mut open = None;
    let (mut start_shown, mut end_shown) = (start.1[0], end.1[0]);
    for minute in 1..start.1.len() {
        let start_now = start_shown.max(start.1[minute]);
        let end_now = end_shown.max(end.1[minute]);
        let opens = start.0.happens(start_shown, start_now);
        let closes = end.0.happens(end_shown, end_now);
        (start_shown, end_shown) = (start_now, end_now);
        let minute = FIRST + minute as i64;
        if let Some(began) = open.take_if(|_| opens || closes) {
            sessions.push((began, minute));
        }
        if opens {
            open = Some(minute);
        }
    }
    sessions
}

struct Case {
    start: (u8, u8),
    end: (u8, u8),
    weekdays: Option<&'static [u8]>,
    week: Option<(u8, u8)>,
    /// Whether the end is in the next zone.
    is_across: bool,
}

const fn case(start: (u8, u8), end: (u8, u8)) -> Case {
    Case {
        start,
        end,
        weekdays: None,
        week: None,
        is_across: false,
    }
}

const CASES: [Case; 12] = [
    case((0, 0), (0, 0)),
    case((8, 0), (17, 0)),
    case((17, 5), (17, 0)),
    case((2, 30), (2, 30)),
    case((1, 30), (2, 15)),
    case((2, 15), (1, 30)),
    Case {
        weekdays: Some(&[1, 2, 3, 4, 5]),
        ..case((18, 0), (17, 0))
    },
    Case {
        weekdays: Some(&[0, 6]),
        ..case((0, 0), (23, 59))
    },
    Case {
        week: Some((0, 5)),
        ..case((18, 0), (17, 0))
    },
    Case {
        week: Some((0, 0)),
        ..case((2, 30), (2, 30))
    },
    Case {
        is_across: true,
        ..case((23, 30), (17, 30))
    },
    Case {
        is_across: true,
        ..case((0, 0), (0, 0))
    },
];

impl Case {
    fn rule(&self, zone: &str, next: &str) -> Rule {
        let end_zone = if self.is_across { next } else { zone };
        let end = |time: (u8, u8), zone: &str, day: Option<u8>| {
            let end = Endpoint::daily(time.0, time.1, 0, Zone::named(zone).unwrap()).unwrap();
            day.map_or(end.clone(), |day| end.on(day).unwrap())
        };
        let start = end(self.start, zone, self.week.map(|week| week.0));
        let end = end(self.end, end_zone, self.week.map(|week| week.1));
        let days = self.weekdays.map(|days| Days::of(days.iter().copied()));
        Rule::new(start, end, days.unwrap_or(Days::ALL))
    }

    fn stepped(&self, zone: &[i64], next: &[i64]) -> Vec<(i64, i64)> {
        let end = |time: (u8, u8), day: Option<u8>, days: Option<&[u8]>| End {
            minute: i64::from(time.0) * 60 + i64::from(time.1),
            days: match (day, days) {
                (Some(day), _) => vec![day.into()],
                (None, Some(days)) => days.iter().map(|day| i64::from(*day)).collect(),
                (None, None) => (0..7).collect(),
            },
        };
        let start = end(self.start, self.week.map(|week| week.0), self.weekdays);
        let last = end(self.end, self.week.map(|week| week.1), None);
        stepped(
            (&start, zone),
            (&last, if self.is_across { next } else { zone }),
        )
    }
}

fn utc(minute: i64) -> Timestamp {
    Timestamp(minute * MINUTE_NS)
}

/// The intervals of a schedule that start within these minutes, by its changes.
fn walked(schedule: &Schedule, from: i64, to: i64) -> Vec<Interval> {
    let mut intervals: Vec<Interval> = Vec::new();
    let mut now = utc(from);
    while let Some(next) = schedule.next_change(now).filter(|next| *next < utc(to)) {
        assert!(next > now);
        now = next;
        if let Some(interval) = schedule.interval_at(now) {
            assert_eq!(interval.start, now, "a change in the midst of an interval");
            intervals.push(interval);
        }
    }
    intervals
}

#[test]
fn schedules_are_those_of_a_clock_that_is_watched() {
    let years = setting("PERFKIT_SCHEDULE_YEARS", 1) as i64;
    let zones = setting("PERFKIT_SCHEDULE_ZONES", 3).min(ZONES.len());
    let minutes = years * 365 * DAY + 3 * MARGIN;
    let mut compared = 0;
    for at in 0..zones {
        let (name, next) = (ZONES[at], ZONES[(at + 1) % ZONES.len()]);
        let (zone, after) = (local(name, minutes), local(next, minutes));
        for (number, case) in CASES.iter().enumerate() {
            let schedule = Schedule::new(case.rule(name, next));
            let (from, to) = (FIRST + MARGIN, FIRST + minutes - MARGIN);
            let sessions = case.stepped(&zone, &after);
            let wanted: Vec<Interval> = sessions
                .iter()
                .filter(|(start, _)| (from + 1..to).contains(start))
                .map(|(start, end)| Interval {
                    start: utc(*start),
                    end: utc(*end),
                })
                .collect();
            let found = walked(&schedule, from, to);
            let differs = wanted
                .iter()
                .zip(&found)
                .find(|(wanted, found)| wanted != found);
            assert_eq!(differs, None, "{name} {next} case {number}");
            assert_eq!(wanted.len(), found.len(), "{name} {next} case {number}");
            // At any instant, not only at changes.
            for interval in wanted.iter().step_by(17) {
                let inside = Timestamp(interval.end.0 - 1);
                assert_eq!(schedule.interval_at(inside), Some(*interval));
                assert!(schedule.same_session(interval.start, inside));
                assert!(!schedule.same_session(inside, interval.end));
            }
            compared += wanted.len();
        }
    }
    assert!(compared > 1000 * years as usize * zones);
    println!("{compared} intervals of {years} years in {zones} zones are the same");
}

#[test]
fn a_session_that_never_stops_is_one() {
    let schedule = Schedule::non_stop();
    assert_eq!(schedule.next_change(utc(FIRST)), None);
    assert!(schedule.same_session(Timestamp(0), utc(FIRST)));
    assert!(schedule.is_logon_time(Timestamp(i64::MAX)));
}

#[test]
fn logon_times_are_inside_of_the_session() {
    let end = |hour| Endpoint::daily(hour, 0, 0, Zone::utc()).unwrap();
    let rule = |start, stop| Rule::new(end(start), end(stop), Days::ALL);
    let schedule = Schedule::new(rule(8, 20)).logon(rule(9, 17)).unwrap();
    let at = |hour: i64| utc(FIRST + hour * 60);
    assert!(!schedule.is_logon_time(at(8)) && schedule.interval_at(at(8)).is_some());
    assert!(schedule.is_logon_time(at(9)) && !schedule.is_logon_time(at(17)));
    let changes = [8, 9, 17, 20, 32].map(at);
    let mut now = at(0);
    for change in changes {
        now = schedule.next_change(now).unwrap();
        assert_eq!(now, change);
    }
    // A logout does not end the session.
    assert!(schedule.same_session(at(8), at(19)));
    for (start, stop) in [(7, 17), (9, 21), (21, 22)] {
        assert!(
            Schedule::new(rule(8, 20)).logon(rule(start, stop)).is_err(),
            "{start}"
        );
    }
}

#[test]
fn extreme_instants_are_no_panic() {
    let end = |zone| Endpoint::daily(23, 59, 59, Zone::named(zone).unwrap()).unwrap();
    let rule = Rule::new(end("America/New_York"), end("Asia/Tokyo"), Days::of([3]));
    let schedule = Schedule::new(rule);
    for at in [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX - 1, i64::MAX] {
        let _ = schedule.interval_at(Timestamp(at));
        let _ = schedule.next_change(Timestamp(at));
    }
    assert_eq!(
        Schedule::new(Rule::new(end("UTC"), end("UTC"), Days::of([]))).next_change(utc(FIRST)),
        None
    );
}
