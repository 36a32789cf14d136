//! A run that a report states, to be run again: its command line, what cannot be repeated, and what is
//! different now.

use std::path::Path;

use latency::ReadError;
use latency::report::{Environment, Input, Tool, read_json};
use serde_json::{Value, json};

use super::identity::hash;
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

/// What a file states of the run that wrote it.
#[derive(Debug, Clone)]
pub struct Stated {
    /// The program that ran.
    pub tool: Tool,
    /// Every word of its command line, the program first, as a report has them.
    pub argv: Vec<String>,
    /// The machine.
    pub environment: Environment,
    /// What it read.
    pub inputs: Vec<Input>,
    /// The programs that it ran.
    pub programs: Vec<Input>,
}

impl Stated {
    /// Reads it from a report, or from a file in hyperfine's form that perfkit wrote.
    ///
    /// # Errors
    ///
    /// Those of [`read_json`].
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        if let Some(found) = Self::of_hyperfine(bytes) {
            return Ok(found);
        }
        let report = read_json(bytes)?;
        Ok(Self {
            tool: report.tool,
            argv: report.command.argv,
            environment: report.environment,
            inputs: report.workload.inputs,
            programs: report.workload.programs,
        })
    }

    fn of_hyperfine(bytes: &[u8]) -> Option<Self> {
        if latency::foreign::source(bytes) != Some(latency::foreign::Source::Hyperfine) {
            return None;
        }
        let mut file: Value = serde_json::from_slice(bytes).ok()?;
        let mut take = |key: &str| file.get_mut(KEY)?.get_mut(key).map(Value::take);
        Some(Self {
            tool: serde_json::from_value(take("tool")?).ok()?,
            argv: serde_json::from_value(take("argv")?).ok()?,
            environment: serde_json::from_value(take("environment")?).ok()?,
            inputs: Vec::new(),
            // Not there in files of older versions.
            programs: take("programs")
                .map_or_else(|| Ok(Vec::new()), serde_json::from_value)
                .ok()?,
        })
    }

    /// Itself as a file in hyperfine's form has it, under the key `perfkit`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "tool": self.tool,
            "argv": self.argv,
            "environment": self.environment,
            "programs": self.programs,
        })
    }

    /// Whether it ran under the name of hyperfine, whose commands read no standard input of its own.
    fn is_hyperfine(&self) -> bool {
        self.argv.get(1).is_some_and(|word| word == "hyperfine")
    }
}

/// The key of what perfkit adds to a file in hyperfine's form.
const KEY: &str = "perfkit";

/// The words of a command line after the program, without the files that reports were exported to: those
/// belong to the first run.
///
/// # Errors
///
/// [`Unrepeatable`] with the reason.
pub fn words(stated: &Stated) -> Result<Vec<Vec<u8>>, Unrepeatable> {
    if stated.tool.name != "perfkit" {
        return Err(Unrepeatable::OtherProgram(stated.tool.name.clone()));
    }
    let Some((_, argv)) = stated.argv.split_first() else {
        return Err(Unrepeatable::NoCommand);
    };
    let commands = argv.iter().position(|word| word == "--");
    let (flags, data) = argv.split_at(commands.unwrap_or(argv.len()));
    let reads_standard = |path: &str| matches!(path, "-" | "standard input" | "stdin");
    let inputs = &stated.inputs;
    let reads = flags.iter().any(|word| word == "-") && !stated.is_hyperfine();
    if flags.is_empty() {
        return Err(Unrepeatable::NoCommand);
    }
    if reads || inputs.iter().any(|input| reads_standard(&input.path)) {
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
pub fn differences(stated: &Stated, tool: &Tool, now: &Environment) -> Vec<String> {
    let then = &stated.environment;
    let mut found = Vec::new();
    let mut differs = |what: &str, then: String, now: String| {
        if then != now {
            found.push(format!("{what}: {then} then, {now} now"));
        }
    };
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let number =
        |number: Option<u64>| number.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    let made = &stated.tool;
    differs("version", made.version.clone(), tool.version.clone());
    differs("commit", known(&made.commit), known(&tool.commit));
    differs("build profile", made.profile.clone(), tool.profile.clone());
    differs("target", made.target.clone(), tool.target.clone());
    differs("compiler", known(&made.rustc), known(&tool.rustc));
    differs("processor", known(&then.cpu_model), known(&now.cpu_model));
    differs(
        "processors",
        number(then.logical_cpus.map(u64::from)),
        number(now.logical_cpus.map(u64::from)),
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
    differs("allocator", known(&then.allocator), known(&now.allocator));
    let yes = |dirty: Option<bool>| match dirty {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => "unknown".to_owned(),
    };
    differs("uncommitted changes", yes(made.dirty), yes(tool.dirty));
    for (what, files) in [("input", &stated.inputs), ("program", &stated.programs)] {
        found.extend(files.iter().filter_map(|file| changed(what, file)));
    }
    found
}

/// What became of an input or a program. Names of generated data are no files, and are not looked for.
fn changed(what: &str, file: &Input) -> Option<String> {
    let (path, bytes, xxh64) = (&file.path, file.bytes, file.xxh64.as_deref());
    let metadata = match std::fs::metadata(Path::new(path)) {
        Ok(metadata) => metadata,
        // Only what was hashed was certainly a file.
        Err(_) => {
            return xxh64.map(|_| format!("{what} '{path}': {bytes} bytes then, not there now"));
        }
    };
    if !metadata.is_file() {
        return None;
    }
    if metadata.len() != bytes {
        return Some(format!(
            "{what} '{path}': {bytes} bytes then, {} now",
            metadata.len()
        ));
    }
    let expected = xxh64?;
    let now = hash(Path::new(path)).ok()?;
    (now != expected).then(|| format!("{what} '{path}': XXH64 {expected} then, {now} now"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(argv: &[&str]) -> Stated {
        Stated {
            tool: crate::tool("perfkit", "1"),
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            environment: latency::environment::capture(),
            inputs: Vec::new(),
            programs: Vec::new(),
        }
    }

    fn repeated(argv: &[&str]) -> Result<String, Unrepeatable> {
        let words = words(&stated(argv))?;
        Ok(String::from_utf8_lossy(&words.join(&b' ')).into_owned())
    }

    #[test]
    fn files_that_the_first_run_wrote_are_left_out() {
        let line = [
            "perfkit",
            "hyperfine",
            "--export-json",
            "r.json",
            "-N",
            "a b",
            "--export-csv=c",
        ];
        assert_eq!(repeated(&line).as_deref(), Ok("hyperfine -N a b"));
        let line = [
            "perfkit",
            "compare",
            "--export-json=r",
            "--",
            "a",
            "--export-x",
            "--",
            "b",
        ];
        assert_eq!(
            repeated(&line).as_deref(),
            Ok("compare -- a --export-x -- b")
        );
    }

    #[test]
    fn standard_input_cannot_be_read_again_but_commands_of_hyperfine_have_none() {
        assert_eq!(
            repeated(&["perfkit", "compress", "-"]),
            Err(Unrepeatable::StandardInput)
        );
        let line = ["perfkit", "hyperfine", "--export-json", "-", "-L", "x", "-"];
        assert_eq!(repeated(&line).as_deref(), Ok("hyperfine -L x -"));
        assert_eq!(repeated(&["perfkit"]), Err(Unrepeatable::NoCommand));
        assert_eq!(repeated(&[]), Err(Unrepeatable::NoCommand));
    }

    #[test]
    fn another_program_at_the_same_path_is_a_difference() {
        let path = std::env::temp_dir().join(format!("perfkit-identity-{}", std::process::id()));
        std::fs::write(&path, "#!/bin/sh\ntrue\n").expect("written");
        let mut made = stated(&["perfkit", "hyperfine", "a"]);
        made.programs = crate::saved::identity(&path).into_iter().collect();
        let file = json!({"results": [{"command": "a", "times": [1.0]}], KEY: made.to_json()});
        let read = Stated::read(file.to_string().as_bytes()).expect("stated");
        assert_eq!(read.programs, made.programs);
        let found = || differences(&read, &read.tool, &read.environment);
        assert_eq!(found(), [""; 0]);
        // As long as it was, and longer, and gone.
        for (content, expected) in [
            ("#!/bin/sh\nfals\n", "XXH64"),
            ("#!/bin/sh\nfalse\n", "16 now"),
        ] {
            std::fs::write(&path, content).expect("written");
            let found = found();
            assert!(
                found[0].starts_with("program '") && found[0].contains(expected),
                "{found:?}"
            );
        }
        std::fs::remove_file(&path).expect("removed");
        assert!(found()[0].ends_with("not there now"), "{:?}", found());
        assert_eq!(crate::saved::identity(&path), None);
    }

    #[test]
    fn a_file_in_the_form_of_hyperfine_states_the_run_if_perfkit_wrote_it() {
        let made = stated(&["perfkit", "hyperfine", "a"]);
        let file = |added: Option<Value>| {
            let mut file = json!({"results": [{"command": "a", "times": [1.0]}]});
            if let Some(added) = added {
                file[KEY] = added;
            }
            file.to_string()
        };
        let read = Stated::read(file(Some(made.to_json())).as_bytes()).expect("stated");
        assert_eq!((read.argv, read.tool), (made.argv, made.tool));
        assert_eq!(read.environment, made.environment);
        for other in [
            None,
            Some(json!(1)),
            Some(json!({"tool": 1, "argv": [], "environment": {}})),
        ] {
            let refused = Stated::read(file(other).as_bytes()).unwrap_err();
            assert!(
                refused.to_string().contains("not a perfkit report"),
                "{refused}"
            );
        }
    }
}
