//! `perfkit zip`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use files::rights::Rights;
use files::splice::Undo;
use files::target::{self, Target};
use files::url;
use latency::report::{Cell, Input, LatencyName, Table, Unit};
use report::{ExitStatus, INPUTS_LISTED, Outcome, names};
use zipstream::{AesStrength, ArchiveReader, Directory, Encryption, Totals};

use crate::args::password::PasswordSource;
use crate::commands::transfer::Stop;
use crate::commands::zip::flags::{Edit, ZipArgs, ZipPlan};
use crate::commands::zip::{repair, sources};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::io::open;
use crate::session::{Session, Setup};
use crate::term::progress::Progress;
use crate::term::{message, password, signal};

use crate::commands::zip::carry;
use crate::commands::zip::conclude::settle;
use crate::commands::zip::edit::Base;
use crate::commands::zip::listed::Listed;
use crate::commands::zip::pack::Packer;
use crate::commands::zip::sources::{Sources, Special};
use crate::commands::zip::verify::verify;

/// 1980-01-01, the earliest time that every reader supports.
const TIME_MIN: i64 = 315_532_800;

/// Runs the command.
pub(crate) fn run(args: &ZipArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let plan = args.plan()?;
    refuse(args)?;
    let args = &here(args, plan.edit.is_some() || args.repair)?;
    refuse_other(args, &plan)?;
    if args.repair {
        return repair::run(args, &plan, name, argv);
    }
    let fixed_time = plan.reproducible.then(source_date).transpose()?;
    let encryption = plan.encryption.as_ref().map(encryption).transpose()?;
    let session = Session::start(&Setup {
        rows: &[LatencyName::Service, LatencyName::Hold],
        ..Setup::filter(name, argv, &args.report, &args.terminal, args.force)
    })?;
    let mut found = match plan.edit {
        Some(Edit::Delete(_)) => Sources::default(),
        _ => sources::find(&args.paths, &plan, &args.output),
    };
    if found.itself && found.sources.is_empty() {
        return Err(only_itself(&args.output));
    }
    let base = base(args, &plan, &mut found)?;
    if args.terminal.wants_warnings() {
        remark(&found, plan.edit.is_some());
    }
    let progress = Progress::start(args.terminal.wants_progress(), None);
    let replaced = base.as_ref().map(|base| &base.metadata);
    let force = args.force || replaced.is_some();
    let target = match replaced {
        Some(_) => Target::create(&args.output, force, replaced, context())?,
        None => Target::create_private(&args.output, force, context())?,
    };
    if plan.verify && target.is_remote() {
        return Err(
            Failure::usage("--verify cannot test an object before it is uploaded")
                .help("test it afterwards: perfkit unzip -t URL"),
        );
    }
    let mut outcome = Outcome::new("zip");
    describe(&plan, &mut outcome);
    let mut packer = Packer::new(
        &session,
        &plan,
        &target,
        &progress,
        fixed_time,
        encryption.clone(),
        base.as_ref(),
    )?;
    packer.rights = found.rights.clone();
    let mut rights = Rights::default();
    let packed = pack(packer, base.as_ref(), &found, &mut rights, &mut outcome);
    let ended = packed.and_then(|totals| {
        if plan.verify {
            verify(&target, &plan, encryption, totals, &mut outcome)?;
        }
        // If everything failed, an empty archive is of no use.
        let failed = !found.failures.is_empty() || !outcome.complete;
        if totals.entries > 0 || !failed {
            match &base {
                Some(base) if base.goes_on().is_some() => {
                    base.go_on(&target, &totals, &rights)?;
                }
                base => appear(target, base.as_ref(), &rights)?,
            }
        }
        Ok(totals)
    });
    progress.finish();
    settle(ended, found.failures.len() as u64, &mut outcome);
    session.finish(outcome)
}

/// The same with the path of an archive on this machine that a URL names. An archive in an object store is
/// written as a whole: changing it would need all of it here.
fn here(args: &ZipArgs, changes: bool) -> Result<ZipArgs> {
    let mut args = args.clone();
    let Some(url) = url::of(&args.output) else {
        return Ok(args);
    };
    match url::local(url) {
        Some(path) => args.output = path,
        None if changes => {
            return Err(Failure::usage(format!(
                "'{url}' is in an object store and cannot be changed in place"
            ))
            .help(
                "copy it to a file (aws s3 cp, gcloud storage cp, azcopy cp), change that and copy it \
                 back; or pack all of it again with -f",
            ));
        }
        None => {}
    }
    Ok(args)
}

/// The archive that is changed, and the sources that remain to be packed.
fn base(args: &ZipArgs, plan: &ZipPlan, found: &mut Sources) -> Result<Option<Base>> {
    let Some(edit) = &plan.edit else {
        return Ok(None);
    };
    let mut base = Base::open(&args.output, plan, edit)?;
    if let Some(base) = &mut base {
        base.choose(edit, found)?;
        let plain = plan.encryption.is_none() && !args.no_encrypt;
        if base.encrypted && plain && !found.sources.is_empty() {
            let name = args.output.display();
            return Err(Failure::usage(format!(
                "'{name}' has encrypted entries, but new entries would not be encrypted"
            ))
            .help("add --password-file FILE or -e, or allow it with --no-encrypt"));
        }
    }
    Ok(base)
}

/// Makes the archive appear, replacing the one that it was made from.
fn appear(target: Target, base: Option<&Base>, rights: &Rights) -> std::result::Result<(), Stop> {
    // The same users may read the archive as before, unless they may not read the new entries.
    target.settle_rights(base.map(|base| &base.metadata), rights);
    let remote = target.is_remote();
    let stale = match &target {
        Target::File { path, .. } => Some(path.clone()),
        _ => None,
    };
    let appeared = target.commit();
    if let Some(path) = stale.filter(|_| appeared.is_ok()) {
        // What an interrupted append left belongs to the archive that is replaced.
        Undo::forget(&path);
    }
    appeared.map_err(|failure| match failure {
        _ if remote && signal::interrupted() => Stop::Interrupted,
        error => Stop::Failed(error.into()),
    })
}

/// Refuses what can only end badly, before anything is opened.
fn refuse(args: &ZipArgs) -> Result<()> {
    let mut stdin = args.paths.iter().filter(|path| path.as_os_str() == "-");
    if stdin.next().is_some() {
        if stdin.next().is_some() {
            return Err(Failure::usage("standard input is named twice"));
        }
        if !args.force && std::io::stdin().is_terminal() {
            return Err(Failure::usage("standard input is a terminal")
                .help("name a file, or pipe data in; see --help"));
        }
    }
    let to_stdout = target::is_stdout(&args.output);
    let terminal = if to_stdout {
        std::io::stdout().is_terminal()
    } else {
        target::is_terminal(&args.output)
    };
    if terminal && !args.force {
        return Err(Failure::usage("an archive is not written to a terminal")
            .help("redirect it, name a file, or add -f"));
    }
    Ok(())
}

/// Refuses to replace a file that is not an archive, whatever the flags: a file that was meant to be
/// packed, but is named first, would be lost.
fn refuse_other(args: &ZipArgs, plan: &ZipPlan) -> Result<()> {
    let path = match args.repair {
        true => &args.paths[0],
        false => &args.output,
    };
    if plan.edit.is_some() || target::is_stdout(path) || url::of(path).is_some() {
        return Ok(());
    }
    let (file, metadata) = match open::regular(path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(Failure::io("read", path, &error));
        }
        // The target reports what does not exist or is not a file.
        Err(_) => return Ok(()),
    };
    if metadata.len() == 0 || is_archive(file) {
        return Ok(());
    }
    let name = path.display();
    Err(Failure::usage(format!(
        "'{name}' is not a ZIP archive, and an archive would replace it"
    ))
    .help("the first name is the archive: perfkit zip OUT PATH...; to use this name, move the file away first"))
}

/// Whether a file is an archive, or the start of one.
fn is_archive(file: File) -> bool {
    let mut start = [0; 4];
    let read = zipstream::ReadAt::read_at(&file, &mut start, 0);
    let starts = matches!(&start, b"PK\x03\x04" | b"PK\x05\x06" | b"PK\x07\x08");
    (starts && read.is_ok_and(|bytes| bytes == start.len())) || ArchiveReader::open(file).is_ok()
}

/// How to encrypt contents; asks for the password.
fn encryption((source, strength): &(PasswordSource, AesStrength)) -> Result<Encryption> {
    let mut encryption = Encryption::new(password::new(source)?);
    encryption.strength = *strength;
    Ok(encryption)
}

/// The time of all entries of a reproducible archive.
fn source_date() -> Result<i64> {
    let Some(text) = std::env::var_os("SOURCE_DATE_EPOCH") else {
        return Ok(TIME_MIN);
    };
    let seconds = text.to_str().and_then(|text| text.parse().ok());
    seconds.ok_or_else(|| {
        Failure::usage("SOURCE_DATE_EPOCH is not a number of seconds")
            .help("set it to seconds since 1970, or unset it")
    })
}

fn remark(found: &Sources, edits: bool) {
    for Special { path, what } in &found.special {
        message::note(
            &format!("'{}' is {what} and was left out", path.display()),
            "only files, directories and links are packed",
        );
    }
    let unnamed = found.specials - found.special.len() as u64;
    if unnamed > 0 {
        message::remark(&format!(
            "{unnamed} more pipes, sockets and devices were left out"
        ));
    }
    if found.itself {
        message::note("the archive is not packed into itself", "nothing to do");
    }
    if found.sources.is_empty() && found.failures.is_empty() && !edits {
        message::note("the archive will be empty", "see --help for -r, -x and -i");
    }
}

/// The archive would replace its only source.
fn only_itself(archive: &Path) -> Failure {
    let name = match target::is_stdout(archive) {
        true => "standard output goes to a file that".to_owned(),
        false => format!("'{}'", archive.display()),
    };
    Failure::usage(format!("{name} is both the archive and its only source"))
        .help("the first name is the archive, sources follow: perfkit zip OUT PATH...")
}

fn describe(plan: &ZipPlan, outcome: &mut Outcome) {
    let params = &mut outcome.workload.params;
    params.insert("method".to_owned(), plan.method.to_string().into());
    params.insert("level".to_owned(), plan.level.into());
    params.insert("threads".to_owned(), plan.threads.into());
    let bits = plan.encryption.as_ref();
    let bits = bits.map(|(_, strength)| strength.bits());
    params.insert("aes_bits".to_owned(), bits.into());
    params.insert("reproducible".to_owned(), plan.reproducible.into());
}

/// Packs everything; what was read and written is in the outcome even after a failure.
fn pack(
    mut packer: Packer<'_>,
    base: Option<&Base>,
    found: &Sources,
    rights: &mut Rights,
    outcome: &mut Outcome,
) -> std::result::Result<Totals, Stop> {
    found.failures.iter().for_each(message::failure);
    let carried = base.map_or(Ok(0), |base| carry::kept(base, &mut packer));
    let result = carried.and_then(|carried| {
        if let Some(base) = base {
            let params = &mut outcome.workload.params;
            params.insert("kept_entries".to_owned(), carried.into());
            params.insert("dropped_entries".to_owned(), base.dropped.into());
            params.insert("in_place".to_owned(), base.goes_on().is_some().into());
        }
        // If there are only failures, there is no archive, not even on standard output.
        if base.is_none() && found.sources.is_empty() && !found.failures.is_empty() {
            return Ok(Totals::default());
        }
        pack_all(&mut packer, &found.sources, outcome)
    });
    outcome.bytes_in = packer.read_bytes;
    outcome.bytes_content = packer.read_bytes;
    *rights = std::mem::take(&mut packer.rights);
    packer.report(outcome);
    let totals = result?;
    let stays = base.and_then(Base::goes_on).map_or(0, Directory::start);
    outcome.bytes_out = totals.archive_bytes - stays;
    outcome.tables.push(table(&totals));
    Ok(totals)
}

fn pack_all(
    packer: &mut Packer<'_>,
    sources: &Listed,
    outcome: &mut Outcome,
) -> std::result::Result<Totals, Stop> {
    for source in sources.iter() {
        let before = packer.read_bytes;
        if !packer.add(&source)? {
            outcome.complete = false;
            continue;
        }
        outcome.workload.inputs_total += 1;
        if outcome.workload.inputs.len() < INPUTS_LISTED {
            outcome.workload.inputs.push(Input {
                path: names::path(&source.path),
                bytes: packer.read_bytes - before,
                xxh64: None,
            });
        }
    }
    outcome.complete &= packer.changed == 0;
    packer.finish()
}

fn table(totals: &Totals) -> Table {
    let columns = [
        ("entries", Unit::Count),
        ("content_bytes", Unit::Bytes),
        ("archive_bytes", Unit::Bytes),
        ("ratio", Unit::Ratio),
    ];
    let mut table = Table::new("archive", &columns);
    let ratio = totals.content_bytes as f64 / totals.archive_bytes as f64;
    let row: [Cell; 4] = [
        totals.entries.into(),
        totals.content_bytes.into(),
        totals.archive_bytes.into(),
        ratio.into(),
    ];
    table.rows.push(row.into());
    table
}
