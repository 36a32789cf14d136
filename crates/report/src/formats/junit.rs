//! The gates and limits of a report as JUnit XML, which the forges of continuous integration show: a test case each, and
//! one for the run itself if it failed.

use std::io::{self, Write};

use latency::report::{GateResult, GateVerdict, LimitResult, Report};

use super::html::escape;
use crate::{ExitStatus, gates};

/// What became of a test case.
enum Came {
    Passed,
    /// Of a type, by a reason.
    Failed(&'static str, String),
    Broke(String),
    Skipped(String),
}

struct Case {
    name: String,
    came: Came,
}

/// Writes the gates of a report and its limits on regressions. What the samples cannot decide fails as
/// [`gates::status`] has it, or else is skipped.
///
/// # Errors
///
/// Those of `out`.
pub fn write(report: &Report, undecided_passes: bool, out: &mut dyn Write) -> io::Result<()> {
    let gates = report.gates.iter();
    let gates = gates.map(|gate| of_gate(gate, undecided_passes));
    let limits = report.limits.iter().map(of_limit);
    let cases: Vec<Case> = of_run(report)
        .into_iter()
        .chain(gates)
        .chain(limits)
        .collect();
    let seconds = report.duration_ns.unwrap_or(0) as f64 / 1e9;
    let started = report.started_at.as_deref();
    suite(&report.command.subcommand, (started, seconds), &cases, out)
}

/// Writes what became of a run that has no report, by the reason.
///
/// # Errors
///
/// Those of `out`.
pub fn broke(subcommand: &str, reason: &str, out: &mut dyn Write) -> io::Result<()> {
    let case = Case {
        name: "the run".to_owned(),
        came: Came::Broke(reason.to_owned()),
    };
    suite(subcommand, (None, 0.0), &[case], out)
}

fn suite(
    subcommand: &str,
    (started, seconds): (Option<&str>, f64),
    cases: &[Case],
    out: &mut dyn Write,
) -> io::Result<()> {
    let count = |is: fn(&Came) -> bool| cases.iter().filter(|case| is(&case.came)).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\"",
        cases.len(),
        count(|came| matches!(came, Came::Failed(..))),
        count(|came| matches!(came, Came::Broke(_))),
        count(|came| matches!(came, Came::Skipped(_))),
    );
    let suite = text(&format!("perfkit {subcommand}"));
    let started = started.map(|start| format!(" timestamp=\"{}\"", text(start)));
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"perfkit\" {counts}>")?;
    writeln!(
        out,
        "  <testsuite name=\"{suite}\" {counts}{}>",
        started.unwrap_or_default()
    )?;
    for case in cases {
        let head = format!(
            "<testcase classname=\"{suite}\" name=\"{}\" time=\"0\"",
            text(&case.name)
        );
        let inner = match &case.came {
            Came::Passed => {
                writeln!(out, "    {head}/>")?;
                continue;
            }
            Came::Failed(kind, why) => {
                let why = text(why);
                format!("<failure type=\"{kind}\" message=\"{why}\">{why}</failure>")
            }
            Came::Broke(why) => {
                let why = text(why);
                format!("<error type=\"run\" message=\"{why}\">{why}</error>")
            }
            Came::Skipped(why) => format!("<skipped message=\"{}\"/>", text(why)),
        };
        writeln!(out, "    {head}>\n      {inner}\n    </testcase>")?;
    }
    writeln!(out, "  </testsuite>\n</testsuites>")
}

/// The run, where it ended otherwise than by its gates: then these say little.
fn of_run(report: &Report) -> Option<Case> {
    let code = report.exit_code;
    let status = ExitStatus::ALL
        .into_iter()
        .find(|status| status.code() == code);
    let gated = matches!(
        status,
        Some(ExitStatus::Ok | ExitStatus::Gate | ExitStatus::Inconclusive)
    );
    if gated && report.complete {
        return None;
    }
    let meaning = status.map_or("", ExitStatus::meaning);
    let cut = match report.complete {
        true => "",
        false => "; the run was not completed",
    };
    Some(Case {
        name: "the run".to_owned(),
        came: Came::Broke(format!("exit code {code}: {meaning}{cut}")),
    })
}

fn of_gate(gate: &GateResult, undecided_passes: bool) -> Case {
    let reason = match &gate.row {
        Some(row) => format!("{row}: {}", gate.reason),
        None => gate.reason.clone(),
    };
    let came = match gate.verdict {
        GateVerdict::Pass => Came::Passed,
        GateVerdict::Fail => Came::Failed("missed", reason),
        GateVerdict::Inconclusive if gates::is_undecided(gate, undecided_passes) => {
            Came::Failed("not decided", reason)
        }
        GateVerdict::Inconclusive => Came::Skipped(reason),
    };
    Case {
        name: gate.gate.clone(),
        came,
    }
}

fn of_limit(found: &LimitResult) -> Case {
    let reason = found.reason.clone();
    let came = match (found.verdict, found.counts) {
        (GateVerdict::Pass, _) => Came::Passed,
        (_, false) => Came::Skipped(reason),
        (GateVerdict::Fail, true) => Came::Failed("missed", reason),
        (GateVerdict::Inconclusive, true) => Came::Failed("not decided", reason),
    };
    Case {
        name: format!("{}: {}", found.row, found.limit),
        came,
    }
}

/// Text as XML may have it, in an element or an attribute.
fn text(text: &str) -> String {
    // These two are no characters of XML, and all others that are none become escapes.
    escape::text(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, Run, RunOptions};

    fn report() -> Report {
        let mut options = RunOptions::new("tool", "1", "compare");
        options.floors = false;
        options.gates = ["throughput>=1", "rss<=1", "p99<=1s"]
            .map(|gate| gate.parse().expect("a gate"))
            .to_vec();
        let mut outcome = Outcome::new("test");
        let limit = |verdict, counts, reason: &str| LimitResult {
            limit: "5%".to_owned(),
            row: "a <b> \u{1b} \u{ffff}".to_owned(),
            verdict,
            counts,
            reason: reason.to_owned(),
        };
        outcome.limits = vec![
            limit(GateVerdict::Pass, true, "fine"),
            limit(GateVerdict::Fail, true, "worse by \"9\" & more"),
            limit(GateVerdict::Fail, false, "suggested"),
            limit(GateVerdict::Inconclusive, true, "open"),
            limit(GateVerdict::Inconclusive, false, "not needed"),
        ];
        let run = Run::start(options).expect("started");
        run.finish(outcome).report
    }

    fn written(report: &Report, undecided_passes: bool) -> String {
        let mut bytes = Vec::new();
        write(report, undecided_passes, &mut bytes).expect("written");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn each_gate_and_each_limit_is_a_test_case() {
        let report = report();
        let xml = written(&report, false);
        let has = |part: &str| assert!(xml.contains(part), "{part}: {xml}");
        has("tests=\"8\" failures=\"5\" errors=\"0\" skipped=\"2\"");
        has("name=\"rss&lt;=1\"");
        has("name=\"a &lt;b&gt; \\u{1b} ");
        has("<failure type=\"missed\" message=\"worse by &quot;9&quot; &amp; more\">");
        has("<skipped message=\"suggested\"/>");
        has("<failure type=\"not decided\" message=\"open\">");
        assert!(!xml.contains(['\u{1b}', '\u{ffff}']), "{xml}");
        for tag in ["testsuites", "testsuite", "failure"] {
            let count = |of: String| xml.matches(&of).count();
            let (open, close) = (count(format!("<{tag} ")), count(format!("</{tag}>")));
            assert_eq!(open, close, "{tag}");
        }
    }

    #[test]
    fn a_run_that_failed_is_one_too() {
        let mut report = report();
        report.exit_code = ExitStatus::Partial.code();
        let xml = written(&report, true);
        assert!(
            xml.contains("tests=\"9\"") && xml.contains("errors=\"1\""),
            "{xml}"
        );
        assert!(xml.contains("exit code 3: some inputs failed"), "{xml}");
    }
}
