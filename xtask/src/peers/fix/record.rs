//! The results of FIX as data and as Markdown.

use std::fmt::Write;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::record::Body;

/// Everything that `cargo xtask peers fix` measures.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Fix {
    pub(super) rounds: usize,
    pub(super) rows: Vec<Row>,
}

/// One library on one case and set.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) case: String,
    pub(super) set: String,
    pub(super) library: String,
    pub(super) rounds: usize,
    /// A message, over the rounds.
    pub(super) ns_p50: f64,
    pub(super) ns_min: f64,
    /// Over fixcore's time of the same round, where it has the case.
    pub(super) ratio_p50: Option<f64>,
    pub(super) ratio_range: Option<[f64; 2]>,
}

/// Columns: sets with their titles.
const SETS: [(&str, &str); 5] = [
    ("hb", "hb 83 B"),
    ("nos", "nos 197 B"),
    ("er", "er 303 B"),
    ("md", "md 1,920 B"),
    ("shuffled", "256 shuffled"),
];

/// What every library does.
const CASES: [&str; 5] = [
    "parse",
    "parse, 8 gets",
    "validate",
    "encode",
    "encode by template",
];

impl Fix {
    /// One line per case and library of the wanted rows.
    fn table(&self, out: &mut String, wanted: impl Fn(&Row) -> bool) -> std::fmt::Result {
        let titles: Vec<&str> = SETS.iter().map(|set| set.1).collect();
        writeln!(out, "| case | library | {} |", titles.join(" | "))?;
        writeln!(out, "|---|---|{}", "---:|".repeat(SETS.len()))?;
        let mut lines: Vec<(&str, &str)> = Vec::new();
        for row in self.rows.iter().filter(|row| wanted(row)) {
            let line = (row.case.as_str(), row.library.as_str());
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let place = |case: &str| CASES.iter().position(|known| *known == case);
        lines.sort_by_key(|(case, library)| (place(case), *library != "fixcore"));
        for (case, library) in lines {
            let cells: Vec<String> = SETS
                .iter()
                .map(|(set, _)| {
                    let mut rows = self.rows.iter();
                    let row = rows
                        .find(|row| row.case == case && row.library == library && row.set == *set);
                    row.map_or_else(|| "—".to_owned(), Row::cell)
                })
                .collect();
            writeln!(out, "| {case} | {library} | {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}

impl Body for Fix {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(out, "{}\n", explained(self.rounds))?;
        self.table(out, |row| CASES.contains(&row.case.as_str()))?;
        writeln!(out, "\n## fixcore by instruction set\n")?;
        self.table(out, |row| {
            row.library == "fixcore" && !CASES.contains(&row.case.as_str())
        })?;
        Ok(())
    }
}

impl Row {
    fn cell(&self) -> String {
        let times = format!("{:.1} ({:.1})", self.ns_p50, self.ns_min);
        match self.ratio_p50.filter(|_| self.library != "fixcore") {
            Some(ratio) => format!("{times} {ratio:.2}x"),
            None => times,
        }
    }
}

fn explained(rounds: usize) -> String {
    format!(
        "Nanoseconds a message: the median of {rounds} rounds (the least), then the median of its time over \
          fixcore's in the same round: above 1 fixcore is faster. Each library runs in a \
         program of its own, pinned to one processor, in an order by chance in each round, fixcore twice \
         as a control; the time of a turn is the median of five batches of 2 ms or more, and all answers were \
         compared.\n\n\
         - `parse` checks BodyLength and CheckSum; fefix also tracks groups, `quickfix-dictionary` takes \
         them apart, `quickfix` works without a dictionary.\n\
         - `parse, 8 gets` looks up eight fields outside of groups after that. On shuffled messages it is \
         measured of fixcore only: the others do not see the same fields where some stand in groups.\n\
         - `validate` is a parse and the rules of FIX 4.4 by each one's dictionary.\n\
         - `encode` writes the new order field by field, `encode by template` with what is constant \
         written before.\n\
         - fefix keeps what it knows of a group beyond the end of a message; its answers are those of new \
         decoders, its times those of one that goes on."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, set: &str, library: &str, ns: f64, ratio: Option<f64>) -> Row {
        Row {
            case: case.to_owned(),
            set: set.to_owned(),
            library: library.to_owned(),
            rounds: 3,
            ns_p50: ns,
            ns_min: ns - 1.0,
            ratio_p50: ratio,
            ratio_range: ratio.map(|ratio| [ratio, ratio]),
        }
    }

    #[test]
    fn the_markdown_has_a_line_for_each_library_and_a_column_for_each_set() {
        let results = Fix {
            rounds: 3,
            rows: vec![
                row("encode", "nos", "fixcore", 25.0, Some(1.0)),
                row("parse", "hb", "fefix", 240.0, Some(6.0)),
                row("parse", "hb", "fixcore", 40.0, Some(1.0)),
                row("parse", "shuffled", "fixcore", 80.0, Some(1.0)),
                row("scan, avx2", "hb", "fixcore", 8.0, None),
            ],
        };
        let mut text = String::new();
        results.write(&mut text).unwrap();
        let ours = "| parse | fixcore | 40.0 (39.0) | — | — | — | 80.0 (79.0) |\n";
        let rival = "| parse | fefix | 240.0 (239.0) 6.00x | — | — | — | — |\n";
        let (ours, rival) = (
            text.find(ours).expect("ours"),
            text.find(rival).expect("rival"),
        );
        let encode = text.find("| encode | fixcore | — | 25.0").expect("encode");
        assert!(ours < rival && rival < encode, "{text}");
        let scan = text.find("| scan, avx2 | fixcore | 8.0").expect("scan");
        assert!(
            scan > text
                .find("## fixcore by instruction set")
                .expect("a heading")
        );
    }
}
