//! Manual pages of the programs by whose names the binary may be called: whose command line it takes, the options, and what
//! differs from the original.

use clap::CommandFactory as _;
use clap_mangen::roff::{Roff, roman};

use crate::{gzip_compat, hyper_compat, xz_compat, zip_compat, zstd_compat};

/// A program, or several of one family.
pub(super) struct Program {
    /// The page is `perfkit-NAME`.
    pub(super) name: &'static str,
    /// The names of the binary that it is about.
    names: &'static [&'static str],
    /// Whose command line it is.
    original: &'static str,
    /// What it does, in a line.
    does: &'static str,
    /// What is not as in the original, a line each.
    differs: &'static [&'static str],
    /// What is said of its options.
    help: fn() -> String,
    /// The page of the commands with all features.
    own: &'static [&'static str],
}

/// Programs in the order of their pages.
pub(super) static PROGRAMS: [Program; 6] = [
    Program {
        name: "gzip",
        names: &["gzip", "gunzip", "zcat", "gzcat"],
        original: "gzip",
        does: "compress or decompress files as gzip does",
        differs: &[
            "Files are compressed by all processors; the bytes do not depend on their number.",
            "xz, lzma, lz4 and zstd files are decompressed, too.",
            "After a file that is cut short the next one is worked on.",
            "-l counts the content of all members of a file.",
            "-r takes files in the order of their names.",
        ],
        help: || gzip_compat::HELP.to_owned(),
        own: &["compress", "decompress"],
    },
    Program {
        name: "hyperfine",
        names: &["hyperfine"],
        original: "hyperfine 1.21",
        does: "measure command lines and compare them as hyperfine does",
        differs: &[
            "There are percentiles where there are enough runs, and each ratio has an interval and a verdict.",
            "--interleave runs all commands in rounds of random order, with a control.",
            "--export-html writes a page with the runs of all commands.",
            "It is also the command `perfkit hyperfine`.",
        ],
        help: || {
            let mut command = hyper_compat::HyperfineArgs::command();
            command.render_long_help().to_string()
        },
        own: &["compare"],
    },
    Program {
        name: "info-zip",
        names: &["zip", "unzip", "zipinfo"],
        original: "Info-ZIP's zip 3.0 and unzip 6.0",
        does: "make, change, list and extract ZIP archives as Info-ZIP's programs do",
        differs: &[
            "-e and -P encrypt with AES, not with the old ZipCrypto, and unzip reads both.",
            "Nothing is written outside of the target directory, and nothing through links.",
            "A damaged entry does not become a file.",
            "Entries are in the order of their names.",
            "An option that is not served is refused by its name (zip: 16, unzip: 10).",
            "The whole list is in docs/zip.md. perfkit zip and perfkit unzip have letters of their own.",
        ],
        help: || format!("{}\n{}", zip_compat::ZIP_HELP, zip_compat::UNZIP_HELP),
        own: &["zip", "unzip"],
    },
    Program {
        name: "lz4",
        names: &["lz4", "unlz4"],
        original: "lz4",
        does: "compress or decompress files in the format of lz4",
        differs: &[
            "Besides the options of lz4 it takes those below, which it has under the name zstd.",
            "-D, a dictionary, is refused.",
            "Blocks of a size between those of the format become the next larger.",
        ],
        help: || zstd_compat::help_text(false),
        own: &["compress", "decompress"],
    },
    Program {
        name: "xz",
        names: &["xz", "unxz", "xzcat", "lzma", "unlzma", "lzcat"],
        original: "xz 5.4",
        does: "compress or decompress files in the formats of xz",
        differs: &[
            "gzip, lz4 and zstd files are decompressed, too.",
            "What the options below do not list is refused.",
        ],
        help: || xz_compat::HELP.to_owned(),
        own: &["compress", "decompress"],
    },
    Program {
        name: "zstd",
        names: &[
            "zstd", "zstdmt", "unzstd", "zstdcat", "zstdgrep", "zstdless",
        ],
        original: "zstd 1.5.7",
        does: "compress or decompress files as zstd does",
        differs: &[
            "A run that would read what it just wrote, or write two sources to one target, ends with 1 and loses nothing.",
            "Messages are in other words, and say what to do next.",
            "-b prints a line per level.",
            "zstdgrep and zstdless read all formats that perfkit decompresses.",
            "The whole list is in docs/coming-from.md.",
        ],
        help: || zstd_compat::help_text(true),
        own: &["compress", "decompress", "compress-bench"],
    },
];

/// The program of a name, or of that of its page.
pub(super) fn find(name: &str) -> Option<&'static Program> {
    let is_of = |program: &&Program| program.name == name || program.names.contains(&name);
    PROGRAMS.iter().find(is_of)
}

/// The page of a program.
pub(super) fn render(program: &Program) -> Vec<u8> {
    let mut page = Roff::new();
    let title = format!("perfkit-{}", program.name);
    let source = format!("perfkit {}", env!("CARGO_PKG_VERSION"));
    page.control("TH", [&*title, "1", "", &*source, "User Commands"]);
    page.control("SH", ["NAME"]);
    page.text([roman(format!("{title} - {}", program.does))]);
    page.control("SH", ["SYNOPSIS"]);
    page.control("nf", []);
    for name in program.names {
        page.text([roman(format!("{name} [OPTIONS] [FILE...]"))]);
    }
    page.control("fi", []);
    page.control("SH", ["DESCRIPTION"]);
    page.text([roman(format!(
        "Called by one of these names, by a link for example, perfkit takes the command line of {}.",
        program.original
    ))]);
    page.control("SH", ["WHAT DIFFERS"]);
    for line in program.differs {
        page.control("IP", ["-", "2"]);
        page.text([roman(*line)]);
    }
    page.control("SH", ["OPTIONS"]);
    page.control("nf", []);
    for line in (program.help)().lines() {
        page.text([roman(line)]);
    }
    page.control("fi", []);
    page.control("SH", ["SEE ALSO"]);
    let own: Vec<String> = program
        .own
        .iter()
        .map(|name| format!("perfkit-{name}(1)"))
        .collect();
    page.text([roman(format!("perfkit(1), {}", own.join(", ")))]);
    page.render().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_package_has_a_page() {
        for name in include_str!("../../../../../deploy/names").lines() {
            let program = find(name).unwrap_or_else(|| panic!("{name} has no page"));
            let page = String::from_utf8(render(program)).expect("text");
            for section in [
                "NAME",
                "SYNOPSIS",
                "DESCRIPTION",
                "WHAT DIFFERS",
                "OPTIONS",
                "SEE ALSO",
            ] {
                assert!(page.contains(section), "{name}: {section}");
            }
            assert!(page.lines().count() > 30, "{name}");
        }
    }
}
