//! Workloads that differ in shape: how many attributes there are, how many values they have, which tests
//! expressions make of them, how often an event meets one.
//!
//! A [`Shape`] draws expressions and events from a seed, each as text and as plain data, so that a rival which
//! shares no code with this crate can answer the same questions. [`named`] lists shapes of targeting as people
//! have it, [`long`] those whose expressions name many values, [`drawn`] draws one at random. [`SimpleIndex`] and
//! [`CountingIndex`] are the rivals: inverted indexes of a few lines.

mod counting;
mod draw;
mod drawer;
mod long;
mod names;
mod plain;
mod shape;
mod simple;
mod sweeps;
mod text;
mod wide;

pub use counting::CountingIndex;
pub use draw::drawn;
pub use drawer::Drawer;
pub use long::long;
pub use names::named;
pub use plain::{Conjunctions, Plain, Test, Value};
pub use shape::{Ask, Clause, Shape, Values};
pub use simple::SimpleIndex;
pub use sweeps::{Sweep, long_sweeps, sweeps};
pub use text::{campaign, constants, json, text};
