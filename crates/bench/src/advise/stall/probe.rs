//! One measurement: a probe and a load in one runtime, both called from outside.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, mpsc as sync_mpsc};
use std::thread;
use std::time::{Duration, Instant};

use latency::report::Timing;
use latency::{Recorder, Spec};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use zstdkit::tokio::Scheduler;
use zstdkit::{Error, Recipe};

use crate::advise::probe::{Delays, Probe};
use crate::advise::stall::load::{Load, RESPONSE};
use crate::{Checks, Error as Failed, runtime};

/// Operations before the measurement, which create contexts.
const WARM_UP: usize = 2;

/// How operations are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Not at all.
    Idle,
    /// In the task.
    Inline,
    /// Each with `spawn_blocking`.
    Offload,
    /// With the scheduler of zstdkit.
    Auto,
    /// The same, with offload threads of the lowest priority.
    Background,
}

impl Mode {
    pub(crate) const ALL: [Self; 5] = [
        Self::Idle,
        Self::Inline,
        Self::Offload,
        Self::Auto,
        Self::Background,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Inline => "inline",
            Self::Offload => "offload",
            Self::Auto => "auto",
            Self::Background => "auto_background",
        }
    }
}

/// One measurement to make.
pub(crate) struct Measurement<'a> {
    pub(crate) scheduler: &'a Scheduler,
    pub(crate) workers: usize,
    pub(crate) time: Duration,
    pub(crate) mode: Mode,
}

/// The result of a measurement, or of several added up.
pub(crate) struct Stalls {
    /// Of the probe.
    pub(crate) delays: Delays,
    /// Response times of the load, from when each was due; empty when idle.
    pub(crate) response: Recorder,
    pub(crate) due: u64,
}

impl Stalls {
    pub(crate) fn new(start: Instant) -> Self {
        Self {
            delays: Delays::new(start),
            response: Recorder::new(Spec::new(RESPONSE, "call").timing(Timing::Intended), start),
            due: 0,
        }
    }

    pub(crate) fn merge(&mut self, other: Self) -> Result<(), Failed> {
        self.delays.merge(other.delays)?;
        self.due += other.due;
        let merged = self.response.merge(other.response);
        merged.map_err(|error| Failed::new(error.to_string()))
    }
}

/// A running load.
struct Running {
    response: Arc<Mutex<Option<Recorder>>>,
    stop: Arc<AtomicBool>,
    ended: sync_mpsc::Receiver<Result<(), Error>>,
    caller: thread::JoinHandle<u64>,
}

impl Measurement<'_> {
    pub(crate) fn measure(&self, load: &Load, checks: &mut Checks) -> Result<Stalls, Failed> {
        let runtime = runtime::start(Builder::new_multi_thread().worker_threads(self.workers))?;
        self.warm_up(&runtime, load, checks)?;
        let start = Instant::now();
        let end = start + self.time;
        let Stalls {
            delays, response, ..
        } = Stalls::new(start);
        let running = match self.mode {
            Mode::Idle => None,
            _ => Some(self.start_load(&runtime, load, response, start, end)?),
        };
        let probe = Probe::start(&runtime, delays, start, move |due| due < end);
        let delays = probe.finish(&runtime)?;
        let (response, due) = match running {
            Some(running) => running.finish(self.time / 2)?,
            None => (None, 0),
        };
        runtime.shutdown_background();
        Ok(Stalls {
            delays,
            response: response.unwrap_or_else(|| Stalls::new(start).response),
            due,
        })
    }

    fn warm_up(&self, runtime: &Runtime, load: &Load, checks: &mut Checks) -> Result<(), Failed> {
        for content in load.contents.iter().cycle().take(WARM_UP) {
            let work = operate(
                self.mode,
                self.scheduler.clone(),
                content.clone(),
                load.recipe,
            );
            let frame = runtime.block_on(runtime.spawn(work)).map_err(broken)??;
            if self.mode != Mode::Idle {
                checks.frame(&frame, content);
            }
        }
        Ok(())
    }

    fn start_load(
        &self,
        runtime: &Runtime,
        load: &Load,
        response: Recorder,
        start: Instant,
        end: Instant,
    ) -> Result<Running, Failed> {
        let (call, mut calls) = mpsc::unbounded_channel::<Instant>();
        let (tell, ended) = sync_mpsc::channel();
        let response = Arc::new(Mutex::new(Some(response)));
        let stop = Arc::new(AtomicBool::new(false));
        let (record, stopped) = (response.clone(), stop.clone());
        let (mode, scheduler) = (self.mode, self.scheduler.clone());
        let (recipe, contents) = (load.recipe, load.contents.clone());
        runtime.spawn(async move {
            let mut contents = contents.iter().cycle().cloned();
            while let (Some(due), Some(content)) = (calls.recv().await, contents.next()) {
                if stopped.load(Relaxed) {
                    break;
                }
                if let Err(error) = operate(mode, scheduler.clone(), content, recipe).await {
                    let _ = tell.send(Err(error));
                    return;
                }
                let mut recorder = record.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(recorder) = recorder.as_mut() {
                    recorder.record_span(due, Instant::now());
                }
            }
            let _ = tell.send(Ok(()));
        });
        let schedule = load.schedule()?;
        let caller = thread::spawn(move || {
            let mut due = 0;
            for offset_ns in schedule {
                let at = start + Duration::from_nanos(offset_ns);
                if at >= end {
                    break;
                }
                thread::sleep(at.saturating_duration_since(Instant::now()));
                if call.send(at).is_err() {
                    break;
                }
                due += 1;
            }
            due
        });
        Ok(Running {
            response,
            stop,
            ended,
            caller,
        })
    }
}

impl Running {
    /// Waits for running operations, but not longer than this. The rest is not done.
    fn finish(self, patience: Duration) -> Result<(Option<Recorder>, u64), Failed> {
        let due = self
            .caller
            .join()
            .map_err(|_| Failed::new("the caller of the load panicked"))?;
        match self.ended.recv_timeout(patience) {
            Ok(result) => result?,
            Err(_) => {
                self.stop.store(true, Relaxed);
                // The current operation must end, or it would disturb the next run.
                if let Ok(result) = self.ended.recv() {
                    result?;
                }
            }
        }
        let mut recorder = self.response.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((recorder.take(), due))
    }
}

/// One operation of the load.
async fn operate(
    mode: Mode,
    scheduler: Scheduler,
    content: Arc<[u8]>,
    recipe: Recipe,
) -> Result<Vec<u8>, Error> {
    let size = Some(content.len() as u64);
    let options = recipe.options(size);
    match mode {
        Mode::Idle => Ok(Vec::new()),
        Mode::Inline => scheduler
            .pool()
            .compressor(&options, size)?
            .compress(&content),
        Mode::Offload => {
            let pool = scheduler.pool().clone();
            let work = move || pool.compressor(&options, size)?.compress(&content);
            match tokio::task::spawn_blocking(work).await {
                Ok(frame) => frame,
                // It was not aborted, and the runtime does not end before it.
                Err(panic) => std::panic::resume_unwind(panic.into_panic()),
            }
        }
        Mode::Auto | Mode::Background => scheduler.compress(content, &options).await,
    }
}

fn broken(error: tokio::task::JoinError) -> Failed {
    Failed::new(format!("a task of the measurement failed: {error}"))
}
