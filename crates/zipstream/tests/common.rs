//! Content that the tests of several faces of readers and writers share.

/// Lines with some noise.
pub(crate) fn sample(seed: u32, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut out = Vec::with_capacity(bytes + 32);
    while out.len() < bytes {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        out.extend_from_slice(format!("line {} of {seed}\n", state % 5000).as_bytes());
    }
    out.truncate(bytes);
    out
}
