//! Editing: entries that go from one archive into another as they are.
//!
//! [`raw`] is what headers say of such an entry and how that is written anew; the bytes between are
//! the caller's to carry, as everywhere here.

mod raw;

pub use raw::RawEntry;
