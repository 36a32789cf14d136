//! One measured run, from the look at the machine to the report.

use std::time::{Duration, Instant};

use latency::environment::{self, Meter};
use latency::report::{
    Command, Done, Environment, LoadModel, Report, SCHEMA, SlowSample, Throughput, Tool, Workload,
    finite,
};
use latency::{Gate, IntervalLog, Spec};

use crate::outcome::Before;
use crate::{Error, ExitStatus, Outcome, floors, gates, nouns};

/// Samples that a report names among the slowest, over all rows.
const SLOWEST: usize = 10;
/// Inputs that a report lists by name at most.
pub const INPUTS_LISTED: usize = 1000;

/// What a run is, and what it has to satisfy.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunOptions {
    /// The program that runs.
    pub tool: Tool,
    /// Every word of its command line, the program first; [`crate::names::word`] escapes them.
    pub argv: Vec<String>,
    /// Which of its commands runs.
    pub subcommand: String,
    /// The seed of generated data or random orders.
    pub seed: Option<u64>,
    /// Limits on the distributions of the run.
    pub gates: Vec<Gate>,
    /// Whether a gate that the samples cannot decide passes; by default the run ends with
    /// [`ExitStatus::Inconclusive`].
    pub undecided_passes: bool,
    /// Whether a machine that is unfit to measure on is refused.
    pub strict_environment: bool,
    /// Processors to pin the process to.
    pub cpus: Option<Vec<u32>>,
    /// Whether the floors of what is timed are measured, which takes some milliseconds: the clock's, and in an open
    /// loop that of waking a thread. Rows that were read, and not measured by this run, have floors of their own
    /// or none, so a run that only reads measures none.
    pub floors: bool,
    /// Whether recorders keep distributions. Where a line is all that is read of a run, their extremes are enough, and
    /// a run of a millisecond is not made longer by making and coding histograms (see [`Spec::only_extremes`]), nor by
    /// looking at the machine.
    pub distributions: bool,
}

impl RunOptions {
    /// A run of a command of a program, without gates and not pinned.
    #[must_use]
    pub fn new(program: &str, version: &str, subcommand: &str) -> Self {
        Self {
            tool: tool(program, version),
            argv: Vec::new(),
            subcommand: subcommand.to_owned(),
            seed: None,
            gates: Vec::new(),
            undecided_passes: false,
            strict_environment: false,
            cpus: None,
            floors: true,
            distributions: true,
        }
    }
}

/// A program of which no more than this is known.
#[must_use]
pub fn tool(name: &str, version: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        version: version.to_owned(),
        commit: None,
        dirty: None,
        rustc: None,
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        profile: match cfg!(debug_assertions) {
            true => "debug".to_owned(),
            false => "release".to_owned(),
        },
        features: Vec::new(),
    }
}

/// A run whose machine was looked at and whose process is pinned; nothing is measured yet.
#[derive(Debug)]
pub struct Prepared {
    options: RunOptions,
    environment: Environment,
}

/// A run in progress.
#[derive(Debug)]
pub struct Run {
    options: RunOptions,
    intervals: Option<IntervalLog>,
    environment: Environment,
    meter: Meter,
    started_at: jiff::Timestamp,
    started: Instant,
}

/// A run that ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finished {
    /// All about the run.
    pub report: Report,
    /// How the process should end: the outcome's own status, else what the gates decide.
    pub status: ExitStatus,
}

impl Prepared {
    /// Starts to measure. `intervals` is where distributions by time go, for `.hlog`.
    #[must_use]
    pub fn start(self, intervals: Option<IntervalLog>) -> Run {
        let Self {
            options,
            mut environment,
        } = self;
        let floor = || latency::clock::floor().p50_ns;
        environment.clock_floor_ns = options.floors.then(floor);
        Run {
            options,
            intervals,
            environment,
            meter: Meter::start(),
            started_at: jiff::Timestamp::now(),
            started: Instant::now(),
        }
    }
}

impl Run {
    /// Pins the process and looks at the machine.
    ///
    /// # Errors
    ///
    /// [`Error::Pin`], and [`Error::Unfit`] where the options refuse an unfit machine.
    pub fn prepare(options: RunOptions) -> Result<Prepared, Error> {
        if let Some(cpus) = &options.cpus {
            latency::pin::pin(cpus).map_err(|error| Error::Pin {
                cpus: cpus.clone(),
                error,
            })?;
        }
        // Where a line is all that is read, nothing of it would be seen.
        let mut environment = match options.distributions || options.strict_environment {
            true => environment::capture(),
            false => Environment::unknown(),
        };
        if let Some(cpus) = &options.cpus {
            environment.pinned_cpus.clone_from(cpus);
            environment
                .warnings
                .retain(|warning| warning.code != "no_pin");
        }
        match options.strict_environment && !environment.warnings.is_empty() {
            true => Err(Error::Unfit {
                warnings: environment.warnings,
            }),
            false => Ok(Prepared {
                options,
                environment,
            }),
        }
    }

    /// [Prepares](Self::prepare) and starts, without intervals.
    ///
    /// # Errors
    ///
    /// Those of [`Self::prepare`].
    pub fn start(options: RunOptions) -> Result<Self, Error> {
        Self::prepare(options).map(|prepared| prepared.start(None))
    }

    /// When the measured part began: the zero of every recorder.
    #[must_use]
    pub fn started(&self) -> Instant {
        self.started
    }

    /// The settings of a recorder, with the intervals that this run logs, or without a distribution where none is
    /// wanted.
    #[must_use]
    pub fn spec(&self, spec: Spec) -> Spec {
        match self.options.distributions {
            true => spec.intervals(self.intervals()),
            false => spec.only_extremes(),
        }
    }

    /// Where intervals go.
    #[must_use]
    pub fn intervals(&self) -> Option<IntervalLog> {
        self.intervals.clone()
    }

    /// The machine as it was before the work.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Turns the outcome into a report with its rates, its slowest samples and the gates' verdicts.
    #[must_use]
    pub fn finish(mut self, mut outcome: Outcome) -> Finished {
        let waited = outcome.began.map_or(Duration::ZERO, |began| {
            began.saturating_duration_since(self.started)
        });
        let duration = self.started.elapsed().saturating_sub(waited);
        let mut resources = self.meter.finish(&mut self.environment);
        let before = outcome.done_before.take();
        let mut is_timed = true;
        let before = match before {
            Some(before) => {
                is_timed = before.resources.is_some();
                resources = before.resources.clone().unwrap_or_default();
                before
            }
            None => {
                if self.options.floors {
                    floors::measured(&mut outcome, &mut self.environment);
                }
                Before {
                    started_at: Some((self.started_at + waited).to_string()),
                    duration_ns: Some(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)),
                    environment: self.environment,
                    resources: None,
                }
            }
        };
        let done = done(&outcome);
        let options = self.options;
        let mut report = Report {
            schema: SCHEMA.to_owned(),
            complete: outcome.complete,
            tool: options.tool,
            command: Command {
                argv: options.argv,
                subcommand: options.subcommand,
                seed: options.seed,
            },
            started_at: before.started_at,
            duration_ns: before.duration_ns,
            environment: before.environment,
            workload: Workload {
                done,
                ..outcome.workload
            },
            findings: outcome.findings,
            validation: outcome.validation,
            load: outcome.load,
            throughput: Throughput {
                bytes_in: outcome.bytes_in,
                bytes_out: outcome.bytes_out,
                ..Throughput::default()
            },
            latencies: outcome.latencies,
            stated: outcome.stated,
            slowest: slowest(outcome.slowest),
            resources,
            tables: outcome.tables,
            comparisons: outcome.comparisons,
            gates: Vec::new(),
            limits: outcome.limits,
            exit_code: 0,
        };
        if let (true, Some(ns)) = (is_timed, report.duration_ns) {
            let duration = Duration::from_nanos(ns);
            rates(&mut report, outcome.ops, outcome.bytes_content, duration);
        }
        gates::decide(&options.gates, &mut report);
        let gated = gates::status(&report, options.undecided_passes);
        let status = match (outcome.status, gated) {
            (ExitStatus::Ok, gated) => gated,
            // A limit that is missed counts more than a question that is open.
            (ExitStatus::Inconclusive, ExitStatus::Gate) => ExitStatus::Gate,
            (other, _) => other,
        };
        report.exit_code = status.code();
        Finished { report, status }
    }
}

/// What was done, in the nouns of the command: what it says itself, or its operations.
fn done(outcome: &Outcome) -> Vec<Done> {
    let said = outcome.workload.done.clone();
    let nouns = nouns::of(&outcome.workload.kind);
    match (said.is_empty(), nouns.ops, outcome.ops) {
        (true, Some([one, several]), Some(count)) => vec![Done {
            count,
            what: if count == 1 { one } else { several }.to_owned(),
        }],
        _ => said,
    }
}

fn rates(report: &mut Report, ops: Option<u64>, content: u64, duration: Duration) {
    let seconds = duration.as_secs_f64();
    let throughput = &mut report.throughput;
    throughput.ops_per_s = ops.and_then(|ops| finite(ops as f64 / seconds));
    throughput.bytes_in_per_s = finite(throughput.bytes_in as f64 / seconds);
    throughput.bytes_out_per_s = finite(throughput.bytes_out as f64 / seconds);
    let cpu = report
        .resources
        .cpu_user_ns
        .zip(report.resources.cpu_system_ns);
    throughput.bytes_per_cpu_s = cpu
        .filter(|_| content > 0)
        .and_then(|(user, system)| finite(content as f64 * 1e9 / (user + system) as f64));
    if report.load.model == LoadModel::Closed {
        report.load.rate_achieved_per_s = throughput.ops_per_s;
    }
}

fn slowest(mut samples: Vec<SlowSample>) -> Vec<SlowSample> {
    samples.sort_by_key(|sample| std::cmp::Reverse(sample.value_ns));
    samples.truncate(SLOWEST);
    samples
}

#[cfg(test)]
mod tests {
    use latency::{LatencyName, Recorder};

    use super::*;

    #[test]
    fn a_run_of_which_a_line_is_read_keeps_no_distribution() {
        let row = |distributions| {
            let mut options = RunOptions::new("tool", "1", "test");
            options.distributions = distributions;
            let run = Run::start(options).expect("started");
            let spec = run.spec(Spec::new(LatencyName::Hold, "call"));
            let mut parts = [0, 1].map(|_| Recorder::new(spec.clone(), run.started()));
            for us in 1..=40 {
                parts[us as usize % 2].record_ns(us * 1_000);
            }
            let [mut one, other] = parts;
            one.merge(other).expect("of one kind");
            let mut outcome = Outcome::new("test");
            outcome.add(&one.finish());
            run.finish(outcome).report.latencies.remove(0)
        };
        let (whole, extremes) = (row(true), row(false));
        let said = |row: &latency::report::Latency| (row.n, row.min_ns, row.mean_ns, row.max_ns);
        assert_eq!(said(&whole), said(&extremes));
        assert_eq!(
            said(&whole),
            (40, Some(1_000), Some(20_500.0), Some(40_000))
        );
        assert_eq!(
            (whole.percentile(50.0), extremes.percentile(50.0)),
            (Some(20_015), None)
        );
        let coded = |row: &latency::report::Latency| row.histogram_v2_deflate_b64.len();
        assert!(coded(&extremes) < 100 && coded(&whole) > coded(&extremes));
    }
}
