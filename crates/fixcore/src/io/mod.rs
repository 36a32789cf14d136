//! Many connections on one thread: bytes in, messages to a [`Handler`], answers out (Linux).
//!
//! [`Connections`] has the same interface over `io_uring` and `epoll`, with a [`Framer`] for each
//! connection. There are no threads and no locks: a set belongs to the thread that made it. Each call of
//! [`Connections::turn`] does the work that is ready, then waits as long as [`Wait`] allows.
//!
//! Invariants: queued bytes are passed to the kernel before the thread sleeps; memory that the kernel
//! uses outlives its use, even if a set is dropped meanwhile; a connection takes at most
//! [`Options::connection_bytes_max`]. A kernel thread that polls for submissions ([`Setup::Polled`]) is only
//! requested by name, because it occupies a processor.
//!
//! [`Streams`] is the same without a framer, for protocols that frame by themselves, such as FIX sessions.
//!
//! Not here: listening and connecting (use `std::net`), sessions, clocks, TLS.
//!
//! ```
//! use std::os::unix::net::UnixStream;
//! use fixcore::io::{Connections, Handler, Id, Options, Out, Wait};
//!
//! struct Echo;
//! impl Handler for Echo {
//!     fn message(&mut self, _: Id, message: &[u8], out: &mut Out<'_>) {
//!         // There is room for an answer of `answer_bytes_max`.
//!         let _ = out.send(message);
//!     }
//! }
//!
//! let (ours, mut theirs) = UnixStream::pair()?;
//! let mut connections = Connections::open(&Options::default())?;
//! connections.add(ours)?;
//! std::io::Write::write_all(&mut theirs, b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01")?;
//! while connections.counts().messages == 0 {
//!     connections.turn(Wait::Event, &mut Echo)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Framer`]: crate::Framer

mod carrier;
mod connections;
mod epoll;
mod lines;
#[cfg(feature = "workload")]
pub mod measure;
mod options;
mod outbox;
mod places;
mod streams;
mod uring;

pub use self::carrier::Counts;
pub use self::connections::{Closed, Connections, Handler, Out, SendError};
pub use self::options::{Backend, Choice, OpenError, Options, Receives, Refused, Setup, Wait};
pub use self::places::Id;
pub use self::streams::{Lent, StreamEvent, Streams};
