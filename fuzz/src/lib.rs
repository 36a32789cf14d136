//! Fuzz targets as plain functions: bytes in, nothing out, a panic when a promise is broken.
//!
//! The bins in `fuzz_targets/` hand them to libFuzzer; `tests/smoke.rs` runs them as property
//! tests over the committed corpus and seeded mutations of it, on a stable compiler.

#![forbid(unsafe_code)]
#![allow(clippy::missing_panics_doc, reason = "to panic is what they are for")]

mod betree;
mod blocks;
mod cuts;
mod deflate;
mod deflate_index;
mod dictionary;
mod fix;
mod fix_capture;
mod fix_filter;
mod fix_health;
mod fix_log;
mod fix_orders;
mod fix_session;
mod fix_settings;
mod fix_template;
mod gzip;
mod inflate;
mod lz4;
mod matcher_log;
mod numbers;
mod patch;
mod plan;
mod seek;
mod sliced;
mod stress;
mod xz;
mod zip;
mod zip_extract;
mod zstd;

pub use crate::betree::{betree_event, betree_expression, betree_snapshot};
pub use crate::blocks::zstd_blocks;
pub use crate::deflate::deflate_roundtrip;
pub use crate::deflate_index::{deflate_index, index_of, indexed_sample};
pub use crate::dictionary::zstd_dictionary;
pub use crate::fix::{fix_decode, fix_dictionary, fix_frame, fix_store};
pub use crate::fix_capture::fix_capture;
pub use crate::fix_filter::fix_filter;
pub use crate::fix_health::fix_health;
pub use crate::fix_log::fix_log;
pub use crate::fix_orders::fix_orders;
pub use crate::fix_session::{fix_bad_line, fix_session};
pub use crate::fix_settings::{fix_exchange, fix_settings};
pub use crate::fix_template::fix_template;
pub use crate::gzip::gzip_read;
pub use crate::inflate::inflate_differential;
pub use crate::lz4::lz4_read;
pub use crate::matcher_log::matcher_log;
pub use crate::numbers::{
    foreign_read, gate_parse, hgrm_read, histogram_decode, hlog_read, report_json,
};
pub use crate::patch::zstd_patch;
pub use crate::seek::{zstd_parallel, zstd_seek_table};
pub use crate::sliced::{zstd_costs, zstd_sliced};
pub use crate::stress::{stress_codec, stress_message};
pub use crate::xz::xz_streams;
pub use crate::zip::{zip_read, zip_roundtrip, zip_salvage};
pub use crate::zip_extract::zip_extract;
pub use crate::zstd::{zstd_decode, zstd_roundtrip, zstd_scan};

/// A target by the name of its bin and its corpus.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("betree_event", betree_event),
    ("betree_expression", betree_expression),
    ("betree_snapshot", betree_snapshot),
    ("deflate_index", deflate_index),
    ("deflate_roundtrip", deflate_roundtrip),
    ("fix_bad_line", fix_bad_line),
    ("fix_capture", fix_capture),
    ("fix_decode", fix_decode),
    ("fix_dictionary", fix_dictionary),
    ("fix_exchange", fix_exchange),
    ("fix_filter", fix_filter),
    ("fix_frame", fix_frame),
    ("fix_health", fix_health),
    ("fix_log", fix_log),
    ("fix_orders", fix_orders),
    ("fix_session", fix_session),
    ("fix_settings", fix_settings),
    ("fix_store", fix_store),
    ("fix_template", fix_template),
    ("foreign_read", foreign_read),
    ("gate_parse", gate_parse),
    ("gzip_read", gzip_read),
    ("hgrm_read", hgrm_read),
    ("histogram_decode", histogram_decode),
    ("hlog_read", hlog_read),
    ("inflate_differential", inflate_differential),
    ("lz4_read", lz4_read),
    ("matcher_log", matcher_log),
    ("report_json", report_json),
    ("stress_codec", stress_codec),
    ("stress_message", stress_message),
    ("xz_streams", xz_streams),
    ("zip_extract", zip_extract),
    ("zip_read", zip_read),
    ("zip_roundtrip", zip_roundtrip),
    ("zip_salvage", zip_salvage),
    ("zstd_blocks", zstd_blocks),
    ("zstd_costs", zstd_costs),
    ("zstd_decode", zstd_decode),
    ("zstd_dictionary", zstd_dictionary),
    ("zstd_parallel", zstd_parallel),
    ("zstd_patch", zstd_patch),
    ("zstd_roundtrip", zstd_roundtrip),
    ("zstd_scan", zstd_scan),
    ("zstd_seek_table", zstd_seek_table),
    ("zstd_sliced", zstd_sliced),
];
