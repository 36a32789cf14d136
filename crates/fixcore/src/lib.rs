//! FIX messages: found in a stream, scanned by vector instructions, decoded without a copy, encoded.
//!
//! A [`Framer`] cuts a stream into messages, a [`Decoder`] checks one and looks up its fields, an
//! [`Encoder`] writes one. Nothing of these reads a socket, a file or a clock;
//! a [`store::Store`] keeps what was sent in files, and `io` (a feature, Linux)
//! carries many connections on one thread.
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
#![deny(unsafe_code)]

mod data;
mod decoder;
pub mod deferred;
pub mod dict;
mod encoder;
mod error;
pub mod frame;
mod framer;
#[cfg(all(feature = "io", target_os = "linux"))]
pub mod io;
mod isa;
mod names;
mod scan;
pub mod separator;
pub mod spsc;
pub mod store;
pub mod value;
#[cfg(feature = "workload")]
pub mod workload;

pub use crate::data::DataPairs;
pub use crate::decoder::{Decoder, Entries, Entry, Field, Fields, Message};
pub use crate::encoder::{Encoder, MessageWriter, Slot, Template, TemplateBuilder};
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::framer::{Found, Frame, FrameScanner, Framer};
pub use crate::isa::Isa;
pub use crate::names::UnknownName;
pub use crate::scan::{Index, MESSAGE_BYTES_MAX, SOH, Scanner, Separators};
pub use crate::value::{Decimal, Timestamp};
