//! Histograms of intervals on their way out of a run: a recorder hands over each complete one, a thread
//! writes it to a spool, and the spool becomes an `.hlog` when the run is over.
//!
//! Complete intervals do not stay in memory, so an export costs a run of a day no more memory than a run of
//! a minute. A recorder never waits for the spool: while the spool is behind, the current interval grows.

use std::fmt;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::coding;
use crate::live_rows::{LiveRows, Seat};

mod logged;

pub(crate) use self::logged::Logged;
pub use self::logged::LoggedIntervals;

/// Intervals that wait for the spool at most.
const WAITING_MAX: usize = 256;
/// The header of a histogram in the spool: its part, its length in bytes, start and length of the interval.
const HEADER_BYTES: usize = 4 + 4 + 8 + 8;

/// Where intervals wait until the report is written: a file, or memory for a few.
pub trait Spool: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> Spool for T {}

/// Takes the intervals of the recorders of a run (see [`crate::Spec::intervals`]) and keeps them on a
/// spool. Clones are the same log.
///
/// ```
/// use std::io::Cursor;
/// use std::time::{Duration, Instant, SystemTime};
/// use perfkit_latency::{IntervalLog, LatencyName, Recorder, Spec, hlog};
///
/// let log = IntervalLog::new(Duration::from_secs(1), Cursor::new(Vec::new()))?;
/// let start = Instant::now();
/// let spec = Spec::new(LatencyName::Service, "call").intervals(Some(log.clone()));
/// let mut recorder = Recorder::new(spec, start);
/// for second in 0..3 {
///     let begin = start + Duration::from_secs(second);
///     recorder.record_span(begin, begin + Duration::from_micros(5));
/// }
/// let row = recorder.finish().latency();
/// let mut text = Vec::new();
/// hlog::write(&mut text, SystemTime::now(), &[&row], Some(&mut log.finish()?))?;
/// assert_eq!(hlog::read(&text).unwrap().len(), 3);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct IntervalLog(Arc<Inner>);

struct Inner {
    length: Duration,
    sender: SyncSender<Message>,
    parts: AtomicU32,
    waiting_bytes: Arc<AtomicU64>,
    /// Who looks on.
    rows: Option<LiveRows>,
}

/// Whose interval it is, and which.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The number of the recorder.
    pub(crate) part: u32,
    /// Where it is shown.
    pub(crate) seat: Option<Seat>,
    pub(crate) start_ns: u64,
    pub(crate) length_ns: u64,
}

/// An interval of one recorder.
struct Complete {
    place: Place,
    /// The histogram in plain V2, which is quick to write while the run goes on.
    plain: Vec<u8>,
}

enum Message {
    Complete(Complete),
    Finish(SyncSender<io::Result<Box<dyn Spool>>>),
}

impl fmt::Debug for IntervalLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntervalLog")
            .field("length", &self.0.length)
            .finish_non_exhaustive()
    }
}

/// Whether both are the same log.
impl PartialEq for IntervalLog {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl IntervalLog {
    /// A log of intervals of this length, at least a millisecond, that starts at the spool's position.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn new(length: Duration, spool: impl Spool + 'static) -> io::Result<Self> {
        Self::start(length, spool, None)
    }

    /// The same, whose intervals are shown in `rows`, too, as they come. The log's thread does that, not the recorders.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn watched(
        length: Duration,
        spool: impl Spool + 'static,
        rows: LiveRows,
    ) -> io::Result<Self> {
        Self::start(length, spool, Some(rows))
    }

    fn start(
        length: Duration,
        spool: impl Spool + 'static,
        rows: Option<LiveRows>,
    ) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let waiting_bytes = Arc::new(AtomicU64::new(0));
        let waiting = waiting_bytes.clone();
        let spool: Box<dyn Spool> = Box::new(spool);
        let shown = rows.clone();
        std::thread::Builder::new()
            .name("intervals".to_owned())
            .spawn(move || keep(spool, &receiver, &waiting, shown.as_ref()))?;
        Ok(Self::of(length, sender, waiting_bytes, rows))
    }

    /// A log that keeps nothing, for measuring what recording costs.
    pub(crate) fn nowhere(length: Duration) -> Self {
        let (sender, _) = sync_channel(1);
        Self::of(length, sender, Arc::default(), None)
    }

    fn of(
        length: Duration,
        sender: SyncSender<Message>,
        waiting_bytes: Arc<AtomicU64>,
        rows: Option<LiveRows>,
    ) -> Self {
        Self(Arc::new(Inner {
            length: length.max(Duration::from_millis(1)),
            sender,
            parts: AtomicU32::new(0),
            waiting_bytes,
            rows,
        }))
    }

    /// The length of an interval.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.0.length
    }

    /// Bytes that intervals take in memory now, those that are shown included.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        let shown = self.0.rows.as_ref().map_or(0, LiveRows::held_bytes);
        self.0.waiting_bytes.load(Relaxed) + shown
    }

    /// The number of the next recorder.
    pub(crate) fn part(&self) -> u32 {
        self.0.parts.fetch_add(1, Relaxed)
    }

    /// Where a recorder of the row with this label is shown.
    pub(crate) fn seat(&self, label: &str, run_start: Instant) -> Option<Seat> {
        self.0.rows.as_ref()?.seat(label, run_start)
    }

    /// Hands an interval over. Returns false when the spool is behind and `wait` is false. Intervals that
    /// come after the log is finished are dropped.
    pub(crate) fn put(&self, place: Place, histogram: &Histogram<u64>, wait: bool) -> bool {
        let mut plain = Vec::new();
        if !coding::encode_plain(histogram, &mut plain) {
            return true;
        }
        plain.shrink_to_fit();
        let bytes = plain.len() as u64;
        let message = Message::Complete(Complete { place, plain });
        self.0.waiting_bytes.fetch_add(bytes, Relaxed);
        let sent = match wait {
            true => self.0.sender.send(message).map_err(|_| true),
            false => self
                .0
                .sender
                .try_send(message)
                .map_err(|error| match error {
                    TrySendError::Full(_) => false,
                    TrySendError::Disconnected(_) => true,
                }),
        };
        match sent {
            Ok(()) => true,
            Err(gone) => {
                self.0.waiting_bytes.fetch_sub(bytes, Relaxed);
                gone
            }
        }
    }

    /// Ends the log. Recorders that keep recording into it lose only their intervals.
    ///
    /// # Errors
    /// The first failure to write or read the spool.
    pub fn finish(self) -> io::Result<LoggedIntervals> {
        let gone = || io::Error::other("the interval log is already finished");
        let (reply, answer) = sync_channel(1);
        let asked = self.0.sender.send(Message::Finish(reply));
        asked.map_err(|_| gone())?;
        LoggedIntervals::of(answer.recv().map_err(|_| gone())??)
    }
}

/// The thread that writes the spool, until someone asks for the spool or all logs are dropped.
fn keep(
    spool: Box<dyn Spool>,
    receiver: &Receiver<Message>,
    waiting_bytes: &AtomicU64,
    rows: Option<&LiveRows>,
) {
    let mut file = BufWriter::new(spool);
    let mut failed = None;
    while let Ok(message) = receiver.recv() {
        match message {
            Message::Complete(complete) => {
                if failed.is_none() {
                    failed = complete.write(&mut file).err();
                }
                if let Some(rows) = rows {
                    complete.show(rows);
                }
                waiting_bytes.fetch_sub(complete.plain.len() as u64, Relaxed);
            }
            Message::Finish(reply) => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error);
                // The caller may have gone.
                drop(reply.send(failed.map_or(file, Err)));
                return;
            }
        }
    }
}

impl Complete {
    fn write(&self, w: &mut impl Write) -> io::Result<()> {
        let bytes = u32::try_from(self.plain.len()).map_err(io::Error::other)?;
        w.write_all(&self.place.part.to_le_bytes())?;
        w.write_all(&bytes.to_le_bytes())?;
        w.write_all(&self.place.start_ns.to_le_bytes())?;
        w.write_all(&self.place.length_ns.to_le_bytes())?;
        w.write_all(&self.plain)
    }

    fn show(&self, rows: &LiveRows) {
        let Place {
            seat: Some(seat),
            start_ns,
            length_ns,
            ..
        } = self.place
        else {
            return;
        };
        // It was encoded by this process: what cannot be read back is not shown.
        if let Ok(histogram) = coding::decode(&self.plain) {
            rows.add(seat, start_ns, length_ns, &histogram);
        }
    }
}

#[cfg(test)]
mod tests;
