//! The deflate of this crate against two others, over levels, sizes, shapes and cuts.

use zipstream::deflate::Compressor;
use zlib_rs::{Inflate, InflateFlush, Status};

use crate::data::{self, Random};

/// Content as the readers of libdeflate and zlib-rs both see it.
fn inflated(stream: &[u8], bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    let found = libdeflater::Decompressor::new().deflate_decompress(stream, &mut out);
    assert_eq!(found.expect("libdeflate reads it"), bytes);
    let mut other = vec![0; bytes + 1];
    let mut inflate = Inflate::new(false, 15);
    let status = inflate
        .decompress(stream, &mut other, InflateFlush::Finish)
        .expect("zlib-rs reads it");
    assert_eq!(status, Status::StreamEnd);
    assert_eq!(inflate.total_in(), stream.len() as u64);
    assert_eq!(other[..inflate.total_out() as usize], out);
    out
}

fn check(compressor: &mut Compressor, content: &[u8], what: &str) -> usize {
    let mut stream = Vec::new();
    compressor.compress(content, 0, true, &mut stream);
    assert!(stream.len() as u64 <= Compressor::bound(content.len() as u64));
    let level = compressor.level();
    assert!(
        inflated(&stream, content.len()) == content,
        "{what}, {} bytes, level {level}",
        content.len()
    );
    stream.len()
}

fn noise(bytes: usize) -> Vec<u8> {
    data::noise(0x1234_5678_9abc_def1, bytes)
}

fn text(bytes: usize) -> Vec<u8> {
    data::words(99, 500, bytes)
}

/// Stretches of each kind, so that blocks of each kind follow each other.
fn mixture(bytes: usize) -> Vec<u8> {
    let (words, noise) = (text(bytes), noise(bytes));
    let mut random = Random(7);
    let mut out = Vec::new();
    while out.len() < bytes {
        let stretch = 1 + random.next(30_000);
        let at = random.next(bytes - stretch.min(bytes - 1));
        let end = (at + stretch).min(bytes);
        match random.next(4) {
            0 => out.extend_from_slice(&words[at..end]),
            1 => out.extend_from_slice(&noise[at..end]),
            2 => out.resize(out.len() + stretch, random.next(256) as u8),
            _ => out.extend(words[at..end].iter().map(|byte| byte & 3)),
        }
    }
    out.truncate(bytes);
    out
}

#[test]
fn small_contents_of_every_size() {
    let (words, noise) = (text(1200), noise(1200));
    for level in 0..=10 {
        let mut compressor = Compressor::new(level);
        for bytes in (0..300).chain((300..1200).step_by(37)) {
            check(&mut compressor, &words[..bytes], "text");
            check(&mut compressor, &noise[..bytes], "noise");
            check(&mut compressor, &vec![b'x'; bytes], "run");
        }
    }
}

#[test]
fn contents_about_the_sizes_that_matter() {
    let (words, noise, mixture) = (text(1 << 20), noise(1 << 20), mixture(1 << 20));
    for level in [1, 2, 4, 6, 9] {
        let mut compressor = Compressor::new(level);
        for size in [32 << 10, 64 << 10, 70_000, 256 << 10, (1 << 20) - 9] {
            for bytes in [size - 1, size, size + 7] {
                check(&mut compressor, &words[..bytes], "text");
                check(&mut compressor, &mixture[..bytes], "mixture");
            }
            let packed = check(&mut compressor, &noise[..size], "noise");
            assert!(packed <= size + 5 * size.div_ceil(65_535), "stored");
            let packed = check(&mut compressor, &vec![0; size], "run");
            assert!(packed < 100 + size / 400, "level {level}: {packed}");
        }
    }
}

#[test]
fn periods_of_every_length() {
    let noise = noise(33_000);
    let mut compressors = [Compressor::new(1), Compressor::new(2), Compressor::new(6)];
    let near = (1..260).chain((260..32_768).step_by(1237));
    for period in near.chain(32_760..=32_770) {
        let content: Vec<u8> = noise[..period]
            .iter()
            .copied()
            .cycle()
            .take(period + 700)
            .collect();
        let long: Vec<u8> = noise[..period]
            .iter()
            .copied()
            .cycle()
            .take(90_000)
            .collect();
        for compressor in &mut compressors {
            check(compressor, &content, "period");
            let packed = check(compressor, &long, "long period");
            if compressor.level() > 1 && period <= 32_768 {
                assert!(
                    packed < period + period / 20 + 700,
                    "period {period}: {packed}"
                );
            }
        }
    }
}

#[test]
fn what_stands_before_primes_and_any_cut_reads_as_one_stream() {
    let content = mixture(300_000);
    let mut random = Random(5);
    for level in 0..=10 {
        let mut compressor = Compressor::new(level);
        for _ in 0..4 {
            let mut stream = Vec::new();
            let mut at = 0;
            while at < content.len() {
                let end = (at + random.next(100_000)).min(content.len());
                compressor.compress(&content[..end], at, end == content.len(), &mut stream);
                at = end;
            }
            assert!(inflated(&stream, content.len()) == content, "level {level}");
        }
    }
    let mut compressor = Compressor::new(6);
    let twice = [noise(30_000), noise(30_000)].concat();
    let mut stream = Vec::new();
    compressor.compress(&twice, 30_000, false, &mut stream);
    assert!(stream.len() < 500, "{}", stream.len());
}

#[test]
fn contents_do_not_depend_on_those_before() {
    let (words, mixture) = (text(200_000), mixture(400_000));
    for level in 1..=10 {
        let pack = |compressor: &mut Compressor, content: &[u8]| {
            let mut stream = Vec::new();
            compressor.compress(content, 0, true, &mut stream);
            stream
        };
        let mut used = Compressor::new(level);
        pack(&mut used, &mixture);
        pack(&mut used, &vec![1; 100_000]);
        let again = pack(&mut used, &words);
        assert!(
            again == pack(&mut Compressor::new(level), &words),
            "level {level}"
        );
    }
}

#[test]
fn levels_weigh_time_against_size() {
    let words = text(400_000);
    let [fast, usual, small] =
        [1, 6, 9].map(|level| check(&mut Compressor::new(level), &words, "text"));
    assert!(fast > usual && usual > small, "{fast}, {usual}, {small}");
    let level = libdeflater::CompressionLvl::new(6).unwrap();
    let mut out = vec![0; words.len()];
    let other = libdeflater::Compressor::new(level)
        .deflate_compress(&words, &mut out)
        .unwrap();
    assert!(usual * 100 <= other * 102, "{usual} and {other}");
}

#[test]
fn short_matches_are_left_where_literals_are_shorter() {
    let mut random = Random(3);
    let digit = |_| b"0123456789abcdef"[random.next(16)];
    let digits: Vec<u8> = (0..200_000).map(digit).collect();
    let packed = check(&mut Compressor::new(6), &digits, "digits");
    // Half of each byte, and little more.
    assert!(packed * 100 < digits.len() * 52, "{packed}");
}

#[test]
fn a_block_that_comes_again_is_found_at_every_level() {
    let picture = noise(20_000);
    let mut copies = Vec::new();
    for nth in 0..30 {
        copies.extend_from_slice(format!("picture {nth}\n").as_bytes());
        copies.extend_from_slice(&picture);
    }
    let repeated: Vec<u8> = picture.iter().copied().cycle().take(600_000).collect();
    for level in 1..=10 {
        let mut compressor = Compressor::new(level);
        for (content, what) in [(&copies, "copies"), (&repeated, "repeated")] {
            let packed = check(&mut compressor, content, what);
            // The block once, and two bytes for each match of 258.
            assert!(packed < 26_000, "{what} at level {level}: {packed}");
        }
    }
}

#[test]
fn a_higher_level_is_not_larger_where_matches_hardly_pay_off() {
    let mut random = Random(11);
    let mut of = |values: usize| -> Vec<u8> {
        let byte = |_| b'0'.wrapping_add(random.next(values) as u8);
        (0..200_000).map(byte).collect()
    };
    // Three bytes far away pay off among many values, none do among few.
    for values in [4, 10, 16, 64, 120, 200] {
        let content = of(values);
        let packed = [1, 2, 3, 6, 7, 9]
            .map(|level| check(&mut Compressor::new(level), &content, "few values"));
        for pair in packed.windows(2) {
            assert!(
                pair[1] * 1000 <= pair[0] * 1003,
                "{values} values: {packed:?}"
            );
        }
        // Of small contents the header is a part that matches make larger.
        for bytes in [1 << 10, 4 << 10] {
            let packed = [1, 2, 3, 6, 7, 9].map(|level| -> usize {
                let mut compressor = Compressor::new(level);
                let pieces = content.chunks_exact(bytes).take(32);
                let sizes = pieces.map(|piece| check(&mut compressor, piece, "a small one"));
                sizes.sum()
            });
            for pair in packed.windows(2) {
                assert!(
                    pair[1] * 1000 <= pair[0] * 1003,
                    "{values} values, {bytes} bytes: {packed:?}"
                );
            }
        }
    }
}

/// Noise of the first letters of an alphabet.
fn letters(count: u8, bytes: usize) -> Vec<u8> {
    let noise = noise(bytes);
    noise.iter().map(|byte| b'A' + byte % count).collect()
}

#[test]
fn a_deep_level_is_the_usual_one_where_it_gains_nothing() {
    let mut random = Random(5);
    let mut at = 1_700_000_000_000_u64;
    let times: Vec<u8> = (0..40_000)
        .flat_map(|_| {
            at += random.next(1 << 24) as u64;
            at.to_le_bytes()
        })
        .collect();
    let words = text(times.len());
    for (content, is_usual) in [(&times, true), (&words, false)] {
        let [usual, deep] = [6, 7].map(|level| {
            let mut stream = Vec::new();
            Compressor::new(level).compress(content, 0, true, &mut stream);
            stream
        });
        assert_eq!(deep == usual, is_usual, "{} bytes", content.len());
        assert!(deep.len() <= usual.len());
    }
}

/// Where most is literals, a way that begins with matches everywhere does not become a short one.
#[test]
fn level_10_is_as_small_as_libdeflate_for_noise_of_few_letters() {
    for count in [4, 10] {
        let content = letters(count, 200_000);
        let packed = check(&mut Compressor::new(10), &content, "letters");
        let level = libdeflater::CompressionLvl::new(9).expect("there is one");
        let mut out = vec![0; content.len()];
        let other = libdeflater::Compressor::new(level).deflate_compress(&content, &mut out);
        let other = other.expect("it has room");
        assert!(
            packed * 1000 <= other * 1006,
            "{count} letters: {packed} and {other}"
        );
    }
}

#[test]
fn literals_alone_are_as_short_as_their_code() {
    // A letter takes four bits, but one of the 16, whose fifth bit tells it from the end of a block. A block
    // header is below 100 bytes.
    let content = letters(16, 300_000);
    for level in 2..=9 {
        let size = check(&mut Compressor::new(level), &content, "16 letters");
        assert!(
            size <= content.len() * 65 / 128 + 2 * 100,
            "level {level}: {size}"
        );
    }
}

#[test]
fn what_comes_again_is_found_in_content_of_literals() {
    // After 200 KB without a match comes what stood 20,000 bytes before, then text.
    let mut content = letters(16, 200_000);
    let tail = content[180_000..].to_vec();
    (0..10).for_each(|_| content.extend_from_slice(&tail));
    let before = content.len();
    content.extend(text(200_000));
    for level in 2..=9 {
        let mut compressor = Compressor::new(level);
        let noise = check(&mut compressor, &content[..before], "repeated noise");
        assert!(noise < 108_000, "level {level}: {noise}");
        let alone = check(&mut compressor, &content[before..], "text alone");
        let all = check(&mut compressor, &content, "repeated noise and text");
        // Until the change is seen, one stretch of 12 KiB goes by.
        assert!(all < noise + alone + 8_000, "level {level}: {all}");
    }
}

#[test]
fn a_long_repetition_is_found_where_it_begins() {
    let picture = noise(20_000);
    let content: Vec<u8> = (0..40)
        .flat_map(|nth: u32| [format!("picture {nth}").as_bytes(), &picture[..]].concat())
        .collect();
    for level in 1..=10 {
        let size = check(&mut Compressor::new(level), &content, "pictures");
        assert!(size < 20_000 + 40 * 350, "level {level}: {size}");
    }
}

/// Kinds of content that have made a level larger than a lower one.
fn kinds(bytes: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mut random = Random(20_261_128);
    let mut filled = |append: &mut dyn FnMut(&mut Random, &mut Vec<u8>)| {
        let mut out = Vec::with_capacity(bytes + 64);
        while out.len() < bytes {
            append(&mut random, &mut out);
        }
        out.truncate(bytes);
        out
    };
    let mut letters =
        |count: usize| filled(&mut |random, out| out.push(b'0' + random.next(count) as u8));
    let (two, ten, forty) = (letters(2), letters(10), letters(40));
    let sparse = filled(&mut |random, out| {
        let most = 1 + random.next(400);
        out.resize(out.len() + 1 + random.next(most), 0);
        out.extend((0..=random.next(3)).map(|_| random.next(256) as u8));
    });
    let mut at = 0_u64;
    let numbered = filled(&mut |random, out| {
        out.extend_from_slice(format!("{at:08x}  ").as_bytes());
        at += 16;
        for _ in 0..16 {
            out.extend_from_slice(format!("{:02x} ", random.next(40)).as_bytes());
        }
        out.push(b'\n');
    });
    let wide = text(bytes.div_ceil(2));
    let wide = wide.into_iter().flat_map(|byte| [byte, 0]);
    vec![
        ("text", text(bytes)),
        ("text in two bytes", wide.take(bytes).collect()),
        ("two letters", two),
        ("ten letters", ten),
        ("forty letters", forty),
        ("zeros and numbers", sparse),
        ("numbered lines", numbered),
    ]
}

/// Records in lines, most of which is the same in many of the last ones.
fn orders(bytes: usize) -> Vec<u8> {
    let mut random = Random(7003);
    let mut out = Vec::with_capacity(bytes + 200);
    while out.len() < bytes {
        let state = ["open", "shipped", "returned", "paid"][random.next(4)];
        let name = ["Carl Dahl", "Rosa Stein", "Otto Peters", "Maria Novak"][random.next(4)];
        let id = 7000 + out.len() / 100;
        let (count, euros, cents) = (1 + random.next(5), random.next(300), random.next(100));
        out.extend_from_slice(
            format!(
                "  <order id=\"{id}\" state=\"{state}\">\n    <customer>{name}</customer>\n    \
                 <item count=\"{count}\" price=\"{euros}.{cents:02}\"/>\n  </order>\n"
            )
            .as_bytes(),
        );
    }
    out.truncate(bytes);
    out
}

/// Three bytes for a pixel, which change slowly, and noise.
fn pixels(bytes: usize) -> Vec<u8> {
    let mut random = Random(640);
    let value = |at: usize| {
        let (pixel, color) = (at / 3, at % 3);
        let (x, y) = ((pixel % 640) as f64, (pixel / 640) as f64);
        let wave = 60.0 * (x * [0.011, 0.017, 0.007][color] + y * 0.009).sin();
        let noise = (0..4).map(|_| random.next(600)).sum::<usize>() as f64 / 100.0 - 12.0;
        (100.0 + wave + noise / 2.0) as u8
    };
    (0..bytes).map(value).collect()
}

/// Times in eight bytes, of which the upper five are seldom others than the ones before.
fn times(bytes: usize) -> Vec<u8> {
    let mut random = Random(1_790);
    let mut at = 1_790_000_000_000_000_u64;
    let time = |_| {
        let most = 1 + random.next(2000);
        at += 1000 * (1 + random.next(most)) as u64;
        at.to_le_bytes()
    };
    (0..bytes / 8).flat_map(time).collect()
}

#[test]
fn usual_levels_find_what_a_chain_finds() {
    let bytes = 256 << 10;
    for (kind, content, other) in [
        ("orders", orders(bytes), 5),
        ("pixels", pixels(bytes), 5),
        ("times", times(bytes), 1),
    ] {
        let level = libdeflater::CompressionLvl::new(other).expect("there is one");
        let mut out = vec![0; content.len()];
        let least = libdeflater::Compressor::new(level).deflate_compress(&content, &mut out);
        let least = least.expect("it has room");
        for level in [5, 6] {
            let packed = check(&mut Compressor::new(level), &content, kind);
            assert!(
                packed <= least + least / 500,
                "{kind} at level {level}: {packed}, libdeflate {least}"
            );
        }
    }
}

#[test]
fn a_run_is_one_match_behind_one_literal() {
    // Zeros, of which a few numbers part the runs: the end of the run before is no better match than the run.
    let mut random = Random(57);
    let mut content = Vec::new();
    while content.len() < 16 << 10 {
        content.resize(content.len() + 90 + random.next(100), 0);
        content.extend((0..2).map(|_| 1 + random.next(255) as u8));
    }
    let runs = content.len() / 142;
    for level in 2..=6 {
        let packed = check(&mut Compressor::new(level), &content, "runs");
        // Two numbers and the first zero, and a match with its distance.
        assert!(packed * 8 < runs * 38, "level {level}: {packed} for {runs}");
    }
}

#[test]
fn no_level_is_larger_than_a_lower_one() {
    for bytes in [1 << 10, 16 << 10, 200_000] {
        for (kind, content) in kinds(bytes) {
            let mut least = (usize::MAX, 0);
            for level in [1, 3, 5, 6, 9, 10] {
                let mut stream = Vec::new();
                Compressor::new(level).compress(&content, 0, true, &mut stream);
                // Within two thousandths, and a few bytes of small contents.
                let most = least.0.saturating_add(least.0 / 500 + 8);
                assert!(
                    stream.len() <= most,
                    "{kind}, {bytes} bytes: {} at level {level}, {} at {}",
                    stream.len(),
                    least.0,
                    least.1
                );
                least = least.min((stream.len(), level));
            }
        }
    }
}
