//! What Linux reports in `/proc` and `/sys`. The parsers take text, so tests can feed them text from other
//! machines.

use std::fs;
use std::io::Read as _;

/// Most bytes read of any one file. `/proc/cpuinfo` of a machine with many cores is cut; only its first
/// processor is needed.
const FILE_BYTES_MAX: u64 = 64 * 1024;
/// Initial buffer: large enough for most of these files, which do not state their length.
const FILE_BYTES_USUAL: usize = 4 * 1024;

fn text(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(FILE_BYTES_USUAL);
    fs::File::open(path)
        .ok()?
        .take(FILE_BYTES_MAX)
        .read_to_end(&mut bytes)
        .ok()?;
    let text = String::from_utf8_lossy(&bytes)
        .trim_matches(['\0', '\n', ' '])
        .to_owned();
    (!text.is_empty()).then_some(text)
}

/// `/proc/cpuinfo`, read once because the kernel takes long to generate it.
pub(super) fn processors() -> String {
    text("/proc/cpuinfo").unwrap_or_default()
}

/// The model, by [`processors`].
pub(super) fn cpu_model(info: &str) -> Option<String> {
    ["model name", "Model", "cpu model", "cpu"]
        .iter()
        .find_map(|key| cpuinfo_field(info, key).map(str::to_owned))
}

/// The first value of a field of `/proc/cpuinfo`.
fn cpuinfo_field<'a>(info: &'a str, key: &str) -> Option<&'a str> {
    info.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

/// The hypervisor by name; `none` when the processor reports none; `unidentified` when it reports one
/// without a known name; `None` when the processor cannot report it. By [`processors`].
pub(super) fn hypervisor(info: &str) -> Option<String> {
    let flags = cpuinfo_field(info, "flags");
    let flagged = flags.map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
    let named = text("/sys/hypervisor/type")
        .or_else(dmi_hypervisor)
        .or_else(clock_hypervisor);
    match (flagged, named) {
        (Some(false), _) => Some("none".to_owned()),
        (_, Some(name)) => Some(name),
        (Some(true), None) => Some("unidentified".to_owned()),
        (None, None) => None,
    }
}

fn dmi_hypervisor() -> Option<String> {
    let vendor = text("/sys/class/dmi/id/sys_vendor").unwrap_or_default();
    let product = text("/sys/class/dmi/id/product_name").unwrap_or_default();
    dmi_name(&vendor, &product).map(str::to_owned)
}

/// The hypervisor that a vendor of virtual hardware implies; `None` for vendors of real machines.
fn dmi_name(vendor: &str, product: &str) -> Option<&'static str> {
    const KNOWN: [(&str, &str); 9] = [
        ("qemu", "kvm"),
        ("kvm", "kvm"),
        ("amazon ec2", "ec2"),
        ("google", "gce"),
        ("vmware", "vmware"),
        ("innotek", "virtualbox"),
        ("virtualbox", "virtualbox"),
        ("parallels", "parallels"),
        ("xen", "xen"),
    ];
    let both = format!("{vendor} {product}").to_lowercase();
    if both.contains("microsoft") && both.contains("virtual machine") {
        return Some("hyper-v");
    }
    KNOWN
        .iter()
        .find(|(maker, _)| both.contains(maker))
        .map(|(_, name)| *name)
}

/// Guests without DMI tables still have the clock of their hypervisor.
fn clock_hypervisor() -> Option<String> {
    let sources = text("/sys/devices/system/clocksource/clocksource0/available_clocksource")?;
    let known = [("kvm-clock", "kvm"), ("hyperv", "hyper-v"), ("xen", "xen")];
    known
        .iter()
        .find(|(clock, _)| sources.contains(clock))
        .map(|(_, name)| (*name).to_owned())
}

pub(super) fn governor() -> Option<String> {
    text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
}

/// Processors that are online, whether or not this process may use them.
pub(super) fn online_cpus() -> Option<usize> {
    cpus_of(&text("/sys/devices/system/cpu/online")?)
}

/// How many processors a list such as `0-3,8` has.
fn cpus_of(list: &str) -> Option<usize> {
    let mut count = 0usize;
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: usize = first.trim().parse().ok()?;
        let last: usize = last.trim().parse().ok()?;
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}

pub(super) fn memory_bytes() -> Option<u64> {
    super::proc_bytes("/proc/meminfo", "MemTotal:")
}

/// A process, by its number or as `self`.
pub(super) fn process(pid: &str) -> Option<super::Process> {
    status_process(&text(&format!("/proc/{pid}/status"))?)
}

fn status_process(status: &str) -> Option<super::Process> {
    let mut lines = status.lines();
    let threads = lines.find_map(|line| line.strip_prefix("Threads:"))?;
    Some(super::Process {
        rss_bytes: super::line_bytes(status, "VmRSS:")?,
        threads: threads.trim().parse().ok()?,
    })
}

pub(super) fn load() -> Option<f64> {
    let text = text("/proc/loadavg")?;
    let load: f64 = text.split_whitespace().next()?.parse().ok()?;
    crate::report::finite(load)
}

/// Ticks of all processors together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessorTime {
    total: u64,
    steal: u64,
}

impl ProcessorTime {
    /// Share of stolen time; `None` when the span was too short to see a tick.
    pub(super) fn steal_ratio_since(self, from: Self) -> Option<f64> {
        let total = self.total.saturating_sub(from.total);
        let steal = self.steal.saturating_sub(from.steal);
        (total > 0).then(|| (steal as f64 / total as f64).min(1.0))
    }
}

pub(super) fn processor_time() -> Option<ProcessorTime> {
    stat_processor_time(&text("/proc/stat")?)
}

fn stat_processor_time(stat: &str) -> Option<ProcessorTime> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<u64> = line
        .split_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal; guest time after them is in user already.
    let steal = *fields.get(7)?;
    let total = fields
        .iter()
        .take(8)
        .fold(0u64, |sum, ticks| sum.saturating_add(*ticks));
    Some(ProcessorTime { total, steal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_counted() {
        assert_eq!(cpus_of("0"), Some(1));
        assert_eq!(cpus_of("0-3,8,10-11"), Some(7));
        for wrong in ["", "x", "3-1", "0-"] {
            assert_eq!(cpus_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn cpuinfo_fields() {
        let info = "processor\t: 0\nmodel name\t: AMD EPYC 9R14\nflags\t\t: fpu hypervisor\n";
        assert_eq!(cpuinfo_field(info, "model name"), Some("AMD EPYC 9R14"));
        assert_eq!(cpuinfo_field(info, "Model"), None);
    }

    #[test]
    fn makers_of_virtual_hardware() {
        assert_eq!(
            dmi_name("QEMU", "Standard PC (Q35 + ICH9, 2009)"),
            Some("kvm")
        );
        assert_eq!(dmi_name("Amazon EC2", "c7a.large"), Some("ec2"));
        assert_eq!(
            dmi_name("Microsoft Corporation", "Virtual Machine"),
            Some("hyper-v")
        );
        assert_eq!(dmi_name("Microsoft Corporation", "Surface Laptop"), None);
        assert_eq!(dmi_name("Dell Inc.", "PowerEdge R650"), None);
    }

    #[test]
    fn status_of_a_process() {
        let status = "Name:\tperfkit\nVmHWM:\t  9000 kB\nVmRSS:\t    8192 kB\nThreads:\t3\n";
        let process = status_process(status).unwrap();
        assert_eq!((process.rss_bytes, process.threads), (8 << 20, 3));
        assert_eq!(status_process("VmRSS: much\nThreads: 1\n"), None);
    }

    #[test]
    fn steal() {
        let from = stat_processor_time("cpu  10 0 10 70 0 0 0 10 5 0\ncpu0 …").unwrap();
        let to = stat_processor_time("cpu  60 0 10 90 0 0 0 40 5 0\n").unwrap();
        assert_eq!(
            from,
            ProcessorTime {
                total: 100,
                steal: 10
            }
        );
        assert_eq!(to.steal_ratio_since(from), Some(0.3));
        assert_eq!(from.steal_ratio_since(from), None);
        assert_eq!(stat_processor_time("cpu 1 2 3"), None);
    }
}
