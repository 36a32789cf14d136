//! Times of passes, and the line of JSON that says them.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Batches that are timed.
const BATCHES: usize = 5;

/// What one turn of a library measured.
pub(crate) struct Rows {
    batch_time_min: Duration,
    rows: Vec<String>,
}

impl Rows {
    pub(crate) fn new(milliseconds: u64) -> Self {
        Self {
            batch_time_min: Duration::from_millis(milliseconds),
            rows: Vec::new(),
        }
    }

    /// Times batches of passes over a set, as many passes as take long enough, and adds a row with the
    /// middle one of them.
    pub(crate) fn add<M>(
        &mut self,
        of: &str,
        set: &str,
        messages: &[M],
        answer: &str,
        mut run: impl FnMut(&M),
    ) {
        let mut time = |passes: u64| {
            let start = Instant::now();
            for _ in 0..passes {
                for message in messages {
                    run(black_box(message));
                }
            }
            start.elapsed()
        };
        let mut passes = 1;
        while time(passes) < self.batch_time_min {
            passes *= 2;
        }
        let mut batches = [(); BATCHES].map(|()| time(passes));
        batches.sort_unstable();
        let count = passes * messages.len() as u64;
        let ns = batches[BATCHES / 2].as_nanos() as f64 / count as f64;
        self.rows.push(format!(
            "{{\"case\":\"{of}\",\"set\":\"{set}\",\"ns\":{ns:.3},\"answer\":\"{answer}\"}}"
        ));
    }

    pub(crate) fn json(&self) -> String {
        format!("{{\"rows\":[{}]}}", self.rows.join(","))
    }
}

/// The values of look-ups as every program prints them.
pub(crate) fn found<'v>(values: impl Iterator<Item = Option<&'v [u8]>>) -> String {
    values
        .map(|value| String::from_utf8_lossy(value.unwrap_or(b"-")).into_owned() + " ")
        .collect()
}

/// A message as text.
pub(crate) fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\x01', "|")
}
