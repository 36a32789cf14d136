//! Records that are reports of perfkit, each rendered as `perfkit report` renders it; and `cargo xtask
//! record`, which puts reports, or runs of `cargo xtask tune`, into a record.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::record::{Body, Made};
use crate::{metadata, sh};

pub(crate) mod put;

/// Reports, in the order in which they are shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Reports {
    runs: Vec<Run>,
}

/// A report, and its text in the record.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Run {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// `perfkit.report/1`, or as much of it as was kept.
    report: Value,
}

impl Reports {
    fn of(reports: Vec<Value>) -> Self {
        let runs = reports.into_iter();
        Self {
            runs: runs.map(|report| Run { note: None, report }).collect(),
        }
    }

    fn commands(&self) -> Vec<String> {
        self.runs.iter().map(Run::command).collect()
    }
}

impl Body for Reports {
    fn write(&self, out: &mut String) -> Result<()> {
        for run in &self.runs {
            let started = run.report["started_at"].as_str().unwrap_or_default();
            writeln!(out, "## {} ({started})\n", run.command())?;
            if let Some(note) = &run.note {
                writeln!(out, "{note}\n")?;
            }
            let text = rendered(&run.report).with_context(|| run.command())?;
            // The first line is the command line again.
            let text = text.split_once("\n\n").map_or(&*text, |(_, rest)| rest);
            writeln!(out, "{}\n", text.trim_end())?;
        }
        Ok(())
    }

    fn made(&self) -> Vec<Made> {
        let runs = self.runs.iter();
        runs.filter_map(|run| Made::of_report(&run.report))
            .collect()
    }

    fn faults(&self) -> Vec<String> {
        let lacking = self
            .runs
            .iter()
            .filter(|run| Made::of_report(&run.report).is_none());
        lacking
            .map(|run| format!("the report of `{}` names no commit", run.command()))
            .collect()
    }

    fn machine(&self) -> &'static str {
        "below each report"
    }
}

impl Run {
    fn command(&self) -> String {
        let words = self.report["command"]["argv"].as_array();
        let words: Vec<&str> = words
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        words.join(" ")
    }
}

/// A report as `perfkit report` shows it.
fn rendered(report: &Value) -> Result<String> {
    let mut command = sh::command(perfkit()?);
    command.args(["report", "-", "--report", "markdown", "-q"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    let bytes = serde_json::to_vec(&completed(report))?;
    // Read to its end before anything is written: neither waits for the other.
    let written = stdin.write_all(&bytes);
    drop(stdin);
    let output = child.wait_with_output()?;
    ensure!(
        output.status.success(),
        "perfkit report does not read it: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    written?;
    Ok(String::from_utf8(output.stdout)?)
}

/// A report of which only some was kept, with nothing in the place of the rest.
fn completed(report: &Value) -> Value {
    let mut whole = json!({
        "schema": "perfkit.report/1",
        "complete": true,
        "duration_ns": 0,
        "load": {"model": "unknown", "arrivals": null, "rate_target_per_s": null,
            "rate_achieved_per_s": null, "late_start_ratio": null, "backlog_max": null,
            "saturated": false},
        "throughput": {"ops_per_s": null, "bytes_in": 0, "bytes_out": 0, "bytes_in_per_s": null,
            "bytes_out_per_s": null, "bytes_per_cpu_s": null},
        "resources": {"cpu_user_ns": null, "cpu_system_ns": null, "rss_max_bytes": null,
            "page_faults_major": null},
        "latencies": [], "slowest": [], "tables": [], "comparisons": [], "gates": [],
        "exit_code": 0,
    });
    if let (Some(whole), Some(report)) = (whole.as_object_mut(), report.as_object()) {
        whole.extend(report.clone());
    }
    whole
}

/// The perfkit of this tree, built once.
fn perfkit() -> Result<&'static PathBuf> {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    if let Some(built) = BUILT.get() {
        return Ok(built);
    }
    let build = [
        "build",
        "--quiet",
        "--package",
        "perfkit",
        "--bin",
        "perfkit",
    ];
    sh::run(&mut sh::cargo(&build))?;
    let name = format!("perfkit{}", std::env::consts::EXE_SUFFIX);
    let built = metadata::workspace()?.target_directory.join("debug");
    Ok(BUILT.get_or_init(|| built.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_without_a_commit_is_named() {
        let report = |commit: Value| {
            json!({"schema": "perfkit.report/1", "started_at": "2026-01-02T03:04:05Z",
                "tool": {"name": "perfkit", "version": "1", "commit": commit, "dirty": false,
                    "rustc": "rustc 1"},
                "command": {"argv": ["perfkit", "fix-bench", "scan"]}})
        };
        let reports = Reports::of(vec![report(json!("0123abcd")), report(Value::Null)]);
        assert_eq!(
            reports.faults(),
            ["the report of `perfkit fix-bench scan` names no commit"]
        );
        let made = reports.made();
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].line(), "2026-01-02, perfkit 1 (0123abcd), rustc 1");
    }

    #[test]
    fn what_was_kept_of_a_report_is_not_replaced() {
        let whole = completed(&json!({"duration_ns": 7}));
        assert_eq!(
            (&whole["duration_ns"], &whole["exit_code"]),
            (&json!(7), &json!(0))
        );
    }
}
