//! Messages that differ in shape: how many fields there are, how many digits their tags have, how long values are,
//! groups, data fields, and faults.
//!
//! A [`Shape`] draws messages from a seed, each as the fields to write and as bytes that no code of this crate's
//! encoder wrote, so that others can answer the same questions. [`named`] lists shapes of real traffic and of
//! boundaries, [`sweeps()`] those that differ in one number only, [`drawn`] draws one at random.

mod draw;
mod drawer;
mod faults;
mod names;
mod random;
mod shape;
mod sweeps;
mod text;

pub use draw::drawn;
pub use drawer::{ABSENT_TAG, Drawer};
pub use faults::Fault;
pub use names::named;
pub use shape::{Between, Content, Drawn, Item, Shape, Tag, Value, Written};
pub use sweeps::{Sweep, sweeps};
