//! Compares betree with a simple inverted index and with the crate a-tree over shapes of workloads: records the
//! tables of the program in `bench-peers/betree`.

pub(crate) mod run;

use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::table::Table;
use crate::record::Body;

/// What the program prints.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BetreeShapes {
    /// Shapes at numbers of expressions: how many were asked for, and how many were measured before the time was up.
    cases: u64,
    measured: u64,
    /// Answers that were compared.
    answers: u64,
    cliffs: u64,
    /// Shapes that a-tree answers otherwise.
    otherwise: Vec<String>,
    seconds: u64,
    tables: Vec<Table>,
}

impl Body for BetreeShapes {
    fn write(&self, out: &mut String) -> Result<()> {
        let minutes = self.seconds.div_ceil(60);
        writeln!(
            out,
            "One thread, events already parsed, ids as a list. {} of {} shapes in {minutes} minutes, {} answers equal, \
             {} cliffs. Sides search in turns of random order, an event at a time. *ratio* is betree over the simple \
             index, the worst first; a-tree takes part up to 10,000 expressions, where its language has the tests of \
             a shape and where it is built within 4 s, and searches as many events as it can in 0.6 s a turn. \
             *insert* is an insert and the snapshot after it, *hold* one step of 2,000 reductions.",
            self.measured, self.cases, self.answers, self.cliffs
        )?;
        if !self.otherwise.is_empty() {
            let names = self.otherwise.join("; ");
            writeln!(
                out,
                "\na-tree answers otherwise, and takes no part: {names}."
            )?;
        }
        for table in &self.tables {
            table.write(out)?;
        }
        Ok(())
    }
}
