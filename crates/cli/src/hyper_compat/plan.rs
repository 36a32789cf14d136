//! What the flags of hyperfine ask for.

use std::path::Path;

use bench::programs::{self, Failures, Output, Plan, Program, Runs, Shell};

use super::flags::HyperfineArgs;
use crate::failure::{Failure, Result};

impl HyperfineArgs {
    /// What to measure, and how.
    pub(super) fn plan(&self) -> Result<Plan> {
        let mut programs = self.programs()?;
        let reference = self.choose_reference(&mut programs)?;
        let plan = Plan {
            programs,
            reference,
            shell: match (&self.shell, self.no_shell) {
                (_, true) => Shell::None,
                (Some(shell), false) => Shell::parse(shell)?,
                (None, false) => Shell::default(),
            },
            warmup: self.warmup,
            runs: self.counts()?,
            setup: self.setup.clone(),
            prepare: self.prepare.clone(),
            conclude: self.conclude.clone(),
            cleanup: self.cleanup.clone(),
            outputs: self.outputs()?,
            input: self.input.clone().filter(|path| path.as_os_str() != "null"),
            failures: self.failures()?,
            seed: self.seed,
        };
        plan.check()?;
        if let Some(path) = plan.input.as_ref().filter(|path| !path.exists()) {
            return Err(Failure::new(format!(
                "there is no file '{}' for --input",
                path.display()
            )));
        }
        Ok(plan)
    }

    fn programs(&self) -> Result<Vec<Program>> {
        let names = &self.command_name;
        if let Some([name, from, to]) = self.parameter_scan.as_deref() {
            let step = self.parameter_step_size.as_deref();
            return Ok(programs::scan(
                &self.commands,
                name,
                [from, to],
                step,
                names,
            )?);
        }
        if !self.parameter_list.is_empty() {
            let lists = self.parameter_list.chunks_exact(2);
            let lists: Vec<_> = lists
                .map(|pair| (pair[0].clone(), programs::values(&pair[1])))
                .collect();
            return Ok(programs::lists(&self.commands, &lists, names)?);
        }
        if names.len() > self.commands.len() {
            return Err(Failure::new(format!(
                "--command-name is given {} times for {} commands",
                names.len(),
                self.commands.len()
            )));
        }
        let named = |(at, line): (usize, &String)| {
            let mut program = Program::new(line);
            program.name = names.get(at).cloned();
            program
        };
        Ok(self.commands.iter().enumerate().map(named).collect())
    }

    /// The number of the reference, which becomes the first program unless it is one of them.
    fn choose_reference(&self, programs: &mut Vec<Program>) -> Result<Option<usize>> {
        let Some(reference) = &self.reference else {
            return Ok(None);
        };
        if self.parameter_scan.is_none() && self.parameter_list.is_empty() {
            let mut program = Program::new(reference);
            program.name.clone_from(&self.reference_name);
            programs.insert(0, program);
            return Ok(Some(0));
        }
        if self.reference_name.is_some() {
            return Err(
                Failure::new("--reference-name is not for benchmarks with parameters")
                    .help("name them with --command-name"),
            );
        }
        let mut like = (0..programs.len()).filter(|at| programs[*at].label() == *reference);
        match (like.next(), like.next()) {
            (Some(at), None) => Ok(Some(at)),
            (None, _) => Err(
                Failure::new(format!("no benchmark is called '{reference}'"))
                    .help("give --reference the name that is printed after `Benchmark N:`"),
            ),
            (Some(_), Some(_)) => Err(Failure::new(format!(
                "several benchmarks are called '{reference}'"
            ))
            .help("give each a name of its own with --command-name")),
        }
    }

    fn counts(&self) -> Result<Runs> {
        let usual = Runs::default();
        let (min, max) = match (self.runs, self.min_runs, self.max_runs) {
            (Some(runs), ..) => (runs, Some(runs)),
            (None, Some(min), max) => (min, max),
            (None, None, max) => (max.unwrap_or(usual.min).min(usual.min), max),
        };
        let time_ns = match self.min_benchmarking_time {
            None => usual.time_ns,
            Some(seconds) if seconds.is_finite() && seconds >= 0.0 => (seconds * 1e9) as u64,
            Some(seconds) => {
                return Err(Failure::new(format!(
                    "--min-benchmarking-time {seconds} is no time"
                )));
            }
        };
        Ok(Runs { min, max, time_ns })
    }

    fn outputs(&self) -> Result<Vec<Output>> {
        if self.show_output {
            return Ok(vec![Output::Inherit]);
        }
        let output = |place: &String| match place.as_str() {
            "null" => Ok(Output::Null),
            "pipe" => Ok(Output::Pipe),
            "inherit" => Ok(Output::Inherit),
            // A slip in one of these words must not make a file.
            word if Path::new(word).components().count() <= 1 && !word.starts_with("./") => Err(
                Failure::new(format!("unknown output '{word}'")).help(format!(
                    "null, pipe or inherit; './{word}' is a file of that name"
                )),
            ),
            path => Ok(Output::File(path.into())),
        };
        self.output.iter().map(output).collect()
    }

    fn failures(&self) -> Result<Failures> {
        let codes = match self.ignore_failure.as_deref() {
            None => return Ok(Failures::End),
            Some("" | "all-non-zero") => return Ok(Failures::Ignored),
            Some(codes) => codes,
        };
        let code = |word: &str| {
            word.trim().parse().map_err(|_| {
                Failure::new(format!(
                    "'{}' in --ignore-failure is not an exit code",
                    word.trim()
                ))
            })
        };
        let codes: Result<Vec<i32>> = codes.split(',').map(code).collect();
        Ok(Failures::IgnoredCodes(codes?))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn plan(words: &[&str]) -> std::result::Result<Plan, String> {
        let all = [&["hyperfine"], words].concat();
        let args = HyperfineArgs::try_parse_from(all).map_err(|error| error.to_string())?;
        args.plan().map_err(|failure| failure.message().to_owned())
    }

    fn lines(plan: &Plan) -> Vec<String> {
        plan.programs.iter().map(Program::label).collect()
    }

    #[test]
    fn runs_are_bounded_as_hyperfine_bounds_them() {
        let runs = |words: &[&str]| plan(words).map(|plan| (plan.runs.min, plan.runs.max));
        assert_eq!(runs(&["a"]), Ok((10, None)));
        assert_eq!(runs(&["-r", "3", "a"]), Ok((3, Some(3))));
        assert_eq!(runs(&["-m", "3", "a"]), Ok((3, None)));
        assert_eq!(runs(&["-M", "3", "a"]), Ok((3, Some(3))));
        assert_eq!(runs(&["-M", "30", "a"]), Ok((10, Some(30))));
        assert_eq!(runs(&["-m", "2", "-M", "5", "a"]), Ok((2, Some(5))));
        for wrong in [
            &["-m", "6", "-M", "5", "a"][..],
            &["-r", "0", "a"],
            &["-r", "2", "-m", "1", "a"],
        ] {
            assert!(runs(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_reference_is_the_first_command_or_one_of_those_with_parameters() {
        let found = plan(&["--reference", "r", "--reference-name", "R", "a"]).unwrap();
        assert_eq!(
            (lines(&found), found.reference),
            (vec!["R".into(), "a".into()], Some(0))
        );
        let found = plan(&["-L", "x", "1,2", "--reference", "a 2", "a {x}"]).unwrap();
        assert_eq!(
            (lines(&found), found.reference),
            (vec!["a 1".into(), "a 2".into()], Some(1))
        );
        for wrong in [
            &["-L", "x", "1,2", "--reference", "b", "a {x}"][..],
            &["-L", "x", "1,2", "--reference", "n", "-n", "n", "a {x}"],
            &["--reference-name", "R", "a"],
        ] {
            assert!(plan(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn shells_outputs_and_failures_are_understood() {
        assert_eq!(plan(&["-N", "a"]).unwrap().shell, Shell::None);
        assert_eq!(plan(&["-S", "none", "a"]).unwrap().shell, Shell::None);
        assert_eq!(
            plan(&["-S", "x", "--shell=bash -e", "a"])
                .unwrap()
                .shell
                .to_string(),
            "bash -e"
        );
        assert!(plan(&["-N", "-S", "sh", "a"]).is_err() && plan(&["-S", "", "a"]).is_err());
        let output = |place: &str| plan(&["--output", place, "a"]).map(|plan| plan.outputs);
        assert_eq!(output("pipe"), Ok(vec![Output::Pipe]));
        assert_eq!(output("./null"), Ok(vec![Output::File("./null".into())]));
        assert!(output("nul").is_err());
        let failures = |word: &str| plan(&[word, "a"]).map(|plan| plan.failures);
        assert_eq!(failures("-i"), Ok(Failures::Ignored));
        assert_eq!(
            failures("--ignore-failure=1, 2"),
            Ok(Failures::IgnoredCodes(vec![1, 2]))
        );
        assert!(failures("-i=x").is_err());
        assert!(plan(&["-p", "x", "-p", "y", "a"]).is_err());
        assert!(plan(&[]).is_err() && plan(&[""]).is_err());
        assert!(plan(&["--input", "/no/such/file", "a"]).is_err());
    }
}
