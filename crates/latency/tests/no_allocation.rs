//! The hot path allocates nothing: counted by an allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Cursor;
use std::time::{Duration, Instant};

use perfkit_latency::{IntervalLog, LatencyName, Recorder, Spec};

thread_local! {
    /// Per thread, because the test harness has threads of its own. A constant without a destructor: access
    /// allocates nothing.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`, which is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: `at` came from `alloc` above, that is from the system's allocator.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn recording_allocates_nothing() {
    let start = Instant::now();
    let log =
        IntervalLog::new(Duration::from_secs(3_600), Cursor::new(Vec::new())).expect("a thread");
    let spec = Spec::new(LatencyName::Service, "call").intervals(Some(log));
    let mut recorder = Recorder::new(spec.range(1_000_000, 3), start);
    let before = ALLOCATIONS.get();
    for i in 0..200_000u64 {
        // Rising, so that nearly every one is among the slowest; some beyond the range; buckets double.
        recorder.record_span(start, start + Duration::from_nanos(i * 10));
        recorder.record_ns(i * 7_919 % 100_000);
    }
    let allocations = ALLOCATIONS.get() - before;
    assert_eq!(recorder.n(), 400_000);
    assert_eq!(allocations, 0);
}
