//! QuickFIX settings files, those of C++ and of Java, as they are: parsing, typed values, and what each line
//! does. It opens only the file that it is told to read; paths inside it are not looked at.

mod check;
mod dictionaries;
mod endpoint;
mod error;
mod expand;
mod file;
mod identity;
mod key;
mod keys;
mod keys_local;
mod keys_network;
mod keys_session;
mod lines;
mod log;
mod reader;
mod sections;
mod session;
mod socket;
mod storage;
mod times;
mod tls;
mod value;

pub use check::{Check, CheckedLine, Holds, LineKind};
pub use dictionaries::DictionaryOptions;
pub use endpoint::{
    ConnectTarget, EndpointOptions, HostSelection, ProxyKind, ProxyOptions, RemoteAddress,
};
pub use error::{Problem, SettingsError, SettingsFailure};
pub use file::Settings;
pub use key::{Group, Key, Service};
pub use keys::{key, keys};
pub use log::{LogFormat, LogOptions, ScreenOptions};
pub use session::SessionSettings;
pub use socket::SocketOptions;
pub use storage::StorageOptions;
pub use tls::{ClientVerify, TlsOptions};
