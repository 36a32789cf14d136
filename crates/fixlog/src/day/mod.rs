//! A trading day that adds up: orders of clients go over a gateway and a router to venues, and what becomes of
//! them comes back. Each party has a clock of its own. The logs of gateway, router and venues are what they
//! would be, and the truth is known.

mod fate;
mod files;
mod post;
mod trading;
mod truth;

pub use files::DayLog;
pub use trading::Day;
pub use truth::Truth;
