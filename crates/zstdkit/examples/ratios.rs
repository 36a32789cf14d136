//! Ratio and size of each workload kind at a few levels: `cargo run --release --example ratios`.
#![allow(clippy::print_stdout)]

use zstdkit::workload::{Kind, generate};
use zstdkit::{Compressor, EncoderOptions, Error};

const BYTES: usize = 8 << 20;

fn main() -> Result<(), Error> {
    for kind in Kind::ALL {
        let data = generate(kind, 1, BYTES);
        print!("{kind:8}");
        for level in [1, 3, 9] {
            let options = EncoderOptions::default().with_level(level);
            let bytes = Compressor::new(&options)?.compress(&data)?.len();
            print!("  level {level}: {:8.2}", BYTES as f64 / bytes as f64);
        }
        println!();
    }
    Ok(())
}
