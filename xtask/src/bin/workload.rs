//! Writes generated data to standard output: `workload KIND SEED BYTES`. The same words give the
//! same bytes on every machine. Used by `cargo xtask peers`.

#![forbid(unsafe_code)]

use std::io::{self, Read, Write};

use anyhow::{Context, Result};
use zstdkit::workload::{Generator, Kind};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, seed, bytes] = args.as_slice() else {
        anyhow::bail!("usage: workload KIND SEED BYTES");
    };
    let kind: Kind = kind
        .parse()
        .with_context(|| format!("'{kind}' is no kind of data"))?;
    let mut data = Generator::new(kind, seed.parse()?).take(bytes.parse()?);
    let mut output = io::stdout().lock();
    io::copy(&mut data, &mut output)?;
    output.flush()?;
    Ok(())
}
