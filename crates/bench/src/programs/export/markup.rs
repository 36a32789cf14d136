//! Tables of Markdown, AsciiDoc and org-mode.

use std::cmp::Ordering;

use super::{Sample, TimeUnit};
use crate::programs::Relative;

/// A language of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    Markdown,
    Asciidoc,
    Orgmode,
}

const COLUMNS: usize = 5;

impl Markup {
    /// One row per command line. `pending`: what they are compared with is not measured yet; `explicit`: it
    /// was chosen.
    pub(super) fn table(
        self,
        samples: &[Sample],
        rows: &[Relative],
        unit: TimeUnit,
        [pending, explicit]: [bool; 2],
    ) -> String {
        let name = unit.as_str();
        let head = [
            "Command".to_owned(),
            format!("Mean [{name}]"),
            format!("Min [{name}]"),
            format!("Max [{name}]"),
            "Relative".to_owned(),
        ];
        let mut text = match self {
            Self::Asciidoc => "[cols=\"<,>,>,>,>\"]\n|===".to_owned(),
            Self::Markdown | Self::Orgmode => String::new(),
        };
        text.push_str(&self.row(&head));
        text.push_str(&match self {
            Self::Markdown => format!("|:---{}|\n", "|---:".repeat(COLUMNS - 1)),
            Self::Orgmode => format!("|{}--|\n", "--+".repeat(COLUMNS - 1)),
            Self::Asciidoc => String::new(),
        });
        for row in rows {
            let Some(sample) = samples.get(row.index) else {
                continue;
            };
            let [min, max] = sample.range_ns();
            let mut mean = unit.number(sample.mean_ns());
            if let Some(stdev) = sample.stdev_ns() {
                mean.push_str(&format!(" ± {}", unit.number(stdev)));
            }
            text.push_str(&self.row(&[
                self.command(&sample.program.label().replace('|', "\\|")),
                mean,
                unit.number(min),
                unit.number(max),
                relative(row, sample, [pending, explicit]),
            ]));
        }
        if self == Self::Asciidoc {
            text.push_str("|===\n");
        }
        text
    }

    fn row(self, cells: &[String; COLUMNS]) -> String {
        match self {
            Self::Markdown => format!("| {} |\n", cells.join(" | ")),
            Self::Asciidoc => format!("\n| {} \n", cells.join(" \n| ")),
            Self::Orgmode => format!("| {}  |  {} |\n", cells[0], cells[1..].join(" |  ")),
        }
    }

    fn command(self, line: &str) -> String {
        let longest = line.split(|letter| letter != '`').map(str::len).max();
        match (self, longest.unwrap_or(0)) {
            (Self::Orgmode, _) => format!("={line}="),
            (Self::Markdown, run @ 1..) => {
                // More marks than the line has in a row.
                let marks = "`".repeat(run + 1);
                format!("{marks} {line} {marks}")
            }
            _ => format!("`{line}`"),
        }
    }
}

fn relative(row: &Relative, sample: &Sample, [pending, explicit]: [bool; 2]) -> String {
    // Two times of 0 have no ratio, even if they are the same.
    let no_ratio =
        explicit && !row.is_reference && row.order == Ordering::Equal && sample.mean_ns() <= 0.0;
    if pending || no_ratio {
        return "N/A".to_owned();
    }
    let mut text = format!("{:.2}", row.ratio);
    if let Some(stdev) = row.stdev.filter(|_| !row.is_reference) {
        text.push_str(&format!(" ± {stdev:.2}"));
    }
    if explicit {
        text.push_str(match (row.is_reference, row.order) {
            (true, _) => " (reference)",
            (false, Ordering::Less) => " (faster)",
            (false, Ordering::Equal) => " (same speed)",
            (false, Ordering::Greater) => " (slower)",
        });
    }
    text
}
