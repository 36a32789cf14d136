//! The overhead of this crate over direct calls of libzstd: both run alternately in one process. Reports
//! medians of the ratios of neighbouring runs.
//! `taskset -c 1 cargo run --release --features workload --example measure_zstd -- [MIB] [ROUNDS]`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Instant;

use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};
use zstdkit::workload::{Kind, generate};
use zstdkit::{
    Compressor, Decoder, DecoderOptions, Decompressor, Encoder, EncoderOptions, Operation, State,
};

const CHUNK: usize = 128 << 10;

type Run<'a> = Box<dyn FnMut() -> Result<u64, String> + 'a>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let bytes = arguments.next().unwrap_or(Ok(64))? << 20;
    let rounds = arguments.next().unwrap_or(Ok(11))?;
    let mut data = generate(Kind::JsonLines, 1, bytes / 2);
    data.extend(generate(Kind::Source, 1, bytes / 2));
    let frame = zstdkit::compress(&data, &EncoderOptions::default())?;
    println!("{} bytes, {} compressed", data.len(), frame.len());

    compare(
        "decode stream",
        data.len(),
        rounds,
        raw_decode(&frame, false)?,
        decode(&frame, true)?,
    )?;
    compare(
        "decode, no checksum",
        data.len(),
        rounds,
        raw_decode(&frame, true)?,
        decode(&frame, false)?,
    )?;
    compare(
        "decode one-shot",
        data.len(),
        rounds,
        raw_one_shot(&frame, data.len()),
        one_shot(&frame)?,
    )?;
    let flushed = flushed(&data[..data.len() / 8], 200)?;
    compare(
        "decode blocks of 200",
        data.len() / 8,
        rounds,
        raw_decode(&flushed, false)?,
        decode(&flushed, true)?,
    )?;
    let unsized_frame = EncoderOptions::default().with_content_size(false);
    let unsized_frame = zstdkit::compress(&data, &unsized_frame)?;
    compare(
        "one-shot, size unknown",
        data.len(),
        rounds,
        raw_one_shot(&unsized_frame, data.len()),
        one_shot(&unsized_frame)?,
    )?;
    for size in [300, 2000, 20_000] {
        let small: Vec<_> = data
            .chunks(size)
            .step_by(64)
            .map(|piece| zstdkit::compress(piece, &EncoderOptions::default()))
            .collect::<Result<_, _>>()?;
        let total = small.len() * size;
        compare(
            &format!("decode frames of {size}"),
            total,
            rounds,
            raw_decode_small(&small)?,
            decode_small(&small)?,
        )?;
        compare(
            &format!("one-shot frames of {size}"),
            total,
            rounds,
            raw_one_shot_small(&small, size),
            one_shot_small(&small)?,
        )?;
        let pieces: Vec<_> = data.chunks(size).step_by(64).collect();
        compare(
            &format!("encode frames of {size}"),
            total,
            rounds,
            raw_encode_small(&pieces)?,
            encode_small(&pieces)?,
        )?;
    }
    for level in [1, 3] {
        compare(
            &format!("encode stream -{level}"),
            data.len(),
            rounds.min(7),
            raw_encode(&data, level)?,
            encode(&data, level)?,
        )?;
        compare(
            &format!("encode one-shot -{level}"),
            data.len(),
            rounds.min(7),
            raw_compress(&data, level)?,
            compress(&data, level)?,
        )?;
    }
    Ok(())
}

fn compare(
    what: &str,
    bytes: usize,
    rounds: usize,
    mut base: Run<'_>,
    mut ours: Run<'_>,
) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    for _ in 0..rounds + 1 {
        let start = Instant::now();
        let base_answer = base()?;
        let middle = Instant::now();
        let our_answer = ours()?;
        times.push((middle - start, middle.elapsed()));
        assert_eq!(base_answer, our_answer, "{what}");
    }
    times.remove(0);
    let mut ratios: Vec<_> = times
        .iter()
        .map(|(base, ours)| ours.as_secs_f64() / base.as_secs_f64())
        .collect();
    ratios.sort_by(f64::total_cmp);
    let mut ours: Vec<_> = times.iter().map(|times| times.1).collect();
    ours.sort();
    println!(
        "{what:26} {:8.1} MB/s  {:.3}x libzstd ({:.3} to {:.3})",
        bytes as f64 / 1e6 / ours[ours.len() / 2].as_secs_f64(),
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1]
    );
    Ok(())
}

fn name(code: usize) -> String {
    zstd_safe::get_error_name(code).to_owned()
}

fn raw_context(ignore: bool) -> Result<DCtx<'static>, String> {
    let mut context = DCtx::create();
    context
        .set_parameter(DParameter::ForceIgnoreChecksum(ignore))
        .map_err(name)?;
    Ok(context)
}

fn raw_stream(context: &mut DCtx<'_>, frame: &[u8], buffer: &mut [u8]) -> Result<u64, usize> {
    let mut total = 0;
    for piece in frame.chunks(CHUNK) {
        let mut input = InBuffer::around(piece);
        loop {
            let mut output = OutBuffer::around(&mut *buffer);
            context.decompress_stream(&mut output, &mut input)?;
            let produced = output.pos();
            total += produced as u64;
            if input.pos() == piece.len() && produced < buffer.len() {
                break;
            }
        }
    }
    Ok(total)
}

fn raw_decode(frame: &[u8], ignore: bool) -> Result<Run<'_>, String> {
    let mut context = raw_context(ignore)?;
    let mut buffer = vec![0; CHUNK];
    Ok(Box::new(move || {
        raw_stream(&mut context, frame, &mut buffer).map_err(name)
    }))
}

fn raw_decode_small(frames: &[Vec<u8>]) -> Result<Run<'_>, String> {
    let mut context = raw_context(false)?;
    let mut buffer = vec![0; CHUNK];
    Ok(Box::new(move || {
        frames
            .iter()
            .map(|frame| raw_stream(&mut context, frame, &mut buffer).map_err(name))
            .sum()
    }))
}

fn stream(decoder: &mut Decoder, frame: &[u8], buffer: &mut [u8]) -> Result<u64, zstdkit::Error> {
    let mut total = 0;
    decoder.reset();
    for piece in frame.chunks(CHUNK) {
        let mut input = piece;
        loop {
            let step = decoder.push(input, buffer)?;
            input = &input[step.consumed..];
            total += step.produced as u64;
            if step.state != State::MoreOutput {
                break;
            }
        }
    }
    decoder.finish()?;
    Ok(total)
}

fn decoder(verify_checksum: bool) -> Result<Decoder, String> {
    Decoder::new(&DecoderOptions::default().with_verify_checksum(verify_checksum))
        .map_err(|error| error.to_string())
}

fn decode(frame: &[u8], verify: bool) -> Result<Run<'_>, String> {
    let mut decoder = decoder(verify)?;
    let mut buffer = vec![0; CHUNK];
    Ok(Box::new(move || {
        stream(&mut decoder, frame, &mut buffer).map_err(|e| e.to_string())
    }))
}

fn decode_small(frames: &[Vec<u8>]) -> Result<Run<'_>, String> {
    let mut decoder = decoder(true)?;
    let mut buffer = vec![0; CHUNK];
    Ok(Box::new(move || {
        frames
            .iter()
            .map(|frame| stream(&mut decoder, frame, &mut buffer).map_err(|e| e.to_string()))
            .sum()
    }))
}

fn raw_one_shot(frame: &[u8], size: usize) -> Run<'_> {
    let mut context = DCtx::create();
    let mut content = Vec::with_capacity(size);
    Box::new(move || {
        context
            .decompress(&mut content, frame)
            .map(|n| n as u64)
            .map_err(name)
    })
}

fn one_shot(frame: &[u8]) -> Result<Run<'_>, zstdkit::Error> {
    let mut context = Decompressor::new(&DecoderOptions::default())?;
    let mut content = Vec::new();
    Ok(Box::new(move || {
        let count = context.decompress_into(frame, &mut content);
        count.map(|n| n as u64).map_err(|error| error.to_string())
    }))
}

fn raw_one_shot_small(frames: &[Vec<u8>], size: usize) -> Run<'_> {
    let mut context = DCtx::create();
    let mut content = Vec::with_capacity(size);
    Box::new(move || {
        let mut one = |frame| context.decompress(&mut content, frame).map(|n| n as u64);
        frames.iter().map(|frame| one(frame).map_err(name)).sum()
    })
}

fn one_shot_small(frames: &[Vec<u8>]) -> Result<Run<'_>, zstdkit::Error> {
    let mut context = Decompressor::new(&DecoderOptions::default())?;
    let mut content = Vec::new();
    Ok(Box::new(move || {
        let mut one = |frame| {
            context
                .decompress_into(frame, &mut content)
                .map(|n| n as u64)
        };
        frames
            .iter()
            .map(|frame| one(frame).map_err(|error| error.to_string()))
            .sum()
    }))
}

fn raw_encoder(level: i32) -> Result<CCtx<'static>, String> {
    let mut context = CCtx::create();
    context
        .set_parameter(CParameter::CompressionLevel(level))
        .map_err(name)?;
    context
        .set_parameter(CParameter::ChecksumFlag(true))
        .map_err(name)?;
    Ok(context)
}

fn raw_encode_stream(context: &mut CCtx<'_>, data: &[u8], buffer: &mut [u8]) -> Result<u64, usize> {
    let mut total = 0;
    context.reset(ResetDirective::SessionOnly)?;
    context.set_pledged_src_size(Some(data.len() as u64))?;
    let pieces = data.len().div_ceil(CHUNK);
    for (at, piece) in data.chunks(CHUNK).enumerate() {
        let last = at + 1 == pieces;
        let directive = if last {
            ZSTD_EndDirective::ZSTD_e_end
        } else {
            ZSTD_EndDirective::ZSTD_e_continue
        };
        let mut input = InBuffer::around(piece);
        loop {
            let mut output = OutBuffer::around(&mut *buffer);
            let waiting = context.compress_stream2(&mut output, &mut input, directive)?;
            total += output.pos() as u64;
            if input.pos() == piece.len() && (waiting == 0 || !last) {
                break;
            }
        }
    }
    Ok(total)
}

fn encode_stream(
    encoder: &mut Encoder,
    data: &[u8],
    buffer: &mut [u8],
) -> Result<u64, zstdkit::Error> {
    let mut total = 0;
    encoder.begin(Some(data.len() as u64))?;
    let pieces = data.len().div_ceil(CHUNK);
    for (at, piece) in data.chunks(CHUNK).enumerate() {
        let operation = if at + 1 == pieces {
            Operation::End
        } else {
            Operation::Continue
        };
        let mut input = piece;
        loop {
            let step = encoder.push(input, buffer, operation)?;
            input = &input[step.consumed..];
            total += step.produced as u64;
            if step.state != State::MoreOutput {
                break;
            }
        }
    }
    Ok(total)
}

fn raw_encode(data: &[u8], level: i32) -> Result<Run<'_>, String> {
    let mut context = raw_encoder(level)?;
    let mut buffer = vec![0; CHUNK + 1024];
    Ok(Box::new(move || {
        raw_encode_stream(&mut context, data, &mut buffer).map_err(name)
    }))
}

fn encode(data: &[u8], level: i32) -> Result<Run<'_>, zstdkit::Error> {
    let mut encoder = Encoder::new(&EncoderOptions::default().with_level(level))?;
    let mut buffer = vec![0; CHUNK + 1024];
    Ok(Box::new(move || {
        encode_stream(&mut encoder, data, &mut buffer).map_err(|e| e.to_string())
    }))
}

fn raw_encode_small<'a>(pieces: &'a [&[u8]]) -> Result<Run<'a>, String> {
    let mut context = raw_encoder(3)?;
    let mut buffer = vec![0; CHUNK + 1024];
    Ok(Box::new(move || {
        let mut one = |piece| raw_encode_stream(&mut context, piece, &mut buffer);
        pieces.iter().map(|piece| one(piece).map_err(name)).sum()
    }))
}

fn encode_small<'a>(pieces: &'a [&[u8]]) -> Result<Run<'a>, zstdkit::Error> {
    let mut encoder = Encoder::new(&EncoderOptions::default())?;
    let mut buffer = vec![0; CHUNK + 1024];
    Ok(Box::new(move || {
        let mut one = |piece| encode_stream(&mut encoder, piece, &mut buffer);
        pieces
            .iter()
            .map(|piece| one(piece).map_err(|e| e.to_string()))
            .sum()
    }))
}

fn raw_compress(data: &[u8], level: i32) -> Result<Run<'_>, String> {
    let mut context = raw_encoder(level)?;
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
    Ok(Box::new(move || {
        context
            .compress2(&mut frame, data)
            .map(|n| n as u64)
            .map_err(name)
    }))
}

fn compress(data: &[u8], level: i32) -> Result<Run<'_>, zstdkit::Error> {
    let mut context = Compressor::new(&EncoderOptions::default().with_level(level))?;
    let mut frame = Vec::new();
    Ok(Box::new(move || {
        let count = context.compress_into(data, &mut frame);
        count.map(|n| n as u64).map_err(|error| error.to_string())
    }))
}

/// One frame with a flush after every `size` bytes.
fn flushed(data: &[u8], size: usize) -> Result<Vec<u8>, zstdkit::Error> {
    let mut encoder = Encoder::new(&EncoderOptions::default().with_level(1))?;
    let (mut frame, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    let pieces = data.chunks(size).map(|piece| (piece, Operation::Flush));
    for (mut input, operation) in pieces.chain([(&[][..], Operation::End)]) {
        loop {
            let step = encoder.push(input, &mut buffer, operation)?;
            input = &input[step.consumed..];
            frame.extend_from_slice(&buffer[..step.produced]);
            if step.state != State::MoreOutput {
                break;
            }
        }
    }
    Ok(frame)
}
