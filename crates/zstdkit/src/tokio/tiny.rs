//! The time of calls with little content.

use turns::timed;

/// Less content than this is compressed without looking at a clock each time: a flush of a few bytes takes
/// about a microsecond, and a clock a tenth of that.
pub(super) const TINY_BYTES: usize = 512;
/// One in this many calls with little content looks at the clock.
const TINY_CALLS: u32 = 16;

/// The time of calls with little content, which is not measured each time.
#[derive(Debug, Default)]
pub(super) struct Tiny {
    calls: u32,
    ns: u64,
}

impl Tiny {
    /// The expected time of the next such call, in nanoseconds, if there was one.
    pub(super) fn expected_ns(&self) -> Option<u64> {
        (self.calls > 0).then_some(self.ns)
    }

    /// The result of `work`, and about how many nanoseconds it took.
    pub(super) fn timed<T>(&mut self, work: impl FnOnce() -> T) -> (T, u64) {
        let measured = self.calls % TINY_CALLS == 0;
        self.calls = self.calls.wrapping_add(1).max(1);
        if !measured {
            return (work(), self.ns);
        }
        let (value, ns) = timed(work);
        // The first call of a frame takes longer than those that follow.
        self.ns = if self.ns == 0 {
            ns
        } else {
            ns.min(2 * self.ns)
        };
        (value, ns)
    }
}
