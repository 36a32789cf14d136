//! All candidates on all inputs: what connects the data, the codecs, the turns and the tables.

use std::time::Duration;

use latency::report::LatencyName;
use latency::{CpuClock, Spec};
use report::{Outcome, units};
use zstdkit::{DecoderOptions, EncoderOptions};

use super::codec::{Press, Unpress};
use super::data::Data;
use super::measure::{self, Lane, ROUNDS};
use super::plan::{Candidate, Mode, Plan};
use super::runner::{Found, Group, Runner};
use super::section::Section;
use super::tables;
use crate::{Checks, Context, Error, Watch};

/// What frames that are measured as they are stand under.
const STORED: &str = "as stored";
/// What all inputs may hold when the memory of the machine is not known.
const BYTES_MAX: u64 = 1 << 30;
/// The inputs, a frame and an answer to each, and some for everything else.
const MEMORY_SHARE: u64 = 5;

/// The memory that inputs may take, in bytes, on a machine that has `memory_bytes`.
#[must_use]
pub fn room_bytes(memory_bytes: Option<u64>) -> u64 {
    memory_bytes.map_or(BYTES_MAX, |bytes| bytes / MEMORY_SHARE)
}

/// Measures every candidate on every input in turns, and adds what was found to the outcome: speeds,
/// distributions, memory and ranks. Every answer is compared with the content outside the timed spans.
/// When the watcher stops the run, the outcome has what was measured until then.
///
/// # Errors
///
/// [`Error::Failed`] where a codec refuses its settings or its input, or where contents, frames and
/// contexts do not fit into memory.
pub fn run(
    plan: &Plan<'_>,
    inputs: &[Data],
    context: Context<'_>,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    Bench::new(plan, context).measure(inputs, outcome)
}

/// How many measurements there are, each of [`Plan::time`].
#[must_use]
pub fn count(plan: &Plan<'_>, inputs: &[Data]) -> usize {
    let inputs = inputs.iter();
    inputs.map(|data| of_input(plan, data)).sum()
}

/// The sizes of blocks that an input is cut into; frames are not cut.
fn sizes<'p>(plan: &'p Plan<'_>, data: &Data) -> &'p [Option<usize>] {
    match data.frames {
        Some(_) => &[None],
        None => &plan.block_bytes,
    }
}

/// Candidates on an input, in all sizes of blocks.
fn of_input(plan: &Plan<'_>, data: &Data) -> usize {
    match data.frames {
        Some(_) => 1,
        None => sizes(plan, data).len() * plan.candidates.len() * plan.modes.len(),
    }
}

struct Bench<'a> {
    plan: &'a Plan<'a>,
    context: Context<'a>,
    decoder: DecoderOptions,
}

impl<'a> Bench<'a> {
    fn new(plan: &'a Plan<'a>, context: Context<'a>) -> Self {
        let decoder = DecoderOptions::default().with_window_log_max(31);
        Self {
            plan,
            context,
            decoder: decoder.with_dictionaries(plan.dictionary.clone()),
        }
    }

    /// Measures everything, or as much as there is time for until an interrupt.
    fn measure(&self, inputs: &[Data], outcome: &mut Outcome) -> Result<(), Error> {
        let (plan, watch) = (self.plan, self.context.watch);
        let (mut sections, mut checks) = (Vec::new(), Checks::default());
        watch.expect(count(plan, inputs) as u64 * u64::from(ROUNDS));
        let mut stopped = watch.is_stopped();
        'all: for data in inputs {
            for asked in sizes(plan, data) {
                if stopped {
                    break 'all;
                }
                watch.doing(&data.name);
                let group = self.group(data, *asked)?;
                let mut runners = self.runners(&group)?;
                stopped = match self.rounds(&mut runners) {
                    Ok(()) => false,
                    Err(Error::Stopped) => true,
                    Err(failure) => return Err(failure),
                };
                let mut all_found = Vec::with_capacity(runners.len());
                for runner in runners {
                    checks.add(runner.checked, runner.wrong);
                    all_found.push(report(runner, watch, outcome));
                }
                sections.push(Section {
                    data: data.name.clone(),
                    block_bytes: group.block_bytes() as u64,
                    asked: *asked,
                    found: all_found,
                });
            }
        }
        watch.finish();
        outcome.ops = Some(sections.iter().flat_map(|s| &s.found).map(|f| f.ops).sum());
        outcome.tables = tables::tables(&sections, plan);
        outcome.findings = tables::findings(&sections, plan);
        checks.conclude(
            "round trip of every pass, compared outside the timed spans",
            outcome,
            watch.is_stopped(),
        );
        Ok(())
    }

    fn rounds(&self, runners: &mut [Runner<'_>]) -> Result<(), Error> {
        let (plan, context) = (self.plan, self.context);
        let floor_ns = context.run.environment().clock_floor_ns.unwrap_or(0);
        for runner in &mut *runners {
            runner.warm_up(plan.time, floor_ns)?;
        }
        measure::rounds(runners, plan.time, plan.seed, || context.watch.advance(1))
    }

    fn group<'g>(&self, data: &'g Data, asked: Option<usize>) -> Result<Group<'g>, Error> {
        let room = room_bytes(self.context.run.environment().memory_bytes);
        if data.overhead_bytes(asked) > room {
            return Err(
                Error::new(format!("{} has too many blocks of this size", data.name))
                    .help("use larger blocks, or measure a part of the data"),
            );
        }
        Ok(Group::new(data, asked, room))
    }

    fn runners<'g>(&self, group: &'g Group<'g>) -> Result<Vec<Runner<'g>>, Error>
    where
        'a: 'g,
    {
        let modes = &self.plan.modes;
        if group.data.frames.is_some() {
            return Ok(vec![self.runner(group, None, modes[0])?]);
        }
        let mut runners = Vec::with_capacity(self.plan.candidates.len() * modes.len());
        for candidate in &self.plan.candidates {
            for mode in modes {
                runners.push(self.runner(group, Some(candidate), *mode)?);
            }
        }
        // Contexts take their memory with the first operation, which comes after this.
        let predicted = runners.iter().filter_map(|runner| runner.predicted_bytes);
        let predicted: u64 = predicted.sum();
        match self.context.run.environment().memory_bytes {
            Some(memory) if predicted > memory / 2 => Err(Error::new(format!(
                "{} would need {} of memory for their contexts",
                units::counted(runners.len() as u64, ["candidate", "candidates"]),
                units::bytes(predicted as f64)
            ))
            .help("measure fewer at a time, or use smaller blocks")),
            _ => Ok(runners),
        }
    }

    fn runner<'g>(
        &self,
        group: &'g Group<'g>,
        candidate: Option<&Candidate<'_>>,
        mode: Mode,
    ) -> Result<Runner<'g>, Error>
    where
        'a: 'g,
    {
        let plan = self.plan;
        let choice_name = candidate
            .map_or(STORED, |known| known.name.as_str())
            .to_owned();
        let name = match mode.is_stream() && plan.matrix {
            true => format!("{choice_name} streamed"),
            false => choice_name.clone(),
        };
        let refused = |error: zstdkit::Error| Error::new(format!("cannot set up {name}: {error}"));
        let content = (!mode.is_stream()).then(|| group.block_bytes() as u64);
        let options = candidate.map(|known| self.encoder(known, group, content));
        let press = options
            .as_ref()
            .map(|options| Press::new(options, mode))
            .transpose()
            .map_err(refused)?;
        let clock = match plan.threads {
            1 => CpuClock::Thread,
            _ => CpuClock::Process,
        };
        let lane = |direction: &str| self.lane(group, (&name, mode), direction, clock);
        Ok(Runner {
            unpress: Unpress::new(&self.decoder, mode).map_err(refused)?,
            compress: (press.is_some() && !plan.decompress_only).then(|| lane("compress")),
            decompress: lane("decompress"),
            predicted_bytes: options.map(|options| options.memory_estimate_bytes(content)),
            watch: self.context.watch,
            name,
            choice: choice_name,
            mode,
            group,
            press,
            kept: None,
            frame_bytes: 0,
            spent: Duration::ZERO,
            checked: 0,
            wrong: 0,
            refused: None,
        })
    }

    fn encoder(
        &self,
        candidate: &Candidate<'_>,
        group: &Group<'_>,
        content: Option<u64>,
    ) -> EncoderOptions {
        let mut options = (candidate.options)(group.content(0), content);
        options.dictionary.clone_from(&self.plan.dictionary);
        if self.plan.threads > 1 {
            options.workers = self.plan.threads;
            options = options.lean_jobs();
        }
        options
    }

    fn lane(
        &self,
        group: &Group<'_>,
        (name, mode): (&str, Mode),
        direction: &str,
        clock: CpuClock,
    ) -> Lane {
        let size = units::bytes(group.block_bytes() as f64);
        let series = match self.plan.block_bytes.len() {
            1 => format!("{} {name} {direction}", group.data.name),
            _ => format!("{} {name} {direction} {size}", group.data.name),
        };
        let spec = |time, operation| {
            let spec = Spec::new(time, operation).series(series.as_str());
            self.context.run.spec(spec)
        };
        let call = match mode {
            Mode::Flushed => "chunk",
            Mode::Whole | Mode::Stream => "call",
        };
        let holds = mode.is_stream();
        Lane::new(
            spec(LatencyName::Service, format!("{size} block")),
            holds.then(|| spec(LatencyName::Hold, call.to_owned())),
            self.context.run.started(),
            clock,
        )
    }
}

/// Adds the distributions of a candidate, or says that its answers were wrong; its figures.
fn report(mut runner: Runner<'_>, watch: &dyn Watch, outcome: &mut Outcome) -> Found {
    if runner.wrong > 0 {
        let about = format!("{} of {}", runner.name, runner.group.data.name);
        watch.warn(&runner.refused.take().unwrap_or_else(|| {
            Error::new(format!(
                "{about}: the decompressed content differs from the original"
            ))
            .help("please report this as a bug, with the command line")
        }));
    }
    let (found, recordings) = runner.finish();
    for recording in &recordings {
        outcome.add(recording);
    }
    found
}
