//! The logs of a day.

/// A log of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DayLog {
    /// What the gateway sends and gets.
    Gateway,
    /// What the router sends and gets.
    Router,
    /// What the venues send and get.
    Venue,
}

impl DayLog {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Gateway, Self::Router, Self::Venue];

    /// The name of its file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gateway => "gateway.log",
            Self::Router => "router.log",
            Self::Venue => "venue.log",
        }
    }
}
