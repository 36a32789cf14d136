//! The intervals of a finished run, read back from their spool.

use std::fmt;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};

use hdrhistogram::Histogram;

use super::{HEADER_BYTES, Spool};
use crate::coding::{self, Budget};
use crate::histogram::add_histogram;
use crate::read::ReadError;
use crate::report::{Interval, Latency};

/// One interval of one recorder on the spool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Logged {
    pub(crate) part: u32,
    pub(crate) start_ns: u64,
    pub(crate) length_ns: u64,
    at: u64,
    bytes: u32,
}

/// The intervals of a finished run, on their spool.
pub struct LoggedIntervals {
    spool: Box<dyn Spool>,
    all: Vec<Logged>,
}

impl fmt::Debug for LoggedIntervals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoggedIntervals")
            .field("intervals", &self.all.len())
            .finish_non_exhaustive()
    }
}

impl LoggedIntervals {
    pub(super) fn of(mut spool: Box<dyn Spool>) -> io::Result<Self> {
        spool.rewind()?;
        let mut reader = BufReader::new(spool);
        let mut all = Vec::new();
        let mut at = 0;
        while let Some(header) = header(&mut reader)? {
            let word = |from: usize| {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(&header[from..from + 8]);
                u64::from_le_bytes(bytes)
            };
            let (part, bytes) = (word(0) as u32, (word(0) >> 32) as u32);
            at += HEADER_BYTES as u64;
            all.push(Logged {
                part,
                start_ns: word(8),
                length_ns: word(16),
                at,
                bytes,
            });
            at += u64::from(bytes);
            reader.seek_relative(i64::from(bytes))?;
        }
        Ok(Self {
            spool: reader.into_inner(),
            all,
        })
    }

    /// Every interval of every recorder, in the order in which they came.
    pub(crate) fn all(&self) -> &[Logged] {
        &self.all
    }

    /// The sum of these intervals.
    pub(crate) fn sum(&mut self, of: &[Logged]) -> io::Result<Option<Histogram<u64>>> {
        let mut sum: Option<Histogram<u64>> = None;
        for logged in of {
            let mut plain = vec![0; logged.bytes as usize];
            self.spool.seek(SeekFrom::Start(logged.at))?;
            self.spool.read_exact(&mut plain)?;
            let histogram = coding::decode(&plain).map_err(damaged)?;
            match &mut sum {
                Some(sum) => add_histogram(sum, &histogram),
                None => sum = Some(histogram),
            }
        }
        Ok(sum)
    }

    /// The intervals of a row, all in memory: for rows that have few.
    ///
    /// # Errors
    /// When the spool cannot be read.
    pub fn of_row(&mut self, row: &Latency) -> io::Result<Vec<Interval>> {
        self.of_row_within(row, usize::MAX)
    }

    /// The same in at most `most` intervals: where there are more, 2, 4, 8 … neighbours become one.
    ///
    /// # Errors
    /// When the spool cannot be read.
    pub fn of_row_within(&mut self, row: &Latency, most: usize) -> io::Result<Vec<Interval>> {
        let own = self
            .all
            .iter()
            .filter(|one| row.log_parts.contains(&one.part));
        let mut own: Vec<Logged> = own.copied().collect();
        own.sort_by_key(|one| one.start_ns);
        let width_ns = width(&own, most.max(1));
        let same = |a: &Logged, b: &Logged| a.start_ns / width_ns == b.start_ns / width_ns;
        let mut intervals = Vec::new();
        for same in own.chunk_by(same) {
            let histogram = self.sum(same)?;
            let packed = histogram.as_ref().and_then(coding::encode_deflate);
            intervals.extend(packed.map(|histogram_v2_deflate| Interval {
                start_ns: same[0].start_ns,
                length_ns: length(same),
                histogram_v2_deflate,
            }));
        }
        Ok(intervals)
    }

    /// Gives each row that was recorded with intervals its time line, of at most `most` of them. A row that lasted
    /// for one interval has none, and neither has one that holds something else than its recorders.
    ///
    /// # Errors
    /// When the spool cannot be read.
    pub fn attach(&mut self, rows: &mut [Latency], most: usize) -> io::Result<()> {
        for row in rows.iter_mut().filter(|row| row.intervals.is_empty()) {
            let intervals = self.of_row_within(row, most)?;
            let mut budget = Budget::of_intervals();
            let values = intervals.iter().map(|interval| {
                coding::values_within(&interval.histogram_v2_deflate, &mut budget).unwrap_or(0)
            });
            let held = values.fold(row.saturated, u64::saturating_add);
            if intervals.len() > 1 && held == row.n {
                row.intervals = intervals;
            }
        }
        Ok(())
    }
}

/// The width of joined intervals, a multiple of their distance: 1 where there are few.
fn width(own: &[Logged], most: usize) -> u64 {
    let mut starts: Vec<u64> = own.iter().map(|one| one.start_ns).collect();
    starts.dedup();
    let distance = starts.windows(2).map(|pair| pair[1] - pair[0]).min();
    let (Some(distance), Some(last)) = (distance, starts.last()) else {
        return 1;
    };
    if starts.len() <= most {
        return 1;
    }
    let mut width_ns = distance;
    while last / width_ns >= most as u64 {
        width_ns = width_ns.saturating_mul(2);
    }
    width_ns
}

/// The length of an interval that several recorders share, or of several joined: to the end of the last one.
fn length(same: &[Logged]) -> u64 {
    let start = same.first().map_or(0, |one| one.start_ns);
    let ends = same
        .iter()
        .map(|one| one.start_ns.saturating_add(one.length_ns));
    ends.max().unwrap_or(0).saturating_sub(start)
}

/// The next header; `None` at the end.
fn header(reader: &mut impl Read) -> io::Result<Option<[u8; HEADER_BYTES]>> {
    let mut header = [0; HEADER_BYTES];
    let mut read = 0;
    while read < HEADER_BYTES {
        match reader.read(&mut header[read..]) {
            Ok(0) if read == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(header))
}

fn damaged(error: ReadError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
