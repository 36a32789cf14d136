//! Every kind at every level, on one thread and two, both ways, from file to file and through pipes.

use std::fs;
use std::path::Path;

use crate::Options;
use crate::cell::{Cell, Pair};
use crate::data;
use crate::run::{Line, assert_same};

/// Level and bytes of the content, smaller at levels that take longer.
const LEVELS: &[(i32, usize)] = &[
    (-1, 16 << 20),
    (1, 16 << 20),
    (3, 16 << 20),
    (6, 8 << 20),
    (9, 8 << 20),
    (12, 6 << 20),
    (19, 1 << 20),
];
const LEVELS_QUICK: &[(i32, usize)] = &[(1, 4 << 20), (3, 4 << 20), (12, 2 << 20)];
/// Levels whose frames are decompressed on one thread and on two.
const BOTH_THREADS: [i32; 3] = [1, 3, 19];
const LARGE_BYTES: usize = 128 << 20;
const LARGE_BYTES_QUICK: usize = 16 << 20;
/// The processor of what is bound to one: the first serves most interrupts.
const LAST_PROCESSOR: u32 = 1;

/// A folder in memory where that can be had: a disk would be measured with both, and drown both.
pub(crate) fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = match memory.is_dir() {
        true => tempfile::tempdir_in(memory),
        false => tempfile::tempdir(),
    };
    made.expect("a folder")
}

/// The flag of a level.
fn flag(level: i32) -> String {
    match level {
        1.. => format!("-{level}"),
        _ => format!("--fast={}", -level),
    }
}

struct Bench<'a> {
    options: &'a Options,
    folder: tempfile::TempDir,
}

/// One place in the space.
struct At<'a> {
    kind: &'a str,
    level: i32,
    threads: u32,
    bytes: u64,
}

pub(crate) fn all(options: &Options) -> Vec<Cell> {
    let bench = Bench {
        options,
        folder: folder(),
    };
    let levels = if options.quick { LEVELS_QUICK } else { LEVELS };
    let mut cells = Vec::new();
    for kind in data::NAMES.iter().filter(|kind| options.takes_kind(kind)) {
        for &(level, bytes) in levels
            .iter()
            .filter(|(level, _)| options.takes_level(*level))
        {
            let content = data::make(options, kind, bytes);
            fs::write(bench.file("data"), &content).expect("room for the data");
            for threads in [1, 2] {
                let at = At {
                    kind,
                    level,
                    threads,
                    bytes: bytes as u64,
                };
                cells.push(bench.compress(&at, None, "compress"));
                if threads == 1 {
                    cells.push(bench.compress_piped(&at));
                }
                // Threads share only what has several frames, so one and two hardly differ.
                if threads == 1 || BOTH_THREADS.contains(&level) {
                    cells.extend(bench.decompress(&at));
                }
            }
        }
    }
    cells
}

/// A large content of several kinds at the default level: free, and bound to one processor.
pub(crate) fn large(options: &Options) -> Vec<Cell> {
    let bench = Bench {
        options,
        folder: folder(),
    };
    let bytes = match options.quick {
        true => LARGE_BYTES_QUICK,
        false => LARGE_BYTES,
    };
    let kinds = [
        "json-logs",
        "access-log",
        "html",
        "csv",
        "real-source",
        "real-program",
    ];
    let mut content = Vec::new();
    for kind in kinds {
        content.extend(data::make(options, kind, bytes / kinds.len()));
    }
    fs::write(bench.file("data"), &content).expect("room for the data");
    let at = |threads| At {
        kind: "large mixture",
        level: 3,
        threads,
        bytes: content.len() as u64,
    };
    let mut cells = vec![
        bench.compress(&at(1), None, "compress"),
        bench.compress(&at(1), Some(LAST_PROCESSOR), "compress, one processor"),
        bench.compress(&at(2), None, "compress"),
        bench.compress_piped(&at(1)),
    ];
    for threads in [1, 2] {
        cells.extend(bench.decompress(&at(threads)));
    }
    cells
}

impl Bench<'_> {
    fn file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn perfkit(&self, words: &str) -> Line {
        Line::new(&self.options.perfkit, self.folder.path(), words)
    }

    fn zstd(&self, words: &str) -> Line {
        Line::new(&self.options.zstd, self.folder.path(), words)
    }

    fn pair(
        &self,
        at: &At<'_>,
        way: &str,
        perfkit: Line,
        zstd: Line,
        sizes: Option<(u64, u64)>,
    ) -> Cell {
        // A target that is there costs more: perfkit replaces it as a whole, for which a file system writes all of the new
        // one to the disk first; zstd removes it.
        let prepare = || {
            for name in ["own.zst", "its.zst", "back", "back.zstd"] {
                // What is not there need not be removed.
                let _ = fs::remove_file(self.file(name));
            }
        };
        Pair {
            kind: at.kind,
            way,
            level: at.level,
            threads: at.threads,
            bytes: at.bytes,
            perfkit,
            zstd,
            sizes,
            prepare: &prepare,
            quick: self.options.quick,
        }
        .measure()
    }

    /// From file to file. Leaves `theirs.zst`, which is read by [`Bench::decompress`].
    fn compress(&self, at: &At<'_>, processor: Option<u32>, way: &str) -> Cell {
        let (flag, threads) = (flag(at.level), at.threads);
        let own = format!("compress -qq {flag} -T{threads} -f data -o own.zst");
        let own = self.perfkit(&own).bound(processor);
        let its = self.zstd(&format!("-q {flag} -T{threads} -f data -o its.zst"));
        let its = its.bound(processor);
        own.run();
        its.run();
        self.zstd("-dqf own.zst -o back").run();
        assert_same(self.folder.path(), "data", "back");
        let size = |name: &str| fs::metadata(self.file(name)).expect("an output").len();
        let sizes = Some((size("own.zst"), size("its.zst")));
        fs::rename(self.file("its.zst"), self.file("theirs.zst")).expect("renamed");
        self.pair(at, way, own, its, sizes)
    }

    fn compress_piped(&self, at: &At<'_>) -> Cell {
        let (flag, threads) = (flag(at.level), at.threads);
        let own = self
            .perfkit(&format!("compress -qq {flag} -T{threads} -c"))
            .piped("data");
        let its = self
            .zstd(&format!("-q {flag} -T{threads} -c"))
            .piped("data");
        let mut packed = (Vec::new(), Vec::new());
        own.run_keeping(Some(&mut packed.0));
        its.run_keeping(Some(&mut packed.1));
        fs::write(self.file("own.zst"), &packed.0).expect("room");
        self.zstd("-dqf own.zst -o back").run();
        assert_same(self.folder.path(), "data", "back");
        let sizes = Some((packed.0.len() as u64, packed.1.len() as u64));
        self.pair(at, "compress, pipes", own, its, sizes)
    }

    fn decompress(&self, at: &At<'_>) -> [Cell; 2] {
        let threads = at.threads;
        let own = self.perfkit(&format!("decompress -qq -T{threads} -f theirs.zst -o back"));
        let its = self.zstd("-dqf theirs.zst -o back.zstd");
        own.run();
        assert_same(self.folder.path(), "data", "back");
        let files = self.pair(at, "decompress", own, its, None);
        let own = self
            .perfkit(&format!("decompress -qq -T{threads} -c"))
            .piped("theirs.zst");
        let its = self.zstd("-dqc").piped("theirs.zst");
        let mut content = Vec::new();
        own.run_keeping(Some(&mut content));
        assert!(
            content == fs::read(self.file("data")).expect("the data"),
            "{own:?} is wrong"
        );
        let pipes = self.pair(at, "decompress, pipes", own, its, None);
        [files, pipes]
    }
}
