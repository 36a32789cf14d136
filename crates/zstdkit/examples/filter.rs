//! Filters standard input to standard output, for comparison with the zstd CLI:
//! `filter generate json 128 | filter encode 3 | filter decode`.

use std::io::{self, Read, Write};

use zstdkit::workload::Generator;
use zstdkit::{Decoder, DecoderOptions, Encoder, EncoderOptions, Operation, State};

const CHUNK: usize = 128 << 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("encode") => encode(arguments.next().unwrap_or_default().parse()?),
        Some("decode") => decode(),
        Some("generate") => {
            let kind = arguments.next().unwrap_or_default().parse()?;
            let bytes = arguments.next().unwrap_or_default().parse::<u64>()? << 20;
            io::copy(
                &mut Generator::new(kind, 1).take(bytes),
                &mut io::stdout().lock(),
            )?;
            Ok(())
        }
        _ => Err("encode LEVEL, decode, or generate KIND MIB".into()),
    }
}

fn encode(level: i32) -> Result<(), Box<dyn std::error::Error>> {
    let (mut source, mut sink) = (io::stdin().lock(), io::stdout().lock());
    let mut encoder = Encoder::new(&EncoderOptions::default().with_level(level))?;
    let (mut input, mut output) = (vec![0; CHUNK], vec![0; CHUNK + 1024]);
    loop {
        let count = source.read(&mut input)?;
        let operation = if count == 0 {
            Operation::End
        } else {
            Operation::Continue
        };
        let mut rest = &input[..count];
        loop {
            let step = encoder.push(rest, &mut output, operation)?;
            rest = &rest[step.consumed..];
            sink.write_all(&output[..step.produced])?;
            match step.state {
                State::MoreOutput => {}
                State::NeedInput => break,
                State::Done => return Ok(()),
            }
        }
    }
}

fn decode() -> Result<(), Box<dyn std::error::Error>> {
    let (mut source, mut sink) = (io::stdin().lock(), io::stdout().lock());
    let mut decoder = Decoder::new(&DecoderOptions::default())?;
    let (mut input, mut output) = (vec![0; CHUNK], vec![0; CHUNK]);
    loop {
        let count = source.read(&mut input)?;
        if count == 0 {
            decoder.finish()?;
            return Ok(());
        }
        let mut rest = &input[..count];
        loop {
            let step = decoder.push(rest, &mut output)?;
            rest = &rest[step.consumed..];
            sink.write_all(&output[..step.produced])?;
            if step.state != State::MoreOutput {
                break;
            }
        }
    }
}
