//! Prints one generated file to standard output. Called by `cargo xtask codegen`, which knows
//! where the file belongs.

#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    reason = "standard output is this program's result"
)]

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let text = match name.as_str() {
        "report-schema" => serde_json::to_string_pretty(&latency::report::schema())?,
        _ => bail!("no generator is called '{name}'"),
    };
    println!("{text}");
    Ok(())
}
