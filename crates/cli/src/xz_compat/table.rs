//! The tables of `xz -l`, and the lines of `xz --robot -l`.

use formats::xz::{Check, XzBlock, XzStream};

use crate::failure::Result;
use crate::term::message;

/// Text is written when there is this much of it.
const TEXT_BYTES: usize = 64 << 10;
/// Sizes below this are shown in bytes, and those above in the smallest unit that makes them as small.
const DIGITS_MAX: u64 = 10_000;
const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
/// Larger ratios are not shown.
const RATIO_MAX: f64 = 9.999;
const RULE_COLUMNS: usize = 79;

/// What a file, or several, come to. Sizes are in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) streams: u64,
    pub(super) blocks: u64,
    pub(super) stored: u64,
    pub(super) content: u64,
    pub(super) padding: u64,
    /// A bit for the id of each check.
    pub(super) checks: u16,
}

impl Totals {
    /// Adds a stream, but not its size: that of the file is known.
    pub(super) fn add_stream(&mut self, stream: &XzStream) {
        self.streams += 1;
        self.blocks = self.blocks.saturating_add(stream.blocks);
        self.content = self.content.saturating_add(stream.content_bytes);
        self.padding += stream.padding_bytes;
        self.checks |= 1 << stream.check.id();
    }

    fn add(&mut self, other: &Self) {
        self.streams += other.streams;
        self.blocks = self.blocks.saturating_add(other.blocks);
        self.stored = self.stored.saturating_add(other.stored);
        self.content = self.content.saturating_add(other.content);
        self.padding = self.padding.saturating_add(other.padding);
        self.checks |= other.checks;
    }

    /// The names of all checks.
    fn check_names(&self, between: &str) -> String {
        // Nothing has no check.
        let checks = self.checks.max(1);
        let names = (0..16).filter(|id| checks >> id & 1 == 1);
        let names: Vec<_> = names.filter_map(Check::from_id).map(check_name).collect();
        names.join(between)
    }
}

/// A stream, and what its file has before it.
pub(super) struct StreamRow<'a> {
    pub(super) number: usize,
    pub(super) stream: &'a XzStream,
    pub(super) content_offset: u64,
}

/// Where a block is.
pub(super) struct BlockRow {
    pub(super) stream: usize,
    pub(super) check: Check,
    pub(super) in_stream: u64,
    pub(super) in_file: u64,
    pub(super) offset: u64,
    pub(super) content_offset: u64,
}

/// What was listed so far.
pub(super) struct Table {
    text: Vec<u8>,
    robot: bool,
    /// Whether streams and blocks are listed.
    detailed: bool,
    /// Files whose name was shown, and those that were listed.
    named: usize,
    files: u64,
    totals: Totals,
}

impl Table {
    pub(super) fn new(robot: bool, detailed: bool) -> Self {
        Self {
            text: Vec::new(),
            robot,
            detailed,
            named: 0,
            files: 0,
            totals: Totals::default(),
        }
    }

    /// Writes what there is.
    pub(super) fn flush(&mut self) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        message::output(&text)
    }

    fn line(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
        self.text.push(b'\n');
    }

    /// The name of a file, before anything is known of it; `of`: how many there are.
    pub(super) fn name(&mut self, name: &[u8], number: usize, of: Option<usize>) {
        if !self.detailed || self.robot {
            return;
        }
        if self.named > 0 {
            self.line("");
        }
        self.named += 1;
        self.text.extend_from_slice(name);
        self.line(&match of {
            Some(of) => format!(" ({number}/{of})"),
            None => format!(" ({number})"),
        });
    }

    /// A file that was read.
    pub(super) fn file(&mut self, name: &[u8], totals: &Totals) {
        self.files += 1;
        self.totals.add(totals);
        match (self.robot, self.detailed) {
            (true, _) => {
                self.text
                    .extend_from_slice(&[b"name\t", name, b"\n"].concat());
                self.line(&format!("file\t{}", fields(totals)));
            }
            (false, true) => {
                self.details(totals);
                self.line("  Streams:");
                self.line(
                    "    Stream    Blocks      CompOffset    UncompOffset        CompSize      UncompSize  Ratio  \
                     Check      Padding",
                );
            }
            (false, false) => {
                if self.files == 1 {
                    self.line("Strms  Blocks   Compressed Uncompressed  Ratio  Check   Filename");
                }
                self.row(totals, name);
            }
        }
    }

    /// A stream of that file.
    pub(super) fn stream(&mut self, row: &StreamRow<'_>) {
        let StreamRow {
            number,
            stream,
            content_offset,
        } = row;
        let ratio = ratio(stream.bytes, stream.content_bytes);
        let check = check_name(stream.check);
        let XzStream {
            offset,
            bytes,
            padding_bytes,
            blocks,
            content_bytes,
            ..
        } = stream;
        self.line(&match self.robot {
            true => format!(
                "stream\t{number}\t{blocks}\t{offset}\t{content_offset}\t{bytes}\t{content_bytes}\t{ratio}\t{check}\t\
                 {padding_bytes}"
            ),
            false => format!(
                "    {number:>6} {blocks:>9} {offset:>15} {content_offset:>15} {bytes:>15} {content_bytes:>15}  \
                 {ratio:>5}  {check:<10} {padding_bytes:>7}"
            ),
        });
    }

    /// Before the first block.
    pub(super) fn blocks(&mut self) {
        if self.detailed && !self.robot {
            self.line("  Blocks:");
            self.line(
                "    Stream     Block      CompOffset    UncompOffset       TotalSize      UncompSize  Ratio  Check",
            );
        }
    }

    /// A block of that file.
    pub(super) fn block(&mut self, row: &BlockRow, block: &XzBlock) -> Result<()> {
        let BlockRow {
            stream,
            in_stream,
            in_file,
            offset,
            content_offset,
            ..
        } = row;
        let (bytes, content_bytes) = (block.total_bytes(), block.content_bytes);
        let (ratio, check) = (ratio(bytes, content_bytes), check_name(row.check));
        self.line(&match self.robot {
            true => format!(
                "block\t{stream}\t{in_stream}\t{in_file}\t{offset}\t{content_offset}\t{bytes}\t{content_bytes}\t\
                 {ratio}\t{check}"
            ),
            false => format!(
                "    {stream:>6} {in_stream:>9} {offset:>15} {content_offset:>15} {bytes:>15} {content_bytes:>15}  \
                 {ratio:>5}  {check}"
            ),
        });
        match self.text.len() < TEXT_BYTES {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// The totals: of several files, or in any case for scripts.
    pub(super) fn finish(&mut self) {
        let (files, totals) = (self.files, self.totals.clone());
        if self.robot {
            self.line(&format!("totals\t{}\t{files}", fields(&totals)));
        } else if files > 1 && self.detailed {
            self.line("\nTotals:");
            self.detail("Number of files:", &files.to_string());
            self.details(&totals);
        } else if files > 1 {
            self.line(&"-".repeat(RULE_COLUMNS));
            self.row(&totals, format!("{files} files").as_bytes());
        }
    }

    fn row(&mut self, totals: &Totals, name: &[u8]) {
        let text = format!(
            "{:>5} {:>7}  {:>11}  {:>11}  {:>5}  {:<7} ",
            totals.streams,
            totals.blocks,
            size(totals.stored),
            size(totals.content),
            ratio(totals.stored, totals.content),
            totals.check_names(",")
        );
        self.text
            .extend_from_slice(&[text.as_bytes(), name, b"\n"].concat());
    }

    fn details(&mut self, totals: &Totals) {
        self.detail("Streams:", &totals.streams.to_string());
        self.detail("Blocks:", &totals.blocks.to_string());
        self.detail("Compressed size:", &exact_size(totals.stored));
        self.detail("Uncompressed size:", &exact_size(totals.content));
        self.detail("Ratio:", &ratio(totals.stored, totals.content));
        self.detail("Check:", &totals.check_names(", "));
        self.detail("Stream Padding:", &exact_size(totals.padding));
    }

    fn detail(&mut self, label: &str, value: &str) {
        self.line(&format!("  {label:<18} {value}"));
    }
}

/// What `file` and `totals` have in common.
fn fields(totals: &Totals) -> String {
    format!(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}",
        totals.streams,
        totals.blocks,
        totals.stored,
        totals.content,
        ratio(totals.stored, totals.content),
        totals.check_names(","),
        totals.padding
    )
}

fn check_name(check: Check) -> String {
    match check.name() {
        Some(name) => name.to_owned(),
        None => format!("Unknown-{}", check.id()),
    }
}

fn ratio(stored: u64, content: u64) -> String {
    match stored as f64 / content as f64 {
        ratio if content > 0 && ratio <= RATIO_MAX => format!("{ratio:.3}"),
        _ => "---".to_owned(),
    }
}

fn size(bytes: u64) -> String {
    if bytes < DIGITS_MAX {
        return format!("{bytes} B");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut units = UNITS.into_iter();
    let mut unit = units.next().unwrap_or_default();
    // What would be rounded to one more digit.
    while amount > DIGITS_MAX as f64 - 0.1 {
        let Some(next) = units.next() else { break };
        (amount, unit) = (amount / 1024.0, next);
    }
    format!("{amount:.1} {unit}")
}

/// The same, and all bytes if that does not say them.
fn exact_size(bytes: u64) -> String {
    match bytes < DIGITS_MAX {
        true => size(bytes),
        false => format!("{} ({bytes} B)", size(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ratios_are_as_wide_as_their_columns() {
        for (bytes, text) in [
            (0, "0 B"),
            (9_999, "9999 B"),
            (10_000, "9.8 KiB"),
            (10_239_897, "9999.9 KiB"),
            (10_240_000, "9.8 MiB"),
            (1 << 40, "1024.0 GiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(exact_size(16_384), "16.0 KiB (16384 B)");
        assert_eq!(exact_size(24), "24 B");
        assert_eq!(ratio(1, 0), "---");
        assert_eq!(ratio(10, 1), "---");
        assert_eq!(ratio(1, 3), "0.333");
    }

    #[test]
    fn checks_are_named_once_in_the_order_of_their_ids() {
        let mut totals = Totals::default();
        assert_eq!(totals.check_names(","), "None");
        totals.checks = 1 << 10 | 1 << 2 | 1 << 4;
        assert_eq!(totals.check_names(", "), "Unknown-2, CRC64, SHA-256");
    }
}
