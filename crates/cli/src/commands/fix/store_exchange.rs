//! `perfkit fix store import` and `export`: stores of QuickFIX taken over, and given back.

use files::display;
use fixcore::Timestamp;
use fixsession::stores::{FileFormat, ForeignError, export, import};
use report::ExitStatus;

use crate::commands::fix::store_flags::{ExportArgs, FileForm, ImportArgs};
use crate::failure::{Failure, Result};
use crate::term::message;

/// Runs `fix store import`.
pub(super) fn run_import(args: &ImportArgs) -> Result<ExitStatus> {
    let imported = import(&args.prefix, &args.dir, args.force).map_err(|error| failed(&error))?;
    if args.terminal.wants_warnings() && imported.is_raised {
        let number = imported.next_sender - 1;
        let text = format!("message {number} was kept but not counted: its number is used");
        message::note(
            &text,
            "the engine was stopped between the two; nothing is lost",
        );
    }
    if args.terminal.wants_warnings() && imported.is_dropped {
        let number = imported.next_sender;
        let text = format!("message {number} was stated but not written: it was not sent");
        message::note(
            &text,
            "the engine was stopped between the two; nothing is lost",
        );
    }
    if args.terminal.wants_warnings() && imported.replaced > 0 {
        let text = format!("{} messages were left out", imported.replaced);
        message::note(&text, "a later message has the number of each");
    }
    if args.terminal.wants_report() {
        message::status(&format!(
            "{}: {} messages of {} from {}; next numbers {} and {}, begun {}",
            display(&args.dir),
            imported.messages,
            imported.format.name(),
            display(&args.prefix),
            imported.next_sender,
            imported.next_target,
            imported.created,
        ));
    }
    Ok(ExitStatus::Ok)
}

/// Runs `fix store export`.
pub(super) fn run_export(args: &ExportArgs) -> Result<ExitStatus> {
    let format = match args.format {
        FileForm::Quickfix => FileFormat::QuickFix,
        FileForm::Quickfix115 => FileFormat::QuickFix115,
        FileForm::Quickfixj => FileFormat::QuickFixJ,
    };
    let now = jiff::Timestamp::now().as_nanosecond();
    let now = Timestamp(i64::try_from(now).unwrap_or(i64::MAX));
    let exported = export(&args.dir, &args.prefix, format, args.force, now);
    let exported = exported.map_err(|error| failed(&error))?;
    if args.terminal.wants_report() {
        message::status(&format!(
            "{}: {} messages for {}; next numbers {} and {}, begun {}",
            display(&args.prefix),
            exported.messages,
            format.name(),
            exported.next_sender,
            exported.next_target,
            exported.created,
        ));
    }
    Ok(ExitStatus::Ok)
}

fn failed(error: &ForeignError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        ForeignError::NotFound { .. } => {
            failure.help("name what the files' names have in common, such as store/FIX.4.4-A-B")
        }
        ForeignError::Damaged { .. } => {
            failure.help("nothing was written; a copy of the files from before may be whole")
        }
        ForeignError::Exists { .. } => {
            failure.help("move it away, name another, or replace it with -f")
        }
        ForeignError::NoStore { .. } => {
            failure.help("a store is a directory with files `….segment`")
        }
        _ => failure,
    }
}
