//! Applies patches: those of one frame, whose older file is held in memory, and those of segments.

use std::path::PathBuf;

use files::plan::Job;
use zstdkit::Decoder;
use zstdkit::patch::PatchDecoder;

use super::stage::Decompress;
use crate::commands::patch::{Older, is_segmented, is_segmented_file, pass};
use crate::commands::reference;
use crate::commands::transfer::{Stop, Stream};
use crate::failure::{Failure, Result};

impl Decompress {
    /// Applies patches to this file.
    pub(crate) fn patching(mut self, older: Option<PathBuf>) -> Self {
        if older.is_some() {
            // A patch of one frame is decoded in order.
            self.parallel = None;
        }
        self.older = older;
        self
    }

    /// Reads a patch of segments; `false`: it is something else.
    pub(super) fn read_patch(
        &mut self,
        stream: &mut Stream<'_>,
    ) -> std::result::Result<bool, Stop> {
        if !is_segmented(stream)? {
            self.hold_older()?;
            return Ok(false);
        }
        let name = stream.name();
        let Some(path) = self.older.clone() else {
            let failure = Failure::new(format!(
                "cannot decompress {name}: it is a patch, which needs the older file that it was made from"
            ));
            return Err(failure.help("name it: --patch-from OLDER").into());
        };
        let mut older = Older::open(&path)?;
        let mut options = self.options.clone();
        options.prefix = None;
        let mut decoder = PatchDecoder::new(&options, older.bytes())
            .map_err(|error| self.failed(&name, &error))?;
        let room = Decoder::recommended_output_bytes();
        pass(stream, &mut decoder, &mut older, room, |error| {
            self.failed(&name, error)
        })?;
        let totals = decoder
            .finish()
            .map_err(|error| self.failed(&name, &error))?;
        self.checksums += totals.checksums_verified;
        Ok(true)
    }

    /// Reads all of the older file, once, for patches of one frame.
    pub(super) fn hold_older(&mut self) -> Result<()> {
        let Some(path) = self.older.as_deref() else {
            return Ok(());
        };
        if self.options.prefix.is_none() {
            self.options.prefix = Some(reference::older_content(path)?);
            self.decoder = Decoder::new(&self.options)
                .map_err(|error| Failure::new(format!("cannot set up the decoder: {error}")))?;
        }
        Ok(())
    }

    /// Refuses a part of the content of a patch of segments.
    pub(super) fn refuse_part(&self, job: &Job) -> Result<()> {
        match self.older.is_some() && is_segmented_file(&job.source) {
            true => Err(Failure::new(format!(
                "--range does not read {}, a patch of segments",
                files::display(&job.source)
            ))
            .help("decompress all of it, and cut out the range")),
            false => Ok(()),
        }
    }
}
