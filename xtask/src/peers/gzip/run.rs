//! Makes the data, runs the programs in turns, compares what comes back, and writes the record.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::{Cell, Gzip, OWN, Row};
use crate::peers::fix_log::run::TIME;
use crate::peers::rounds::{SEED, shuffled};
use crate::peers::{Size, build_perfkit, made};
use crate::record::{Machine, Record, Results};
use crate::{metadata, sh};

const ROUNDS: u32 = 3;
const BYTES: u64 = 16 << 20;
const KINDS: [&str; 6] = ["json", "log", "source", "html", "binary", "random"];
const LEVELS: [u32; 3] = [1, 6, 9];
const THREADS: [u32; 2] = [1, 2];
/// The programs, and whether they have threads.
const PROGRAMS: [(&str, bool); 5] = [
    (OWN, true),
    ("gzip", false),
    ("pigz", true),
    ("libdeflate-gzip", false),
    ("igzip", true),
];
/// The highest level of igzip.
const IGZIP_LEVEL_MAX: u32 = 3;

/// The arguments of a program, without the file; `None`: it has no such level.
fn arguments(program: &str, level: Option<u32>, threads: u32) -> Option<Vec<String>> {
    let own = match (program, level) {
        (OWN, Some(level)) => format!("compress -qq --format gzip -{level} -T{threads} -c"),
        (OWN, None) => format!("decompress -qq -T{threads} -c"),
        ("igzip", Some(level)) if level > IGZIP_LEVEL_MAX => return None,
        ("igzip", Some(level)) => format!("-{level} -T {threads} -c"),
        ("igzip", None) => format!("-d -T {threads} -c"),
        ("pigz", Some(level)) => format!("-{level} -p {threads} -c"),
        ("pigz", None) => format!("-d -p {threads} -c"),
        (_, Some(level)) => format!("-{level} -c"),
        (_, None) => "-d -c".to_owned(),
    };
    Some(own.split(' ').map(str::to_owned).collect())
}

/// Measures and writes the record.
pub(crate) fn run(size: Size) -> Result<()> {
    if !Path::new(TIME).is_file() {
        bail!(
            "{TIME} is not installed (apt-get install time): nothing else says what a command held"
        );
    }
    build_perfkit()?;
    let args = ["build", "--package", "xtask", "--features", "workloads"];
    let mut cargo = sh::cargo(&args);
    sh::run(cargo.args(["--bin", "workload"]).args(metadata::MEASURED))?;
    let binaries = metadata::measured_binaries()?;
    let perfkit = binaries.join("perfkit");
    let memory = Path::new("/dev/shm");
    let folder = match memory.is_dir() {
        true => tempfile::tempdir_in(memory)?,
        false => tempfile::tempdir()?,
    };
    let (bytes, rounds) = match size {
        Size::Full => (BYTES, ROUNDS),
        Size::Quick => (BYTES / 16, 1),
    };
    let mut programs = Vec::new();
    for (name, threaded) in PROGRAMS {
        let path = match name {
            OWN => Some(perfkit.clone()),
            other => sh::find(other),
        };
        match path {
            Some(path) => programs.push((name, threaded, path)),
            None => println!("{name} is not here and left out"),
        }
    }
    let mut cells = Vec::new();
    let mut random = SEED;
    for kind in KINDS {
        let data = folder.path().join("data.gz.content");
        let generated = sh::output(sh::command(binaries.join("workload")).args([
            kind,
            "1",
            &bytes.to_string(),
        ]))?;
        fs::write(&data, &generated.stdout)?;
        let content = generated.stdout;
        let packed = folder.path().join("packed.gz");
        let mut gzip = sh::command("gzip");
        sh::run(
            gzip.args(["-6", "-c"])
                .arg(&data)
                .stdout(File::create(&packed)?),
        )?;
        let levels = LEVELS.into_iter().map(Some).chain([None]);
        for (level, threads) in levels.flat_map(|level| THREADS.map(|threads| (level, threads))) {
            let mut rows: Vec<Row> = Vec::new();
            for _ in 0..rounds {
                for at in shuffled(programs.len(), &mut random) {
                    let (name, threaded, path) = &programs[at];
                    let Some(arguments) = arguments(name, level, threads) else {
                        continue;
                    };
                    if threads > 1 && !threaded {
                        continue;
                    }
                    let source = if level.is_some() { &data } else { &packed };
                    let out = folder.path().join("out.gz");
                    let mut row = timed(name, path, &arguments, source, &out)?;
                    row.bytes = fs::metadata(&out)?.len();
                    match rows.iter_mut().find(|old| old.program == *name) {
                        Some(old) if row.seconds < old.seconds => *old = row,
                        Some(_) => {}
                        None => {
                            ensure!(is_whole(level, &out, &content)?, "{name} changes {kind}");
                            rows.push(row);
                        }
                    }
                }
            }
            let kind = kind.to_owned();
            let cell = Cell {
                kind,
                level,
                threads,
                rows,
            };
            println!("{} {level:?} -T{threads}: {:.2}", cell.kind, cell.over());
            cells.push(cell);
        }
    }
    let (name, command) = match size {
        Size::Full => ("gzip", "cargo xtask peers gzip"),
        Size::Quick => ("gzip-quick", "cargo xtask peers gzip --quick"),
    };
    let results = Results::Gzip(Gzip {
        rounds,
        bytes,
        cells,
    });
    let mut record = Record::new("gzip by perfkit and by other programs", command, results);
    record.quick = size == Size::Quick;
    record.made = vec![made(&perfkit)?];
    record.machine = Some(Machine::here());
    record.versions = programs
        .iter()
        .filter(|(name, ..)| *name != OWN)
        .map(|(name, _, path)| version(name, path))
        .collect();
    println!("{}", record.write(name)?.display());
    Ok(())
}

/// The first line that a program says of itself.
fn version(name: &str, path: &Path) -> String {
    let flag = if name == "libdeflate-gzip" {
        "-V"
    } else {
        "--version"
    };
    let output = sh::command(path).arg(flag).output();
    let text = output.map(|output| [output.stdout, output.stderr].concat());
    let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
    text.lines().next().unwrap_or(name).trim().to_owned()
}

/// Whether what was written is the content, or a gzip file of it.
fn is_whole(level: Option<u32>, out: &Path, content: &[u8]) -> Result<bool> {
    Ok(match level {
        None => fs::read(out)? == content,
        Some(_) => sh::output(sh::command("gzip").args(["-d", "-c"]).arg(out))?.stdout == content,
    })
}

/// Runs a program over a source into a file.
fn timed(name: &str, path: &Path, arguments: &[String], source: &Path, out: &Path) -> Result<Row> {
    let mut command = sh::command(TIME);
    command
        .env("LC_ALL", "C")
        .args(["-f", "%U;%S;%M"])
        .arg(path)
        .args(arguments)
        .arg(source)
        .stdout(File::create(out)?)
        .stderr(Stdio::piped());
    let start = Instant::now();
    let child = command
        .spawn()
        .with_context(|| format!("{name} does not run"))?;
    let output = child.wait_with_output()?;
    let seconds = start.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} {arguments:?}: {said}");
    let line = said.lines().last().unwrap_or_default();
    let numbers: Vec<f64> = line
        .split(';')
        .filter_map(|part| part.parse().ok())
        .collect();
    ensure!(numbers.len() == 3, "{name}: {TIME} says '{line}'");
    Ok(Row {
        program: name.to_owned(),
        bytes: 0,
        seconds,
        processor_s: ((numbers[0] + numbers[1]) * 100.0).round() / 100.0,
        peak_mib: numbers[2] / 1024.0,
    })
}
