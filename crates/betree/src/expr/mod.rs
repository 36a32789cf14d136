//! Parsed expressions: operators in postfix order over tests of attributes.
//!
//! Nothing here knows which attributes exist; `bind` does.

mod ast;
mod hints;
mod lexer;
mod parser;

pub use ast::Expression;
pub(crate) use ast::{CapKind, Leaf, Literal, Node, Position, Quantity, Relation, Test};
pub(crate) use hints::lower_case;
pub(crate) use lexer::{constant_offset, escaped, unescaped};
