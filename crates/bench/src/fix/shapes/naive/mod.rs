//! A parser and an encoder as people write them in an hour: short, readable, with the same checks as fixcore. What
//! they take is what fixcore is held against.

mod encoder;
mod parser;

pub use encoder::Encoder;
pub use parser::{Field, Parser};
