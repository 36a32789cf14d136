//! Runs a command line of hyperfine.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs::{Metadata, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Instant;

use bench::Watch;
use bench::programs::{self, Error, Export, Interleaved, Plan, Runner, Sample, relative};
use clap::Parser as _;
use latency::report::Input;
use report::saved::Stated;
use report::units::counted;
use report::{ExitStatus, names};

use super::flags::{Form, HyperfineArgs, Style};
use super::page::{When, page};
use super::{Children, text};
use crate::args::{Answer, Color};
use crate::built;
use crate::failure::{Failure, Result};
use crate::term::color::{self, write_stderr};
use crate::term::message::{self, Voice};
use crate::term::progress::Progress;
use crate::term::signal::{self, Ending};

pub(super) fn run(words: &[OsString]) -> ExitStatus {
    // The word that its errors start with.
    message::set_voice(Voice {
        name: "Error",
        failures: true,
    });
    let argv = std::iter::once(OsString::from(super::NAME)).chain(words.iter().cloned());
    let args = match HyperfineArgs::try_parse_from(argv) {
        Ok(args) => args,
        Err(error) => {
            let text = error.render().ansi().to_string();
            return message::answer(&match error.use_stderr() {
                true => Answer::Mistake(text),
                false => Answer::Asked(text),
            });
        }
    };
    signal::install(Ending::BetweenSteps);
    match measure(&args, words) {
        Ok(()) => ExitStatus::Ok,
        Err(failure) => {
            if failure.exit_status() != ExitStatus::Interrupted {
                message::failure(&failure);
            }
            failure.exit_status()
        }
    }
}

/// Measures all commands, prints and exports what they come to.
fn measure(args: &HyperfineArgs, words: &[OsString]) -> Result<()> {
    let plan = args.plan()?;
    args.files().check()?;
    let screen = Screen::new(args);
    let exports = args.exports().map(|(_, _, path)| path);
    let _opened = Opened::all(exports.filter(|path| *path != Path::new("-")))?;
    let mut runner = Runner::new(&plan, Children, &screen)?;
    runner.calibrate()?;
    let job = Job {
        args,
        plan: &plan,
        floor_ns: runner.floor_ns(),
        screen: &screen,
        stated: stated(words, args, &plan, &runner),
        began: (jiff::Timestamp::now(), Instant::now()),
    };
    let (samples, interleaved) = match args.interleaves() {
        true => job.rounds(&mut runner)?,
        false => (job.one_by_one(&mut runner)?, None),
    };
    let sorted = args.sorts_summary();
    if job.screen.prints && samples.len() > 1 {
        let paired = interleaved.is_some();
        let shown = match relative(&samples, plan.reference, interleaved.as_ref(), sorted) {
            Some(found) if sorted => text::summary(&samples, &found, paired),
            Some(found) => text::comparison(&samples, &found, plan.reference.is_some(), paired),
            None => {
                message::note(
                    "a mean is 0, so there is nothing to compare: the start of the shell was as long as the command",
                    "measure without a shell: -N",
                );
                String::new()
            }
        };
        message::output(shown.as_bytes())?;
    }
    for (_, export, _) in args
        .exports()
        .filter(|(_, _, path)| *path == Path::new("-"))
    {
        message::output(&job.content(export, &samples, interleaved.as_ref())?)?;
    }
    match samples.iter().find(|sample| sample.cut_short) {
        Some(sample) => {
            let rounds = sample.runs.len() as u64;
            let rounds = match args.interleaves() {
                true => counted(rounds, ["finished round", "finished rounds"]),
                false => counted(rounds, ["finished run", "finished runs"]),
            };
            message::note(
                &format!("interrupted: this is of {rounds}"),
                "the files are written, and marked in JSON as cut_short",
            );
            Err(Error::Stopped.into())
        }
        None => Ok(()),
    }
}

/// Files to write that were not there: what is still empty at the end is taken away.
struct Opened(Vec<PathBuf>);

impl Opened {
    /// Finds out before an hour of measuring which file cannot be written. One that is there keeps what is in it until
    /// there is something new.
    fn all<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<Self> {
        let mut opened = Self(Vec::new());
        for path in paths {
            let is_new = !path.exists();
            let mut options = OpenOptions::new();
            let file = options.write(true).create(true).truncate(false).open(path);
            file.map_err(|error| Failure::io("write", path, &error))?;
            if is_new {
                opened.0.push(path.to_owned());
            }
        }
        Ok(opened)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        for path in &self.0 {
            let is_empty = |found: Metadata| found.is_file() && found.len() == 0;
            if std::fs::metadata(path).is_ok_and(is_empty) {
                // What cannot be removed is empty, and so says nothing wrong.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// What to measure, and what becomes of it.
struct Job<'a> {
    args: &'a HyperfineArgs,
    plan: &'a Plan,
    /// What a run takes that does nothing.
    floor_ns: Option<f64>,
    screen: &'a Screen,
    /// Which run it is, for those who want to run it again.
    stated: Stated,
    began: (jiff::Timestamp, Instant),
}

type Measuring<'a> = Runner<'a, Children>;

impl Job<'_> {
    /// Each command after the other, as hyperfine does.
    fn one_by_one(&self, runner: &mut Measuring<'_>) -> Result<Vec<Sample>> {
        let mut samples = Vec::new();
        for index in 0..self.plan.programs.len() {
            self.screen.print(&text::heading(self.plan, index))?;
            let sample = runner.measure(index)?;
            self.show(&sample)?;
            let is_cut = sample.cut_short;
            // After an interrupt nothing is started any more.
            if !is_cut {
                runner.clean_up(index)?;
            }
            samples.push(sample);
            // What was measured is kept if a later command fails.
            self.export(&samples, None)?;
            if is_cut {
                break;
            }
        }
        Ok(samples)
    }

    /// All commands in rounds.
    fn rounds(&self, runner: &mut Measuring<'_>) -> Result<(Vec<Sample>, Option<Interleaved>)> {
        let found = runner.interleaved()?;
        for (index, sample) in found.samples.iter().enumerate() {
            self.screen.print(&text::heading(self.plan, index))?;
            self.show(sample)?;
        }
        self.export(&found.samples, Some(&found))?;
        // After an interrupt nothing is started any more.
        let complete = !found.samples.iter().any(|sample| sample.cut_short);
        for index in (0..self.plan.programs.len()).filter(|_| complete) {
            runner.clean_up(index)?;
        }
        Ok((found.samples.clone(), Some(found)))
    }

    fn show(&self, sample: &Sample) -> Result<()> {
        self.screen
            .print(&text::result(sample, self.args.time_unit))?;
        let warnings = text::warnings(sample, self.plan, self.floor_ns);
        if !warnings.is_empty() {
            // Without a terminal there is nothing left to say.
            let _ = write_stderr(text::warned(&warnings).as_bytes());
        }
        Ok(())
    }

    /// Writes all files anew.
    fn export(&self, samples: &[Sample], interleaved: Option<&Interleaved>) -> Result<()> {
        let exports = self.args.exports();
        for (_, form, path) in exports.filter(|(_, _, path)| *path != Path::new("-")) {
            write(path, &self.content(form, samples, interleaved)?)?;
        }
        Ok(())
    }

    fn content(
        &self,
        form: Form,
        samples: &[Sample],
        interleaved: Option<&Interleaved>,
    ) -> Result<Vec<u8>> {
        let (args, plan) = (self.args, self.plan);
        Ok(match form {
            Form::Of(Export::Json) => Export::json_of(samples, self.stated.to_json()).into_bytes(),
            Form::Of(export) => export
                .content(samples, args.time_unit, args.sorted(), plan.reference)
                .into_bytes(),
            Form::Page => {
                let (began, start) = self.began;
                let took_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
                let when = When { began, took_ns };
                page(plan, samples, interleaved, &self.stated, when)?
            }
        })
    }
}

/// Command lines whose programs are named in the file.
const PROGRAMS_MAX: usize = 100;

/// What a file says of the run that wrote it.
fn stated(words: &[OsString], args: &HyperfineArgs, plan: &Plan, runner: &Measuring<'_>) -> Stated {
    let mut argv = vec!["perfkit".to_owned(), super::NAME.to_owned()];
    argv.extend(words.iter().map(|word| names::word(word)));
    let mut environment = latency::environment::capture();
    environment.start_floor_ns = runner.floor_ns().map(|ns| ns.round() as u64);
    let mut programs: Vec<Input> = Vec::new();
    // They are looked at for a file alone.
    let named = args.exports().next().map_or(0, |_| PROGRAMS_MAX);
    for program in plan.programs.iter().take(named) {
        let words = programs::words(&program.line()).unwrap_or_default();
        for found in programs::identities(words.iter().map(OsStr::new)) {
            if !programs.contains(&found) {
                programs.push(found);
            }
        }
    }
    Stated {
        tool: built::tool(),
        argv,
        environment,
        inputs: Vec::new(),
        programs,
    }
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    std::fs::write(path, content).map_err(|error| Failure::io("write", path, &error))
}

/// What is printed, and the bar that says how far it is.
struct Screen {
    prints: bool,
    bar: bool,
    progress: RefCell<Option<Progress>>,
}

impl Screen {
    fn new(args: &HyperfineArgs) -> Self {
        let own = |style: Style| match style {
            Style::Auto if args.shows_output() => Style::Basic,
            style => style,
        };
        let style = own(args.style);
        color::set_choice(match style {
            Style::Full | Style::Color => Color::Always,
            Style::Basic | Style::NoColor => Color::Never,
            Style::Auto | Style::None => Color::Auto,
        });
        Self {
            prints: style != Style::None,
            bar: matches!(style, Style::Auto | Style::Full | Style::NoColor),
            progress: RefCell::new(None),
        }
    }

    fn print(&self, text: &str) -> Result<()> {
        match self.prints {
            true => message::output(text.as_bytes()),
            false => Ok(()),
        }
    }
}

impl Watch for Screen {
    fn is_stopped(&self) -> bool {
        signal::interrupted()
    }

    fn expect(&self, steps: u64) {
        self.finish();
        *self.progress.borrow_mut() = Some(Progress::steps(self.bar, steps));
    }

    fn advance(&self, steps: u64) {
        if let Some(progress) = self.progress.borrow().as_ref() {
            progress.add(steps);
        }
    }

    fn finish(&self) {
        if let Some(progress) = self.progress.borrow_mut().take() {
            progress.finish();
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::new(error.to_string());
        match error {
            Error::Stopped => failure.status(ExitStatus::Interrupted),
            Error::Failed { .. } => failure
                .help("-i goes on in spite of failures, and --show-output shows what went wrong"),
            Error::Intermediate { .. } => {
                failure.help("append ' || true' to it if its failure does not matter")
            }
            Error::Start { error, .. } => failure.next_step("run", error.kind()),
            Error::Shell { .. } => failure.help("name another shell (-S), or use none (-N)"),
            Error::File { verb, path, error } => Self::io(verb, &path, &error),
            _ => failure,
        }
    }
}
