//! A task that is due at fixed times and looks at the clock whenever it has its turn: how late it
//! comes is what the other tasks of its thread cost it.

use std::time::{Duration, Instant};

use latency::Recorder;
use tokio::task::yield_now;

/// Ticks for this long, recording how late each tick came.
pub(crate) async fn tick(mut recorder: Recorder, period: Duration, time: Duration) -> Recorder {
    let start = Instant::now();
    let mut due = start + period;
    while due < start + time {
        let now = Instant::now();
        if now >= due {
            recorder.record_span(due, now);
            due += period;
        } else {
            yield_now().await;
        }
    }
    recorder
}
