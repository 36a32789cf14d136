//! `perfkit tour`: every component on generated data, checked and measured.
//!
//! Each component has a part; it gets the session and adds tables, distributions and comparisons to the
//! outcome. Every answer is checked before it is reported.

use std::ffi::OsString;

use latency::report::LatencyName;
use report::{ExitStatus, Outcome};

use crate::commands::tour::flags::TourArgs;
use crate::commands::tour::stage::Stage;
use crate::commands::tour::words;
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};
use crate::term::signal;
use bench::Checks;

/// Runs the command.
pub(crate) fn run(args: &TourArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let bytes = usize::try_from(args.size)
        .ok()
        .filter(|bytes| (super::zstd::BYTES_MIN..=super::zstd::BYTES_MAX).contains(bytes))
        .ok_or_else(|| {
            Failure::usage(format!("--size {} is out of range", args.size))
                .help("choose a size between 1M and 1G")
        })?;
    let session = Session::start(&Setup {
        seed: Some(args.seed),
        rows: &[LatencyName::Hold],
        brief: true,
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("tour");
    let mut checks = Checks::default();
    let stage = Stage {
        session: &session,
        seed: args.seed,
        bytes,
    };
    super::zstd::part(&stage, &mut outcome, &mut checks)?;
    super::stress::part(&stage, &mut outcome, &mut checks)?;
    super::zip::part(&stage, &mut outcome, &mut checks)?;
    super::betree::part(&stage, &mut outcome, &mut checks)?;
    super::fix::part(&stage, &mut outcome, &mut checks)?;
    super::store::part(&stage, &mut outcome, &mut checks)?;
    words::promise(&mut outcome);
    let method = "round trip of everything compressed and packed, every match by plain code";
    checks.conclude(method, &mut outcome, signal::interrupted());
    session.finish(outcome)
}
