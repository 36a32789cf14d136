//! Parses a command line of xz: letters in clusters, long flags and their beginnings, in any order with files.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::slice::Iter;

use crate::commands::formats::Format;
use crate::commands::formats::settings::{Check, LzmaSettings};
use crate::failure::{Failure, Result};

/// A name of xz.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name {
    pub(super) text: &'static str,
    decompresses: bool,
    cat: bool,
    lzma: bool,
}

/// All names: whether they decompress, write to standard output, and are for lzma.
const NAMES: [(&str, bool, bool, bool); 6] = [
    ("xz", false, false, false),
    ("unxz", true, false, false),
    ("xzcat", true, true, false),
    ("lzma", false, false, true),
    ("unlzma", true, false, true),
    ("lzcat", true, true, true),
];

impl Name {
    /// The name in the first argument of a command line.
    pub(crate) fn of(program: &OsStr) -> Option<Self> {
        let name = Path::new(program).file_name()?.to_str()?;
        let name = name.strip_suffix(".exe").unwrap_or(name);
        let found = NAMES.into_iter().find(|(text, ..)| *text == name)?;
        let (text, decompresses, cat, lzma) = found;
        Some(Self {
            text,
            decompresses,
            cat,
            lzma,
        })
    }
}

/// What to print instead of working.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Help,
    Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Compress,
    Decompress,
    Test,
    List,
}

/// A parsed command line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct XzPlan {
    pub(super) asked: Option<Asked>,
    pub(super) mode: Mode,
    /// `None`: xz is written, and both are read.
    pub(super) format: Option<Format>,
    pub(super) stdout: bool,
    pub(super) keep: bool,
    pub(super) force: bool,
    pub(super) quiet: u32,
    pub(super) verbose: u32,
    /// Whether warnings are no failure.
    pub(super) no_warn: bool,
    pub(super) sparse: bool,
    pub(super) single: bool,
    pub(super) suffix: Option<OsString>,
    pub(super) files: Vec<PathBuf>,
    /// A list of files, and whether names end with NUL.
    pub(super) list: Option<PathBuf>,
    pub(super) level: i32,
    pub(super) check: Check,
    pub(super) block_bytes: Option<NonZeroU64>,
    pub(super) lzma: LzmaSettings,
    pub(super) limit_compress: Option<u64>,
    pub(super) limit_decompress: Option<u64>,
    pub(super) adjusts: bool,
    /// Whether lists are for scripts.
    pub(super) robot: bool,
}

/// Long flags, the letters that they stand for, and whether they have a value: 0 none, 1 one, 2 perhaps.
const LONG: [(&str, char, u8); 44] = [
    ("compress", 'z', 0),
    ("decompress", 'd', 0),
    ("uncompress", 'd', 0),
    ("test", 't', 0),
    ("list", 'l', 0),
    ("keep", 'k', 0),
    ("force", 'f', 0),
    ("stdout", 'c', 0),
    ("to-stdout", 'c', 0),
    ("single-stream", 's', 0),
    ("no-sparse", 'p', 0),
    ("suffix", 'S', 1),
    ("files", 'n', 2),
    ("files0", 'N', 2),
    ("format", 'F', 1),
    ("check", 'C', 1),
    ("ignore-check", '!', 0),
    ("block-size", 'b', 1),
    ("block-list", '!', 1),
    ("memlimit-compress", 'm', 1),
    ("memlimit-decompress", 'D', 1),
    ("memlimit-mt-decompress", 'w', 1),
    ("memory", 'M', 1),
    ("memlimit", 'M', 1),
    ("no-adjust", 'a', 0),
    ("threads", 'T', 1),
    ("flush-timeout", '!', 1),
    ("extreme", 'e', 0),
    ("fast", '0', 0),
    ("best", '9', 0),
    ("lzma1", 'L', 2),
    ("lzma2", 'L', 2),
    ("x86", '!', 2),
    ("powerpc", '!', 2),
    ("arm", '!', 2),
    ("arm64", '!', 2),
    ("delta", '!', 2),
    ("quiet", 'q', 0),
    ("verbose", 'v', 0),
    ("no-warn", 'Q', 0),
    ("robot", 'r', 0),
    ("info-memory", '!', 0),
    ("help", 'h', 0),
    ("version", 'V', 0),
];

/// Parses a command line, including the program's name; the words of `defaults` come first.
pub(super) fn parse(name: Name, defaults: &[OsString], argv: &[OsString]) -> Result<XzPlan> {
    let mut plan = XzPlan {
        asked: None,
        mode: match name.decompresses {
            true => Mode::Decompress,
            false => Mode::Compress,
        },
        format: name.lzma.then_some(Format::Lzma),
        stdout: name.cat,
        keep: false,
        force: false,
        quiet: 0,
        verbose: 0,
        no_warn: false,
        sparse: true,
        single: false,
        suffix: None,
        files: Vec::new(),
        list: None,
        level: 6,
        check: Check::default(),
        block_bytes: None,
        lzma: LzmaSettings::default(),
        limit_compress: None,
        limit_decompress: None,
        adjusts: true,
        robot: false,
    };
    words(&mut plan, defaults)?;
    // Names of files are no defaults.
    plan.files.clear();
    words(&mut plan, argv.get(1..).unwrap_or_default())?;
    if plan.robot && (plan.mode != Mode::List || plan.asked.is_some()) {
        return Err(unsupported("--robot").help("it goes with --list; leave it out"));
    }
    Ok(plan)
}

fn words(plan: &mut XzPlan, line: &[OsString]) -> Result<()> {
    let mut line = line.iter();
    while let Some(word) = line.next() {
        match word.to_str() {
            Some("--") => plan
                .files
                .extend(line.by_ref().map(|word| match word.to_str() {
                    Some("-") => "./-".into(),
                    _ => PathBuf::from(word),
                })),
            Some("-") => plan.files.push("-".into()),
            Some(text) if text.starts_with("--") => long(plan, &text[2..], &mut line)?,
            Some(text) if text.starts_with('-') => cluster(plan, text, &mut line)?,
            None if word.as_encoded_bytes().starts_with(b"-") => {
                return Err(unknown(&word.to_string_lossy()));
            }
            _ => plan.files.push(word.into()),
        }
        if plan.asked.is_some() {
            return Ok(());
        }
    }
    Ok(())
}

fn long(plan: &mut XzPlan, text: &str, line: &mut Iter<'_, OsString>) -> Result<()> {
    let (key, value) = match text.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (text, None),
    };
    if matches!(key, "long-help") {
        plan.asked = Some(Asked::Help);
        return Ok(());
    }
    let exact = LONG.iter().find(|(name, ..)| *name == key);
    let mut begun = LONG.iter().filter(|(name, ..)| name.starts_with(key));
    let found = exact.or_else(|| {
        let first = begun.next()?;
        // A beginning of several is fine if they mean the same.
        begun
            .all(|(_, letter, _)| *letter == first.1)
            .then_some(first)
    });
    let Some((name, letter, takes)) = found else {
        return Err(unknown(&format!("--{key}")));
    };
    let flag = format!("--{name}");
    match (letter, takes, value) {
        ('!', ..) => Err(unsupported(&flag)
            .help("leave it out, or call the xz of the system; -h lists what is taken")),
        (_, 0, Some(_)) => Err(Failure::new(format!("{flag} takes no value")).help(USAGE)),
        (letter, 0, None) => one(plan, *letter, &flag),
        (letter, 1, value) => {
            let value = match value {
                Some(value) => value.into(),
                None => next(&flag, line)?,
            };
            valued(plan, *letter, &flag, &value)
        }
        (letter, _, value) => valued(plan, *letter, &flag, OsStr::new(value.unwrap_or_default())),
    }
}

fn cluster(plan: &mut XzPlan, text: &str, line: &mut Iter<'_, OsString>) -> Result<()> {
    for (at, letter) in text.char_indices().skip(1) {
        if matches!(letter, 'C' | 'F' | 'M' | 'S' | 'T') {
            let flag = format!("-{letter}");
            let value = match &text[at + 1..] {
                "" => next(&flag, line)?,
                value => value.into(),
            };
            return valued(plan, letter, &flag, &value);
        }
        // The others stand for long flags only.
        if !"cdefhHlkqQtvVz0123456789".contains(letter) {
            return Err(unknown(&format!("-{letter}")));
        }
        one(plan, letter, &format!("-{letter}"))?;
    }
    Ok(())
}

fn one(plan: &mut XzPlan, letter: char, flag: &str) -> Result<()> {
    match letter {
        'z' => plan.mode = Mode::Compress,
        'd' => plan.mode = Mode::Decompress,
        't' => plan.mode = Mode::Test,
        'l' => plan.mode = Mode::List,
        'c' => plan.stdout = true,
        'k' => plan.keep = true,
        'f' => plan.force = true,
        'e' => plan.lzma.extreme = true,
        'q' => match plan.verbose {
            0 => plan.quiet += 1,
            _ => plan.verbose -= 1,
        },
        'v' => match plan.quiet {
            0 => plan.verbose += 1,
            _ => plan.quiet -= 1,
        },
        'Q' => plan.no_warn = true,
        's' => plan.single = true,
        'p' => plan.sparse = false,
        'a' => plan.adjusts = false,
        'r' => plan.robot = true,
        'h' | 'H' => plan.asked = Some(Asked::Help),
        'V' => plan.asked = Some(Asked::Version),
        '0'..='9' => {
            plan.level = letter as i32 - '0' as i32;
            // A level takes the place of settings before it.
            plan.lzma = LzmaSettings {
                extreme: plan.lzma.extreme,
                ..LzmaSettings::default()
            };
        }
        _ => return Err(unknown(flag)),
    }
    Ok(())
}

fn valued(plan: &mut XzPlan, letter: char, flag: &str, value: &OsStr) -> Result<()> {
    let text = value.to_str().unwrap_or_default();
    let odd = |help: &str| Failure::new(format!("{flag}: unsupported value '{text}'")).help(help);
    let bytes =
        || amount(text).ok_or_else(|| odd("write a number, then optionally KiB, MiB or GiB"));
    let limit = || match text.strip_suffix('%') {
        Some(_) => Err(odd("write the limit in bytes, KiB, MiB or GiB; 0 is none")),
        None => Ok(match bytes()? {
            0 => None,
            bytes => Some(bytes),
        }),
    };
    match letter {
        'S' if value.is_empty() || value.as_encoded_bytes().contains(&b'/') => {
            return Err(odd("choose a suffix without a slash, such as .xz"));
        }
        'S' => plan.suffix = Some(value.to_owned()),
        'n' | 'N' if plan.list.is_some() => {
            return Err(Failure::new("only one list of files can be given").help("join them"));
        }
        'n' | 'N' => {
            plan.list = Some(match value.is_empty() {
                true => "-".into(),
                false => value.into(),
            });
        }
        'F' => {
            plan.format = match text {
                "auto" => None,
                "xz" => Some(Format::Xz),
                "lzma" | "alone" => Some(Format::Lzma),
                _ => return Err(odd("choose auto, xz or lzma")),
            }
        }
        'C' => {
            plan.check = match text {
                "none" => Check::None,
                "crc32" => Check::Crc32,
                "crc64" => Check::Crc64,
                "sha256" => Check::Sha256,
                _ => return Err(odd("choose none, crc32, crc64 or sha256")),
            }
        }
        'b' => plan.block_bytes = NonZeroU64::new(bytes()?),
        'M' => {
            plan.limit_compress = limit()?;
            plan.limit_decompress = limit()?;
        }
        'm' => plan.limit_compress = limit()?,
        'D' => plan.limit_decompress = limit()?,
        // One thread is within any limit of several.
        'w' => _ = limit()?,
        'T' => {
            // At most so many are used.
            text.trim_start_matches('+')
                .parse::<u32>()
                .map_err(|_| odd("write a number; 0 is one per processor"))?;
        }
        _ => filter(plan, flag, text)?,
    }
    Ok(())
}

/// The settings of `--lzma1` and `--lzma2`.
fn filter(plan: &mut XzPlan, flag: &str, list: &str) -> Result<()> {
    plan.lzma = LzmaSettings::default();
    plan.level = 6;
    for setting in list.split(',').filter(|one| !one.is_empty()) {
        let odd = || {
            Failure::new(format!("{flag}: unsupported setting '{setting}'")).help(
                "settings: preset=0-9[e], dict=4KiB-1536MiB, lc=0-4, lp=0-4 (together 4 at most), pb=0-4, \
                 mode=fast|normal, nice=8-273, mf=hc4|bt4, depth=0-1000",
            )
        };
        let (key, value) = setting.split_once('=').ok_or_else(odd)?;
        let within = |most: u64| {
            let number = amount(value).filter(|number| *number <= most);
            number.and_then(|number| u32::try_from(number).ok())
        };
        let own = &mut plan.lzma;
        match key {
            "preset" => {
                let digit = value.strip_suffix('e').unwrap_or(value);
                plan.level = match digit.parse::<i32>() {
                    Ok(level @ 0..=9) => level,
                    _ => return Err(odd()),
                };
                *own = LzmaSettings {
                    extreme: value.ends_with('e'),
                    ..LzmaSettings::default()
                };
            }
            "dict" => {
                let bytes = within(1536 << 20).filter(|bytes| *bytes >= 4096);
                own.dictionary_bytes = Some(bytes.ok_or_else(odd)?);
            }
            "lc" => own.lc = Some(within(4).ok_or_else(odd)?),
            "lp" => own.lp = Some(within(4).ok_or_else(odd)?),
            "pb" => own.pb = Some(within(4).ok_or_else(odd)?),
            "nice" => {
                let length = within(273).filter(|length| *length >= 8);
                own.nice = Some(length.ok_or_else(odd)?);
            }
            "depth" => own.depth = Some(within(1000).ok_or_else(odd)?.cast_signed()),
            "mode" if value == "fast" => own.fast = Some(true),
            "mode" if value == "normal" => own.fast = Some(false),
            "mf" if value == "hc4" => own.hash_chain = Some(true),
            "mf" if value == "bt4" => own.hash_chain = Some(false),
            _ => return Err(odd()),
        }
        if own.lc.unwrap_or(3) + own.lp.unwrap_or(0) > 4 {
            return Err(odd());
        }
    }
    Ok(())
}

/// A number with an optional unit, each of which is a power of two.
fn amount(text: &str) -> Option<u64> {
    if text == "max" {
        return Some(u64::MAX);
    }
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let shift = match unit {
        "" => 0,
        "k" | "kB" | "K" | "KiB" | "Ki" | "KB" => 10,
        "m" | "M" | "MiB" | "Mi" | "MB" => 20,
        "g" | "G" | "GiB" | "Gi" | "GB" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn next(key: &str, line: &mut Iter<'_, OsString>) -> Result<OsString> {
    let missing = || Failure::new(format!("{key} needs a value")).help(USAGE);
    line.next().cloned().ok_or_else(missing)
}

fn unsupported(flag: &str) -> Failure {
    Failure::new(format!("{flag} is not supported"))
}

fn unknown(word: &str) -> Failure {
    Failure::new(format!("unrecognized option '{word}'")).help(USAGE)
}

const USAGE: &str = "usage: xz [OPTION]... [FILE]...; -h lists them";

pub(crate) const HELP: &str = "\
Compress or decompress FILEs in the .xz format; perfkit under the name of xz.

Usage: xz [OPTION]... [FILE]...

  -z, --compress          compress
  -d, --decompress        decompress
  -t, --test              verify, but write nothing
  -l, --list              list .xz files; with -v their streams and blocks, with --robot for scripts
  -k, --keep              keep sources
  -f, --force             overwrite, follow links, copy what is not compressed with -dc
  -c, --stdout            write to standard output, keep sources
      --single-stream     decompress only the first stream
      --no-sparse         leave no holes for zeros
  -S, --suffix=.SUF       suffix of compressed files
      --files[=FILE]      read names of sources from FILE; --files0 with NUL behind each
  -F, --format=FMT        auto (the default), xz or lzma
  -C, --check=CHECK       none, crc32, crc64 (the default) or sha256
  -0 ... -9               level, 6 by default; -e, --extreme searches for longer
  -T, --threads=NUM       at most so many threads; one is used
      --block-size=SIZE   content per block, at most
  -M, --memlimit=LIMIT    limit of memory; --memlimit-compress and --memlimit-decompress for one way
      --no-adjust         refuse a level above the limit, instead of a smaller dictionary
      --lzma1=, --lzma2=  preset, dict, lc, lp, pb, mode, nice, mf, depth: preset=6e,dict=4MiB
  -q, --quiet             no warnings; twice: no errors
  -v, --verbose           a line per file
  -Q, --no-warn           warnings are no failure
  -h, --help; -H; -V, --version

With no FILE, or with -, works on standard input. XZ_DEFAULTS and XZ_OPT hold flags that come first. What is not
listed is refused: --ignore-check, --block-list, --flush-timeout, other filters and formats.
Exit codes: 0 success, 1 error, 2 warning.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<XzPlan> {
        let argv: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        parse(Name::of(&argv[0]).expect("a name"), &[], &argv)
    }

    #[test]
    fn letters_long_flags_and_their_beginnings_mix_with_files() {
        let plan = read("xz a -9keS .x b --decom -- -").expect("read");
        assert_eq!(
            (plan.level, plan.keep, plan.mode),
            (9, true, Mode::Decompress)
        );
        assert!(plan.lzma.extreme);
        assert_eq!(plan.suffix.as_deref(), Some(OsStr::new(".x")));
        assert_eq!(plan.files, [PathBuf::from("a"), "b".into(), "./-".into()]);
        assert_eq!(read("lzma a").expect("read").format, Some(Format::Lzma));
        assert_eq!(
            read("xz -Flzma --check crc32 a").expect("read").check,
            Check::Crc32
        );
        let plan = read("xz --lzma2=preset=9e,dict=1MiB,lc=4 a").expect("read");
        assert_eq!((plan.level, plan.lzma.dictionary_bytes), (9, Some(1 << 20)));
        assert_eq!(read("xz -qv a").expect("read").quiet, 0);
        let plan = read("unxz --rob -lv a").expect("read");
        assert_eq!((plan.mode, plan.robot, plan.verbose), (Mode::List, true, 1));
        assert_eq!(read("xz -ld a").expect("read").mode, Mode::Decompress);
    }

    #[test]
    fn mistakes_name_the_word() {
        for (line, told) in [
            ("xz --bad a", "unrecognized option '--bad'"),
            ("xz -X a", "unrecognized option '-X'"),
            ("xz --robot -V", "--robot"),
            ("xz --format=raw a", "raw"),
            ("xz --check=md5 a", "md5"),
            ("xz --lzma2=lc=4,lp=1 a", "lp=1"),
            ("xz --keep=1 a", "--keep takes no value"),
            ("xz a -S", "-S needs a value"),
            ("xz -T x a", "-T"),
            ("xz --x86 a", "--x86"),
        ] {
            let failure = read(line).expect_err(line);
            assert!(failure.message().contains(told), "{line}: {failure:?}");
        }
    }
}
