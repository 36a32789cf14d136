//! The files that hyperfine writes, so that what reads those reads these.

mod csv;
mod json;
mod markup;
mod unit;

use serde_json::Value;

use super::Sample;
use super::relative::ratios;

pub use unit::TimeUnit;

/// A form of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export {
    /// Statistics and every run, in seconds.
    Json,
    /// Statistics in seconds.
    Csv,
    /// A table of Markdown.
    Markdown,
    /// A table of AsciiDoc.
    Asciidoc,
    /// A table of Emacs org-mode.
    Orgmode,
}

/// In which order tables have the command lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sorted {
    /// As they were given.
    ByCommand,
    /// By their means.
    ByMean,
}

impl Export {
    /// The content of a file of JSON that also states which run it is of, under the key `perfkit`.
    #[must_use]
    pub fn json_of(samples: &[Sample], run: Value) -> String {
        json::content(samples, Some(run))
    }

    /// The content of the file. `reference` is what all are compared with, without one the fastest; where it
    /// is not measured yet, nothing is compared.
    #[must_use]
    pub fn content(
        self,
        samples: &[Sample],
        unit: Option<TimeUnit>,
        sorted: Sorted,
        reference: Option<usize>,
    ) -> String {
        let markup = match self {
            Self::Json => return json::content(samples, None),
            Self::Csv => return csv::content(samples),
            Self::Markdown => markup::Markup::Markdown,
            Self::Asciidoc => markup::Markup::Asciidoc,
            Self::Orgmode => markup::Markup::Orgmode,
        };
        let unit = unit.unwrap_or_else(|| {
            let first = samples.first().map(Sample::mean_ns);
            first.map_or(TimeUnit::Second, TimeUnit::fitting)
        });
        let mut rows = ratios(samples, reference);
        if sorted == Sorted::ByMean {
            let mean = |at: usize| samples[at].mean_ns();
            rows.sort_by(|a, b| mean(a.index).total_cmp(&mean(b.index)));
        }
        let pending = reference.is_some_and(|at| at >= samples.len());
        let explicit = reference.is_some();
        markup.table(samples, &rows, unit, [pending, explicit])
    }
}

#[cfg(test)]
mod tests;
