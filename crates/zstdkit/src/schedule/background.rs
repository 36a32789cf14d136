//! Offload threads of the lowest scheduling class. What they do is in `offload`.

use std::io;

use super::Offload;

impl Offload {
    /// Threads that use only idle CPU time (`SCHED_IDLE` on Linux; elsewhere ordinary threads).
    ///
    /// A thread that compresses for milliseconds may delay an event loop that wakes on the same CPU
    /// until its time slice ends. A thread of this class is preempted at once. The price: if ordinary
    /// threads keep all CPUs busy, offloaded work hardly proceeds. No privilege is needed.
    pub fn background(threads: usize) -> io::Result<Self> {
        Self::with_setup(threads, |_| lower())
    }
}

/// If the system refuses, the thread keeps its class: slower for others, but correct.
#[cfg(target_os = "linux")]
fn lower() {
    use thread_priority::{
        NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
        set_thread_priority_and_policy, thread_native_id,
    };
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle);
}

#[cfg(not(target_os = "linux"))]
fn lower() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// The scheduling policy of the current thread, as the kernel numbers them.
    fn policy() -> Option<u32> {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
        // The name, which may hold anything, ends with the last bracket; the third field follows.
        let (_, fields) = stat.rsplit_once(')')?;
        fields.split_whitespace().nth(41 - 3)?.parse().ok()
    }

    #[test]
    fn threads_are_of_the_idle_class() {
        let (tell, told) = mpsc::channel();
        drop(Offload::with_setup(1, move |_| {
            let _ = tell.send(policy());
            lower();
            let _ = tell.send(policy());
        }));
        assert_eq!(told.iter().collect::<Vec<_>>(), [Some(0), Some(5)]);
    }
}
