//! Decoding of deflate (RFC 1951): streams in any cut, and whole contents into their place.
//!
//! `machine` takes a stream apart wherever its input and room end. It has `head` read what precedes
//! a block, `table` make tables of `entry` out of that, `packs` tables whose entries stand for several
//! symbols, and `fast` do all of a block that
//! is far from both ends, with the copies of `copy`, in a build that `dispatch` chooses. `inflater` is the face, `error` says what is
//! wrong at which bit. Nothing here knows a header or a checksum of a container.

mod copy;
mod dispatch;
mod entry;
mod error;
mod fast;
mod head;
mod inflater;
mod machine;
mod packs;
mod source;
mod table;

pub use error::{InflateError, InflateFlaw};
pub(crate) use inflater::{CONTENT_BYTES, PART_SLACK_BYTES};
pub use inflater::{Inflated, Inflater, Piece};
