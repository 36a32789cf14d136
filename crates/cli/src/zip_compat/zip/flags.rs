//! The command line of `zip`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use zipstream::{LineEnds, Merge, Method, name};

use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::matching::Patterns;
use crate::zip_compat::words::{Words, is_option};
use crate::zip_compat::zip::log::Wanted;
use crate::zip_compat::zip::options::{self, Known, Takes};
use crate::zip_compat::zip::values::{Split, date, listed, refuse, split_size};

/// What is done to the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Merge(Merge),
    Delete,
    /// Copies entries into another archive.
    Copy,
    /// Packs what differs from an archive into another one.
    Difference,
    /// Corrects the offsets of a self-extracting archive.
    Adjust,
    /// Copies all entries of an archive whose directory is there.
    Fix,
    /// Copies the intact entries of an archive, whatever is left of it.
    Recover,
    Help,
    Version,
}

/// How directories are walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    No,
    Paths,
    /// From here, names by their last parts.
    Patterns,
}

/// A command line.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) action: Action,
    pub(super) archive: Option<PathBuf>,
    /// The archive that is written, if it is another one.
    pub(super) output: Option<PathBuf>,
    pub(super) names: Vec<OsString>,
    pub(super) walk: Walk,
    pub(super) junk: bool,
    pub(super) moves: bool,
    pub(super) tests: bool,
    /// The command that tests, in place of this program.
    pub(super) tester: Option<String>,
    pub(super) log: Wanted,
    pub(super) split: Split,
    /// Whether the archive is to grow in its place.
    pub(super) grows: bool,
    /// The line ends that texts get.
    pub(super) ends: Option<LineEnds>,
    pub(super) dos_names: bool,
    pub(super) includes: Patterns,
    pub(super) excludes: Patterns,
    pub(super) names_from_stdin: bool,
    pub(super) comment: bool,
    pub(super) entry_comments: bool,
    pub(super) latest: bool,
    pub(super) shows: bool,
    pub(super) quiet: bool,
    pub(super) verbose: bool,
    pub(super) links: bool,
    /// Whether named pipes are read.
    pub(super) pipes: bool,
    /// Suffixes of what is stored.
    pub(super) stored: Vec<String>,
    pub(super) password: Option<Vec<u8>>,
    pub(super) encrypts: bool,
    pub(super) directories: bool,
    /// Whether entries have no extra fields: only old times, and no owners.
    pub(super) bare: bool,
    pub(super) level: i32,
    pub(super) method: Method,
    /// Seconds since 1970: only files from then on.
    pub(super) after: Option<i64>,
    /// The same: only files before.
    pub(super) before: Option<i64>,
}

/// What is stored unless `-n` says otherwise.
const STORED: [&str; 6] = [".z", ".zip", ".zoo", ".arc", ".lzh", ".arj"];

/// Reads a command line.
pub(super) fn parse(argv: &[OsString]) -> Ended<Line> {
    let mut line = Line {
        action: Action::Merge(Merge::Replace),
        archive: None,
        output: None,
        names: Vec::new(),
        walk: Walk::No,
        junk: false,
        moves: false,
        tests: false,
        tester: None,
        log: Wanted::default(),
        split: Split::AsItIs,
        grows: false,
        ends: None,
        dos_names: false,
        includes: Patterns::default(),
        excludes: Patterns::default(),
        names_from_stdin: false,
        comment: false,
        entry_comments: false,
        latest: false,
        shows: false,
        quiet: false,
        verbose: false,
        links: false,
        pipes: false,
        stored: STORED.map(str::to_owned).to_vec(),
        password: None,
        encrypts: false,
        directories: true,
        bare: false,
        level: 6,
        method: Method::Deflate,
        after: None,
        before: None,
    };
    let mut words = Words::new(argv);
    let mut lists = Lists::default();
    while let Some(word) = words.next() {
        if word == "--" {
            if line.archive.is_none() {
                return Err(refuse(
                    "-- comes before the archive",
                    "name the archive first",
                ));
            }
            line.names.extend(words.rest().iter().cloned());
        } else if !is_option(word) {
            line.named(word);
        } else {
            line.word(word, &mut words, &mut lists)?;
        }
    }
    let (ignores_case, within) = (lists.ignores_case, line.excludes.within);
    for (patterns, words) in [
        (&mut line.includes, lists.include),
        (&mut line.excludes, lists.exclude),
    ] {
        (patterns.any_case, patterns.within) = (ignores_case, within);
        for word in words {
            patterns
                .add(&stripped(&word))
                .map_err(|failure| Stop::new(code::USAGE, failure))?;
        }
    }
    Ok(line)
}

/// Words that become patterns when it is known how they are compared.
#[derive(Default)]
struct Lists {
    include: Vec<OsString>,
    exclude: Vec<OsString>,
    ignores_case: bool,
}

/// A pattern without what the names of entries do not start with.
pub(super) fn stripped(word: &OsStr) -> OsString {
    let text = name::of_bytes(word.as_encoded_bytes());
    let mut rest = text.as_ref();
    while let Some(shorter) = rest.strip_prefix("./").or_else(|| rest.strip_prefix('/')) {
        rest = shorter;
    }
    name::system_path(rest).into_owned().into_os_string()
}

impl Line {
    /// Patterns that are compared as those of this line are.
    pub(super) fn patterns(&self) -> Patterns {
        self.excludes.alike()
    }

    /// Whether the lists allow a name.
    pub(super) fn wants_name(&mut self, name: &str) -> bool {
        let included = self.includes.is_empty() || self.includes.matches(name);
        included && !self.excludes.matches(name)
    }

    /// Whether the lists allow a name, and the dates what was changed in this second since 1970.
    pub(super) fn wants(&mut self, name: &str, modified: i64) -> bool {
        let too_old = self.after.is_some_and(|after| modified < after);
        let too_new = self.before.is_some_and(|before| modified >= before);
        self.wants_name(name) && !too_old && !too_new
    }

    /// A word that is no option.
    fn named(&mut self, word: &OsStr) {
        match self.archive {
            None => self.archive = Some(PathBuf::from(word)),
            Some(_) => self.names.push(word.to_owned()),
        }
    }

    /// A word of options.
    fn word<'a>(&mut self, word: &OsStr, words: &mut Words<'a>, lists: &mut Lists) -> Ended<()> {
        let text = word.to_string_lossy().into_owned();
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, value),
                None => (long, ""),
            };
            let name = match name {
                "out" => "output-file",
                "no-extra" => "strip-extra",
                "copy" => "copy-entries",
                "version" => {
                    self.action = Action::Version;
                    return Ok(());
                }
                other => other,
            };
            let known = long_option(name)?;
            self.option(known, value, words, lists)?;
            return Ok(());
        }
        let mut rest = &text[1..];
        while !rest.is_empty() {
            let known = options::all().find(|known| rest.starts_with(known.short));
            let Some(known) = known else {
                let letter = rest.chars().next().unwrap_or('?');
                return Err(refuse(
                    &format!("option -{letter} is not known"),
                    "`zip -h` lists the options",
                ));
            };
            rest = &rest[known.short.len()..];
            let value = match known.takes {
                Takes::Nothing => "",
                Takes::Value | Takes::List => std::mem::take(&mut rest),
            };
            // A minus behind an option turns it off.
            if known.takes == Takes::Nothing && rest.starts_with('-') {
                rest = &rest[1..];
                self.off(known)?;
                continue;
            }
            self.option(known, value, words, lists)?;
        }
        Ok(())
    }

    fn option(
        &mut self,
        known: &Known,
        attached: &str,
        words: &mut Words<'_>,
        lists: &mut Lists,
    ) -> Ended<()> {
        let name = known.short;
        if let Some(why) = known.refused {
            return Err(refuse(&format!("option -{name} is not served"), why));
        }
        let needs = || {
            refuse(
                &format!("option -{name} needs a value"),
                "add it behind the option",
            )
        };
        match known.takes {
            Takes::Nothing => self.flag(known, lists),
            Takes::Value => {
                let value = match attached.strip_prefix('=').unwrap_or(attached) {
                    "" => words.next().ok_or_else(needs)?.to_owned(),
                    attached => attached.into(),
                };
                self.value(name, value)
            }
            Takes::List => {
                let attached = attached.strip_prefix('=').unwrap_or(attached);
                if let Some(path) = attached.strip_prefix('@') {
                    lists.of(name).extend(listed(path)?);
                    return Ok(());
                }
                // A pattern in the same word is the whole list.
                if !attached.is_empty() {
                    lists.of(name).push(OsString::from(attached));
                    return Ok(());
                }
                let all = words.list(true);
                if all.is_empty() {
                    return Err(needs());
                }
                let all = all.into_iter().map(OsStr::to_owned);
                lists.of(name).extend(all);
                Ok(())
            }
        }
    }

    fn flag(&mut self, known: &Known, lists: &mut Lists) -> Ended<()> {
        match known.short {
            "r" => self.walk = Walk::Paths,
            "R" => self.walk = Walk::Patterns,
            "j" => self.junk = true,
            "u" => return self.choose(Action::Merge(Merge::Update)),
            "f" => return self.choose(Action::Merge(Merge::Freshen)),
            "FS" => return self.choose(Action::Merge(Merge::Sync)),
            "d" => return self.choose(Action::Delete),
            "A" => return self.choose(Action::Adjust),
            "DF" => return self.choose(Action::Difference),
            "U" => return self.choose(Action::Copy),
            "F" => return self.choose(Action::Fix),
            "FF" => return self.choose(Action::Recover),
            "la" => self.log.appends = true,
            "li" => self.log.all = true,
            "m" => self.moves = true,
            "T" => self.tests = true,
            "@" => self.names_from_stdin = true,
            "z" => self.comment = true,
            "c" => self.entry_comments = true,
            "o" => self.latest = true,
            "sf" => self.shows = true,
            "q" => self.quiet = true,
            "v" => self.verbose = true,
            "y" => self.links = true,
            "FI" => self.pipes = true,
            "e" => self.encrypts = true,
            "D" => self.directories = false,
            "X" => self.bare = true,
            "g" => self.grows = true,
            "l" => self.ends = Some(LineEnds::Dos),
            "ll" => self.ends = Some(LineEnds::Unix),
            "k" => self.dos_names = true,
            "ic" => lists.ignores_case = true,
            "ws" => self.excludes.within = true,
            "h" | "h2" => self.action = Action::Help,
            "L" => self.action = Action::Version,
            // Its records and progress are not what a script sees.
            "fd" | "fz" | "fz-" | "su" | "sv" | "sU" | "sd" | "sc" | "so" | "db" | "dc" | "dd"
            | "dg" | "du" | "dv" => {}
            digit => self.level = digit.parse().unwrap_or(self.level),
        }
        Ok(())
    }

    fn off(&mut self, known: &Known) -> Ended<()> {
        match known.short {
            "X" => self.bare = false,
            "sf" => self.shows = false,
            "fd" | "fz" => {}
            name => {
                return Err(refuse(
                    &format!("option -{name} cannot be turned off"),
                    "leave it out",
                ));
            }
        }
        Ok(())
    }

    fn choose(&mut self, action: Action) -> Ended<()> {
        // The stronger of the two repairs does what both do.
        if matches!(
            (self.action, action),
            (Action::Fix, Action::Recover) | (Action::Recover, Action::Fix)
        ) {
            self.action = Action::Recover;
            return Ok(());
        }
        let first = Action::Merge(Merge::Replace);
        if self.action != first && self.action != action {
            return Err(refuse(
                "two actions are asked for",
                "use one of -u, -f, -d, -FS, -DF, -U, -F, -FF and -A",
            ));
        }
        self.action = action;
        Ok(())
    }

    fn value(&mut self, name: &str, value: OsString) -> Ended<()> {
        match name {
            "n" => {
                let text = value.to_string_lossy().to_lowercase();
                let suffixes = text.split([':', ',']).filter(|suffix| !suffix.is_empty());
                self.stored = suffixes.map(str::to_owned).collect();
            }
            "P" => {
                self.encrypts = true;
                self.password = Some(value.into_encoded_bytes());
            }
            "TT" => self.tester = Some(value.to_string_lossy().into_owned()),
            "lf" => self.log.path = Some(PathBuf::from(value)),
            "s" => self.split = split_size(&value)?,
            "O" => self.output = Some(PathBuf::from(value)),
            "t" => self.after = Some(date(&value)?),
            "tt" => self.before = Some(date(&value)?),
            "Z" => {
                self.method = match value.to_string_lossy().as_ref() {
                    "store" => Method::Stored,
                    "deflate" => Method::Deflate,
                    other => {
                        return Err(refuse(
                            &format!("option -Z: method '{other}' is not written"),
                            "use store or deflate, or `perfkit zip --method zstd`",
                        ));
                    }
                };
            }
            // Temporary files are where the archive will be.
            _ => {}
        }
        Ok(())
    }
}

/// The option of a long name, or of the start of one that no other one has.
fn long_option(name: &str) -> Ended<&'static Known> {
    if let Some(known) = options::all().find(|known| known.long == name) {
        return Ok(known);
    }
    let mut starting = options::all().filter(|known| known.long.starts_with(name));
    let (what, help) = match (starting.next(), starting.next()) {
        (Some(known), None) => return Ok(known),
        (Some(one), Some(other)) => {
            let help = format!("it may be --{} or --{}", one.long, other.long);
            ("has several meanings", help)
        }
        (None, _) => ("is not known", "`zip -h` lists the options".to_owned()),
    };
    Err(refuse(&format!("option --{name} {what}"), &help))
}

impl Lists {
    fn of(&mut self, name: &str) -> &mut Vec<OsString> {
        match name {
            "i" => &mut self.include,
            _ => &mut self.exclude,
        }
    }
}

#[cfg(test)]
mod tests;
