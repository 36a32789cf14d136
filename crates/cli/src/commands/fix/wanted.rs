//! Flags that say which messages of a log are wanted.

use clap::Args;
use fixcore::Timestamp;
use fixcore::dict::Dictionary;
use fixlog::{Expression, Filter, Moment};

use crate::failure::{Failure, Result};

/// Which messages are wanted, all but the end of the range of time: `replay` names that otherwise.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct WantedArgs {
    /// Only messages of these types, such as D,8
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
    /// 2026-03-05T14:02+01:00, 2026-03-05T14:02[Europe/Berlin].
    #[arg(long, value_name = "TIME", value_parser = moment, help_heading = "Filters")]
    pub(crate) from: Option<Moment>,
    /// Only messages for which this holds, such as 'Symbol=MSFT and OrdStatus=8'
    ///
    /// Fields are named as in the standard or by tag. =, <>, <, <=, >, >=, in (…), not in (…), is null,
    /// is not null, contains(FIELD, "x"), starts_with and ends_with test a field; and, or, not and
    /// parentheses combine tests. Of a repeated field, one value is enough. Repeat the flag for several
    /// conditions that all have to hold.
    #[arg(long = "where", value_name = "EXPRESSION", help_heading = "Filters")]
    pub(crate) expressions: Vec<String>,
}

/// The end of the range of time.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct ToArgs {
    /// Only messages sent before this time
    #[arg(
        long,
        visible_alias = "until",
        value_name = "TIME",
        value_parser = moment,
        help_heading = "Filters"
    )]
    pub(crate) to: Option<Moment>,
}

impl WantedArgs {
    /// The filter of these flags. Fields have the names of `dictionary` too.
    pub(super) fn filter(
        &self,
        to: Option<Moment>,
        dictionary: Option<&Dictionary>,
    ) -> Result<Filter> {
        let mut filter = Filter::new().types(&self.types);
        for Session(sender, target) in &self.session {
            filter = filter.session(sender.as_deref(), target.as_deref());
        }
        if let Some(from) = self.from {
            filter = filter.from(from);
        }
        if let Some(to) = to {
            filter = filter.to(to);
        }
        for text in &self.expressions {
            let wanted = Expression::parse(text, dictionary).map_err(|error| {
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
    let names = text.split_once(',').filter(|(sender, target)| {
        !sender.is_empty() && !target.is_empty() && !target.contains(',')
    });
    let (sender, target) = names.ok_or("expected two CompIDs with a comma between them")?;
    let name = |text: &str| (text != "*").then(|| text.to_owned());
    Ok(Session(name(sender), name(target)))
}

/// Parses a time.
pub(super) fn moment(text: &str) -> std::result::Result<Moment, String> {
    let expected = "expected a time, as 20260305-14:02, 14:02, 2026-03-05 or \
                    2026-03-05T14:02+01:00";
    if let Some(moment) = Moment::parse(text) {
        return Ok(moment);
    }
    let time = if text.contains('[') {
        let zoned: jiff::Zoned = text.parse().map_err(|error| format!("{error}"))?;
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
        ] {
            assert_eq!(moment(text), Ok(wanted), "{text}");
        }
        assert_eq!(moment("2026-03-05"), moment("20260305-00:00:00"));
        assert_eq!(moment("14:02"), Ok(Moment::EachDay(50_520_000_000_000)));
        for text in [
            "",
            "yesterday",
            "2026-03-05T14:02[Nowhere/None]",
            "9999-01-01",
            "25:00",
        ] {
            assert!(moment(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sessions_have_two_names() {
        let of = |sender: &str| Session(Some(sender.to_owned()), None);
        assert_eq!(session("DESK,*"), Ok(of("DESK")));
        assert!(session("A,B").is_ok_and(|both| both.1.as_deref() == Some("B")));
        for text in ["", "A", "A,", ",B", "A,B,C"] {
            assert!(session(text).is_err(), "{text}");
        }
    }
}
