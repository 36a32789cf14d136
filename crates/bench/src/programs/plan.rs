//! What is to be run: command lines, what goes around them, and how often.

use std::path::PathBuf;

use super::{Error, Shell};

/// Most runs of one command: no clock could be so coarse that more are needed.
pub const RUNS_MAX: u64 = 10_000_000;

/// A parameter and its value.
pub type Parameter = (String, String);

/// A command line that is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// What tables call it; without one, its line. `{parameter}` stands for a value here, too.
    pub name: Option<String>,
    template: String,
    parameters: Vec<Parameter>,
}

impl Program {
    /// A command line.
    #[must_use]
    pub fn new(line: &str) -> Self {
        Self {
            name: None,
            template: line.to_owned(),
            parameters: Vec::new(),
        }
    }

    /// Sets its parameters.
    #[must_use]
    pub fn parameters(mut self, parameters: Vec<Parameter>) -> Self {
        self.parameters = parameters;
        self
    }

    /// The values of its parameters, with whether the line uses them.
    pub fn values(&self) -> impl Iterator<Item = (&Parameter, bool)> {
        let used = |name: &str| self.template.contains(&format!("{{{name}}}"));
        self.parameters
            .iter()
            .map(move |parameter| (parameter, used(&parameter.0)))
    }

    /// The line with its values.
    #[must_use]
    pub fn line(&self) -> String {
        self.fill(&self.template)
    }

    /// The name with its values; without a name, the line.
    #[must_use]
    pub fn name(&self) -> String {
        self.fill(self.name.as_ref().unwrap_or(&self.template))
    }

    /// The name, and the values that the line does not show: `make (threads = 2)`.
    #[must_use]
    pub fn label(&self) -> String {
        let unused = self.values().filter(|(_, used)| !used);
        let unused: Vec<String> = unused
            .map(|((name, value), _)| format!("{name} = {value}"))
            .collect();
        match unused.is_empty() {
            true => self.name(),
            false => format!("{} ({})", self.name(), unused.join(", ")),
        }
    }

    /// A text with the values of this program. What a value brings is not replaced again.
    #[must_use]
    pub fn fill(&self, template: &str) -> String {
        let mut filled = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            let found = self.parameters.iter().find_map(|(name, value)| {
                let after = rest[1..].strip_prefix(name.as_str())?;
                Some((value, after.strip_prefix('}')?))
            });
            match found {
                Some((value, after)) => {
                    filled.push_str(value);
                    rest = after;
                }
                None => {
                    filled.push('{');
                    rest = &rest[1..];
                }
            }
        }
        filled + rest
    }
}

/// How many runs of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runs {
    /// At least.
    pub min: u64,
    /// At most.
    pub max: Option<u64>,
    /// As many as fit into this time, within the two.
    pub time_ns: u64,
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            min: 10,
            max: None,
            time_ns: 3_000_000_000,
        }
    }
}

impl Runs {
    /// The number of runs of which one takes this long, with all that belongs to it.
    #[must_use]
    pub(super) fn of(&self, one_ns: f64) -> u64 {
        let fit = (self.time_ns as f64 / one_ns.max(1.0)) as u64;
        let wanted = fit.max(self.min);
        self.max
            .map_or(wanted, |max| wanted.min(max))
            .clamp(1, RUNS_MAX)
    }
}

/// Where the output of commands goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Output {
    /// Nowhere, which commands can see.
    #[default]
    Null,
    /// Through a pipe, to nowhere.
    Pipe,
    /// To where the output of this process goes.
    Inherit,
    /// To a file, which each run writes anew.
    File(PathBuf),
}

/// What becomes of commands that fail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Failures {
    /// They end the measurement.
    #[default]
    End,
    /// They count as others do.
    Ignored,
    /// Those with one of these exit codes count as others do.
    IgnoredCodes(Vec<i32>),
}

impl Failures {
    /// Whether a run that ended so ends the measurement.
    #[must_use]
    pub(super) fn end(&self, exit_code: Option<i32>) -> bool {
        match self {
            Self::End => true,
            Self::Ignored => false,
            Self::IgnoredCodes(codes) => exit_code.is_none_or(|code| !codes.contains(&code)),
        }
    }
}

/// What is to be measured, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The command lines, the reference first if it is one of its own.
    pub programs: Vec<Program>,
    /// What they are compared with, by its number; without one, the fastest.
    pub reference: Option<usize>,
    /// What runs them.
    pub shell: Shell,
    /// Runs of each that are not measured.
    pub warmup: u64,
    /// Runs of each that are.
    pub runs: Runs,
    /// Before all runs of a program.
    pub setup: Option<String>,
    /// Before each run: none, one for all programs, or one each.
    pub prepare: Vec<String>,
    /// After each run, likewise.
    pub conclude: Vec<String>,
    /// After all runs of a program.
    pub cleanup: Option<String>,
    /// Where output goes: for all programs, or one each.
    pub outputs: Vec<Output>,
    /// Where input comes from; without one, from nowhere.
    pub input: Option<PathBuf>,
    /// What becomes of programs that fail.
    pub failures: Failures,
    /// Seed of random orders.
    pub seed: u64,
}

impl Plan {
    /// Whether what is given once for each program fits them all.
    ///
    /// # Errors
    ///
    /// [`Error::Settings`], and [`Error::Empty`] without a program.
    pub fn check(&self) -> Result<(), Error> {
        let programs = self.programs.len();
        if programs == 0 {
            return Err(Error::Empty);
        }
        let counts = [
            ("--prepare", self.prepare.len()),
            ("--conclude", self.conclude.len()),
            ("--output", self.outputs.len()),
        ];
        for (flag, count) in counts {
            if count > 1 && count != programs {
                return Err(Error::Settings(format!(
                    "{flag} is given {count} times for {programs} commands (a reference is one of them): give it once, or once for each"
                )));
            }
        }
        if self.runs.max.is_some_and(|max| max < self.runs.min) {
            return Err(Error::Settings(
                "no number of runs is at least --min-runs and at most --max-runs".to_owned(),
            ));
        }
        Ok(())
    }

    /// Where the output of a program goes.
    pub(super) fn output(&self, program: usize) -> Output {
        each(&self.outputs, program).cloned().unwrap_or_default()
    }

    /// What goes before each run of a program.
    pub(super) fn prepare_of(&self, program: usize) -> Option<String> {
        let line = each(&self.prepare, program)?;
        Some(self.programs.get(program)?.fill(line))
    }

    /// What goes after each run of a program.
    pub(super) fn conclude_of(&self, program: usize) -> Option<String> {
        let line = each(&self.conclude, program)?;
        Some(self.programs.get(program)?.fill(line))
    }
}

/// The one for all, or that of a program.
fn each<T>(given: &[T], program: usize) -> Option<&T> {
    match given {
        [one] => Some(one),
        many => many.get(program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_fit_into_the_time_within_their_bounds() {
        let runs = Runs::default();
        assert_eq!(runs.of(1e9), 10);
        assert_eq!(runs.of(1e6), 3_000);
        assert_eq!(runs.of(0.0), RUNS_MAX);
        assert_eq!(runs.of(f64::NAN), RUNS_MAX);
        let bounded = |min, max| Runs { min, max, ..runs };
        assert_eq!(bounded(2, Some(5)).of(1e6), 5);
        assert_eq!(bounded(7, Some(7)).of(1e12), 7);
        assert_eq!(bounded(0, None).of(f64::INFINITY), 1);
    }

    #[test]
    fn what_is_given_several_times_fits_the_programs() {
        let plan = |prepare: usize, programs: usize| Plan {
            programs: vec![Program::new("a"); programs],
            prepare: vec!["p".to_owned(); prepare],
            runs: Runs::default(),
            ..Plan::default()
        };
        for (prepare, programs, fits) in [
            (0, 1, true),
            (1, 3, true),
            (3, 3, true),
            (2, 3, false),
            (2, 1, false),
        ] {
            assert_eq!(
                plan(prepare, programs).check().is_ok(),
                fits,
                "{prepare} {programs}"
            );
        }
        assert!(matches!(plan(0, 0).check(), Err(Error::Empty)));
    }

    #[test]
    fn braces_that_are_no_parameter_stay() {
        let program = Program::new("a").parameters(vec![("n".to_owned(), "1".to_owned())]);
        for (template, filled) in [
            ("{n}{n}", "11"),
            ("{{n}}", "{1}"),
            ("${n", "${n"),
            ("{m} {", "{m} {"),
            ("é{n}é", "é1é"),
        ] {
            assert_eq!(program.fill(template), filled, "{template}");
        }
    }
}
