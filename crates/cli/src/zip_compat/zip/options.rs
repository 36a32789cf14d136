//! The options of `zip` by their letters and long names.

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// The rest of its word, or the next one.
    Value,
    /// All words up to the next option.
    List,
}

/// An option.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) short: &'static str,
    pub(super) long: &'static str,
    pub(super) takes: Takes,
    /// Why it is not served, and what serves in its place.
    pub(super) refused: Option<&'static str>,
}

const fn flag(short: &'static str, long: &'static str) -> Known {
    Known {
        short,
        long,
        takes: Takes::Nothing,
        refused: None,
    }
}

const fn taking(short: &'static str, long: &'static str, takes: Takes) -> Known {
    Known {
        takes,
        ..flag(short, long)
    }
}

const fn refused(
    short: &'static str,
    long: &'static str,
    takes: Takes,
    why: &'static str,
) -> Known {
    Known {
        refused: Some(why),
        ..taking(short, long, takes)
    }
}

/// All options; of two that share a first letter, the longer one comes first.
pub(super) const OPTIONS: [Known; 71] = [
    flag("FS", "filesync"),
    flag("FF", "fixfix"),
    flag("FI", "fifo"),
    flag("F", "fix"),
    flag("DF", "difference-archive"),
    taking("TT", "unzip-command", Takes::Value),
    refused(
        "AS",
        "archive-set",
        Takes::Nothing,
        "file attributes of DOS are not kept",
    ),
    refused(
        "AC",
        "archive-clear",
        Takes::Nothing,
        "file attributes of DOS are not kept",
    ),
    refused(
        "MM",
        "must-match",
        Takes::Nothing,
        "missing names are warnings: check them before",
    ),
    refused(
        "sp",
        "split-pause",
        Takes::Nothing,
        "there is no pause between parts: -s alone writes them all",
    ),
    flag("sf", "show-files"),
    flag("su", "show-unicode"),
    flag("sU", "show-just-unicode"),
    flag("sd", "show-debug"),
    flag("sc", "show-command"),
    flag("so", "show-options"),
    refused("sb", "split-bell", Takes::Nothing, "parts are not awaited"),
    flag("sv", "split-verbose"),
    taking("s", "split-size", Takes::Value),
    taking("tt", "before-date", Takes::Value),
    taking("t", "from-date", Takes::Value),
    flag("ll", "from-crlf"),
    flag("la", "log-append"),
    taking("lf", "logfile-path", Takes::Value),
    flag("li", "log-info"),
    flag("l", "to-crlf"),
    flag("ic", "ignore-case"),
    refused(
        "nw",
        "no-wild",
        Takes::Nothing,
        "put a backslash before * and ? of names",
    ),
    flag("ws", "wild-stop-dirs"),
    flag("db", "display-bytes"),
    flag("dc", "display-counts"),
    flag("dd", "display-dots"),
    flag("dg", "display-globaldots"),
    taking("ds", "dot-size", Takes::Value),
    flag("du", "display-usize"),
    flag("dv", "display-volume"),
    flag("fd", "force-descriptors"),
    flag("fz-", "no-zip64"),
    flag("fz", "force-zip64"),
    refused("UN", "unicode", Takes::Value, "names are written as UTF-8"),
    flag("h2", "more-help"),
    flag("0", "store"),
    flag("1", "compress-1"),
    flag("2", "compress-2"),
    flag("3", "compress-3"),
    flag("4", "compress-4"),
    flag("5", "compress-5"),
    flag("6", "compress-6"),
    flag("7", "compress-7"),
    flag("8", "compress-8"),
    flag("9", "compress-9"),
    flag("r", "recurse-paths"),
    flag("R", "recurse-patterns"),
    flag("j", "junk-paths"),
    flag("u", "update"),
    flag("f", "freshen"),
    flag("m", "move"),
    flag("d", "delete"),
    flag("T", "test"),
    taking("x", "exclude", Takes::List),
    taking("i", "include", Takes::List),
    flag("@", "names-stdin"),
    flag("z", "archive-comment"),
    flag("c", "entry-comments"),
    flag("o", "latest-time"),
    flag("A", "adjust-sfx"),
    flag("q", "quiet"),
    flag("v", "verbose"),
    flag("y", "symlinks"),
    taking("n", "suffixes", Takes::Value),
    taking("P", "password", Takes::Value),
];

/// The rest of them.
pub(super) const MORE: [Known; 12] = [
    flag("e", "encrypt"),
    taking("b", "temp-path", Takes::Value),
    flag("g", "grow"),
    flag("D", "no-dir-entries"),
    flag("X", "strip-extra"),
    taking("O", "output-file", Takes::Value),
    taking("Z", "compression-method", Takes::Value),
    flag("k", "DOS-names"),
    flag("U", "copy-entries"),
    refused(
        "J",
        "junk-sfx",
        Takes::Nothing,
        "cut the first bytes off with tail -c",
    ),
    flag("h", "help"),
    flag("L", "license"),
];

/// All of them, in the order in which a word is compared with them.
pub(super) fn all() -> impl Iterator<Item = &'static Known> {
    OPTIONS.iter().chain(&MORE)
}
