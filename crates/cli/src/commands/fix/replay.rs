//! `perfkit fix replay`: messages of a log once more, at the times at which they were sent.
//!
//! An open loop: a message is due when its SendingTime says so, whether or not those before it are
//! through, and the report says how late it was.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use files::output::Output;
use fixcore::{Decoder, Message, Timestamp};
use fixlog::{Block, Blocks, Filter, Found, Messages, Rewriter};
use latency::report::{Load, finite};
use latency::{Lateness, Recorder, Spec, Wait};
use report::{ExitStatus, Outcome};

use crate::commands::fix::conclude::{BAD_NAMED, conclude_bad, ended_file, write_out};
use crate::commands::fix::flags::ReplayArgs;
use crate::commands::fix::pace::Pace;
use crate::commands::fix_logs::Inputs;
use crate::commands::stop::{Stop, stopped};
use crate::failure::Failure;
use crate::io::context;
use crate::term::signal;

/// Sleeps overshoot by tens of microseconds: the rest of a wait is spent looking at the clock.
const WAIT: Wait = Wait::SleepThenSpin(Duration::from_micros(200));
/// SendingTime has milliseconds: a start is late when it is more than one behind.
const LATE_ABOVE: Duration = Duration::from_millis(1);
/// What is gathered when no message has a time.
const OUTPUT_BYTES: usize = 64 << 10;

/// Where messages go.
enum Target {
    Stdout(Output),
    Tcp(TcpStream, String),
}

impl Target {
    fn open(address: Option<&str>) -> crate::failure::Result<Self> {
        let Some(address) = address else {
            let failed = |error| Failure::io("write", Path::new("standard output"), &error);
            return Output::stdout(context()).map(Self::Stdout).map_err(failed);
        };
        let failed = |error: io::Error| {
            Failure::new(format!("cannot connect to {address}: {error}"))
                .help("name an address and a port that somebody listens on, as 127.0.0.1:5001")
        };
        let stream = TcpStream::connect(address).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let mut answers = stream.try_clone().map_err(failed)?;
        // What comes back is let go, so that who sends it is never held up. Never joined: it ends
        // with the connection.
        std::thread::Builder::new()
            .name("answers".to_owned())
            .spawn(move || {
                let mut room = vec![0; OUTPUT_BYTES];
                while answers.read(&mut room).is_ok_and(|count| count > 0) {}
            })
            .map_err(failed)?;
        Ok(Self::Tcp(stream, address.to_owned()))
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        match self {
            Self::Stdout(file) => write_out(file, bytes).map(drop),
            Self::Tcp(stream, name) => stream.write_all(bytes).map_err(|error| {
                Failure::new(format!("cannot send to {name}: {error}"))
                    .help("the other side has closed the connection")
                    .into()
            }),
        }
    }
}

/// Messages on their way.
struct Replay<'a> {
    args: &'a ReplayArgs,
    filter: Filter,
    target: Target,
    /// Without times: what is gathered.
    gathered: Vec<u8>,
    rewritten: Vec<u8>,
    pace: Pace,
    began: Instant,
    ended: Instant,
    rewriter: Rewriter,
    response: Recorder,
    service: Recorder,
    sent: u64,
    sent_bytes: u64,
    lateness: Lateness,
    bad: u64,
    named: Vec<(usize, u64, String)>,
}

/// Replays, and says what came of it.
pub(super) fn run(
    args: &ReplayArgs,
    filter: Filter,
    mut decoder: Decoder,
    recorder: &dyn Fn(Spec) -> Recorder,
    outcome: &mut Outcome,
) -> crate::failure::Result<()> {
    let spec = |name| Spec::new(name, "message");
    let now = Instant::now();
    let mut replay = Replay {
        args,
        filter,
        target: Target::open(args.connect.as_deref())?,
        gathered: Vec::new(),
        rewritten: Vec::new(),
        pace: Pace::new(args.speed, args.rate),
        began: now,
        ended: now,
        rewriter: Rewriter::new().renumber(args.renumber),
        response: recorder(
            spec(latency::LatencyName::Response).timing(latency::report::Timing::Intended),
        ),
        service: recorder(spec(latency::LatencyName::Service)),
        sent: 0,
        sent_bytes: 0,
        lateness: Lateness::new(now).late_above(LATE_ABOVE),
        bad: 0,
        named: Vec::new(),
    };
    let files = [args.file.clone()];
    let result = replay.all(&files, &mut decoder, outcome);
    let result = result.and_then(|()| replay.flush());
    if let Err(stop) = result {
        stopped(stop, outcome);
    }
    replay.conclude(&files, outcome);
    Ok(())
}

impl Replay<'_> {
    fn all(
        &mut self,
        files: &[PathBuf],
        decoder: &mut Decoder,
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        let mut blocks = Blocks::new(Inputs::new(files), self.args.separator.into());
        let (mut block, mut messages) = (Block::default(), Messages::new());
        while !signal::interrupted() && blocks.next(&mut block, &|| false) {
            let mut result = Ok(());
            messages.each(&block, &mut |offset, found| {
                if result.is_err() || signal::interrupted() {
                    return true;
                }
                let mut is_message = true;
                let error = match found {
                    Found::Bad(why) => why.to_string(),
                    Found::Lost(lost) => lost.text.clone(),
                    Found::Message(bytes, _) => match fixlog::parse(decoder, bytes) {
                        Ok(message) if !self.filter.matches(&message) => return true,
                        Ok(message) => {
                            result = self.message(&message);
                            return true;
                        }
                        Err(error) => {
                            is_message = false;
                            error.to_string()
                        }
                    },
                    _ => return true,
                };
                self.bad += 1;
                if self.named.len() < BAD_NAMED {
                    self.named.push((0, block.file_offset(offset), error));
                }
                is_message
            });
            result?;
            if let Some(ended) = block.take_ended() {
                ended_file(files, 0, ended.bytes, ended.error, outcome);
            }
        }
        Ok(())
    }

    fn message(&mut self, message: &Message<'_, '_>) -> Result<(), Stop> {
        let sent = message.get_timestamp(52).ok().flatten();
        let due = self.pace.due(sent, Instant::now());
        if let Some(due) = due {
            if due > Instant::now() {
                self.lateness.awaited();
            }
            if WAIT.until_or(due, signal::interrupted).is_none() {
                return Ok(());
            }
        }
        let start = Instant::now();
        let mut bytes = message.bytes();
        let mut rewritten = std::mem::take(&mut self.rewritten);
        if self.args.renumber || self.args.retime {
            let now = self.args.retime.then(now_millis);
            let now = now.as_ref().map(<[u8; 21]>::as_slice);
            self.rewriter.message(message, now, &mut rewritten);
            bytes = &rewritten;
        }
        let result = match due {
            Some(_) => self.target.send(bytes),
            None => {
                self.gathered.extend_from_slice(bytes);
                match self.gathered.len() >= OUTPUT_BYTES {
                    true => self.flush(),
                    false => Ok(()),
                }
            }
        };
        self.sent_bytes += bytes.len() as u64;
        self.rewritten = rewritten;
        result?;
        let end = Instant::now();
        (self.sent, self.ended) = (self.sent + 1, end);
        if let Some(due) = due {
            self.lateness.started(due, start);
            self.response.record_span(due, end);
            self.service.record_span(start, end);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Stop> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let result = self.target.send(&self.gathered);
        self.gathered.clear();
        result
    }

    fn conclude(self, files: &[PathBuf], outcome: &mut Outcome) {
        if let Target::Tcp(stream, _) = &self.target {
            let _ = stream.shutdown(Shutdown::Write);
        }
        outcome.bytes_out = self.sent_bytes;
        outcome.bytes_content = outcome.bytes_in;
        outcome.ops = Some(self.sent);
        let params = &mut outcome.workload.params;
        params.insert("messages".to_owned(), self.sent.into());
        params.insert("messages_bad".to_owned(), self.bad.into());
        params.insert("late".to_owned(), self.lateness.late().into());
        if !self.response.is_empty() {
            let elapsed = self.ended.saturating_duration_since(self.began);
            let due_s = self.lateness.last_due().as_secs_f64();
            outcome.load = Load {
                rate_target_per_s: finite(self.sent as f64 / due_s),
                ..self.lateness.load(self.sent, elapsed)
            };
            outcome.add(&self.response.finish());
            outcome.add(&self.service.finish());
        }
        conclude_bad(self.bad, self.named, files, outcome);
        if signal::interrupted() {
            outcome.complete = false;
            outcome.status = ExitStatus::Interrupted;
        }
    }
}

fn now_millis() -> [u8; 21] {
    let ns = jiff::Timestamp::now().as_nanosecond();
    Timestamp(i64::try_from(ns).unwrap_or(0)).to_millis()
}
