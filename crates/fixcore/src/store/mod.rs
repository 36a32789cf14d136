//! A durable store of the messages that a session sent, by their sequence numbers.
//!
//! Messages are appended to segments, files that are allocated whole and mapped: appending is a copy
//! and a checksum, without a call of the system, and getting is two look-ups without a copy. Beside
//! the messages the store keeps both next sequence numbers. Here is what a store does;
//! `open` reads one back, `durable` says when it is on the disk, `survey` looks at one without changing
//! it.
//!
//! What [`Store::append`] acknowledges, by [`Durability`]:
//!
//! | policy | survives the end of the process, however it comes | survives the end of power |
//! |---|---|---|
//! | `None` | when `append` returns | perhaps |
//! | `Batch` | when `append` returns | when [`Store::sync`] returns |
//! | `Message` | when `append` returns | when `append` returns |
//!
//! A number that was acknowledged and survives is never given to another message, except by
//! [`Store::reset`].
//!
//! What the end of power leaves of a store without a policy is whatever pages the system had written,
//! in an order of its own. [`Store::open`] finds one of these, and never hands out a message that was
//! not appended:
//!
//! | what was lost | what becomes of it |
//! |---|---|
//! | the end | it is cut off ([`Opened::torn`]); **its numbers are given again** |
//! | pages of the last segment before others that are there | [`StoreError::Damaged`], for [`OnDamage::Refuse`] is the default; with [`OnDamage::Skip`] those messages are left out, and their numbers stay used |
//! | pages of segments that are full | found when a message is read, or by [`survey()`] |
//! | the first page, the length or the file of a segment | [`StoreError::Damaged`], with either |
//!
//! Whoever has to go on unattended after that takes `Batch` or `Message`.
//!
//! Segments are mapped: their pages count as memory of the process (`RssFile`), and the system takes back
//! those that are written whenever it needs to. What a store has of its own does not grow with its messages.

mod durable;
mod error;
mod files;
#[cfg(feature = "workload")]
mod forge;
mod handle;
mod map;
mod open;
mod options;
mod record;
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
