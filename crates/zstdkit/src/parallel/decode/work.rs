//! The work of a thread on a run of frames.

use super::super::buffers::Output;
use super::super::hooks::{JobObserver, PositionedWriter};
use super::super::plan::Run;
use super::super::workers::Worker;
use crate::error::Error;
use crate::oneshot::Decompressor;
use crate::options::DecoderOptions;

/// A run of frames for a worker.
pub(super) struct Task {
    pub(super) run: Run,
    pub(super) content: Vec<u8>,
    pub(super) writer: Option<PositionedWriter>,
}

/// A run and its result.
pub(super) struct Done {
    pub(super) run: Run,
    pub(super) result: Made,
}

/// The result of a run.
pub(super) enum Made {
    Content(Vec<u8>),
    /// This many bytes of content were written to their position.
    Placed(u64),
    /// The run did not decode. The buffer comes back.
    Nothing(Vec<u8>),
}

/// The part of a run to hand out.
pub(super) enum Accepted {
    Output(Output),
    Placed(u64),
}

/// Decodes all frames of a run in one call.
pub(super) fn worker(
    options: &DecoderOptions,
    observer: JobObserver,
) -> Result<Worker<Task, Done>, Error> {
    let mut decompressor = Decompressor::new(options)?;
    let mut own = Vec::new();
    Ok(Box::new(move |task: Task| {
        let Task {
            run,
            mut content,
            writer,
        } = task;
        if writer.is_some() {
            std::mem::swap(&mut content, &mut own);
        }
        let mut decoded = false;
        observer(run.start, &mut || {
            decoded = decompressor
                .decompress_into(&run.bytes, &mut content)
                .is_ok();
        });
        let result = match decoded {
            true if write_positioned(writer.as_ref(), &run, &content) => {
                let bytes = content.len() as u64;
                own = content;
                Made::Placed(bytes)
            }
            true => Made::Content(content),
            false => Made::Nothing(content),
        };
        Done { run, result }
    }))
}

/// Writes the content of a run to its position, if it has content and the position is known.
fn write_positioned(writer: Option<&PositionedWriter>, run: &Run, content: &[u8]) -> bool {
    match (writer, run.content_start) {
        (Some(writer), Some(start)) if content.len() as u64 == run.content_bytes_max => {
            !content.is_empty() && writer(start, content)
        }
        _ => false,
    }
}
