//! `perfkit compress-bench`: levels and recipes against each other on the user's data.
//!
//! [`input`] reads, [`codec`] compresses, [`measure`] takes turns and times, [`runner`] puts the three
//! together for one candidate, [`rank`] judges, [`tables`] and [`matrix`] show. What connects them is here.

use std::ffi::OsString;
use std::time::Duration;

use latency::report::LatencyName;
use latency::{CpuClock, Spec};
use zstdkit::{DecoderOptions, Dictionary, EncoderOptions};

use crate::commands::checks::Checks;
use crate::commands::compress_bench::codec::{Press, Unpress};
use crate::commands::compress_bench::flags::{Choice, CompressBenchArgs, CompressBenchPlan, Mode};
use crate::commands::compress_bench::input::{self, Data, Reading};
use crate::commands::compress_bench::measure::{self, Lane, ROUNDS, Stop};
use crate::commands::compress_bench::runner::{Found, Group, Runner};
use crate::commands::compress_bench::tables::{self, Section};
use crate::commands::reference;
use crate::exit::ExitStatus;
use crate::export::units;
use crate::failure::{Failure, Result};
use crate::session::{Outcome, Session, Setup};
use crate::term::progress::Progress;
use crate::term::{message, signal};

/// What frames that are measured as they are stand under.
const STORED: &str = "as stored";

/// Runs the command.
pub(crate) fn run(
    args: &CompressBenchArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let plan = args.plan()?;
    let dictionary = args
        .dictionary
        .as_deref()
        .map(reference::dictionary)
        .transpose()?;
    let session = Session::start(&Setup {
        seed: Some(args.seed),
        rows: match plan.modes.iter().any(|mode| mode.is_stream()) {
            true => &[LatencyName::Service, LatencyName::Hold],
            false => &[LatencyName::Service],
        },
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("compress-bench");
    describe(&plan, &mut outcome);
    let bench = Bench {
        plan: &plan,
        session: &session,
        decoder: DecoderOptions::default()
            .with_window_log_max(31)
            .with_dictionaries(dictionary.clone()),
        dictionary,
    };
    let (inputs, failed) = bench.inputs(args, &mut outcome)?;
    bench.announce(&inputs, args, &mut outcome);
    bench.measure(&inputs, args, &mut outcome)?;
    if failed > 0 {
        outcome.complete = false;
        if outcome.status == ExitStatus::Ok {
            outcome.status = ExitStatus::Partial;
        }
    }
    session.finish(outcome)
}

fn describe(plan: &CompressBenchPlan, outcome: &mut Outcome) {
    let names: Vec<String> = plan.choices.iter().map(|choice| choice.name()).collect();
    let params = &mut outcome.workload.params;
    params.insert("candidates".to_owned(), names.into());
    params.insert("threads".to_owned(), plan.threads.into());
    let streaming = plan.modes.iter().any(|mode| mode.is_stream());
    params.insert("streaming".to_owned(), streaming.into());
    params.insert("matrix".to_owned(), plan.matrix.into());
    params.insert("rounds_max".to_owned(), ROUNDS.into());
    params.insert("zstd".to_owned(), zstdkit::version().into());
}

struct Bench<'a> {
    plan: &'a CompressBenchPlan,
    session: &'a Session,
    decoder: DecoderOptions,
    dictionary: Option<Dictionary>,
}

impl Bench<'_> {
    fn inputs(&self, args: &CompressBenchArgs, outcome: &mut Outcome) -> Result<(Vec<Data>, u64)> {
        let hash = self.session.wants_hashes();
        if args.files.is_empty() {
            let workload = &mut outcome.workload;
            return Ok((input::generated(args.size, args.seed, hash, workload), 0));
        }
        let reading = Reading {
            recursive: args.recursive,
            stored: self.plan.decompress_only,
            decoder: &self.decoder,
            hash,
            room_bytes: self.room_bytes(),
        };
        reading.read(&args.files, &mut outcome.workload)
    }

    fn room_bytes(&self) -> u64 {
        Reading::room_bytes(self.session.environment().memory_bytes)
    }

    /// The sizes of blocks that an input is cut into; frames are not cut.
    fn sizes(&self, data: &Data) -> &[Option<usize>] {
        match data.frames {
            Some(_) => &[None],
            None => &self.plan.block_bytes,
        }
    }

    /// Candidates on an input, in all sizes of blocks.
    fn count(&self, data: &Data) -> usize {
        match data.frames {
            Some(_) => 1,
            None => self.sizes(data).len() * self.plan.choices.len() * self.plan.modes.len(),
        }
    }

    /// Says how long this will take.
    fn announce(&self, inputs: &[Data], args: &CompressBenchArgs, outcome: &mut Outcome) {
        let plan = self.plan;
        let count = inputs.iter().map(|data| self.count(data)).sum::<usize>();
        let expected = plan.time * u32::try_from(count).unwrap_or(u32::MAX);
        let expected_ns = u64::try_from(expected.as_nanos()).unwrap_or(u64::MAX);
        let params = &mut outcome.workload.params;
        params.insert("expected_ns".to_owned(), expected_ns.into());
        if args.output.terminal.wants_progress() {
            message::line(&format!(
                "about {}: {} of {}, {} each",
                units::duration(expected_ns as f64),
                plural(count, "measurement"),
                plural(inputs.len(), "input"),
                units::duration(plan.time.as_nanos() as f64),
            ));
        }
    }

    /// Measures everything, or as much as there is time for until an interrupt.
    fn measure(
        &self,
        inputs: &[Data],
        args: &CompressBenchArgs,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let plan = self.plan;
        let (mut sections, mut checks) = (Vec::new(), Checks::default());
        let count: usize = inputs.iter().map(|data| self.count(data)).sum();
        let turns = count * ROUNDS as usize;
        let progress = Progress::steps(args.output.terminal.wants_progress(), turns as u64);
        let mut interrupted = signal::interrupted();
        'all: for data in inputs {
            for asked in self.sizes(data) {
                if interrupted {
                    break 'all;
                }
                let group = self.group(data, *asked)?;
                let mut runners = self.runners(&group)?;
                interrupted = match self.rounds(&mut runners, args.seed, &progress) {
                    Ok(()) => false,
                    Err(Stop::Interrupted) => true,
                    Err(Stop::Failed(failure)) => return Err(failure),
                };
                let mut all_found = Vec::with_capacity(runners.len());
                for runner in runners {
                    checks.add(runner.checked, runner.wrong);
                    all_found.push(report(runner, outcome));
                }
                sections.push(Section {
                    data: data.name.clone(),
                    block_bytes: group.block_bytes() as u64,
                    asked: *asked,
                    found: all_found,
                });
            }
        }
        progress.finish();
        outcome.ops = Some(sections.iter().flat_map(|s| &s.found).map(|f| f.ops).sum());
        outcome.tables = tables::tables(&sections, plan);
        checks.conclude(
            "round trip of every pass, compared outside the timed spans",
            outcome,
        );
        Ok(())
    }

    fn rounds(
        &self,
        runners: &mut [Runner<'_>],
        seed: u64,
        progress: &Progress,
    ) -> std::result::Result<(), Stop> {
        let floor_ns = self.session.environment().clock_floor_ns.unwrap_or(0);
        for runner in &mut *runners {
            runner.warm_up(self.plan.time, floor_ns)?;
        }
        measure::rounds(runners, self.plan.time, seed, || progress.add(1))
    }

    fn group<'g>(&self, data: &'g Data, asked: Option<usize>) -> Result<Group<'g>> {
        let room = self.room_bytes();
        if data.overhead_bytes(asked) > room {
            return Err(
                Failure::new(format!("{} has too many blocks of this size", data.name))
                    .help("name larger blocks with -B, or measure a part of the data"),
            );
        }
        Ok(Group::new(data, asked, room))
    }

    fn runners<'g>(&self, group: &'g Group<'g>) -> Result<Vec<Runner<'g>>> {
        let modes = &self.plan.modes;
        if group.data.frames.is_some() {
            return Ok(vec![self.runner(group, None, modes[0])?]);
        }
        let mut runners = Vec::with_capacity(self.plan.choices.len() * modes.len());
        for choice in &self.plan.choices {
            for mode in modes {
                runners.push(self.runner(group, Some(*choice), *mode)?);
            }
        }
        // Contexts take their memory with the first operation, which comes after this.
        let predicted = runners.iter().filter_map(|runner| runner.predicted_bytes);
        let predicted: u64 = predicted.sum();
        match self.session.environment().memory_bytes {
            Some(memory) if predicted > memory / 2 => Err(Failure::new(format!(
                "{} would take {} of memory for their contexts",
                plural(runners.len(), "candidate"),
                units::bytes(predicted as f64)
            ))
            .help("measure fewer at a time, or smaller blocks with -B")),
            _ => Ok(runners),
        }
    }

    fn runner<'g>(
        &self,
        group: &'g Group<'g>,
        choice: Option<Choice>,
        mode: Mode,
    ) -> Result<Runner<'g>> {
        let plan = self.plan;
        let choice_name = choice.map_or_else(|| STORED.to_owned(), Choice::name);
        let name = match mode.is_stream() && plan.matrix {
            true => format!("{choice_name} streamed"),
            false => choice_name.clone(),
        };
        let refused =
            |error: zstdkit::Error| Failure::new(format!("cannot set up {name}: {error}"));
        let content = (!mode.is_stream()).then(|| group.block_bytes() as u64);
        let options = choice.map(|choice| self.encoder(choice, group, content));
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

    fn encoder(&self, choice: Choice, group: &Group<'_>, content: Option<u64>) -> EncoderOptions {
        let mut options = match choice {
            Choice::Level(level) => EncoderOptions::default().with_level(level),
            Choice::Recipe(recipe) => recipe.options(group.content(0), content),
        };
        options.dictionary.clone_from(&self.dictionary);
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
            self.session.spec(spec)
        };
        let call = match mode {
            Mode::Flushed => "chunk",
            Mode::Whole | Mode::Stream => "call",
        };
        let holds = mode.is_stream();
        Lane::new(
            spec(LatencyName::Service, format!("{size} block")),
            holds.then(|| spec(LatencyName::Hold, call.to_owned())),
            self.session.run_start(),
            clock,
        )
    }
}

fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Adds the distributions of a candidate, or says that its answers were wrong; its figures.
fn report(mut runner: Runner<'_>, outcome: &mut Outcome) -> Found {
    if runner.wrong > 0 {
        let about = format!("{} of {}", runner.name, runner.group.data.name);
        message::failure(&runner.refused.take().unwrap_or_else(|| {
            Failure::new(format!(
                "what {about} decompresses to is not what was compressed"
            ))
            .help("please report this as a bug with the command line")
        }));
    }
    let (found, recordings) = runner.finish();
    for recording in &recordings {
        outcome.add(recording);
    }
    found
}
