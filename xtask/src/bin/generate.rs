//! Prints one generated file to standard output. Called by `cargo xtask codegen`, which knows
//! where the file belongs.

#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    reason = "standard output is this program's result"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

/// The package that depends on the crate whose dictionaries are compacted, and that crate.
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../bench-peers/fix/Cargo.toml");
const DICTIONARIES: &str = "fefix";

/// The crate with the C interface of betree; its `cbindgen.toml` says how the header looks.
const BETREE_C: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/betree-c");

/// Generators of dictionaries, with the files that they read.
const VERSIONS: [(&str, &str); 9] = [
    ("fix40", "FIX-4.0"),
    ("fix41", "FIX-4.1"),
    ("fix42", "FIX-4.2"),
    ("fix43", "FIX-4.3"),
    ("fix44", "FIX-4.4"),
    ("fix50", "FIX-5.0"),
    ("fix50sp1", "FIX-5.0-SP1"),
    ("fix50sp2", "FIX-5.0-SP2"),
    ("fixt11", "FIXT-1.1"),
];

fn main() -> Result<()> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let text = match name.as_str() {
        "report-schema" => serde_json::to_string_pretty(&latency::report::schema())?,
        "betree-header" => header(BETREE_C)?,
        _ => match VERSIONS.iter().find(|version| version.0 == name) {
            Some((_, file)) => dictionary(file)?,
            None => bail!("no generator is called '{name}'"),
        },
    };
    println!("{}", text.trim_end());
    Ok(())
}

/// The C header of a crate.
fn header(folder: &str) -> Result<String> {
    let folder = Path::new(folder);
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml"))
        .map_err(|error| anyhow!("cbindgen.toml: {error}"))?;
    let mut text = Vec::new();
    cbindgen::generate_with_config(folder, config)?.write(&mut text);
    let text = String::from_utf8(text)?;
    // What a Rust caller has to promise, the first comment of the header says once for all functions.
    Ok(without_section(&text, "# Safety"))
}

/// Comments without the section of that name, which is the last one.
fn without_section(text: &str, title: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut skips = false;
    for line in text.lines() {
        let comment = line.trim_start().strip_prefix("//").map(str::trim);
        if comment == Some(title) {
            skips = true;
            // The empty line before it.
            kept.pop_if(|line| line.trim() == "//");
        }
        skips &= comment.is_some();
        if !skips {
            kept.push(line);
        }
    }
    kept.join("\n")
}

/// The facts of a dictionary: tags, names, types, values and what messages are made of.
fn dictionary(file: &str) -> Result<String> {
    let path = sources()?.join(format!("{file}.xml"));
    let xml = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(fixcore::dict::Dictionary::compact(&xml)?)
}

/// Where the package manager put the dictionaries.
fn sources() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args([
        "metadata",
        "--format-version=1",
        "--locked",
        "--manifest-path",
        PEER,
    ]);
    let output = command.output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let found = packages
        .filter(|package| package["name"] == DICTIONARIES)
        .find_map(|package| {
            let manifest = PathBuf::from(package["manifest_path"].as_str()?);
            Some(manifest.parent()?.join("src/fefix_core/resources/quickfix"))
        });
    found.with_context(|| format!("no package is called {DICTIONARIES}"))
}
