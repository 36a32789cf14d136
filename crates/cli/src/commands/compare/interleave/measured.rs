//! The series of a run that are compared: a number for each side and round.

use bench::Paired;
use latency::compare::Sides;

use super::side::Turns;
use crate::args::limit::{CPU, RSS, WALL};

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
