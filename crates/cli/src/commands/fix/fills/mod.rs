//! `perfkit fix fills`: quantities and average prices of what was traded.

pub(crate) mod flags;
mod ledger;

pub(super) use ledger::Ledger;
