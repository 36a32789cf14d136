//! A run that a report states, to be run again: its command line, what cannot be repeated, and what is
//! different now.

use std::path::Path;

use latency::report::{Environment, Report, Tool};

use crate::names;

/// Why a run cannot be repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unrepeatable {
    /// The report does not say how the program was called.
    #[error("the report states no command line")]
    NoCommand,
    /// What was read is gone with the run.
    #[error("the run read standard input, which a report does not hold")]
    StandardInput,
    /// The report was made by another program.
    #[error("the report was made by '{0}', not by perfkit")]
    OtherProgram(String),
}

/// The words of a command line after the program, without the files that reports were exported to: those
/// belong to the first run.
///
/// # Errors
///
/// [`Unrepeatable`] with the reason.
pub fn words(report: &Report) -> Result<Vec<Vec<u8>>, Unrepeatable> {
    if report.tool.name != "perfkit" {
        return Err(Unrepeatable::OtherProgram(report.tool.name.clone()));
    }
    let Some((_, argv)) = report.command.argv.split_first() else {
        return Err(Unrepeatable::NoCommand);
    };
    let commands = argv.iter().position(|word| word == "--");
    let (flags, data) = argv.split_at(commands.unwrap_or(argv.len()));
    let reads_standard = |path: &str| matches!(path, "-" | "standard input" | "stdin");
    let inputs = &report.workload.inputs;
    if flags.is_empty() {
        return Err(Unrepeatable::NoCommand);
    }
    if flags.iter().any(|word| word == "-")
        || inputs.iter().any(|input| reads_standard(&input.path))
    {
        return Err(Unrepeatable::StandardInput);
    }
    let mut kept = Vec::with_capacity(argv.len());
    let mut words = flags.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("--export-") {
            // Its file is in the word, or is the next one.
            Some(rest) if rest.contains('=') => {}
            Some(_) => drop(words.next()),
            None => kept.push(names::bytes(word)),
        }
    }
    kept.extend(data.iter().map(|word| names::bytes(word)));
    Ok(kept)
}

/// What was different when the report was made: a line each, none where nothing that is known is.
#[must_use]
pub fn differences(report: &Report, tool: &Tool, now: &Environment) -> Vec<String> {
    let then = &report.environment;
    let mut found = Vec::new();
    let mut differs = |what: &str, then: String, now: String| {
        if then != now {
            found.push(format!("{what}: {then} then, {now} now"));
        }
    };
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let number =
        |number: Option<u64>| number.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    let made = &report.tool;
    differs("version", made.version.clone(), tool.version.clone());
    differs("commit", known(&made.commit), known(&tool.commit));
    differs("build profile", made.profile.clone(), tool.profile.clone());
    differs("target", made.target.clone(), tool.target.clone());
    differs("compiler", known(&made.rustc), known(&tool.rustc));
    differs("processor", known(&then.cpu_model), known(&now.cpu_model));
    differs(
        "processors",
        then.logical_cpus.to_string(),
        now.logical_cpus.to_string(),
    );
    differs("instruction set", known(&then.isa), known(&now.isa));
    differs("governor", known(&then.governor), known(&now.governor));
    differs(
        "hypervisor",
        known(&then.hypervisor),
        known(&now.hypervisor),
    );
    differs("kernel", known(&then.kernel), known(&now.kernel));
    differs(
        "memory in bytes",
        number(then.memory_bytes),
        number(now.memory_bytes),
    );
    differs("allocator", then.allocator.clone(), now.allocator.clone());
    for input in &report.workload.inputs {
        found.extend(changed(&input.path, input.bytes, input.xxh64.as_deref()));
    }
    found
}

/// What became of an input. Names of generated data are no files, and are not looked for.
fn changed(path: &str, bytes: u64, xxh64: Option<&str>) -> Option<String> {
    let metadata = match std::fs::metadata(Path::new(path)) {
        Ok(metadata) => metadata,
        // Only what was hashed was certainly a file.
        Err(_) => {
            return xxh64.map(|_| format!("input '{path}': {bytes} bytes then, not there now"));
        }
    };
    if !metadata.is_file() {
        return None;
    }
    if metadata.len() != bytes {
        return Some(format!(
            "input '{path}': {bytes} bytes then, {} now",
            metadata.len()
        ));
    }
    let expected = xxh64?;
    let now = hash(Path::new(path)).ok()?;
    (now != expected).then(|| format!("input '{path}': XXH64 {expected} then, {now} now"))
}

fn hash(path: &Path) -> std::io::Result<String> {
    use std::hash::Hasher as _;
    use std::io::Read as _;
    let mut file = std::fs::File::open(path)?;
    let mut hasher = twox_hash::XxHash64::with_seed(0);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(format!("{:016x}", hasher.finish())),
            n => hasher.write(&buffer[..n]),
        }
    }
}
