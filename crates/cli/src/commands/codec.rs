//! Turns errors of the zstd codec into failures.

use zstdkit::ErrorKind;

use crate::failure::Failure;

/// The help for an empty file.
pub(crate) const EMPTY_HELP: &str =
    "nothing compresses to nothing: even empty content makes a frame, so this file was cut short";

/// A failure for a codec error, with the file and, if one helps, a flag.
pub(crate) fn codec_failure(verb: &str, name: &str, error: &zstdkit::Error) -> Failure {
    let failure = Failure::new(format!("cannot {verb} {name}: {error}"));
    let help = match error.kind() {
        ErrorKind::WindowLimit => Some("add --long=31 or raise -M if the source is trusted"),
        ErrorKind::MemoryLimit => Some("raise -M if the source is trusted"),
        ErrorKind::OutputLimit => Some("raise --max-output if the source is trusted"),
        ErrorKind::Dictionary => Some("give the dictionary it was compressed with: -D FILE"),
        _ => error.help(),
    };
    match help {
        Some(help) => failure.help(help),
        None => failure,
    }
}
