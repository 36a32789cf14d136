//! The load of a measurement.

use std::sync::Arc;
use std::time::{Duration, Instant};

use latency::Schedule;
use latency::report::LatencyName;
use zstdkit::{Compressor, Recipe};

use crate::Error;
use crate::advise::data::piece;

/// Turns of every mode, if the operations of the load are short enough.
const TURNS: u32 = 4;
/// Number of different contents in a load.
const CONTENTS: usize = 8;
/// The highest rate of a load: beyond it, the threads that issue operations would be the load.
const RATE_MAX_PER_S: f64 = 50_000.0;
/// Operations that a run should have, if it does not become longer than `LONGER_MAX` times for that.
const OPERATIONS_MIN: f64 = 3.0;
const LONGER_MAX: u32 = 3;
/// How long an operation is timed to find the rate.
const PROBE_TIME: Duration = Duration::from_millis(50);

/// The kind of all distributions here.
pub(crate) const RESPONSE: LatencyName = LatencyName::Response;

/// What the load does: contents of one size, at a rate.
pub(crate) struct Load {
    pub(crate) recipe: Recipe,
    pub(crate) bytes: usize,
    pub(crate) contents: Vec<Arc<[u8]>>,
    pub(crate) rate_per_s: f64,
}

impl Load {
    /// The rate at which inline compression takes this share of one CPU.
    pub(crate) fn new(
        recipe: Recipe,
        content: &[u8],
        bytes: usize,
        share: f64,
    ) -> Result<Self, Error> {
        let bytes = bytes.min(content.len());
        let contents: Vec<Arc<[u8]>> = (0..CONTENTS)
            .map(|nth| piece(content, nth, bytes).into())
            .collect();
        let mut compressor = Compressor::new(&recipe.options(Some(bytes as u64)))?;
        let mut frame = Vec::new();
        let (mut operations, mut start) = (0_u32, Instant::now());
        for (nth, content) in contents.iter().cycle().enumerate() {
            compressor.compress_into(content, &mut frame)?;
            // The first call creates the tables.
            match nth {
                0 => start = Instant::now(),
                _ => operations += 1,
            }
            if operations > 0 && start.elapsed() > PROBE_TIME {
                break;
            }
        }
        let seconds = start.elapsed().as_secs_f64() / f64::from(operations.max(1));
        Ok(Self {
            recipe,
            bytes,
            contents,
            rate_per_s: (share / seconds).clamp(1e-3, RATE_MAX_PER_S),
        })
    }

    /// How long a run must be to contain some operations.
    pub(crate) fn needed(&self) -> Duration {
        Duration::from_secs_f64(OPERATIONS_MIN / self.rate_per_s)
    }

    pub(crate) fn time(&self, usual: Duration) -> Duration {
        self.needed().clamp(usual, usual * LONGER_MAX)
    }

    /// The number of turns for a run of this length: one if they would contain too few operations.
    pub(crate) fn turns(&self, run: Duration) -> u32 {
        match self.needed() <= run / TURNS {
            true => TURNS,
            false => 1,
        }
    }

    pub(crate) fn schedule(&self) -> Result<Schedule, Error> {
        Schedule::uniform(self.rate_per_s).map_err(|error| Error::new(error.to_string()))
    }
}
