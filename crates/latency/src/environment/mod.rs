//! The machine of a run, and what about it makes the numbers less reliable.
//!
//! [`capture`] reads its state before the run, [`Meter`] measures during it. What the system does not
//! report stays `None`. `linux.rs` reads `/proc` and `/sys`; `warnings.rs` has the thresholds.

use crate::pin;
use crate::report::{Environment, Resources};

#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
mod linux;
mod usage;
mod warnings;

use linux as system;

/// The machine before a run. The floors, `steal_ratio` and the switches are filled in later;
/// `allocator` is `system` unless the caller changes it.
#[must_use]
pub fn capture() -> Environment {
    let available = pin::available();
    let logical_cpus = u32::try_from(available.len())
        .ok()
        .filter(|count| *count > 0);
    let processors = system::processors();
    let mut environment = Environment {
        stated: false,
        kernel: usage::kernel(),
        cpu_model: system::cpu_model(&processors),
        hypervisor: system::hypervisor(&processors),
        logical_cpus: Some(logical_cpus.unwrap_or_else(parallelism)),
        pinned_cpus: confined_to(pin::pinned(), &available, system::online_cpus()),
        governor: system::governor(),
        isa: Some(isa().to_owned()),
        allocator: Some("system".to_owned()),
        clock_floor_ns: None,
        wake_floor_ns: None,
        start_floor_ns: None,
        memory_bytes: system::memory_bytes(),
        load_before: system::load(),
        steal_ratio: None,
        ctx_switches_involuntary: None,
        warnings: Vec::new(),
    };
    environment.warnings = warnings::before(&environment, cfg!(debug_assertions));
    environment
}

/// The processors that the process is limited to: by its own pinning, or by its parent process where that
/// left fewer than the machine has.
fn confined_to(own: Vec<u32>, available: &[u32], online: Option<usize>) -> Vec<u32> {
    let fewer = online.is_some_and(|online| available.len() < online);
    match own.is_empty() && fewer {
        true => available.to_vec(),
        false => own,
    }
}

fn parallelism() -> u32 {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The widest instruction set that hot loops use on this machine.
#[must_use]
pub fn isa() -> &'static str {
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    {
        if std::arch::is_x86_feature_detected!("avx512bw") {
            return "avx512";
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            return "avx2";
        }
        if std::arch::is_x86_feature_detected!("sse2") {
            return "sse2";
        }
    }
    if cfg!(target_arch = "aarch64") {
        "neon"
    } else {
        "portable"
    }
}

/// The size of the process at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Resident memory.
    pub rss_bytes: u64,
    /// Threads.
    pub threads: u64,
}

/// The size of the process now, where the system reports it; takes some tens of microseconds.
#[must_use]
pub fn process() -> Option<Process> {
    system::process("self")
}

/// The size of another process now, where the system reports it.
#[must_use]
pub fn process_of(pid: u32) -> Option<Process> {
    system::process(&pid.to_string())
}

/// Bytes that a file of `/proc` states in a line with this name, as `VmHWM:  9000 kB` in `/proc/self/status`. `None` where
/// the system has no such file or line.
#[must_use]
pub fn proc_bytes(file: &str, name: &str) -> Option<u64> {
    line_bytes(&std::fs::read_to_string(file).ok()?, name)
}

/// The same, of the text of the file.
fn line_bytes(text: &str, name: &str) -> Option<u64> {
    let stated = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = stated.strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1 << 10)
}

/// Measures what the process uses between its start and its finish.
#[derive(Debug)]
pub struct Meter {
    usage: Option<usage::Usage>,
    processors: Option<system::ProcessorTime>,
}

impl Meter {
    /// Starts measuring.
    #[must_use]
    pub fn start() -> Self {
        Self {
            usage: usage::read(),
            processors: system::processor_time(),
        }
    }

    /// What was used since the start. Steal and involuntary switches go into `environment`, with their
    /// warnings.
    pub fn finish(self, environment: &mut Environment) -> Resources {
        let processors = self.processors.zip(system::processor_time());
        environment.steal_ratio = processors.and_then(|(from, to)| to.steal_ratio_since(from));
        let end = usage::read();
        let mut resources = Resources {
            rss_max_bytes: end.as_ref().map(|end| end.rss_max_bytes),
            ..Resources::default()
        };
        if let Some((from, to)) = self.usage.zip(end) {
            resources.cpu_user_ns = Some(to.user_ns.saturating_sub(from.user_ns));
            resources.cpu_system_ns = Some(to.system_ns.saturating_sub(from.system_ns));
            resources.page_faults_major = Some(to.faults_major.saturating_sub(from.faults_major));
            environment.ctx_switches_involuntary = Some(
                to.switches_involuntary
                    .saturating_sub(from.switches_involuntary),
            );
        }
        environment.warnings.extend(warnings::after(environment));
        resources
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_states_bytes() {
        let status = "VmHWM:\t  9000 kB\nVmRSS:\t    8192 kB\nRssAnon: much\nThreads:\t3\nHuge: 18446744073709551615 kB\n";
        assert_eq!(line_bytes(status, "VmHWM:"), Some(9_000 << 10));
        assert_eq!(line_bytes(status, "VmRSS:"), Some(8 << 20));
        for none in ["RssAnon:", "Threads:", "Huge:", "VmSwap:"] {
            assert_eq!(line_bytes(status, none), None, "{none}");
        }
        assert_eq!(proc_bytes("/proc/none", "VmHWM:"), None);
    }

    #[test]
    fn who_was_started_on_fewer_processors_is_pinned() {
        let to =
            |own: &[u32], available: &[u32], online| confined_to(own.to_vec(), available, online);
        assert_eq!(to(&[], &[0, 1], Some(2)), [0; 0]);
        assert_eq!(to(&[], &[0, 1], None), [0; 0]);
        assert_eq!(to(&[], &[1], Some(2)), [1]);
        assert_eq!(to(&[], &[2, 3], Some(64)), [2, 3]);
        assert_eq!(to(&[0], &[0, 1], Some(2)), [0]);
    }

    #[test]
    fn capture_fills_what_this_system_says() {
        let environment = capture();
        assert!(environment.logical_cpus > Some(0));
        assert!(
            environment
                .warnings
                .iter()
                .all(|warning| !warning.help.is_empty())
        );
        #[cfg(target_os = "linux")]
        {
            assert!(
                environment
                    .kernel
                    .is_some_and(|kernel| kernel.starts_with("Linux "))
            );
            assert!(environment.memory_bytes.is_some() && environment.load_before.is_some());
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_process_is_seen() {
        let process = process().unwrap();
        assert!(process.rss_bytes > 100_000 && process.threads >= 1);
    }

    #[test]
    #[cfg(unix)]
    fn meter_sees_processor_time() {
        let mut environment = capture();
        let meter = Meter::start();
        let started = std::time::Instant::now();
        let mut sum = 0u64;
        while started.elapsed().as_millis() < 30 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        let resources = meter.finish(&mut environment);
        let user = resources.cpu_user_ns.unwrap() + resources.cpu_system_ns.unwrap();
        assert!(user > 0, "a busy loop used processor time");
        assert!(resources.rss_max_bytes.unwrap() > 100_000);
        assert!(environment.ctx_switches_involuntary.is_some());
    }
}
