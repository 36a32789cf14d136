//! The `perfkit` binary: hands the command line to the library and its end to the system.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    perfkit::run(std::env::args_os()).end()
}
