//! Sizes, times and memory of candidates on a case. The time is the processor's, the least of
//! several passes, and the candidates take turns, so that a busy moment hits all of them.

use std::time::Duration;

use anyhow::{Result, ensure};
use zstdkit::{Compressor, DecoderOptions, compress_bound, decompress};

use crate::args::Effort;
use crate::candidate::Candidate;
use crate::data::Case;
use crate::table::Row;

/// No candidate takes part in more passes than this.
const PASSES_MAX: u32 = 60;

/// A candidate with its context, in the middle of its passes.
struct Turn<'c> {
    candidate: &'c Candidate,
    compressor: Compressor,
    frame: Vec<u8>,
    row: Row,
    spent: Duration,
}

impl<'c> Turn<'c> {
    fn new(case: &Case, candidate: &'c Candidate) -> Result<Self> {
        Ok(Self {
            candidate,
            compressor: Compressor::new(&candidate.options)?,
            frame: vec![0; compress_bound(case.size)],
            row: Row {
                name: candidate.name.clone(),
                group: candidate.group,
                compressed_bytes: 0,
                pass_ns: u64::MAX,
                passes: 0,
                memory_bytes: 0,
            },
            spent: Duration::ZERO,
        })
    }

    fn pass(&mut self, case: &Case) -> Result<()> {
        let start = clock::now()?;
        let mut compressed_bytes = 0;
        for sample in &case.samples {
            compressed_bytes += self.compressor.compress_to_slice(sample, &mut self.frame)?;
        }
        let time = clock::now()?.saturating_sub(start);
        let first = self.row.passes == 0;
        ensure!(
            first || compressed_bytes == self.row.compressed_bytes,
            "{} is not deterministic",
            self.candidate.name
        );
        self.row.compressed_bytes = compressed_bytes;
        self.row.pass_ns = self.row.pass_ns.min(time.as_nanos() as u64);
        self.row.passes += 1;
        self.row.memory_bytes = self.compressor.memory_bytes();
        self.spent += time;
        Ok(())
    }

    fn is_done(&self, effort: &Effort) -> bool {
        let enough = self.row.passes >= effort.passes && self.spent >= effort.spend;
        enough || self.row.passes >= PASSES_MAX.max(effort.passes)
    }

    /// Whether the last frame is the last sample.
    fn check(&mut self, case: &Case) -> Result<()> {
        if let Some(sample) = case.samples.last() {
            let length = self.compressor.compress_to_slice(sample, &mut self.frame)?;
            let back = decompress(&self.frame[..length], &DecoderOptions::default())?;
            ensure!(back == *sample, "{}: a wrong answer", self.candidate.name);
        }
        Ok(())
    }
}

/// Measures all candidates, in turns.
pub(crate) fn interleaved(
    case: &Case,
    candidates: &[Candidate],
    effort: &Effort,
) -> Result<Vec<Row>> {
    let mut turns = candidates
        .iter()
        .map(|candidate| Turn::new(case, candidate))
        .collect::<Result<Vec<_>>>()?;
    for turn in &mut turns {
        turn.check(case)?;
    }
    while turns.iter().any(|turn| !turn.is_done(effort)) {
        for turn in turns.iter_mut().filter(|turn| !turn.is_done(effort)) {
            turn.pass(case)?;
        }
    }
    Ok(turns.into_iter().map(|turn| turn.row).collect())
}

/// The time that the processor gave to this thread; elsewhere, the time that passed.
mod clock {
    use std::time::Duration;

    #[cfg(unix)]
    pub(super) fn now() -> anyhow::Result<Duration> {
        use nix::time::{ClockId, clock_gettime};
        Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
    }

    #[cfg(not(unix))]
    pub(super) fn now() -> anyhow::Result<Duration> {
        use std::sync::LazyLock;
        use std::time::Instant;
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        Ok(START.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_candidate_gets_its_passes() {
        let case = Case {
            kind: "lines".to_owned(),
            size: 4000,
            samples: vec![b"the same again. ".repeat(250); 2],
        };
        let candidates = [Candidate::level(1), Candidate::level(5)];
        let effort = Effort {
            spend: Duration::ZERO,
            passes: 4,
        };
        let rows = interleaved(&case, &candidates, &effort).unwrap();
        for row in &rows {
            assert_eq!(row.passes, 4);
            assert!(row.compressed_bytes < 400 && row.memory_bytes > 0);
            assert!(row.pass_ns > 0 && row.pass_ns < u64::MAX);
        }
    }
}
