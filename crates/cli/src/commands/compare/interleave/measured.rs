//! The series of a run that are compared: a number for each side and round.

use bench::Paired;
use latency::compare::Sides;
use latency::report::{Cell, Table, Unit};

use super::side::Turns;
use crate::args::limit::{CPU, RSS, WALL};

/// The names of the sides.
pub(super) const SIDES: [&str; 3] = ["baseline", "target", "control"];

/// What the finished rounds of the three sides came to: baseline, target and control.
pub(super) struct Measured<'a> {
    wall: [&'a [f64]; 3],
    cpu: [&'a [f64]; 3],
    rss: [&'a [f64]; 3],
}

impl<'a> Measured<'a> {
    pub(super) fn of(wall: &'a Paired, turns: [&'a Turns; 3]) -> Self {
        Self {
            wall: [0, 1, 2].map(|side| wall.side(side)),
            cpu: turns.map(|turns| turns.cpu.as_slice()),
            rss: turns.map(|turns| turns.rss.as_slice()),
        }
    }

    /// Finished rounds.
    pub(super) fn rounds(&self) -> usize {
        self.wall[0].len()
    }

    /// The numbers of every round as a table.
    pub(super) fn table(&self) -> Table {
        let mut columns = vec![("round".to_owned(), Unit::Count)];
        let series = [
            (self.wall, "wall_ns", Unit::Nanoseconds),
            (self.cpu, "cpu_ns", Unit::Nanoseconds),
            (self.rss, "rss_bytes", Unit::Bytes),
        ];
        for (_, key, unit) in series {
            columns.extend(SIDES.map(|side| (format!("{side}_{key}"), unit)));
        }
        let columns: Vec<_> = columns
            .iter()
            .map(|(key, unit)| (&key[..], *unit))
            .collect();
        let mut table = Table::new("rounds", &columns);
        for nth in 0..self.rounds() {
            let sides = series.iter().flat_map(|(sides, ..)| sides);
            let values = sides.map(|side| side.get(nth).map(|value| value.round() as u64).into());
            let number = Cell::from(nth as u64 + 1);
            table
                .rows
                .push(std::iter::once(number).chain(values).collect());
        }
        table
    }

    /// Each series by the name of its row.
    pub(super) fn rows(&self, bucket_ops: u64) -> [(&'static str, Sides<'a>); 3] {
        // The peak of a round is the highest of its runs, not their sum.
        let rows = [
            (WALL, self.wall, bucket_ops),
            (CPU, self.cpu, bucket_ops),
            (RSS, self.rss, 1),
        ];
        rows.map(|(row, [base, target, control], bucket_ops)| {
            let sides = Sides {
                base,
                target,
                control: Some(control),
                bucket_ops,
            };
            (row, sides)
        })
    }
}
