//! SIGINT and SIGTERM set a flag; work looks at it between steps. A second one ends the process.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::ExitStatus;

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Installs the handlers, once a process.
pub(crate) fn install() {
    let flag = INTERRUPTED.get_or_init(|| Arc::new(AtomicBool::new(false)));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let code = i32::from(ExitStatus::Interrupted.code());
        // Order matters: the conditional exit sees the flag as the signal before left it.
        // A handler that cannot be installed leaves the system's own, which ends the process.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(flag));
        let _ = signal_hook::flag::register(signal, Arc::clone(flag));
    }
    #[cfg(not(unix))]
    let _ = (flag, ExitStatus::Interrupted);
}

/// Whether the user asked to stop.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED
        .get()
        .is_some_and(|flag| flag.load(Ordering::Relaxed))
}
