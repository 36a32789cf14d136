//! When a session may be logged on, and which messages belong to one session: intervals in the civil time of
//! each endpoint's own zone. What the settings call their keys is in `settings`.

mod endpoint;
mod rule;
mod timetable;

pub use endpoint::{Endpoint, Zone, ZoneError};
pub use rule::{Days, Interval, Rule};
pub use timetable::{Schedule, ScheduleError};
