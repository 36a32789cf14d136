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
///
/// Strict also refuses names that some systems take for one, as `Makefile` and `makefile`. Files may have such names, so
/// what strict refuses is read once more as other programs read it: a finding tells of it.
pub(super) fn verify(
    target: &Target,
    plan: &ZipPlan,
    odd: bool,
    encryption: Option<Encryption>,
    totals: Totals,
    outcome: &mut Outcome,
) -> std::result::Result<(), Stop> {
    let test = Test {
        target,
        plan,
        encryption,
        totals,
    };
    let usual = "reading back what was written";
    if odd {
        return Ok(test.run(&ReadOptions::new(), usual, outcome)?);
    }
    let strict = format!("{usual}, strictly");
    match test.run(&ReadOptions::strict(), &strict, outcome) {
        Ok(()) => Ok(()),
        Err(Ended::Interrupted) => Err(Stop::Interrupted),
        Err(Ended::Wrong(reason)) => {
            test.run(&ReadOptions::new(), usual, outcome)?;
            let finding = format!("the archive is right, and strict readers refuse it: {reason}");
            outcome.findings.push(finding);
            Ok(())
        }
    }
}

/// Why a test did not come to a good end.
enum Ended {
    Interrupted,
    /// Why the archive cannot be read.
    Wrong(String),
}

impl From<Ended> for Stop {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Interrupted => Self::Interrupted,
            Ended::Wrong(reason) => {
                let message = format!("the archive that was written cannot be read: {reason}");
                let help =
                    "no file was replaced; please report this as a bug, with the command line";
                Self::Failed(Failure::new(message).help(help))
            }
        }
    }
}

/// What is tested, and what it has to hold.
struct Test<'a> {
    target: &'a Target,
    plan: &'a ZipPlan,
    encryption: Option<Encryption>,
    totals: Totals,
}

impl Test<'_> {
    fn run(
        &self,
        read: &ReadOptions,
        method: &str,
        outcome: &mut Outcome,
    ) -> std::result::Result<(), Ended> {
        let file = self.target.writer();
        let mut reader = ArchiveReader::open_with(file.file(), read)
            .map_err(|error| Ended::Wrong(error.to_string()))?;
        let decryption = self.encryption.clone();
        let decryption = decryption.map(|encryption| Decryption::new(encryption.password));
        reader.set_decryption(decryption.map(|decryption| decryption.release_early(true)));
        let options = ExtractOptions::new()
            .threads(self.plan.threads as usize)
            .context(context().clone());
        let tested = extract::verify(&reader, &options);
        let right = tested.failures.is_empty()
            && (tested.entries, tested.content_bytes)
                == (self.totals.entries, self.totals.content_bytes);
        let failures = (tested.failures.len() as u64).max(u64::from(!right));
        outcome.validation = Some(Validation::new(method, tested.entries, failures));
        if signal::interrupted() {
            return Err(Ended::Interrupted);
        }
        match tested.failures.first() {
            _ if right => Ok(()),
            Some(failure) => Err(Ended::Wrong(failure.to_string())),
            None => Err(Ended::Wrong("it holds something else".to_owned())),
        }
    }
}
