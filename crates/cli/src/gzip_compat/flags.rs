//! Parses a command line of gzip: letters in clusters, long flags and their beginnings, in any order with files.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::slice::Iter;

use super::name::Name;
use crate::failure::{Failure, Result};

/// The longest suffix that gzip takes.
const SUFFIX_BYTES_MAX: usize = 30;

/// What to print instead of working.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Help,
    Version,
}

/// A parsed command line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GzipPlan {
    pub(super) asked: Option<Asked>,
    pub(super) files: Vec<PathBuf>,
    pub(super) decompress: bool,
    pub(super) stdout: bool,
    pub(super) test: bool,
    pub(super) list: bool,
    pub(super) force: bool,
    pub(super) keep: bool,
    pub(super) recursive: bool,
    pub(super) quiet: bool,
    pub(super) verbose: u32,
    /// Whether names are kept; by default those of compressed files.
    pub(super) names: Option<bool>,
    /// The same for times.
    pub(super) times: Option<bool>,
    /// With its dot, if it has one.
    pub(super) suffix: OsString,
    pub(super) level: i32,
    /// Whether chunks end by their content.
    pub(super) rsyncable: bool,
}

impl GzipPlan {
    fn of(name: Name) -> Self {
        let cat = matches!(name, Name::Zcat | Name::Gzcat);
        Self {
            asked: None,
            files: Vec::new(),
            decompress: name != Name::Gzip,
            stdout: cat,
            test: false,
            list: false,
            force: false,
            keep: false,
            recursive: false,
            quiet: false,
            verbose: 0,
            names: None,
            times: None,
            suffix: ".gz".into(),
            level: 6,
            rsyncable: false,
        }
    }

    /// Whether names are written to members, or taken from them.
    pub(super) fn names(&self) -> bool {
        self.names.unwrap_or(!self.decompress)
    }

    /// Whether times are written to members, or taken from them.
    pub(super) fn times(&self) -> bool {
        self.times.unwrap_or(!self.decompress)
    }
}

/// Long flags, and the letters that they stand for.
const LONG: [(&str, char); 24] = [
    ("ascii", 'a'),
    ("bits", 'b'),
    ("to-stdout", 'c'),
    ("stdout", 'c'),
    ("decompress", 'd'),
    ("uncompress", 'd'),
    ("force", 'f'),
    ("help", 'h'),
    ("keep", 'k'),
    ("list", 'l'),
    ("license", 'L'),
    ("no-name", 'n'),
    ("name", 'N'),
    ("quiet", 'q'),
    ("silent", 'q'),
    ("recursive", 'r'),
    ("suffix", 'S'),
    ("test", 't'),
    ("verbose", 'v'),
    ("version", 'V'),
    ("fast", '1'),
    ("best", '9'),
    ("rsyncable", 'R'),
    ("synchronous", 'Y'),
];

/// The plan that the flags of the environment variable `GZIP` begin. Those that choose files, or what is done with
/// them, are not for it.
pub(super) fn begin(name: Name, environment: &str) -> Result<GzipPlan> {
    let mut plan = GzipPlan::of(name);
    for word in environment.split_whitespace() {
        let refused = |why| {
            let what = format!("{word}: {why} in GZIP environment variable");
            Err(Failure::new(what).help("unset it, and give flags on the command line"))
        };
        match word.strip_prefix('-') {
            None | Some("") => return refused("non-option"),
            Some(text) => match text.strip_prefix('-') {
                Some(text) => long(&mut plan, text, &mut [].iter())?,
                None => cluster(&mut plan, word, &mut [].iter())?,
            },
        }
        let fit = GzipPlan {
            level: plan.level,
            names: plan.names,
            times: plan.times,
            quiet: plan.quiet,
            verbose: plan.verbose,
            rsyncable: plan.rsyncable,
            ..GzipPlan::of(name)
        };
        if plan != fit {
            return refused("option not valid");
        }
    }
    Ok(plan)
}

/// Parses a command line, including the program's name; its flags come after those that `plan` begins with.
pub(super) fn parse(mut plan: GzipPlan, argv: &[OsString]) -> Result<GzipPlan> {
    let mut line = argv.get(1..).unwrap_or_default().iter();
    while let Some(word) = line.next() {
        match word.to_str() {
            Some("--") => plan.files.extend(line.by_ref().map(PathBuf::from)),
            Some("-") => plan.files.push("-".into()),
            Some(text) if text.starts_with("--") => long(&mut plan, &text[2..], &mut line)?,
            Some(text) if text.starts_with('-') => cluster(&mut plan, text, &mut line)?,
            None if word.as_encoded_bytes().starts_with(b"-") => {
                return Err(unknown(&word.to_string_lossy()));
            }
            _ => plan.files.push(word.into()),
        }
        if plan.asked.is_some() {
            return Ok(plan);
        }
    }
    let suffix = plan.suffix.as_encoded_bytes();
    if (suffix.is_empty() && !plan.decompress) || suffix.len() > SUFFIX_BYTES_MAX {
        return Err(
            Failure::new(format!("invalid suffix '{}'", plan.suffix.display()))
                .help("choose one of 1 to 30 bytes"),
        );
    }
    Ok(plan)
}

fn long(plan: &mut GzipPlan, text: &str, line: &mut Iter<'_, OsString>) -> Result<()> {
    let (key, value) = match text.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (text, None),
    };
    let exact = LONG.iter().find(|(name, _)| *name == key);
    let mut begun = LONG.iter().filter(|(name, _)| name.starts_with(key));
    let found = exact.or_else(|| {
        let first = begun.next()?;
        // A beginning of several is fine if they mean the same.
        begun.all(|(_, letter)| *letter == first.1).then_some(first)
    });
    let Some((name, letter)) = found else {
        return Err(unknown(&format!("--{key}")));
    };
    match (letter, value) {
        ('S' | 'b', value) => {
            let value = match value {
                Some(value) => value.into(),
                None => next(&format!("--{name}"), line)?,
            };
            valued(plan, *letter, value)
        }
        (_, Some(_)) => Err(Failure::new(format!("--{name} takes no value")).help(USAGE)),
        (letter, None) => one(plan, *letter, &format!("--{name}")),
    }
}

fn cluster(plan: &mut GzipPlan, text: &str, line: &mut Iter<'_, OsString>) -> Result<()> {
    for (at, letter) in text.char_indices().skip(1) {
        if matches!(letter, 'S' | 'b') {
            let value = match &text[at + 1..] {
                "" => next(&format!("-{letter}"), line)?,
                value => value.into(),
            };
            return valued(plan, letter, value);
        }
        // Letters that only long flags stand for.
        if matches!(letter, 'R' | 'Y') {
            return Err(unknown(text));
        }
        one(plan, letter, text)?;
    }
    Ok(())
}

fn valued(plan: &mut GzipPlan, letter: char, value: OsString) -> Result<()> {
    match letter {
        'S' => plan.suffix = value,
        // Bits of another format: gzip ignores them, too.
        _ if value
            .to_str()
            .is_some_and(|text| text.parse::<u32>().is_ok()) => {}
        _ => {
            return Err(
                Failure::new(format!("-b needs a number, not '{}'", value.display())).help(USAGE),
            );
        }
    }
    Ok(())
}

fn one(plan: &mut GzipPlan, letter: char, word: &str) -> Result<()> {
    match letter {
        // Line ends are those of Unix everywhere.
        'a' => {}
        'c' => plan.stdout = true,
        'd' => plan.decompress = true,
        'f' => plan.force = true,
        'h' | 'H' | '?' => plan.asked = Some(Asked::Help),
        'k' => plan.keep = true,
        'l' => (plan.list, plan.decompress, plan.stdout) = (true, true, true),
        'L' | 'V' => plan.asked = Some(Asked::Version),
        'm' => plan.times = Some(false),
        'M' => plan.times = Some(true),
        'n' => (plan.names, plan.times) = (Some(false), Some(false)),
        'N' => (plan.names, plan.times) = (Some(true), Some(true)),
        'q' => (plan.quiet, plan.verbose) = (true, 0),
        'r' => plan.recursive = true,
        't' => (plan.test, plan.decompress, plan.stdout) = (true, true, true),
        'v' => (plan.quiet, plan.verbose) = (false, plan.verbose + 1),
        'R' => plan.rsyncable = true,
        // Files are complete before they have their name.
        'Y' => {}
        '1'..='9' => plan.level = letter as i32 - '0' as i32,
        _ => return Err(unknown(word)),
    }
    Ok(())
}

fn next(key: &str, line: &mut Iter<'_, OsString>) -> Result<OsString> {
    let missing = || Failure::new(format!("{key} needs a value")).help(USAGE);
    line.next().cloned().ok_or_else(missing)
}

fn unknown(word: &str) -> Failure {
    Failure::new(format!("unknown flag '{word}'")).help(USAGE)
}

/// The name of a known suffix, in lower case; the suffix itself comes first.
pub(super) fn suffixes(own: &OsStr) -> Vec<OsString> {
    let known = [".gz", ".z", ".taz", ".tgz", "-gz", "-z", "_z"];
    std::iter::once(own.to_owned())
        .chain(known.map(OsString::from))
        .collect()
}

const USAGE: &str = "usage: gzip [OPTION]... [FILE]...; -h lists them";

pub(crate) const HELP: &str = "\
Compress or decompress FILEs (by default, compress FILEs in place); perfkit under the name of gzip.

Usage: gzip [OPTION]... [FILE]...

  -c, --stdout        write to standard output, keep sources
  -d, --decompress    decompress
  -f, --force         overwrite, follow links, copy what is not compressed with -dc
  -h, --help          this help
  -k, --keep          keep sources
  -l, --list          list compressed files
  -n, --no-name       do not keep name and time (the default of -d)
  -N, --name          keep name and time (the default without -d)
  -q, --quiet         no warnings
  -r, --recursive     walk directories
  -S, --suffix=SUF    suffix of compressed files, .gz by default
  -t, --test          verify, but write nothing
  -v, --verbose       a line per file
  -V, --version       version
  -1, --fast … -9, --best   level, 6 by default
      --rsyncable     limit changes of the output to where the input changed, for rsync
      --synchronous, -a, -b   accepted

With no FILE, or with -, works on standard input. Files are compressed by all processors; xz, lzma, lz4 and zstd files
are decompressed, too. Exit codes: 0 success, 1 error, 2 warning.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<GzipPlan> {
        let argv: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        parse(begin(Name::of(&argv[0]).expect("a name"), "")?, &argv)
    }

    #[test]
    fn letters_long_flags_and_their_beginnings_mix_with_files() {
        let plan = read("gzip a -9kS .x b --no-n -- -c").expect("read");
        assert_eq!((plan.level, plan.keep, plan.stdout), (9, true, false));
        assert_eq!(plan.suffix, ".x");
        assert_eq!(plan.files, [PathBuf::from("a"), "b".into(), "-c".into()]);
        assert!(!plan.names() && !plan.times());
        let plan = read("gunzip --std --suffix=.y a").expect("read");
        assert!(plan.decompress && plan.stdout && plan.suffix == ".y" && !plan.names());
        let plan = read("zcat -N a").expect("read");
        assert!(plan.stdout && plan.names());
        let plan = read("gzip -l a").expect("read");
        assert!(plan.list && plan.decompress && plan.stdout);
        assert_eq!(read("gzip --fast").expect("read").level, 1);
        assert_eq!(read("gzip -qv a").expect("read").verbose, 1);
        assert_eq!(read("gzip -h -X").expect("read").asked, Some(Asked::Help));
    }

    #[test]
    fn the_environment_begins_and_has_only_some_flags() {
        let argv = ["gzip", "-4", "a"].map(OsString::from);
        let plan = parse(begin(Name::Gzip, " -9n  --verb").expect("read"), &argv).expect("read");
        assert_eq!((plan.level, plan.verbose, plan.names), (4, 1, Some(false)));
        for (words, told) in [
            ("a", "a: non-option in GZIP"),
            ("-9 -", "-: non-option in GZIP"),
            ("-nk", "-nk: option not valid in GZIP"),
            ("--decompress", "--decompress: option not valid"),
            ("-S.x", "-S.x: option not valid"),
            ("-h", "-h: option not valid"),
            ("--bad", "unknown flag '--bad'"),
        ] {
            let failure = begin(Name::Gzip, words).expect_err(words);
            assert!(failure.message().contains(told), "{words}: {failure:?}");
        }
    }

    #[test]
    fn mistakes_name_the_word() {
        for (line, told) in [
            ("gzip -X a", "unknown flag '-X'"),
            ("gzip -R a", "unknown flag '-R'"),
            ("gzip --bad a", "unknown flag '--bad'"),
            ("gzip --s a", "unknown flag '--s'"),
            ("gzip --keep=1 a", "--keep takes no value"),
            ("gzip a -S", "-S needs a value"),
            ("gzip --suffix= a", "invalid suffix ''"),
            ("gzip -b x a", "-b needs a number"),
        ] {
            let failure = read(line).expect_err(line);
            assert!(failure.message().contains(told), "{line}: {failure:?}");
        }
    }
}
