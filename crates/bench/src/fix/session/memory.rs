//! Memory of sessions that are logged on and idle.

use std::time::Duration;

use latency::environment;

use super::plan::Plan;
use super::side::{Kind, Visit};
use crate::{Error, Watch};

/// How long an engine may take to settle.
const SETTLE: Duration = Duration::from_millis(200);

/// A row: whose memory, of how many sessions, and bytes of each.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    pub(super) kind: Kind,
    /// Whether the client's memory is part of it.
    pub(super) with_client: bool,
    pub(super) sessions: u32,
    pub(super) session_bytes: f64,
}

/// Measures the greatest number of sessions: the first transport, before anything else has grown the process, and
/// another engine whose process is known.
pub(super) fn measure(plan: &Plan, watch: &dyn Watch) -> Result<Vec<Memory>, Error> {
    let sessions = plan.sessions.iter().copied().max().unwrap_or(0);
    let ours = plan.transports.first().map(|one| Kind::Acceptor(*one));
    let other = plan.other.as_ref().and_then(|other| other.pid);
    let other = other.map(|_| Kind::Other);
    let mut rows = Vec::new();
    for kind in ours.into_iter().chain(other).filter(|_| sessions > 1) {
        let pid = plan.other.as_ref().and_then(|other| other.pid);
        let size = || match (kind, pid) {
            (Kind::Other, Some(pid)) => environment::process_of(pid),
            _ => environment::process(),
        };
        let Some(before) = size() else {
            continue;
        };
        let visit = Visit {
            plan,
            kind,
            sessions,
            is_durable: plan.is_durable,
            keeps_times: false,
            watch,
        };
        let (after, _) = visit.run(|_| {
            std::thread::sleep(SETTLE);
            Ok(size())
        })?;
        if let Some(after) = after {
            let grown = after.rss_bytes.saturating_sub(before.rss_bytes);
            rows.push(Memory {
                kind,
                with_client: kind != Kind::Other,
                sessions,
                session_bytes: grown as f64 / f64::from(sessions),
            });
        }
    }
    Ok(rows)
}
