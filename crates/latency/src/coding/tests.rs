//! Histograms coded and read again, and damaged bytes.

use proptest::prelude::*;

use super::*;

fn plain_header(digits: u32, low: u64, high: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = COOKIE_V2.to_be_bytes().to_vec();
    bytes.extend((payload.len() as u32).to_be_bytes());
    bytes.extend(0u32.to_be_bytes());
    bytes.extend(digits.to_be_bytes());
    bytes.extend(low.to_be_bytes());
    bytes.extend(high.to_be_bytes());
    bytes.extend(1f64.to_be_bytes());
    bytes.extend(payload);
    bytes
}

#[test]
fn huge_headers_are_refused_before_any_allocation() {
    let lying = {
        let mut bytes = plain_header(3, 1, 1000, &[]);
        bytes[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        bytes
    };
    assert!(decode(&lying).is_err());
    let error = decode(&plain_header(5, 1, u64::MAX, &[])).unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::TooLarge);
    assert!(decode(&plain_header(6, 1, 1000, &[])).is_err());
    assert!(decode(&plain_header(3, 0, 1000, &[])).is_err());
    assert!(decode(&plain_header(3, u64::MAX, u64::MAX, &[])).is_err());
    assert!(decode(&plain_header(3, 1, 1, &[])).is_err());
}

#[test]
fn counts_that_would_overflow_are_refused() {
    // Zig-zag of i64::MIN: its negation panics in a checked build.
    assert!(decode(&plain_header(3, 1, 1000, &[0xff; 9])).is_err());
    // i64::MAX twice.
    let most = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    assert!(decode(&plain_header(3, 1, 1000, &most)).is_ok());
    assert!(decode(&plain_header(3, 1, 1000, &[most, most].concat())).is_err());
}

#[test]
fn small_histograms_are_stored_and_large_ones_packed() {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 1 << 40, 3).unwrap();
    for step in [1, 200, 3000] {
        for value in 0..step {
            histogram.record(value * 977).unwrap();
        }
        let bytes = encode_deflate(&histogram).unwrap();
        let mut plain = Vec::new();
        assert!(encode_plain(&histogram, &mut plain));
        let is_stored = bytes[8..10] == [0x78, 0x01];
        assert_eq!(is_stored, plain.len() <= usize::from(STORED_BYTES_MAX));
        // The decoder checks the checksum.
        assert_eq!(decode(&bytes).unwrap(), histogram);
    }
    assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
}

#[test]
fn counts_len_is_the_crates() {
    for digits in 0..=4 {
        for low in [1, 2, 7, 1000, 4096] {
            for high in [2 * low, 3 * low, 1 << 20, 3_600_000_000_000, u64::MAX] {
                let Ok(histogram) = Histogram::<u64>::new_with_bounds(low, high, digits) else {
                    continue;
                };
                let expected = histogram.distinct_values() as u64;
                assert_eq!(counts_len(low, high, u32::from(digits)), expected);
            }
        }
    }
}

proptest! {
    #[test]
    fn round_trips(values in prop::collection::vec(0u64..4_000_000_000_000, 0..400)) {
        let mut histogram =
            Histogram::<u64>::new_with_bounds(1, 4_000_000_000_000, 3).unwrap();
        for value in &values {
            histogram.record(*value).unwrap();
        }
        let text = encode_base64(&histogram);
        prop_assert_eq!(&decode_base64(&text).unwrap(), &histogram);
        let mut plain = Vec::new();
        prop_assert!(encode_plain(&histogram, &mut plain));
        prop_assert_eq!(&decode(&plain).unwrap(), &histogram);
    }

    #[test]
    fn hostile_payloads_never_panic(
        digits in 0u32..8, low: u64, high: u64, payload: Vec<u8>, small: bool,
    ) {
        let (low, high) = if small { (low % 4096, high % (1 << 40)) } else { (low, high) };
        if let Ok(histogram) = decode(&plain_header(digits, low, high, &payload)) {
            // Reading from it must be safe too.
            let _ = histogram.value_at_quantile(0.5);
            let _ = (histogram.mean(), histogram.stdev(), histogram.max());
            let _ = encode_base64(&histogram);
        }
    }

    #[test]
    fn flipped_bytes_never_panic(
        values in prop::collection::vec(0u64..1_000_000, 1..50),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 1_000_000, 3).unwrap();
        for value in &values {
            histogram.record(*value).unwrap();
        }
        let mut bytes = encode_deflate(&histogram).unwrap();
        for (at, with) in flips {
            let at = at.index(bytes.len());
            bytes[at] = with;
        }
        let _ = decode(&bytes);
    }
}
