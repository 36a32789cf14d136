//! Two subjects compared round by round.

use serde::{Deserialize, Serialize};

/// A comparison of two subjects.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Judged {
    pub(super) target: String,
    pub(super) baseline: String,
    pub(super) reach: Option<f64>,
    /// Of target / baseline, round by round.
    pub(super) median: f64,
    pub(super) ci95: Option<[f64; 2]>,
    pub(super) rounds: usize,
}

impl Judged {
    pub(super) fn row(&self) -> String {
        let interval = self.ci95.map_or_else(
            || "—".to_owned(),
            |[low, high]| format!("{low:.2}–{high:.2}"),
        );
        let (reach, verdict) = match self.reach {
            None => ("—".to_owned(), "—"),
            Some(reach) if self.median >= reach => (format!("{reach}x"), "reached"),
            Some(reach) => (format!("{reach}x"), "missed"),
        };
        format!(
            "| {} | {} | {:.2}x | {interval} | {reach} | {verdict} |",
            self.target, self.baseline, self.median
        )
    }
}

/// The middle of sorted values; 0 of none.
pub(super) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match (sorted.len() % 2, sorted.get(middle)) {
        (_, None) => 0.0,
        (1, Some(value)) => *value,
        (_, Some(value)) => f64::midpoint(sorted[middle - 1], *value),
    }
}
