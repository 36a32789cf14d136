//! Trees of small files against `zstd -r`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Options;
use crate::cell::{Cell, Pair};
use crate::data;
use crate::run::Line;
use crate::sweep::folder;

/// Files in a folder.
const SPREAD: usize = 250;

/// Trees: their name, how many files, and how large they are at least and at most.
const TREES: [(&str, usize, usize, usize); 2] = [
    ("10,000 x 4 KB", 10_000, 4096, 4096),
    ("20,000 small files", 20_000, 100, 3000),
];

pub(crate) fn measure(options: &Options) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (name, count, least, most) in TREES {
        let count = if options.quick { count / 20 } else { count };
        let folder = folder();
        let bytes = make(options, folder.path(), count, least, most);
        shell(folder.path(), "cp -r small frames");
        Line::new(&options.zstd, folder.path(), "-q -3 -r --rm frames").run();
        for (way, own_name, own, its, clear) in [
            (
                "compress",
                None,
                "compress -qq -3 -r small",
                "-q -3 -r small",
                "find small -name '*.zst' -delete",
            ),
            (
                "compress, as zstd",
                Some("zstd"),
                "-q -3 -r small",
                "-q -3 -r small",
                "find small -name '*.zst' -delete",
            ),
            (
                "decompress",
                None,
                "decompress -qq -r frames",
                "-q -d -r frames",
                "find frames -type f ! -name '*.zst' -delete",
            ),
            (
                "decompress, as zstd",
                Some("zstd"),
                "-q -d -r frames",
                "-q -d -r frames",
                "find frames -type f ! -name '*.zst' -delete",
            ),
        ] {
            let its = Line::new(&options.zstd, folder.path(), its);
            let mut own = Line::new(&options.perfkit, folder.path(), own);
            if let Some(name) = own_name {
                own = own.named(name);
            }
            let prepare = || shell(folder.path(), clear);
            prepare();
            own.run();
            let sizes = if way.starts_with("compress") {
                let size = || {
                    let sum = "find small -name '*.zst' -printf '%s\\n' | awk '{ all += $1 } END { print all }'";
                    told(folder.path(), sum).trim().parse().expect("a number")
                };
                let own = size();
                shell(
                    folder.path(),
                    "rm -rf check && mkdir check && find small -name '*.zst' > list",
                );
                let back = "-q -d --filelist list --output-dir-mirror check";
                Line::new(&options.zstd, folder.path(), back).run();
                shell(
                    folder.path(),
                    "diff -rq -x '*.zst' small check/small && rm -rf check list",
                );
                prepare();
                its.run();
                Some((own, size()))
            } else {
                shell(folder.path(), "diff -rq -x '*.zst' small frames");
                None
            };
            let pair = Pair {
                kind: name,
                way,
                level: 3,
                threads: 2,
                bytes,
                perfkit: own,
                zstd: its,
                sizes,
                prepare: &prepare,
                quick: options.quick,
            };
            cells.push(pair.measure());
        }
    }
    cells
}

/// Files of several kinds of content; returns their bytes.
fn make(options: &Options, folder: &Path, count: usize, least: usize, most: usize) -> u64 {
    let all = data::make(options, "json-logs", count * most);
    let (mut at, mut sum) = (0, 0);
    for file in 0..count {
        // Lengths that repeat after many files, all between the least and the most.
        let length = least + (file * 7919) % (most - least + 1);
        let folder = folder.join(format!("small/{:03}", file / SPREAD));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(
            folder.join(format!("{file:05}.json")),
            &all[at..at + length],
        )
        .expect("a file");
        at += length;
        sum += length as u64;
    }
    sum
}

fn told(folder: &Path, script: &str) -> String {
    let mut shell = Command::new("sh");
    let ended = shell.args(["-c", script]).current_dir(folder).output();
    let ended = ended.expect("a shell");
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success(), "{script}: {text}");
    text
}

fn shell(folder: &Path, script: &str) {
    told(folder, script);
}
