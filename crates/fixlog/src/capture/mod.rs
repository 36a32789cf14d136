//! Captures of network traffic (pcap and pcapng) as logs: packets, TCP streams put together again, and the
//! messages in them with packet, time and stream. What a message is, and what is wrong with it, is told by the rest
//! of the crate, as of any log.

mod link;
mod messages;
mod origin;
mod packets;
mod reader;
mod source;
mod stream;
mod streams;
mod write;

pub use origin::{Lost, Origin, Origins};
pub use source::Captured;
pub use write::CaptureWriter;

#[cfg(test)]
mod tests;
