//! A ticker of 1 ms and the packing of archives as two tasks of one thread.

use std::time::Duration;

use latency::report::{LatencyName, Timing};
use latency::{Recorder, Spec};
use tokio::runtime::Builder;
use tokio::task::yield_now;

use crate::ticker::tick;
use crate::zip::pack::{self, Work};
use crate::{Context, Error, runtime};

const PERIOD: Duration = Duration::from_millis(1);
/// Long enough for a 99th percentile.
const TIME: Duration = Duration::from_millis(400);

/// How the other task packs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Nothing,
    Sync,
    Async,
}

impl Task {
    pub(crate) const ALL: [Self; 3] = [Self::Nothing, Self::Sync, Self::Async];

    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "ticker alone",
            Self::Sync => "ticker during sync",
            Self::Async => "ticker during async",
        }
    }
}

/// One measurement.
pub(crate) fn measure(context: Context<'_>, work: &Work, task: Task) -> Result<Recorder, Error> {
    let spec = Spec::new(LatencyName::Response, "tick")
        .series(task.name())
        .timing(Timing::Intended);
    let recorder = Recorder::new(context.run.spec(spec), context.run.started());
    let work = work.clone();
    let runtime = runtime::start(&mut Builder::new_current_thread())?;
    runtime.block_on(async {
        let packing = tokio::spawn(async move {
            loop {
                let packed = match task {
                    Task::Nothing => Ok(()),
                    Task::Sync => pack::sync(&work, std::io::sink(), None).map(drop),
                    Task::Async => {
                        let sink = tokio::io::sink();
                        pack::asynchronous(&work, sink, None).await.map(drop)
                    }
                };
                if let Err(error) = packed {
                    return error;
                }
                yield_now().await;
            }
        });
        // A task like the other one: they take turns.
        let ticking = tokio::spawn(tick(recorder, PERIOD, TIME));
        let broken = |error| Error::new(format!("the benchmark failed: {error}"));
        let recorder = ticking.await.map_err(broken)?;
        if packing.is_finished() {
            return Err(Error::broken(packing.await.map_err(broken)?));
        }
        packing.abort();
        Ok(recorder)
    })
}
