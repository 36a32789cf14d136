//! Boolean expressions matched against events, in calls of bounded work.
//!
//! A [`Domain`] declares attributes, an [`Expression`] tests them, a [`BeTree`] holds expressions by their
//! [`SubscriptionId`]s. A [`Snapshot`] of the tree reads an [`Event`] from JSON and finds the subscriptions that
//! match it, at once or in steps of a [`Budget`].
//!
//! ```
//! use betree::{BeTree, Budget, Buffers, Constants, Domain, Expression, Progress};
//! use betree::{SubscriptionId, Undefined};
//!
//! let domain = Domain::parse("a|boolean|false\nb|boolean|false\ntags|string list|true\n")?;
//! let mut tree = BeTree::new(domain, Undefined::False);
//! for (id, text) in [(1, "a and not b"), (2, "tags one of ('x', 'y')"), (3, "b")] {
//!     let expression = Expression::parse(text)?;
//!     tree.insert(SubscriptionId(id), &expression, &Constants::default())?;
//! }
//! let snapshot = tree.snapshot();
//! let event = snapshot.event(r#"{"a": true, "b": false, "tags": ["y", "z"]}"#)?;
//!
//! let mut buffers = Buffers::new();
//! let mut search = snapshot.search_iterator(&event, &mut buffers)?;
//! while search.step(Budget::reductions(2_000)) == Progress::Yielded {
//!     // Other work of this thread.
//! }
//! assert_eq!(search.ids(), [SubscriptionId(1), SubscriptionId(2)]);
//! # Ok::<(), betree::Error>(())
//! ```
#![deny(unsafe_code)]

mod batch;
mod betree;
mod bind;
mod budget;
mod code;
mod constants;
mod csv;
mod dictionary;
mod disk;
mod domain;
mod erlang;
mod error;
mod eval;
mod event;
mod explain;
mod expr;
mod futures;
mod index;
mod lint;
mod lockstep;
mod memory;
mod merge;
mod names;
mod nearest;
mod numbers;
mod priorities;
mod program;
mod renew;
mod search;
mod simd;
mod snapshot;
mod state;
mod text;
#[cfg(feature = "workload")]
pub mod workload;

pub use crate::batch::{Batch, BatchSearch};
pub use crate::betree::BeTree;
pub use crate::bind::Undefined;
pub use crate::budget::{Budget, OVERSHOOT_MAX, Progress};
pub use crate::constants::Constants;
pub use crate::domain::{Attribute, AttributeId, AttributeType, Domain};
pub use crate::erlang::ErlangTerms;
pub use crate::error::{Error, ErrorKind, Place, Result};
pub use crate::event::{Event, EventId, EventReader};
pub use crate::explain::{ExplainedKind, ExplainedNode, ExplainedTest, Explanation};
pub use crate::expr::Expression;
pub use crate::lint::{Finding, Lint, Oddity};
pub use crate::merge::{Merge, Merged};
pub use crate::names::{Name, Names};
pub use crate::priorities::Priorities;
pub use crate::search::{Buffers, OwnedSearch, Search};
pub use crate::simd::{Isa, ParseIsaError};
pub use crate::snapshot::Snapshot;

/// The identifier of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct SubscriptionId(pub u64);

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
