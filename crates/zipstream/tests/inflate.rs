//! The inflater of this crate against zlib-rs and libdeflate: what is read, and what is refused.
//!
//! zlib-rs is the measure, as most programs read what zlib reads. libdeflate also takes some streams
//! that describe more symbols than there are.

use zipstream::deflate::{Compressor, InflateFlaw, Inflater};
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

use crate::data::{self, Random};

/// Bits into bytes, the least significant first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn put(&mut self, bits: u32, count: usize) {
        for at in 0..count {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let last = self.bytes.len() - 1;
            self.bytes[last] |= ((bits >> at & 1) as u8) << (self.count % 8);
            self.count += 1;
        }
    }

    /// A code, whose first bit is its most significant.
    fn code(&mut self, code: u32, count: usize) {
        for at in (0..count).rev() {
            self.put(code >> at & 1, 1);
        }
    }

    /// A literal or length of the fixed code.
    fn fixed(&mut self, symbol: u32) {
        match symbol {
            ..=143 => self.code(0x30 + symbol, 8),
            144..=255 => self.code(0x190 + symbol - 144, 9),
            256..=279 => self.code(symbol - 256, 7),
            _ => self.code(0xc0 + symbol - 280, 8),
        }
    }

    /// The start of a block with codes of these lengths, sent as they are.
    fn described(&mut self, last: bool, litlens: &[u8], distances: &[u8]) {
        self.put(u32::from(last) | 2 << 1, 3);
        self.put(litlens.len() as u32 - 257, 5);
        self.put(distances.len() as u32 - 1, 5);
        self.put(19 - 4, 4);
        // Symbols 0 to 12 have codes of four bits, the others of five.
        for symbol in [
            16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
        ] {
            self.put(if symbol < 13 { 4 } else { 5 }, 3);
        }
        for &length in litlens.iter().chain(distances) {
            match u32::from(length) {
                length @ ..13 => self.code(length, 4),
                length => self.code(26 + length - 13, 5),
            }
        }
    }
}

/// What zlib-rs makes of a stream: its content and how much of it that took, or whether it is
/// invalid rather than too short.
fn zlib(stream: &[u8], most: usize) -> Result<(Vec<u8>, usize), bool> {
    let mut out = vec![0; most + 1];
    let mut inflate = Inflate::new(false, 15);
    match inflate.decompress(stream, &mut out, InflateFlush::Finish) {
        Ok(Status::StreamEnd) if inflate.total_out() as usize <= most => {
            out.truncate(inflate.total_out() as usize);
            Ok((out, inflate.total_in() as usize))
        }
        Ok(_) => Err(false),
        Err(_) => Err(true),
    }
}

fn is_cut(flaw: InflateFlaw) -> bool {
    matches!(flaw, InflateFlaw::Truncated | InflateFlaw::Room)
}

/// Holds the inflater to zlib-rs and libdeflate; whether the stream is one.
fn judge(inflater: &mut Inflater, stream: &[u8], most: usize) -> bool {
    let expected = zlib(stream, most);
    let mut portable = Inflater::portable();
    for slack in [0, 1000] {
        let mut out = vec![0xaa; most + slack];
        let found = portable.whole(stream, &mut out, most);
        let content = out;
        let mut out = vec![0xaa; most + slack];
        assert_eq!(inflater.whole(stream, &mut out, most), found);
        let bytes = found.map_or(0, |found| found.produced);
        assert!(out[..bytes] == content[..bytes], "another content by BMI2");
        match (&expected, found) {
            (Ok((content, consumed)), Ok(found)) => {
                assert_eq!((found.consumed, found.produced), (*consumed, content.len()));
                assert!(out[..found.produced] == *content, "another content");
            }
            (Err(invalid), Err(error)) => {
                // What is no code at all is refused before its symbols are read.
                let early = error.flaw() == InflateFlaw::PrecodeLengths;
                assert!(*invalid != is_cut(error.flaw()) || early, "{error}");
                assert!(error.offset() <= stream.len() as u64);
            }
            (expected, found) => panic!(
                "{found:?} where zlib-rs says {:?}",
                expected
                    .as_ref()
                    .map(|(content, bytes)| (content.len(), *bytes))
            ),
        }
    }
    if let Ok((content, _)) = &expected {
        let mut out = vec![0; most];
        let found = libdeflater::Decompressor::new().deflate_decompress(stream, &mut out);
        assert_eq!(found, Ok(content.len()), "libdeflate");
    }
    expected.is_ok()
}

/// Reads a stream in parts of these sizes; its content and how much of it that took.
fn in_parts(
    inflater: &mut Inflater,
    stream: &[u8],
    mut input: impl FnMut() -> usize,
    mut room: impl FnMut() -> usize,
) -> Result<(Vec<u8>, usize), InflateFlaw> {
    inflater.restart();
    let (mut content, mut at) = (Vec::new(), 0);
    let mut idle = 0;
    while !inflater.is_done() {
        let part = &stream[at..(at + input()).min(stream.len())];
        let mut out = vec![0; room()];
        let did = inflater
            .read(part, &mut out)
            .map_err(|error| error.flaw())?;
        content.extend_from_slice(&out[..did.produced]);
        at += did.consumed;
        assert_eq!(inflater.consumed(), at as u64);
        idle = if did.consumed + did.produced > 0 {
            0
        } else {
            idle + 1
        };
        if idle > 20 {
            assert_eq!(at, stream.len(), "it stands still");
            return Err(inflater.truncated().flaw());
        }
    }
    Ok((content, at))
}

/// The same by pieces that are lent, with and without the instructions of the processor.
fn in_pieces(inflater: &mut Inflater, stream: &[u8], part: usize) -> (Vec<u8>, usize) {
    let found = pieces(inflater, stream, part);
    assert!(found == pieces(&mut Inflater::portable(), stream, part));
    found
}

fn pieces(inflater: &mut Inflater, stream: &[u8], part: usize) -> (Vec<u8>, usize) {
    inflater.restart();
    let (mut content, mut at) = (Vec::new(), 0);
    loop {
        let end = (at + part).min(stream.len());
        let piece = inflater.push(&stream[at..end]).expect("it is a stream");
        content.extend_from_slice(piece.content);
        at += piece.consumed;
        if piece.done {
            return (content, at);
        }
    }
}

fn noise(bytes: usize) -> Vec<u8> {
    data::noise(0x1234_5678_9abc_def1, bytes)
}

fn text(bytes: usize) -> Vec<u8> {
    data::words(99, 300, bytes)
}

/// Stretches of text, noise, runs and periods of any length up to a window's.
fn mixture(bytes: usize) -> Vec<u8> {
    let (words, noise) = (text(100_000), noise(100_000));
    let mut random = Random(7);
    let mut out = Vec::new();
    while out.len() < bytes {
        let (at, length) = (random.next(60_000), 1 + random.next(20_000));
        match random.next(5) {
            0 => out.extend_from_slice(&words[at..at + length]),
            1 => out.extend_from_slice(&noise[at..at + length / 8]),
            2 => out.resize(out.len() + length, random.next(256) as u8),
            3 if !out.is_empty() => {
                let most = [40, 32_768][random.next(2)];
                let period = 1 + random.next(most.min(out.len()));
                (0..length).for_each(|_| out.push(out[out.len() - period]));
            }
            _ => out.extend(words[at..at + length].iter().map(|byte| byte & 3)),
        }
    }
    out.truncate(bytes);
    out
}

/// Streams of a content by several compressors.
fn streams(content: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for level in [0, 1, 6, 9] {
        let mut stream = Vec::new();
        Compressor::new(level).compress(content, 0, true, &mut stream);
        all.push(stream);
        let level = libdeflater::CompressionLvl::new(level).expect("a level");
        let mut compressor = libdeflater::Compressor::new(level);
        let mut stream = vec![0; compressor.deflate_compress_bound(content.len())];
        let bytes = compressor
            .deflate_compress(content, &mut stream)
            .expect("there is room");
        stream.truncate(bytes);
        all.push(stream);
    }
    let mut deflate = Deflate::new(4, false, 15);
    let mut stream = vec![0; content.len() + content.len() / 8 + 100];
    let flush = DeflateFlush::Finish;
    let done = deflate.compress(content, &mut stream, flush);
    done.expect("there is room");
    stream.truncate(deflate.total_out() as usize);
    all.push(stream);
    all
}

/// Blocks of each kind in one stream: stored, empty ones, fixed and described ones.
fn kinds() -> (Vec<u8>, Vec<u8>) {
    let words = text(2000);
    let (mut stream, mut content) = (Vec::new(), Vec::new());
    for (turn, part) in words.chunks(200).enumerate() {
        content.extend_from_slice(part);
        if turn % 3 == 0 {
            stream.extend_from_slice(&[0, 200, 0, !200, !0]);
            stream.extend_from_slice(part);
        } else {
            let (start, end) = (content.len() - 200, content.len());
            Compressor::new(6).compress(&content[..end], start, false, &mut stream);
        }
        stream.extend_from_slice(&[0, 0, 0, !0, !0]);
    }
    Compressor::new(6).compress(&[], 0, true, &mut stream);
    (stream, content)
}

#[test]
fn contents_of_every_size_and_shape() {
    let (words, noise, mixture) = (text(1 << 20), noise(1 << 20), mixture(1 << 20));
    let mut inflater = Inflater::new();
    let sizes = (0..400)
        .step_by(7)
        .chain([1000, 32_768, 65_536, 300_001, 1 << 20]);
    for bytes in sizes {
        for content in [&words[..bytes], &noise[..bytes], &mixture[..bytes]] {
            for stream in streams(content) {
                assert!(judge(&mut inflater, &stream, bytes));
                let (pieces, taken) = in_pieces(&mut inflater, &stream, 5000);
                assert!(pieces == content && taken == stream.len());
            }
        }
    }
}

#[test]
fn every_cut_of_input_and_room() {
    let (stream, content) = kinds();
    let behind = [&stream[..], &[0x55; 40]].concat();
    let mut inflater = Inflater::new();
    assert!(judge(&mut inflater, &behind, content.len()));
    let expected = Ok((content.clone(), stream.len()));
    for cut in 0..=stream.len() {
        let mut sizes = [cut, usize::MAX / 2].into_iter().cycle();
        let found = in_parts(
            &mut inflater,
            &behind,
            || sizes.next().expect("it is a stream"),
            || 4000,
        );
        assert!(found == expected, "input cut at {cut}");
        let early = in_parts(&mut inflater, &stream[..cut], || 1000, || 4000);
        assert!(cut == stream.len() || early == Err(InflateFlaw::Truncated));
        judge(&mut inflater, &stream[..cut], content.len());
    }
    for cut in 0..=content.len() {
        let mut rooms = [cut, 4000].into_iter().cycle();
        let found = in_parts(
            &mut inflater,
            &behind,
            || 10_000,
            || rooms.next().expect("it is a stream"),
        );
        assert!(found == expected, "room cut at {cut}");
        let mut out = vec![0; cut + 500];
        let whole = inflater
            .whole(&stream, &mut out, cut)
            .map_err(|error| error.flaw());
        let full = cut == content.len();
        assert!(full || whole == Err(InflateFlaw::Room), "{cut}: {whole:?}");
    }
    for (input, room) in [(1, 1), (1, 4000), (4000, 1), (2, 3), (17, 5)] {
        let found = in_parts(&mut inflater, &behind, || input, || room);
        assert!(found == expected, "parts of {input} into {room}");
    }
}

#[test]
fn any_cut_of_a_long_stream() {
    let content = mixture(1_500_000);
    let mut inflater = Inflater::new();
    for (turn, stream) in streams(&content).iter().enumerate() {
        let mut random = Random(turn as u64 + 1);
        let mut sizes = Random(turn as u64 + 100);
        let most = [300, 70_000][turn % 2];
        let input = || 1 + random.next(most);
        let found = in_parts(&mut inflater, stream, input, || sizes.next(2 * most));
        assert!(found == Ok((content.clone(), stream.len())), "{turn}");
        let (pieces, taken) = in_pieces(&mut inflater, stream, usize::MAX / 2);
        assert!(pieces == content && taken == stream.len());
    }
}

/// Few letters, which have short codes, and some words, so that there are copies.
fn letters(count: usize, bytes: usize) -> Vec<u8> {
    let (mut random, words) = (Random(count as u64), text(2000));
    let mut out = Vec::new();
    while out.len() < bytes {
        match random.next(40) {
            0 => out.extend_from_slice(&words[random.next(1900)..][..60]),
            _ => out.push((255 - random.next(count)) as u8),
        }
    }
    out.truncate(bytes);
    out
}

#[test]
fn codes_of_several_symbols_at_once() {
    let mut inflater = Inflater::new();
    for count in [2, 3, 4, 5, 7, 10, 16, 25, 40, 64, 100, 180, 256] {
        let content = letters(count, 40_000);
        for (turn, stream) in streams(&content).iter().enumerate() {
            assert!(judge(&mut inflater, stream, content.len()));
            let mut random = Random((1000 * count + turn) as u64);
            let mut sizes = Random((1000 * count + turn) as u64 + 500);
            let most = [300, 7000][turn % 2];
            let input = || 1 + random.next(most);
            let found = in_parts(&mut inflater, stream, input, || sizes.next(2 * most));
            assert!(
                found == Ok((content.clone(), stream.len())),
                "{count}, {turn}"
            );
            for _ in 0..10 {
                let mut changed = stream.clone();
                let at = random.next(changed.len());
                changed[at] ^= 1 << random.next(8);
                judge(&mut inflater, &changed, content.len());
                judge(&mut inflater, &stream[..at], content.len());
            }
        }
    }
}

#[test]
fn changed_streams_are_read_or_refused_as_elsewhere() {
    let (kinds, _) = kinds();
    let mut all = streams(&text(700));
    all.extend(streams(&mixture(3000)));
    all.push(kinds);
    let mut inflater = Inflater::new();
    let mut random = Random(11);
    let (mut read, mut refused) = (0, 0);
    for turn in 0..12_000 {
        let mut stream = all[turn % all.len()].clone();
        for _ in 0..1 + random.next(3) {
            // Most of what can be wrong is wrong in a head.
            let most = [stream.len(), stream.len().min(90)][random.next(2)];
            let at = random.next(most);
            match random.next(4) {
                0 => stream[at] = random.next(256) as u8,
                1 => drop(stream.remove(at)),
                _ => stream[at] ^= 1 << random.next(8),
            }
        }
        match judge(&mut inflater, &stream, 8000) {
            true => read += 1,
            false => refused += 1,
        }
        let whole = inflater.whole(&stream, &mut vec![0; 8000], 8000);
        let parts = in_parts(&mut inflater, &stream, || 61, || 8001);
        match (whole, parts) {
            (Ok(whole), Ok((content, taken))) => {
                assert_eq!((whole.consumed, whole.produced), (taken, content.len()));
            }
            (Err(error), Ok((content, _))) => {
                assert!(error.flaw() == InflateFlaw::Room && content.len() > 8000);
            }
            (Err(error), Err(flaw)) => {
                assert!(error.flaw() == flaw || error.flaw() == InflateFlaw::Room);
            }
            (Ok(_), Err(flaw)) => panic!("{flaw:?} in parts only"),
        }
    }
    assert!(read > 500 && refused > 500, "{read}, {refused}");
}

/// Lengths of a code that may be complete, by splitting codes until there are so many.
fn code_lengths(random: &mut Random, symbols: usize, codes: usize) -> Vec<u8> {
    let mut split = vec![0_u8];
    while split.len() < codes {
        let at = random.next(split.len());
        if split[at] < 15 {
            split[at] += 1;
            split.push(split[at]);
        }
    }
    let mut lengths = vec![0; symbols];
    for length in split {
        let at = random.next(symbols);
        lengths[at] = length;
    }
    // What fell on the same symbol leaves it incomplete.
    lengths
}

#[test]
fn codes_of_all_kinds_are_taken_or_refused_as_elsewhere() {
    let mut inflater = Inflater::new();
    let mut random = Random(5);
    let mut read = 0;
    for turn in 0..6000 {
        let (symbols, used) = (257 + random.next(30), 1 + random.next(30));
        let mut litlens = code_lengths(&mut random, symbols, used);
        let (symbols, used) = (1 + random.next(30), 1 + random.next(8));
        let distances = code_lengths(&mut random, symbols, used);
        match turn % 4 {
            // A complete one, of one byte and the end, or with lengths.
            0 => {
                litlens.fill(0);
                (litlens[65], litlens[256]) = (1, 1);
            }
            1 => {
                litlens.resize(286, 0);
                litlens.fill(0);
                (litlens[256], litlens[65], litlens[257], litlens[285]) = (2, 2, 2, 2);
            }
            2 => {
                let at = random.next(litlens.len());
                litlens[at] = random.next(16) as u8;
            }
            _ => litlens[256] = litlens[256].max(1),
        }
        let mut bits = Bits::default();
        bits.described(true, &litlens, &distances);
        (0..60).for_each(|_| bits.put(random.next(1 << 16) as u32, 16));
        read += usize::from(judge(&mut inflater, &bits.bytes, 60_000));
    }
    assert!(read > 100, "{read}");
}

#[test]
fn long_codes_lead_to_second_tables() {
    // One code of each length from 1 to 14, and two of 15.
    let mut litlens = [0; 286];
    for (at, symbol) in (65..79).enumerate() {
        litlens[symbol] = at as u8 + 1;
    }
    (litlens[285], litlens[256]) = (15, 15);
    let mut distances = [0; 30];
    for (slot, length) in distances.iter_mut().enumerate().take(15) {
        *length = (slot as u8 + 1).min(14);
    }
    distances[14] = 14;
    let mut bits = Bits::default();
    bits.described(true, &litlens, &distances);
    let mut content = Vec::new();
    for turn in 0..4000_u32 {
        let at = turn % 14;
        bits.code((1 << (at + 1)) - 2, at as usize + 1);
        content.push(65 + at as u8);
        if turn % 50 == 49 {
            // The longest length, and the least distance of a slot.
            bits.code(0x7fff, 15);
            let slot = turn / 50 % 14;
            bits.code((1 << (slot + 1)) - 2, slot as usize + 1);
            let extra = if slot < 4 { 0 } else { slot / 2 - 1 };
            let distance = match slot {
                ..4 => slot + 1,
                _ => ((2 + slot % 2) << extra) + 1,
            };
            bits.put(0, extra as usize);
            let from = content.len() - distance as usize;
            (0..258).for_each(|at| content.push(content[from + at]));
        }
    }
    bits.code(0x7ffe, 15);
    let mut inflater = Inflater::new();
    assert!(judge(&mut inflater, &bits.bytes, content.len()));
    let mut out = vec![0; content.len()];
    let done = inflater
        .whole(&bits.bytes, &mut out, content.len())
        .expect("it is a stream");
    assert!(done.produced == content.len() && out == content);
}

/// The flaw of a stream that starts with these bits, and where it is.
fn flaw(bits: &Bits) -> (InflateFlaw, u64) {
    let stream = [&bits.bytes[..], &[0; 64]].concat();
    let mut inflater = Inflater::new();
    assert!(!judge(&mut inflater, &stream, 3000));
    let error = inflater
        .whole(&stream, &mut [0; 3000], 3000)
        .expect_err("it is flawed");
    // A flawed stream stays so.
    inflater.restart();
    let first = inflater.push(&stream).expect_err("it is flawed");
    assert_eq!((first, inflater.push(&stream)), (error, Err(error)));
    (error.flaw(), error.offset() * 8 + u64::from(error.bit()))
}

#[test]
fn flaws_have_names_and_places() {
    let fixed = || {
        let mut bits = Bits::default();
        bits.put(0b011, 3);
        bits.fixed(65);
        bits
    };
    let mut bits = Bits::default();
    bits.put(0b111, 3);
    assert_eq!(flaw(&bits), (InflateFlaw::BlockType, 0));

    let mut bits = Bits::default();
    bits.put(0b001, 3);
    bits.put(0, 5);
    bits.put(0x1234_4321, 32);
    assert_eq!(flaw(&bits), (InflateFlaw::StoredLength, 8));

    let mut bits = fixed();
    bits.fixed(286);
    assert_eq!(flaw(&bits), (InflateFlaw::Litlen, 11));

    let mut bits = fixed();
    bits.fixed(257);
    bits.code(30, 5);
    assert_eq!(flaw(&bits), (InflateFlaw::Distance, 18));

    let mut bits = fixed();
    bits.fixed(257);
    bits.code(1, 5);
    assert_eq!(flaw(&bits), (InflateFlaw::TooFar, 18));

    let mut bits = Bits::default();
    bits.put(0b101, 3);
    bits.put(30, 5);
    assert_eq!(flaw(&bits), (InflateFlaw::Symbols, 3));

    let mut bits = Bits::default();
    bits.put(0b101, 3);
    bits.put(0, 14);
    bits.put(0b001_001_001, 9);
    assert_eq!(flaw(&bits).0, InflateFlaw::PrecodeLengths);

    let mut litlens = [0; 257];
    let described = |litlens: &[u8], distances: &[u8]| {
        let mut bits = Bits::default();
        bits.described(true, litlens, distances);
        flaw(&bits).0
    };
    assert_eq!(described(&litlens, &[1]), InflateFlaw::NoEnd);
    litlens[256] = 2;
    assert_eq!(described(&litlens, &[1]), InflateFlaw::LitlenLengths);
    litlens[..3].fill(1);
    assert_eq!(described(&litlens, &[1]), InflateFlaw::LitlenLengths);
    litlens[..3].copy_from_slice(&[2, 2, 2]);
    assert_eq!(
        described(&litlens, &[1, 1, 1]),
        InflateFlaw::DistanceLengths
    );
    assert_eq!(described(&litlens, &[2]), InflateFlaw::DistanceLengths);

    let mut bits = Bits::default();
    bits.put(0b101, 3);
    bits.put(0, 14);
    // Two codes of one bit, for a length of 0 and for the repetition of what is not there.
    bits.put(0b001_000_000_001, 12);
    bits.put(1, 1);
    assert_eq!(flaw(&bits).0, InflateFlaw::Repetition);
}

#[test]
fn an_incomplete_code_of_one_bit_is_a_code() {
    let mut litlens = [0; 258];
    (litlens[65], litlens[256], litlens[257]) = (2, 2, 1);
    let block = |distance: u32| {
        let mut bits = Bits::default();
        bits.described(true, &litlens, &[1]);
        bits.code(2, 2);
        bits.code(0, 1);
        bits.put(distance, 1);
        bits.code(3, 2);
        bits.bytes
    };
    let mut inflater = Inflater::new();
    assert!(judge(&mut inflater, &block(0), 4));
    assert!(!judge(&mut inflater, &block(1), 4));
}

#[test]
fn what_becomes_more_than_there_is_room_for_is_stopped() {
    let mut stream = Vec::new();
    Compressor::new(9).compress(&vec![0; 50 << 20], 0, true, &mut stream);
    let mut inflater = Inflater::new();
    let mut out = vec![7; 10_000];
    let error = inflater
        .whole(&stream, &mut out, 5000)
        .expect_err("it is flawed");
    assert_eq!(error.flaw(), InflateFlaw::Room);
    assert!(out[5300..].iter().all(|&byte| byte == 7), "it goes on");
    inflater.restart();
    let (mut made, mut rest) = (0, &stream[..]);
    loop {
        let piece = inflater.push(rest).expect("it is a stream");
        assert!(piece.content.len() < 129 << 10);
        (made, rest) = (made + piece.content.len(), &rest[piece.consumed..]);
        if piece.done {
            break;
        }
    }
    assert_eq!(made, 50 << 20);
}
