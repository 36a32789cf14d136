//! The server: a matcher over HTTP/1.1, on TCP and Unix sockets.
//!
//! `server` accepts connections and ends them, `stream` is a connection, `route` finds what a request asks
//! for. `matching`, `changes`, `bulk`, `listing`, `explain` and `metrics` answer; `lines` reads bodies, `body` and
//! `problem` are what answers are made of.

mod address;
mod body;
mod bulk;
mod changes;
mod counts;
mod explain;
mod lines;
mod listing;
mod matching;
mod metrics;
mod options;
mod problem;
mod route;
mod server;
mod service;
mod stream;

pub use address::{Address, ParseAddressError};
pub use counts::HttpStatus;
pub use options::ServerOptions;
pub use server::{ServeError, Server};
