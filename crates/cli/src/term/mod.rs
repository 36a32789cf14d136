//! The terminal: colour, escapes, messages, questions, passwords, progress, signals.

pub(crate) mod color;
pub(crate) mod drawn;
pub(crate) mod live;
pub(crate) mod message;
pub(crate) mod page;
pub(crate) mod password;
pub(crate) use report::plain;
pub(crate) mod progress;
pub(crate) mod question;
pub(crate) mod screen;
pub(crate) mod signal;
