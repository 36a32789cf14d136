//! The runner with processes that are none: what is run in which order, and how often.

use std::cell::RefCell;
use std::io;
use std::process::Command;
use std::rc::Rc;

use super::super::{Failures, Runs};
use super::*;

/// Notes what would be run, and takes a time of its own choice for it.
#[derive(Clone, Default)]
struct Fake {
    calls: Rc<RefCell<Vec<String>>>,
    /// Lines that fail, with their exit code.
    fails: Vec<(&'static str, i32)>,
    /// The call at which the caller asks to stop.
    stops_at: Option<usize>,
}

impl Launch for Fake {
    fn launch(&mut self, command: &mut Command) -> io::Result<Option<Ran>> {
        if command.get_program() == "missing" {
            return Err(io::ErrorKind::NotFound.into());
        }
        let words: Vec<String> = command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let line = words.last().cloned().unwrap_or_default();
        let iteration = command
            .get_envs()
            .find(|(name, _)| *name == ITERATION)
            .and_then(|(_, value)| value)
            .map(|value| value.to_string_lossy().into_owned());
        let shown = match iteration {
            Some(number) => format!("{line}@{number}"),
            None => line.clone(),
        };
        self.calls.borrow_mut().push(shown);
        if self
            .stops_at
            .is_some_and(|at| self.calls.borrow().len() > at)
        {
            return Ok(None);
        }
        let code = self.fails.iter().find(|(failing, _)| *failing == line);
        let exit_code = code.map_or(0, |(_, code)| *code);
        // The shell takes 1 ms, and a line that is a number so many milliseconds more.
        let wall_ns = 1e6 + line.parse::<f64>().unwrap_or(0.0) * 1e6;
        Ok(Some(Ran {
            wall_ns,
            exit_code: Some(exit_code),
            succeeded: exit_code == 0,
            ..Ran::default()
        }))
    }
}

fn plan(lines: &[&str]) -> Plan {
    Plan {
        programs: lines.iter().map(|line| Program::new(line)).collect(),
        runs: Runs {
            min: 2,
            max: Some(2),
            ..Runs::default()
        },
        ..Plan::default()
    }
}

/// The calls of all that a plan asks for, the calibration left out.
fn calls(plan: &Plan, fake: &Fake) -> (Vec<String>, Result<Vec<Sample>, Error>) {
    let run = || {
        let mut runner = Runner::new(plan, fake.clone(), &())?;
        runner.calibrate()?;
        fake.calls.borrow_mut().clear();
        let mut samples = Vec::new();
        for index in 0..plan.programs.len() {
            samples.push(runner.measure(index)?);
            runner.clean_up(index)?;
        }
        Ok(samples)
    };
    let outcome = run();
    (fake.calls.borrow().clone(), outcome)
}

#[test]
fn the_order_is_that_of_hyperfine() {
    let plan = Plan {
        warmup: 1,
        setup: Some("s".to_owned()),
        prepare: vec!["p0".to_owned(), "p1".to_owned()],
        conclude: vec!["c".to_owned()],
        cleanup: Some("u".to_owned()),
        ..plan(&["7", "8"])
    };
    let (calls, outcome) = calls(&plan, &Fake::default());
    let expected = "s p0@warmup-0 7@warmup-0 c@warmup-0 p0@0 7@0 c@0 p0@1 7@1 c@1 u \
                    s p1@warmup-0 8@warmup-0 c@warmup-0 p1@0 8@0 c@0 p1@1 8@1 c@1 u";
    assert_eq!(calls.join(" "), expected);
    // What the shell takes to start is off.
    let samples = outcome.unwrap();
    assert_eq!(samples[0].times_ns(), [7e6, 7e6]);
    assert_eq!(samples[1].mean_ns(), 8e6);
}

#[test]
fn as_many_runs_as_fit_into_the_time_with_all_that_belongs_to_them() {
    let counted = |prepare: &[&str]| {
        let plan = Plan {
            runs: Runs::default(),
            prepare: prepare.iter().map(|line| (*line).to_owned()).collect(),
            ..plan(&["9"])
        };
        let (_, outcome) = calls(&plan, &Fake::default());
        outcome.unwrap()[0].runs.len()
    };
    // 3 s of 9 ms and the start of the shell; of 100 ms more for what goes before; never below 10.
    assert_eq!(counted(&[]), 300);
    assert_eq!(counted(&["89"]), 30);
    assert_eq!(counted(&["899"]), 10);
}

#[test]
fn rounds_have_each_program_once_and_the_control_again() {
    let plan = Plan {
        warmup: 1,
        setup: Some("s".to_owned()),
        cleanup: Some("u".to_owned()),
        runs: Runs {
            min: 30,
            max: Some(30),
            ..Runs::default()
        },
        ..plan(&["5", "6", "7"])
    };
    let fake = Fake::default();
    let mut runner = Runner::new(&plan, fake.clone(), &()).unwrap();
    let found = runner.interleaved().unwrap();
    let calls = fake.calls.borrow();
    assert_eq!(
        calls[..6],
        ["s", "s", "s", "5@warmup-0", "6@warmup-0", "7@warmup-0"]
    );
    let rounds = &calls[6..];
    assert_eq!(rounds.len(), 30 * 4);
    let mut orders = std::collections::BTreeSet::new();
    for (number, round) in rounds.chunks(4).enumerate() {
        orders.insert(
            round
                .iter()
                .map(|call| call[..1].to_owned())
                .collect::<String>(),
        );
        let mut sorted = round.to_vec();
        sorted.sort();
        let expected = ["5", "5", "6", "7"].map(|line| format!("{line}@{number}"));
        assert_eq!(sorted, expected);
    }
    assert!(orders.len() > 4, "{orders:?}");
    assert!(found.samples.iter().all(|sample| sample.runs.len() == 30));
    assert_eq!(found.control(&[2.0, 3.0]), [2.0, 3.0]);
}

#[test]
fn failures_end_it_or_are_ignored() {
    let fake = Fake {
        fails: vec![("f", 3), ("p", 1)],
        ..Fake::default()
    };
    let with = |failures: Failures| {
        let plan = Plan {
            failures,
            ..plan(&["f"])
        };
        calls(&plan, &fake)
    };
    let (made, outcome) = with(Failures::End);
    assert_eq!(made, ["f@0"]);
    let error = outcome.unwrap_err().to_string();
    assert_eq!(error, "'f' ended with exit code 3 in run 1");
    assert!(with(Failures::IgnoredCodes(vec![1])).1.is_err());
    for ignored in [Failures::Ignored, Failures::IgnoredCodes(vec![1, 3])] {
        let samples = with(ignored).1.unwrap();
        assert!(samples[0].has_failures() && samples[0].runs.len() == 2);
    }
    // What is not measured must not fail, whatever else may.
    let plan = Plan {
        failures: Failures::Ignored,
        prepare: vec!["p".to_owned()],
        ..plan(&["a"])
    };
    let error = calls(&plan, &fake).1.unwrap_err().to_string();
    assert_eq!(error, "the prepare command 'p' ended with exit code 1");
}

#[test]
fn the_floor_is_the_start_of_the_shell_or_of_a_process() {
    let floor = |shell| {
        let plan = Plan {
            shell,
            ..plan(&["7"])
        };
        let mut runner = Runner::new(&plan, Fake::default(), &()).unwrap();
        assert_eq!(runner.floor_ns(), None);
        runner.calibrate().unwrap();
        let sample = runner.measure(0).unwrap();
        (runner.floor_ns(), sample.mean_ns())
    };
    // Only that of the shell is taken off.
    assert_eq!(floor(Shell::default()), (Some(1e6), 7e6));
    assert_eq!(floor(Shell::None), (Some(1e6), 1e6));
}

#[test]
fn a_shell_that_does_not_run_and_a_wish_to_stop_end_it() {
    let missing = Plan {
        shell: Shell::Words(vec!["missing".to_owned()]),
        ..plan(&["a"])
    };
    assert!(matches!(
        calls(&missing, &Fake::default()).1,
        Err(Error::Shell { .. })
    ));
    let stops = Fake {
        stops_at: Some(51),
        ..Fake::default()
    };
    let mut runner_plan = plan(&["a"]);
    runner_plan.runs.min = 99;
    runner_plan.runs.max = Some(99);
    let mut runner = Runner::new(&runner_plan, stops, &()).unwrap();
    runner.calibrate().unwrap();
    let sample = runner.measure(0).unwrap();
    assert!(sample.cut_short && !sample.runs.is_empty());
    assert!(matches!(runner.measure(0), Err(Error::Stopped)));
    assert!(matches!(runner.interleaved(), Err(Error::Stopped)));
}

#[test]
fn a_stop_leaves_the_rounds_that_were_finished() {
    let plan = Plan {
        shell: Shell::None,
        ..plan(&["5", "6"])
    };
    // Three runs a round: the stop comes in the first round, between two, in the second, and after the last.
    for (stops_at, rounds) in [(2, None), (3, Some(1)), (4, Some(1)), (6, Some(2))] {
        let fake = Fake {
            stops_at: Some(stops_at),
            ..Fake::default()
        };
        let mut runner = Runner::new(&plan, fake, &()).unwrap();
        let found = runner.interleaved();
        let Some(rounds) = rounds else {
            assert!(matches!(found, Err(Error::Stopped)));
            continue;
        };
        let found = found.unwrap();
        for sample in &found.samples {
            assert_eq!(sample.runs.len(), rounds, "{stops_at}");
            assert_eq!(sample.cut_short, stops_at < 6, "{stops_at}");
        }
        assert_eq!(found.control(&[1.0; 9]).len(), rounds);
    }
}
