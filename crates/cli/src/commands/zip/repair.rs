//! `perfkit zip --repair`: recovers the intact entries of an archive into a new one.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;

use files::rights::Rights;
use files::splice::Undo;
use files::target::Target;
use latency::report::{Input, LatencyName, Table, Unit};
use report::{ExitStatus, Outcome, names};
use zipstream::{Decryption, Limits, ReadAt as _, Salvage, Salvaged, Totals, salvage};

use crate::args::password::PasswordSource;
use crate::commands::transfer::Stop;
use crate::commands::zip::edit;
use crate::commands::zip::flags::{ZipArgs, ZipPlan};
use crate::commands::zip::pack::{Carried, Packer};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::session::{Session, Setup};
use crate::term::progress::Progress;
use crate::term::{message, password};

/// Bytes per read while copying.
const READ_BYTES: usize = 128 << 10;

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
    let target = Target::create(output, args.force, Some(&metadata), context())?;
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
    let packer = Packer::new(&session, &single, &target, &progress, None, None, None)?;
    let carried = carry(packer, &file, &saved, &mut outcome);
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
    crate::commands::zip::run::settle(told, 0, &mut outcome);
    session.finish(outcome)
}

fn cannot(input: &Path, why: &str) -> Failure {
    let name = input.display();
    Failure::new(format!("nothing in '{name}' can be recovered: {why}"))
        .help("download or copy it again, if possible")
}

/// Copies the recovered entries; returns how many have the name of another one.
fn carry(
    mut packer: Packer<'_>,
    file: &File,
    saved: &Salvage,
    outcome: &mut Outcome,
) -> std::result::Result<(Totals, u64), Stop> {
    let mut names = std::collections::HashSet::new();
    let mut twins = 0;
    let mut buffer = vec![0; READ_BYTES];
    for entry in &saved.entries {
        if !names.insert(entry.raw.name_bytes()) {
            twins += 1;
            continue;
        }
        packer.carry(entry.raw.clone(), |sink| {
            let Salvaged { range, .. } = entry;
            let mut at = range.start;
            while at < range.end {
                let left = usize::try_from(range.end - at).unwrap_or(usize::MAX);
                let most = left.min(READ_BYTES);
                let read = file.read_at(&mut buffer[..most], at);
                let bytes = read.map_err(|error| {
                    Carried(Failure::io("read", Path::new("the archive"), &error).into())
                })?;
                if bytes == 0 {
                    return Err(Carried(Failure::new("the archive became shorter").into()));
                }
                sink(&buffer[..bytes])?;
                at += bytes as u64;
            }
            Ok(())
        })?;
    }
    let totals = packer.finish()?;
    outcome.bytes_out = totals.archive_bytes;
    outcome.bytes_content = totals.content_bytes;
    packer.report(outcome);
    Ok((totals, twins))
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
