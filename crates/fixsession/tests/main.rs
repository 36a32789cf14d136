//! Tests of the library from outside.

mod settings;
