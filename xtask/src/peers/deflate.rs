//! zipstream's deflate and inflater compared with libdeflate and zlib-rs: the examples `deflate_bench` and
//! `inflate_bench` measure, and this module makes tables of their results.

use std::fmt::Write;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::record::Body;

pub(crate) mod run;

/// Rows of compression.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Deflate {
    rounds: u64,
    rows: Vec<Packed>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Packed {
    data: String,
    bytes: u64,
    way: String,
    level: i32,
    peer: String,
    compressed_bytes: u64,
    peer_compressed_bytes: u64,
    min_ns: u64,
    peer_min_ns: u64,
    median_ns: u64,
    peer_median_ns: u64,
}

/// Rows of decompression.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Inflate {
    rounds: u64,
    rows: Vec<Read>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Read {
    data: String,
    bytes: u64,
    compressed_bytes: u64,
    way: String,
    min_ns: u64,
    libdeflate_min_ns: u64,
    zlib_rs_min_ns: u64,
    median_ns: u64,
    libdeflate_median_ns: u64,
    zlib_rs_median_ns: u64,
}

/// MB/s.
fn rate(bytes: u64, ns: u64) -> f64 {
    bytes as f64 * 1e3 / ns.max(1) as f64
}

impl Body for Deflate {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "{} rounds. *size* and *speed* are ours over the peer's: below 1 ours is smaller, above 1 \
             faster (by the minima).\n",
            self.rounds
        )?;
        writeln!(
            out,
            "| data | way | level | ratio | peer's | size | MB/s (min) | peer's | MB/s (median) | peer's | \
             speed | peer |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|"
        )?;
        for row in &self.rows {
            let ratio = [row.compressed_bytes, row.peer_compressed_bytes];
            let ratio = ratio.map(|size| size as f64 / row.bytes as f64);
            let best = [row.min_ns, row.peer_min_ns].map(|ns| rate(row.bytes, ns));
            let usual = [row.median_ns, row.peer_median_ns].map(|ns| rate(row.bytes, ns));
            writeln!(
                out,
                "| {} | {} | {} | {:.4} | {:.4} | {:.4}x | {:.0} | {:.0} | {:.0} | {:.0} | {:.2}x | {} |",
                row.data,
                row.way,
                row.level,
                ratio[0],
                ratio[1],
                ratio[0] / ratio[1],
                best[0],
                best[1],
                usual[0],
                usual[1],
                best[0] / best[1],
                row.peer,
            )?;
        }
        Ok(())
    }
}

impl Body for Inflate {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "{} rounds. The last two columns are ours over the peer's by the minima: above 1 ours is faster.\n",
            self.rounds
        )?;
        writeln!(
            out,
            "| data | way | ratio | MB/s (min) | libdeflate | zlib-rs | MB/s (median) | libdeflate | \
             zlib-rs | over libdeflate | over zlib-rs |\n\
             |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
        )?;
        for row in &self.rows {
            let ratio = row.compressed_bytes as f64 / row.bytes as f64;
            let best = [row.min_ns, row.libdeflate_min_ns, row.zlib_rs_min_ns];
            let best = best.map(|ns| rate(row.bytes, ns));
            let usual = [
                row.median_ns,
                row.libdeflate_median_ns,
                row.zlib_rs_median_ns,
            ];
            let usual = usual.map(|ns| rate(row.bytes, ns));
            writeln!(
                out,
                "| {} | {} | {ratio:.4} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2}x | {:.2}x |",
                row.data,
                row.way,
                best[0],
                best[1],
                best[2],
                usual[0],
                usual[1],
                usual[2],
                best[0] / best[1],
                best[0] / best[2],
            )?;
        }
        Ok(())
    }
}
