//! Certifies a FIX engine: a table of scenarios, each driven against it, and a verdict for each scenario
//! and version.
//!
//! Here are the table, the run of one scenario without I/O, and JUnit's XML. Sockets are the caller's. The
//! table shares nothing with [`Session`](crate::Session): it writes and compares bytes of its own, so that
//! it can judge that one too.
//!
//! A scenario needs of an engine what each can be set to: CompIDs, a version, an application that sends
//! orders back (the echo), and numbers that begin at 1 with each Logon ([`Reset`]).
//!
//! ```
//! use std::time::Duration;
//! use fixcore::dict::Version;
//! use fixsession::certify::{Counterparty, Request, Run, Verdict, scenarios};
//! use fixsession::Now;
//!
//! let scenario = scenarios().iter().find(|scenario| scenario.name() == "logon.wrong-sender").unwrap();
//! let mut run = Run::new(scenario, Version::Fix44, &Counterparty::new("CERTIFY", "ENGINE"));
//! let at = |ms| Now {
//!     monotonic: Duration::from_millis(ms),
//!     utc: "20260102-03:04:05".parse().unwrap(),
//! };
//! let Request::Connect(line) = run.next(at(0)) else { panic!() };
//! run.connected(line, at(0));
//! let Request::Send(_, logon) = run.next(at(0)) else { panic!() };
//! assert!(logon.starts_with(b"8=FIX.4.4\x01"));
//! // The engine closes the connection without an answer.
//! run.ended(line, at(3));
//! assert!(matches!(run.next(at(3)), Request::Done));
//! assert_eq!(run.finish().verdict, Verdict::Passed);
//! ```

mod compare;
mod counterparty;
mod error;
mod expand;
mod junit;
mod message;
mod run;
mod scenario;
mod seen;
mod steps;
mod table;
mod verdict;
mod versions;
mod words;

pub use counterparty::{Counterparty, Reset};
pub use error::TableError;
pub use junit::junit;
pub use run::{Request, Run};
pub use scenario::{Connection, Needs, Scenario};
pub use table::scenarios;
pub use verdict::{Direction, Exchange, Finished, Verdict};
pub use versions::{VERSIONS, begin_string, logon_version};
