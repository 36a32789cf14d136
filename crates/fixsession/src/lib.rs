//! FIX sessions without I/O: logon, heartbeats, resends, recovery, schedules, settings and stores.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod application;
pub mod body;
pub mod certify;
mod credentials;
mod dictionaries;
mod echo;
#[cfg(all(feature = "net", target_os = "linux"))]
pub mod engine;
mod event;
mod first;
mod framing;
mod gap;
mod id;
mod memory_store;
mod now;
mod options;
mod orders;
mod reject;
mod replay;
pub mod schedule;
mod session;
pub mod settings;
#[cfg(feature = "simulation")]
pub mod simulation;
mod store;
pub mod stores;
mod tags;
mod times;
mod version;
mod writer;

pub use application::{Application, DoNotSend, Outbox, Outgoing, Received, Refusal};
pub use credentials::{Credentials, CredentialsError};
pub use dictionaries::{Dictionaries, DictionaryRef, appl_ver_id};
pub use echo::Echo;
pub use event::Event;
pub use first::{First, FirstProblem, first_message};
pub use id::SessionId;
pub use memory_store::MemoryStore;
pub use now::Now;
pub use options::{Role, SessionOptions, TimePrecision};
pub use orders::{Fill, OrderCounts, Orders, OrdersOptions};
pub use replay::{ReplayStep, plan_replay};
pub use session::{Progress, SendError, Sent, Session, Status};
pub use store::{Store, StoreFailure};
