//! Messages and answers of many connections: a thread that answers and one that asks, both by the
//! same interface; every answer has to be what was asked.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use fixcore::io::{Choice, Connections, Counts, Handler, Id, Options, Out, Wait};
use fixcore::workload::Sample;
use latency::Recorder;

use crate::Error;
use crate::fix::batches::failed;
use crate::fix::transport::cpus::Cpus;

/// What connects both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sockets {
    Tcp,
    Pair,
}

impl Sockets {
    pub(crate) const ALL: [Self; 2] = [Self::Tcp, Self::Pair];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP, 127.0.0.1",
            Self::Pair => "socketpair",
        }
    }
}

/// What is carried, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) sockets: Sockets,
    pub(crate) connections: usize,
    pub(crate) messages: u64,
    pub(crate) choice: Choice,
    pub(crate) cpus: Cpus,
}

/// What turns came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carried {
    pub(crate) messages: u64,
    /// System calls of the thread that answers.
    pub(crate) syscalls: u64,
    pub(crate) wrong: u64,
}

/// Sends back what comes.
pub(crate) struct Echo;

impl Handler for Echo {
    fn message(&mut self, _: Id, message: &[u8], out: &mut Out<'_>) {
        // There is room for an answer; the client would miss it otherwise.
        let _ = out.send(message);
    }
}

/// Asks again as soon as it is answered.
pub(crate) struct Client<'m> {
    pub(crate) message: &'m [u8],
    pub(crate) to_ask: u64,
    pub(crate) answered: u64,
    pub(crate) wrong: u64,
}

impl Handler for Client<'_> {
    fn message(&mut self, _: Id, message: &[u8], out: &mut Out<'_>) {
        self.answered += 1;
        self.wrong += u64::from(message != self.message);
        if self.to_ask > 0 {
            self.to_ask -= 1;
            self.wrong += u64::from(out.send(self.message).is_err());
        }
    }
}

/// One turn: nanoseconds a message.
pub(crate) fn turn(
    plan: &Plan,
    carried: &mut Carried,
    recorder: &mut Recorder,
) -> Result<f64, Error> {
    let (mut clients, mut servers) = (Vec::new(), Vec::new());
    for _ in 0..plan.connections {
        let [client, server] = connect(plan.sockets).map_err(failed)?;
        clients.push(client);
        servers.push(server);
    }
    let (asked, answered) = std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(plan, servers));
        let client = scope.spawn(|| ask(plan, clients));
        (client.join(), server.join())
    });
    let crashed = |_| Error::new("a thread of the benchmark failed");
    let (start, end, client) = asked.map_err(crashed)?.map_err(failed)?;
    let served = answered.map_err(crashed)?.map_err(failed)?;
    carried.messages += plan.messages;
    carried.syscalls += served.syscalls;
    carried.wrong += client + u64::from(served.messages != plan.messages);
    recorder.record_batch(start, end, plan.messages);
    Ok((end - start).as_nanos() as f64 / plan.messages as f64)
}

/// Both ends of a connection.
pub(crate) fn connect(sockets: Sockets) -> io::Result<[OwnedFd; 2]> {
    if sockets == Sockets::Pair {
        let (client, server) = UnixStream::pair()?;
        return Ok([client.into(), server.into()]);
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let client = TcpStream::connect(listener.local_addr()?)?;
    let (server, _) = listener.accept()?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    Ok([client.into(), server.into()])
}

/// A set for a thread, which is pinned if that was asked for.
pub(crate) fn open(options: &Options, cpu: Option<u32>) -> io::Result<Connections> {
    if let Some(cpu) = cpu {
        latency::pin::pin(&[cpu]).map_err(io::Error::other)?;
    }
    Connections::open(options).map_err(io::Error::other)
}

/// Answers until all connections have ended: what that took, from the first message on.
fn serve(plan: &Plan, sockets: Vec<OwnedFd>) -> io::Result<Counts> {
    let mut connections = open(
        &Options::default().choice(plan.choice),
        plan.cpus.map(|cpus| cpus[1]),
    )?;
    for socket in sockets {
        connections.add(socket)?;
    }
    let before = connections.counts();
    // Ends of connections are no part of what messages cost.
    let mut counts = before;
    while !connections.is_empty() {
        if connections.turn(Wait::Event, &mut Echo)? > 0 || counts.messages < plan.messages {
            counts = connections.counts();
        }
    }
    Ok(Counts {
        syscalls: counts.syscalls - before.syscalls,
        ..counts
    })
}

/// Asks all that is to be asked: when, and how many answers were wrong.
fn ask(plan: &Plan, sockets: Vec<OwnedFd>) -> io::Result<(Instant, Instant, u64)> {
    let mut connections = open(
        &Options::default().choice(plan.choice),
        plan.cpus.map(|cpus| cpus[0]),
    )?;
    let mut ids = Vec::new();
    for socket in sockets {
        ids.push(connections.add(socket)?);
    }
    let message = Sample::NewOrder.bytes();
    let mut client = Client {
        message: &message,
        to_ask: plan.messages - ids.len() as u64,
        answered: 0,
        wrong: 0,
    };
    let start = Instant::now();
    for id in &ids {
        connections.send(*id, &message).map_err(io::Error::other)?;
    }
    while client.answered < plan.messages && !connections.is_empty() {
        connections.turn(Wait::Event, &mut client)?;
    }
    let end = Instant::now();
    for id in ids {
        connections.abort(id);
    }
    Ok((start, end, client.wrong + (plan.messages - client.answered)))
}
