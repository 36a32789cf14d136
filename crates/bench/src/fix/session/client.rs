//! Opens sessions, and closes them.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::conversation::{Answer, Conversation};
use super::line::Line;
use crate::{Error, Watch};

/// Longer than any answer may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long sessions may take to log out.
const LOGOUT: Duration = Duration::from_secs(5);
/// An engine that was left by a session a moment ago may refuse the next one: how often to try, and how long
/// to wait.
const TRIES: u32 = 40;
const RETRY: Duration = Duration::from_millis(50);
/// How many polls without an answer pass between two looks at the clock.
const QUIET_POLLS: u32 = 1 << 12;

/// All sessions of a turn.
pub(super) struct Client<'a> {
    pub(super) line: Line,
    pub(super) conversations: Vec<Conversation>,
    pub(super) touched: Vec<usize>,
    /// Whether there is an engine.
    logs_on: bool,
    watch: &'a dyn Watch,
    quiet: u32,
    quiet_since: Option<Instant>,
}

impl<'a> Client<'a> {
    /// Connects, and logs on if there is an engine.
    pub(super) fn connect(
        address: SocketAddr,
        sessions: u32,
        logs_on: bool,
        watch: &'a dyn Watch,
    ) -> Result<Self, Error> {
        let mut conversations: Vec<_> = (0..sessions as usize).map(Conversation::new).collect();
        let mut sockets = Vec::new();
        for conversation in &mut conversations {
            sockets.push(connect(address, logs_on, conversation)?);
        }
        let line = Line::new(sockets).map_err(lost)?;
        Ok(Self {
            line,
            conversations,
            touched: Vec::new(),
            logs_on,
            watch,
            quiet: 0,
            quiet_since: None,
        })
    }

    /// Sends the next order of a session.
    pub(super) fn ask(&mut self, at: usize, due: Option<Instant>) -> Result<(), Error> {
        let Some(conversation) = self.conversations.get_mut(at) else {
            return Ok(());
        };
        conversation.write_order(due);
        self.line.send(at, &conversation.message).map_err(lost)
    }

    /// Makes a message that is no order.
    pub(super) fn write(&mut self, at: usize, msg_type: &str, body: &[u8]) {
        if let Some(conversation) = self.conversations.get_mut(at) {
            conversation.write(msg_type, body);
        }
    }

    /// Sends it.
    pub(super) fn send(&mut self, at: usize) -> Result<(), Error> {
        let message = self.conversations.get(at).map(|one| one.message.as_slice());
        self.line.send(at, message.unwrap_or(&[])).map_err(lost)
    }

    /// The next message of a session that is complete.
    pub(super) fn next(&mut self, at: usize) -> Result<Option<Answer>, Error> {
        match self.conversations.get_mut(at) {
            Some(conversation) => conversation.next(),
            None => Ok(None),
        }
    }

    /// What came for a session and was not taken.
    pub(super) fn input(&self, at: usize) -> &[u8] {
        self.conversations.get(at).map_or(&[], |one| &one.input)
    }

    /// How many of the first `count` answers, from number `first` on, were sent again.
    pub(super) fn are_sent_again(&mut self, at: usize, first: u64, count: u64) -> u64 {
        let conversation = self.conversations.get_mut(at);
        conversation.map_or(0, |one| one.take_sent_again(first, count))
    }

    /// The same as [`poll`](Self::poll); no answer is missed unless one `is_due`.
    pub(super) fn poll_quietly(&mut self, is_due: bool) -> Result<Instant, Error> {
        if !is_due {
            self.quiet_since = None;
        }
        self.poll()
    }

    /// Takes what came; the sessions that got something are in `touched`. When it came.
    pub(super) fn poll(&mut self) -> Result<Instant, Error> {
        self.line
            .poll(&mut self.conversations, &mut self.touched)
            .map_err(lost)?;
        let now = Instant::now();
        if self.touched.is_empty() {
            self.quiet += 1;
            if self.quiet.is_multiple_of(QUIET_POLLS) {
                self.watch.check()?;
                let since = *self.quiet_since.get_or_insert(now);
                if now.saturating_duration_since(since) > PATIENCE {
                    return Err(Error::new("an engine does not answer an order")
                        .help("it has to return each NewOrderSingle (35=D) with its fields by ascending tag"));
                }
            }
            return Ok(now);
        }
        (self.quiet, self.quiet_since) = (0, None);
        let mut touched = self.touched.iter();
        match touched.any(|at| self.conversations.get(*at).is_some_and(|one| one.has_ended)) {
            true => Err(Error::new("an engine closed a connection")),
            false => Ok(now),
        }
    }

    /// Logs out, where there is an engine.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        if !self.logs_on {
            return Ok(());
        }
        for (at, conversation) in self.conversations.iter_mut().enumerate() {
            conversation.write("5", b"");
            self.line.send(at, &conversation.message).map_err(lost)?;
        }
        let until = Instant::now() + LOGOUT;
        let mut open = self.conversations.len();
        let mut is_out = vec![false; open];
        while open > 0 && Instant::now() < until {
            let polled = self.line.poll(&mut self.conversations, &mut self.touched);
            polled.map_err(lost)?;
            for at in &self.touched {
                let (Some(conversation), Some(is_out)) =
                    (self.conversations.get_mut(*at), is_out.get_mut(*at))
                else {
                    continue;
                };
                let mut out = conversation.has_ended;
                while let Some(answer) = conversation.next()? {
                    out |= matches!(answer, Answer::LoggedOut);
                }
                if out && !std::mem::replace(is_out, true) {
                    open -= 1;
                }
            }
        }
        Ok(())
    }
}

fn lost(error: io::Error) -> Error {
    Error::new(format!("a connection failed: {error}"))
}

/// Connects one session, and logs on.
fn connect(
    address: SocketAddr,
    logs_on: bool,
    conversation: &mut Conversation,
) -> Result<TcpStream, Error> {
    let mut tries = 0;
    loop {
        tries += 1;
        let done = try_connect(address, logs_on, conversation)?;
        if let Some(socket) = done {
            return Ok(socket);
        }
        if tries == TRIES {
            return Err(Error::new(format!(
                "the engine at {address} closes the connection of a Logon"
            ))
            .help("it has to accept FIX.4.4 with 49=C1, C2 and so on, 56=SERVER and 141=Y"));
        }
        std::thread::sleep(RETRY);
    }
}

/// The same once; `None` if the engine closes the connection.
fn try_connect(
    address: SocketAddr,
    logs_on: bool,
    conversation: &mut Conversation,
) -> Result<Option<TcpStream>, Error> {
    let failed = |error: io::Error| {
        let many = "many sessions need as many open files, twice: see `ulimit -n`";
        Error::new(format!("cannot connect to {address}: {error}")).help(many)
    };
    let mut socket = TcpStream::connect(address).map_err(failed)?;
    socket.set_nodelay(true).map_err(failed)?;
    if !logs_on {
        return Ok(Some(socket));
    }
    socket.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    conversation.restart();
    conversation.write_logon();
    if socket.write_all(&conversation.message).is_err() {
        return Ok(None);
    }
    let mut bytes = [0; 1024];
    loop {
        match socket.read(&mut bytes) {
            Ok(0) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            Err(error) => return Err(failed(error)),
            Ok(read) => conversation
                .input
                .extend_from_slice(bytes.get(..read).unwrap_or(&[])),
        }
        if let Some(Answer::LoggedOn) = conversation.next()? {
            return Ok(Some(socket));
        }
    }
}
