//! perfkit against codecs of Go under one kind of load, in rounds: in each every subject runs once, in
//! an order of its own. What is run is in [`subjects`], what perfkit shows by itself in [`sections`], what
//! comes of it in [`record`].

mod judged;
mod record;
mod sections;
mod subjects;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

pub(crate) use self::record::Stress;
use self::record::{Figures, Measured, Run};
use self::subjects::{GOALS, Program, SUBJECTS, Subject};
use super::{Size, rounds};
use crate::record::{Machine, Made, Record, Results};
use crate::{metadata, sh};

const ROUNDS: usize = 6;
const ROUNDS_QUICK: usize = 2;
/// How long each subject runs in a round.
const RUN_MS: u64 = 900;
const RUN_MS_QUICK: u64 = 150;
/// Producers, and as many consumers.
const WORKERS: &str = "100";

/// The programs that are run.
struct Bench {
    perfkit: PathBuf,
    go: PathBuf,
    run_ms: u64,
    machine: Option<Machine>,
}

/// Measures and writes the record; what else is in that, the soak and the rest, stays.
pub(crate) fn run(size: Size) -> Result<()> {
    let mut bench = Bench::new(size)?;
    let count = match size {
        Size::Full => ROUNDS,
        Size::Quick => ROUNDS_QUICK,
    };
    let mut runs: Vec<Vec<Run>> = SUBJECTS.iter().map(|_| Vec::new()).collect();
    let mut random = rounds::SEED;
    for round in 0..count {
        println!("round {} of {count}, {} runs", round + 1, SUBJECTS.len());
        for at in rounds::shuffled(SUBJECTS.len(), &mut random) {
            let subject = &SUBJECTS[at];
            let run = bench
                .measure(subject)
                .with_context(|| format!("{}: no result", subject.name()))?;
            runs[at].push(run);
        }
    }
    let measured = Measured {
        made: bench.made()?,
        rounds: count,
        run_ms: bench.run_ms,
        figures: SUBJECTS
            .iter()
            .zip(&runs)
            .map(|(subject, runs)| Figures::of(subject, &bench.words(subject), runs))
            .collect(),
        goals: GOALS
            .iter()
            .map(|goal| goal.judge(|name| speeds(&runs, name)))
            .collect::<Result<_>>()?,
    };
    let name = match size {
        Size::Full => "stress",
        Size::Quick => "stress-quick",
    };
    let (mut stress, machine) = read(name)?;
    stress.measured = Some(measured);
    write(name, size, stress, bench.machine.take().or(machine))
}

/// Measures one section and puts it into the record.
pub(crate) fn section(section: &str) -> Result<()> {
    let found = Bench::new(Size::Full)?.section(section)?;
    let (mut stress, machine) = read("stress")?;
    stress.add(found);
    write("stress", Size::Full, stress, machine)
}

/// The contents of the record with that name.
fn read(name: &str) -> Result<(Stress, Option<Machine>)> {
    Ok(match Record::read(name)? {
        Some(Record {
            results: Results::Stress(stress),
            machine,
            ..
        }) => (stress, machine),
        _ => (Stress::default(), None),
    })
}

fn write(name: &str, size: Size, stress: Stress, machine: Option<Machine>) -> Result<()> {
    let mut record = Record::new(
        "Codecs and pools under load",
        "cargo xtask peers stress",
        Results::Stress(stress),
    );
    record.quick = size == Size::Quick;
    record.machine = machine;
    println!("{}", record.write(name)?.display());
    Ok(())
}

/// Bytes per CPU-second of the subject with that name, one per round.
fn speeds(runs: &[Vec<Run>], name: &str) -> Result<Vec<f64>> {
    let at = SUBJECTS.iter().position(|subject| subject.name() == name);
    let at = at.with_context(|| format!("no subject is called {name}"))?;
    Ok(runs[at].iter().map(|run| run.cpu_bytes_per_s).collect())
}

impl Bench {
    /// Builds both programs.
    fn new(size: Size) -> Result<Self> {
        if sh::find("go").is_none() {
            bail!("go is not installed: its codecs cannot be built");
        }
        let mut cargo = sh::cargo(&["build", "--bin", "perfkit"]);
        sh::run(cargo.args(metadata::MEASURED))?;
        let folder = sh::root().join("bench-peers/stress");
        let go = sh::root().join("bench-peers/target/stress");
        let mut build = sh::command("go");
        build.args(["build", "-trimpath", "-o"]).arg(&go).arg(".");
        sh::run(build.current_dir(folder))?;
        Ok(Self {
            perfkit: metadata::measured_binaries()?.join("perfkit"),
            go,
            run_ms: match size {
                Size::Full => RUN_MS,
                Size::Quick => RUN_MS_QUICK,
            },
            machine: None,
        })
    }

    /// The builds that are measured, and when.
    fn made(&self) -> Result<Made> {
        let mut made = super::made(&self.perfkit)?;
        made.compilers
            .push(sh::text(sh::command("go").arg("version"))?);
        Ok(made)
    }

    /// The words after the program that run a subject.
    fn words(&self, subject: &Subject) -> Vec<String> {
        let duration = format!("{}ms", self.run_ms);
        let mut words = match subject.program {
            Program::Perfkit => vec!["stress", "--report", "json", "-q"],
            Program::Go => Vec::new(),
        };
        words.extend(["--codec", subject.codec, "--pool", subject.pool]);
        words.extend(["--loop", subject.work]);
        words.extend(["--producers", WORKERS, "--consumers", WORKERS]);
        words.extend(["--duration", &duration]);
        words.extend(subject.extra);
        words.into_iter().map(str::to_owned).collect()
    }

    fn measure(&mut self, subject: &Subject) -> Result<Run> {
        let program = match subject.program {
            Program::Perfkit => &self.perfkit,
            Program::Go => &self.go,
        };
        let made = sh::output(sh::command(program).args(self.words(subject)))?;
        let found: Value = serde_json::from_slice(&made.stdout)?;
        let run = match subject.program {
            Program::Go => Run::of_go(&found)?,
            Program::Perfkit => {
                if self.machine.is_none() {
                    let machine = found["environment"].clone();
                    self.machine = Some(serde_json::from_value(machine)?);
                }
                Run::of_perfkit(&found)?
            }
        };
        ensure!(run.cpu_bytes_per_s.is_finite(), "no processor time");
        Ok(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_goal_names_subjects_that_there_are() {
        let runs: Vec<Vec<Run>> = SUBJECTS.iter().map(|_| Vec::new()).collect();
        for goal in GOALS {
            assert!(speeds(&runs, goal.target).is_ok(), "{}", goal.target);
            assert!(speeds(&runs, goal.baseline).is_ok(), "{}", goal.baseline);
        }
        let names: std::collections::BTreeSet<_> = SUBJECTS.iter().map(Subject::name).collect();
        assert_eq!(names.len(), SUBJECTS.len(), "no two of one name");
    }
}
