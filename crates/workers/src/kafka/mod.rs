//! Kafka: addresses ([`Address`]), how to reach servers ([`Access`]), topics and their settings ([`Cluster`], [`Facts`]),
//! the engine ([`Worker`]), the source of a feeder ([`Feeder`]) and the reader of answers ([`Reader`]).
//!
//! Answers and the place up to which a group is done with the blocks of a partition are stored in one transaction, so
//! that a block is answered once whoever is killed, and however often its partition changes hands. Each partition has a
//! transactional id of its own: the worker that gets a partition shuts out the one that had it.
//!
//! The client is librdkafka, in C. Clients in Rust alone were looked at in November 2026: those that have transactions
//! (kafkit-client, partitionline, rustfs-kafka, the preview of Confluent's) are months old or call themselves previews,
//! and this module is about what happens when things go wrong.

mod access;
mod address;
mod client;
mod committer;
mod feeder;
mod group;
mod headers;
mod java;
mod mark;
mod order;
mod partition;
mod plan;
mod reader;
mod removed;
mod scan;
mod shared;
mod topics;
mod transaction;
mod worker;

pub use access::Access;
pub use address::{Address, WrongAddress};
pub use feeder::Feeder;
pub use reader::Reader;
pub use topics::{Cluster, Facts, check_topic, drops};
pub use worker::{Setup, Token, Worker};
