//! A pool of contexts: made once, used by any thread, within a memory budget.
//!
//! `handle` is the pool that callers hold, `guard` a context in use and what happens when it is
//! returned, `store` where idle contexts wait, `item` such a context of any kind. The memory account is
//! in `reservation`. Nothing here waits, except for locks that are held briefly.

mod guard;
mod handle;
mod item;
mod store;

pub use guard::Pooled;
pub use handle::{Pool, PoolOptions, PoolStats};
