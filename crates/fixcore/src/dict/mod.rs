//! What fields, messages and groups there are: built-in versions, and files of QuickFIX.

mod builtin;
mod data_type;
mod dictionary;
mod error;
mod expand;
mod layout;
mod source;
mod validate;
mod xml;

pub use builtin::Version;
pub use data_type::DataType;
pub use dictionary::{Dictionary, FieldSpec, MessageSpec};
pub use error::DictionaryError;
#[cfg(feature = "workload")]
pub(crate) use layout::{GroupId, Layout};
pub use validate::{Rules, Validator};
