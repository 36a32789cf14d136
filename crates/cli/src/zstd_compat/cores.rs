//! How many processors there are that do not share a core.

use std::collections::BTreeSet;

/// Cores that this process may use, at least 1.
pub(super) fn physical() -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    match counted(&text) {
        0 => processors,
        cores => cores.min(processors),
    }
}

/// Cores that the kernel's table names; 0 if it names none.
fn counted(table: &str) -> u32 {
    let mut package = "";
    let mut cores = BTreeSet::new();
    for line in table.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        match key.trim() {
            "physical id" => package = value.trim(),
            "core id" => {
                cores.insert((package, value.trim()));
            }
            _ => {}
        }
    }
    u32::try_from(cores.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_one_core_count_once() {
        let one = |package: u32, core: u32| {
            format!("processor : 0\nphysical id\t: {package}\ncore id\t\t: {core}\n\n")
        };
        let table = [one(0, 0), one(0, 0), one(0, 1), one(1, 0)].concat();
        assert_eq!(counted(&table), 3);
        assert_eq!(counted("processor : 0\n"), 0);
        assert!(physical() >= 1);
    }
}
