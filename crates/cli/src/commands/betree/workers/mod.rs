//! Workers on a broker: `betree feed` makes blocks, `betree match --from` answers them, `betree roll-out` gives them other
//! expressions ([`epochs`]), `betree join` puts answers in order. What a worker does and when is in the library `workers`; here are flags ([`flags`]), the threads that
//! match ([`threads`]) and reports.

mod access;
mod answers;
mod broker;
mod epochs;
mod feed;
mod feeder;
pub(crate) mod flags;
mod join;
mod joined;
mod losses;
mod matching;
mod numbers;
mod open;
mod patience;
mod refusals;
mod roll_out;
mod source;
mod teller;
mod threads;

pub(super) use feed::run as feed;
pub(super) use join::run as join;
pub(super) use matching::run as work;
pub(super) use roll_out::run as roll_out;
