//! A ticker and searches as two tasks of one thread: how late the ticker comes.

use std::time::Duration;

use betree::{Budget, Buffers, Event, Snapshot};
use latency::report::{LatencyName, Timing};
use latency::{Recorder, Spec};
use tokio::runtime::Builder;
use tokio::task::yield_now;

use crate::ticker::tick;
use crate::{Context, Error, runtime};

/// How often the ticker is due, and for how long.
const PERIOD: Duration = Duration::from_micros(100);
const TIME: Duration = Duration::from_millis(400);

/// How the other task searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Nothing,
    OneCall,
    Yielding,
}

impl Task {
    pub(crate) const ALL: [Self; 3] = [Self::Nothing, Self::OneCall, Self::Yielding];

    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "ticker alone",
            Self::OneCall => "ticker during search",
            Self::Yielding => "ticker during search_next",
        }
    }
}

/// One measurement.
pub(crate) fn measure(
    context: Context<'_>,
    snapshot: &Snapshot,
    events: &[Event],
    budget: Budget,
    task: Task,
) -> Result<Recorder, Error> {
    let runtime = runtime::start(&mut Builder::new_current_thread())?;
    let spec = Spec::new(LatencyName::Response, "tick")
        .series(task.name())
        .timing(Timing::Intended);
    let recorder = Recorder::new(context.run.spec(spec), context.run.started());
    let (snapshot, events) = (snapshot.clone(), events.to_vec());
    runtime.block_on(async {
        let search = tokio::spawn(async move {
            let mut buffers = Buffers::new();
            for event in events.iter().cycle() {
                let search = snapshot.search_iterator(event, &mut buffers);
                match (task, search) {
                    (_, Err(error)) => return Some(error),
                    (Task::Nothing, _) => {}
                    (Task::OneCall, Ok(mut search)) => {
                        search.step(Budget::UNLIMITED);
                    }
                    (Task::Yielding, Ok(mut search)) => search.yielding(budget).await,
                }
                yield_now().await;
            }
            None
        });
        // A task like the other one: they take turns.
        let ticker = tokio::spawn(tick(recorder, PERIOD, TIME));
        let broken = |error| Error::new(format!("the benchmark failed: {error}"));
        let recorder = ticker.await.map_err(broken)?;
        match search.is_finished() {
            true => match search.await.map_err(broken)? {
                Some(error) => Err(Error::broken(error)),
                None => Ok(recorder),
            },
            false => {
                search.abort();
                Ok(recorder)
            }
        }
    })
}
