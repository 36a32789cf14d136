//! A round trip over one connection, both ends polling: by a plain loop of reads that do not block,
//! and by a set of connections.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::time::Instant;

use fixcore::io::{Choice, Wait};
use fixcore::workload::Sample;
use latency::Recorder;

use crate::Error;
use crate::fix::batches::failed;
use crate::fix::transport::carry::{Client, Echo, Sockets, connect, open};
use crate::fix::transport::cpus::Cpus;

/// One turn of several round trips; returns their median in nanoseconds. A few trips that the system
/// took a thread away from are as long as all others together, so that a mean would be about those. An
/// end that is `None` is a plain loop.
pub(crate) fn turn(
    [client, server]: [Option<Choice>; 2],
    trips: u64,
    cpus: Cpus,
    wrong: &mut u64,
    recorder: &mut Recorder,
) -> Result<f64, Error> {
    let [ours, theirs] = connect(Sockets::Tcp).map_err(failed)?;
    let (asked, answered) = std::thread::scope(|scope| {
        let answers = scope.spawn(move || serve(theirs, server, cpus.map(|cpus| cpus[1])));
        let asks = scope.spawn(|| ask(ours, client, trips, cpus.map(|cpus| cpus[0]), recorder));
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

fn serve(socket: OwnedFd, by: Option<Choice>, cpu: Option<u32>) -> io::Result<()> {
    let Some(choice) = by else {
        return serve_plain(socket, cpu);
    };
    let mut connections = open(choice, cpu)?;
    connections.add(socket)?;
    while !connections.is_empty() {
        connections.turn(Wait::Poll, &mut Echo)?;
    }
    Ok(())
}

fn ask(
    socket: OwnedFd,
    by: Option<Choice>,
    trips: u64,
    cpu: Option<u32>,
    recorder: &mut Recorder,
) -> io::Result<(f64, u64)> {
    let message = Sample::NewOrder.bytes();
    let mut trips_ns = Vec::with_capacity(usize::try_from(trips).unwrap_or(0));
    let mut wrong = 0;
    // The trip before the first waits until the other end is there.
    let mut timed = |trip: u64, start| {
        let end = Instant::now();
        if trip > 0 {
            trips_ns.push(recorder.record_span(start, end) as f64);
        }
    };
    match by {
        None => {
            let mut socket = plain(socket, cpu)?;
            let mut bytes = vec![0; message.len()];
            for trip in 0..=trips {
                let start = Instant::now();
                socket.write_all(&message)?;
                let mut read = 0;
                while read < bytes.len() {
                    match poll(&mut socket, &mut bytes[read..])? {
                        0 => return Err(ErrorKind::UnexpectedEof.into()),
                        more => read += more,
                    }
                }
                timed(trip, start);
                wrong += u64::from(bytes != message);
            }
        }
        Some(choice) => {
            let mut connections = open(choice, cpu)?;
            let id = connections.add(socket)?;
            let mut client = Client {
                message: &message,
                to_ask: 0,
                answered: 0,
                wrong: 0,
            };
            for trip in 0..=trips {
                let start = Instant::now();
                connections.send(id, &message).map_err(io::Error::other)?;
                while client.answered <= trip {
                    connections.turn(Wait::Poll, &mut client)?;
                    if connections.is_empty() {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                timed(trip, start);
            }
            wrong = client.wrong;
        }
    }
    let median = latency::compare::median(&trips_ns);
    Ok((median.unwrap_or(f64::NAN), wrong))
}
