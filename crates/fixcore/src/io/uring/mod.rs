//! `io_uring` as a carrier: the memory and the calls are in `ring`, what is asked of it and what comes
//! back in `carrier`, the steps down to `epoll` in `open`.

mod carrier;
mod open;
mod ring;

pub(super) use self::open::open;
pub(super) use self::ring::Lent;
#[cfg(feature = "workload")]
pub(super) use self::ring::{Ring, Sizes};
