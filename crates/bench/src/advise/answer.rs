//! Where calls should run, and how sure that is: from their times, in words.

use std::time::Duration;

use report::units::{bytes, duration};

use super::times::Times;

/// Where a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the thread of the event loop.
    Inline,
    /// There, in slices with other work between them.
    Sliced,
    /// On another thread.
    Offload,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Sliced => "sliced",
            Self::Offload => "offload",
        }
    }
}

/// What the times say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// One place.
    One(Place),
    /// The limit lies within the interval: both are as good.
    Either(Place, Place),
}

impl Answer {
    /// As a cell of a table.
    pub(crate) fn name(self) -> String {
        match self {
            Self::One(place) => place.name().to_owned(),
            Self::Either(one, other) => format!("{} or {}", one.name(), other.name()),
        }
    }
}

/// How times lie to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lies {
    Within,
    Across,
    Over,
}

fn lies(limit: Duration, times: &Times) -> Lies {
    let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
    match times.p99_interval() {
        [_, high] if high <= limit => Lies::Within,
        [low, _] if low > limit => Lies::Over,
        _ => Lies::Across,
    }
}

/// Where calls of these times run, if a call may take as long as the limit; and their slices, if they
/// have any.
pub(crate) fn answer(limit: Duration, whole: &Times, slices: Option<&Times>) -> Answer {
    use {Answer::*, Place::*};
    let sliced = slices.map(|slices| lies(limit, slices));
    match (lies(limit, whole), sliced) {
        (Lies::Within, _) => One(Inline),
        (Lies::Across, Some(Lies::Within)) => Either(Inline, Sliced),
        (Lies::Across, _) => Either(Inline, Offload),
        (Lies::Over, Some(Lies::Within)) => One(Sliced),
        (Lies::Over, Some(Lies::Across)) => Either(Sliced, Offload),
        (Lies::Over, _) => One(Offload),
    }
}

/// The same for calls that decompress: the library divides none to other threads, and no block.
pub(crate) fn answer_decoding(limit: Duration, whole: &Times) -> Answer {
    use {Answer::*, Place::*};
    match lies(limit, whole) {
        Lies::Within => One(Inline),
        Lies::Across => Either(Inline, Sliced),
        Lies::Over => One(Sliced),
    }
}

/// What a row of decompression says: one sentence.
pub(crate) fn decoding(size: u64, limit: Duration, whole: &Times, blocks: &Times) -> String {
    let begins = format!("{} decompressed", bytes(size as f64));
    let held = match lies(limit, blocks) {
        Lies::Within => format!("blocks hold {}", tail(blocks)),
        _ => format!("a block holds {}, and is not divided", tail(blocks)),
    };
    match answer_decoding(limit, whole) {
        Answer::One(Place::Inline) => format!("{begins}: call it inline ({}).", stated(whole)),
        Answer::One(_) => format!("{begins}: a block at a time ({}); {held}.", stated(whole)),
        Answer::Either(..) => format!(
            "{begins}: undecided between inline and a block at a time ({}).",
            interval(limit, whole)
        ),
    }
}

/// `p99 is between 60 µs and 120 µs, limit 100 µs`.
fn interval(limit: Duration, times: &Times) -> String {
    let [low, high] = times.p99_interval();
    format!(
        "p99 is between {} and {}, limit {}",
        duration(low as f64),
        duration(high as f64),
        duration(limit.as_nanos() as f64),
    )
}

/// What is advised for a cell.
pub(crate) struct Cell<'a> {
    /// What is called, after its size.
    pub(crate) what: &'a str,
    /// Bytes of content.
    pub(crate) bytes: u64,
    /// Whole calls.
    pub(crate) whole: &'a Times,
    /// What a slice is, and their times, if there are any.
    pub(crate) slices: Option<(&'a str, &'a Times)>,
}

impl Cell<'_> {
    /// One sentence.
    pub(crate) fn sentence(&self, limit: Duration) -> String {
        let (whole, slices) = (self.whole, self.slices);
        let begins = format!("{} {}", bytes(self.bytes as f64), self.what);
        let held = slices.map(|(name, times)| format!("{name} hold {}", tail(times)));
        match answer(limit, whole, slices.map(|(_, times)| times)) {
            Answer::One(Place::Inline) => format!("{begins}: call it inline ({}).", stated(whole)),
            Answer::One(Place::Sliced) => format!(
                "{begins}: slice it ({}); {}.",
                stated(whole),
                held.unwrap_or_default()
            ),
            Answer::One(Place::Offload) => match held {
                Some(held) => format!("{begins}: offload ({}); even {held}.", stated(whole)),
                None => format!("{begins}: offload ({}).", stated(whole)),
            },
            Answer::Either(one, other) => {
                let judged = match (one, slices) {
                    (Place::Sliced, Some((_, slices))) => slices,
                    _ => whole,
                };
                format!(
                    "{begins}: undecided between {} and {} ({}).",
                    one.name(),
                    other.name(),
                    interval(limit, judged),
                )
            }
        }
    }
}

/// `p99 9 µs`, or the longest of few.
fn stated(times: &Times) -> String {
    match times.p99_ns() {
        Some(ns) => format!("p99 {}", duration(ns as f64)),
        None => format!(
            "longest of {}: {}",
            times.n(),
            duration(times.longest_ns() as f64)
        ),
    }
}

fn tail(times: &Times) -> String {
    duration(times.p99_ns().unwrap_or(times.longest_ns()) as f64)
}

/// How the time grows with the size, from the smallest to the largest size measured: one sentence of medians.
pub(crate) fn growth(what: &str, medians: &[(u64, u64)]) -> Option<String> {
    let ((small, fast), (large, slow)) = (*medians.first()?, *medians.last()?);
    if small == 0 || fast == 0 || large <= small {
        return None;
    }
    let sizes = large as f64 / small as f64;
    let times = slow as f64 / fast as f64;
    let doubled = 2_f64.powf(times.ln() / sizes.ln());
    Some(format!(
        "{what}: twice the size takes {doubled:.2} times as long ({} {}, {} {}).",
        bytes(small as f64),
        duration(fast as f64),
        bytes(large as f64),
        duration(slow as f64),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::times::tests::times;
    use super::*;

    /// A thousand times about this many microseconds, two of them twice as long.
    fn about(us: u64) -> Times {
        times((0..1000).map(|nth| us * 1000 + nth + if nth < 2 { us * 1000 } else { 0 }))
    }

    const LIMIT: Duration = Duration::from_micros(100);

    #[test]
    fn the_limit_decides_where_the_whole_interval_is_on_one_side_of_it() {
        let of = |whole, slice: Option<u64>| {
            answer(LIMIT, &about(whole), slice.map(about).as_ref()).name()
        };
        assert_eq!(of(9, None), "inline");
        assert_eq!(of(90, Some(9)), "inline");
        assert_eq!(of(300, Some(9)), "sliced");
        assert_eq!(of(300, Some(300)), "offload");
        assert_eq!(of(300, None), "offload");
    }

    #[test]
    fn within_the_interval_nothing_is_decided() {
        // Every hundredth is over the limit: the 99th percentile may be on either side of it.
        let close = |_| times((0..1000).map(|nth| if nth % 100 == 0 { 150_000 } else { 50_000 }));
        assert_eq!(answer(LIMIT, &close(()), None).name(), "inline or offload");
        let fits = about(9);
        assert_eq!(
            answer(LIMIT, &close(()), Some(&fits)).name(),
            "inline or sliced"
        );
        let over = about(300);
        assert_eq!(
            answer(LIMIT, &over, Some(&close(()))).name(),
            "sliced or offload"
        );
        // Three calls prove little: half of the limit, or more than it.
        assert_eq!(answer(LIMIT, &times([40_000; 3]), None).name(), "inline");
        assert_eq!(
            answer(LIMIT, &times([60_000; 3]), None).name(),
            "inline or offload"
        );
        assert_eq!(answer(LIMIT, &times([110_000; 3]), None).name(), "offload");
    }

    #[test]
    fn a_cell_is_one_sentence() {
        let (fast, slow) = (times([9_000; 400]), times([2_000_000; 400]));
        let said = |whole, slices| {
            let cell = Cell {
                what: "at `fast`",
                bytes: 2048,
                whole,
                slices,
            };
            cell.sentence(LIMIT)
        };
        let slices = Some(("slices of 16 KiB", &fast));
        assert_eq!(
            said(&fast, slices),
            "2 KiB at `fast`: call it inline (p99 9 µs)."
        );
        assert_eq!(
            said(&slow, slices),
            "2 KiB at `fast`: slice it (p99 2 ms); slices of 16 KiB hold 9 µs."
        );
        assert_eq!(said(&slow, None), "2 KiB at `fast`: offload (p99 2 ms).");
        assert_eq!(
            said(&times([60_000; 3]), None),
            "2 KiB at `fast`: undecided between inline and offload (p99 is between 60 µs and 120 µs, limit 100 µs)."
        );
    }

    #[test]
    fn what_decompresses_is_sent_to_no_other_thread() {
        let (fast, slow) = (times([9_000; 400]), times([2_000_000; 400]));
        let said = |whole, blocks| decoding(128 << 10, LIMIT, whole, blocks);
        assert_eq!(
            said(&fast, &slow),
            "128 KiB decompressed: call it inline (p99 9 µs)."
        );
        assert_eq!(
            said(&slow, &fast),
            "128 KiB decompressed: a block at a time (p99 2 ms); blocks hold 9 µs."
        );
        assert_eq!(
            said(&slow, &slow),
            "128 KiB decompressed: a block at a time (p99 2 ms); a block holds 2 ms, and is not divided."
        );
        let few = times([60_000; 3]);
        assert_eq!(
            said(&few, &slow),
            "128 KiB decompressed: undecided between inline and a block at a time \
             (p99 is between 60 µs and 120 µs, limit 100 µs)."
        );
        let names = [&fast, &few, &slow].map(|whole| answer_decoding(LIMIT, whole).name());
        assert_eq!(names, ["inline", "inline or sliced", "sliced"]);
    }

    #[test]
    fn growth_is_a_ratio() {
        let text = growth("`fast`", &[(1024, 1_000), (4096, 4_000), (16_384, 32_000)]);
        assert_eq!(
            text.as_deref(),
            Some("`fast`: twice the size takes 2.38 times as long (1 KiB 1 µs, 16 KiB 32 µs).")
        );
        assert_eq!(growth("x", &[(1024, 1)]), None);
        assert_eq!(growth("x", &[]), None);
    }
}
