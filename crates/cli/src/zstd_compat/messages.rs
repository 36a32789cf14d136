//! The messages of the zstd program: results, a listing, a version and help.

use std::cell::Cell;
use std::fmt::Write as _;
use std::path::Path;

use files::plan::{Destination, Job};
use files::sink::Written;
use files::source;
use report::ExitStatus;
use zstdkit::EncoderOptions;

use crate::commands::list::Summary;
use crate::failure::Result;
use crate::term::message;
use crate::term::plain::visible;

/// The name and version that it prints.
pub(super) const VERSION: &str = concat!(
    "*** Zstandard CLI (perfkit ",
    env!("CARGO_PKG_VERSION"),
    ") ***"
);

/// Which way the bytes went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Compressed,
    Decompressed,
}

/// The totals of all jobs.
#[derive(Debug)]
pub(super) struct Totals {
    way: Way,
    exact: bool,
    files: Cell<u64>,
    read_bytes: Cell<u64>,
    written_bytes: Cell<u64>,
}

impl Totals {
    pub(super) fn new(way: Way, verbosity: i32) -> Self {
        Self {
            way,
            exact: verbosity >= 4,
            files: Cell::new(0),
            read_bytes: Cell::new(0),
            written_bytes: Cell::new(0),
        }
    }

    /// Counts a finished job, and prints a line about it if wanted.
    pub(super) fn add(
        &self,
        job: &Job,
        read: &source::Summary,
        written: &Written,
        joined: Option<&Path>,
        say: bool,
    ) {
        self.files.set(self.files.get() + 1);
        self.read_bytes.set(self.read_bytes.get() + read.bytes);
        self.written_bytes
            .set(self.written_bytes.get() + written.bytes);
        if say {
            let target = match &job.destination {
                Destination::File(path) => path.display().to_string(),
                Destination::Joined => joined
                    .map(|path| path.display().to_string())
                    .unwrap_or_default(),
                Destination::Stdout | Destination::Nowhere => "/*stdout*\\".to_owned(),
            };
            let source = match job.source.as_os_str() {
                name if name == "-" => "/*stdin*\\".to_owned(),
                name => name.to_string_lossy().into_owned(),
            };
            message::status(&self.line(&source, &target, read.bytes, written.bytes));
        }
    }

    /// Prints the totals of all jobs, if there were any.
    pub(super) fn tell(&self) {
        let (files, read, written) = (
            self.files.get(),
            self.read_bytes.get(),
            self.written_bytes.get(),
        );
        if files == 0 {
            return;
        }
        message::status(&match self.way {
            Way::Compressed => format!(
                "{files:3} files compressed : {} ({} => {})",
                share(written, read),
                self.size(read),
                self.size(written)
            ),
            Way::Decompressed => format!("{files} files decompressed : {written:6} bytes total"),
        });
    }

    fn line(&self, source: &str, target: &str, read: u64, written: u64) -> String {
        match self.way {
            Way::Compressed => format!(
                "{source:<20} :{}  ({} => {}, {target})",
                if read == 0 {
                    String::new()
                } else {
                    share(written, read) + " "
                },
                self.size(read),
                self.size(written)
            ),
            Way::Decompressed => format!("{source:<20}: {written} bytes"),
        }
    }

    fn size(&self, bytes: u64) -> String {
        size(bytes, self.exact)
    }
}

fn share(part: u64, whole: u64) -> String {
    format!("{:6.2}%", part as f64 * 100.0 / whole.max(1) as f64)
}

/// A size in six columns with its unit, in three digits unless exact sizes are wanted.
fn size(bytes: u64, exact: bool) -> String {
    let (shift, unit) = match bytes {
        _ if exact => (0, "B"),
        0..1024 => (0, "B"),
        1024..0x10_0000 => (10, "KiB"),
        0x10_0000..0x4000_0000 => (20, "MiB"),
        0x4000_0000..0x100_0000_0000 => (30, "GiB"),
        _ => (40, "TiB"),
    };
    let value = bytes as f64 / (1_u64 << shift) as f64;
    let digits = match value {
        _ if shift == 0 || value >= 100.0 => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:6.digits$} {unit}")
}

/// A size with its unit in four columns, behind a number in as many as `width`.
fn column(bytes: u64, width: usize) -> String {
    let text = size(bytes, false);
    let (number, unit) = text.trim_start().split_once(' ').unwrap_or((&text, ""));
    format!("{number:>width$}{:>4}", format!(" {unit}"))
}

/// The listing of `-l` so far.
#[derive(Debug)]
pub(super) struct Listing {
    full: bool,
    named: usize,
    text: String,
    total: Summary,
}

impl Listing {
    /// `full`: a paragraph per file instead of a line; `named`: how many files were named.
    pub(super) fn new(full: bool, named: usize) -> Self {
        let head = "Frames  Skips  Compressed  Uncompressed  Ratio  Check  Filename\n";
        Self {
            full,
            named,
            text: if full { String::new() } else { head.to_owned() },
            total: Summary::of(0),
        }
    }

    /// `dictionary` is the first that a frame names, `checksum` that of the last frame.
    pub(super) fn add(
        &mut self,
        path: &Path,
        summary: &Summary,
        dictionary: Option<u32>,
        checksum: Option<u32>,
    ) {
        let name = path.display().to_string();
        self.total.add(summary);
        if self.full {
            self.paragraph(&name, summary, dictionary, checksum);
        } else {
            self.row(summary, &name);
        }
    }

    /// Adds a line about a file that is not listed.
    pub(super) fn refuse(&mut self, path: &Path) {
        let name = path.display().to_string();
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.text,
            "File \"{}\" not compressed by zstd ",
            visible(&name)
        );
    }

    /// The whole listing, with a total if there are several files.
    pub(super) fn text(mut self) -> String {
        if self.named > 1 && !self.full {
            self.text.push_str(&"-".repeat(65));
            self.text.push_str(" \n");
            let total = self.total;
            self.row(&total, &format!("{} files", total.files));
        }
        self.text
    }

    fn row(&mut self, summary: &Summary, name: &str) {
        let content = match summary.uncompressed_bytes {
            Some(bytes) => {
                let ratio = bytes as f64 / summary.compressed_bytes.max(1) as f64;
                format!("  {}  {ratio:5.3}", column(bytes, 8))
            }
            None => " ".repeat(21),
        };
        let check = match check(summary) {
            "some" => "",
            all => all,
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.text,
            "{:6}  {:5}  {}{content}  {check:>5}  {}",
            summary.frames + summary.skips,
            summary.skips,
            column(summary.compressed_bytes, 6),
            visible(name)
        );
    }

    fn paragraph(
        &mut self,
        name: &str,
        summary: &Summary,
        dictionary: Option<u32>,
        checksum: Option<u32>,
    ) {
        let amount = |bytes| format!("{} ({bytes} B)", size(bytes, false).trim_start());
        let text = &mut self.text;
        let _ = writeln!(
            text,
            "{} \n# Zstandard Frames: {}",
            visible(name),
            summary.frames
        );
        if summary.skips > 0 {
            let _ = writeln!(text, "# Skippable Frames: {}", summary.skips);
        }
        let _ = writeln!(text, "DictID: {}", dictionary.unwrap_or(0));
        let _ = writeln!(text, "Window Size: {}", amount(summary.window_bytes));
        let _ = writeln!(
            text,
            "Compressed Size: {}",
            amount(summary.compressed_bytes)
        );
        if let Some(bytes) = summary.uncompressed_bytes {
            let ratio = bytes as f64 / summary.compressed_bytes.max(1) as f64;
            let _ = writeln!(text, "Decompressed Size: {}", amount(bytes));
            let _ = writeln!(text, "Ratio: {ratio:.4}");
        }
        // Of several frames, none is that of the file.
        let checksum = checksum.filter(|_| summary.frames == 1);
        let checksum = checksum.map_or(String::new(), |sum| format!(" {sum:08x}"));
        let _ = writeln!(text, "Check: {}{checksum}\n", check(summary));
    }
}

fn check(summary: &Summary) -> &'static str {
    match summary.check() {
        "none" => "None",
        other => other,
    }
}

/// The settings of frames for one source.
pub(super) struct Settings {
    head: String,
    content_bytes: Option<u64>,
}

impl Settings {
    /// For a source of this size, with what frames refer back to.
    pub(super) fn of(source: &Path, size: Option<u64>, referred_bytes: u64) -> Self {
        let name = match source.as_os_str() {
            name if name == "-" => "/*stdin*\\".to_owned(),
            name => name.to_string_lossy().into_owned(),
        };
        let head = match size {
            Some(bytes) => format!("{name} ({bytes} bytes)"),
            None => format!("{name} (src size unknown)"),
        };
        // An empty file is taken for one of unknown size, and that for a small one behind a dictionary.
        let content_bytes = match (size, referred_bytes) {
            (None | Some(0), 0) => None,
            (None | Some(0), bytes) => Some(bytes.saturating_add(499)),
            (Some(size), bytes) => Some(size.saturating_add(bytes)),
        };
        Self {
            head,
            content_bytes,
        }
    }

    /// Prints those of a level.
    pub(super) fn tell_defaults(&self, level: i32) {
        let encoder = EncoderOptions::default().with_level(level);
        message::status(&self.head);
        let strategy = encoder.effective_strategy(self.content_bytes);
        let numbers = self.numbers(&encoder);
        let names = [
            "windowLog",
            "chainLog",
            "hashLog",
            "searchLog",
            "minMatch",
            "targetLength",
        ];
        for (name, number) in names.into_iter().zip(numbers) {
            message::status(&format!(" - {name:<14}: {number}"));
        }
        let (name, number) = (strategy.name(), strategy.number());
        message::status(&format!(" - strategy      : ZSTD_{name} ({number})"));
    }

    /// Prints those that are used, as an argument.
    pub(super) fn tell(&self, encoder: &EncoderOptions) {
        let [window, chain, hash, search, shortest, target] = self.numbers(encoder);
        let strategy = encoder.effective_strategy(self.content_bytes).number();
        message::status(&format!(
            "--zstd=wlog={window},clog={chain},hlog={hash},slog={search},mml={shortest},tlen={target},strat={strategy}"
        ));
    }

    fn numbers(&self, encoder: &EncoderOptions) -> [u32; 6] {
        let one = encoder.effective_parameters(self.content_bytes);
        [
            Some(encoder.effective_window_log(self.content_bytes)),
            one.chain_log,
            one.hash_log,
            one.search_log,
            one.min_match,
            one.target_length,
        ]
        .map(Option::unwrap_or_default)
    }
}

/// Prints the version of the library, which scripts ask for.
pub(super) fn version(bare: bool) -> Result<ExitStatus> {
    let version = zstdkit::version();
    let text = if bare {
        format!("{version}\n")
    } else {
        let bits = usize::BITS;
        let own = env!("CARGO_PKG_VERSION");
        format!("*** Zstandard CLI ({bits}-bit) v{version}, by perfkit {own} ***\n")
    };
    message::output(text.as_bytes())?;
    Ok(ExitStatus::Ok)
}

/// Prints the help.
pub(super) fn help(long: bool) -> Result<ExitStatus> {
    message::output(help_text(long).as_bytes())?;
    Ok(ExitStatus::Ok)
}

/// The help, short or long.
pub(crate) fn help_text(long: bool) -> String {
    match long {
        true => format!("{HELP}{HELP_LONG}{HELP_END}"),
        false => format!("{HELP}{HELP_END}"),
    }
}

const HELP: &str = "\
Compress or decompress files to and from zstd; perfkit under the name of the zstd program.

Usage: zstd [OPTIONS...] [INPUT... | -] [-o OUTPUT]

  -1 … -19, --ultra -20 … -22   level, 3 by default; --fast[=#] for levels below 1
  -d, --decompress              decompress; -z compresses
  -t, --test                    verify, but write nothing
  -l, --list                    list files; -v in full
  -o FILE                       write to FILE
  -c, --stdout                  write to standard output
  -f, --force                   overwrite, follow symbolic links, use terminals
  -k, --keep                    keep sources (the default); --rm removes them
  -r                            walk directories
  -D FILE                       use FILE as dictionary
  -T#, --threads=#              number of threads; 0: one per CPU
  -q, -v                        print less, print more; repeatable
  -V, --version; -h; -H, --help version; short help; long help
";

const HELP_LONG: &str = "
  --max                         the largest of all settings; for small input only
  --adapt[=min=#,max=#]         let the level follow the speed of input and output
  --long[=#]                    look for repetitions over 2^# bytes, 27 by default
  --patch-from=FILE             refer back to FILE, an older version; needed in both directions
  --[no-]check, -C              write and compare checksums (the default)
  --[no-]content-size           state the size of the content (the default)
  --no-dictID                   do not state the id of the dictionary in frames
  --[no-]mmap-dict              accepted: a dictionary is read once either way
  --stream-size=#               size of standard input
  --size-hint=#                 about the size of standard input
  --target-compressed-block-size=#  aim at blocks of this size, at least 1340
  --[no-]compress-literals      always or never compress literals
  --[no-]row-match-finder       search rows or chains at levels 5 to 12
  --rsyncable                   limit changes of the output to where the input changed
  -B#                           input that a thread compresses at a time; of --train and -b: a sample, a block
  --auto-threads=physical|logical  what -T0 counts: cores (the default) or processors
  --single-thread               no worker threads
  --zstd=PARAMETERS             wlog, clog, hlog, slog, mml, tlen, strat, ovlog, lhlog, lmml, lblog, lhrlog:
                                wlog=23,strat=5
  --show-default-cparams        print the settings of the level for each file
  -M#, --memory=#               refuse frames with a larger window
  --[no-]sparse                 leave holes for zeros (the default for files)
  --[no-]pass-through           copy input that is not compressed
  --[no-]asyncio                accepted: reading and writing have threads of their own
  --output-dir-flat DIR         write targets into DIR
  --output-dir-mirror DIR       write targets under DIR, at the paths of their sources
  --filelist FILE               read names of sources from FILE, one per line
  --exclude-compressed          skip sources with the suffix of a compressed file
  --train                       train a dictionary on the inputs, each one sample, into -o FILE
  --train-cover[=k=#,d=#,steps=#,split=#,shrink[=#]]
  --train-fastcover[=k=#,d=#,f=#,steps=#,split=#,accel=#,shrink[=#]]
  --train-legacy[=s=#]          by one of these algorithms
  --maxdict=#                   largest size of the dictionary, 112640 by default
  --dictID=#                    id of the dictionary
  -b# -e# -i# -S -B#            measure levels -b to -e for -i seconds each way, -S each file on its own
  --trace FILE                  append a line about each file to FILE
  --[no-]progress               show progress
  --format=FORMAT               write zstd, gzip, xz, lzma or lz4
  --                            all further arguments are files

The environment variables ZSTD_CLEVEL and ZSTD_NBTHREADS are defaults for -# and -T#.
";

const HELP_END: &str = "
Exit codes: 0 success, 130 interrupted; otherwise 1, or the number that zstd has for the failure.
Latency reports, and benchmarks that rank levels, are commands of perfkit: see perfkit --help.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits_and_stand_in_columns() {
        for (bytes, text) in [
            (0, "     0 B"),
            (13, "    13 B"),
            (1023, "  1023 B"),
            (26_672, "  26.0 KiB"),
            (108_894, "   106 KiB"),
            (6_050, "  5.91 KiB"),
            (5 << 40, "  5.00 TiB"),
        ] {
            assert_eq!(size(bytes, false), text);
        }
        assert_eq!(size(108_894, true), "108894 B");
    }

    #[test]
    fn lines_read_as_those_of_the_zstd_program() {
        let totals = |way| Totals::new(way, 2);
        assert_eq!(
            totals(Way::Compressed).line("a", "a.zst", 108_894, 26_672),
            "a                    : 24.49%   (   106 KiB =>   26.0 KiB, a.zst)"
        );
        assert_eq!(
            totals(Way::Compressed).line("e", "e.zst", 0, 13),
            "e                    :  (     0 B =>     13 B, e.zst)"
        );
        assert_eq!(
            totals(Way::Decompressed).line("a.zst", "a", 1, 108_894),
            "a.zst               : 108894 bytes"
        );
    }

    #[test]
    fn a_listing_reads_as_that_of_the_zstd_program() {
        let mut summary = Summary::of(1);
        summary.frames = 1;
        summary.checksums = 1;
        summary.compressed_bytes = 26_672;
        summary.uncompressed_bytes = Some(108_894);
        let mut listing = Listing::new(false, 1);
        listing.add(Path::new("a.zst"), &summary, None, None);
        let text = listing.text();
        assert_eq!(
            text.lines().nth(1),
            Some("     1      0    26.0 KiB       106 KiB  4.083  XXH64  a.zst")
        );
    }
}
