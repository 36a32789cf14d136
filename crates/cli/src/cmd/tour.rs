//! `perfkit tour`: every component at its real work on generated data, checked and measured.
//!
//! Each component has a part of its own below; a part gets the session and adds tables, distributions
//! and comparisons to the outcome. What a part says is checked before it is said.

use std::ffi::OsString;

use latency::report::{LatencyName, Validation};

use crate::args::analyse::TourArgs;
use crate::exit::ExitStatus;
use crate::export::MainStream;
use crate::failure::{Failure, Result};
use crate::session::{Outcome, Session, Setup};
use crate::term::signal;

mod zstd;

/// What all parts share.
pub(super) struct Stage<'a> {
    session: &'a Session,
    seed: u64,
    /// Bytes of generated data a kind.
    bytes: usize,
}

/// What the parts checked.
#[derive(Debug, Default)]
pub(super) struct Checks {
    done: u64,
    wrong: u64,
}

impl Checks {
    fn that(&mut self, right: bool) {
        self.done += 1;
        self.wrong += u64::from(!right);
    }
}

/// Runs the command.
pub(crate) fn run(args: &TourArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let bytes = usize::try_from(args.size)
        .ok()
        .filter(|bytes| (zstd::BYTES_MIN..=zstd::BYTES_MAX).contains(bytes))
        .ok_or_else(|| {
            Failure::usage(format!("--size {} is out of range", args.size))
                .help("between 1 MiB and 1 GiB a kind of data")
        })?;
    let session = Session::start(&Setup {
        argv,
        subcommand: name,
        stream: MainStream::Stdout,
        report: &args.report,
        terminal: &args.terminal,
        force: args.force,
        seed: Some(args.seed),
        rows: &[LatencyName::Hold],
    })?;
    let mut outcome = Outcome::new("tour");
    let mut checks = Checks::default();
    let stage = Stage {
        session: &session,
        seed: args.seed,
        bytes,
    };
    zstd::part(&stage, &mut outcome, &mut checks)?;
    outcome.validation = Some(Validation {
        checked: checks.done,
        method: "round trip of everything compressed".to_owned(),
        ok: checks.wrong == 0,
    });
    if signal::interrupted() {
        outcome.complete = false;
        outcome.status = ExitStatus::Interrupted;
    } else if checks.wrong > 0 {
        outcome.status = ExitStatus::Failure;
    }
    session.finish(outcome)
}
