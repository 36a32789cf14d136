//! The live view of a run on standard error: a thread that draws what `report::formats::live` makes of the rows.
//!
//! The measured threads know nothing of it. On a terminal the view is drawn over itself, and removed at the end
//! ([`drawn`]). Elsewhere there is a plain line now and then.

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anstream::{AutoStream, ColorChoice};
use latency::{IntervalLog, LiveRows};
use report::formats::live::{self, Room, View};
use report::style::Palette;

use super::progress::Progress;
use super::{color, drawn, message, page, signal};

/// How often a terminal is drawn, and how often a line is written elsewhere.
const DRAWN_EVERY: Duration = Duration::from_millis(250);
const WRITTEN_EVERY: Duration = Duration::from_secs(10);
/// What rates and percentiles are of.
const WINDOW: Duration = Duration::from_secs(1);

/// A live view, until it is dropped.
#[derive(Debug)]
pub(crate) struct Live {
    rows: LiveRows,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread that draws reads.
#[derive(Debug)]
struct Shared {
    what: &'static str,
    rows: LiveRows,
    started: Instant,
    stop: AtomicBool,
    now: Mutex<String>,
    until: Mutex<Until>,
}

/// When the end will be, as far as that is known.
#[derive(Debug, Default)]
enum Until {
    #[default]
    Unknown,
    /// So long after the start.
    Time(Duration),
    /// When all steps of a part are done.
    Steps { since: Instant, done: u64, all: u64 },
}

impl Live {
    /// Starts the view of a command, if `wanted`. Without a thread there is none.
    pub(crate) fn start(wanted: bool, what: &'static str) -> Option<Self> {
        if !wanted {
            return None;
        }
        let started = Instant::now();
        let rows = LiveRows::new(started, WINDOW);
        let shared = Arc::new(Shared {
            what,
            rows: rows.clone(),
            started,
            stop: AtomicBool::new(false),
            now: Mutex::default(),
            until: Mutex::default(),
        });
        let draws = Progress::shows(true);
        if draws {
            drawn::begin();
            // A second signal ends the process without unwinding.
            static GUARD: Once = Once::new();
            GUARD.call_once(|| signal::guard_running(|| (), drawn::erase_at_once));
        }
        let seen = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("live".to_owned())
            .spawn(move || match draws {
                true => seen.draw(),
                false => seen.write(),
            })
            .ok()?;
        Some(Self {
            rows,
            shared,
            thread: Some(thread),
        })
    }

    /// The rows that it shows.
    pub(crate) fn rows(&self) -> LiveRows {
        self.rows.clone()
    }

    /// A log of intervals that are shown and not kept.
    pub(crate) fn log(&self) -> Option<IntervalLog> {
        IntervalLog::watched(DRAWN_EVERY, io::empty(), self.rows()).ok()
    }

    /// What the run does now.
    pub(crate) fn now(&self, what: String) {
        *lock(&self.shared.now) = what;
    }

    /// How long the run takes.
    pub(crate) fn takes(&self, time: Duration) {
        *lock(&self.shared.until) = Until::Time(time);
    }

    /// That many more steps are to be done.
    pub(crate) fn expect(&self, steps: u64) {
        let mut until = lock(&self.shared.until);
        match &mut *until {
            Until::Steps { all, .. } => *all = all.saturating_add(steps),
            Until::Unknown | Until::Time(_) => {
                *until = Until::Steps {
                    since: Instant::now(),
                    done: 0,
                    all: steps,
                };
            }
        }
    }

    /// So many were done.
    pub(crate) fn advance(&self, steps: u64) {
        if let Until::Steps { done, .. } = &mut *lock(&self.shared.until) {
            *done = done.saturating_add(steps);
        }
    }

    /// All steps were done, or will not be: more may come of another part.
    pub(crate) fn finish(&self) {
        *lock(&self.shared.until) = Until::Unknown;
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // One that panicked has said so.
            let _ = thread.join();
        }
        drawn::end();
    }
}

impl Shared {
    /// Draws until the run is over.
    fn draw(&self) {
        let palette = match AutoStream::choice(&io::stderr()) {
            ColorChoice::Never => Palette::PLAIN,
            _ => Palette::ANSI,
        };
        let ascii = !color::has_blocks();
        // However short the run is, once.
        loop {
            let (columns, height) = page::stderr_size();
            let room = Room {
                // Nothing in the last column, where terminals differ, nor in the last line, where the cursor is.
                columns: columns.saturating_sub(1),
                lines: height.saturating_sub(1),
                palette,
                ascii,
            };
            let lines = self.view(|view| live::lines(view, &room));
            drawn::draw(&lines);
            std::thread::park_timeout(DRAWN_EVERY);
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
        }
    }

    /// Writes a line now and then until the run is over.
    fn write(&self) {
        let mut next = self.started + WRITTEN_EVERY;
        while !self.stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            if now < next {
                std::thread::park_timeout(next - now);
                continue;
            }
            next = now + WRITTEN_EVERY;
            message::status(&self.view(live::line));
        }
    }

    fn view<T>(&self, show: impl FnOnce(&View<'_>) -> T) -> T {
        let (rows, now) = (self.rows.read(), lock(&self.now).clone());
        let elapsed = self.started.elapsed();
        show(&View {
            what: self.what,
            now: &now,
            elapsed,
            left: lock(&self.until).left(elapsed, Instant::now()),
            rows: &rows,
        })
    }
}

impl Until {
    /// The time that is left: of a time that is known, or as long a step as those before took.
    fn left(&self, elapsed: Duration, now: Instant) -> Option<Duration> {
        match *self {
            Self::Unknown | Self::Steps { done: 0, .. } => None,
            Self::Time(time) => Some(time.saturating_sub(elapsed)),
            Self::Steps { since, done, all } => {
                let rest = all.checked_sub(done)?;
                let took = now.saturating_duration_since(since).as_secs_f64();
                Duration::try_from_secs_f64(took * rest as f64 / done as f64).ok()
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether matches, or whatever else goes to standard output during the run, would be between its lines.
pub(crate) fn meets_output() -> bool {
    io::stdout().is_terminal() && io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_left_where_the_end_is_known() {
        let (since, seconds) = (Instant::now(), Duration::from_secs);
        let steps =
            |done, all| Until::Steps { since, done, all }.left(seconds(99), since + seconds(10));
        assert_eq!(Until::Unknown.left(seconds(10), since), None);
        assert_eq!((steps(0, 0), steps(0, 5)), (None, None));
        assert_eq!(
            (steps(1, 5), steps(5, 5)),
            (Some(seconds(40)), Some(seconds(0)))
        );
        // Steps that were not expected.
        assert_eq!(steps(6, 5), None);
        let time = Until::Time(seconds(60));
        assert_eq!(time.left(seconds(10), since), Some(seconds(50)));
        assert_eq!(time.left(seconds(70), since), Some(seconds(0)));
        let far = Until::Steps {
            since,
            done: 1,
            all: u64::MAX,
        };
        assert_eq!(far.left(seconds(1), since + seconds(1 << 40)), None);
    }
}
