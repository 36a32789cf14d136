//! `perfkit zip --repair`: recovers the intact entries of an archive into a new one.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;

use files::rights::Rights;
use files::splice::Undo;
use files::target::Target;
use latency::report::{Input, LatencyName, Table, Unit};
use report::{ExitStatus, Outcome, names};
use zipstream::{Decryption, Limits, ReadAt as _, Salvage, Totals, salvage};

use crate::args::password::PasswordSource;
use crate::commands::zip::carry;
use crate::commands::zip::conclude::settle;
use crate::commands::zip::edit;
use crate::commands::zip::flags::ZipArgs;
use crate::commands::zip::pack::{Packer, Start};
use crate::commands::zip::plan::ZipPlan;
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::session::{Session, Setup};
use crate::term::progress::Progress;
use crate::term::{message, password};

/// Opens the broken archive. If only an append was interrupted, undoing that makes it intact again.
fn open(path: &Path) -> std::io::Result<File> {
    if Undo::is_there(path) {
        return edit::hold(&std::fs::canonicalize(path)?).map(edit::Held::into_file);
    }
    File::open(path)
}

/// Runs the command.
pub(super) fn run(
    args: &ZipArgs,
    plan: &ZipPlan,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let (input, output) = (&args.output, &args.paths[0]);
    let password = match &plan.encryption {
        Some((PasswordSource::File(path), _)) => Some(password::read(path)?),
        _ => None,
    };
    let session = Session::start(&Setup {
        rows: &[LatencyName::Service, LatencyName::Hold],
        ..Setup::filter(name, argv, &args.report, &args.terminal, args.force)
    })?;
    let file = open(input).map_err(|error| Failure::io("read", input, &error))?;
    let metadata = file
        .metadata()
        .map_err(|error| Failure::io("read", input, &error))?;
    if metadata.is_dir() {
        let name = input.display();
        return Err(Failure::new(format!("'{name}' is a directory")).help("name an archive"));
    }
    let target =
        Target::create(output, args.force, Some(&metadata), context()).map_err(Failure::from)?;
    let decryption = password.map(Decryption::new);
    let saved = salvage(&file, &Limits::default(), decryption);
    let saved = saved.map_err(|error| cannot(input, &error.to_string()))?;
    if saved.entries.is_empty() {
        return Err(cannot(input, "no entry of it is whole"));
    }
    let mut outcome = Outcome::new("zip");
    outcome.workload.inputs.push(Input {
        path: names::path(input),
        bytes: file.size().unwrap_or(0),
        xxh64: None,
    });
    outcome.workload.inputs_total = 1;
    let progress = Progress::start(args.terminal.wants_progress(), None);
    let single = ZipPlan {
        threads: 1,
        ..plan.clone()
    };
    let start = match saved.preceding_bytes {
        0 => Start::New,
        bytes => Start::Behind(&file, bytes),
    };
    let packer = Packer::new(&session, &single, &target, &progress, None, None, start)?;
    let carried = carry::recovered(packer, &file, &saved, &mut outcome);
    let ended = carried.and_then(|(totals, twins)| {
        // It contains what the broken archive contains, for the same users.
        target.settle_rights(Some(&metadata), &Rights::default());
        target.commit()?;
        Ok((totals, twins))
    });
    progress.finish();
    let told = ended.map(|(totals, twins)| {
        tell(&saved, twins, args.terminal.wants_warnings());
        let lost = saved.lost_entries + twins + unverified(&saved);
        outcome.complete = lost == 0 && saved.lost_bytes == 0;
        outcome.tables.push(table(&saved, &totals, twins));
        totals
    });
    settle(told, 0, &mut outcome);
    session.finish(outcome)
}

fn cannot(input: &Path, why: &str) -> Failure {
    let name = input.display();
    Failure::new(format!("nothing in '{name}' can be recovered: {why}"))
        .help("download or copy it again, if possible")
}

fn tell(saved: &Salvage, twins: u64, warn: bool) {
    if !warn {
        return;
    }
    let lost = saved.lost_entries;
    if lost + saved.lost_bytes > 0 {
        let bytes = saved.lost_bytes;
        message::remark(&format!(
            "{lost} entries are lost, and {bytes} bytes belong to none"
        ));
    }
    if twins > 0 {
        message::remark(&format!("{twins} entries have the name of one before them"));
    }
    let unverified = unverified(saved);
    if unverified > 0 {
        message::remark(&format!(
            "{unverified} entries could not be verified: their method is not read, or they are encrypted (state the \
             password with --password-file)"
        ));
    }
}

/// Entries that are copied without knowing that they are whole.
fn unverified(saved: &Salvage) -> u64 {
    saved.entries.iter().filter(|entry| !entry.verified).count() as u64
}

fn table(saved: &Salvage, totals: &Totals, twins: u64) -> Table {
    let columns = [
        ("saved_entries", Unit::Count),
        ("lost_entries", Unit::Count),
        ("unverified_entries", Unit::Count),
        ("lost_bytes", Unit::Bytes),
        ("archive_bytes", Unit::Bytes),
    ];
    let mut table = Table::new("repair", &columns);
    table.rows.push(vec![
        totals.entries.into(),
        (saved.lost_entries + twins).into(),
        unverified(saved).into(),
        saved.lost_bytes.into(),
        totals.archive_bytes.into(),
    ]);
    table
}
