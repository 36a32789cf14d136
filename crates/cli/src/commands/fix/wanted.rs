//! Flags that say which messages of a log are wanted.

use clap::Args;
use fixcore::Timestamp;
use fixcore::dict::Dictionary;
use fixlog::{Expression, Filter, Moment, msg_type_of};

use crate::failure::{Failure, Result};

/// Which messages are wanted.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct WantedArgs {
    /// Only messages of these types or names, such as D,8 or NewOrderSingle
    #[arg(
        long = "type",
        value_name = "TYPE,…",
        value_delimiter = ',',
        num_args = 1,
        help_heading = "Filters"
    )]
    pub(crate) types: Vec<String>,
    /// Only messages between two CompIDs, in both directions; * is any
    ///
    /// The CompIDs are those of SenderCompID (49) and TargetCompID (56), in any order. Repeat the flag for
    /// several sessions.
    #[arg(
        long,
        value_name = "SENDER,TARGET",
        value_parser = session,
        help_heading = "Filters"
    )]
    pub(crate) session: Vec<Session>,
    /// Only messages sent at this time or later
    ///
    /// The time of a message is its SendingTime (52). A time is 20260305-14:02, 2026-03-05T14:02:00.5,
    /// 2026-03-05 or, on each day, 14:02; in UTC, or with an offset or a zone:
    /// 14:02+01:00, 2026-03-05T14:02+01:00, 20260305-14:02[Europe/Berlin]. From 23:00 to 01:00 goes over
    /// midnight; 24:00 is the end of a day.
    #[arg(long, value_name = "TIME", value_parser = moment, help_heading = "Filters")]
    pub(crate) since: Option<Moment>,
    /// Only messages sent before this time
    #[arg(long, value_name = "TIME", value_parser = moment, help_heading = "Filters")]
    pub(crate) until: Option<Moment>,
    /// Only messages for which this holds, such as 'Symbol=MSFT and OrdStatus=8'
    ///
    /// Fields are named as in the standard or by tag. =, <>, <, <=, >, >=, in (…), not in (…), is null,
    /// is not null, contains(FIELD, "x"), starts_with and ends_with test a field; and, or, not and
    /// parentheses combine tests. Of a repeated field, one value is enough. Repeat the flag for several
    /// conditions that all have to hold.
    #[arg(long = "where", value_name = "EXPRESSION", help_heading = "Filters")]
    pub(crate) expressions: Vec<String>,
}

impl WantedArgs {
    /// Whether what is left has all messages of a session that there were in its time.
    pub(super) fn leaves_sessions_whole(&self) -> bool {
        self.types.is_empty() && self.expressions.is_empty()
    }

    /// The filter of these flags. Fields have the names of `dictionaries` too.
    pub(super) fn filter(&self, dictionaries: &[Dictionary]) -> Result<Filter> {
        let mut types = Vec::new();
        for name in &self.types {
            let name = name.trim();
            types.push(msg_type_of(name, dictionaries).ok_or_else(|| {
                let message = format!(
                    "--type: no dictionary has messages of '{}'",
                    name.escape_debug()
                );
                Failure::usage(message)
                    .help("state a type or its name, such as D or NewOrderSingle")
            })?);
        }
        let mut filter = Filter::new().types(types);
        for Session(sender, target) in &self.session {
            filter = filter.session(sender.as_deref(), target.as_deref());
        }
        if let Some(from) = self.since {
            filter = filter.from(from);
        }
        if let Some(to) = self.until {
            filter = filter.to(to);
        }
        if filter.is_empty_range() {
            return Err(Failure::usage(
                "no time is in the range: it ends where it begins, or before",
            )
            .help("of times of each day, the later may come first: --since 23:00 --until 01:00"));
        }
        for text in &self.expressions {
            let wanted = Expression::parse(text, dictionaries).map_err(|error| {
                Failure::usage(format!("--where: {error}"))
                    .help("an expression is, for example, Symbol=MSFT and OrdStatus in (2, 8)")
            })?;
            filter = filter.expression(wanted);
        }
        Ok(filter)
    }
}

/// The CompIDs of a session; `None` is any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session(Option<String>, Option<String>);

/// Parses two CompIDs.
fn session(text: &str) -> std::result::Result<Session, String> {
    let names = text
        .split_once(',')
        .map(|(sender, target)| (sender.trim(), target.trim()));
    let names = names.filter(|(sender, target)| {
        !sender.is_empty() && !target.is_empty() && !target.contains(',')
    });
    let (sender, target) = names.ok_or("expected two CompIDs with a comma between them")?;
    let name = |text: &str| (text != "*").then(|| text.to_owned());
    Ok(Session(name(sender), name(target)))
}

/// Parses a time.
fn moment(text: &str) -> std::result::Result<Moment, String> {
    let expected = "expected a time, as 20260305-14:02, 14:02, 2026-03-05 or \
                    2026-03-05T14:02+01:00";
    if let Some(moment) = Moment::parse(text).or_else(|| each_day(text)) {
        return Ok(moment);
    }
    // The date that FIX writes, with a zone.
    let (day, clock) = text
        .split_at_checked("20260305".len())
        .unwrap_or((text, ""));
    let dashed;
    let text = match clock.strip_prefix('-') {
        Some(clock) if day.bytes().all(|byte| byte.is_ascii_digit()) => {
            dashed = format!("{}-{}-{}T{clock}", &day[..4], &day[4..6], &day[6..]);
            &dashed
        }
        _ => text,
    };
    let time = if let Some((local, _)) = text.split_once('[') {
        if let Some(Moment::EachDay(_)) = Moment::parse(local).or_else(|| each_day(local)) {
            let why = "a zone needs a date, as in 2026-03-05T14:02[Europe/Berlin]; an offset does not: 14:02+01:00";
            return Err(why.to_owned());
        }
        let zoned: jiff::Zoned = text.parse().map_err(|error| format!("{error}"))?;
        // In spring, an hour is left out.
        let civil = local.parse::<jiff::civil::DateTime>();
        if civil.is_ok_and(|civil| civil != zoned.datetime()) && !has_offset(local) {
            let zone = zoned.time_zone().iana_name().unwrap_or("this zone");
            return Err(format!(
                "there is no {local} in {zone}: clocks are set forward over it"
            ));
        }
        zoned.timestamp()
    } else if let Ok(time) = text.parse::<jiff::Timestamp>() {
        time
    } else {
        let civil: jiff::civil::DateTime = text.parse().map_err(|_| expected.to_owned())?;
        let utc = civil.to_zoned(jiff::tz::TimeZone::UTC);
        utc.map_err(|_| expected.to_owned())?.timestamp()
    };
    let ns = i64::try_from(time.as_nanosecond()).map_err(|_| expected.to_owned())?;
    Ok(Moment::At(Timestamp(ns)))
}

/// Whether a time states how far it is from UTC.
fn has_offset(text: &str) -> bool {
    let clock = text.split_once('T').map_or("", |(_, clock)| clock);
    clock.contains(['+', '-', 'Z'])
}

/// A time of each day with an offset from UTC, or `Z`.
fn each_day(text: &str) -> Option<Moment> {
    const MINUTE_NS: i64 = 60_000_000_000;
    const DAY_NS: i64 = 24 * 60 * MINUTE_NS;
    let at = text.rfind(['+', '-', 'Z'])?;
    let (clock, offset) = text.split_at_checked(at)?;
    let Some(Moment::EachDay(ns)) = Moment::parse(clock) else {
        return None;
    };
    let (sign, offset) = offset.split_at_checked(1)?;
    let offset_ns = match (sign, offset) {
        ("Z", "") => 0,
        ("Z", _) => return None,
        (sign, offset) => {
            let (hours, minutes) = offset.split_once(':').unwrap_or((offset, "00"));
            let is_pair =
                |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            if !is_pair(hours) || !is_pair(minutes) {
                return None;
            }
            let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let offset_ns = (hours * 60 + minutes) * MINUTE_NS;
            if sign == "-" { -offset_ns } else { offset_ns }
        }
    };
    Some(Moment::EachDay((ns - offset_ns).rem_euclid(DAY_NS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_zone_that_they_state() {
        let wanted = moment("20260305-14:02:00").expect("a time of FIX");
        for text in [
            "20260305-14:02",
            "2026-03-05T14:02",
            "2026-03-05 14:02:00",
            "2026-03-05T14:02:00.000Z",
            "2026-03-05T15:02+01:00",
            "2026-03-05T15:02[Europe/Berlin]",
            "2026-03-05T09:02-05:00",
            "20260305-15:02+01:00",
            "20260305-14:02Z",
            "20260305-09:02[America/New_York]",
        ] {
            assert_eq!(moment(text), Ok(wanted), "{text}");
        }
        assert_eq!(moment("2026-03-05"), moment("20260305-00:00:00"));
        for text in [
            "14:02",
            "14:02:00Z",
            "15:02+01:00",
            "09:02-05:00",
            "00:02+10",
        ] {
            assert_eq!(
                moment(text),
                Ok(Moment::EachDay(50_520_000_000_000)),
                "{text}"
            );
        }
        assert_eq!(moment("20260305-24:00"), moment("20260306"));
        for text in [
            "",
            "yesterday",
            "2026-03-05T14:02[Nowhere/None]",
            "9999-01-01",
            "25:00",
            "14:02+1",
            "14:02+25:00",
            "14:02ZZ",
            "2026030\u{e9}-14:02",
        ] {
            assert!(moment(text).is_err(), "{text}");
        }
    }

    #[test]
    fn zones_need_dates_and_times_that_exist() {
        let why = |text: &str| moment(text).expect_err(text);
        for text in [
            "14:02[Europe/Berlin]",
            "14:02:30[Asia/Tokyo]",
            "14:02+01:00[Europe/Berlin]",
        ] {
            assert!(why(text).contains("a zone needs a date"), "{text}");
        }
        for text in [
            "2026-03-29T02:30[Europe/Berlin]",
            "20260329-02:30[Europe/Berlin]",
        ] {
            let why = why(text);
            assert!(
                why.contains("there is no 2026-03-29T02:30 in Europe/Berlin"),
                "{why}"
            );
        }
        assert_eq!(
            moment("2026-03-29T03:30[Europe/Berlin]"),
            moment("20260329-01:30")
        );
        assert_eq!(
            moment("2026-10-25T02:30+02:00[Europe/Berlin]"),
            moment("20261025-00:30")
        );
        assert_eq!(
            moment("2026-10-25T02:30+01:00[Europe/Berlin]"),
            moment("20261025-01:30")
        );
    }

    #[test]
    fn sessions_have_two_names() {
        let of = |sender: &str| Session(Some(sender.to_owned()), None);
        assert_eq!(session("DESK,*"), Ok(of("DESK")));
        assert_eq!(session("DESK , *"), Ok(of("DESK")));
        assert!(session("A,B").is_ok_and(|both| both.1.as_deref() == Some("B")));
        for text in ["", "A", "A,", ",B", "A,B,C"] {
            assert!(session(text).is_err(), "{text}");
        }
    }
}
