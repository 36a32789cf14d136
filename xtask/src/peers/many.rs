//! Decompression of a file of many frames, which perfkit does with several threads and zstd with one.

use anyhow::Result;

use super::comparisons::Comparison;
use super::{Bench, sh};
use crate::record::Machine;

/// Rounds of each case.
const ROUNDS: u32 = 15;

/// Where the content goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Into {
    File,
    /// To a program that reads it.
    Pipe,
}

/// The cases.
pub(super) const INTO: [Into; 2] = [Into::File, Into::Pipe];

impl Bench {
    /// Frames of 1 MiB, on two threads.
    pub(super) fn decompress_many(
        &self,
        into: Into,
        machine: &mut Option<Machine>,
    ) -> Result<Comparison> {
        let make = ["perfkit", "compress", "-qq", "-3", "--seekable=1M", "-f"];
        let make = [&make[..], &["data", "-o", "many.zst"]].concat();
        sh::output(&mut self.command(&make))?;
        let zstd = ["zstd", "-dqf", "many.zst", "-o", "back"];
        let perfkit = ["perfkit", "decompress", "-qq", "-T2", "-f", "many.zst"];
        let perfkit = [&perfkit[..], &["-o", "back"]].concat();
        self.same_as_data(&zstd)?;
        self.same_as_data(&perfkit)?;
        let what = "decompress frames of 1 MiB, 2 threads";
        if into == Into::File {
            return self.measure(what, &zstd, &perfkit, ROUNDS, false, machine);
        }
        let zstd = ["sh", "-c", "zstd -dqc many.zst | cat > /dev/null"];
        let perfkit = "perfkit decompress -qq -T2 -c many.zst | cat > /dev/null";
        let perfkit = ["sh", "-c", perfkit];
        let what = format!("{what}, into a pipe");
        self.measure(&what, &zstd, &perfkit, ROUNDS, false, machine)
    }
}
