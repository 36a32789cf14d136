//! Logs to try things on.

use fixcore::separator::from_soh;
use fixcore::workload::{Harm, Log, Mix};

use crate::{CaptureWriter, Separator};

/// What a generated log has around messages.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// Nothing.
    Stream,
    /// A message on a line.
    #[default]
    Lines,
    /// A message on a line, behind a date and time.
    Prefixed,
    /// Packets of TCP connections, one connection per session: a capture (pcap). The separator is the byte 1.
    Pcap,
}

/// Writes orders, their executions, market data and heartbeats of some sessions in order of time. The
/// same seed gives the same bytes everywhere.
///
/// ```
/// use fixlog::{Generator, Separator};
///
/// let mut generator = Generator::new(1).separator(Separator::Pipe);
/// let mut log = Vec::new();
/// for _ in 0..10 {
///     generator.message(&mut log)?;
/// }
/// assert_eq!(log.iter().filter(|byte| **byte == b'\n').count(), 10);
/// assert!(log.starts_with(b"8=FIX.4.4|9="));
/// # Ok::<(), fixcore::Error>(())
/// ```
#[derive(Debug)]
pub struct Generator {
    log: Log,
    seed: u64,
    mix: Mix,
    sessions: usize,
    harmed: f64,
    form: Form,
    separator: Separator,
    message: Vec<u8>,
    capture: CaptureWriter,
}

impl Generator {
    /// Four sessions, lines, nothing damaged.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let (mix, sessions, harmed) = (Mix::default(), 4, 0.0);
        Self {
            log: Log::new(mix, sessions, harmed, seed),
            seed,
            mix,
            sessions,
            harmed,
            form: Form::default(),
            separator: Separator::Soh,
            message: Vec::new(),
            capture: CaptureWriter::new(),
        }
    }

    fn again(mut self) -> Self {
        self.log = Log::new(self.mix, self.sessions, self.harmed, self.seed);
        self
    }

    /// Sets how frequent each kind of message is.
    #[must_use]
    pub fn mix(mut self, mix: Mix) -> Self {
        self.mix = mix;
        self.again()
    }

    /// Sets how many sessions there are, at least one.
    #[must_use]
    pub fn sessions(mut self, sessions: usize) -> Self {
        self.sessions = sessions;
        self.again()
    }

    /// Sets which share of messages is damaged, lost or repeated, from 0 to 1.
    #[must_use]
    pub fn harmed(mut self, share: f64) -> Self {
        self.harmed = share;
        self.again()
    }

    /// Sets what is around messages.
    #[must_use]
    pub fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Sets what is between fields; for [`Separator::Auto`] that is the byte 1.
    #[must_use]
    pub fn separator(mut self, separator: Separator) -> Self {
        self.separator = separator;
        self
    }

    /// Appends the next message as the log has it, or nothing if it is lost. Returns how it was
    /// damaged, if it was.
    ///
    /// # Errors
    /// None that are known: every value can be written.
    pub fn message(&mut self, out: &mut Vec<u8>) -> fixcore::Result<Option<Harm>> {
        self.message.clear();
        let harm = self.log.message(&mut self.message)?;
        if harm == Some(Harm::Lost) {
            return Ok(harm);
        }
        if self.form == Form::Pcap {
            self.capture.message(self.log.now().0, &self.message, out);
            return Ok(harm);
        }
        if self.form == Form::Prefixed {
            out.extend_from_slice(&self.log.now().to_millis());
            out.extend_from_slice(b" : ");
        }
        from_soh(&self.message, self.separator.bytes(), out);
        if self.form != Form::Stream {
            out.push(b'\n');
        }
        Ok(harm)
    }
}
