//! Runs what a plan asks for: one command line after the other, or all of them in rounds.

use std::cell::Cell;
use std::fs::File;
use std::process::{Command, Stdio};

use latency::SplitMix64;

use super::{Error, Launch, Output, Plan, Program, Ran, Sample, Shell, Step, start_floor};
use crate::Watch;
use crate::{Paired, Turn, paired_until};

/// Runs of the empty command that tell how long the shell takes to start.
const CALIBRATIONS: u32 = 50;
/// The greatest length of the variable that moves the stack of commands.
const OFFSET_BYTES_MAX: u64 = 4096;
/// The variable whose length moves the stack: the address of a stack alone can change a time by several
/// per cent (Mytkowicz and others, ASPLOS 2009).
const OFFSET: &str = "HYPERFINE_RANDOMIZED_ENVIRONMENT_OFFSET";
/// The variable that tells a command the number of its run.
const ITERATION: &str = "HYPERFINE_ITERATION";

/// Runs what a plan asks for.
pub struct Runner<'a, L> {
    plan: &'a Plan,
    launch: L,
    watch: &'a dyn Watch,
    /// What the shell takes to start.
    overhead: Ran,
    /// What a run takes that does nothing.
    floor_ns: Option<f64>,
    random: SplitMix64,
}

impl<L> std::fmt::Debug for Runner<'_, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner")
            .field("plan", &self.plan)
            .field("overhead", &self.overhead)
            .finish_non_exhaustive()
    }
}

/// What rounds in random order came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Interleaved {
    /// The runs of each command line; those of one number were next to each other.
    pub samples: Vec<Sample>,
    /// Wall times of the second runs of one command line, and of its first runs.
    control: Vec<f64>,
    controlled: Vec<f64>,
}

impl Interleaved {
    /// Times that differ from these as the control differs from what it controls: what this run shows
    /// where there is no difference.
    pub(super) fn control(&self, base: &[f64]) -> Vec<f64> {
        let pairs = self.control.iter().zip(&self.controlled);
        base.iter()
            .zip(pairs)
            .map(|(base, (again, first))| base * again / first)
            .collect()
    }
}

impl<'a, L: Launch> Runner<'a, L> {
    /// Runs nothing yet.
    ///
    /// # Errors
    ///
    /// Those of [`Plan::check`].
    pub fn new(plan: &'a Plan, launch: L, watch: &'a dyn Watch) -> Result<Self, Error> {
        plan.check()?;
        Ok(Self {
            plan,
            launch,
            watch,
            overhead: Ran::default(),
            floor_ns: None,
            random: SplitMix64::new(plan.seed),
        })
    }

    /// Measures how long the shell takes to start, which is taken off every run from now on; without a shell, how
    /// long a process takes that does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Shell`] where it does not run, and [`Error::Stopped`].
    pub fn calibrate(&mut self) -> Result<(), Error> {
        if self.plan.shell == Shell::None {
            self.floor_ns = start_floor(&mut self.launch);
            return Ok(());
        }
        self.watch.expect(u64::from(CALIBRATIONS));
        let mut sum = Ran::default();
        for _ in 0..CALIBRATIONS {
            let refused = || Error::Shell {
                shell: self.plan.shell.to_string(),
            };
            let ran = match self.start("", Step::Around, &Output::Null) {
                Err(Error::Start { .. }) => return Err(refused()),
                ran => ran?,
            };
            if !ran.succeeded {
                return Err(refused());
            }
            sum.wall_ns += ran.wall_ns;
            sum.user_ns += ran.user_ns;
            sum.system_ns += ran.system_ns;
            self.watch.advance(1);
        }
        let mean = |sum: f64| sum / f64::from(CALIBRATIONS);
        self.overhead = Ran {
            wall_ns: mean(sum.wall_ns),
            user_ns: mean(sum.user_ns),
            system_ns: mean(sum.system_ns),
            ..Ran::default()
        };
        self.floor_ns = Some(self.overhead.wall_ns);
        self.watch.finish();
        Ok(())
    }

    /// What a run takes that does nothing: the start of the shell, which is taken off, or without a shell that of a
    /// process. `None` before it is measured, and where it could not be.
    #[must_use]
    pub fn floor_ns(&self) -> Option<f64> {
        self.floor_ns
    }

    /// Measures one command line, with all that goes around it but what comes after all of its runs. A stop leaves the runs
    /// that were finished, as a sample that is [cut short](Sample::cut_short).
    ///
    /// # Errors
    ///
    /// What fails, and [`Error::Stopped`] before the end of the first run.
    pub fn measure(&mut self, index: usize) -> Result<Sample, Error> {
        let program = self.program(index)?.clone();
        self.around("setup", self.plan.setup.as_deref(), index)?;
        for number in 0..self.plan.warmup {
            self.once(index, Step::Warmup(number))?;
        }
        let first = self.once(index, Step::Run(0))?;
        let count = self.plan.runs.of(first.whole_ns);
        self.watch.expect(count);
        self.watch.advance(1);
        let mut runs = vec![first.ran];
        let mut cut_short = false;
        for number in 1..count {
            match self.once(index, Step::Run(number)) {
                Ok(run) => runs.push(run.ran),
                Err(Error::Stopped) => {
                    cut_short = true;
                    break;
                }
                Err(error) => return Err(error),
            }
            self.watch.advance(1);
        }
        self.watch.finish();
        Ok(Sample {
            program,
            runs,
            cut_short,
        })
    }

    /// Runs what comes after all runs of a command line.
    ///
    /// # Errors
    ///
    /// [`Error::Intermediate`] where it fails, and [`Error::Stopped`].
    pub fn clean_up(&mut self, index: usize) -> Result<(), Error> {
        self.around("cleanup", self.plan.cleanup.as_deref(), index)
    }

    /// Measures all command lines in rounds, each round in a new random order, and one of them twice in each
    /// round, as a control. What goes before and after all runs of each is run before and after all rounds.
    ///
    /// A stop leaves the rounds that were finished, as samples that are [cut short](Sample::cut_short).
    ///
    /// # Errors
    ///
    /// What fails, and [`Error::Stopped`] before the end of the first round.
    pub fn interleaved(&mut self) -> Result<Interleaved, Error> {
        let programs = self.plan.programs.len();
        let controlled = self.plan.reference.filter(|at| *at < programs).unwrap_or(0);
        for index in 0..programs {
            self.around("setup", self.plan.setup.as_deref(), index)?;
        }
        for number in 0..self.plan.warmup {
            for index in 0..programs {
                self.once(index, Step::Warmup(number))?;
            }
        }
        let (plan, watch) = (self.plan, self.watch);
        let mut runs: Vec<Vec<Ran>> = vec![Vec::new(); programs];
        // What the first round takes, with all that belongs to its runs.
        let round_ns = Cell::new(0.0);
        let turn = |turn: Turn| -> Result<Option<f64>, Error> {
            let index = match turn.side < programs {
                true => turn.side,
                false => controlled,
            };
            let found = match self.once(index, Step::Run(u64::from(turn.round))) {
                Err(Error::Stopped) => return Ok(None),
                found => found?,
            };
            if turn.round == 0 {
                round_ns.set(round_ns.get() + found.whole_ns);
            }
            if let Some(runs) = runs.get_mut(turn.side) {
                runs.push(found.ran);
            }
            watch.advance(1);
            Ok(Some(found.ran.wall_ns))
        };
        let ends = |measured: &Paired| {
            let rounds = measured.rounds() as u64;
            let wanted = plan.runs.of(round_ns.get() / programs as f64);
            if rounds == 1 {
                let turns = programs as u64 + 1;
                watch.expect((wanted - 1).saturating_mul(turns));
            }
            rounds > 0 && rounds >= wanted
        };
        let measured = paired_until(programs + 1, plan.seed, turn, ends)?;
        watch.finish();
        let (rounds, cut_short) = (measured.rounds(), !measured.is_complete());
        if rounds == 0 {
            return Err(Error::Stopped);
        }
        let sample = |(program, mut runs): (&Program, Vec<Ran>)| {
            // Those of a round that was not finished have no pairs.
            runs.truncate(rounds);
            Sample {
                program: program.clone(),
                runs,
                cut_short,
            }
        };
        Ok(Interleaved {
            samples: plan.programs.iter().zip(runs).map(sample).collect(),
            control: measured.side(programs).to_vec(),
            controlled: measured.side(controlled).to_vec(),
        })
    }

    fn program(&self, index: usize) -> Result<&'a Program, Error> {
        self.plan.programs.get(index).ok_or(Error::Empty)
    }

    /// One run, with what goes before and after it.
    fn once(&mut self, index: usize, step: Step) -> Result<Once, Error> {
        let plan = self.plan;
        let output = plan.output(index);
        let line = self.program(index)?.line();
        let mut whole_ns = 0.0;
        if let Some(before) = plan.prepare_of(index) {
            whole_ns += self.intermediate("prepare", &before, step, &output)?;
        }
        let raw = self.start(&line, step, &output)?;
        if !raw.succeeded && plan.failures.end(raw.exit_code) {
            return Err(Error::Failed {
                line,
                exit_code: raw.exit_code,
                signalled: raw.signalled,
                step,
            });
        }
        whole_ns += raw.wall_ns;
        if let Some(after) = plan.conclude_of(index) {
            whole_ns += self.intermediate("conclude", &after, step, &output)?;
        }
        let ran = raw.less(&self.overhead);
        Ok(Once { ran, whole_ns })
    }

    /// Runs what goes before or after all runs of a command line.
    fn around(
        &mut self,
        role: &'static str,
        line: Option<&str>,
        index: usize,
    ) -> Result<(), Error> {
        let Some(line) = line else {
            return Ok(());
        };
        let line = self.program(index)?.fill(line);
        let output = self.plan.output(index);
        self.intermediate(role, &line, Step::Around, &output)?;
        Ok(())
    }

    /// Runs what is not measured and must not fail; how long it took.
    fn intermediate(
        &mut self,
        role: &'static str,
        line: &str,
        step: Step,
        output: &Output,
    ) -> Result<f64, Error> {
        let ran = self.start(line, step, output)?;
        match ran.succeeded {
            true => Ok(ran.wall_ns),
            false => Err(Error::Intermediate {
                role,
                line: line.to_owned(),
                exit_code: ran.exit_code,
                signalled: ran.signalled,
            }),
        }
    }

    /// Starts a command line and waits for its end.
    fn start(&mut self, line: &str, step: Step, output: &Output) -> Result<Ran, Error> {
        let mut command = self.plan.shell.command(line)?;
        self.streams(&mut command, output)?;
        let length = self.random.below(OFFSET_BYTES_MAX) as usize;
        command.env(OFFSET, "X".repeat(length));
        if let Some(number) = step.iteration() {
            command.env(ITERATION, number);
        }
        let ran = self
            .launch
            .launch(&mut command)
            .map_err(|error| Error::Start {
                line: line.to_owned(),
                error,
            })?;
        ran.ok_or(Error::Stopped)
    }

    /// Sets where input comes from and output goes to.
    fn streams(&self, command: &mut Command, output: &Output) -> Result<(), Error> {
        let stdin = match &self.plan.input {
            None => Stdio::null(),
            Some(path) => File::open(path)
                .map_err(|error| Error::File {
                    verb: "read",
                    path: path.clone(),
                    error,
                })?
                .into(),
        };
        let (stdout, stderr) = match output {
            Output::Null => (Stdio::null(), Stdio::null()),
            Output::Pipe => (Stdio::piped(), Stdio::null()),
            Output::Inherit => (Stdio::inherit(), Stdio::inherit()),
            Output::File(path) => {
                let file = File::create(path).map_err(|error| Error::File {
                    verb: "write",
                    path: path.clone(),
                    error,
                })?;
                (file.into(), Stdio::null())
            }
        };
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        Ok(())
    }
}

/// One run, with what belongs to it.
struct Once {
    ran: Ran,
    /// All of it, what goes before and after included.
    whole_ns: f64,
}

#[cfg(test)]
mod tests;
