//! Processor time, of the calling thread or of the whole process.
//!
//! [`crate::environment::Meter`] has the total of a run; this is for parts of a run, in nanoseconds where
//! the system has them.

use std::time::Duration;

/// Whose processor time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuClock {
    /// The calling thread's.
    Thread,
    /// That of all threads of the process.
    Process,
}

impl CpuClock {
    /// Processor time used so far, in user mode and in the kernel; `None` where the system does not report
    /// it. A reading is a system call of some hundred nanoseconds.
    #[must_use]
    pub fn now(self) -> Option<Duration> {
        read(self)
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn read(clock: CpuClock) -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};

    let id = match clock {
        CpuClock::Thread => ClockId::CLOCK_THREAD_CPUTIME_ID,
        CpuClock::Process => ClockId::CLOCK_PROCESS_CPUTIME_ID,
    };
    clock_gettime(id).ok().map(Duration::from)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn read(_clock: CpuClock) -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn work_shows_and_sleep_does_not() {
        let started = CpuClock::Thread.now().unwrap();
        std::thread::sleep(Duration::from_millis(30));
        let slept = CpuClock::Thread.now().unwrap();
        assert!(slept - started < Duration::from_millis(20));
        let mut sum = 0u64;
        while CpuClock::Thread.now().unwrap() - slept < Duration::from_millis(5) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(CpuClock::Process.now().unwrap() >= Duration::from_millis(5));
    }
}
