//! Signals that ask the process to end, without leaving temporary files behind.
//!
//! Work in steps checks a flag between steps and ends with a valid partial report. A second signal, if it
//! does not immediately follow the first, ends the process at once, after temporary files are removed. Handlers
//! only set the flag and wake a thread.
//!
//! A process that was interrupted (Ctrl-C) ends by that signal in the end, as if it had never caught it: only so
//! does a shell know that its loop or script must end, too. Shells give such an end the code 130. Under the names of
//! zstd, gzip and xz any signal ends the process so, as it ends them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, OnceLock};

/// What the first signal does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It sets the flag; a second one ends the process.
    BetweenSteps,
    /// It ends the process.
    AtOnce,
}

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
static ENDING: OnceLock<Ending> = OnceLock::new();

/// Installs the signal handlers. To be called once per process.
pub(crate) fn install(ending: Ending) {
    let _ = ENDING.set(ending);
    #[cfg(unix)]
    unix::install(ending, &flag());
}

/// The flag that the first signal sets.
pub(crate) fn flag() -> Arc<AtomicBool> {
    let flag = INTERRUPTED.get_or_init(|| Arc::new(AtomicBool::new(false)));
    Arc::clone(flag)
}

/// Whether the user asked to stop.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED
        .get()
        .is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// Whether any signal ends the process by itself, not only the interrupt.
static BY_ANY: AtomicBool = AtomicBool::new(false);

/// To be called first under the name of a program whose every signal ends it by itself.
pub(crate) fn end_by_any() {
    BY_ANY.store(true, Ordering::Relaxed);
}

/// Ends a process that a signal asked to end by the signal itself. Returns if that was another one than the interrupt,
/// unless any ends it ([`end_by_any`]), or where there are no signals.
pub(crate) fn die_of_signal() {
    #[cfg(unix)]
    unix::die_of_signal(BY_ANY.load(Ordering::Relaxed));
}

/// Whether a write failed for the reader of a pipe has gone.
static PIPE_CLOSED: AtomicBool = AtomicBool::new(false);

/// Remembers that the reader of a pipe has gone.
pub(crate) fn set_pipe_closed() {
    PIPE_CLOSED.store(true, Ordering::Relaxed);
}

/// Whether the reader of a pipe has gone.
pub(crate) fn pipe_closed() -> bool {
    PIPE_CLOSED.load(Ordering::Relaxed)
}

/// Ends the process by SIGPIPE. Returns where there are no signals.
pub(crate) fn die_of_pipe() {
    #[cfg(unix)]
    unix::die_of_pipe();
}

/// To be called before there is a first temporary file, and before any later one: from now on
/// `clean_up` runs before a signal ends the process, once.
pub(crate) fn guard(clean_up: fn()) {
    static FILES: Once = Once::new();
    FILES.call_once(|| guard_running(|| (), clean_up));
}

/// The same for something that runs, to be called once: `asked` is called at the first signal,
/// without waiting for the work to look at the flag.
pub(crate) fn guard_running(asked: fn(), clean_up: fn()) {
    #[cfg(unix)]
    if let Some(ending) = ENDING.get() {
        unix::guard(*ending, asked, clean_up);
    }
    #[cfg(not(unix))]
    let _ = (asked, clean_up);
}

#[cfg(unix)]
mod unix {
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, LazyLock, Mutex, Once, OnceLock, PoisonError};
    use std::time::{Duration, Instant};

    use nix::sys::signal::{SigSet, SigmaskHow, Signal};
    use signal_hook::SigId;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};
    use signal_hook::{flag, low_level};

    use super::{Ending, interrupted};
    use report::ExitStatus;

    /// The signals that ask a process to end.
    const ASKING: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGXCPU];

    /// A second signal within this time counts as the first one: `timeout`, and a terminal that closes, signal
    /// both the process and its group.
    const SAME_WISH: Duration = Duration::from_millis(200);

    /// Handlers that end the process at once, as long as there is nothing to clean up.
    static SHUTDOWNS: Mutex<Vec<SigId>> = Mutex::new(Vec::new());
    static GUARDED: Once = Once::new();

    /// The signal other than the interrupt that asked the process to end, or 0.
    static ASKED_OTHERWISE: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

    /// What to call at the first signal, and before the end.
    #[derive(Debug, Clone, Copy)]
    struct Guard {
        asked: fn(),
        clean_up: fn(),
    }

    static GUARDS: Mutex<Vec<Guard>> = Mutex::new(Vec::new());

    pub(super) fn install(ending: Ending, interrupted: &Arc<AtomicBool>) {
        // If it is caught, the write beyond the limit fails with an error, and files are cleaned up.
        let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
        if ending == Ending::AtOnce {
            return;
        }
        let code = i32::from(ExitStatus::Interrupted.code());
        let mut shutdowns = SHUTDOWNS.lock().unwrap_or_else(PoisonError::into_inner);
        // A signal that comes meanwhile waits until it meets all of its handlers: with some of them it would be lost.
        let _blocked = Blocked::all();
        for signal in heeded() {
            // Order matters: the conditional exit must see the flag as the previous signal left it.
            // If a handler cannot be installed, the system's default ends the process.
            let shutdown = Arc::clone(interrupted);
            shutdowns.extend(match signal {
                _ if signal == SIGINT || super::BY_ANY.load(Ordering::Relaxed) => {
                    flag::register_conditional_default(signal, shutdown)
                }
                _ => flag::register_conditional_shutdown(signal, code, shutdown),
            });
            let _ = flag::register(signal, Arc::clone(interrupted));
            tell_apart(signal);
        }
    }

    /// Signals that ask to end wait while this lives, if there is no other thread yet.
    struct Blocked(Option<SigSet>);

    impl Blocked {
        fn all() -> Self {
            let asking = heeded().filter_map(|signal| Signal::try_from(signal).ok());
            let asking: SigSet = asking.collect();
            Self(asking.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok())
        }
    }

    impl Drop for Blocked {
        fn drop(&mut self) {
            if let Some(before) = &self.0 {
                let _ = before.thread_set_mask();
            }
        }
    }

    /// Remembers a signal that is not the interrupt.
    fn tell_apart(signal: i32) {
        if signal != SIGINT {
            let asked = Arc::clone(&ASKED_OTHERWISE);
            let _ = flag::register_usize(signal, asked, signal.unsigned_abs() as usize);
        }
    }

    pub(super) fn die_of_signal(by_any: bool) {
        let otherwise = ASKED_OTHERWISE.load(Ordering::Relaxed);
        let signal = match i32::try_from(otherwise) {
            Ok(signal) if signal != 0 => signal,
            _ => SIGINT,
        };
        if signal == SIGINT || by_any {
            // If it fails, the exit code says the same.
            let _ = low_level::emulate_default_handler(signal);
        }
    }

    pub(super) fn die_of_pipe() {
        // If it fails, the exit code says the same.
        let _ = low_level::emulate_default_handler(SIGPIPE);
    }

    /// The signals that this process was not started to ignore (by `nohup`, or by a shell without job control).
    fn heeded() -> impl Iterator<Item = i32> {
        static IGNORED: OnceLock<u64> = OnceLock::new();
        let ignored = *IGNORED.get_or_init(|| {
            let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
            status
                .lines()
                .find_map(|line| line.strip_prefix("SigIgn:"))
                .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
                .unwrap_or(0)
        });
        ASKING
            .into_iter()
            .filter(move |signal| ignored >> (signal - 1) & 1 == 0)
    }

    pub(super) fn guard(ending: Ending, asked: fn(), clean_up: fn()) {
        let mut guards = GUARDS.lock().unwrap_or_else(PoisonError::into_inner);
        guards.push(Guard { asked, clean_up });
        drop(guards);
        GUARDED.call_once(|| {
            // Without the thread, the handler still ends the process.
            let _ = watch(ending);
        });
    }

    /// The guards of now: what they call may take its time.
    fn guards() -> Vec<Guard> {
        let guards = GUARDS.lock().unwrap_or_else(PoisonError::into_inner);
        guards.clone()
    }

    fn watch(ending: Ending) -> std::io::Result<()> {
        let asked_before = interrupted();
        let (mut woken, wake) = UnixStream::pair()?;
        std::thread::Builder::new()
            .name("signals".to_owned())
            .stack_size(64 * 1024)
            .spawn(move || {
                let mut first = asked_before.then(Instant::now);
                while woken.read_exact(&mut [0]).is_ok() {
                    let again = first.is_some_and(|first| first.elapsed() > SAME_WISH);
                    if again || ending == Ending::AtOnce {
                        guards().into_iter().for_each(|guard| (guard.clean_up)());
                        super::die_of_signal();
                        low_level::exit(i32::from(ExitStatus::Interrupted.code()));
                    }
                    if first.is_none() {
                        first = Some(Instant::now());
                        guards().into_iter().for_each(|guard| (guard.asked)());
                    }
                }
            })?;
        for signal in heeded() {
            if ending == Ending::AtOnce {
                // Before the thread wakes up: handlers run in their order.
                tell_apart(signal);
            }
            low_level::pipe::register(signal, wake.try_clone()?)?;
        }
        let mut shutdowns = SHUTDOWNS.lock().unwrap_or_else(PoisonError::into_inner);
        for shutdown in shutdowns.drain(..) {
            low_level::unregister(shutdown);
        }
        Ok(())
    }
}
