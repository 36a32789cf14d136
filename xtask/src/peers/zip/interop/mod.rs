//! Which program reads the archives of which: every shape that perfkit writes by every reader, and
//! every shape of other programs by perfkit from a file, strictly and from a pipe.
//!
//! [`shapes`] has what is written, [`readers`] who reads it, [`tree`] the files and how what comes back
//! is compared, [`table`] the record. A cell that is not as it should be ends the run with an error,
//! unless [`readers::LIMITS`] says why the reader cannot do better.

mod readers;
mod shapes;
mod table;
mod tree;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::super::ignored::Ignored;
use super::super::{Bench, Size};
use crate::record::{Machine, Record, Results};
use crate::sh;
use readers::Reader;
use shapes::{Content, Shape};
use table::Cell;
pub(crate) use table::Interop;

/// What to compare; the record keeps the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    All,
    /// What perfkit writes, small enough for seconds.
    Ours,
    /// More than 65,535 entries, more than 4 GiB.
    Large,
    /// What others write.
    Theirs,
    /// The shapes whose names hold this.
    Named(String),
}

impl Part {
    /// Its name; all have none.
    fn name(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Ours => Some("ours"),
            Self::Large => Some("large"),
            Self::Theirs => Some("theirs"),
            Self::Named(words) => Some(words),
        }
    }

    /// The part of this name.
    pub(crate) fn parse(word: &str) -> Result<Self> {
        match word {
            "ours" => Ok(Self::Ours),
            "large" => Ok(Self::Large),
            "theirs" => Ok(Self::Theirs),
            _ if shapes::ALL.iter().any(|shape| shape.name.contains(word)) => {
                Ok(Self::Named(word.to_owned()))
            }
            _ => bail!("'{word}' is no part: ours, large, theirs or words of a shape's name"),
        }
    }
}

const NAME: &str = "zip-interop";

/// Fills the table and writes the record.
pub(crate) fn run(part: Part) -> Result<()> {
    super::super::build_perfkit()?;
    let bench = Bench::new(Size::Full)?;
    bench.prepare()?;
    let (mut interop, old_made) = match Record::read(NAME)? {
        Some(Record {
            results: Results::ZipInterop(interop),
            made,
            ..
        }) => (interop, made),
        _ => Default::default(),
    };
    let mut record = Record::new(
        "Who reads whose ZIP archives",
        "cargo xtask peers zip-interop",
        Results::ZipInterop(Interop::default()),
    );
    record.made = bench.made.clone().replaced(old_made, part.name());
    record.machine = Some(Machine::here());
    record.versions = bench.reader_versions();
    let mut ignored = Ignored::default();
    for reader in readers::ALL
        .iter()
        .filter(|reader| !bench.works(reader.here))
    {
        ignored.add_for(reader.name, &format!("`{}` fails", reader.here));
    }
    let (mut wrong, mut measured) = (0, 0);
    let chosen = shapes::ALL.iter().filter(|shape| shape.is_of(&part));
    for shape in chosen {
        let Some(row) = bench.row(shape)? else {
            ignored.add_for(shape.name, &format!("`{}` fails", shape.needs));
            continue;
        };
        for cell in &row {
            println!("{}", cell.line());
            wrong += u32::from(cell.is_wrong());
        }
        measured += row.len();
        interop.replace(shape.name, row);
        record.facts = ignored.lines().to_vec();
        record.results = Results::ZipInterop(interop.clone());
        println!("{}", record.write(NAME)?.display());
    }
    ignored.finish(measured)?;
    ensure!(wrong == 0, "{wrong} cells are not as they should be");
    Ok(())
}

impl Bench {
    /// Everything that shapes and readers need, in the folder.
    fn prepare(&self) -> Result<()> {
        tree::make(&self.file("src"))?;
        fs::write(self.file("password"), "right\n")?;
        let sources = sh::root().join("bench-peers/zip-interop");
        for name in ["peer.py", "Peer.java", "peer.go"] {
            fs::copy(sources.join(name), self.file(name))?;
        }
        if sh::find("javac").is_some() {
            sh::output(&mut self.command(&["javac", "Peer.java"]))?;
        }
        if sh::find("go").is_some() {
            sh::output(&mut self.command(&["go", "build", "-o", "go-peer", "peer.go"]))?;
        }
        let target = sh::root().join("bench-peers/target/zip/peer");
        let words = ["build", "--release", "--locked", "--features", "peer"];
        let mut cargo = sh::cargo(&words);
        cargo
            .args(["--bin", "zip-peer", "--target-dir"])
            .arg(&target);
        sh::run(cargo.current_dir(sh::root().join("bench-peers/zip")))?;
        fs::copy(target.join("release/zip-peer"), self.file("zip-peer"))?;
        Ok(())
    }

    fn reader_versions(&self) -> Vec<String> {
        let said = readers::VERSIONS.iter().filter_map(|line| {
            let text = sh::text(&mut self.command(&["sh", "-c", line])).ok()?;
            let first = text.lines().find(|line| !line.trim().is_empty())?;
            Some(first.trim().to_owned())
        });
        said.collect()
    }

    /// Writes a shape and has every reader read it; `None` where its writer is not here.
    fn row(&self, shape: &Shape) -> Result<Option<Vec<Cell>>> {
        if !shape.needs.is_empty() && !self.works(shape.needs) {
            return Ok(None);
        }
        let archive = self.file("a.zip");
        let _ = fs::remove_file(&archive);
        shapes::prepare(&self.file("."), shape.content)?;
        self.bash(shape.write)
            .with_context(|| format!("{}: {}", shape.name, shape.write))?;
        let mut row = Vec::new();
        for reader in readers::ALL.iter().filter(|reader| reader.takes(shape)) {
            row.push(self.cell(shape, reader)?);
        }
        Ok(Some(row))
    }

    fn cell(&self, shape: &Shape, reader: &Reader) -> Result<Cell> {
        let mut cell = Cell {
            shape: shape.name.to_owned(),
            ours: shape.is_ours(),
            reader: reader.name.to_owned(),
            found: String::new(),
            wrong: false,
            limit: readers::limit(shape, reader).map(str::to_owned),
        };
        if !self.works(reader.here) {
            cell.found = "not here".to_owned();
            return Ok(cell);
        }
        let found = match shape.content {
            Content::Tree => self.extracted(reader),
            other => self.printed(reader, other),
        };
        match found {
            Ok(found) => cell.found = found,
            Err(error) => {
                cell.wrong = true;
                cell.found = diagnosis(&error);
            }
        }
        if !cell.wrong {
            cell.limit = None;
        }
        Ok(cell)
    }

    /// Extracts and compares; returns what was not restored.
    fn extracted(&self, reader: &Reader) -> Result<String> {
        let out = self.file("out");
        let _ = fs::remove_dir_all(&out);
        fs::create_dir(&out)?;
        self.bash(reader.extract)?;
        tree::compare(&self.file("src"), &out.join("src"))
    }

    /// Compares what comes through a pipe.
    fn printed(&self, reader: &Reader, content: Content) -> Result<String> {
        let mut command = self.command(&["sh", "-c", reader.print]);
        command.stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped());
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().context("a pipe")?;
        let compared = shapes::compare(content, &self.file("."), stdout);
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("{}\n{}", output.status, said.trim());
        }
        compared.map(|()| "ok".to_owned())
    }

    fn bash(&self, line: &str) -> Result<()> {
        sh::output(&mut self.command(&["bash", "-o", "pipefail", "-c", line])).map(drop)
    }

    fn works(&self, line: &str) -> bool {
        line.is_empty() || self.bash(line).is_ok()
    }
}

/// The line of a failure that says most.
fn diagnosis(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    const WORDS: [&[&str]; 2] = [
        &["error:", "exception", "unsupported", "need pk", "truncated"],
        &["error", "cannot", "only"],
    ];
    let says = |words: &[&str]| {
        lines.clone().find(|line| {
            let line = line.to_lowercase();
            words.iter().any(|word| line.contains(word)) && !line.contains("exit status")
        })
    };
    let best = WORDS.into_iter().find_map(says);
    let best = best.or_else(|| lines.clone().next_back());
    let best = best.map(|line| line.rsplit(" ended with ").next().unwrap_or(line));
    let line: String = best.unwrap_or("failed").chars().take(90).collect();
    line.replace('|', "/")
}

/// Whether there is a file at this path.
fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
