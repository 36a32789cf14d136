//! Formats of single compressed streams that no other crate of the workspace has: LZ4 frames, and the structure
//! of xz files.
//! Where the bytes come from and what becomes of them is the caller's.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod lz4;
pub mod xz;
