//! The Theil–Sen slope of a series: the median of the slopes of all pairs, which is robust against outliers,
//! with its interval by Kendall's statistic.

/// Most points used; of more, every n-th.
const POINTS_MAX: usize = 256;
/// Standard deviations that enclose 95 % of a normal distribution.
const Z_95: f64 = 1.959_964;

/// How fast something grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// The median slope, per unit of the first coordinate.
    pub per_unit: f64,
    /// The interval of the median, about 95 %.
    pub ci95: [f64; 2],
}

/// The slope of points `(x, y)` with ascending `x`; `None` for fewer than three.
///
/// ```
/// let points: Vec<(f64, f64)> = (0..20).map(|x| (f64::from(x), 3.0 * f64::from(x))).collect();
/// let slope = perfkit_stress::theil_sen(&points).unwrap();
/// assert_eq!((slope.per_unit, slope.ci95), (3.0, [3.0, 3.0]));
/// ```
#[must_use]
pub fn theil_sen(points: &[(f64, f64)]) -> Option<Slope> {
    let step = points.len().div_ceil(POINTS_MAX).max(1);
    let points: Vec<(f64, f64)> = points.iter().copied().step_by(step).collect();
    let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
    for (nth, (x, y)) in points.iter().enumerate() {
        let later = points.iter().skip(nth + 1);
        let each = later.map(|(x_later, y_later)| (y_later - y) / (x_later - x));
        slopes.extend(each.filter(|slope| slope.is_finite()));
    }
    if points.len() < 3 || slopes.is_empty() {
        return None;
    }
    slopes.sort_by(f64::total_cmp);
    let (n, count) = (points.len() as f64, slopes.len());
    let spread = Z_95 * (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let low = ((count as f64 - spread) / 2.0).floor().max(0.0) as usize;
    let high = ((count as f64 + spread) / 2.0).ceil() as usize;
    let at = |rank: usize| slopes[rank.min(count - 1)];
    Some(Slope {
        per_unit: (at(count / 2) + at((count - 1) / 2)) / 2.0,
        ci95: [at(low), at(high)],
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_few_outliers_do_not_move_it() {
        let points: Vec<(f64, f64)> = (0..60)
            .map(|x| {
                (
                    f64::from(x),
                    if x % 10 == 0 {
                        1e9
                    } else {
                        5.0 + 2.0 * f64::from(x)
                    },
                )
            })
            .collect();
        let slope = theil_sen(&points).unwrap();
        assert!((slope.per_unit - 2.0).abs() < 0.2, "{slope:?}");
        assert!(slope.ci95[0] <= slope.per_unit && slope.per_unit <= slope.ci95[1]);
    }

    #[test]
    fn too_little_to_say() {
        assert_eq!(theil_sen(&[]), None);
        assert_eq!(theil_sen(&[(0.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(theil_sen(&[(1.0, 1.0); 5]), None, "all at one time");
    }

    #[test]
    fn many_points_are_thinned() {
        let points: Vec<(f64, f64)> = (0..10_000).map(|x| (f64::from(x), f64::from(x))).collect();
        assert_eq!(theil_sen(&points).unwrap().per_unit, 1.0);
    }

    proptest! {
        #[test]
        fn it_lies_in_its_interval(values in prop::collection::vec(-1e6f64..1e6, 3..60)) {
            let points: Vec<_> = values.iter().enumerate().map(|(x, y)| (x as f64, *y)).collect();
            let slope = theil_sen(&points).unwrap();
            prop_assert!(slope.ci95[0] <= slope.per_unit && slope.per_unit <= slope.ci95[1]);
        }
    }
}
