//! Which way is chosen, and what a small run finds.

use super::*;

/// A way that took this long, and whose probe always waited for this long.
fn shown(way: Way, wall_us: Option<u64>, stall_us: u64) -> Shown {
    let plan = Plan::new(Vec::new(), Vec::new());
    let setup = setup(&plan, 2);
    let mut found = Found::new(way, &plan, &setup);
    found.wall_ns.extend(wall_us.map(|us| us * 1_000));
    for _ in 0..400 {
        found.delays.stall.record_ns(stall_us * 1_000);
    }
    Shown::new(found)
}

fn setup(plan: &Plan, count: usize) -> Setup {
    let asked = Streams {
        count,
        bytes: 40_000,
        ..Streams::default()
    };
    let content = b"what is compressed again and again\n".repeat(2_000);
    Setup::new(plan, &asked, EncoderOptions::default(), &content)
}

#[test]
fn the_fastest_way_that_disturbs_little_is_chosen() {
    let choose = |ways: &[(Way, Option<u64>, u64)]| {
        let idle = std::iter::once(shown(Way::Idle, None, 50));
        let ways = ways
            .iter()
            .map(|&(way, wall, stall)| shown(way, wall, stall));
        let all: Vec<_> = idle.chain(ways).collect();
        advice::choose(&all).map(|shown| shown.found.way)
    };
    let (inline, blocking, encoder) = (Way::Inline, Way::Blocking, Way::Async);
    // Fast, but others wait for 98 ms.
    let ways = [
        (inline, Some(90), 98_000),
        (blocking, Some(120), 900),
        (encoder, Some(100), 800),
    ];
    assert_eq!(choose(&ways), Some(encoder));
    // All disturb little: the fastest.
    let ways = [
        (inline, Some(50), 60),
        (blocking, Some(120), 60),
        (encoder, Some(80), 60),
    ];
    assert_eq!(choose(&ways), Some(inline));
    // About as fast: the one that disturbs less.
    let ways = [
        (inline, Some(100), 900),
        (blocking, Some(130), 60),
        (encoder, Some(109), 70),
    ];
    assert_eq!(choose(&ways), Some(encoder));
    // None disturbs little.
    let ways = [
        (inline, Some(100), 90_000),
        (blocking, Some(300), 5_000),
        (encoder, Some(200), 6_000),
    ];
    assert_eq!(choose(&ways), Some(blocking));
    // One was left out, and none was measured.
    assert_eq!(
        choose(&[(blocking, None, 0), (encoder, Some(1), 1)]),
        Some(encoder)
    );
    assert_eq!(choose(&[(inline, None, 0)]), None);
    assert_eq!(choose(&[]), None);
}

#[test]
fn the_sentence_names_the_way_the_others_and_what_was_left_out() {
    let plan = Plan::new(Vec::new(), Vec::new());
    let mut left_out = shown(Way::Blocking, None, 0);
    left_out.found.left_out = true;
    left_out.found.contexts_bytes = 15 << 30;
    let ways = [
        shown(Way::Idle, None, 50),
        shown(Way::Inline, Some(90_000), 98_000),
        left_out,
        shown(Way::Async, Some(100_000), 800),
    ];
    let text = advice::sentence(&ways, &setup(&plan, 2));
    let expected = "Use zstdkit's AsyncEncoder: 2 streams of 39.1 KiB take 100 ms while other tasks wait 800 µs at \
                    p99 and 800 µs at most (inline: 90 ms, 98 ms and 98 ms; spawn_blocking was not tried, as its \
                    contexts would take 15 GiB).";
    assert_eq!(text, expected);
    assert_eq!(
        advice::sentence(&[], &setup(&plan, 1)),
        "Nothing was measured."
    );
}

#[test]
fn ways_whose_contexts_have_no_bound_are_left_out() {
    let plan = Plan::new(Vec::new(), Vec::new());
    let left_out = |way, count| Found::new(way, &plan, &setup(&plan, count)).left_out;
    assert!(!left_out(Way::Blocking, 16) && left_out(Way::Blocking, 10_000));
    assert!(!left_out(Way::Async, 10_000) && !left_out(Way::Inline, 10_000));
    let asked = Found::new(Way::Async, &plan, &setup(&plan, 10_000));
    assert_eq!(asked.contexts_bytes, 256 << 20);
}
