//! A decoder of blocks that needs no libzstd, made of two halves, so that several threads can share one frame.
//!
//! | module | what |
//! |---|---|
//! | `bits` | bit streams, which are read backward |
//! | `fse`, `huffman` | tables of entropy codes, and literals |
//! | `block` | the parts of a stored block, and which tables are in force for it |
//! | `entropy` | the first half: literals and sequences of a block, by any thread in any order |
//! | `window` | the second half: sequences are executed in order |
//! | `pipeline` | the threads, and the blocks on their way |
//! | `frame` | one frame on its way through all of these |
//! | `decoder` | a stream of frames; small ones and those with large windows go to libzstd |
//!
//! All data is from outside: every index is checked, and there is no unsafe code.

mod bits;
mod block;
mod decoder;
mod dictionary;
mod entropy;
mod frame;
mod fse;
mod huffman;
mod pipeline;
mod window;

pub use decoder::BlockDecoder;

/// Why a block is corrupt.
type Reason = &'static str;

/// More content than a block may have. In a frame that states its size this may mean that the frame is longer.
const TOO_MUCH: Reason = "more content than a block may have";
