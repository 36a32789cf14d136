//! Workers on an engine in memory, under a simulated clock.
#![cfg(feature = "simulation")]

mod simulated;
