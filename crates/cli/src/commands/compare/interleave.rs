//! `perfkit compare` of two commands: in random order in one run, with an A/A control.
//!
//! A round runs the baseline, the target and the baseline once more (the control), each a batch at
//! a time, in an order drawn anew. Drift of the machine then falls on all three alike, and the
//! control says what difference this run shows where there is none. With `--max-time` rounds are added until
//! the verdict on the wall time stands.

use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bench::{Paired, Turn, paired_until};
use latency::compare::{self, Looks, Names, Options, Regression, Sides};
use latency::report::{Cell, LatencyName, Table, Unit, Verdict};
use latency::{BucketPolicy, Meter, Recorder, Recording, Spec};
use report::Outcome;

use crate::commands::child::{self, Run};
use crate::commands::compare::flags::{Commands, CompareArgs, Rounds};
use crate::failure::{Failure, Result};
use crate::session::Session;
use crate::term::progress::Progress;
use crate::term::signal;

/// One of the two commands, and one of the three sides.
struct Side {
    name: &'static str,
    words: Vec<OsString>,
    wall: Recorder,
    cpu: Recorder,
    /// Nanoseconds of processor time of each turn.
    cpu_buckets: Vec<f64>,
    rss_max_bytes: u64,
    failures: u64,
}

/// Characters of a command line that name it in a table.
const NAME_CHARS: usize = 48;

/// Runs both commands as asked and compares them.
pub(crate) fn run(args: &CompareArgs, commands: &Commands, session: &Session) -> Result<Outcome> {
    let Rounds { rounds, batch } = commands.rounds;
    let [base, target] = &commands.sides;
    let mut sides = [
        Side::new("baseline", base, session),
        Side::new("target", target, session),
        Side::new("control", base, session),
    ];
    let progress = Progress::start(
        args.output.terminal.wants_progress(),
        commands.max_time.is_none().then_some(u64::from(rounds) * 3),
    );
    let warm = warm_up(&sides[..2], args)?;
    let mut growth = commands.max_time.map(|most| Growth::new(most, rounds));
    let turn = |turn: Turn| -> Result<Option<f64>> {
        let Some(side) = sides.get_mut(turn.side).filter(|_| warm) else {
            return Ok(None);
        };
        let took = side.turn(batch, args)?;
        progress.add(1);
        Ok(took)
    };
    let ends = |wall: &Paired| match &mut growth {
        Some(growth) => growth.stands(wall, args, u64::from(batch)),
        None => wall.rounds() >= rounds as usize,
    };
    let wall = paired_until(3, args.seed, turn, ends)?;
    // A round counts whole or not at all, so that the pairs stay pairs.
    for side in &mut sides {
        side.cpu_buckets.truncate(wall.rounds());
    }
    progress.finish();
    let mut found = Found {
        options: args.options(),
        batch: u64::from(batch),
        complete: wall.is_complete(),
        looks: None,
        wall,
    };
    if let Some(growth) = growth {
        found.options = growth.options;
        found.looks = Some(growth.looks.made());
    }
    Ok(outcome(sides, args, &found))
}

/// Rounds that are added until the verdict stands.
struct Growth {
    started: Instant,
    most: Duration,
    rounds_min: u32,
    looks: Looks,
    /// The options of the last look.
    options: Options,
}

impl Growth {
    fn new(most: Duration, rounds_min: u32) -> Self {
        Self {
            started: Instant::now(),
            most,
            rounds_min,
            looks: Looks::default(),
            options: Options::default(),
        }
    }

    /// Whether no further round is needed, or allowed.
    fn stands(&mut self, wall: &Paired, args: &CompareArgs, batch: u64) -> bool {
        let [base, target, control] = [0, 1, 2].map(|side| wall.side(side));
        if base.len() < self.rounds_min as usize {
            return false;
        }
        let share = self.started.elapsed().as_secs_f64() / self.most.as_secs_f64();
        let Some(confidence) = self.looks.due(share) else {
            return share >= 1.0;
        };
        self.options = args.options().confidence(confidence);
        let names = Names {
            row: "wall",
            baseline: "",
            target: "",
        };
        let sides = Sides {
            base,
            target,
            control: Some(control),
            bucket_ops: batch,
        };
        let found = compare::interleaved_with(names, sides, self.options);
        let limit = args.fail_on_regression.map(|percent| percent / 100.0);
        let limit_open =
            limit.is_some_and(|limit| Regression::of(&found, limit) == Regression::Undecided);
        let verdict_open = matches!(found.verdict, Verdict::Inconclusive | Verdict::Small);
        share >= 1.0 || !(verdict_open || limit_open)
    }
}

/// What a run came to besides its times.
struct Found {
    /// The wall time of each round.
    wall: Paired,
    /// Of the look that ended the run.
    options: Options,
    batch: u64,
    complete: bool,
    looks: Option<u32>,
}

/// Runs both commands untimed; whether no signal ended it.
fn warm_up(sides: &[Side], args: &CompareArgs) -> Result<bool> {
    for side in sides {
        for _ in 0..args.warmup {
            if side.once(args)?.is_none() {
                return Ok(false);
            }
        }
    }
    Ok(!signal::interrupted())
}

fn outcome(sides: [Side; 3], args: &CompareArgs, found: &Found) -> Outcome {
    let &Found {
        ref wall,
        options,
        batch,
        complete,
        looks,
    } = found;
    let mut outcome = Outcome::new("compare, interleaved");
    outcome.complete = complete;
    if !complete {
        outcome.status = report::ExitStatus::Interrupted;
    }
    outcome.ops = Some(sides.iter().map(|side| side.wall.n()).sum());
    let params = &mut outcome.workload.params;
    params.insert("batch".to_owned(), batch.into());
    params.insert("warmup".to_owned(), args.warmup.into());
    if let Some(looks) = looks {
        params.insert("looks".to_owned(), looks.into());
        params.insert("confidence".to_owned(), options.confidence.into());
    }
    let names = sides.each_ref().map(Side::title);
    let wall = [0, 1, 2].map(|side| wall.side(side));
    let cpu = sides.each_ref().map(|side| side.cpu_buckets.as_slice());
    for (row, [base, target, control]) in [("wall", wall), ("cpu", cpu)] {
        let names = Names {
            row,
            baseline: &names[0],
            target: &names[1],
        };
        let sides = Sides {
            base,
            target,
            control: Some(control),
            bucket_ops: batch,
        };
        if !base.is_empty() {
            let mut comparison = compare::interleaved_with(names, sides, options);
            if let Some(looks) = looks {
                let plural = if looks == 1 { "" } else { "s" };
                comparison.reason += &format!(
                    "; {} rounds, {looks} look{plural}, 5 % error over all of them",
                    comparison.pairs
                );
            }
            outcome.comparisons.push(comparison);
        }
    }
    let mut table = Table::new("runs", &COLUMNS);
    let floor = rss_floor();
    for side in sides {
        let params = &mut outcome.workload.params;
        params.insert(side.name.to_owned(), side.line().into());
        let (wall, cpu) = (side.wall.finish(), side.cpu.finish());
        let row = wall.latency();
        table.rows.push(vec![
            side.name.into(),
            row.n.into(),
            side.failures.into(),
            median(&wall),
            row.min_ns.into(),
            row.max_ns.into(),
            median(&cpu),
            Some(side.rss_max_bytes)
                .filter(|bytes| *bytes > floor)
                .into(),
        ]);
        outcome.add(&wall);
    }
    outcome.tables.push(table);
    outcome
}

const COLUMNS: [(&str, Unit); 8] = [
    ("side", Unit::Text),
    ("runs", Unit::Count),
    ("failures", Unit::Count),
    ("wall_p50_ns", Unit::Nanoseconds),
    ("wall_min_ns", Unit::Nanoseconds),
    ("wall_max_ns", Unit::Nanoseconds),
    ("cpu_p50_ns", Unit::Nanoseconds),
    ("rss_max_bytes", Unit::Bytes),
];

/// A peak that is not above the private memory of this process may be that of the copy which a
/// child starts in: it says nothing of the child.
fn rss_floor() -> u64 {
    let private = std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("RssAnon:"))?;
            let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
            // The copy is made of a little more than the private pages.
            Some((kilobytes << 10) + (1 << 20))
        });
    private.unwrap_or_else(|| {
        let mut environment = latency::environment::capture();
        let resources = Meter::start().finish(&mut environment);
        resources.rss_max_bytes.unwrap_or(0)
    })
}

/// The sample's own median, whether or not it earns an interval.
fn median(recording: &Recording) -> Cell {
    let histogram = recording.histogram();
    (!histogram.is_empty())
        .then(|| histogram.value_at_quantile(0.5))
        .into()
}

impl Side {
    fn new(name: &'static str, words: &[OsString], session: &Session) -> Self {
        let recorder = || {
            let spec = Spec::new(LatencyName::Service, "run").series(name);
            Recorder::new(
                session.spec(spec.buckets(BucketPolicy::Off)),
                session.run_start(),
            )
        };
        Self {
            name,
            words: words.to_vec(),
            wall: recorder(),
            cpu: recorder(),
            cpu_buckets: Vec::new(),
            rss_max_bytes: 0,
            failures: 0,
        }
    }

    /// The command line.
    fn line(&self) -> String {
        let words: Vec<_> = self
            .words
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        words.join(" ")
    }

    /// The command line, short enough for a heading.
    fn title(&self) -> String {
        let line = self.line();
        match line.char_indices().nth(NAME_CHARS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }

    /// A batch of runs, and what they took; `None` when a signal ended it.
    fn turn(&mut self, batch: u32, args: &CompareArgs) -> Result<Option<f64>> {
        let (mut wall, mut cpu) = (0.0, 0.0);
        for _ in 0..batch {
            let Some(run) = self.once(args)? else {
                return Ok(None);
            };
            let (wall_ns, cpu_ns) = self.record(&run);
            wall += wall_ns as f64;
            cpu += cpu_ns as f64;
        }
        self.cpu_buckets.push(cpu);
        Ok(Some(wall))
    }

    /// One run, or `None` when a signal ended it: what it took then says nothing.
    fn once(&self, args: &CompareArgs) -> Result<Option<Run>> {
        if let Some(script) = &args.prepare
            && !prepare(script)?
        {
            return Ok(None);
        }
        let program = self
            .words
            .first()
            .map(OsString::as_os_str)
            .unwrap_or_default();
        let mut command = Command::new(program);
        command
            .args(&self.words[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let run = child::run(&mut command)
            .map_err(|error| Failure::program(self.name, program.as_ref(), &error))?;
        let Some(run) = run.filter(|_| !signal::interrupted()) else {
            return Ok(None);
        };
        if !run.used.status.success() && !args.ignore_failure {
            return Err(Failure::new(format!(
                "the {} '{}' failed: {}",
                self.name,
                program.to_string_lossy(),
                run.used.status
            ))
            .help("run it by hand to see its output, or add -i to continue after failures"));
        }
        Ok(Some(run))
    }

    /// Adds a run to the distributions; its wall and processor time in nanoseconds.
    fn record(&mut self, run: &Run) -> (u64, u64) {
        let wall_ns = self.wall.record_span(run.start, run.end);
        let usage = &run.used.rusage;
        let cpu_ns = u64::try_from((usage.utime + usage.stime).as_nanos()).unwrap_or(u64::MAX);
        self.cpu.record_ns(cpu_ns);
        self.rss_max_bytes = self.rss_max_bytes.max(usage.maxrss);
        self.failures += u64::from(!run.used.status.success());
        (wall_ns, cpu_ns)
    }
}

/// Runs what goes before a run; whether no signal ended it.
fn prepare(script: &OsStr) -> Result<bool> {
    let (shell, flag) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("sh", "-c")
    };
    let mut command = Command::new(shell);
    command
        .arg(flag)
        .arg(script)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let run = child::run(&mut command)
        .map_err(|error| Failure::program("shell", shell.as_ref(), &error))?;
    match run.filter(|_| !signal::interrupted()) {
        None => Ok(false),
        Some(run) if run.used.status.success() => Ok(true),
        Some(run) => Err(Failure::new(format!(
            "--prepare '{}' failed: {}",
            script.to_string_lossy(),
            run.used.status
        ))
        .help("run it by hand to see why")),
    }
}
