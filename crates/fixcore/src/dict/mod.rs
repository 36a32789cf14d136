//! Dictionaries of fields, messages and groups: built-in versions, QuickFIX files, and validation
//! (feature `dictionaries`).
//!
//! ```
//! use fixcore::Decoder;
//! use fixcore::dict::{Rules, Validator, Version};
//!
//! let dictionary = Version::Fix44.dictionary().expect("built in");
//! assert_eq!(dictionary.field(55).map(|field| field.name()), Some("Symbol"));
//!
//! let mut decoder = Decoder::new();
//! let message = decoder.parse(b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01")?;
//! let mut validator = Validator::new(dictionary, Rules::default());
//! let error = validator.validate(&message).expect_err("MsgSeqNum is missing");
//! assert_eq!(error.tag(), Some(34));
//! # Ok::<(), fixcore::Error>(())
//! ```

mod builtin;
mod conditions;
mod data_type;
mod dictionary;
mod error;
mod expand;
mod fault;
mod field_check;
mod known_shape;
mod layout;
mod pass;
mod rules;
mod source;
mod validate;
mod warning;
mod xml;

pub use builtin::Version;
pub use data_type::DataType;
pub use dictionary::{Dictionary, FieldSpec, MessageSpec};
pub use error::DictionaryError;
pub use fault::{Fault, SessionValidator};
#[cfg(feature = "workload")]
pub(crate) use layout::{GroupId, Layout};
pub use rules::Rules;
pub use validate::Validator;
pub use warning::Warning;
