//! Writes a patch of segments, for versions that are too large for one frame.

use zstdkit::patch::{PatchEncoder, PatchOptions};

use super::flags::CompressPlan;
use super::stage::{Compress, ROOM_BYTES};
use crate::commands::codec::codec_failure;
use crate::commands::patch::{Older, SegmentedPlan, pass};
use crate::commands::transfer::{Stop, Stream};
use crate::failure::{Failure, Result};

/// Refuses what patches of segments cannot have.
pub(super) fn refuse_unfit(plan: &CompressPlan) -> Result<()> {
    let unfit = match plan {
        plan if plan.seekable.is_some() => "--seekable",
        plan if plan.verify => "--verify",
        _ => return Ok(()),
    };
    Err(Failure::usage(format!(
        "{unfit} does not go with a patch of segments, which files of more than 2 GiB need"
    ))
    .help("leave it out; `perfkit decompress -t --patch-from OLDER PATCH` verifies a patch"))
}

impl Compress {
    /// Writes patches of segments.
    pub(crate) fn segmented(mut self, plan: Option<SegmentedPlan>) -> Self {
        self.segmented = plan;
        self
    }

    pub(super) fn write_patch(
        &mut self,
        plan: &SegmentedPlan,
        stream: &mut Stream<'_>,
    ) -> std::result::Result<(), Stop> {
        let name = stream.name();
        let failed = |error: &zstdkit::Error| Stop::Failed(codec_failure("compress", &name, error));
        let mut older = Older::open(&plan.older)?;
        let first = stream.peek(1 << 10)?;
        let mut options = PatchOptions::default()
            .with_encoder(self.options(&first, stream.stated_size()))
            .with_segment_bytes(plan.segment_bytes);
        if let Some(limit) = self.plan.memory_limit {
            options = options.with_memory_limit(limit);
        }
        let mut encoder =
            PatchEncoder::new(&options, older.bytes()).map_err(|error| failed(&error))?;
        pass(stream, &mut encoder, &mut older, ROOM_BYTES, failed)
    }
}
