//! One load by several machines: a [`Lead`] gives each [`Agent`] its part of a plan and a start, and [`merge`]s what they
//! report.
//!
//! ```text
//! agent  Hello ─► lead            until the lead has as many as it wants
//! lead   Plan  ─► agent ─► Ready  its part of the rate, of the blocks and of the seed
//! lead   Start ─► agent ─► Starting, when all are ready: how long from now, for clocks differ
//! agent  Alive ◄─► lead           while they run; who is silent for [`SILENCE`] has vanished
//! agent  Part… ─► lead ─► Received, the report of the agent
//! ```
//!
//! Both are state machines without I/O and clock: bytes and times come in, bytes and news go out. Messages may be lost,
//! repeated and reordered; all are sent again until they are answered. Response times are those of each agent's own
//! clock, so that no difference of clocks enters them.

mod agent;
mod lead;
mod merge;
mod message;
mod part;
#[cfg(test)]
mod simulated;

pub use agent::{Agent, Order};
pub use lead::{Ended, Lead, Member, News, Trouble};
pub use merge::{AgentComplaint, LATE_SHARE_MAX, merge};
pub use message::{MESSAGE_BYTES_MAX, VERSION, WrongMessage, check_message};
pub use part::SharedPlan;

use std::time::Duration;

/// A side that is not heard for this long has vanished.
pub const SILENCE: Duration = Duration::from_secs(10);
/// From when all are ready until the start.
pub const START_IN: Duration = Duration::from_secs(1);
/// The most agents of a run.
pub const AGENTS_MAX: u32 = 1000;
/// How often a message is sent again that was not answered.
const AGAIN: Duration = Duration::from_millis(250);
/// How often a sign of life is given.
const ALIVE: Duration = Duration::from_secs(1);

/// For how long a side stood still between two looks at the time, which are far less than a second apart otherwise.
fn stood_still(before: Duration, now: Duration) -> Duration {
    let passed = now.saturating_sub(before);
    match passed > ALIVE {
        true => passed,
        false => Duration::ZERO,
    }
}
