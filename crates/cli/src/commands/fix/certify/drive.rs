//! Runs of scenarios over TCP: connections with a thread each that reads, and the clocks.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use fixcore::Timestamp;
use fixcore::dict::Version;
use fixsession::Now;
use fixsession::certify::{Connection, Counterparty, Finished, Request, Run};

use crate::commands::fix::certify::listening::Listening;
use crate::commands::fix::certify::plan::Row;
use crate::term::signal;

/// Signals are looked at this often.
const LOOK: Duration = Duration::from_millis(100);
const READ_BYTES: usize = 64 << 10;

/// What a connection brought, and which connection it was.
struct Event {
    connection: Connection,
    serial: u64,
    /// Empty: it ended.
    bytes: Vec<u8>,
}

/// A connection of a run.
struct Open {
    stream: TcpStream,
    serial: u64,
}

/// How connections to the engine come about.
pub(super) enum Way {
    /// This side connects to one of these.
    Connect(Vec<SocketAddr>),
    /// The engine connects, each time within this time.
    Listen(Listening, Duration),
}

struct Driver<'d> {
    way: &'d Way,
    version: Version,
    timeout: Duration,
    began: Instant,
    open: [Option<Open>; 2],
    serial: u64,
    events: (Sender<Event>, Receiver<Event>),
}

/// Runs one scenario to its end; a signal ends it early.
pub(super) fn drive(row: Row, engine: &Counterparty, way: &Way) -> Finished {
    let mut run = Run::new(row.scenario, row.version, engine);
    let mut driver = Driver {
        way,
        version: row.version,
        timeout: engine.timeout,
        began: Instant::now(),
        open: [None, None],
        serial: 0,
        events: channel(),
    };
    driver.run(&mut run);
    run.finish()
}

impl Driver<'_> {
    fn now(&self) -> Now {
        let ns = jiff::Timestamp::now().as_nanosecond();
        Now {
            monotonic: self.began.elapsed(),
            utc: Timestamp(i64::try_from(ns).unwrap_or(0)),
        }
    }

    fn run(&mut self, run: &mut Run) {
        loop {
            if signal::interrupted() {
                run.interrupt("interrupted");
            }
            match run.next(self.now()) {
                Request::Connect(connection) | Request::Accept(connection) => {
                    match self.connect(connection) {
                        Ok(()) => run.connected(connection, self.now()),
                        Err(_) if signal::interrupted() => run.interrupt("interrupted"),
                        Err(error) => run.refused(connection, &error.to_string()),
                    }
                }
                Request::Send(connection, bytes) => {
                    // An engine that has closed is found by the thread that reads.
                    if let Some(open) = &mut self.open[place(connection)] {
                        let _ = open.stream.write_all(&bytes);
                    }
                }
                Request::Close(connection) => self.close(connection),
                Request::Wait(until) => self.wait(until, run),
                _ => break,
            }
        }
        for connection in [Connection::A, Connection::B] {
            self.close(connection);
        }
    }

    fn connect(&mut self, connection: Connection) -> io::Result<()> {
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        let addresses = match self.way {
            Way::Connect(addresses) => addresses,
            Way::Listen(listening, wait) => {
                let arrived = listening.accept(self.version, *wait)?;
                return self.begin(connection, arrived.stream, arrived.bytes);
            }
        };
        for address in addresses {
            match TcpStream::connect_timeout(address, self.timeout) {
                Ok(stream) => return self.begin(connection, stream, Vec::new()),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Takes over a connection, and what it has brought so far.
    fn begin(
        &mut self,
        connection: Connection,
        stream: TcpStream,
        first: Vec<u8>,
    ) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(self.timeout))?;
        self.serial += 1;
        let (serial, to) = (self.serial, self.events.0.clone());
        let mut reader = stream.try_clone()?;
        if !first.is_empty() {
            let event = Event {
                connection,
                serial,
                bytes: first,
            };
            to.send(event).map_err(io::Error::other)?;
        }
        // Never joined: it ends with the connection.
        std::thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || {
                let mut room = vec![0; READ_BYTES];
                loop {
                    let count = reader.read(&mut room).unwrap_or(0);
                    let bytes = room.get(..count).unwrap_or(&[]).to_vec();
                    let event = Event {
                        connection,
                        serial,
                        bytes,
                    };
                    if to.send(event).is_err() || count == 0 {
                        return;
                    }
                }
            })?;
        self.open[place(connection)] = Some(Open { stream, serial });
        Ok(())
    }

    fn close(&mut self, connection: Connection) {
        if let Some(open) = self.open[place(connection)].take() {
            // It may have ended by itself.
            let _ = open.stream.shutdown(Shutdown::Both);
        }
    }

    fn wait(&mut self, until: Duration, run: &mut Run) {
        let left = until.saturating_sub(self.began.elapsed());
        let event = match self.events.1.recv_timeout(left.min(LOOK)) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
        };
        let now = self.now();
        let open = self.open[place(event.connection)].as_ref();
        if open.is_none_or(|open| open.serial != event.serial) {
            return;
        }
        match event.bytes.is_empty() {
            true => {
                run.ended(event.connection, now);
                self.close(event.connection);
            }
            false => run.received(event.connection, &event.bytes, now),
        }
    }
}

fn place(connection: Connection) -> usize {
    match connection {
        Connection::A => 0,
        Connection::B => 1,
    }
}
