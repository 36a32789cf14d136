//! A progress bar on standard error, drawn by a separate thread from a shared counter.
//!
//! The measured thread only adds to an atomic counter. The bar is drawn at most ten times per second, and
//! only on a terminal.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Redraws per second.
const RATE_HZ: u8 = 10;

/// When a bar that is only for long runs is drawn.
const LATE: Duration = Duration::from_secs(1);
const BYTES_OF: &str =
    "{wide_bar} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}";
const BYTES: &str = "{spinner} {binary_bytes} {binary_bytes_per_sec}";

/// The counter of processed bytes, and the bar that shows it.
#[derive(Debug)]
pub(crate) struct Progress {
    done: Arc<AtomicU64>,
    drawer: Option<Drawer>,
}

#[derive(Debug)]
struct Drawer {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Progress {
    /// Starts a bar over `total` bytes (a spinner when unknown), if `wanted` and on a terminal.
    pub(crate) fn start(wanted: bool, total: Option<u64>) -> Self {
        let template = match total {
            Some(_) => BYTES_OF,
            None => BYTES,
        };
        Self::of(wanted, total, template)
    }

    fn of(wanted: bool, total: Option<u64>, template: impl Into<String>) -> Self {
        Self::after(Duration::ZERO, wanted, total, template)
    }

    fn after(
        delay: Duration,
        wanted: bool,
        total: Option<u64>,
        template: impl Into<String>,
    ) -> Self {
        let done = Arc::new(AtomicU64::new(0));
        let drawer = Self::shows(wanted)
            .then(|| Drawer::spawn(Arc::clone(&done), delay, total, template.into()))
            .flatten();
        Self { done, drawer }
    }

    /// Whether there is a bar.
    pub(crate) fn shows(wanted: bool) -> bool {
        wanted
            && std::io::stderr().is_terminal()
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }

    /// Starts a bar over `total` steps, if `wanted` and on a terminal.
    pub(crate) fn steps(wanted: bool, total: u64) -> Self {
        Self::of(wanted, Some(total), "{wide_bar} {percent} % {eta}")
    }

    /// Starts a bar over `total` bytes that is drawn once a second has passed.
    pub(crate) fn late(wanted: bool, total: Option<u64>) -> Self {
        let template = match total {
            Some(_) => BYTES_OF,
            None => BYTES,
        };
        Self::after(LATE, wanted, total, template)
    }

    /// The counter, for whoever counts on other threads.
    pub(crate) fn counter(&self) -> &Arc<AtomicU64> {
        &self.done
    }

    /// Starts a counter of `what` (`messages`), if `wanted` and on a terminal.
    pub(crate) fn counting(wanted: bool, what: &str) -> Self {
        let template = format!("{{spinner}} {{human_pos}} {what}, {{per_sec}}, {{elapsed}}");
        Self::of(wanted, None, template)
    }

    /// Adds `bytes` or steps.
    pub(crate) fn add(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Removes the bar from the screen.
    pub(crate) fn finish(self) {
        if let Some(drawer) = self.drawer {
            drawer.stop.store(true, Ordering::Relaxed);
            drawer.thread.thread().unpark();
            let _ = drawer.thread.join();
        }
    }
}

impl Drawer {
    /// If no thread can be started, there is no bar.
    fn spawn(
        done: Arc<AtomicU64>,
        delay: Duration,
        total: Option<u64>,
        template: String,
    ) -> Option<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn(move || draw(&done, &seen, delay, total, &template))
            .ok()?;
        Some(Self { stop, thread })
    }
}

fn draw(done: &AtomicU64, stop: &AtomicBool, delay: Duration, total: Option<u64>, template: &str) {
    let start = Instant::now();
    while start.elapsed() < delay {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        std::thread::park_timeout(delay.saturating_sub(start.elapsed()));
    }
    let bar = match total {
        Some(total) => ProgressBar::new(total),
        None => ProgressBar::new_spinner(),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(RATE_HZ));
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    while !stop.load(Ordering::Relaxed) {
        bar.set_position(done.load(Ordering::Relaxed));
        std::thread::park_timeout(Duration::from_millis(1000 / u64::from(RATE_HZ)));
    }
    bar.finish_and_clear();
}
