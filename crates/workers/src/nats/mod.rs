//! NATS JetStream: addresses ([`Address`]), who somebody is ([`Access`]), streams and their settings, and the engine
//! ([`Worker`]), the source of a feeder ([`Feeder`]) and the reader of answers ([`Reader`]); snapshots that workers take one
//! after the other ([`Bucket`]); messages that no stream keeps ([`Listener`]).

mod access;
mod address;
mod bucket;
mod connect;
mod consumers;
mod feeder;
mod headers;
mod losses;
mod reader;
mod streams;
mod talk;
mod worker;

pub use access::Access;
pub use address::{Address, WrongAddress};
pub use bucket::{Bucket, Held};
pub use connect::Connection;
pub use feeder::Feeder;
pub use reader::Reader;
pub use streams::{Facts, Keep};
pub use talk::Listener;
pub use worker::{Setup, Worker};
