//! Keys of the schedule.

use crate::schedule::{Days, Endpoint, Rule, Schedule, ScheduleError, Zone};

use super::reader::{Reader, Stated, takes};
use super::value::day;

/// The schedule; a session that is always open where keys are wrong, which is an error anyway.
pub(super) fn schedule(reader: &Reader<'_>) -> Schedule {
    let is_non_stop = reader.flag("NonStopSession").unwrap_or(false);
    let rule = rule(reader, is_non_stop);
    let Some((rule, zone)) = rule.filter(|_| !is_non_stop) else {
        return Schedule::non_stop();
    };
    let logon = logon(reader, &rule, &zone);
    let schedule = Schedule::new(rule);
    match logon {
        None => schedule,
        Some(logon) => schedule.clone().logon(logon).unwrap_or_else(|error| {
            let name = match error {
                ScheduleError::Logon => "LogonTime",
                ScheduleError::Logout => "LogoutTime",
            };
            let stated = reader.stated(name).or_else(|| reader.stated("LogonTime"));
            match stated.or_else(|| reader.stated("LogoutTime")) {
                Some(stated) => reader.conflict(&stated, &error.to_string()),
                None => reader.missing(name),
            }
            schedule
        }),
    }
}

/// The session's intervals, and the zone of times without one.
fn rule(reader: &Reader<'_>, is_non_stop: bool) -> Option<(Rule, Zone)> {
    let zone = zone(reader);
    let (start_day, end_day) = (day_of(reader, "StartDay"), day_of(reader, "EndDay"));
    let weekdays = weekdays(reader);
    let times = ["StartTime", "EndTime"].map(|name| {
        let stated = reader.stated(name);
        if stated.is_none() && !is_non_stop {
            reader.missing(name);
        }
        // A zone that is wrong is an error of its own.
        let zone = zone.clone().unwrap_or_else(Zone::utc);
        time(reader, stated?, name, &zone)
    });
    match (&start_day, &end_day) {
        (Some((stated, _)), None) if reader.stated("EndDay").is_none() => {
            reader.conflict(stated, "EndDay is missing");
        }
        (None, Some((stated, _))) if reader.stated("StartDay").is_none() => {
            reader.conflict(stated, "StartDay is missing");
        }
        (Some((stated, _)), Some(_)) if weekdays.is_some() => {
            reader.conflict(
                stated,
                "a session has either StartDay and EndDay or Weekdays",
            );
        }
        _ => {}
    }
    let [start, end] = times;
    let (start, end) = (start?, end?);
    let rule = match (start_day, end_day) {
        (Some((_, start_day)), Some((_, end_day))) => {
            Rule::new(start.on(start_day)?, end.on(end_day)?, Days::ALL)
        }
        _ => Rule::new(start, end, weekdays.unwrap_or(Days::ALL)),
    };
    Some((rule, zone?))
}

/// When one may log on, if that is stated.
fn logon(reader: &Reader<'_>, session: &Rule, zone: &Zone) -> Option<Rule> {
    let days = [day_of(reader, "LogonDay"), day_of(reader, "LogoutDay")];
    let stated = ["LogonTime", "LogoutTime"].map(|name| reader.stated(name));
    if stated.iter().all(Option::is_none) && days.iter().all(Option::is_none) {
        return None;
    }
    let [logon, logout] = stated;
    let end = |stated: Option<Stated>, name, default: &Endpoint, day: Option<u8>| {
        let time = match stated {
            Some(stated) => time(reader, stated, name, zone)?.like(default),
            None => default.clone(),
        };
        match day {
            Some(day) => time.on(day),
            None => Some(time),
        }
    };
    let [first, last] = days.map(|day| day.map(|(_, day)| day));
    let start = end(logon, "LogonTime", session.start(), first)?;
    let end = end(logout, "LogoutTime", session.end(), last)?;
    Some(Rule::new(start, end, Days::ALL))
}

/// The zone of times without one.
fn zone(reader: &Reader<'_>) -> Option<Zone> {
    let is_local = reader.flag("UseLocalTime").unwrap_or(false);
    match reader.stated("TimeZone") {
        Some(stated) if is_local => {
            reader.conflict(&stated, "a session has either TimeZone or UseLocalTime=Y");
            None
        }
        Some(stated) => named(reader, &stated, &stated.value),
        None if is_local => Some(Zone::system()),
        None => Some(Zone::utc()),
    }
}

fn named(reader: &Reader<'_>, stated: &Stated, name: &str) -> Option<Zone> {
    match Zone::named(name) {
        Ok(zone) => Some(zone),
        Err(error) => {
            reader.conflict(stated, &error.to_string());
            None
        }
    }
}

/// `HH:MM:SS`, or `HH:MM:SS ZONE`.
fn time(reader: &Reader<'_>, stated: Stated, name: &'static str, zone: &Zone) -> Option<Endpoint> {
    let (clock, rest) = stated.value.split_at_checked(8).unwrap_or_default();
    let rest = rest.trim();
    let zone = match rest {
        "" => zone.clone(),
        name => named(reader, &stated, name)?,
    };
    let numbers: Option<Vec<u8>> = clock.split(':').map(two_digits).collect();
    let end = match numbers.as_deref() {
        Some([hour, minute, second]) => Endpoint::daily(*hour, *minute, *second, zone),
        _ => None,
    };
    if end.is_none() {
        reader.wrong(&stated, takes(name));
    }
    end
}

fn two_digits(text: &str) -> Option<u8> {
    let is_right = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_right)
}

/// A day of the week, and where it is stated.
fn day_of(reader: &Reader<'_>, name: &'static str) -> Option<(Stated, u8)> {
    let stated = reader.stated(name)?;
    match day(&stated.value) {
        Some(day) => Some((stated, day)),
        None => {
            reader.wrong(&stated, takes(name));
            None
        }
    }
}

fn weekdays(reader: &Reader<'_>) -> Option<Days> {
    let name = "Weekdays";
    let stated = reader.stated(name)?;
    let days: Option<Vec<u8>> = stated.value.split(',').map(day).collect();
    match days {
        Some(days) => Some(Days::of(days)),
        None => {
            reader.wrong(&stated, takes(name));
            None
        }
    }
}
