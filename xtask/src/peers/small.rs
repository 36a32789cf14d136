//! Many small files against `zstd -r`: a tree of them, compressed and decompressed, by perfkit's own
//! command and under the name of the zstd program.

use std::fs;

use anyhow::{Context, Result};

use super::comparisons::Comparison;
use super::{Bench, Size};
use crate::record::Machine;
use crate::{metadata, sh};

const FILES: usize = 10_000;
const FILES_QUICK: usize = 400;
const FILE_BYTES: usize = 4096;
/// Files in a directory.
const SPREAD: usize = 250;
const ROUNDS: u32 = 15;

/// Commands that remove the output of a compression, and of a decompression.
const NO_TARGETS: &str = "find small -name '*.zst' -delete";
const NO_SOURCES: &str = "find frames -name '*.json' -delete";

impl Bench {
    /// Every case, in the order of the record.
    pub(super) fn small(&self, machine: &mut Option<Machine>) -> Result<Vec<Comparison>> {
        let count = if self.size == Size::Quick {
            FILES_QUICK
        } else {
            FILES
        };
        self.make_small(count)?;
        let files = format!("{count} files of 4 KiB");
        let mut done = Vec::new();
        for (name, own) in [
            ("", &["perfkit", "compress", "-qq", "-3", "-r", "small"][..]),
            (", as zstd", &["own/zstd", "-q", "-3", "-r", "small"]),
        ] {
            let zstd = ["zstd", "-q", "-3", "-r", "small"];
            let what = format!("compress {files}{name}");
            let sizes = [self.compressed(&zstd)?, self.compressed(own)?];
            let extra = ["--prepare", NO_TARGETS];
            let mut case = self.measure_with(&extra, &what, &zstd, own, ROUNDS, machine)?;
            [case.baseline.size_bytes, case.target.size_bytes] = sizes.map(Some);
            done.push(case);
        }
        for (name, own) in [
            ("", &["perfkit", "decompress", "-qq", "-r", "frames"][..]),
            (", as zstd", &["own/zstd", "-q", "-d", "-r", "frames"]),
        ] {
            let zstd = ["zstd", "-q", "-d", "-r", "frames"];
            let what = format!("decompress {files}{name}");
            self.shell(NO_SOURCES)?;
            sh::output(&mut self.command(own))?;
            self.shell("diff -rq -x '*.zst' small frames")?;
            let extra = ["--prepare", NO_SOURCES];
            done.push(self.measure_with(&extra, &what, &zstd, own, ROUNDS, machine)?);
        }
        Ok(done)
    }

    /// Bytes that a command compresses the tree to, once the zstd program has brought it back.
    fn compressed(&self, words: &[&str]) -> Result<u64> {
        self.shell(NO_TARGETS)?;
        sh::output(&mut self.command(words))?;
        self.shell("rm -rf check && find small -name '*.zst' > list")?;
        self.shell("zstd -qd --filelist list --output-dir-mirror check")?;
        self.shell("diff -rq -x '*.zst' small check/small")
            .with_context(|| format!("{}: a wrong answer", words.join(" ")))?;
        let size =
            "find small -name '*.zst' -printf '%s\\n' | awk '{ all += $1 } END { print all }'";
        let text = sh::text(&mut self.command(&["sh", "-c", size]))?;
        Ok(text.trim().parse()?)
    }

    fn shell(&self, script: &str) -> Result<()> {
        sh::output(&mut self.command(&["sh", "-c", script])).map(drop)
    }

    /// The tree, the same as frames of the zstd program, and perfkit under that program's name.
    fn make_small(&self, count: usize) -> Result<()> {
        let bytes = (count * FILE_BYTES).to_string();
        let made = sh::output(&mut self.command(&["workload", "json", "1", &bytes]))?;
        for (at, content) in made.stdout.chunks(FILE_BYTES).enumerate() {
            let folder = self.file(&format!("small/{:03}", at / SPREAD));
            fs::create_dir_all(&folder)?;
            fs::write(folder.join(format!("{at:05}.json")), content)?;
        }
        self.shell("cp -r small frames && zstd -qr --rm frames && mkdir own")?;
        let perfkit = metadata::measured_binaries()?.join("perfkit");
        fs::hard_link(&perfkit, self.file("own/zstd"))
            .or_else(|_| fs::copy(&perfkit, self.file("own/zstd")).map(drop))?;
        Ok(())
    }
}
