//! An acceptor of fixsession on a thread of its own, which returns orders.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Acquire;
use std::sync::mpsc::Sender;
use std::time::Duration;

use fixsession::engine::{Clock as _, Engine, SystemClock, Timing};
use fixsession::settings::Settings;
use fixsession::{Application, Outbox, Received, Refusal, SessionId, body};

use super::plan::{SESSIONS_MAX, Transport};
use crate::Error;

/// What the client does: it opens sessions, it measures, or it is done.
pub(super) const OPENS: u8 = 0;
pub(super) const MEASURES: u8 = 1;
pub(super) const DONE: u8 = 2;
pub(super) const LEAVES: u8 = 3;

/// How long the thread sleeps at most.
const TURN: Duration = Duration::from_millis(5);
/// Connections beside the sessions: of those that a client tries again.
const SPARE: usize = 64;

/// What an acceptor did while the client measured.
#[derive(Debug, Default)]
pub(super) struct Served {
    pub(super) syscalls: u64,
    /// How long calls kept the thread, in nanoseconds.
    pub(super) calls_ns: Vec<u64>,
}

/// Returns each application message, its fields by ascending tag.
struct Echo;

impl Application for Echo {
    fn from_app(
        &mut self,
        _: &SessionId,
        received: &Received<'_>,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        let message = received.message;
        out.with(message.msg_type(), |bytes| {
            body::sorted(message, received.dictionary, bytes);
        });
        Ok(())
    }
}

/// How an acceptor runs.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    pub(super) transport: Transport,
    /// The folder of its durable store.
    pub(super) store: Option<&'a Path>,
    pub(super) keeps_times: bool,
    pub(super) cpu: Option<u32>,
    pub(super) phase: &'a AtomicU8,
}

/// Serves until the client leaves. Says where it listens.
pub(super) fn serve(how: How<'_>, to: &Sender<SocketAddr>) -> Result<Served, Error> {
    if let Some(cpu) = how.cpu {
        latency::pin::pin(&[cpu]).map_err(|error| Error::new(error.to_string()))?;
    }
    let mut text =
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptAddress=127.0.0.1\nSocketAcceptPort=0\n\
                    NonStopSession=Y\n"
            .to_owned();
    if let Some(folder) = how.store {
        text += &format!("FileStorePath={}\n", folder.display());
    }
    text +=
        "[SESSION]\nBeginString=FIX.4.4\nSenderCompID=SERVER\nTargetCompID=*\nAcceptorTemplate=Y\n";
    let read = Settings::parse(text.as_bytes(), Path::new("fix-bench"), &|_| None);
    let settings = read.map_err(Error::broken)?;
    let clock = SystemClock::new();
    let mut options = how.transport.options();
    options.connections_max = SESSIONS_MAX as usize + SPARE;
    options.timings = how.keeps_times;
    let engine = Engine::open(settings.sessions, options, clock.now());
    let mut engine = engine.map_err(|error| {
        let name = how.transport.name();
        Error::new(format!("cannot start an acceptor with {name}: {error}"))
            .help("choose others with --transport")
    })?;
    if let Some(address) = engine.addresses().first() {
        let _ = to.send(*address);
    }
    let (mut served, mut before, mut seen) = (Served::default(), 0, OPENS);
    loop {
        let phase = how.phase.load(Acquire);
        if phase != seen {
            match phase {
                MEASURES => {
                    before = engine.counts().syscalls;
                    served.calls_ns.clear();
                }
                DONE => served.syscalls = engine.counts().syscalls - before,
                _ => return Ok(served),
            }
            seen = phase;
        }
        engine
            .turn(TURN, &clock, &mut Echo)
            .map_err(|error| Error::new(format!("an acceptor failed: {error}")))?;
        if how.keeps_times {
            let calls = engine.timings().filter_map(|timing| match timing {
                Timing::Call(took) => Some(took),
                _ => None,
            });
            let ns = calls.map(|took| u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
            if seen <= MEASURES {
                served.calls_ns.extend(ns);
            }
        }
    }
}
