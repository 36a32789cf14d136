//! Reports that were written before: read again, laid side by side, or added up.

mod combine;
mod identity;
mod load;
mod losses;
mod notes;
mod repeat;

pub use combine::{merge, overlay};
pub use identity::identity;
pub use load::{FILE_BYTES_MAX, FileKind, Saved, bounded, folder};
pub use losses::{Form, losses, losses_of_rows, merge_losses};
pub use repeat::{Stated, Unrepeatable, differences, words};
