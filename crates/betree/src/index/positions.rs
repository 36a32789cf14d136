//! Scalars as positions in the order of their type.

/// The sign of a float.
const SIGN: u64 = 1 << 63;

/// The position of a scalar in the order of its type. Positions of floats have no gaps: both zeros are 0 and
/// negative numbers go down from there, so neighbouring positions are neighbouring numbers.
pub(crate) fn ordered(scalar: u64, is_float: bool) -> i64 {
    if !is_float {
        return scalar as i64;
    }
    let size = (scalar & !SIGN) as i64;
    match scalar & SIGN {
        0 => size,
        _ => -size,
    }
}

/// The scalar at a position; positive zero for 0. No float has the position `i64::MIN`.
pub(crate) fn scalar(ordered: i64, is_float: bool) -> u64 {
    match (is_float, ordered) {
        (true, ..0) => ordered.unsigned_abs() | SIGN,
        _ => ordered as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_keep_their_order_and_their_neighbours() {
        let values = [
            f64::NEG_INFINITY,
            f64::MIN,
            -2.5,
            -f64::MIN_POSITIVE,
            -5e-324,
            0.0,
            5e-324,
            f64::MIN_POSITIVE,
            3.0,
            f64::MAX,
            f64::INFINITY,
        ];
        let places = values.map(|value| ordered(value.to_bits(), true));
        assert!(places.is_sorted_by(|a, b| a < b));
        assert_eq!(ordered((-0.0f64).to_bits(), true), 0);
        for (value, place) in values.into_iter().zip(places) {
            let at = |place| f64::from_bits(scalar(place, true));
            assert_eq!(at(place), value);
            if value.is_finite() {
                assert_eq!(
                    (at(place - 1), at(place + 1)),
                    (value.next_down(), value.next_up())
                );
            }
        }
        for value in [i64::MIN, -1, 0, 7, i64::MAX] {
            assert_eq!(ordered(value as u64, false), value);
            assert_eq!(scalar(value, false), value as u64);
        }
    }
}
