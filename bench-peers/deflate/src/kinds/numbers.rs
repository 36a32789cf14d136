//! Kinds of numbers in binary.

use super::{Random, filled};

pub(super) fn int32_ids(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut id = 1_000_000_u32;
    filled(bytes, |out| {
        id = id.wrapping_add(1 + random.skewed(300) as u32);
        out.extend_from_slice(&id.to_le_bytes());
    })
}

pub(super) fn int64_times(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut time = 1_790_000_000_000_000_u64;
    filled(bytes, |out| {
        time += 1_000 * (1 + random.skewed(2_000) as u64);
        out.extend_from_slice(&time.to_le_bytes());
    })
}

pub(super) fn doubles(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut value = 100.0_f64;
    filled(bytes, |out| {
        value += random.bell();
        out.extend_from_slice(&value.to_le_bytes());
    })
}

/// Prices with two digits behind the point.
pub(super) fn floats(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut cents = 10_000_i64;
    filled(bytes, |out| {
        cents = (cents + (random.bell() * 40.0) as i64).clamp(100, 1_000_000);
        out.extend_from_slice(&(cents as f32 / 100.0).to_le_bytes());
    })
}

pub(super) fn column_int16(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    filled(bytes, |out| {
        let value = (random.bell() * 400.0) as i16;
        out.extend_from_slice(&value.to_le_bytes());
    })
}

/// Two channels of 16 bits: waves and noise.
pub(super) fn pcm(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut at = 0.0_f64;
    filled(bytes, |out| {
        at += 1.0;
        for phase in [0.0, 0.7] {
            let wave = (at * 0.031 + phase).sin() * 6000.0 + (at * 0.0071).sin() * 9000.0;
            let sample = (wave + random.bell() * 300.0) as i16;
            out.extend_from_slice(&sample.to_le_bytes());
        }
    })
}

const WIDTH: usize = 640;

/// Three bytes for a pixel: slow changes and noise.
pub(super) fn rgb(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut at = 0;
    filled(bytes, |out| {
        let (x, y) = ((at % WIDTH) as f64, (at / WIDTH) as f64);
        at += 1;
        for (slope, start) in [(0.011, 90.0), (0.017, 120.0), (0.007, 60.0)] {
            let value = start + 60.0 * (x * slope + y * 0.009).sin() + random.bell() * 6.0;
            out.push(value as u8);
        }
    })
}

/// Areas of one shade with sharp edges, as screens have them.
pub(super) fn gray(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut above = vec![200_u8; WIDTH];
    filled(bytes, |out| {
        if random.below(6) == 0 {
            let from = random.below(WIDTH);
            let to = (from + random.below(120)).min(WIDTH);
            above[from..to].fill(random.below(256) as u8);
        }
        out.extend_from_slice(&above);
    })
}

/// Fields with tags and lengths, as protocol buffers have them.
pub(super) fn records(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut id = 1_u64 << 34;
    filled(bytes, |out| {
        id += 1 + random.skewed(50) as u64;
        out.push(0x08);
        put_varint(out, id);
        out.push(0x12);
        let name = random.pick(&["temperature", "humidity", "pressure", "wind", "battery"]);
        out.push(name.len() as u8);
        out.extend_from_slice(name.as_bytes());
        out.push(0x19);
        let value = (200.0 + random.bell() * 50.0).round() / 10.0;
        out.extend_from_slice(&value.to_le_bytes());
        out.push(0x20);
        put_varint(out, random.skewed(5_000) as u64);
        if random.below(4) == 0 {
            out.extend_from_slice(&[0x2a, 4]);
            out.extend_from_slice(&(random.next() as u32).to_le_bytes());
        }
    })
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Zeros, with a few numbers here and there.
pub(super) fn sparse_zeros(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    filled(bytes, |out| {
        out.resize(out.len() + 1 + random.skewed(400), 0);
        let numbers = 1 + random.below(3);
        out.extend((0..numbers).map(|_| random.next() as u8));
    })
}
