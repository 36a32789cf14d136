//! Why a run cannot start, or a saved report cannot be read.

use latency::pin::PinError;
use latency::report::{LatencyName, Warning};

/// Series that help names at most.
const SERIES_SHOWN: usize = 20;

/// What a caller asked for by the name of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Asked {
    /// A gate, as it was written.
    Gate(String),
    /// A row to export.
    Row(String),
}

/// Why a run cannot start, or a saved report cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A gate or an export is about a row that the run will not have.
    #[error("there is no {}", .row.as_ref().map_or_else(|| "latency row".to_owned(), |row| format!("row '{row}'")))]
    NoRow {
        /// What was asked for.
        asked: Asked,
        /// The name of the row, where one was given.
        row: Option<String>,
        /// The rows that there will be.
        rows: Vec<LatencyName>,
    },
    /// A gate names a series that the report does not have.
    #[error("the report has no series '{series}'")]
    NoSeries {
        /// The gate, as it was written.
        gate: String,
        /// The series that it names.
        series: String,
        /// The series that there are.
        known: Vec<String>,
    },
    /// The process cannot be pinned.
    #[error("cannot pin to processors {cpus:?}: {error}")]
    Pin {
        /// The processors that were asked for.
        cpus: Vec<u32>,
        /// Why.
        error: PinError,
    },
    /// The machine is unfit to measure on, and the options ask for a fit one.
    #[error("this machine is unfit to measure on: {}", list(.warnings))]
    Unfit {
        /// What makes it unfit, each with its remedy.
        warnings: Vec<Warning>,
    },
    /// A saved report is not what its name says.
    #[error("cannot read '{name}': {reason}")]
    Malformed {
        /// The name of the file.
        name: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// Two rows that look alike do not add up.
    #[error("cannot merge the row '{row}': {reason}")]
    Merge {
        /// The label of the row.
        row: String,
        /// Why.
        reason: String,
    },
}

fn list(warnings: &[Warning]) -> String {
    let warnings = warnings.iter();
    let warnings = warnings.map(|warning| format!("{} ({})", warning.message, warning.code));
    warnings.collect::<Vec<_>>().join("; ")
}

impl Error {
    /// What to do about it, where that is known.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NoRow { rows, .. } if rows.is_empty() => {
                Some("this measures no latencies".to_owned())
            }
            Self::NoRow { rows, .. } => {
                let names: Vec<&str> = rows.iter().map(|row| row.as_str()).collect();
                Some(format!("the rows are: {}", names.join(", ")))
            }
            Self::NoSeries { known, .. } if known.is_empty() => {
                Some("its rows have no series: leave out the name in brackets".to_owned())
            }
            Self::NoSeries { known, .. } => {
                let shown = known.iter().take(SERIES_SHOWN).map(String::as_str);
                let shown = shown.collect::<Vec<_>>().join(", ");
                let rest = match known.len().saturating_sub(SERIES_SHOWN) {
                    0 => String::new(),
                    rest => format!(" and {rest} more"),
                };
                Some(format!("the series are: {shown}{rest}"))
            }
            Self::Pin { .. } => Some(format!(
                "this process may use {:?}",
                latency::pin::available()
            )),
            Self::Unfit { warnings } => warnings.first().map(|warning| warning.help.clone()),
            Self::Malformed { .. } | Self::Merge { .. } => None,
        }
    }
}
