//! How often perfkit's verdicts are right, by simulation: records the tables of the example `verdicts` of
//! `perfkit-latency`.

pub(crate) mod run;

use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::table::Table;
use crate::record::Body;

/// What the program prints.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Verdicts {
    /// Runs of each case.
    runs: u64,
    seconds: u64,
    tables: Vec<Table>,
}

impl Body for Verdicts {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "{} runs of each case, {} s; nothing here is measured on a machine. *Before* are the rules without \
             dependence, margins and looks, on the same numbers. A run of the first two tables has 2,000 values; the \
             limits of gates lie 0.2 % below and above the truth, so that every decision on the wrong side is an error. \
             In the other tables all sides share a machine that drifts by 1 % a round, each side has noise of 3 %, and \
             differences up to 1 % count as none: *wrong* is a verdict of a difference where there is none, the wrong \
             direction, or *no difference* where there is more than 1 %. A comparison that grows has at most 400 \
             rounds. *Verdicts on tails* compares runs of single times in rounds with a control, of which 3 in 100 of the \
             target's are slow: *wrong* is a percentile that is called better, or worse where none is slow. Two separate runs each \
             follow an autoregressive process of their own: *before*, their drift did not count against a pass.",
            self.runs, self.seconds
        )?;
        for table in &self.tables {
            table.write(out)?;
        }
        Ok(())
    }

    fn machine(&self) -> &'static str {
        "any: it is a simulation"
    }
}
