//! How packing and repairing end.

use report::{ExitStatus, Outcome};
use zipstream::Totals;

use crate::commands::transfer::Stop;
use crate::term::message;

/// Sets the status of the outcome.
pub(super) fn settle(ended: std::result::Result<Totals, Stop>, failed: u64, outcome: &mut Outcome) {
    outcome.complete &= failed == 0 && ended.is_ok();
    outcome.status = match ended {
        Ok(_) if outcome.complete => ExitStatus::Ok,
        Ok(totals) if totals.entries == 0 => ExitStatus::Failure,
        Ok(_) => ExitStatus::Partial,
        Err(Stop::PipeClosed | Stop::Kept) => ExitStatus::Ok,
        // There is no other thread that could do it.
        Err(Stop::Declined) => ExitStatus::Failure,
        Err(Stop::Interrupted) => ExitStatus::Interrupted,
        Err(Stop::Failed(failure)) => {
            message::failure(&failure);
            ExitStatus::Failure
        }
    };
}
