//! The unit of the values in a distribution, and how to know it.

use std::fmt;
use std::str::FromStr;

use super::footer_fields;
use crate::carried;

/// Unit of the values in a file. The file does not state it; HdrHistogram's tools call it *ticks*.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HgrmUnit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    #[default]
    Us,
    /// Milliseconds.
    Ms,
}

/// The text is not a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown unit: expected ns, us or ms")]
pub struct ParseHgrmUnitError;

impl FromStr for HgrmUnit {
    type Err = ParseHgrmUnitError;

    fn from_str(text: &str) -> Result<Self, ParseHgrmUnitError> {
        match text {
            "ns" => Ok(Self::Ns),
            "us" => Ok(Self::Us),
            "ms" => Ok(Self::Ms),
            _ => Err(ParseHgrmUnitError),
        }
    }
}

impl fmt::Display for HgrmUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ns => "ns",
            Self::Us => "us",
            Self::Ms => "ms",
        })
    }
}

impl HgrmUnit {
    pub(super) fn ns(self) -> f64 {
        self.whole_ns() as f64
    }

    pub(crate) fn whole_ns(self) -> u64 {
        match self {
            Self::Ns => 1,
            Self::Us => 1_000,
            Self::Ms => 1_000_000,
        }
    }
}

/// The header of C tools of HdrHistogram, whose columns are wider.
const HEADER_C: &str = "Value   Percentile   TotalCount";
/// What wrk2 prints above its distribution, which is one of milliseconds.
pub(super) const WRK2: &str = "Detailed Percentile spectrum:";

/// Whether a text is the output of wrk2 with its distribution in it.
#[must_use]
pub fn is_printed(text: &str) -> bool {
    text.contains(WRK2)
}

/// The unit of a file, as far as it can be known: what it [says itself](stated_unit); microseconds for any other.
///
/// ```
/// use perfkit_latency::hgrm::{HgrmUnit, unit_of};
/// assert_eq!(unit_of("  Detailed Percentile spectrum:\n"), HgrmUnit::Ms);
/// ```
#[must_use]
pub fn unit_of(text: &str) -> HgrmUnit {
    let is_c = || text.contains(HEADER_C);
    let assumed = || if is_c() { HgrmUnit::Ms } else { HgrmUnit::Us };
    stated_unit(text).unwrap_or_else(assumed)
}

/// The unit that a file states, as those written by perfkit do, or that its tool always has: milliseconds for wrk2.
#[must_use]
pub fn stated_unit(text: &str) -> Option<HgrmUnit> {
    let stated = text
        .lines()
        .map(str::trim)
        .filter(|line| !carried::is_row(line))
        .filter_map(|line| line.strip_prefix("#["))
        .flat_map(footer_fields)
        .find_map(|(name, value)| (name == "Unit").then(|| value.parse().ok())?);
    stated.or_else(|| is_printed(text).then_some(HgrmUnit::Ms))
}
