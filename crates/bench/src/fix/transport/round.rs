//! A round trip over one connection, both ends polling: by a plain loop of reads that do not block,
//! and by a set of connections.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use fixcore::io::{Options, Wait};
use latency::Recorder;

use crate::Error;
use crate::fix::batches::failed;
use crate::fix::transport::carry::{Client, Echo, Sockets, connect, open};
use crate::fix::transport::cpus::Cpus;

/// Round trips of a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trips<'a> {
    /// What carries the client's and the server's end; `None` is a plain loop.
    pub(crate) ends: [Option<&'a Options>; 2],
    pub(crate) message: &'a [u8],
    pub(crate) number: u64,
    /// No trip begins later than this after the first.
    pub(crate) time_max: Duration,
    pub(crate) cpus: Cpus,
}

/// One turn of several round trips; returns their median in nanoseconds. A few trips that the system
/// took a thread away from are as long as all others together, so that a mean would be about those.
pub(crate) fn turn(
    trips: &Trips<'_>,
    wrong: &mut u64,
    recorder: &mut Recorder,
) -> Result<f64, Error> {
    let [ours, theirs] = connect(Sockets::Tcp).map_err(failed)?;
    let (server, cpu) = (trips.ends[1].cloned(), trips.cpus.map(|cpus| cpus[1]));
    let (asked, answered) = std::thread::scope(|scope| {
        let answers = scope.spawn(move || serve(theirs, server.as_ref(), cpu));
        let asks = scope.spawn(|| ask(ours, trips, recorder));
        (asks.join(), answers.join())
    });
    let crashed = |_| Error::new("a thread of the benchmark failed");
    answered.map_err(crashed)?.map_err(failed)?;
    let (ns, bad) = asked.map_err(crashed)?.map_err(failed)?;
    *wrong += bad;
    Ok(ns)
}

/// A socket for a plain loop.
fn plain(socket: OwnedFd, cpu: Option<u32>) -> io::Result<TcpStream> {
    if let Some(cpu) = cpu {
        latency::pin::pin(&[cpu]).map_err(io::Error::other)?;
    }
    let socket = TcpStream::from(socket);
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Reads until there is something: how much, 0 at the end.
fn poll(socket: &mut TcpStream, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match socket.read(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(0),
            other => return other,
        }
    }
}

/// Sends back what comes, until the end.
pub(crate) fn serve_plain(socket: OwnedFd, cpu: Option<u32>) -> io::Result<()> {
    let mut socket = plain(socket, cpu)?;
    let mut bytes = [0; 4096];
    loop {
        match poll(&mut socket, &mut bytes)? {
            0 => return Ok(()),
            // A message is far smaller than what a socket takes.
            read => socket.write_all(&bytes[..read])?,
        }
    }
}

fn serve(socket: OwnedFd, by: Option<&Options>, cpu: Option<u32>) -> io::Result<()> {
    let Some(options) = by else {
        return serve_plain(socket, cpu);
    };
    let mut connections = open(options, cpu)?;
    connections.add(socket)?;
    while !connections.is_empty() {
        connections.turn(Wait::Poll, &mut Echo)?;
    }
    Ok(())
}

fn ask(socket: OwnedFd, trips: &Trips<'_>, recorder: &mut Recorder) -> io::Result<(f64, u64)> {
    let (message, cpu) = (trips.message, trips.cpus.map(|cpus| cpus[0]));
    let mut trips_ns = Vec::with_capacity(usize::try_from(trips.number).unwrap_or(0));
    let mut wrong = 0;
    let begin = Instant::now();
    // The trip before the first waits until the other end is there. Whether to go on.
    let mut timed = |trip: u64, start| {
        let end = Instant::now();
        if trip > 0 {
            trips_ns.push(recorder.record_span(start, end) as f64);
        }
        end.saturating_duration_since(begin) < trips.time_max
    };
    match trips.ends[0] {
        None => {
            let mut socket = plain(socket, cpu)?;
            let mut bytes = vec![0; message.len()];
            for trip in 0..=trips.number {
                let start = Instant::now();
                socket.write_all(message)?;
                let mut read = 0;
                while read < bytes.len() {
                    match poll(&mut socket, &mut bytes[read..])? {
                        0 => return Err(ErrorKind::UnexpectedEof.into()),
                        more => read += more,
                    }
                }
                let goes_on = timed(trip, start);
                wrong += u64::from(bytes != message);
                if !goes_on {
                    break;
                }
            }
        }
        Some(options) => {
            let mut connections = open(options, cpu)?;
            let id = connections.add(socket)?;
            let mut client = Client {
                message,
                to_ask: 0,
                answered: 0,
                wrong: 0,
            };
            for trip in 0..=trips.number {
                let start = Instant::now();
                connections.send(id, message).map_err(io::Error::other)?;
                while client.answered <= trip {
                    connections.turn(Wait::Poll, &mut client)?;
                    if connections.is_empty() {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                if !timed(trip, start) {
                    break;
                }
            }
            wrong = client.wrong;
        }
    }
    let median = latency::compare::median(&trips_ns);
    Ok((median.unwrap_or(f64::NAN), wrong))
}
