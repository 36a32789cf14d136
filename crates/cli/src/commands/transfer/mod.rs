//! What `compress` and `decompress` share: jobs from sources to targets, timed and counted.
//!
//! The codec is a [`Stage`]. Everything around it stands here once: all jobs in `run`, what the codec works with in
//! `stream`, a job from opening to committing in `job`, several small files at a time in `small_files`. Time is
//! taken around calls of the codec only: waiting for input or output is in the row `file`.

mod job;
mod run;
mod small_files;
mod stage;
mod stream;

pub(crate) use run::{make_directories, refuse, remark_kept, run};
pub(crate) use stage::{Opening, Options, Overwrite, Stage};
pub(crate) use stream::{Operation, ROWS, Stop, Stream, Times, WAIT_MAX, Waits, write_error};
