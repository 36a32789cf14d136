//! Named settings for a purpose, as an alternative to level numbers.
//!
//! A recipe is a full set of parameters for each class of content size (`table`), found by measurement
//! (`cargo xtask tune`). [`Recipe::Auto`] detects the kind of content first (`detect`). Nothing here
//! touches a context.
//!
//! Ratio @ MB/s on 1 MiB of real data at a time. `bench-peers/record/zstd-recipes.md` also has the other
//! sizes, every native level, and the cases where a level is better:
//!
//! | recipe | context | html | JSON | source | ELF | log | UUIDs |
//! |---|---:|---:|---:|---:|---:|---:|---:|
//! | `fast` | 0.6 MB | 18.23 @ 1332 | 12.84 @ 1003 | 6.72 @ 641 | 10.73 @ 894 | 12.83 @ 1004 | 1.95 @ 1103 |
//! | `balanced` | 1.8 MB | 23.98 @ 369 | 17.12 @ 332 | 7.78 @ 210 | 12.63 @ 260 | 14.63 @ 260 | 1.97 @ 96 |
//! | `binary` | 3.1 MB | 25.70 @ 240 | 18.00 @ 223 | 8.21 @ 130 | 13.21 @ 133 | 15.16 @ 176 | 1.97 @ 78 |
//! | `structured_data` | 3.1 MB | 26.60 @ 174 | 18.42 @ 138 | 8.30 @ 84 | 13.21 @ 133 | 15.38 @ 115 | 1.97 @ 61 |
//! | `text` | 3.1 MB | 26.60 @ 170 | 18.42 @ 138 | 8.30 @ 84 | 13.21 @ 133 | 15.38 @ 114 | 1.97 @ 60 |
//! | `maximum` | 18.1 MB | 29.68 @ 1 | 20.30 @ 3 | 8.96 @ 3 | 16.23 @ 3 | 17.21 @ 2 | 1.97 @ 61 |
//! | level 3 | 1.3 MB | 19.34 @ 960 | 13.84 @ 751 | 7.20 @ 454 | 11.15 @ 684 | 13.15 @ 767 | 1.90 @ 151 |
//! | level 11 | 11.0 MB | 26.60 @ 158 | 18.43 @ 121 | 8.31 @ 69 | 13.25 @ 67 | 15.39 @ 101 | 1.89 @ 34 |
//!
//! On held-out data of these six kinds a level is no larger and faster in 5 of 36 cases of 2 KiB, 2 of 16 KiB, 1 each of 128 KiB,
//! 256 KiB and 1 MiB, and none of 512 KiB: 7 of the 10 with `maximum`, 2 with `fast`, 1 with `text`, by 6 % of time at most. For
//! other kinds nothing is promised: measure yours.
//!
//! Most of the gain comes from the shortest match, and the best value depends on the content: 4 bytes up
//! to 256 KiB and 5 beyond, one more for short fields that repeat, 6 for random digits, where shorter
//! matches cost more than they save. [`Recipe::options_for`] examines the content for that; the figures
//! above include it. [`Recipe::options`] knows only the size: then the output of `binary`, `text` and
//! `structured_data` for random digits is larger than that of `fast`.

mod detect;
mod purpose;
mod settings;
mod table;

pub use purpose::{Recipe, UnknownRecipe};
