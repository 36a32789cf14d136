//! A limit on a regression as text: `5%`, `p99:5%`, `cpu:5%`, `cpu.p99:5%`, `[level 3].service.p99:5%`.
//!
//! What limits make of comparisons is in `commands::compare::judge`.

use std::fmt;

use latency::compare::{Regression, TAILS};
use latency::report::{Comparison, LatencyName};

/// The row of the wall time of two commands.
pub(crate) const WALL: &str = "wall";
/// The row of their processor time.
pub(crate) const CPU: &str = "cpu";
/// The row of their peak memory, which is compared where a limit names it.
pub(crate) const RSS: &str = "rss";
/// What a limit without a percentage is written as.
pub(crate) const PROVEN: &str = "worse";

/// A limit on the regression of a percentile, of all rows or of those that it names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Limit {
    text: String,
    series: Option<String>,
    name: Option<String>,
    /// The percentile: 50 for the median.
    pub(crate) p: f64,
    /// How much worse it may be. `None`: every regression that is proven fails.
    pub(crate) percent: Option<f64>,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Limit {
    /// Which number of a row it judges.
    pub(crate) fn subject(&self) -> String {
        match self.p {
            50.0 => "the median".to_owned(),
            p => format!("p{p}"),
        }
    }

    /// The same limit on another percentile.
    pub(crate) fn on(&self, p: f64) -> Self {
        Self { p, ..self.clone() }
    }

    /// Whether it is about some rows alone.
    pub(crate) fn names_rows(&self) -> bool {
        self.series.is_some() || self.name.is_some()
    }

    /// Whether it is about this row. Peak memory is no time: a limit is about it only by its name.
    pub(crate) fn covers(&self, row: &str) -> bool {
        let ends_with = |name: &str| row.strip_suffix(name).is_some_and(|r| r.ends_with(' '));
        match (self.series.as_deref(), self.name.as_deref()) {
            (None, None) => row != RSS,
            (None, Some(name)) => row == name || ends_with(name),
            (Some(series), None) => {
                let rest = row.strip_prefix(series);
                rest.is_some_and(|rest| rest.is_empty() || is_name(rest))
            }
            (Some(series), Some(name)) => {
                let rest = row.strip_prefix(series);
                rest.and_then(|rest| rest.strip_prefix(' ')) == Some(name)
            }
        }
    }

    /// What it makes of a comparison.
    pub(crate) fn judge(&self, found: &Comparison) -> Regression {
        match self.percent {
            Some(percent) => Regression::of_percentile(found, self.p, percent / 100.0),
            None => Regression::proven(found, self.p),
        }
    }
}

/// Whether this is what the label of a row has after its series: a blank and one word.
fn is_name(rest: &str) -> bool {
    let word = rest.strip_prefix(' ');
    word.is_some_and(|word| !word.is_empty() && !word.contains(' '))
}

/// What a limit is on, if it says so, and the percentage.
fn parts(text: &str) -> (Option<&str>, &str) {
    match text.rsplit_once(':') {
        Some((subject, share)) => (Some(subject.trim()), share),
        None => (None, text),
    }
}

/// Whether a word of its own behind the flag is meant as its limit and not as a file. A right one is, but for `worse` alone;
/// and so is a wrong one that names a known row or ends with a percentage, so that [`limit`] says what is wrong with it.
pub(crate) fn is_meant(text: &str) -> bool {
    let (subject, share) = parts(text);
    // A path or a command line is no limit, unless it is a series.
    let is_word = |text: &str| !text.contains(|c: char| c.is_whitespace() || "/\\".contains(c));
    let is_on_rows = |subject: &str| subject.starts_with('[') || is_word(subject);
    // "inf" and "nan" are numbers, too, and rather names of files.
    let is_number = share.starts_with(|c: char| c.is_ascii_digit()) && percent(share).is_ok();
    let row = subject.and_then(|subject| subject.split('.').next());
    let rows = LatencyName::ALL.map(LatencyName::as_str);
    let is_known = row.is_some_and(|row| [WALL, CPU, RSS].contains(&row) || rows.contains(&row));
    let is_proven = share == PROVEN && subject.is_some_and(|subject| !subject.is_empty());
    let is_misspelt = (is_known || is_proven || share.ends_with('%')) && is_word(share);
    subject.is_none_or(is_on_rows) && (is_number || is_misspelt)
}

/// Reads a limit.
pub(crate) fn limit(text: &str) -> Result<Limit, String> {
    let (subject, share) = parts(text);
    let (series, name, p) = match subject {
        Some(subject) => rows(subject)?,
        None => (None, None, 50.0),
    };
    let percent = match share {
        PROVEN => None,
        share => Some(percent(share).map_err(|wrong| match subject {
            Some(_) => wrong,
            None => format!("{wrong}, or one of a row or a percentile (such as cpu:5% or p99:5%)"),
        })?),
    };
    Ok(Limit {
        text: text.to_owned(),
        series,
        name,
        p,
        percent,
    })
}

/// A percentage, with or without its sign.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    number
        .parse()
        .map_err(|_| format!("'{text}' is not a percentage (such as 5 or 0.5%)"))
}

/// What stands before the percentage: the series, the name of the row, and the percentile.
type Rows = (Option<String>, Option<String>, f64);

fn rows(text: &str) -> Result<Rows, String> {
    let (series, rest) = match text.strip_prefix('[') {
        Some(rest) => {
            let (series, rest) = rest
                .split_once(']')
                .ok_or_else(|| format!("'{text}' has a '[' without a ']'"))?;
            let rest = match rest {
                "" => None,
                rest => Some(
                    rest.strip_prefix('.')
                        .ok_or("expected a '.' after the ']'")?,
                ),
            };
            (Some(series.trim().to_owned()), rest)
        }
        None => (None, Some(text)),
    };
    let Some(rest) = rest else {
        return Ok((series, None, 50.0));
    };
    if is_percentile(rest) {
        return Ok((series, None, percentile(rest)?));
    }
    let (name, p) = match rest.split_once('.') {
        Some((name, p)) => (name, percentile(p)?),
        None => (rest, 50.0),
    };
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !name.starts_with(char::is_alphabetic) || !name.chars().all(plain) {
        return Err(format!(
            "'{name}' is no name of a row: write cpu:5%, p99:5%, cpu.p99:5% or [SERIES].p99:5%"
        ));
    }
    Ok((series, Some(name.to_owned()), p))
}

/// Whether it is written as a percentile is.
fn is_percentile(text: &str) -> bool {
    let number = text.strip_prefix('p');
    number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

fn percentile(text: &str) -> Result<f64, String> {
    let mut known = std::iter::once(50.0).chain(TAILS);
    known
        .find(|p| text == format!("p{p}"))
        .ok_or_else(|| format!("'{text}' is none of p50, p90, p99, p99.9 and p99.99"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_a_sign_or_none() {
        for (text, expected) in [("5", 5.0), ("5%", 5.0), ("0.5 %", 0.5), ("0", 0.0)] {
            assert_eq!(percent(text), Ok(expected), "{text}");
        }
        for wrong in ["", "%", "5%%", "a.json"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_limit_names_what_it_is_on() {
        for (text, series, name, p, percent) in [
            ("5%", None, None, 50.0, Some(5.0)),
            ("worse", None, None, 50.0, None),
            ("p50:5", None, None, 50.0, Some(5.0)),
            ("p99:5%", None, None, 99.0, Some(5.0)),
            ("p99.99:0", None, None, 99.99, Some(0.0)),
            ("p99:worse", None, None, 99.0, None),
            ("cpu:5%", None, Some("cpu"), 50.0, Some(5.0)),
            ("cpu.p99:0.5 %", None, Some("cpu"), 99.0, Some(0.5)),
            ("service.p99.9:5%", None, Some("service"), 99.9, Some(5.0)),
            ("[level 3]:5%", Some("level 3"), None, 50.0, Some(5.0)),
            ("[a:b].p99:5%", Some("a:b"), None, 99.0, Some(5.0)),
            ("[a].hold:5%", Some("a"), Some("hold"), 50.0, Some(5.0)),
            ("[a].rss.p90:5", Some("a"), Some("rss"), 90.0, Some(5.0)),
        ] {
            let found = limit(text).expect(text);
            let read = (found.series.as_deref(), found.name.as_deref());
            assert_eq!(read, (series, name), "{text}");
            assert_eq!((found.p, found.percent), (p, percent), "{text}");
        }
    }

    #[test]
    fn a_right_limit_is_meant_as_one() {
        for text in [
            "5%",
            "0.5",
            "0.5 %",
            "p99:5",
            "p99:worse",
            "cpu:5%",
            "cpu.p99:0.5 %",
            "[level 3]:5%",
            "[a/b].p99:5%",
            "[a:b].rss.p90:5",
        ] {
            assert!(limit(text).is_ok() && is_meant(text), "{text}");
        }
        // This may be a file.
        assert!(limit("worse").is_ok() && !is_meant("worse"));
    }

    #[test]
    fn a_limit_that_is_misspelt_is_an_error_that_says_what_to_write() {
        for (wrong, said) in [
            ("p95:5%", "none of p50"),
            ("cpu.p95:5%", "none of p50"),
            ("99:5", "no name of a row"),
            (":5", "no name of a row"),
            ("p99:5:6", "none of p50"),
            ("p99:", "not a percentage"),
            ("p99", "such as cpu:5%"),
            ("cpu", "such as cpu:5%"),
            ("cpu:five", "not a percentage"),
            ("cpu:5%%", "not a percentage"),
            ("[a:5%", "without a ']'"),
            ("[a]p99:5%", "expected a '.'"),
        ] {
            let found = limit(wrong).expect_err(wrong);
            assert!(found.contains(said), "{wrong}: {found}");
        }
    }

    #[test]
    fn a_limit_covers_the_rows_that_it_names() {
        let covers = |text: &str, row: &str| limit(text).expect(text).covers(row);
        for (text, row, expected) in [
            ("5%", "wall", true),
            ("5%", "level 3 service", true),
            ("5%", "rss", false),
            ("rss:5%", "rss", true),
            ("cpu:5%", "cpu", true),
            ("cpu:5%", "wall", false),
            ("service:5%", "level 3 service", true),
            ("service:5%", "inservice", false),
            ("[level 3]:5%", "level 3 service", true),
            ("[level 3]:5%", "level 3", true),
            ("[level]:5%", "level 3 service", false),
            ("[level 3].hold:5%", "level 3 service", false),
            ("[level 3].service.p99:5%", "level 3 service", true),
        ] {
            assert_eq!(covers(text, row), expected, "{text} {row}");
        }
    }
}
