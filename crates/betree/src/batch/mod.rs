//! Many events at once: lockstep expressions are evaluated for 2,048 events by each instruction, one bit per
//! event. Expressions that the index finds by access clauses are searched event by event.

mod compile;
mod results;
mod search;

pub use results::Batch;
pub use search::BatchSearch;
