//! What the cost model predicts before and after it has learned.

use super::*;
use crate::Recipe;

fn key() -> CostKey {
    CostKey::compress(&EncoderOptions::default(), 2000)
}

fn taught(values_ns: impl IntoIterator<Item = u64>) -> CostModel {
    let model = CostModel::default();
    for value in values_ns {
        model.observe(key(), 2000, value);
    }
    model
}

#[test]
fn what_is_never_seen_is_predicted_on_the_high_side() {
    let model = CostModel::default();
    let of =
        |recipe: Recipe, bytes: usize| model.decide(&recipe.options(Some(bytes as u64)), bytes);
    assert_eq!(of(Recipe::Fast, 2 << 10), Decision::Inline);
    assert_eq!(of(Recipe::Balanced, 2 << 10), Decision::Inline);
    assert_eq!(of(Recipe::Maximum, 2 << 10), Decision::Offload);
    assert_eq!(of(Recipe::Text, 100 << 20), Decision::Offload);
    assert!(model.predict_ns(key(), 2000) > 10_000);
    assert!(!model.knows(key()));
}

#[test]
fn steady_values_are_predicted_with_a_margin() {
    let model = taught([10_000; 30]);
    let predicted = model.predict_ns(key(), 2000);
    assert!((11_000..12_000).contains(&predicted), "{predicted}");
    // Proportional within a class, with a fixed part for tiny content.
    assert!(model.predict_ns(key(), 1500) < predicted);
    assert_eq!(model.predict_ns(key(), 1), model.predict_ns(key(), 1024));
}

#[test]
fn values_that_differ_are_predicted_above_most_of_them() {
    let values = |n: u64| 10_000 + n * 7919 % 10_000;
    let model = taught((0..200).map(values));
    let predicted = model.predict_ns(key(), 2000);
    let above = (0..200).filter(|&n| values(n) > predicted).count();
    assert!(above <= 20, "{above} of 200 above {predicted}");
    assert!(predicted < 40_000);
}

#[test]
fn one_outlier_changes_no_decision_and_a_change_does() {
    let model = taught([10_000; 30]);
    let decide = || model.decide(&EncoderOptions::default(), 2000);
    model.observe(key(), 2000, 1_000_000_000);
    assert_eq!(decide(), Decision::Inline);
    for _ in 0..20 {
        model.observe(key(), 2000, 1_000_000);
    }
    assert_ne!(decide(), Decision::Inline);
    for _ in 0..60 {
        model.observe(key(), 2000, 10_000);
    }
    assert_eq!(decide(), Decision::Inline);
}

#[test]
fn absurd_values_do_no_harm() {
    let model = taught([0, u64::MAX, 0, u64::MAX]);
    for (_, cost) in model.costs() {
        assert!(cost.mean.is_finite() && cost.deviation.is_finite());
    }
    model.predict_ns(key(), usize::MAX);
    model.decide(&EncoderOptions::default(), usize::MAX);
}

#[test]
fn slices_follow_from_what_a_slice_takes() {
    let model = CostModel::new(THRESHOLD_NS);
    let bytes = 200_000;
    let sliced = |count| Decision::Sliced {
        slice_bytes: SLICE_BYTES * count,
    };
    // 1.15 times the mean, as long as it does not vary.
    for (recipe, slice_ns, expected) in [
        (Recipe::Balanced, 80_000, sliced(1)),
        (Recipe::Balanced, 40_000, sliced(2)),
        (Recipe::Balanced, 20_000, sliced(4)),
        (Recipe::Balanced, 1, sliced(8)),
        (Recipe::Balanced, 400_000, Decision::Offload),
        (Recipe::Maximum, 40_000, Decision::Offload),
    ] {
        let options = recipe.options(Some(bytes));
        let key = CostKey::compress_slice(&options, Some(bytes));
        for _ in 0..100 {
            model.observe(key, SLICE_BYTES, slice_ns);
        }
        assert_eq!(model.decide(&options, bytes as usize), expected);
        assert_eq!(model.decide_stream(&options, Some(bytes)), expected);
    }
    let threads = EncoderOptions {
        workers: 2,
        ..Recipe::Fast.options(Some(100))
    };
    assert_eq!(model.decide(&threads, 100), Decision::Offload);
    let patch = EncoderOptions {
        prefix: Some(vec![0; 1 << 20].into()),
        ..Recipe::Fast.options(Some(100))
    };
    assert_eq!(model.decide(&patch, 100), Decision::Offload);
}

#[test]
fn one_slice_is_tried_where_the_mean_is_low_and_varies() {
    let options = Recipe::Balanced.options(None);
    let key = CostKey::compress_slice(&options, None);
    let model = CostModel::new(THRESHOLD_NS);
    for value in [14_000, 28_000].repeat(40) {
        model.observe(key, SLICE_BYTES, value * 4);
    }
    assert!(model.predict_ns(key, SLICE_BYTES) > THRESHOLD_NS);
    assert_eq!(model.decide_stream(&options, None), Decision::Offload);
    let model = CostModel::new(THRESHOLD_NS);
    for value in [1_000, 79_000].repeat(40) {
        model.observe(key, SLICE_BYTES, value);
    }
    assert!(model.predict_ns(key, SLICE_BYTES) > THRESHOLD_NS);
    assert_eq!(
        model.decide_stream(&options, None),
        Decision::Sliced {
            slice_bytes: SLICE_BYTES
        }
    );
}

#[cfg(feature = "tokio")]
#[test]
fn a_slice_that_ends_surely_is_judged_by_the_hardest() {
    const WITHIN_NS: u64 = 800_000;
    let options = EncoderOptions::default().with_level(12);
    let key = CostKey::compress_slice(&options, None);
    let model = CostModel::default();
    assert_eq!(model.surely_within(key, WITHIN_NS), 0);
    let count = |values: &[u64]| {
        let model = CostModel::default();
        for &value in values.repeat(40).iter() {
            model.observe(key, SLICE_BYTES, value);
        }
        model.surely_within(key, WITHIN_NS) / SLICE_BYTES
    };
    assert_eq!(count(&[100_000]), 6);
    assert_eq!(count(&[600_000]), 1);
    assert_eq!(count(&[750_000]), 0);
    // The mean of these would allow one: every other would take longer.
    assert_eq!(count(&[300_000, 900_000]), 0);
    // So do two hard ones of late.
    for _ in 0..100 {
        model.observe(key, SLICE_BYTES, 100_000);
    }
    model.observe_peak(key, 900_000.0 / 16.0);
    assert_eq!(model.surely_within(key, WITHIN_NS), 0);
    let optimal = EncoderOptions::default().with_level(19);
    let key = CostKey::compress_slice(&optimal, None);
    model.observe(key, SLICE_BYTES, 1_000);
    assert_eq!(model.surely_within(key, WITHIN_NS), 0);
}

#[test]
fn a_threshold_that_is_given_holds_for_slices() {
    let options = Recipe::Balanced.options(None);
    let key = CostKey::compress_slice(&options, None);
    let slices = |model: CostModel| {
        for _ in 0..100 {
            model.observe(key, SLICE_BYTES, 40_000);
        }
        match model.decide_stream(&options, None) {
            Decision::Sliced { slice_bytes } => slice_bytes / SLICE_BYTES,
            _ => 0,
        }
    };
    // 1.15 times the mean each.
    assert_eq!(slices(CostModel::default()), 6);
    assert_eq!(slices(CostModel::new(THRESHOLD_NS)), 2);
    assert_eq!(slices(CostModel::new(400_000)), 8);
    assert_eq!(slices(CostModel::default().with_threshold_ns(50_000)), 1);
    assert_eq!(slices(CostModel::default().with_threshold_ns(10_000)), 0);
    assert_eq!(CostModel::default().threshold_ns(), THRESHOLD_NS);
    assert_eq!(
        CostModel::default().slice_threshold_ns(),
        SLICE_THRESHOLD_NS
    );
}

#[test]
fn decompression_is_sliced_when_it_is_long() {
    let model = CostModel::default();
    assert_eq!(model.decide_decompress(10_000), Decision::Inline);
    assert!(matches!(
        model.decide_decompress(4 << 20),
        Decision::Sliced { .. }
    ));
}

#[test]
fn a_full_table_forgets_nothing_and_refuses_the_rest() {
    let model = CostModel::default();
    for level in -3000..=0 {
        let options = EncoderOptions {
            level,
            ..EncoderOptions::default()
        };
        model.observe(CostKey::compress(&options, 2000), 2000, 1000);
    }
    assert!(model.costs().count() <= CELLS);
    assert!(model.costs().count() > CELLS / 2);
}

#[test]
fn threads_teach_at_the_same_time() {
    let model = CostModel::default();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..10_000_usize {
                    let bytes = 1 << (10 + n % 8);
                    let key = CostKey::compress(&EncoderOptions::default(), bytes);
                    model.observe(key, bytes, bytes as u64 * 10);
                    let predicted = model.predict_ns(key, bytes);
                    assert!((bytes as u64 * 10..bytes as u64 * 20).contains(&predicted));
                }
            });
        }
    });
    assert_eq!(model.costs().count(), 8);
}
