//! `gzip -l`: sizes and ratio of compressed files, as columns. The files are decompressed to count.

use std::path::Path;

use files::plan::Job;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::flags::GzipPlan;
use super::plan;
use crate::term::plain::visible;

/// The widest number of a size.
const SIZE_COLUMNS: usize = 19;
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The sizes of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) stored: u64,
    pub(super) content: u64,
    pub(super) crc32: u32,
}

/// The table so far.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) text: String,
    files: u64,
    /// Headers and trailers.
    own_bytes: u64,
    total: Sizes,
}

impl Listing {
    /// Adds a line about a file that was decompressed.
    pub(super) fn add(&mut self, plan: &GzipPlan, job: &Job, sizes: Sizes) {
        if self.files == 0 {
            if plan.verbose > 0 {
                self.text += "method  crc     date  time  ";
            }
            if !plan.quiet {
                self.text += &format!(
                    "{:>SIZE_COLUMNS$} {:>SIZE_COLUMNS$}  ratio uncompressed_name\n",
                    "compressed", "uncompressed"
                );
            }
        }
        self.files += 1;
        self.total.stored += sizes.stored;
        self.total.content += sizes.content;
        let header = plan::member(&job.source).ok().flatten();
        if plan.verbose > 0 {
            let stated = header.as_ref().filter(|_| plan.times());
            let stated = stated.map_or(0, |member| member.modified);
            let time = match stated {
                0 => std::fs::metadata(&job.source)
                    .and_then(|own| own.modified())
                    .ok()
                    .and_then(|time| Timestamp::try_from(time).ok()),
                seconds => Timestamp::from_second(seconds.into()).ok(),
            };
            self.text += &format!("defla {:08x} ", sizes.crc32);
            self.text += &time.map_or("??? ?? ??:?? ".to_owned(), |time| {
                let time = time.to_zoned(TimeZone::system());
                let month = MONTHS[usize::from(time.month().unsigned_abs()) - 1];
                format!(
                    "{month}{:3} {:02}:{:02} ",
                    time.day(),
                    time.hour(),
                    time.minute()
                )
            });
        }
        let named = header.as_ref().and_then(|member| member.name.as_ref());
        let own_bytes = 18 + named.map_or(0, |name| name.len() as u64 + 1);
        let name = match (plan.names(), header.and_then(|member| member.name)) {
            (true, Some(name)) => {
                plan::base_name(&name).map(|base| job.source.with_file_name(base))
            }
            _ => None,
        };
        let name = name.unwrap_or_else(|| stripped(plan, &job.source));
        self.own_bytes += own_bytes;
        self.row(sizes, own_bytes, &visible(&name.display().to_string()));
    }

    /// Adds the totals of several files.
    pub(super) fn finish(&mut self, plan: &GzipPlan) {
        if self.files < 2 || plan.quiet {
            return;
        }
        if plan.verbose > 0 {
            self.text += &" ".repeat(28);
        }
        self.row(self.total, self.own_bytes / self.files, "(totals)");
    }

    fn row(&mut self, sizes: Sizes, own_bytes: u64, name: &str) {
        let Sizes {
            stored, content, ..
        } = sizes;
        let ratio = match content {
            0 => 0.0,
            // Header and trailer do not count.
            content => {
                100.0 * (content as f64 - (stored as f64 - own_bytes as f64)) / content as f64
            }
        };
        self.text +=
            &format!("{stored:>SIZE_COLUMNS$} {content:>SIZE_COLUMNS$} {ratio:5.1}% {name}\n");
    }
}

fn stripped(plan: &GzipPlan, path: &Path) -> std::path::PathBuf {
    match path.as_os_str() == "-" {
        true => "stdout".into(),
        false => super::plan::without_suffix(plan, path),
    }
}
