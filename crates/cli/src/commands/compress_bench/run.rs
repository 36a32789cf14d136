//! `perfkit compress-bench`: levels and recipes against each other on the user's data.
//!
//! [`input`] reads; how candidates are measured and judged is in `bench::compress`.

use std::ffi::OsString;

use bench::compress::{self, Data, Plan, ROUNDS};
use latency::report::LatencyName;
use report::{ExitStatus, Outcome, units};
use zstdkit::DecoderOptions;

use crate::commands::compress_bench::flags::CompressBenchArgs;
use crate::commands::compress_bench::input::{self, Reading};
use crate::commands::reference;
use crate::commands::watch::Watcher;
use crate::failure::Result;
use crate::session::{Session, Setup};
use crate::term::live::Live;
use crate::term::message;

/// Runs the command.
pub(crate) fn run(
    args: &CompressBenchArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let mut plan = args.plan()?;
    plan.dictionary = args
        .dictionary
        .as_deref()
        .map(reference::dictionary)
        .transpose()?;
    let live = Live::start(args.live.live, "compress-bench");
    let session = Session::start(&Setup {
        live: live.as_ref().map(Live::rows),
        seed: Some(args.seed),
        rows: match plan.modes.iter().any(|mode| mode.is_stream()) {
            true => &[LatencyName::Service, LatencyName::Hold],
            false => &[LatencyName::Service],
        },
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("compress-bench");
    describe(&plan, &mut outcome);
    let (inputs, failed) = inputs(&plan, &session, args, &mut outcome)?;
    announce(&plan, &inputs, args, &mut outcome);
    let watcher = Watcher::new(args.output.terminal.wants_progress()).live(live.as_ref());
    compress::run(&plan, &inputs, watcher.of(&session), &mut outcome)?;
    drop(live);
    if failed > 0 {
        outcome.complete = false;
        if outcome.status == ExitStatus::Ok {
            outcome.status = ExitStatus::Partial;
        }
    }
    session.finish(outcome)
}

fn describe(plan: &Plan<'_>, outcome: &mut Outcome) {
    let names = plan.candidates.iter().map(|candidate| candidate.name());
    let names: Vec<String> = names.map(str::to_owned).collect();
    let params = &mut outcome.workload.params;
    params.insert("candidates".to_owned(), names.into());
    params.insert("threads".to_owned(), plan.threads.into());
    let streaming = plan.modes.iter().any(|mode| mode.is_stream());
    params.insert("streaming".to_owned(), streaming.into());
    params.insert("matrix".to_owned(), plan.matrix.into());
    params.insert("rounds_max".to_owned(), ROUNDS.into());
    params.insert("zstd".to_owned(), zstdkit::version().into());
}

fn inputs(
    plan: &Plan<'_>,
    session: &Session,
    args: &CompressBenchArgs,
    outcome: &mut Outcome,
) -> Result<(Vec<Data>, u64)> {
    let (hash, workload) = (session.wants_hashes(), &mut outcome.workload);
    if args.files.is_empty() {
        return Ok((input::generated(args.size, args.seed, hash, workload), 0));
    }
    let decoder = DecoderOptions::default()
        .with_window_log_max(31)
        .with_dictionaries(plan.dictionary.clone());
    let reading = Reading {
        recursive: args.recursive,
        stored: plan.decompress_only,
        decoder: &decoder,
        hash,
        room_bytes: compress::room_bytes(session.environment().memory_bytes),
    };
    reading.read(&args.files, workload)
}

/// Says how long this will take.
fn announce(plan: &Plan<'_>, inputs: &[Data], args: &CompressBenchArgs, outcome: &mut Outcome) {
    let count = compress::count(plan, inputs);
    let expected = plan.time * u32::try_from(count).unwrap_or(u32::MAX);
    let expected_ns = u64::try_from(expected.as_nanos()).unwrap_or(u64::MAX);
    let params = &mut outcome.workload.params;
    params.insert("expected_ns".to_owned(), expected_ns.into());
    if args.output.terminal.wants_progress() {
        message::line(&format!(
            "about {}: {} of {}, {} each",
            units::duration(expected_ns as f64),
            units::counted(count as u64, ["measurement", "measurements"]),
            units::counted(inputs.len() as u64, ["input", "inputs"]),
            units::duration(plan.time.as_nanos() as f64),
        ));
    }
}
