//! Prints one generated file to standard output. Called by `cargo xtask codegen`, which knows
//! where the file belongs.

#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    reason = "standard output is this program's result"
)]

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The package that depends on the crate whose dictionaries are compacted, and that crate.
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../bench-peers/fix/Cargo.toml");
const DICTIONARIES: &str = "fefix";

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
        _ => match VERSIONS.iter().find(|version| version.0 == name) {
            Some((_, file)) => dictionary(file)?,
            None => bail!("no generator is called '{name}'"),
        },
    };
    println!("{}", text.trim_end());
    Ok(())
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
