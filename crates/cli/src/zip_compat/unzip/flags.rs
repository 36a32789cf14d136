//! The command lines of `unzip` and `zipinfo`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use zipstream::{Charset, Entry, ReadOptions};

use crate::failure::Failure;
use crate::zip_compat::ended::{Ended, Stop, unzip as code};
use crate::zip_compat::matching::Patterns;
use crate::zip_compat::words::{Words, is_option};

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Extract,
    List,
    Verbose,
    Comment,
    Test,
    /// Contents alone.
    Pipe,
    /// Contents with the names of entries.
    Show,
    Info,
    /// Gives the archive the time of its newest entry.
    Stamp,
    Help,
}

/// What happens to files that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exists {
    Ask,
    Overwrite,
    Skip,
}

/// Which files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    All,
    /// Those that are new or older than their entry.
    Update,
    /// Those that exist and are older than their entry.
    Freshen,
}

/// How `zipinfo` shows an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Its name, and nothing else ever.
    Bare,
    Name,
    Short,
    Medium,
    Long,
    /// A page each, with all that is stated.
    Pages,
}

/// What `zipinfo` shows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Info {
    pub(super) style: Option<Style>,
    pub(super) header: bool,
    pub(super) totals: bool,
    pub(super) comment: bool,
    /// Times as digits that sort.
    pub(super) decimal: bool,
}

/// A command line.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) mode: Mode,
    pub(super) archive: PathBuf,
    pub(super) members: Patterns,
    pub(super) excludes: Patterns,
    pub(super) directory: Option<PathBuf>,
    pub(super) exists: Exists,
    pub(super) which: Which,
    pub(super) junk: bool,
    /// Names in lower case: those of systems without case, or all.
    pub(super) lower: u8,
    pub(super) backup: bool,
    /// Line ends are converted: above 0 of texts, above 1 of all.
    pub(super) texts: u8,
    /// Control characters stay in names of files.
    pub(super) controls: bool,
    /// Files get the owners that the archive states.
    pub(super) owners: bool,
    /// Files get set-user-ID, set-group-ID and sticky bits.
    pub(super) special: bool,
    /// Names may lead out of the directory by `..`.
    pub(super) climbs: bool,
    pub(super) quiet: u8,
    /// Directories get no times; above 1, files neither.
    pub(super) no_times: u8,
    pub(super) password: Option<Vec<u8>>,
    /// How names are read that state no charset: those of Unix, and others.
    pub(super) unix_charset: Option<Charset>,
    pub(super) charset: Option<Charset>,
    pub(super) info: Info,
}

/// What is not served, and what serves in its place.
const REFUSED: [(char, &str); 4] = [
    ('M', "pipe the output through a pager: | less"),
    ('U', "names that are not ASCII are shown as they are"),
    ('V', "versions of VMS files are not known here"),
    ('S', "line ends are not converted"),
];

/// Reads a command line; `info`: that of `zipinfo`.
pub(super) fn parse(argv: &[OsString], info: bool) -> Ended<Line> {
    let mut line = Line {
        mode: if info { Mode::Info } else { Mode::Extract },
        archive: PathBuf::new(),
        members: Patterns::default(),
        excludes: Patterns::default(),
        directory: None,
        exists: Exists::Ask,
        which: Which::All,
        junk: false,
        lower: 0,
        backup: false,
        texts: 0,
        controls: false,
        owners: false,
        special: false,
        climbs: false,
        quiet: 0,
        no_times: 0,
        password: None,
        unix_charset: None,
        charset: None,
        info: Info::default(),
    };
    let mut words = Words::new(argv);
    let mut archive = None;
    let (mut members, mut excludes) = (Vec::new(), Vec::new());
    while let Some(word) = words.next() {
        if word == "--" {
            continue;
        }
        if word == "--help" || (word == "-hh" && archive.is_none()) {
            line.mode = Mode::Help;
            return Ok(line);
        }
        if !is_option(word) {
            match archive {
                None => archive = Some(PathBuf::from(word)),
                Some(_) => members.push(word.to_owned()),
            }
            continue;
        }
        line.cluster(word, info, &mut words, &mut excludes)?;
    }
    line.members.any_case = line.excludes.any_case;
    line.members.within = line.excludes.within;
    let usage = |failure| Stop::new(code::USAGE, failure);
    for word in &members {
        line.members.add(word).map_err(usage)?;
    }
    for word in &excludes {
        line.excludes.add(word).map_err(usage)?;
    }
    match archive {
        Some(archive) => line.archive = archive,
        // Without an archive, `-v` shows the version.
        None => line.mode = Mode::Help,
    }
    Ok(line)
}

impl Line {
    /// Reads a word of options; `program`: of `zipinfo` itself, not of `unzip -Z`.
    fn cluster<'a>(
        &mut self,
        word: &OsStr,
        program: bool,
        words: &mut Words<'a>,
        excludes: &mut Vec<OsString>,
    ) -> Ended<()> {
        let text = word.to_string_lossy().into_owned();
        let mut letters = text[1..].chars();
        while let Some(letter) = letters.next() {
            // An option takes the rest of its word, or the next word.
            let mut value = |what: &str| -> Ended<OsString> {
                let rest = letters.as_str().to_owned();
                letters = "".chars();
                let mut next = || words.next().map(OsStr::to_owned);
                let value = match rest.is_empty() {
                    false => Some(OsString::from(rest)),
                    true => next(),
                };
                value.ok_or_else(|| refuse(format!("option -{letter} needs {what}"), "add it"))
            };
            match letter {
                'd' if !program => {
                    self.directory = Some(PathBuf::from(value("a directory")?));
                }
                'P' => {
                    self.password = Some(value("a password")?.into_encoded_bytes());
                }
                'x' => {
                    let rest = letters.as_str().to_owned();
                    letters = "".chars();
                    let attached = (!rest.is_empty()).then(|| OsString::from(rest));
                    let listed = words.list(false).into_iter().map(OsStr::to_owned);
                    let listed: Vec<_> = attached.into_iter().chain(listed).collect();
                    excludes.extend(listed);
                }
                'O' | 'I' => {
                    let label = value("a charset, such as CP866")?;
                    let charset = charset(letter, &label)?;
                    match letter {
                        'O' => self.charset = Some(charset),
                        _ => self.unix_charset = Some(charset),
                    }
                }
                'C' => self.excludes.any_case = true,
                'W' => self.excludes.within = true,
                'Z' => self.mode = Mode::Info,
                _ if self.mode == Mode::Info => self.info_letter(letter)?,
                _ => self.letter(letter)?,
            }
        }
        Ok(())
    }

    /// Whether the line ends of an entry are converted.
    pub(super) fn converts(&self, entry: &Entry<'_>) -> bool {
        self.texts > 1 || (self.texts == 1 && entry.internal_attributes() & 1 != 0)
    }

    /// How the archive is read.
    pub(super) fn read_options(&self) -> ReadOptions {
        let options = ReadOptions::new().unix_bytes(true).incomplete(true);
        let options = match self.charset {
            Some(charset) => options.charset(charset),
            None => options,
        };
        options.unix_charset(self.unix_charset)
    }

    /// An option of `unzip` without a value.
    fn letter(&mut self, letter: char) -> Ended<()> {
        match letter {
            'l' => self.choose(Mode::List),
            'v' => self.choose(Mode::Verbose),
            'z' => self.choose(Mode::Comment),
            't' => self.mode = Mode::Test,
            'p' => self.mode = Mode::Pipe,
            'c' => self.mode = Mode::Show,
            'T' => self.choose(Mode::Stamp),
            'f' => self.which = Which::Freshen,
            'u' => self.which = Which::Update,
            'o' => self.exists = Exists::Overwrite,
            'n' => self.exists = Exists::Skip,
            'j' => self.junk = true,
            'B' => self.backup = true,
            'a' => self.texts = self.texts.saturating_add(1),
            '^' => self.controls = true,
            'X' => self.owners = true,
            'K' => self.special = true,
            ':' => self.climbs = true,
            'L' => self.lower += 1,
            'q' => self.quiet = self.quiet.saturating_add(1),
            'h' => self.choose(Mode::Help),
            'D' => self.no_times = self.no_times.saturating_add(1),
            _ => return Err(unknown(letter)),
        }
        Ok(())
    }

    /// Sets the mode, unless contents are read: `-lt` tests.
    fn choose(&mut self, mode: Mode) {
        if !matches!(self.mode, Mode::Test | Mode::Pipe | Mode::Show) {
            self.mode = mode;
        }
    }

    /// An option of `zipinfo`.
    fn info_letter(&mut self, letter: char) -> Ended<()> {
        let info = &mut self.info;
        match letter {
            '1' => info.style = Some(Style::Bare),
            '2' => info.style = Some(Style::Name),
            's' => info.style = Some(Style::Short),
            'm' => info.style = Some(Style::Medium),
            'l' => info.style = Some(Style::Long),
            'h' => info.header = true,
            't' => info.totals = true,
            'z' => info.comment = true,
            'T' => info.decimal = true,
            'q' => self.quiet = self.quiet.saturating_add(1),
            'v' => info.style = Some(Style::Pages),
            _ => return Err(unknown(letter)),
        }
        Ok(())
    }
}

fn charset(letter: char, label: &OsStr) -> Ended<Charset> {
    let shown = label.to_string_lossy();
    shown.parse().map_err(|_| {
        refuse(
            format!("option -{letter}: no charset of names is called '{}'", shown),
            "use one such as CP437, CP850, CP866, CP932, CP936, Shift_JIS, GBK, EUC-KR, KOI8-R, UTF-8",
        )
    })
}

fn unknown(letter: char) -> Stop {
    let known = REFUSED.iter().find(|(refused, _)| *refused == letter);
    match known {
        Some((_, help)) => refuse(format!("option -{letter} is not served"), help),
        None => refuse(
            format!("option -{letter} is not known"),
            "`unzip` without words lists the options",
        ),
    }
}

fn refuse(message: String, help: &str) -> Stop {
    Stop::new(code::USAGE, Failure::new(message).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Ended<Line> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        parse(&words, false)
    }

    #[test]
    fn options_may_share_a_word_and_follow_names() {
        let line = read("-qoj a.zip src/* -x *.c *.h -d out").unwrap();
        assert_eq!(line.exists, Exists::Overwrite);
        assert_eq!((line.quiet, line.junk), (1, true));
        assert_eq!(line.directory, Some(PathBuf::from("out")));
        assert!(!line.members.is_empty() && line.excludes.unmet().count() == 2);
        assert_eq!(line.archive, PathBuf::from("a.zip"));
        assert_eq!(
            read("a.zip -dout").unwrap().directory,
            Some(PathBuf::from("out"))
        );
        assert_eq!(read("-Z1 a.zip").unwrap().info.style, Some(Style::Bare));
        assert_eq!(read("-lt a.zip").unwrap().mode, Mode::Test);
    }

    #[test]
    fn charsets_are_stated_for_each_kind_of_system() {
        let options = read("-l -O cp866 -I koi8-r a.zip").unwrap().read_options();
        assert_eq!(options.charset, "cp866".parse().ok());
        assert_eq!(options.unix_charset, "koi8-r".parse().ok());
        let options = read("-Ocp932 a.zip").unwrap().read_options();
        assert_eq!(
            (options.charset.is_some(), options.unix_charset),
            (true, None)
        );
        assert!(read("-O nothing a.zip").is_err() && read("a.zip -O").is_err());
    }

    #[test]
    fn what_is_not_served_is_refused_by_name() {
        for line in ["-S a.zip", "-V a.zip", "-M a.zip", "-Y a.zip"] {
            let stop = read(line).unwrap_err();
            assert_eq!(stop.code, code::USAGE, "{line}");
            let failure = stop.failure.expect("a message");
            assert!(failure.message().contains("option -"), "{line}");
            assert!(failure.help_text().is_some(), "{line}");
        }
    }
}
