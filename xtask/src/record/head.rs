//! How a record was made: the commit, the day, the compilers, the machine.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::sh;

/// One build that was measured, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Made {
    /// Which part of the record, where that has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) part: Option<String>,
    /// `2026-11-21`.
    pub(crate) date: String,
    /// Name and version of the measured program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    pub(crate) commit: String,
    /// Whether there were changes that were not committed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) dirty: bool,
    pub(crate) known: Known,
    /// What built it.
    #[serde(default)]
    pub(crate) compilers: Vec<String>,
}

/// How the commit is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Known {
    /// The program that recorded asked git.
    Run,
    /// The report of perfkit has it of the build.
    Report,
    /// The person who recorded it wrote it down.
    Stated,
    /// Not stated: the parent of the commit that brought the record.
    History,
}

impl Made {
    /// Now, at the commit of the work tree, with what `program --version` prints first.
    pub(crate) fn now(program: Option<String>, compilers: Vec<String>) -> Result<Self> {
        // Without a lock nothing is written, which a build would take for a change.
        let git = [
            "--no-optional-locks",
            "describe",
            "--always",
            "--exclude=*",
            "--dirty",
        ];
        let commit = sh::text(sh::command("git").args(git)).context("no commit to record")?;
        let (commit, dirty) = match commit.strip_suffix("-dirty") {
            Some(commit) => (commit.to_owned(), true),
            None => (commit, false),
        };
        Ok(Self {
            part: None,
            date: sh::text(sh::command("date").args(["-u", "+%F"]))?,
            program,
            commit,
            dirty,
            known: Known::Run,
            compilers,
        })
    }

    /// That of a report of perfkit; `None` where the report names no commit.
    pub(crate) fn of_report(report: &Value) -> Option<Self> {
        let tool = &report["tool"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let [name, version] = [&tool["name"], &tool["version"]].map(Value::as_str);
        Some(Self {
            part: None,
            date: text(&report["started_at"])?.chars().take(10).collect(),
            program: name
                .zip(version)
                .map(|(name, version)| format!("{name} {version}")),
            commit: text(&tool["commit"])?,
            dirty: tool["dirty"].as_bool().unwrap_or(false),
            known: Known::Report,
            compilers: text(&tool["rustc"]).into_iter().collect(),
        })
    }

    /// Day, program, commit and compilers in one line.
    pub(crate) fn line(&self) -> String {
        let dirty = if self.dirty { "-dirty" } else { "" };
        let commit = match (&self.program, self.known) {
            (Some(program), Known::History) => {
                format!(
                    "{program}, commit {}{dirty} (found by history)",
                    self.commit
                )
            }
            (None, Known::History) => format!("commit {}{dirty} (found by history)", self.commit),
            (Some(program), _) => format!("{program} ({}{dirty})", self.commit),
            (None, _) => format!("commit {}{dirty}", self.commit),
        };
        let mut parts = vec![self.date.clone(), commit];
        parts.extend(self.compilers.clone());
        let line = parts.join(", ");
        match &self.part {
            Some(part) => format!("{part}: {line}"),
            None => line,
        }
    }

    /// Those of a record of which a part was measured anew, `None`: all of it.
    pub(crate) fn replaced(self, old: Vec<Self>, part: Option<&str>) -> Vec<Self> {
        let Some(part) = part else {
            return vec![self];
        };
        let others = old
            .into_iter()
            .filter(|made| made.part.as_deref() != Some(part));
        let new = Self {
            part: Some(part.to_owned()),
            ..self
        };
        others.chain([new]).collect()
    }

    /// What is wrong with it.
    pub(super) fn fault(&self) -> Option<String> {
        let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        if !(7..=40).contains(&self.commit.len()) || !self.commit.chars().all(is_hex) {
            return Some(format!(
                "commit '{}' is not 7 to 40 hexadecimal digits",
                self.commit
            ));
        }
        let parts: Vec<&str> = self.date.split('-').collect();
        let is_number = |part: &&str| part.chars().all(|c| c.is_ascii_digit());
        if parts.iter().map(|part| part.len()).ne([4, 2, 2]) || !parts.iter().all(is_number) {
            return Some(format!("date '{}' is not YYYY-MM-DD", self.date));
        }
        None
    }
}

/// The machine, as reports of perfkit describe it. Unknown facts are absent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) cpu_model: Option<String>,
    pub(crate) logical_cpus: u32,
    #[serde(default)]
    memory_bytes: Option<u64>,
    #[serde(default)]
    pub(crate) kernel: Option<String>,
    #[serde(default)]
    hypervisor: Option<String>,
    #[serde(default)]
    governor: Option<String>,
    #[serde(default)]
    load_before: Option<f64>,
    #[serde(default)]
    warnings: Vec<Value>,
    /// What else ran, and the like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Machine {
    /// This one, as far as /proc tells.
    pub(crate) fn here() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let processors = read("/proc/cpuinfo");
        let of = |start: &str| {
            let lines = processors
                .lines()
                .filter(move |line| line.starts_with(start));
            lines.collect::<Vec<_>>()
        };
        let model = of("model name")
            .first()
            .and_then(|line| line.split_once(": "));
        let memory = read("/proc/meminfo");
        let memory = memory.lines().find_map(|line| {
            let kib = line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?;
            kib.parse::<u64>().ok()
        });
        Self {
            cpu_model: model.map(|(_, name)| name.trim().to_owned()),
            logical_cpus: u32::try_from(of("processor").len()).unwrap_or(0),
            memory_bytes: memory.map(|kib| kib * 1024),
            kernel: sh::text(sh::command("uname").arg("-sr")).ok(),
            load_before: read("/proc/loadavg")
                .split(' ')
                .next()
                .and_then(|load| load.parse().ok()),
            ..Self::default()
        }
    }

    /// All known facts about it, in one line.
    pub(crate) fn line(&self) -> String {
        let mut parts = vec![
            self.cpu_model
                .clone()
                .unwrap_or_else(|| "unknown processor".to_owned()),
            match self.logical_cpus {
                1 => "1 processor".to_owned(),
                count => format!("{count} processors"),
            },
        ];
        parts.extend(self.memory_bytes.map(mebibytes));
        parts.extend(self.kernel.clone());
        let named = |name: &str, value: &Option<String>| {
            let value = value.as_ref()?;
            Some(format!("{name} {value}"))
        };
        parts.extend(named("hypervisor", &self.hypervisor));
        parts.extend(named("governor", &self.governor));
        parts.extend(self.load_before.map(|load| format!("load {load:.2}")));
        let codes: Vec<&str> = self
            .warnings
            .iter()
            .filter_map(|warning| warning["code"].as_str())
            .collect();
        let mut line = parts.join(", ");
        if !codes.is_empty() {
            line = format!("{line}; warnings: {}", codes.join(", "));
        }
        match &self.note {
            Some(note) => format!("{line}; {note}"),
            None => line,
        }
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "sizes of memory stay below 2^52"
)]
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
