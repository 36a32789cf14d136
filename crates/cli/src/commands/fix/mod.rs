//! `perfkit fix`: messages of logs and streams parsed, validated, printed and counted.

mod accept_flags;
#[cfg(target_os = "linux")]
mod acceptor;
mod by_time;
mod certify;
mod conclude;
mod dictionaries;
pub(crate) mod dictionary_flags;
mod diff;
#[cfg(target_os = "linux")]
mod feed;
pub(crate) mod fills;
pub(crate) mod flags;
mod generate;
mod group_by;
pub(crate) mod health;
#[cfg(target_os = "linux")]
mod initiator;
pub(crate) mod message_flags;
pub(crate) mod one_log;
pub(crate) mod orders;
mod pace;
mod read;
mod replay;
pub(crate) mod row_flags;
pub(crate) mod run;
#[cfg(target_os = "linux")]
pub(crate) mod session_flags;
#[cfg(target_os = "linux")]
mod sessions;
mod settings;
pub(crate) mod settings_flags;
mod several;
mod shown;
pub(crate) mod stats_flags;
mod store;
mod store_exchange;
pub(crate) mod store_flags;
mod tables;
pub(crate) mod validate_flags;
mod values;
pub(crate) mod wanted;

pub(crate) use run::run;
