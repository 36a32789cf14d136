//! From the results of the threads to the finding of the run.

use std::sync::Arc;
use std::time::Duration;

use latency::Pacer;
use latency::report::{Load, finite};

use super::thread::Ended;
use crate::census::Census;
use crate::counts::Counts;
use crate::error::Error;
use crate::finding::{Contexts, Finding, Latencies, Volume};
use crate::leak::{Leak, judge};
use crate::plan::{Pace, Plan};
use crate::samples::Samples;

/// What the watching thread collects.
pub(super) struct Watched {
    pub(super) samples: Samples,
    pub(super) stopped: bool,
}

/// Merges the distributions of all threads and judges the run.
pub(super) fn conclude(
    plan: &Plan,
    codec: String,
    counts: Counts,
    cpu: Option<Duration>,
    ended: Vec<Ended>,
    census: &[Arc<Census>; 2],
    watched: Watched,
) -> Result<Finding, Error> {
    let threads = ended.len();
    let elapsed = ended
        .iter()
        .map(|one| one.last_end)
        .max()
        .unwrap_or_default();
    let load = load(plan, &ended, elapsed, counts);
    let mut ended = ended.into_iter();
    let mut all = ended.next().ok_or(Error::Panicked(0))?.recorders;
    for one in ended {
        all.merge(one.recorders)?;
    }
    let samples = watched.samples.finish();
    let contexts = |census: &Census| Contexts {
        made: census.made(),
        discarded: census.discarded(),
        alive_max: census.alive_max(),
        bytes_max: census.bytes_max(),
    };
    Ok(Finding {
        codec,
        counts,
        volume: Volume {
            elapsed,
            cpu,
            content_bytes: counts.decompressed_bytes,
        },
        latencies: Latencies {
            compress: all.compress.finish(),
            queue: all.queue.finish(),
            decompress: all.decompress.finish(),
            end_to_end: all.end_to_end.finish(),
        },
        load,
        compressors: contexts(&census[0]),
        decompressors: contexts(&census[1]),
        threads,
        leak: Leak {
            trends: judge(&samples),
            compressors_left: census[0].alive(),
            decompressors_left: census[1].alive(),
            bytes_left: census[0].bytes() + census[1].bytes(),
        },
        samples,
        stopped: watched.stopped,
    })
}

/// Whether the threads together kept the rate of the plan.
fn load(plan: &Plan, ended: &[Ended], elapsed: Duration, counts: Counts) -> Load {
    let (Pace::Uniform(rate) | Pace::Poisson(rate)) = plan.pace else {
        return Load::closed();
    };
    let loops = ended.iter().filter_map(|one| one.pacer.as_ref());
    let load = Pacer::load_of(loops, counts.received, elapsed).unwrap_or_else(Load::closed);
    Load {
        rate_target_per_s: finite(rate),
        ..load
    }
}
