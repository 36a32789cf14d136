//! What the strict profile requires of one entry. Everything here is asked of an archive from a file and of
//! one from a pipe alike.
//!
//! [`names`] has the requirements of names, [`headers`] those of one header, [`agreement`] those of a local
//! header and its record. Requirements of the whole archive are in `layout`, `locate` and `stream`.

mod agreement;
mod ends;
mod headers;
mod names;

pub(crate) use agreement::agree;
pub(super) use agreement::{Seen, agree_strictly, differs, sizes_before_a_descriptor};
pub(super) use ends::{check_end, check_end64, check_locator, hides_an_end};
pub(super) use headers::{check_local, check_record};
pub(super) use names::{Insertion, Names};
