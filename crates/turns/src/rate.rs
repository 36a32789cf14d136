//! What work costs by its size, learned from the calls before.

/// Less work than this says little: what a call costs in any case outweighs it.
const LEAST_BYTES: u64 = 1 << 10;

/// Nanoseconds for a number of bytes, by what earlier calls took. Reads no clock.
///
/// ```
/// use turns::Rate;
///
/// let mut rate = Rate::new(10_000);
/// assert_eq!(rate.predict_ns(100 << 10), 1_000_000);
/// rate.observe(64 << 10, 128_000);
/// assert_eq!(rate.predict_ns(100 << 10), 800_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    ns_per_kib: u64,
    /// What was assumed at first.
    assumed: u64,
}

impl Rate {
    /// A rate that is assumed until more is known.
    pub const fn new(ns_per_kib: u64) -> Self {
        Self {
            ns_per_kib,
            assumed: ns_per_kib,
        }
    }

    /// How long this many bytes will probably take.
    pub const fn predict_ns(self, bytes: u64) -> u64 {
        if let Some(product) = bytes.checked_mul(self.ns_per_kib) {
            return product / 1024;
        }
        let ns = bytes as u128 * self.ns_per_kib as u128 / 1024;
        if ns > u64::MAX as u128 {
            return u64::MAX;
        }
        ns as u64
    }

    /// The most bytes that will probably take no longer than this.
    pub const fn bytes_within(self, ns: u64) -> u64 {
        if self.ns_per_kib == 0 {
            return u64::MAX;
        }
        // What fits is divided in far less time.
        if ns <= u64::MAX / 1024 {
            return ns * 1024 / self.ns_per_kib;
        }
        let bytes = ns as u128 * 1024 / self.ns_per_kib as u128;
        if bytes > u64::MAX as u128 {
            return u64::MAX;
        }
        bytes as u64
    }

    /// The most bytes that take no longer than this also where they are as hard as was assumed at first, although those before
    /// were easier.
    ///
    /// ```
    /// let mut rate = turns::Rate::new(10_000);
    /// for _ in 0..100 {
    ///     rate.observe(64 << 10, 64_000);
    /// }
    /// assert!(rate.bytes_within(100_000) > 90 << 10);
    /// assert_eq!(rate.surely_within(100_000), 10 << 10);
    /// ```
    pub const fn surely_within(self, ns: u64) -> u64 {
        let hard = if self.ns_per_kib > self.assumed {
            self.ns_per_kib
        } else {
            self.assumed
        };
        Self::new(hard).bytes_within(ns)
    }

    /// Believes a little less in a rate above what was assumed at first, where nothing is tried at it any more.
    pub fn relax(&mut self) {
        let less = self.ns_per_kib - self.ns_per_kib / 32;
        self.ns_per_kib = self.ns_per_kib.min(self.assumed.max(less));
    }

    /// Learns from a call: a quarter of what it says is believed. A call that took more than twice as long as
    /// expected, and as was assumed at first, was probably interrupted, and counts as twice.
    pub fn observe(&mut self, bytes: u64, ns: u64) {
        if bytes < LEAST_BYTES {
            return;
        }
        let per_kib = u128::from(ns) * 1024 / u128::from(bytes);
        let most = self.ns_per_kib.max(self.assumed).saturating_mul(2).max(1);
        let sample = u64::try_from(per_kib).unwrap_or(u64::MAX).min(most);
        let quarter = self.ns_per_kib / 4;
        self.ns_per_kib = (self.ns_per_kib - quarter)
            .saturating_add(sample / 4)
            .max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_what_calls_take_and_not_a_single_interruption() {
        let mut rate = Rate::new(1_000);
        for _ in 0..40 {
            rate.observe(1 << 20, 1024 * 5_000);
        }
        let after = rate.predict_ns(1024);
        assert!((4_900..=5_000).contains(&after), "{after}");
        rate.observe(1 << 20, u64::MAX);
        assert!(rate.predict_ns(1024) < 6_300);
        for _ in 0..80 {
            rate.observe(1 << 20, 1024 * 100);
        }
        let after = rate.predict_ns(1024);
        assert!((100..=110).contains(&after), "{after}");
    }

    #[test]
    fn nothing_overflows_and_small_calls_say_nothing() {
        let mut rate = Rate::new(u64::MAX);
        assert_eq!(rate.predict_ns(u64::MAX), u64::MAX);
        assert_eq!(rate.predict_ns(0), 0);
        assert_eq!(rate.bytes_within(u64::MAX), 1024);
        rate.observe(1 << 10, u64::MAX);
        rate.observe(u64::MAX, 0);
        let before = rate;
        rate.observe(1023, 1);
        rate.observe(0, 1);
        assert_eq!(rate, before);
        let mut none = Rate::new(0);
        assert_eq!(
            (none.predict_ns(u64::MAX), none.bytes_within(1)),
            (0, u64::MAX)
        );
        none.observe(1 << 10, 0);
        assert_eq!(none.predict_ns(1 << 10), 1);
        let mut high = Rate::new(1_000);
        for _ in 0..100 {
            high.observe(1 << 20, u64::MAX);
        }
        assert!(high.predict_ns(1024) > 1_000_000);
        for _ in 0..10_000 {
            high.relax();
        }
        assert_eq!(high.predict_ns(1024), 1_000);
        high.observe(1 << 20, 0);
        high.relax();
        assert_eq!(high.predict_ns(1024), 750);
        for bytes in [1, 1_000, 128 << 10] {
            assert!(Rate::new(777).predict_ns(Rate::new(777).bytes_within(bytes)) <= bytes);
        }
    }
}
