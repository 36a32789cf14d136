//! Commands that do the same work, or 1 %, 3 % and 10 % more, by the number of instructions: what `perfkit compare`
//! says of them and after how long, next to hyperfine.

pub(crate) mod run;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::record::Body;

/// All cases.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Commands {
    /// Instructions of the command by callgrind, where it is here.
    pub(super) instructions: Option<u64>,
    pub(super) cases: Vec<Case>,
}

/// Comparisons of a command with one that does more work.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Case {
    /// How much more, in per cent.
    pub(super) added_percent: u64,
    /// The longest that a comparison of perfkit may take.
    pub(super) seconds_most: u64,
    pub(super) comparisons: u64,
    /// Verdicts of perfkit, with how often each was said.
    pub(super) verdicts: BTreeMap<String, u64>,
    /// How long a comparison took.
    pub(super) seconds_p50: f64,
    pub(super) seconds_max: f64,
    pub(super) effect_p50_percent: f64,
    /// How often hyperfine's ratio is more than its standard deviation away from 1, on either side.
    pub(super) hyperfine_beyond_sigma: u64,
    /// How often Welch's test over hyperfine's times says p < 0.05.
    pub(super) hyperfine_welch: u64,
    pub(super) hyperfine_seconds_p50: f64,
}

impl Body for Commands {
    fn write(&self, out: &mut String) -> Result<()> {
        if let Some(instructions) = self.instructions {
            writeln!(out, "The command runs {instructions} instructions.\n")?;
        }
        writeln!(
            out,
            "| more work | comparisons | perfkit says | effect p50 | time p50 | time max | hyperfine: beyond its σ | \
             Welch p < 0.05 | time |"
        )?;
        writeln!(out, "|---:|---:|---|---:|---:|---:|---:|---:|---:|")?;
        for case in &self.cases {
            let verdicts = case.verdicts.iter();
            let verdicts: Vec<String> = verdicts
                .map(|(word, times)| format!("{word} {times}"))
                .collect();
            writeln!(
                out,
                "| {} % | {} | {} | {:+.2} % | {:.1} s | {:.1} s | {} | {} | {:.1} s |",
                case.added_percent,
                case.comparisons,
                verdicts.join(", "),
                case.effect_p50_percent,
                case.seconds_p50,
                case.seconds_max,
                case.hyperfine_beyond_sigma,
                case.hyperfine_welch,
                case.hyperfine_seconds_p50,
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_a_row() {
        let case = Case {
            added_percent: 3,
            seconds_most: 20,
            comparisons: 12,
            verdicts: BTreeMap::from([("worse".to_owned(), 11), ("small".to_owned(), 1)]),
            seconds_p50: 4.25,
            seconds_max: 20.0,
            effect_p50_percent: 2.9,
            hyperfine_beyond_sigma: 2,
            hyperfine_welch: 7,
            hyperfine_seconds_p50: 6.0,
        };
        let mut text = String::new();
        let cases = vec![case];
        Commands {
            instructions: Some(5),
            cases,
        }
        .write(&mut text)
        .unwrap();
        assert!(text.contains(
            "| 3 % | 12 | small 1, worse 11 | +2.90 % | 4.2 s | 20.0 s | 2 | 7 | 6.0 s |"
        ));
    }
}
