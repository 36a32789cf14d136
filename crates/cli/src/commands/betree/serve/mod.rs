//! `perfkit betree serve`: a matcher that lives. What it is and does is in the library `matcher`; here are its
//! flags ([`flags`]), the state that it begins with ([`first`]) and its report ([`run`]).

mod first;
pub(crate) mod flags;
mod run;

pub(super) use run::run;
