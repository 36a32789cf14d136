//! One load by several machines: this process leads it ([`lead`]) or does a part of it ([`join`]). What both sides say and
//! when is in `bench::stress::agents`; here are messages on their way ([`line`]), runs and reports.

mod join;
mod lead;
mod line;

pub(super) use join::run as join;
pub(super) use lead::run as lead;
