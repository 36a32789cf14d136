//! Editing: entries that go from one archive into another as they are.
//!
//! [`raw`] is what headers say of such an entry and how that is written anew; the bytes between are
//! the caller's to carry, as everywhere here. [`salvage`](mod@salvage) finds entries where there is no
//! directory.

mod raw;
mod salvage;

pub(crate) use raw::Facts;
pub use raw::RawEntry;
pub use salvage::{Salvage, Salvaged, salvage};
