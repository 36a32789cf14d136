//! Which messages of a log are wanted: by type, session, time and an expression over fields.

mod error;
mod expression;
mod messages;
mod moment;
mod names;
mod number;
mod parse;
mod tokens;
mod tree;

pub use error::ExpressionError;
pub use expression::Expression;
pub use messages::Filter;
pub use moment::Moment;
pub use names::{msg_type_of, name_of, tag_of, value_name_of};
