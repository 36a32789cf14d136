//! Nanoseconds per message: scanning, parsing and encoding the four sample messages.
//!
//! `cargo run --release -p fixcore --features workload --example measure_fix [-- ISA]`

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "standard output is its result")]

use std::hint::black_box;
use std::time::Instant;

use fixcore::workload::{Sample, new_order};
use fixcore::{Decoder, Index, Isa, Scanner, Separators, Slot, Timestamp};

fn bench(isa: Isa, what: &str, sample: &str, mut run: impl FnMut()) {
    const BATCH: u32 = 2000;
    let mut times = Vec::new();
    for _ in 0..51 {
        let start = Instant::now();
        for _ in 0..BATCH {
            run();
        }
        times.push(start.elapsed().as_nanos() as f64 / f64::from(BATCH));
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{:12} {what:12} {sample:4} median {:8.1} min {:8.1}",
        isa.name(),
        times[25],
        times[0]
    );
}

fn main() {
    let forced = std::env::args().nth(1).and_then(|name| name.parse().ok());
    let isas = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    for isa in isas.filter(|isa| forced.is_none_or(|forced: Isa| forced == *isa)) {
        let Some(scanner) = Scanner::with_isa(isa) else {
            continue;
        };
        for sample in Sample::ALL {
            let mut bytes = sample.bytes();
            bytes.reserve_exact(192);
            let name = sample.name();
            let (mut separators, mut index) = (Separators::new(), Index::new());
            bench(isa, "scan", name, || {
                let _ = scanner.positions(black_box(&bytes), &mut separators);
                black_box(&separators);
            });
            bench(isa, "index", name, || {
                let _ = scanner.index(black_box(&bytes), &mut index);
                black_box(&index);
            });
            let Some(mut decoder) = Decoder::with_isa(isa) else {
                continue;
            };
            bench(isa, "parse", name, || {
                let message = decoder.parse(black_box(&bytes));
                black_box(message.is_ok());
            });
            bench(isa, "parse+8", name, || {
                if let Ok(message) = decoder.parse(black_box(&bytes)) {
                    for tag in [35, 49, 56, 34, 11, 55, 54, 38] {
                        black_box(message.get(black_box(tag)));
                    }
                }
            });
        }
    }
    encode();
}

fn encode() {
    let (mut template, values) = new_order();
    assert_eq!(
        template.encode(&values).unwrap_or(&[]),
        Sample::NewOrder.bytes()
    );
    bench(Isa::detect(), "encode", "nos", || {
        black_box(template.encode(black_box(&values)).is_ok());
    });
    let mut values = values;
    let moment = Timestamp::parse(b"20260305-14:15:16.789").unwrap_or(Timestamp(0));
    (values[1], values[4]) = (Slot::Time(moment), Slot::Time(moment));
    bench(Isa::detect(), "encode times", "nos", || {
        black_box(template.encode(black_box(&values)).is_ok());
    });
}
