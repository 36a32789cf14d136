//! Recipes from outside: their names, their settings at every size, what `Auto` comes to.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use zstdkit::{DecoderOptions, Encoder, EncoderOptions, Recipe, Strategy};

const SIZES: [Option<u64>; 12] = [
    Some(0),
    Some(1),
    Some(500),
    Some(4096),
    Some(4097),
    Some(16 << 10),
    Some(60_000),
    Some(128 << 10),
    Some(256 << 10),
    Some(1 << 20),
    Some(u64::MAX),
    None,
];

#[test]
fn names_round_trip() {
    for recipe in Recipe::ALL {
        assert_eq!(recipe.name().parse(), Ok(recipe));
        assert_eq!(recipe.name().replace('_', "-").parse(), Ok(recipe));
        assert_eq!(recipe.to_string(), recipe.name());
    }
    let error = "fastest".parse::<Recipe>().unwrap_err().to_string();
    for recipe in Recipe::ALL {
        assert!(error.contains(recipe.name()), "{error}");
    }
}

#[test]
fn settings_are_valid_and_their_windows_small() {
    for recipe in Recipe::ALL {
        for size in SIZES {
            let options = recipe.options(size);
            options.validate().unwrap();
            assert!(options.window_log.unwrap() <= 23);
            Encoder::new(&options).unwrap();
            for level in EncoderOptions::levels().rev().take(30) {
                let options = recipe.options_at_level(level, size);
                options.validate().unwrap();
                assert!(options.window_log.is_none_or(|log| log <= 23));
            }
        }
    }
}

#[test]
fn maximum_of_unknown_size_takes_less_than_100_mb() {
    let options = Recipe::Maximum.options(None);
    let mut encoder = Encoder::new(&options).unwrap();
    let step = encoder.push(b"x", &mut [0; 64], zstdkit::Operation::Flush);
    assert!(step.is_ok());
    assert!(encoder.memory_bytes() < 100_000_000);
    assert!(options.memory_estimate_bytes(None) < 100_000_000);
}

#[test]
fn exzstandard_is_a_strategy_over_a_level() {
    let old = [
        (Recipe::Fast, 1, Strategy::Fast),
        (Recipe::Balanced, 3, Strategy::Dfast),
        (Recipe::Binary, 6, Strategy::Lazy2),
        (Recipe::Text, 9, Strategy::Btopt),
        (Recipe::StructuredData, 9, Strategy::Btultra),
        (Recipe::Maximum, 22, Strategy::Btultra2),
    ];
    for (recipe, level, strategy) in old {
        let options = recipe.exzstandard(None);
        assert_eq!(options.level, level);
        assert_eq!(options.parameters.strategy, Some(strategy));
        assert_eq!(options.window_log, None);
        let other = recipe.exzstandard(Some(12));
        assert_eq!((other.level, other.parameters), (12, options.parameters));
    }
}

#[test]
fn what_a_recipe_writes_reads_back() {
    let content = "a line of text that comes again, a line of text. ".repeat(400);
    for recipe in Recipe::ALL {
        for bytes in [0, 1, 100, 5000, content.len()] {
            let content = &content.as_bytes()[..bytes];
            let frame = zstdkit::compress(content, &recipe.options(Some(bytes as u64))).unwrap();
            let back = zstdkit::decompress(&frame, &DecoderOptions::default()).unwrap();
            assert_eq!(back, content);
        }
    }
}
