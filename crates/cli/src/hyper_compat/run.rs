//! Runs a command line of hyperfine.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::Path;

use bench::Watch;
use bench::programs::{Error, Export, Interleaved, Plan, Runner, Sample, relative};
use clap::Parser as _;
use report::ExitStatus;

use super::flags::{HyperfineArgs, Style};
use super::{Children, text};
use crate::args::{Answer, Color};
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
    match measure(&args) {
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
fn measure(args: &HyperfineArgs) -> Result<()> {
    let plan = args.plan()?;
    args.files().check()?;
    let screen = Screen::new(args);
    for (_, _, path) in args
        .exports()
        .filter(|(_, _, path)| *path != Path::new("-"))
    {
        // Found out before an hour of measuring.
        write(path, "")?;
    }
    let mut runner = Runner::new(&plan, Children, &screen)?;
    runner.calibrate()?;
    let (samples, interleaved) = match args.interleaves() {
        true => rounds(args, &plan, &mut runner, &screen)?,
        false => (one_by_one(args, &plan, &mut runner, &screen)?, None),
    };
    let sorted = args.sorts_summary();
    if screen.prints && samples.len() > 1 {
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
        message::output(content(export, args, &plan, &samples).as_bytes())?;
    }
    Ok(())
}

/// Each command after the other, as hyperfine does.
fn one_by_one(
    args: &HyperfineArgs,
    plan: &Plan,
    runner: &mut Runner<'_, Children>,
    screen: &Screen,
) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for index in 0..plan.programs.len() {
        screen.print(&text::heading(plan, index))?;
        let sample = runner.measure(index)?;
        show(&sample, args, plan, screen)?;
        runner.clean_up(index)?;
        samples.push(sample);
        // What was measured is kept if a later command fails.
        export(args, plan, &samples)?;
    }
    Ok(samples)
}

/// All commands in rounds.
fn rounds(
    args: &HyperfineArgs,
    plan: &Plan,
    runner: &mut Runner<'_, Children>,
    screen: &Screen,
) -> Result<(Vec<Sample>, Option<Interleaved>)> {
    let found = runner.interleaved()?;
    for (index, sample) in found.samples.iter().enumerate() {
        screen.print(&text::heading(plan, index))?;
        show(sample, args, plan, screen)?;
    }
    export(args, plan, &found.samples)?;
    for index in 0..plan.programs.len() {
        runner.clean_up(index)?;
    }
    Ok((found.samples.clone(), Some(found)))
}

fn show(sample: &Sample, args: &HyperfineArgs, plan: &Plan, screen: &Screen) -> Result<()> {
    screen.print(&text::result(sample, args.time_unit))?;
    let warnings = text::warnings(sample, plan);
    if !warnings.is_empty() {
        // Without a terminal there is nothing left to say.
        let _ = write_stderr(text::warned(&warnings).as_bytes());
    }
    Ok(())
}

/// Writes all files anew.
fn export(args: &HyperfineArgs, plan: &Plan, samples: &[Sample]) -> Result<()> {
    for (_, export, path) in args
        .exports()
        .filter(|(_, _, path)| *path != Path::new("-"))
    {
        write(path, &content(export, args, plan, samples))?;
    }
    Ok(())
}

fn content(export: Export, args: &HyperfineArgs, plan: &Plan, samples: &[Sample]) -> String {
    export.content(samples, args.time_unit, args.sorted(), plan.reference)
}

fn write(path: &Path, content: &str) -> Result<()> {
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
