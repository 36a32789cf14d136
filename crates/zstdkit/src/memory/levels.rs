//! The parameters of libzstd's levels, by the size of the content.

/// libzstd's strategies, in the order of its own numbers.
pub(super) const FAST: u32 = 1;
pub(crate) const DFAST: u32 = 2;
pub(crate) const GREEDY: u32 = 3;
pub(super) const LAZY: u32 = 4;
pub(super) const LAZY2: u32 = 5;
pub(crate) const BTLAZY2: u32 = 6;
pub(crate) const BTOPT: u32 = 7;
pub(super) const BTULTRA: u32 = 8;
pub(super) const BTULTRA2: u32 = 9;

pub(super) type Row = (u8, u8, u8, u8, u32);

/// Window, chain and hash exponents, shortest match and strategy of level 0 (which stands for the
/// negative levels) to 22, for content of any size, up to 256 KiB, up to 128 KiB and up to 16 KiB, as in
/// libzstd 1.5.7.
#[rustfmt::skip]
pub(super) const LEVELS: [[Row; 23]; 4] = [
    [
        (19, 12, 13, 6, FAST),
        (19, 13, 14, 7, FAST),
        (20, 15, 16, 6, FAST),
        (21, 16, 17, 5, DFAST),
        (21, 18, 18, 5, DFAST),
        (21, 18, 19, 5, GREEDY),
        (21, 18, 19, 5, LAZY),
        (21, 19, 20, 5, LAZY),
        (21, 19, 20, 5, LAZY2),
        (22, 20, 21, 5, LAZY2),
        (22, 21, 22, 5, LAZY2),
        (22, 21, 22, 5, LAZY2),
        (22, 22, 23, 5, LAZY2),
        (22, 22, 22, 5, BTLAZY2),
        (22, 22, 23, 5, BTLAZY2),
        (22, 23, 23, 5, BTLAZY2),
        (22, 22, 22, 5, BTOPT),
        (23, 23, 22, 4, BTOPT),
        (23, 23, 22, 3, BTULTRA),
        (23, 24, 22, 3, BTULTRA2),
        (25, 25, 23, 3, BTULTRA2),
        (26, 26, 24, 3, BTULTRA2),
        (27, 27, 25, 3, BTULTRA2),
    ],
    [
        (18, 12, 13, 5, FAST),
        (18, 13, 14, 6, FAST),
        (18, 14, 14, 5, DFAST),
        (18, 16, 16, 4, DFAST),
        (18, 16, 17, 5, GREEDY),
        (18, 17, 18, 5, GREEDY),
        (18, 18, 19, 5, LAZY),
        (18, 18, 19, 4, LAZY),
        (18, 18, 19, 4, LAZY2),
        (18, 18, 19, 4, LAZY2),
        (18, 18, 19, 4, LAZY2),
        (18, 18, 19, 4, BTLAZY2),
        (18, 19, 19, 4, BTLAZY2),
        (18, 18, 19, 4, BTOPT),
        (18, 18, 19, 3, BTOPT),
        (18, 18, 19, 3, BTOPT),
        (18, 19, 19, 3, BTULTRA),
        (18, 19, 19, 3, BTULTRA),
        (18, 19, 19, 3, BTULTRA2),
        (18, 19, 19, 3, BTULTRA2),
        (18, 19, 19, 3, BTULTRA2),
        (18, 19, 19, 3, BTULTRA2),
        (18, 19, 19, 3, BTULTRA2),
    ],
    [
        (17, 12, 12, 5, FAST),
        (17, 12, 13, 6, FAST),
        (17, 13, 15, 5, FAST),
        (17, 15, 16, 5, DFAST),
        (17, 17, 17, 4, DFAST),
        (17, 16, 17, 4, GREEDY),
        (17, 16, 17, 4, LAZY),
        (17, 16, 17, 4, LAZY2),
        (17, 16, 17, 4, LAZY2),
        (17, 16, 17, 4, LAZY2),
        (17, 16, 17, 4, LAZY2),
        (17, 17, 17, 4, BTLAZY2),
        (17, 18, 17, 4, BTLAZY2),
        (17, 18, 17, 4, BTOPT),
        (17, 18, 17, 3, BTOPT),
        (17, 18, 17, 3, BTOPT),
        (17, 18, 17, 3, BTULTRA),
        (17, 18, 17, 3, BTULTRA),
        (17, 18, 17, 3, BTULTRA),
        (17, 18, 17, 3, BTULTRA2),
        (17, 18, 17, 3, BTULTRA2),
        (17, 18, 17, 3, BTULTRA2),
        (17, 18, 17, 3, BTULTRA2),
    ],
    [
        (14, 12, 13, 5, FAST),
        (14, 14, 15, 5, FAST),
        (14, 14, 15, 4, FAST),
        (14, 14, 15, 4, DFAST),
        (14, 14, 14, 4, GREEDY),
        (14, 14, 14, 4, LAZY),
        (14, 14, 14, 4, LAZY2),
        (14, 14, 14, 4, LAZY2),
        (14, 14, 14, 4, LAZY2),
        (14, 15, 14, 4, BTLAZY2),
        (14, 15, 14, 4, BTLAZY2),
        (14, 15, 14, 4, BTOPT),
        (14, 15, 14, 3, BTOPT),
        (14, 15, 14, 3, BTULTRA),
        (14, 15, 15, 3, BTULTRA),
        (14, 15, 15, 3, BTULTRA),
        (14, 15, 15, 3, BTULTRA2),
        (14, 15, 15, 3, BTULTRA2),
        (14, 15, 15, 3, BTULTRA2),
        (14, 15, 15, 3, BTULTRA2),
        (14, 15, 15, 3, BTULTRA2),
        (14, 15, 15, 3, BTULTRA2),
        (14, 15, 15, 3, BTULTRA2),
    ],
];
