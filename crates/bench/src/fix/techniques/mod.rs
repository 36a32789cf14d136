//! Five techniques off and on: flags of a ring, a vector scanner, a Swiss table, a pinned thread,
//! and work that is deferred to another thread. The rows of a summary that others have published,
//! with what each measures here.

mod bench;
mod defer;
mod run;
mod table;

pub(crate) use run::run;
