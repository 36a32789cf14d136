//! `perfkit zip-bench`: the writer for files against the one for tokio. How they are measured is in
//! `bench::zip`.

use std::ffi::OsString;
use std::sync::Arc;

use bench::zip::{self, CONTENT_BYTES, Plan};
use latency::report::LatencyName;
use report::{ExitStatus, Outcome};
use zstdkit::workload::{self, Kind};

use crate::commands::content;
use crate::commands::watch::Watcher;
use crate::commands::zip_bench::flags::ZipBenchArgs;
use crate::commands::zip_bench::memory;
use crate::failure::Result;
use crate::session::{Session, Setup};
use crate::term::live::Live;
use crate::term::signal;

/// The line that is repeated.
const LINE: &[u8] =
    b"One line of some length, repeated until the entry is as large as it shall be.\n";

/// Contents by name.
type Contents = Vec<(&'static str, Arc<[u8]>)>;

/// Runs the command.
pub(crate) fn run(
    args: &ZipBenchArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    if let Some(way) = args.once {
        return memory::once(args, way);
    }
    let live = Live::start(args.live.live, "zip-bench");
    let session = Session::start(&Setup {
        live: live.as_ref().map(Live::rows),
        seed: Some(args.seed),
        rows: &[
            LatencyName::Service,
            LatencyName::Hold,
            LatencyName::Response,
        ],
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("zip-bench");
    // The text that is last is that of the user, where there is one.
    let contents = contents(args, &mut outcome)?;
    let mut plan = Plan::new(args.rounds, args.level);
    plan.quick = args.quick;
    let watcher = Watcher::new(args.output.terminal.wants_progress()).live(live.as_ref());
    zip::run(&plan, &contents, watcher.of(&session), &mut outcome)?;
    drop(live);
    if !signal::interrupted() {
        outcome.tables.extend(memory::table(args)?);
    }
    if signal::interrupted() {
        outcome.complete = false;
        outcome.status = ExitStatus::Interrupted;
    }
    session.finish(outcome)
}

/// What is packed, by name.
fn contents(args: &ZipBenchArgs, outcome: &mut Outcome) -> Result<Contents> {
    let line: Vec<u8> = LINE.iter().copied().cycle().take(CONTENT_BYTES).collect();
    let source = workload::generate(Kind::Source, args.seed, CONTENT_BYTES);
    let mut contents = vec![("line", Arc::from(line)), ("source", Arc::from(source))];
    if !args.files.is_empty() {
        let mut own = content::read(&args.files, outcome)?;
        own.truncate(CONTENT_BYTES);
        contents.push(("files", Arc::from(own)));
    }
    Ok(contents)
}
