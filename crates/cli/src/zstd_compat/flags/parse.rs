//! Parses a zstd command line, argument by argument. [`super`] turns the result into plans.

use std::ffi::OsString;
use std::path::PathBuf;
use std::slice::Iter;

use files::plan::Place;

use crate::args::advanced::Advanced;
use crate::args::settings::ReferenceArgs;
use crate::commands::decompress::flags::DecompressMode;
use crate::commands::formats::Format;
use crate::commands::formats::settings::Lz4Settings;
use crate::failure::{Failure, Result};
use crate::zstd_compat::bench::BenchArgs;
use crate::zstd_compat::flags::program::{Name, Variables};
use crate::zstd_compat::flags::training::Training;
use crate::zstd_compat::flags::tuning::Tuning;
use crate::zstd_compat::flags::values::{incorrect, missing, named, next, number, sized};

/// What to do with the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Compress,
    Decompress(DecompressMode),
    /// Measure levels.
    Bench,
}

/// Where it goes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Output {
    PerInput,
    Stdout,
    File(PathBuf),
}

/// What to print instead of working.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The help.
    Help { long: bool },
    /// The version: only the number, or a line.
    Version { bare: bool },
}

/// What only lz4 has: settings, and whether the command line says what is to be done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lz4Line {
    pub(super) settings: Lz4Settings,
    pub(super) chosen: bool,
}

/// A parsed command line.
#[derive(Debug, Clone)]
pub(crate) struct CommandLine {
    pub(crate) name: Name,
    /// What is written.
    pub(crate) format: Format,
    pub(crate) operation: Operation,
    /// What to print instead of working.
    pub(crate) asked: Option<Asked>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) lists: Vec<PathBuf>,
    pub(crate) output: Output,
    pub(crate) place: Place,
    pub(crate) force: bool,
    pub(crate) rm: bool,
    pub(crate) recursive: bool,
    /// Whether all files are sources, under names of which the second is the target otherwise.
    pub(crate) several: bool,
    pub(crate) exclude_compressed: bool,
    pub(crate) pass_through: Option<bool>,
    pub(crate) verbosity: i32,
    pub(crate) progress: Option<bool>,
    pub(crate) notes: Vec<String>,
    pub(crate) level: i32,
    pub(crate) ultra: bool,
    pub(crate) long: Option<u32>,
    /// Only if stated.
    pub(crate) threads: Option<u32>,
    pub(crate) single_thread: bool,
    pub(crate) check: bool,
    pub(crate) content_size: bool,
    pub(crate) dictionary_id: bool,
    pub(crate) sparse: bool,
    pub(crate) rsyncable: bool,
    pub(crate) stream_bytes: Option<u64>,
    /// 0: not stated.
    pub(crate) block_bytes: u64,
    /// 0: not stated.
    pub(crate) memory_bytes: u64,
    pub(crate) tuning: Tuning,
    pub(crate) training: Training,
    pub(crate) bench: BenchArgs,
    pub(crate) reference: ReferenceArgs,
    /// What only lz4 has.
    pub(crate) lz4: Lz4Line,
    /// Whether -T0 counts processors that share a core.
    pub(crate) logical_cores: bool,
    /// Whether the settings of the level are printed for each file.
    pub(crate) shows_settings: bool,
    /// Where a line about each file goes.
    pub(crate) trace: Option<PathBuf>,
    /// Which standard streams are treated as terminals: input and output.
    pub(crate) terminals: (bool, bool),
}

impl CommandLine {
    /// Parses all arguments after the program's name.
    pub(crate) fn read(name: Name, argv: &[OsString], variables: &Variables) -> Result<Self> {
        let mut words = Self::of(name);
        words.variables(variables);
        let mut line = argv.get(1..).unwrap_or_default().iter();
        while let Some(word) = line.next() {
            match word.to_str() {
                Some("-") => words.files.push("-".into()),
                Some("--") => words.files.extend(line.by_ref().map(named)),
                Some(text) if text.starts_with("--") => words.flag(text, &mut line)?,
                Some(text) if text.starts_with('-') => words.cluster(text, &mut line)?,
                None if word.as_encoded_bytes().starts_with(b"-") => {
                    return Err(incorrect(&word.to_string_lossy()));
                }
                _ => words.files.push(word.into()),
            }
            if words.asked.is_some() {
                break;
            }
        }
        Ok(words)
    }

    /// The defaults of each program name.
    fn of(name: Name) -> Self {
        let cat = name.is_cat();
        Self {
            name,
            format: name.format(),
            operation: match name.compresses() {
                true => Operation::Compress,
                false => Operation::Decompress(DecompressMode::Write),
            },
            asked: None,
            files: Vec::new(),
            lists: Vec::new(),
            output: if cat {
                Output::Stdout
            } else {
                Output::PerInput
            },
            place: Place::Beside,
            force: cat,
            rm: false,
            several: false,
            recursive: false,
            exclude_compressed: false,
            pass_through: None,
            verbosity: if cat { 1 } else { 2 },
            progress: None,
            notes: Vec::new(),
            level: match name.format() {
                Format::Zstd => 3,
                other => other.level(),
            },
            ultra: false,
            long: None,
            threads: (name == Name::Zstdmt).then_some(0),
            single_thread: false,
            check: true,
            content_size: name.format() == Format::Zstd,
            dictionary_id: true,
            sparse: true,
            rsyncable: false,
            stream_bytes: None,
            block_bytes: 0,
            memory_bytes: 0,
            tuning: Tuning::default(),
            training: Training::default(),
            bench: BenchArgs::default(),
            reference: ReferenceArgs {
                dictionary: None,
                patch_from: None,
            },
            lz4: Lz4Line::default(),
            logical_cores: false,
            shows_settings: false,
            trace: None,
            terminals: (false, false),
        }
    }

    fn variables(&mut self, variables: &Variables) {
        let mut odd = |name: &str, value: &str| {
            let note = format!("the environment's {name} is not a number and is ignored: {value}");
            self.notes.push(note);
        };
        if let Some(text) = &variables.level {
            match text.parse::<i32>() {
                Ok(level) => self.level = level,
                Err(_) => odd("ZSTD_CLEVEL", text),
            }
        }
        if let Some(text) = &variables.threads {
            match text.parse() {
                Ok(threads) => self.threads = Some(threads),
                Err(_) => odd("ZSTD_NBTHREADS", text),
            }
        }
    }

    /// An argument with one dash: letters, and numbers after those that take one.
    fn cluster(&mut self, word: &str, line: &mut Iter<'_, OsString>) -> Result<()> {
        let mut rest = word.get(1..).unwrap_or_default();
        while let Some(letter) = rest.chars().next() {
            if letter.is_ascii_digit() {
                let level = number(&mut rest).ok_or_else(|| incorrect(word))?;
                let level = u32::try_from(level).map_err(|_| incorrect(word))?;
                // The highest bit is the sign, for whoever wants to see it.
                self.level = level as i32;
                if self.level == 0 && self.name.format() == Format::Zstd {
                    self.level = 3;
                }
                continue;
            }
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
            if self.name.names_target() && self.lz4_letter(letter, &mut rest, word)? {
                continue;
            }
            let mut size = || number(&mut rest).ok_or_else(|| incorrect(word));
            match letter {
                'T' => {
                    let threads = u32::try_from(size()?).map_err(|_| incorrect(word))?;
                    self.threads = Some(threads);
                }
                'B' => self.block_bytes = size()?,
                'M' => self.memory_bytes = size()?,
                // The value is behind a sign or the next argument; letters between them go on being read.
                'o' | 'D' => {
                    let value = match rest.strip_prefix('=') {
                        Some(value) => {
                            rest = "";
                            PathBuf::from(value)
                        }
                        None => next(&format!("-{letter}"), line)?,
                    };
                    match letter {
                        'o' => self.output = Output::File(value),
                        _ => self.reference.dictionary = Some(value),
                    }
                }
                'e' => {
                    let level = u32::try_from(size()?).map_err(|_| incorrect(word))?;
                    self.bench.last_level = Some(level as i32);
                }
                'i' => self.bench.seconds = size()?,
                's' => {
                    let selectivity = u32::try_from(size()?).map_err(|_| incorrect(word))?;
                    self.training.selectivity = selectivity;
                }
                'P' => self.bench.compressibility = Some(size()?),
                // A parameter of benchmarks, which is only printed; without one, a pause at the end.
                'p' => drop(size()?),
                _ => self.letter(letter, word)?,
            }
            if self.asked.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A letter without a value.
    fn letter(&mut self, letter: char, word: &str) -> Result<()> {
        match letter {
            'z' => self.operation = Operation::Compress,
            'd' if self.operation == Operation::Bench => self.bench.decodes_only = true,
            'd' => {
                self.bench.decodes_only = true;
                self.operation = Operation::Decompress(DecompressMode::Write);
            }
            'b' => self.operation = Operation::Bench,
            'S' => self.bench.each_file = true,
            // Names are never stored.
            'n' => {}
            't' => self.operation = Operation::Decompress(DecompressMode::Test),
            'l' => self.operation = Operation::Decompress(DecompressMode::List),
            'c' => self.output = Output::Stdout,
            'f' => self.force = true,
            'k' => self.rm = false,
            'r' => self.recursive = true,
            'C' => self.check = true,
            'q' => self.verbosity -= 1,
            'v' => self.verbosity += 1,
            'h' => self.asked = Some(Asked::Help { long: false }),
            'H' => self.asked = Some(Asked::Help { long: true }),
            'V' => {
                self.asked = Some(Asked::Version {
                    bare: self.verbosity < 2,
                });
            }
            _ => return Err(incorrect(word)),
        }
        Ok(())
    }

    /// An argument with two dashes.
    fn flag(&mut self, word: &str, line: &mut Iter<'_, OsString>) -> Result<()> {
        let (key, value) = match word.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (word, None),
        };
        if self.name.names_target() && self.lz4_flag(key, value, word)? {
            return Ok(());
        }
        if self.switch(key) && value.is_none() || self.asked.is_some() {
            return Ok(());
        }
        match (key, value) {
            ("--long", log) => {
                let log = log.map_or(Ok(27), str::parse);
                self.long = Some(log.map_err(|_| incorrect(word))?);
                self.ultra = true;
            }
            ("--fast", None) => self.level = -1,
            ("--fast", Some(n)) => {
                let mut rest = n;
                match number(&mut rest) {
                    Some(n @ 1..) if rest.is_empty() => self.level = -(n.min(131_072) as i32),
                    _ => return Err(incorrect(word)),
                }
            }
            ("--adapt", Some(levels)) => self.tuning.adapts(levels, word)?,
            ("--zstd", Some(list)) => {
                self.tuning
                    .advanced
                    .add(list)
                    .map_err(|part| incorrect(&format!("--zstd={part}")))?;
                self.format = Format::Zstd;
            }
            ("--train" | "--train-cover" | "--train-fastcover" | "--train-legacy", settings) => {
                self.training.ask(key, settings, word)?;
            }
            ("--format", Some(format)) => {
                self.format = Format::named(format).ok_or_else(|| {
                    Failure::new(format!("--format={format} is unknown"))
                        .help("choose zstd, gzip, xz, lzma or lz4")
                })?;
            }
            ("--priority", Some("rt")) => {
                let note = "--priority=rt is left to the system: run this with chrt";
                self.notes.push(note.to_owned());
            }
            _ => self.valued(key, value, word, line)?,
        }
        Ok(())
    }

    /// Applies a flag without a value; returns whether `key` is one.
    fn switch(&mut self, key: &str) -> bool {
        let letter = match key {
            "--compress" => 'z',
            "--decompress" | "--uncompress" => 'd',
            "--test" => 't',
            "--list" => 'l',
            "--stdout" | "--to-stdout" => 'c',
            "--force" => 'f',
            "--keep" => 'k',
            "--check" => 'C',
            "--quiet" => 'q',
            "--verbose" => 'v',
            "--help" => 'H',
            "--version" => 'V',
            _ => return self.long_switch(key),
        };
        self.letter(letter, key).is_ok()
    }

    fn long_switch(&mut self, key: &str) -> bool {
        match key {
            "--rm" => self.rm = true,
            "--no-check" => self.check = false,
            "--content-size" => self.content_size = true,
            "--no-content-size" => self.content_size = false,
            "--no-dictID" => self.dictionary_id = false,
            "--sparse" => self.sparse = true,
            "--no-sparse" => self.sparse = false,
            "--pass-through" => self.pass_through = Some(true),
            "--no-pass-through" => self.pass_through = Some(false),
            "--progress" => self.progress = Some(true),
            "--no-progress" => self.progress = Some(false),
            "--ultra" => self.ultra = true,
            "--rsyncable" => self.rsyncable = true,
            "--exclude-compressed" => self.exclude_compressed = true,
            "--single-thread" => {
                self.threads = Some(1);
                self.single_thread = true;
            }
            // These change how the work is done, not the result.
            "--asyncio" | "--no-asyncio" => {}
            "--show-default-cparams" => self.shows_settings = true,
            // Dictionaries are read once and shared either way.
            "--mmap-dict" | "--no-mmap-dict" | "--trace-file-stat" => {}
            "--fake-stdin-is-console" => self.terminals.0 = true,
            "--fake-stdout-is-console" => self.terminals.1 = true,
            "--fake-stderr-is-console" => {}
            "--max" => {
                self.ultra = true;
                self.long = Some(0);
                self.tuning.advanced = Advanced::largest();
            }
            _ if self.tuning.switch(key) => {}
            _ => return false,
        }
        true
    }

    /// A flag with a value, after `=` or in the next argument.
    fn valued(
        &mut self,
        key: &str,
        value: Option<&str>,
        word: &str,
        line: &mut Iter<'_, OsString>,
    ) -> Result<()> {
        let mut path = || match value {
            Some("") => Err(missing(key)),
            Some(value) => Ok(PathBuf::from(value)),
            None => next(key, line),
        };
        match key {
            "--output-dir-flat" => self.place = Place::Flat(path()?),
            "--output-dir-mirror" => self.place = Place::Mirror(path()?),
            "--patch-from" => {
                self.reference.patch_from = Some(path()?);
                self.ultra = true;
            }
            "--filelist" => self.lists.push(path()?),
            "--trace" => self.trace = Some(path()?),
            "--auto-threads" => self.logical_cores = path()?.as_os_str() == "logical",
            "--threads" => {
                let threads = u32::try_from(sized(key, &path()?)?).map_err(|_| incorrect(word))?;
                self.threads = Some(threads);
            }
            "--memory" | "--memlimit" | "--memlimit-decompress" => {
                self.memory_bytes = sized(key, &path()?)?;
            }
            "--block-size" | "--split" => self.block_bytes = sized(key, &path()?)?,
            "--maxdict" => self.training.size_bytes = Some(sized(key, &path()?)?),
            "--dictID" => {
                self.training.id =
                    u32::try_from(sized(key, &path()?)?).map_err(|_| incorrect(word))?;
            }
            "--stream-size" => self.stream_bytes = Some(sized(key, &path()?)?),
            "--size-hint" => self.tuning.size_hint = sized(key, &path()?)?,
            "--target-compressed-block-size" => {
                self.tuning.target_block_bytes = sized(key, &path()?)?;
            }
            _ => return Err(incorrect(word)),
        }
        Ok(())
    }
}
