//! What all parts of the tour share.

use std::fmt::Display;

use crate::failure::Failure;
use crate::session::Session;

/// The run that a part belongs to, and its data.
pub(crate) struct Stage<'a> {
    pub(crate) session: &'a Session,
    pub(crate) seed: u64,
    /// Bytes of each kind of generated data.
    pub(crate) bytes: usize,
}

/// A component that failed on generated data.
pub(super) fn failed(error: impl Display) -> Failure {
    Failure::new(format!("the tour failed: {error}"))
        .help("please report this as a bug, with the output of `perfkit env`")
}
