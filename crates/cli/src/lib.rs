//! The perfkit command line.
