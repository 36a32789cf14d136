//! A durable store of the messages that a session sent, by sequence number.
//!
//! Messages are appended to segments: files that are allocated whole and mapped into memory. Appending
//! is a copy and a checksum without a system call; getting a message is two look-ups without a copy.
//! The store also keeps both next sequence numbers.
//!
//! What [`Store::append`] guarantees, by [`Durability`]:
//!
//! | policy | survives the end of the process | survives a power failure |
//! |---|---|---|
//! | `None` | when `append` returns | not guaranteed |
//! | `Batch` | when `append` returns | when [`Store::sync`] returns |
//! | `Message` | when `append` returns | when `append` returns |
//!
//! A number that was acknowledged and survives is never given to another message, except after
//! [`Store::reset`].
//!
//! Without a policy, a power failure leaves whatever pages the system had written, in any order.
//! [`Store::open`] detects the following losses, and never returns a message that was not appended:
//!
//! | lost | result |
//! |---|---|
//! | the end | it is cut off ([`Opened::torn`]); **its numbers are used again** |
//! | pages of the last segment, with later pages intact | [`StoreError::Damaged`] by default ([`OnDamage::Refuse`]); with [`OnDamage::Skip`] those messages are left out and their numbers stay used |
//! | pages of full segments | detected when a message is read, or by [`survey()`] |
//! | the first page, the length or the file of a segment | [`StoreError::Damaged`], with either setting |
//!
//! A program that must continue unattended after a power failure needs `Batch` or `Message`.
//!
//! The pages of mapped segments count as memory of the process (`RssFile`); the system can reclaim
//! those that are written. The store's own memory does not grow with the number of messages.

mod durable;
mod error;
mod files;
#[cfg(feature = "workload")]
mod forge;
mod handle;
mod lookup;
mod map;
mod open;
mod options;
mod record;
mod retired;
mod segment;
mod spare;
mod survey;
mod walk;

pub use error::{Damage, StoreError, StoreResult};
#[cfg(feature = "workload")]
pub use forge::forge;
pub use handle::Store;
pub use open::{Opened, Place};
pub use options::{Durability, OnDamage, Options, SEGMENT_BYTES};
pub use survey::{Seen, Survey, Visit, is_store, survey, survey_bytes};
