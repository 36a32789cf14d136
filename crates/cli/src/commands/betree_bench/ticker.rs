//! A ticker and searches as two tasks of one thread: how late the ticker comes.

use std::time::Duration;

use betree::{Budget, Buffers, Event, Snapshot};
use latency::report::{LatencyName, Timing};
use latency::{Recorder, Spec};
use tokio::runtime::Builder;
use tokio::task::yield_now;

use crate::commands::betree_bench::run::failed;
use crate::commands::ticker::tick;
use crate::failure::{Failure, Result};
use crate::session::Session;

/// How often the ticker is due, and for how long.
const PERIOD: Duration = Duration::from_micros(100);
const TIME: Duration = Duration::from_millis(400);

/// How the other task searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    Nothing,
    OneCall,
    Yielding,
}

impl Beside {
    pub(super) const ALL: [Self; 3] = [Self::Nothing, Self::OneCall, Self::Yielding];

    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "ticker alone",
            Self::OneCall => "ticker beside search",
            Self::Yielding => "ticker beside search_next",
        }
    }
}

/// One measurement.
pub(super) fn measure(
    session: &Session,
    snapshot: &Snapshot,
    events: &[Event],
    budget: Budget,
    beside: Beside,
) -> Result<Recorder> {
    let runtime = Builder::new_current_thread()
        .build()
        .map_err(|error| Failure::new(format!("cannot start a runtime: {error}")))?;
    let spec = Spec::new(LatencyName::Response, "tick")
        .series(beside.name())
        .timing(Timing::Intended);
    let recorder = Recorder::new(session.spec(spec), session.run_start());
    let (snapshot, events) = (snapshot.clone(), events.to_vec());
    runtime.block_on(async {
        let search = tokio::spawn(async move {
            let mut buffers = Buffers::new();
            for event in events.iter().cycle() {
                let search = snapshot.search_iterator(event, &mut buffers);
                match (beside, search) {
                    (_, Err(error)) => return Some(error),
                    (Beside::Nothing, _) => {}
                    (Beside::OneCall, Ok(mut search)) => {
                        search.step(Budget::UNLIMITED);
                    }
                    (Beside::Yielding, Ok(mut search)) => search.yielding(budget).await,
                }
                yield_now().await;
            }
            None
        });
        // A task like the other one: they take turns.
        let ticker = tokio::spawn(tick(recorder, PERIOD, TIME));
        let broken = |error| Failure::new(format!("the benchmark failed: {error}"));
        let recorder = ticker.await.map_err(broken)?;
        match search.is_finished() {
            true => match search.await.map_err(broken)? {
                Some(error) => Err(failed(error)),
                None => Ok(recorder),
            },
            false => {
                search.abort();
                Ok(recorder)
            }
        }
    })
}
