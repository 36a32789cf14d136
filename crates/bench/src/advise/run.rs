//! The tables, the stalls and the streams of a plan.

use report::Outcome;

use crate::advise::cost;
use crate::advise::data::Data;
#[cfg(feature = "zip")]
use crate::advise::deflate;
#[cfg(feature = "fix")]
use crate::advise::fix;
use crate::advise::plan::Plan;
#[cfg(feature = "async")]
use crate::advise::{stall, streams};
use crate::{Checks, Context, Error};

/// Times calls and their slices, judges them by the threshold, and measures what they cost the other
/// tasks of a runtime; adds the tables to the outcome.
///
/// # Errors
///
/// [`Error::Failed`] where a codec or a runtime fails. A run that the watcher stops has what was measured
/// until then.
pub fn run(
    plan: &Plan,
    data: &Data,
    context: Context<'_>,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let mut checks = Checks::default();
    if plan.tables {
        cost::part(plan, data, context, outcome, &mut checks)?;
        #[cfg(feature = "zip")]
        deflate::part(plan, data, context, outcome, &mut checks)?;
        #[cfg(feature = "fix")]
        fix::part(plan, context, outcome, &mut checks)?;
    }
    #[cfg(feature = "async")]
    if plan.stalls {
        stall::part(plan, data, context, outcome, &mut checks)?;
    }
    #[cfg(feature = "async")]
    if let Some(asked) = &plan.streams {
        streams::part(plan, asked, data, context, outcome, &mut checks)?;
    }
    let method = match plan.streams {
        Some(_) => "round trip of a frame a cell and mode, and of every stream",
        None => "round trip of a frame a cell and mode",
    };
    checks.conclude(method, outcome, context.watch.is_stopped());
    Ok(())
}
