//! Techniques of low latency, off and on: flags, a polling thread, registered buffers and multishot receives of rings, a
//! vector scanner, a Swiss table, a pinned thread, huge and locked pages, work that is deferred to another thread,
//! and a queue of many producers. The rows of a summary that others have published, with what each measures here.

mod bench;
mod defer;
mod pages;
mod producers;
mod run;
mod table;
#[cfg(target_os = "linux")]
mod trips;

pub(crate) use run::run;
