//! Compares fixcore with a naive parser and encoder, with fefix and with QuickFIX over shapes of messages: records the
//! tables of the program in `bench-peers/fix`.

pub(crate) mod run;

use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::table::Table;
use crate::record::Body;

/// Rows of each operation and instruction set on the page: the worst ones.
const ROWS: usize = 12;

/// What the program prints.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FixShapes {
    /// Shapes: how many were asked for, and how many were measured before the time was up.
    cases: u64,
    measured: u64,
    /// Answers that were compared.
    answers: u64,
    cliffs: u64,
    /// Rivals that answer some shapes otherwise.
    otherwise: Vec<Otherwise>,
    has_quickfix: bool,
    seconds: u64,
    tables: Vec<Table>,
}

/// The shapes that a rival answers otherwise.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Otherwise {
    rival: String,
    shapes: Vec<String>,
}

impl Body for FixShapes {
    fn write(&self, out: &mut String) -> Result<()> {
        let minutes = self.seconds.div_ceil(60);
        let quickfix = match self.has_quickfix {
            true => "QuickFIX runs in a process of its own and parses only.",
            false => "QuickFIX was not installed, and takes no part.",
        };
        writeln!(
            out,
            "One thread, messages of a shape that differ from one another, {} of {} shapes in {minutes} minutes, {} \
             answers of fixcore and of the naive side equal, {} cliffs. Sides take turns in random order. *ratio* is \
             fixcore over the naive parser or encoder, the worst first; *control* is the naive side over itself. \
             *absent* and *late* are the first look-up in a parsed message, *iterate* goes through its fields, for \
             which the naive parser has stored where each value begins; *read* parses and goes through them. \
             {quickfix}",
            self.measured, self.cases, self.answers, self.cliffs
        )?;
        for Otherwise { rival, shapes } in &self.otherwise {
            let names = shapes.join("; ");
            writeln!(
                out,
                "\n{rival} answers otherwise, and takes no part: {names}."
            )?;
        }
        for table in &self.tables {
            table.write_first(out, &["of", "isa"], ROWS)?;
        }
        Ok(())
    }
}
