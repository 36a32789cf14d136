//! Detects contents for which this crate's deflate has special paths.

/// Smaller contents are not examined.
const LOOK_BYTES: usize = 4 << 10;
/// The longest period, and the bytes that are searched for it.
const PERIOD_MAX: usize = 1 << 10;
const NEEDLE: usize = 32;
/// Sampled bytes, the number of places they come from, and the smallest content for it.
const COUNTED: usize = 4 << 10;
const COUNTED_PLACES: usize = 8;
const COUNTED_OF: usize = 32 << 10;
/// The sum of the squared counts: noise has about 70,000.
const NOISE_MOST: u32 = 78_000;

/// Whether the content is one short repetition, or noise.
pub(crate) fn is_repetition_or_noise(content: &[u8]) -> bool {
    content.len() >= LOOK_BYTES && (repeats(content) || is_noise(content))
}

/// Whether most of the content has the period of its middle.
fn repeats(content: &[u8]) -> bool {
    let middle = content.len() / 2;
    let needle = &content[middle..middle + NEEDLE];
    let before = &content[middle - PERIOD_MAX..middle + NEEDLE - 1];
    let place = before.windows(NEEDLE).rposition(|other| other == needle);
    let Some(place) = place else {
        return false;
    };
    let period = PERIOD_MAX - place;
    let pairs = content[period..].chunks(NEEDLE).zip(content.chunks(NEEDLE));
    let same = pairs.take_while(|(ahead, behind)| ahead == behind).count();
    same * NEEDLE >= content.len() / 4 * 3
}

fn is_noise(content: &[u8]) -> bool {
    if content.len() < COUNTED_OF {
        return false;
    }
    let mut counts = [0_u32; 256];
    for place in 0..COUNTED_PLACES {
        let at = content.len() / COUNTED_PLACES * place;
        for &byte in &content[at..at + COUNTED / COUNTED_PLACES] {
            counts[usize::from(byte)] += 1;
        }
    }
    counts.iter().map(|count| count * count).sum::<u32>() < NOISE_MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let next = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        (0..bytes).map(next).collect()
    }

    #[test]
    fn plain_contents_are_told_from_others() {
        let noise = noise(40_000);
        assert!(is_repetition_or_noise(&noise) && !is_repetition_or_noise(&noise[..20_000]));
        let text: Vec<u8> = noise.iter().map(|byte| b'a' + byte % 26).collect();
        assert!(!is_repetition_or_noise(&text));
        for period in [1, 2, 45, 1000] {
            let line = |bytes| text[..period].iter().copied().cycle().take(bytes);
            assert!(
                is_repetition_or_noise(&line(10_240).collect::<Vec<_>>()),
                "period {period}"
            );
            assert!(!is_repetition_or_noise(
                &line(LOOK_BYTES - 1).collect::<Vec<_>>()
            ));
            let ends: Vec<u8> = line(8_000).chain(text[..8_000].iter().copied()).collect();
            assert!(
                !is_repetition_or_noise(&ends),
                "period {period} up to the middle"
            );
        }
    }
}
