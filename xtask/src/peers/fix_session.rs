//! Compares sessions with a plain loop and with QuickFIX: records tables of `perfkit fix-bench session`.

pub(crate) mod run;

use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::table::Table;
use crate::record::Body;

/// Runs of `perfkit fix-bench session`, each next to another engine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FixSession {
    parts: Vec<Part>,
}

/// One run.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Part {
    title: String,
    command: String,
    /// Answers that were compared with what was sent.
    answers: u64,
    tables: Vec<Table>,
}

impl Body for FixSession {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "One client, which never sleeps, sends orders of FIX 4.4 to acceptors that return them: *raw* returns the \
             bytes from a thread that never sleeps, *epoll* and *uring* are fixsession with a thread that sleeps, \
             *busy* and *busy-uring* with one that does not. All validate with a dictionary of FIX 4.4, and every \
             answer is compared. Sides take turns in random order; *again* is the first side once more. *times as \
             fast* compares medians with those of the other engine."
        )?;
        for part in &self.parts {
            writeln!(out, "\n# {}\n", part.title)?;
            writeln!(
                out,
                "`{}`: {} answers compared.",
                part.command, part.answers
            )?;
            for table in &part.tables {
                table.write(out)?;
            }
        }
        Ok(())
    }
}
