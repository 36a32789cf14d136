//! The recorded counts and the comparison with them.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// Everything that changes an instruction count without the code being touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Environment {
    pub(super) rustc: String,
    pub(super) target: String,
    pub(super) valgrind: String,
    /// Compiler of the C dependencies.
    pub(super) cc: String,
    pub(super) libc: String,
    /// Instruction sets by which libraries choose their code.
    pub(super) cpu: String,
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rustc,
            target,
            valgrind,
            cc,
            libc,
            cpu,
        } = self;
        write!(
            f,
            "rustc {rustc}, {target}, valgrind {valgrind}, cc {cc}, {libc}, {cpu}"
        )
    }
}

/// Counts by the name of the workload.
type Counts = BTreeMap<String, f64>;

/// The file of baselines.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Baselines {
    /// Share by which a count may exceed its baseline.
    pub(super) tolerance: f64,
    recorded: Vec<Recorded>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    environment: Environment,
    instructions: Counts,
}

impl Baselines {
    /// Reads the file; one that is not there yet is empty.
    pub(super) fn read(path: &Path) -> Result<Self> {
        match fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("cannot understand {}", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self {
                tolerance: 0.01,
                recorded: Vec::new(),
            }),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The counts recorded in an environment.
    pub(super) fn of(&self, environment: &Environment) -> Option<&Counts> {
        let found = self
            .recorded
            .iter()
            .find(|recorded| recorded.environment == *environment);
        found.map(|recorded| &recorded.instructions)
    }

    /// Replaces the counts of an environment.
    pub(super) fn record(&mut self, environment: Environment, instructions: Counts) {
        self.recorded
            .retain(|recorded| recorded.environment != environment);
        self.recorded.push(Recorded {
            environment,
            instructions,
        });
    }
}

/// A count compared with its baseline. The numbers are relative differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    Unknown,
    Equal(f64),
    Better(f64),
    Worse(f64),
}

impl Verdict {
    pub(super) fn of(baseline: Option<f64>, count: f64, tolerance: f64) -> Self {
        let Some(baseline) = baseline.filter(|baseline| *baseline > 0.0) else {
            return Self::Unknown;
        };
        let difference = (count - baseline) / baseline;
        if difference > tolerance {
            Self::Worse(difference)
        } else if difference < -tolerance {
            Self::Better(difference)
        } else {
            Self::Equal(difference)
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => write!(f, "no baseline"),
            Self::Equal(by) => write!(f, "as recorded ({:+.2} %)", by * 100.0),
            Self::Better(by) => write!(f, "better ({:+.2} %): record it", by * 100.0),
            Self::Worse(by) => write!(f, "WORSE ({:+.2} %)", by * 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(rustc: &str) -> Environment {
        Environment {
            rustc: rustc.to_owned(),
            target: "x86_64-unknown-linux-gnu".to_owned(),
            valgrind: "3".to_owned(),
            cc: "12".to_owned(),
            libc: "glibc 2".to_owned(),
            cpu: "avx2 bmi2".to_owned(),
        }
    }

    #[test]
    fn the_tolerance_is_inclusive_on_both_sides() {
        assert_eq!(Verdict::of(None, 100.0, 0.01), Verdict::Unknown);
        assert_eq!(Verdict::of(Some(0.0), 100.0, 0.01), Verdict::Unknown);
        assert!(matches!(
            Verdict::of(Some(100.0), 101.0, 0.01),
            Verdict::Equal(_)
        ));
        assert!(matches!(
            Verdict::of(Some(100.0), 99.0, 0.01),
            Verdict::Equal(_)
        ));
        assert!(matches!(
            Verdict::of(Some(100.0), 101.1, 0.01),
            Verdict::Worse(_)
        ));
        assert!(matches!(
            Verdict::of(Some(100.0), 98.9, 0.01),
            Verdict::Better(_)
        ));
        assert_eq!(
            Verdict::of(Some(100.0), 102.0, 0.01).to_string(),
            "WORSE (+2.00 %)"
        );
    }

    #[test]
    fn an_environment_has_its_own_baseline() {
        let mut baselines = Baselines {
            tolerance: 0.01,
            recorded: Vec::new(),
        };
        let counts = |value: f64| Counts::from([("a".to_owned(), value)]);
        baselines.record(environment("1.88.0"), counts(1.0));
        baselines.record(environment("1.89.0"), counts(2.0));
        baselines.record(environment("1.88.0"), counts(3.0));
        assert_eq!(baselines.of(&environment("1.88.0")).unwrap()["a"], 3.0);
        assert_eq!(baselines.of(&environment("1.89.0")).unwrap()["a"], 2.0);
        assert!(baselines.of(&environment("1.90.0")).is_none());
    }

    #[test]
    fn the_file_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("baselines.json");
        let mut baselines = Baselines::read(&path).unwrap();
        baselines.record(
            environment("1.88.0"),
            Counts::from([("a".to_owned(), 10.25)]),
        );
        baselines.write(&path).unwrap();
        let again = Baselines::read(&path).unwrap();
        assert_eq!(again.of(&environment("1.88.0")).unwrap()["a"], 10.25);
        fs::write(&path, "{}").unwrap();
        assert!(Baselines::read(&path).is_err());
    }
}
