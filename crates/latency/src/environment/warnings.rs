//! When the state of the machine deserves a warning. Codes are stable; scripts match on them.

use crate::report::{Environment, Warning};

/// One-minute load per processor above which something else was running.
const LOAD_PER_CPU_MAX: f64 = 0.25;
/// Share of stolen time that shows in a tail.
const STEAL_MAX: f64 = 0.01;

fn warning(code: &str, message: String, help: &str) -> Warning {
    Warning {
        code: code.to_owned(),
        message,
        help: help.to_owned(),
    }
}

/// What is known before the run.
pub(super) fn before(environment: &Environment, debug_build: bool) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if debug_build {
        warnings.push(warning(
            "debug_build",
            "this is a build without optimisation".to_owned(),
            "build with --release: times of a debug build mean nothing",
        ));
    }
    let cpus = f64::from(environment.logical_cpus.unwrap_or(1).max(1));
    if let Some(load) = environment.load_before
        && load > LOAD_PER_CPU_MAX * cpus
    {
        warnings.push(warning(
            "load",
            format!("load was {load:.2} on {cpus} processors before the run"),
            "stop other programs, or wait until they are done",
        ));
    }
    if let Some(governor) = &environment.governor
        && governor != "performance"
    {
        warnings.push(warning(
            "governor",
            format!("frequency governor is `{governor}`"),
            "set it for the run: cpupower frequency-set -g performance",
        ));
    }
    if let Some(hypervisor) = &environment.hypervisor
        && hypervisor != "none"
    {
        warnings.push(warning(
            "virtual",
            format!("this is a virtual machine ({hypervisor})"),
            "compare only within one run: other guests of the host affect every number",
        ));
    }
    if environment.pinned_cpus.is_empty() {
        warnings.push(warning(
            "no_pin",
            "no thread is pinned to a processor".to_owned(),
            "pin the run to a processor that no other program uses",
        ));
    }
    warnings
}

/// What the run itself showed.
pub(super) fn after(environment: &Environment) -> Vec<Warning> {
    let stolen = environment.steal_ratio.filter(|ratio| *ratio > STEAL_MAX);
    let steal = stolen.map(|ratio| {
        warning(
            "steal",
            format!(
                "the hypervisor took {:.1} % of the processor time",
                ratio * 100.0
            ),
            "run again at a quieter time or on a dedicated machine; do not trust the tail of this run",
        )
    });
    steal.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        Environment {
            stated: false,
            hypervisor: Some("none".to_owned()),
            logical_cpus: Some(4),
            pinned_cpus: vec![1],
            governor: Some("performance".to_owned()),
            load_before: Some(1.0),
            steal_ratio: Some(0.001),
            ..Environment::unknown()
        }
    }

    fn codes(warnings: &[Warning]) -> Vec<&str> {
        warnings
            .iter()
            .map(|warning| warning.code.as_str())
            .collect()
    }

    #[test]
    fn a_good_machine_has_none() {
        assert!(before(&environment(), false).is_empty() && after(&environment()).is_empty());
    }

    #[test]
    fn each_cause_has_its_code() {
        let bad = Environment {
            hypervisor: Some("kvm".to_owned()),
            pinned_cpus: Vec::new(),
            governor: Some("powersave".to_owned()),
            load_before: Some(1.1),
            steal_ratio: Some(0.2),
            ..environment()
        };
        let all = before(&bad, true);
        assert_eq!(
            codes(&all),
            ["debug_build", "load", "governor", "virtual", "no_pin"]
        );
        assert_eq!(codes(&after(&bad)), ["steal"]);
    }
}
