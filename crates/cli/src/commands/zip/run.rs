//! `perfkit zip`.

use std::ffi::OsString;
use std::fs::Metadata;
use std::path::PathBuf;

use files::rights::Rights;
use files::splice::Undo;
use files::target::{self, Target};
use latency::report::{Cell, Input, LatencyName, Table, Unit};
use report::{ExitStatus, INPUTS_LISTED, Outcome, names};
use zipstream::{AesStrength, Directory, Encryption, Totals};

use crate::args::password::PasswordSource;
use crate::commands::transfer::{self, Stop};
use crate::commands::zip::flags::ZipArgs;
use crate::commands::zip::plan::{Edit, ZipPlan};
use crate::commands::zip::{combine, edit, moved, refuse, repair, sources};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::io::listed;
use crate::session::{Session, Setup};
use crate::term::progress::Progress;
use crate::term::{message, password, signal};

use crate::commands::zip::carry;
use crate::commands::zip::conclude::settle;
use crate::commands::zip::edit::Base;
use crate::commands::zip::listed::Listed;
use crate::commands::zip::pack::{Packer, Start};
use crate::commands::zip::sources::{Sources, Special, Wanted};
use crate::commands::zip::verify::verify;

/// 1980-01-01, the earliest time that every reader supports.
const TIME_MIN: i64 = 315_532_800;

/// Runs the command.
pub(crate) fn run(args: &ZipArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    if args.combine.is_asked() {
        return combine::run(args, name, argv);
    }
    let mut plan = args.plan()?;
    refuse::badly_ending(args)?;
    let args = &refuse::here(args, plan.edit.is_some() || args.repair)?;
    refuse::other_files(args, &plan)?;
    if args.repair {
        return repair::run(args, &plan, name, argv);
    }
    if args.read_comment {
        plan.comment = Some(listed::comment()?);
    }
    let plan = plan;
    let fixed_time = plan.reproducible.then(source_date).transpose()?;
    let encryption = plan.encryption.as_ref().map(encryption).transpose()?;
    let session = Session::start(&Setup {
        rows: &[LatencyName::Service, LatencyName::Hold],
        // A command line that skips what is there is run again as it is, its report included.
        ..Setup::filter(
            name,
            argv,
            &args.report,
            &args.terminal,
            args.force || args.skip_existing,
        )
    })?;
    let keeps = args.skip_existing && plan.edit.is_none();
    if keeps && target::is_there(&args.output, context())? {
        return session.finish(kept(args));
    }
    let mut found = match plan.edit {
        Some(Edit::Delete(_)) => Sources::default(),
        _ => sources::find(&wanted(args, &plan)?, &plan, &args.output),
    };
    refuse::objects(args, &found.sources)?;
    if found.itself && found.sources.is_empty() {
        return Err(refuse::only_itself(&args.output));
    }
    let base = base(args, &plan, &mut found)?;
    if args.terminal.wants_warnings() {
        remark(&found);
    }
    if base.is_none() && found.sources.is_empty() && found.failures.is_empty() {
        return Err(refuse::nothing(&plan));
    }
    let progress = Progress::start(args.terminal.wants_progress(), None);
    let replaced = base.as_ref().map(|base| &base.metadata);
    let force = args.force || replaced.is_some();
    // A file that is replaced keeps who may read it.
    let overwritten = match args.force && replaced.is_none() {
        true => std::fs::metadata(&args.output).ok(),
        false => None,
    };
    let overwritten = overwritten.filter(Metadata::is_file);
    let target = match replaced {
        Some(_) => Target::create(&args.output, force, replaced, context()),
        None => Target::create_private(&args.output, force, context()),
    };
    let target = match target {
        // Another process made it meanwhile.
        Err(files::Error::Exists { .. }) if keeps => return session.finish(kept(args)),
        target => target.map_err(Failure::from)?,
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
        base.as_ref().map_or(Start::New, Start::Changed),
    )?;
    packer.rights = found.rights.clone();
    let mut rights = Rights::default();
    let packed = pack(packer, base.as_ref(), &found, &mut rights, &mut outcome);
    let ended = packed.and_then(|totals| {
        if plan.verify {
            let odd = base.as_ref().is_some_and(Base::is_odd);
            verify(&target, &plan, odd, encryption, totals, &mut outcome)?;
        }
        // If everything failed, an empty archive is of no use.
        let failed = !found.failures.is_empty() || !outcome.complete;
        if keeps && failed {
            message::note(
                "no archive was made: it would lack what failed, and --skip-existing would keep it",
                "mend what failed, or leave it out (-x), and run it again",
            );
        } else if totals.entries > 0 || !failed {
            match &base {
                Some(base) if base.goes_on().is_some() => {
                    base.go_on(&target, &totals, &rights)?;
                }
                base => {
                    let before = base.as_ref().map(|base| &base.metadata);
                    let before = before.or(overwritten.as_ref());
                    let narrowed = appear(target, before, &rights, keeps)?;
                    if let Some(mode) = narrowed.filter(|_| args.terminal.wants_warnings()) {
                        message::note(
                            &format!("the archive has the mode {mode:03o}, for not everybody may read all that is in it"),
                            "chmod gives it another",
                        );
                    }
                }
            }
            if plan.moves && !failed {
                outcome.complete = moved::remove(&args.output, &found.sources);
            }
        }
        Ok(totals)
    });
    progress.finish();
    settle(ended, found.failures.len() as u64, &mut outcome);
    session.finish(outcome)
}

/// Nothing is done.
fn kept(args: &ZipArgs) -> Outcome {
    if args.terminal.wants_warnings() {
        transfer::remark_kept(1);
    }
    let mut outcome = Outcome::new("zip");
    outcome
        .workload
        .params
        .insert("targets_kept".to_owned(), 1.into());
    outcome
}

/// What is packed: the paths of the command line, those of a list, or the files of all entries.
fn wanted(args: &ZipArgs, plan: &ZipPlan) -> Result<Wanted> {
    let mut wanted = Wanted {
        named: args.paths.clone(),
        ..Wanted::default()
    };
    if let Some(list) = &args.from_file {
        // In a list, `-` is a file of that name.
        let dash = |path: PathBuf| match path.as_os_str() == "-" {
            true => PathBuf::from("./-"),
            false => path,
        };
        wanted.listed = listed::names(list)?.into_iter().map(dash).collect();
        if wanted.listed.is_empty() && wanted.named.is_empty() {
            return Err(refuse::empty_list(list));
        }
    } else if wanted.named.is_empty() && plan.edit != Some(Edit::Comment) {
        wanted.held = edit::files_of_entries(&args.output);
    }
    Ok(wanted)
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

/// Makes the archive appear, replacing the one that it was made from. Returns its mode if what is in it
/// narrowed that. One that another process made meanwhile is kept if `keeps` is set.
fn appear(
    target: Target,
    before: Option<&Metadata>,
    rights: &Rights,
    keeps: bool,
) -> std::result::Result<Option<u32>, Stop> {
    // The same users may read the archive as before, unless they may not read the new entries.
    let narrowed = target.settle_rights(before, rights);
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
    appeared
        .map(|()| narrowed)
        .map_err(|failure| match failure {
            _ if remote && signal::interrupted() => Stop::Interrupted,
            files::Error::Exists { .. } if keeps => Stop::Kept,
            error => Stop::Failed(error.into()),
        })
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

fn remark(found: &Sources) {
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
    message::failures(&found.failures);
    let carried = base.map_or(Ok(0), |base| carry::kept(base, &mut packer));
    let result = carried.and_then(|carried| {
        state(base, carried, 0, outcome);
        // If there are only failures, there is no archive, not even on standard output.
        if base.is_none() && found.sources.is_empty() && !found.failures.is_empty() {
            return Ok(Totals::default());
        }
        let back = pack_all(&mut packer, base, &found.sources, outcome)?;
        state(base, carried, back, outcome);
        packer.finish()
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

/// States what became of the entries of an archive: how many were carried over at first, and how many in the place of
/// sources.
fn state(base: Option<&Base>, carried: u64, back: u64, outcome: &mut Outcome) {
    if let Some(base) = base {
        let params = &mut outcome.workload.params;
        params.insert("kept_entries".to_owned(), (carried + back).into());
        let dropped = base.dropped.saturating_sub(back);
        params.insert("dropped_entries".to_owned(), dropped.into());
        params.insert("in_place".to_owned(), base.goes_on().is_some().into());
    }
}

/// Packs the sources. The entries that one was to replace stay if it cannot be read; returns their number.
fn pack_all(
    packer: &mut Packer<'_>,
    base: Option<&Base>,
    sources: &Listed,
    outcome: &mut Outcome,
) -> std::result::Result<u64, Stop> {
    let mut back = 0;
    for source in sources.iter() {
        let before = packer.read_bytes;
        if !packer.add(&source)? {
            outcome.complete = false;
            let kept = base.map_or(Ok(0), |base| carry::back(base, &source.name, packer))?;
            if kept > 0 {
                message::remark(&format!("the entry '{}' stays as it was", source.name));
            }
            back += kept;
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
    Ok(back)
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
