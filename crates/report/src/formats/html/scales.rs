//! Axes: where a value is, and which values have a label.

/// What lies between the ends of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Linear,
    Log,
}

/// An axis from one pixel to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    kind: Kind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// Labels of an axis at most.
const TICKS_MAX: usize = 9;
/// Fewer labels than this say too little, where there could be more.
const TICKS_MIN: usize = 4;
/// Multiples of a power of ten that have labels, the fewest first.
const STEPS: [&[f64]; 4] = [
    &[1.0],
    &[1.0, 3.0],
    &[1.0, 2.0, 5.0],
    &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
];

impl Axis {
    /// A linear axis of these values over these pixels.
    pub(super) fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self {
            kind: Kind::Linear,
            low,
            high,
            from,
            to,
        }
    }

    /// A logarithmic axis with a little room around these values, which are above 0.
    pub(super) fn log(low: f64, high: f64, from: f64, to: f64) -> Self {
        let low = low.max(f64::MIN_POSITIVE);
        let high = high.max(low);
        // A single value stands in the middle.
        let room = ((high / low).ln() * 0.05).max(0.05).exp();
        Self {
            kind: Kind::Log,
            low: low / room,
            high: high * room,
            from,
            to,
        }
    }

    /// The pixel of a value; one beyond an end is at that end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = match self.kind {
            Kind::Linear => (value - self.low) / (self.high - self.low),
            Kind::Log => {
                let value = value.max(f64::MIN_POSITIVE);
                (value / self.low).ln() / (self.high / self.low).ln()
            }
        };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// The values that have labels, ascending: round ones, few enough to be read.
    pub(super) fn ticks(&self) -> Vec<f64> {
        match self.kind {
            Kind::Linear => self.round(),
            Kind::Log => {
                let sets = STEPS.iter().map(|steps| self.powers(steps));
                let fit: Vec<Vec<f64>> = sets.filter(|set| set.len() <= TICKS_MAX).collect();
                let most = fit.into_iter().max_by_key(Vec::len).unwrap_or_default();
                let wide = self.high / self.low > 10.0;
                match most.len() {
                    // Many powers of ten: every second, third … one.
                    0 if wide => self.sparse(),
                    found if found < TICKS_MIN && !wide => self.round(),
                    _ => most,
                }
            }
        }
    }

    /// Values at equal, round distances.
    fn round(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / (TICKS_MAX as f64 - 2.0);
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0];
        let step = steps.iter().find(|step| *step * power >= rough);
        let step = step.unwrap_or(&10.0) * power;
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        let last = last.min(first.saturating_add(TICKS_MAX as i64));
        (first..=last).map(|nth| nth as f64 * step).collect()
    }

    /// Multiples of powers of ten.
    fn powers(&self, steps: &[f64]) -> Vec<f64> {
        let (first, last) = self.decades();
        let all = (first..=last).flat_map(|power| {
            let ten = 10_f64.powi(power);
            steps.iter().map(move |step| step * ten)
        });
        all.filter(|value| (self.low..=self.high).contains(value))
            .collect()
    }

    /// Powers of ten that are far enough apart.
    fn sparse(&self) -> Vec<f64> {
        let (first, last) = self.decades();
        let apart = (last - first) / TICKS_MAX as i32 + 1;
        let powers = (first..=last).filter(|power| power % apart == 0);
        let values = powers.map(|power| 10_f64.powi(power));
        values
            .filter(|value| (self.low..=self.high).contains(value))
            .collect()
    }

    fn decades(&self) -> (i32, i32) {
        let power = |value: f64| value.log10().clamp(-300.0, 300.0);
        (
            power(self.low).floor() as i32,
            power(self.high).ceil() as i32,
        )
    }
}

/// The axis of quantiles: equal distances for 90, 99, 99.9 %, and so on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nines {
    /// How many nines fit.
    most: f64,
    from: f64,
    to: f64,
}

impl Nines {
    /// An axis for samples with at most this number of values.
    pub(super) fn new(n: u64, from: f64, to: f64) -> Self {
        Self {
            most: (n.max(10) as f64).log10(),
            from,
            to,
        }
    }

    /// The pixel of a quantile, by how much of 1 is beyond it.
    pub(super) fn at(&self, beyond: f64) -> f64 {
        let nines = -beyond.max(f64::MIN_POSITIVE).log10();
        let share = (nines / self.most).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// Percentiles with a label, each with what is beyond it.
    pub(super) fn ticks(&self) -> Vec<(String, f64)> {
        let mut ticks = vec![("0".to_owned(), 1.0), ("50".to_owned(), 0.5)];
        for nines in 1..=self.most.floor() as usize {
            let label = match nines {
                1 => "90".to_owned(),
                2 => "99".to_owned(),
                nines => format!("99.{}", "9".repeat(nines - 2)),
            };
            ticks.push((label, 10_f64.powi(-(nines as i32))));
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_few_and_within_the_axis() {
        for (low, high) in [
            (1.0, 1.0),
            (10.0, 12.0),
            (990.0, 1_010.0),
            (20.0, 3e4),
            (1.0, 3.6e12),
            (1e-3, 1.8e19),
            (5e5, 5e5 + 1.0),
        ] {
            for axis in [
                Axis::log(low, high, 0.0, 300.0),
                Axis::linear(low, high, 300.0, 0.0),
            ] {
                let ticks = axis.ticks();
                assert!(
                    (2..=TICKS_MAX + 1).contains(&ticks.len()),
                    "{axis:?}: {ticks:?}"
                );
                assert!(ticks.is_sorted(), "{ticks:?}");
                for tick in ticks {
                    let room = 1e-6 * (axis.high - axis.low);
                    let within = axis.low - room..=axis.high + room;
                    assert!(within.contains(&tick), "{axis:?}: {tick}");
                }
            }
        }
    }

    #[test]
    fn values_are_where_they_belong() {
        let axis = Axis::log(1e3, 1e5, 0.0, 100.0);
        assert!(axis.at(1e4) > 49.0 && axis.at(1e4) < 51.0);
        assert_eq!((axis.at(0.0), axis.at(f64::MAX)), (0.0, 100.0));
        let axis = Axis::linear(-0.5, 0.5, 0.0, 100.0);
        assert_eq!(axis.at(0.0), 50.0);
        let nines = Nines::new(10_000, 0.0, 400.0);
        assert_eq!(nines.at(1.0), 0.0);
        assert!((nines.at(0.01) - 200.0).abs() < 1e-9);
        assert_eq!(nines.at(0.0), 400.0);
        let labels: Vec<String> = nines.ticks().into_iter().map(|tick| tick.0).collect();
        assert_eq!(labels, ["0", "50", "90", "99", "99.9", "99.99"]);
    }
}
