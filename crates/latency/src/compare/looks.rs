//! When a comparison that still runs may be looked at, and how sure each look must be.
//!
//! Looking at data again and again until a verdict appears finds one even where there is none. The remedy is a
//! group-sequential design that spends the error over the looks: until the share `t` of the planned time has
//! passed, at most `α t²` of it (the power family of Kim and DeMets, Biometrika 74, 1987, in the frame of Lan
//! and DeMets, Biometrika 70, 1983). A look gets what it may spend beyond the one before it. The sum of the
//! errors bounds the error of all looks together, whatever the joint distribution is, so that the exact
//! order-statistic intervals stay valid; they are the repeated confidence intervals of Jennison and Turnbull
//! (J. R. Statist. Soc. B 51, 1989).

use super::options::CONFIDENCE;

/// Shares of the time at which there is a look.
const SHARES: [f64; 6] = [1.0 / 32.0, 1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0, 1.0 / 2.0, 1.0];

/// The looks at one comparison. All intervals together hold with 95 % confidence.
///
/// ```
/// use perfkit_latency::compare::Looks;
/// let mut looks = Looks::default();
/// assert_eq!(looks.due(0.01), None);
/// // At a quarter of the time, 1/16 of the 5 % may be spent; the last look has the rest.
/// assert!((looks.due(0.25).unwrap() - (1.0 - 0.05 / 16.0)).abs() < 1e-12);
/// assert_eq!(looks.due(0.3), None);
/// assert!((looks.due(1.5).unwrap() - (1.0 - 0.05 * 15.0 / 16.0)).abs() < 1e-12);
/// assert_eq!(looks.due(2.0), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Looks {
    made: u32,
    spent: f64,
    /// The index of the next look in [`SHARES`].
    next: usize,
}

impl Looks {
    /// The confidence of the intervals, if a look is due once this share of the time has passed. The last look
    /// is due at 1.
    pub fn due(&mut self, share: f64) -> Option<f64> {
        let share = share.min(1.0);
        let passed = SHARES.iter().take_while(|at| **at <= share).count();
        if passed <= self.next {
            return None;
        }
        self.next = passed;
        self.made += 1;
        let may = (1.0 - CONFIDENCE) * share * share;
        let error = may - self.spent;
        self.spent = may;
        Some(1.0 - error)
    }

    /// Looks made.
    #[must_use]
    pub fn made(&self) -> u32 {
        self.made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_all_looks_is_the_error_of_one() {
        for step in [1, 3, 7, 40, 99] {
            let mut looks = Looks::default();
            let shares = (0..=200)
                .step_by(step)
                .map(|percent| f64::from(percent) / 100.0);
            let error: f64 = shares
                .chain([2.0, 3.0])
                .filter_map(|share| looks.due(share))
                .map(|confidence| 1.0 - confidence)
                .sum();
            assert!((error - 0.05).abs() < 1e-9, "{step}: {error}");
            assert!(looks.made() as usize <= SHARES.len());
        }
    }
}
