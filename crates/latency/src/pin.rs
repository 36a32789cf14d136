//! Binding the calling thread to processors.
//!
//! Pin before threads are started: on Linux they inherit the set.

use std::sync::{Mutex, OnceLock, PoisonError};

/// Why a thread could not be pinned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PinError {
    /// No processor was named.
    #[error("no processor to pin to: name at least one")]
    Empty,
    /// The process may not run on this one, or there is no such processor.
    #[error("processor {cpu} is not available (available: {})", list(.available))]
    Unavailable {
        /// The processor.
        cpu: u32,
        /// Those that are.
        available: Vec<u32>,
    },
    /// The system refused this set of processors.
    #[error("the system refused to pin the thread to processors {}", list(.cpus))]
    Refused {
        /// The processors.
        cpus: Vec<u32>,
    },
}

/// `0, 1, 5`.
fn list(cpus: &[u32]) -> String {
    cpus.iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

static PINNED: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static AVAILABLE: OnceLock<Vec<u32>> = OnceLock::new();

/// The processors that the process could run on before the first call of [`pin`]. Empty when the system
/// does not report them.
#[must_use]
pub fn available() -> Vec<u32> {
    AVAILABLE.get_or_init(allowed).clone()
}

/// The processors of the last [`pin`] of any thread of this process; empty when there was none.
#[must_use]
pub fn pinned() -> Vec<u32> {
    PINNED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// Binds the calling thread and those that it starts later to these processors. Linux only: elsewhere no processor
/// is [`available`], for the hints that other systems take bind nothing.
///
/// # Errors
/// When a processor is not [`available`], or the system refuses.
pub fn pin(cpus: &[u32]) -> Result<(), PinError> {
    if cpus.is_empty() {
        return Err(PinError::Empty);
    }
    let available = available();
    if let Some(cpu) = cpus.iter().find(|cpu| !available.contains(cpu)) {
        return Err(PinError::Unavailable {
            cpu: *cpu,
            available,
        });
    }
    if !pin_to(cpus) {
        return Err(PinError::Refused {
            cpus: cpus.to_vec(),
        });
    }
    *PINNED.lock().unwrap_or_else(PoisonError::into_inner) = cpus.to_vec();
    Ok(())
}

/// The processors that the calling thread may run on now.
#[cfg(target_os = "linux")]
fn allowed() -> Vec<u32> {
    use nix::sched::{CpuSet, sched_getaffinity};
    let Ok(set) = sched_getaffinity(nix::unistd::Pid::from_raw(0)) else {
        return Vec::new();
    };
    let cpus = (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu) == Ok(true));
    cpus.filter_map(|cpu| u32::try_from(cpu).ok()).collect()
}

#[cfg(not(target_os = "linux"))]
fn allowed() -> Vec<u32> {
    Vec::new()
}

#[cfg(target_os = "linux")]
fn pin_to(cpus: &[u32]) -> bool {
    let mut set = nix::sched::CpuSet::new();
    let all = cpus.iter().all(|cpu| set.set(*cpu as usize).is_ok());
    all && nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), &set).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn pin_to(_cpus: &[u32]) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_processors_are_refused() {
        assert_eq!(pin(&[]), Err(PinError::Empty));
        let error = pin(&[u32::MAX]).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("processor 4294967295 is not available"),
            "{error}"
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_can_be_pinned_to_one_and_to_all() {
        let pinned = std::thread::spawn(|| {
            let all = available();
            pin(&all[..1]).unwrap();
            assert_eq!(allowed(), all[..1]);
            assert_eq!(available(), all, "what was available before stays known");
            pin(&all).unwrap();
            allowed() == all
        });
        assert!(pinned.join().unwrap());
    }
}
