//! Quantiles of the binomial distribution, for exact order-statistic intervals.
//!
//! The mass at one point comes from Loader's saddle-point form, which keeps full precision for any
//! n; the tail is summed from there by exact ratios until further terms are negligible. A sum takes
//! about nine standard deviations of terms: 140,000 at the median of 10⁹ values, under a
//! millisecond. Beyond [`EXACT_N_MAX`] the normal quantile with its skewness correction is off by
//! about one rank; the result is widened by more than that.

/// Greatest n for which tails are summed term by term.
pub(crate) const EXACT_N_MAX: u64 = 1_000_000_000_000;

/// The greatest k with P(B ≤ k) ≤ `alpha`, B ~ Bin(n, p), q = 1 − p; `None` when even k = 0 has more.
///
/// The caller passes `q` because it can compute it without cancellation.
pub(crate) fn lower_quantile(n: u64, p: f64, q: f64, alpha: f64) -> Option<u64> {
    if n == 0 || alpha.is_nan() || alpha <= 0.0 {
        return None;
    }
    if alpha >= 1.0 {
        return Some(n);
    }
    let (size, z) = (n as f64, normal_quantile(alpha));
    let deviation = (size * p * q).sqrt();
    let guess = size * p + z * deviation + (z * z - 1.0) * (1.0 - 2.0 * p) / 6.0 - 0.5;
    if n > EXACT_N_MAX {
        let margin = 2.0 + z * z;
        let k = (guess - margin).floor();
        return (k >= 0.0).then_some(k as u64);
    }
    let mut k = guess.clamp(0.0, size - 1.0) as u64;
    let odds = p / q;
    let mut mass = mass(n, k, p, q);
    let mut sum = tail(n, k, mass, odds);
    // Down while the tail is too heavy …
    while sum > alpha {
        if k == 0 {
            return None;
        }
        mass *= k as f64 / ((n - k + 1) as f64 * odds);
        k -= 1;
        sum = tail(n, k, mass, odds);
    }
    // … or up while the next point still fits.
    while k < n {
        let next = mass * (n - k) as f64 * odds / (k + 1) as f64;
        if sum + next > alpha {
            break;
        }
        sum += next;
        mass = next;
        k += 1;
    }
    Some(k)
}

/// Sum of the masses at k, k − 1, …, 0, given the one at k.
fn tail(n: u64, k: u64, mass: f64, odds: f64) -> f64 {
    let (mut sum, mut term) = (mass, mass);
    for at in (1..=k).rev() {
        term *= at as f64 / ((n - at + 1) as f64 * odds);
        sum += term;
        // Past the mode the terms fall faster than geometrically, so the rest is below this one
        // times a few deviations.
        if term < sum * 1e-20 {
            break;
        }
    }
    sum
}

/// P(B = k) in Loader's saddle-point form.
fn mass(n: u64, k: u64, p: f64, q: f64) -> f64 {
    let (size, at, rest) = (n as f64, k as f64, (n - k) as f64);
    if k == 0 {
        return (size * (-p).ln_1p()).exp();
    }
    if k == n {
        return (size * (-q).ln_1p()).exp();
    }
    let exponent = stirling_error(n)
        - stirling_error(k)
        - stirling_error(n - k)
        - deviance(at, size * p)
        - deviance(rest, size * q);
    exponent.exp() * (size / (std::f64::consts::TAU * at * rest)).sqrt()
}

/// ln n! less Stirling's formula √(2πn) (n/e)ⁿ.
fn stirling_error(n: u64) -> f64 {
    let x = n as f64;
    if n <= 15 {
        let factorial: f64 = (1..=n).map(|i| i as f64).product();
        if n == 0 {
            return 0.0;
        }
        return factorial.ln() - 0.5 * (std::f64::consts::TAU * x).ln() - x * x.ln() + x;
    }
    let square = x * x;
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / square) / square) / square)
            / square)
        / x
}

/// x ln(x/mean) + mean − x, without cancellation where x is near the mean.
fn deviance(x: f64, mean: f64) -> f64 {
    if (x - mean).abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() + mean - x;
    }
    let v = (x - mean) / (x + mean);
    let mut sum = (x - mean) * v;
    let mut power = 2.0 * x * v;
    for j in 1..200u32 {
        power *= v * v;
        let next = sum + power / f64::from(2 * j + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// The standard normal quantile, by Acklam's rational approximation (relative error 1.2 · 10⁻⁹).
pub(crate) fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
    ];
    const LOW: f64 = 0.024_25;
    let horner = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    let far = |r: f64| {
        let x = (-2.0 * r.ln()).sqrt();
        horner(&C, x) / (horner(&D, x) * x + 1.0)
    };
    if p <= 0.0 {
        f64::NEG_INFINITY
    } else if p >= 1.0 {
        f64::INFINITY
    } else if p < LOW {
        far(p)
    } else if p > 1.0 - LOW {
        -far(1.0 - p)
    } else {
        let x = p - 0.5;
        let square = x * x;
        horner(&A, square) * x / (horner(&B, square) * square + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(B ≤ k) by Pascal's rule: slow, and nothing to get wrong.
    fn distribution(n: usize, p: f64) -> Vec<f64> {
        let mut row = vec![1.0];
        for _ in 0..n {
            let mut next = vec![0.0; row.len() + 1];
            for (k, mass) in row.iter().enumerate() {
                next[k] += mass * (1.0 - p);
                next[k + 1] += mass * p;
            }
            row = next;
        }
        row
    }

    #[test]
    fn mass_is_exact_for_small_n() {
        for n in [1u64, 2, 7, 30, 299] {
            for p in [0.01, 0.3, 0.5, 0.9, 0.999] {
                for (k, expected) in distribution(n as usize, p).into_iter().enumerate() {
                    let found = mass(n, k as u64, p, 1.0 - p);
                    assert!(
                        (found - expected).abs() <= 1e-11 * expected + 1e-300,
                        "{n} {p} {k}"
                    );
                }
            }
        }
    }

    #[test]
    fn quantile_is_the_brute_force_one() {
        for n in [1u64, 2, 5, 6, 10, 58, 299, 400] {
            for p in [0.1, 0.5, 0.9, 0.99] {
                let row = distribution(n as usize, p);
                for alpha in [0.000_01, 0.01, 0.024_99, 0.3, 0.7] {
                    let mut sum = 0.0;
                    let expected = row
                        .iter()
                        .map(|mass| {
                            sum += mass;
                            sum
                        })
                        .take_while(|sum| *sum <= alpha)
                        .count();
                    let expected = expected.checked_sub(1).map(|k| k as u64);
                    assert_eq!(
                        lower_quantile(n, p, 1.0 - p, alpha),
                        expected,
                        "{n} {p} {alpha}"
                    );
                }
            }
        }
    }

    #[test]
    fn quantile_is_the_one_of_exact_rationals() {
        // Summed in integers of any size by another program.
        assert_eq!(lower_quantile(100_000, 0.5, 0.5, 0.025), Some(49_689));
        assert_eq!(lower_quantile(20_000, 0.9, 0.1, 0.025), Some(17_915));
        assert_eq!(lower_quantile(30_000, 0.01, 0.99, 0.025), Some(266));
        assert_eq!(lower_quantile(30_000, 0.000_1, 0.999_9, 0.025), None);
    }

    #[test]
    fn large_n_agrees_with_the_normal_form_and_is_quick() {
        let started = std::time::Instant::now();
        for (n, p) in [
            (1_000_000_000u64, 0.5),
            (1_000_000_000, 0.999),
            (EXACT_N_MAX, 0.9999),
        ] {
            let k = lower_quantile(n, p, 1.0 - p, 0.025).unwrap();
            let (size, z) = (n as f64, -1.959_963_984_540_054f64);
            let normal = size * p + z * (size * p * (1.0 - p)).sqrt();
            assert!(
                (k as f64 - normal).abs() < 3.0 + size * 1e-15,
                "{n} {p} {k} {normal}"
            );
        }
        assert!(lower_quantile(u64::MAX, 0.5, 0.5, 0.025).is_some());
        assert!(started.elapsed().as_secs() < 20);
    }

    #[test]
    fn normal_quantile_at_known_points() {
        for (p, z) in [
            (0.025, -1.959_963_985),
            (0.5, 0.0),
            (0.975, 1.959_963_985),
            (0.001, -3.090_232_306),
        ] {
            assert!((normal_quantile(p) - z).abs() < 1e-7);
        }
    }
}
