//! FIX messages: found in a stream, scanned by vector instructions, decoded without a copy, encoded.
//!
//! A [`Framer`] splits a stream into messages, a [`Decoder`] checks one and looks up its fields, an
//! [`Encoder`] or a [`Template`] writes one. None of these reads a socket, a file or a clock. [`frame`]
//! computes BodyLength and CheckSum, [`separator`] reads logs that replace the byte 1.
//!
//! ```
//! use fixcore::{Decoder, Encoder};
//!
//! let mut encoder = Encoder::new("FIX.4.4");
//! let bytes = encoder
//!     .start("D")
//!     .bytes(49, b"BUYSIDE")
//!     .unsigned(34, 7)
//!     .bytes(55, b"AAPL")
//!     .finish()?;
//! let mut decoder = Decoder::new();
//! let message = decoder.parse(bytes)?;
//! assert_eq!(message.msg_type(), b"D");
//! assert_eq!(message.get_u64(34)?, Some(7));
//! assert_eq!(message.get(55), Some(&b"AAPL"[..]));
//! # Ok::<(), fixcore::Error>(())
//! ```
//!
//! | feature | adds | default |
//! |---|---|---|
//! | `dictionaries` | `dict`: built-in versions of FIX, dictionaries of QuickFIX, a validator | yes |
//! | `store` | `store`: sent messages in files, by sequence number | yes |
//! | `deferred` | `deferred`: a thread for work that leaves the hot path | yes |
//! | `io` | `io`: many connections on one thread (Linux) | no |
//! | `workload` | `workload`: generators of messages and logs for tests and benchmarks | no |
#![deny(unsafe_code)]

mod data;
mod decoder;
#[cfg(feature = "deferred")]
pub mod deferred;
#[cfg(feature = "dictionaries")]
pub mod dict;
mod encoder;
mod error;
pub mod frame;
mod frame_scanner;
mod framer;
#[cfg(all(feature = "io", target_os = "linux"))]
pub mod io;
mod isa;
mod names;
mod scan;
pub mod separator;
pub mod spsc;
#[cfg(feature = "store")]
pub mod store;
pub mod value;
#[cfg(feature = "workload")]
pub mod workload;

pub use crate::data::DataPairs;
pub use crate::decoder::{Decoder, Entries, Entry, Field, Fields, LenientMessage, Message};
pub use crate::encoder::{Encoder, MessageWriter, Slot, Template, TemplateBuilder};
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::frame::{MESSAGE_BYTES_MAX, SOH};
pub use crate::frame_scanner::{Found, FrameScanner};
pub use crate::framer::{Frame, Framer};
pub use crate::isa::Isa;
pub use crate::names::UnknownName;
pub use crate::scan::{Index, Scanner, Separators};
pub use crate::value::{Decimal, Timestamp};
