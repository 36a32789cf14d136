//! Programs in C that use the library by its header, the NIF for Erlang, and threads that share a tree. Without a C
//! compiler or Erlang their tests report `ignored`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod erlang;
mod programs;
mod threads;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let mut trials = programs::trials();
    trials.extend(erlang::trials());
    trials.extend(threads::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}

/// A test; `here` says whether what it needs is installed.
fn trial(name: &str, here: bool, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok::<(), Failed>(())
    })
    .with_ignored_flag(!here)
}
