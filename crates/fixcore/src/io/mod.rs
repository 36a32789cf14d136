//! Many connections on one thread: bytes in, messages to a [`Handler`], answers out (Linux).
//!
//! [`Connections`] has one face over two carriers, `io_uring` and `epoll`, and the same [`Framer`]
//! behind each. Nothing is threaded, nothing is locked: a set belongs to the thread that made it,
//! and every call of [`Connections::turn`] does what is there to be done, then sleeps as long as
//! it is told to ([`Wait`]).
//!
//! What must stay true: what was queued is handed to the kernel before the thread sleeps; memory
//! that the kernel works on outlives its use, also when a set is dropped in the middle of it; a
//! connection takes no more memory than [`Options::connection_bytes_max`] says. A kernel thread
//! that polls for submissions is never asked for: it would take a processor of its own.
//!
//! What is not here: listening and connecting (`std::net` does that), sessions, clocks, TLS.
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
mod uring;

pub use self::carrier::Counts;
pub use self::connections::{Closed, Connections, Handler, Id, Out, SendError};
pub use self::options::{Backend, Choice, OpenError, Options, Receives, Refused, Setup, Wait};
