//! `--verify`: reads back what was written.

use files::target::Target;
use latency::report::Validation;
use report::Outcome;
use zipstream::extract::{self, ExtractOptions};
use zipstream::{ArchiveReader, Decryption, Encryption, ReadOptions, Totals};

use crate::commands::transfer::Stop;
use crate::commands::zip::plan::ZipPlan;
use crate::failure::Failure;
use crate::io::context;
use crate::term::signal;

/// Tests the archive that was written, in the strict profile unless it is `odd`: strict refuses what
/// precedes an archive, and names that repeat.
pub(super) fn verify(
    target: &Target,
    plan: &ZipPlan,
    odd: bool,
    encryption: Option<Encryption>,
    totals: Totals,
    outcome: &mut Outcome,
) -> std::result::Result<(), Stop> {
    let file = target.writer();
    let wrong = |reason: String| {
        Failure::new(format!(
            "the archive that was written cannot be read: {reason}"
        ))
        .help("no file was replaced; please report this as a bug, with the command line")
    };
    let read = match odd {
        true => ReadOptions::new(),
        false => ReadOptions::strict(),
    };
    let mut reader =
        ArchiveReader::open_with(file.file(), &read).map_err(|error| wrong(error.to_string()))?;
    let decryption = encryption.map(|encryption| Decryption::new(encryption.password));
    reader.set_decryption(decryption.map(|decryption| decryption.release_early(true)));
    let options = ExtractOptions::new()
        .threads(plan.threads as usize)
        .context(context().clone());
    let tested = extract::verify(&reader, &options);
    let right = tested.failures.is_empty()
        && (tested.entries, tested.content_bytes) == (totals.entries, totals.content_bytes);
    let failures = (tested.failures.len() as u64).max(u64::from(!right));
    let method = match odd {
        true => "reading back what was written",
        false => "reading back what was written, strictly",
    };
    outcome.validation = Some(Validation::new(method, tested.entries, failures));
    if signal::interrupted() {
        return Err(Stop::Interrupted);
    }
    match tested.failures.first() {
        _ if right => Ok(()),
        Some(failure) => Err(wrong(failure.to_string()).into()),
        None => Err(wrong("it holds something else".to_owned()).into()),
    }
}
