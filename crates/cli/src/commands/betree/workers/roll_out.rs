//! `perfkit betree roll-out`: another snapshot for workers that go on.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Read as _;

use latency::report::Input;
use report::{ExitStatus, Outcome, names};
use workers::nats::Bucket;

use crate::commands::absent::Wait;
use crate::commands::betree::snapshot;
use crate::commands::betree::workers::epochs::name;
use crate::commands::betree::workers::flags::RollOutArgs;
use crate::commands::nats::{access, failed, runtime};
use crate::failure::{Failure, Result};
use crate::io::open::open;
use crate::session::{Session, Setup};
use crate::term::message;

/// Runs the command.
pub(crate) fn run(
    args: &RollOutArgs,
    command: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let session = Session::start(&Setup::filter_of(command, argv, &args.output))?;
    let access = access(&args.access)?;
    let mut bytes = Vec::new();
    open(&args.snapshot, OpenOptions::new().read(true))
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|error| Failure::io("read", &args.snapshot, &error))?;
    // A snapshot that cannot be used is not handed out.
    let tree = snapshot::parse(&args.snapshot, &bytes)?;
    let epoch = name(&bytes);
    let tells = args.output.terminal.wants_warnings();
    runtime()?.block_on(async {
        let waits = Wait::new(&args.wait, tells);
        let connection = waits.connect(&args.to, &access).await?;
        let name = args.to.stream();
        let bucket = match args.create {
            true => Bucket::open_or_create(&connection, name, usize::from(args.replicas)).await,
            false => Bucket::open(&connection, name).await,
        };
        let put = bucket.map_err(failed)?;
        put.put(&args.shard, &bytes).await.map_err(failed)
    })?;
    message::output(format!("{epoch}\n").as_bytes())?;
    let mut outcome = Outcome::new("roll-out");
    outcome.bytes_in = bytes.len() as u64;
    outcome.bytes_content = outcome.bytes_in;
    outcome.workload.inputs.push(Input {
        path: names::path(&args.snapshot),
        bytes: outcome.bytes_in,
        xxh64: None,
    });
    outcome.workload.inputs_total = 1;
    let expressions = u64::try_from(tree.snapshot.len()).unwrap_or(u64::MAX);
    outcome.did(expressions, ["expression", "expressions"]);
    let params = &mut outcome.workload.params;
    params.insert("epoch".to_owned(), epoch.into());
    params.insert("shard".to_owned(), args.shard.clone().into());
    session.finish(outcome)
}
