//! ZIP: perfkit beside the programs zip, unzip, bsdtar and 7zz, and zipstream beside libraries.
//!
//! [`programs`] are whole commands, measured by `perfkit compare`; [`libraries`] are calls, each in a
//! program of its own that is run in rounds. [`record`] is what comes of both. [`interop`] is
//! about who reads whose archives, [`memory`] about what it takes.

pub(crate) mod interop;
mod libraries;
pub(crate) mod memory;
mod programs;
mod record;

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, bail};

use super::ignored::Ignored;
use super::{Bench, Size};
use crate::record::{Machine, Record, Results};
use crate::{metadata, sh};
pub(crate) use record::Zip;

/// What to pack, in the folder of the bench.
struct Inputs {
    /// A description of the tree.
    tree: String,
}

/// What to measure; the record keeps the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    All,
    Libraries,
    Programs,
    /// The tables of `perfkit zip-bench`.
    Tables,
}

impl Part {
    /// The part of this name.
    pub(crate) fn parse(word: &str) -> Result<Self> {
        match word {
            "libraries" => Ok(Self::Libraries),
            "programs" => Ok(Self::Programs),
            "tables" => Ok(Self::Tables),
            _ => bail!("'{word}' is no part: libraries, programs or tables"),
        }
    }

    /// Its name; all have none.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Libraries => Some("libraries"),
            Self::Programs => Some("programs"),
            Self::Tables => Some("tables"),
        }
    }

    fn has(self, part: Self) -> bool {
        self == Self::All || self == part
    }
}

/// Measures and writes the record.
pub(crate) fn run(size: Size, part: Part) -> Result<()> {
    for program in ["zip", "unzip"] {
        if sh::find(program).is_none() {
            bail!("{program} is not installed: there is nothing to measure against");
        }
    }
    super::build_perfkit()?;
    build_workload()?;
    let bench = Bench::new(size)?;
    let inputs = bench.make_inputs()?;
    let name = if size == Size::Quick {
        "zip-quick"
    } else {
        "zip"
    };
    let old = Record::read(name)?;
    let (mut zip, mut machine, old_made) = match old {
        Some(Record {
            results: Results::Zip(zip),
            machine,
            made,
            ..
        }) => (zip, machine, made),
        _ => Default::default(),
    };
    let mut record = Record::new(
        "perfkit's ZIP beside other programs and libraries",
        "cargo xtask peers zip",
        Results::Zip(Zip::default()),
    );
    record.quick = size == Size::Quick;
    record.made = bench.made.clone().replaced(old_made, part.name());
    record.facts = vec![format!("the tree: {}", inputs.tree)];
    record.versions = bench.versions();
    let facts = record.facts.clone();
    let mut keep = |zip: &Zip, machine: &Option<Machine>, ignored: &Ignored| -> Result<PathBuf> {
        record.facts = [&facts[..], ignored.lines()].concat();
        record.machine.clone_from(machine);
        record.results = Results::Zip(zip.clone());
        record.write(name)
    };
    let mut ignored = Ignored::default();
    if part.has(Part::Libraries) {
        zip.rows.clear();
        let libraries = libraries::build(&mut ignored)?;
        for case in libraries::CASES {
            let rows = bench.libraries(case, &libraries)?;
            rows.iter().for_each(|row| println!("{}", row.line()));
            zip.rows.extend(rows);
            keep(&zip, &machine, &ignored)?;
        }
    }
    if part.has(Part::Programs) {
        zip.comparisons.clear();
        for case in programs::CASES {
            if sh::find(case.program()).is_none() {
                ignored.add(case.what, case.program());
                continue;
            }
            let comparison = bench.program(case, &mut machine)?;
            println!("{}", comparison.line());
            zip.comparisons.push(comparison);
            keep(&zip, &machine, &ignored)?;
        }
    }
    if part.has(Part::Tables) {
        zip.tables = bench.tables()?;
        keep(&zip, &machine, &ignored)?;
    }
    println!("{}", keep(&zip, &machine, &ignored)?.display());
    let tables = usize::from(!zip.tables.is_empty());
    ignored.finish(zip.rows.len() + zip.comparisons.len() + tables)
}

/// Builds what makes data.
fn build_workload() -> Result<()> {
    if super::is_built() {
        return Ok(());
    }
    let args = ["build", "--package", "xtask", "--bin", "workload"];
    let mut cargo = sh::cargo(&args);
    sh::run(
        cargo
            .args(["--features", "workloads"])
            .args(metadata::MEASURED),
    )
}

impl Bench {
    fn make_inputs(&self) -> Result<Inputs> {
        let quick = self.size == Size::Quick;
        let (text_bytes, noise) = if quick {
            (6_000_000, 10_000_000)
        } else {
            (90_000_000, 100_000_000)
        };
        let generate = |kind: &str, bytes: usize, name: &str| -> Result<Vec<u8>> {
            let bytes = bytes.to_string();
            let made = sh::output(&mut self.command(&["workload", kind, "1", &bytes]))?;
            fs::write(self.file(name), &made.stdout)?;
            Ok(made.stdout)
        };
        generate("random", noise, "noise")?;
        let go = sh::find("go").filter(|_| !quick);
        let root = go.and_then(|_| sh::text(sh::command("go").args(["env", "GOROOT"])).ok());
        let (tree, text) = match &root {
            // Files that people wrote, where there are some.
            Some(root) => {
                let script = format!(
                    "cp -r {}/src tree && chmod -R u+w tree && find tree -type f -name '*.go' | \
                     LC_ALL=C sort | xargs cat | head -c {text_bytes} > text",
                    root.trim()
                );
                sh::output(&mut self.command(&["sh", "-c", &script]))?;
                ("sources of Go", fs::read(self.file("text"))?)
            }
            None => {
                let text = generate("source", text_bytes, "text")?;
                for (at, content) in text.chunks(11_000).enumerate() {
                    let folder = self.file(&format!("tree/{:03}", at / 100));
                    fs::create_dir_all(&folder)?;
                    fs::write(folder.join(format!("{at:05}.txt")), content)?;
                }
                ("generated sources", text)
            }
        };
        const MIB: usize = 1 << 20;
        fs::write(self.file("text5"), &text[..5 * MIB])?;
        let line =
            b"One line of some length, repeated until the entry is as large as it shall be.\n";
        let line: Vec<u8> = line.iter().copied().cycle().take(5 * MIB).collect();
        fs::write(self.file("line5"), line)?;
        fs::write(self.file("password"), "correct\n")?;
        sh::output(&mut self.command(&["zip", "-q", "-r", "-6", "tree.zip", "tree"]))?;
        let sealed = "perfkit zip -qq -0 --password-file password sealed.zip noise";
        sh::output(&mut self.command(&sealed.split(' ').collect::<Vec<_>>()))?;
        let count = "find tree -type f | wc -l; find tree -type f -printf '%s\\n' | awk '{ all += $1 } END { print all }'";
        let counted = sh::text(&mut self.command(&["sh", "-c", count]))?;
        let mut numbers = counted.split_whitespace();
        let (files, bytes) = (numbers.next(), numbers.next());
        Ok(Inputs {
            tree: format!(
                "{} files, {} bytes, {tree}; one text: {} bytes of it; noise: {noise} bytes",
                files.unwrap_or_default(),
                bytes.unwrap_or_default(),
                text.len()
            ),
        })
    }

    /// The tables of `perfkit zip-bench` on one line over and over, on generated and on real text.
    fn tables(&self) -> Result<String> {
        let quick = self.size == Size::Quick;
        let mut words = vec![
            "perfkit",
            "zip-bench",
            "-qq",
            "--report",
            "markdown",
            "text5",
        ];
        if quick {
            words.extend(["--quick", "--rounds", "6"]);
        }
        println!("$ {}", words.join(" "));
        let text = sh::text(&mut self.command(&words))?;
        // Its headings go below those of the record.
        let lines = text.lines().map(|line| match line.starts_with('#') {
            true => format!("##{line}\n"),
            false => format!("{line}\n"),
        });
        Ok(format!(
            "`{}`\n\n{}",
            words.join(" "),
            lines.collect::<String>()
        ))
    }

    /// The versions of the programs.
    fn versions(&self) -> Vec<String> {
        let first = |words: &[&str], at: usize| {
            let text = sh::text(&mut self.command(words)).ok()?;
            let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.nth(at).map(str::to_owned)
        };
        let asked = [
            first(&["zip", "-v"], 1),
            first(&["unzip", "-v"], 0),
            first(&["bsdtar", "--version"], 0),
            first(&["7zz", "i"], 0),
            first(&["go", "version"], 0),
        ];
        asked.into_iter().flatten().collect()
    }
}
