//! How hard the content of a stream is, by what its slices took.

use crate::schedule::{CostKey, CostModel};

/// The rates of two slices in a row.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Nanoseconds per KiB of the slice before.
    before: Option<f32>,
}

impl Pace {
    /// Learns from a slice. Of two in a row the faster one counts: a single slow one was probably interrupted.
    pub(super) fn observe(&mut self, model: &CostModel, key: CostKey, bytes: usize, ns: u64) {
        let rate = ns as f32 * 1024.0 / bytes.max(1) as f32;
        if let Some(before) = self.before.replace(rate) {
            model.observe_peak(key, rate.min(before));
        }
    }

    /// What follows says nothing of what came before.
    pub(super) fn clear(&mut self) {
        self.before = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::EncoderOptions;
    use crate::schedule::Decision;
    use crate::sliced::SLICE_BYTES;

    const WITHIN_NS: u64 = 300_000;

    fn slices(model: &CostModel, key: CostKey) -> usize {
        match model.decide_slice(key, WITHIN_NS) {
            Decision::Sliced { slice_bytes } => slice_bytes / SLICE_BYTES,
            _ => 0,
        }
    }

    #[test]
    fn after_hard_content_slices_are_short_for_some_time() {
        let (model, mut pace) = (CostModel::default(), Pace::default());
        let key = CostKey::compress_slice(&EncoderOptions::default().with_level(9), None);
        let mut slice = |ns: u64, count: usize| {
            for _ in 0..count {
                model.observe(key, SLICE_BYTES, ns);
                pace.observe(&model, key, SLICE_BYTES, ns);
            }
            slices(&model, key)
        };
        assert_eq!(slice(15_000, 100), 8);
        // One that takes long was interrupted.
        assert!(slice(400_000, 1) > 1);
        assert_eq!(slice(15_000, 100), 8);
        // Two are hard content. No slice of it is longer than allowed, now and when it comes again.
        assert_eq!(slice(140_000, 2), 2);
        assert_eq!(slice(15_000, 20), 2);
        assert_eq!(slice(140_000, 2), 2);
        assert!(slice(15_000, 40) <= 4);
        assert_eq!(slice(15_000, 300), 8);
        // What takes longer than allowed is as short as it can be, and stays on its thread.
        assert_eq!(slice(600_000, 2), 1);
        assert_eq!(slice(15_000, 20), 1);
    }
}
