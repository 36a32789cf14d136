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

pub(super) type Row = (u8, u8, u8, u8, u8, u16, u32);

/// Window, chain, hash and search exponents, shortest match, target length and strategy of level 0 (which stands for the
/// negative levels) to 22, for content of any size, up to 256 KiB, up to 128 KiB and up to 16 KiB, as in
/// libzstd 1.5.7.
#[rustfmt::skip]
pub(super) const LEVELS: [[Row; 23]; 4] = [
    [
        (19, 12, 13, 1, 6, 1, FAST),
        (19, 13, 14, 1, 7, 0, FAST),
        (20, 15, 16, 1, 6, 0, FAST),
        (21, 16, 17, 1, 5, 0, DFAST),
        (21, 18, 18, 1, 5, 0, DFAST),
        (21, 18, 19, 3, 5, 2, GREEDY),
        (21, 18, 19, 3, 5, 4, LAZY),
        (21, 19, 20, 4, 5, 8, LAZY),
        (21, 19, 20, 4, 5, 16, LAZY2),
        (22, 20, 21, 4, 5, 16, LAZY2),
        (22, 21, 22, 5, 5, 16, LAZY2),
        (22, 21, 22, 6, 5, 16, LAZY2),
        (22, 22, 23, 6, 5, 32, LAZY2),
        (22, 22, 22, 4, 5, 32, BTLAZY2),
        (22, 22, 23, 5, 5, 32, BTLAZY2),
        (22, 23, 23, 6, 5, 32, BTLAZY2),
        (22, 22, 22, 5, 5, 48, BTOPT),
        (23, 23, 22, 5, 4, 64, BTOPT),
        (23, 23, 22, 6, 3, 64, BTULTRA),
        (23, 24, 22, 7, 3, 256, BTULTRA2),
        (25, 25, 23, 7, 3, 256, BTULTRA2),
        (26, 26, 24, 7, 3, 512, BTULTRA2),
        (27, 27, 25, 9, 3, 999, BTULTRA2),
    ],
    [
        (18, 12, 13, 1, 5, 1, FAST),
        (18, 13, 14, 1, 6, 0, FAST),
        (18, 14, 14, 1, 5, 0, DFAST),
        (18, 16, 16, 1, 4, 0, DFAST),
        (18, 16, 17, 3, 5, 2, GREEDY),
        (18, 17, 18, 5, 5, 2, GREEDY),
        (18, 18, 19, 3, 5, 4, LAZY),
        (18, 18, 19, 4, 4, 4, LAZY),
        (18, 18, 19, 4, 4, 8, LAZY2),
        (18, 18, 19, 5, 4, 8, LAZY2),
        (18, 18, 19, 6, 4, 8, LAZY2),
        (18, 18, 19, 5, 4, 12, BTLAZY2),
        (18, 19, 19, 7, 4, 12, BTLAZY2),
        (18, 18, 19, 4, 4, 16, BTOPT),
        (18, 18, 19, 4, 3, 32, BTOPT),
        (18, 18, 19, 6, 3, 128, BTOPT),
        (18, 19, 19, 6, 3, 128, BTULTRA),
        (18, 19, 19, 8, 3, 256, BTULTRA),
        (18, 19, 19, 6, 3, 128, BTULTRA2),
        (18, 19, 19, 8, 3, 256, BTULTRA2),
        (18, 19, 19, 10, 3, 512, BTULTRA2),
        (18, 19, 19, 12, 3, 512, BTULTRA2),
        (18, 19, 19, 13, 3, 999, BTULTRA2),
    ],
    [
        (17, 12, 12, 1, 5, 1, FAST),
        (17, 12, 13, 1, 6, 0, FAST),
        (17, 13, 15, 1, 5, 0, FAST),
        (17, 15, 16, 2, 5, 0, DFAST),
        (17, 17, 17, 2, 4, 0, DFAST),
        (17, 16, 17, 3, 4, 2, GREEDY),
        (17, 16, 17, 3, 4, 4, LAZY),
        (17, 16, 17, 3, 4, 8, LAZY2),
        (17, 16, 17, 4, 4, 8, LAZY2),
        (17, 16, 17, 5, 4, 8, LAZY2),
        (17, 16, 17, 6, 4, 8, LAZY2),
        (17, 17, 17, 5, 4, 8, BTLAZY2),
        (17, 18, 17, 7, 4, 12, BTLAZY2),
        (17, 18, 17, 3, 4, 12, BTOPT),
        (17, 18, 17, 4, 3, 32, BTOPT),
        (17, 18, 17, 6, 3, 256, BTOPT),
        (17, 18, 17, 6, 3, 128, BTULTRA),
        (17, 18, 17, 8, 3, 256, BTULTRA),
        (17, 18, 17, 10, 3, 512, BTULTRA),
        (17, 18, 17, 5, 3, 256, BTULTRA2),
        (17, 18, 17, 7, 3, 512, BTULTRA2),
        (17, 18, 17, 9, 3, 512, BTULTRA2),
        (17, 18, 17, 11, 3, 999, BTULTRA2),
    ],
    [
        (14, 12, 13, 1, 5, 1, FAST),
        (14, 14, 15, 1, 5, 0, FAST),
        (14, 14, 15, 1, 4, 0, FAST),
        (14, 14, 15, 2, 4, 0, DFAST),
        (14, 14, 14, 4, 4, 2, GREEDY),
        (14, 14, 14, 3, 4, 4, LAZY),
        (14, 14, 14, 4, 4, 8, LAZY2),
        (14, 14, 14, 6, 4, 8, LAZY2),
        (14, 14, 14, 8, 4, 8, LAZY2),
        (14, 15, 14, 5, 4, 8, BTLAZY2),
        (14, 15, 14, 9, 4, 8, BTLAZY2),
        (14, 15, 14, 3, 4, 12, BTOPT),
        (14, 15, 14, 4, 3, 24, BTOPT),
        (14, 15, 14, 5, 3, 32, BTULTRA),
        (14, 15, 15, 6, 3, 64, BTULTRA),
        (14, 15, 15, 7, 3, 256, BTULTRA),
        (14, 15, 15, 5, 3, 48, BTULTRA2),
        (14, 15, 15, 6, 3, 128, BTULTRA2),
        (14, 15, 15, 7, 3, 256, BTULTRA2),
        (14, 15, 15, 8, 3, 256, BTULTRA2),
        (14, 15, 15, 8, 3, 512, BTULTRA2),
        (14, 15, 15, 9, 3, 512, BTULTRA2),
        (14, 15, 15, 10, 3, 999, BTULTRA2),
    ],
];
