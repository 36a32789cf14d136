//! Which session a message belongs to.

use std::fmt;

/// The identity of a session, from the side of this engine: what it sends as `SenderCompID` is `sender`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SessionId {
    /// `BeginString`: `FIX.4.0` to `FIX.4.4`, or `FIXT.1.1`.
    pub begin_string: String,
    /// `SenderCompID` (49) of what this side sends.
    pub sender: String,
    /// `SenderSubID` (50), or empty.
    pub sender_sub: String,
    /// `SenderLocationID` (142), or empty.
    pub sender_location: String,
    /// `TargetCompID` (56) of what this side sends.
    pub target: String,
    /// `TargetSubID` (57), or empty.
    pub target_sub: String,
    /// `TargetLocationID` (143), or empty.
    pub target_location: String,
    /// Tells sessions of equal names apart, for initiators; or empty. It is never sent.
    pub qualifier: String,
}

impl SessionId {
    /// The identity with these names, without sub and location ids.
    #[must_use]
    pub fn new(begin_string: &str, sender: &str, target: &str) -> Self {
        Self {
            begin_string: begin_string.to_owned(),
            sender: sender.to_owned(),
            sender_sub: String::new(),
            sender_location: String::new(),
            target: target.to_owned(),
            target_sub: String::new(),
            target_location: String::new(),
            qualifier: String::new(),
        }
    }
}

/// `FIX.4.4:SENDER/SUB/LOCATION->TARGET/SUB/LOCATION:QUALIFIER`; what is empty is left out.
impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.begin_string, self.sender)?;
        parts(f, &self.sender_sub, &self.sender_location)?;
        write!(f, "->{}", self.target)?;
        parts(f, &self.target_sub, &self.target_location)?;
        if !self.qualifier.is_empty() {
            write!(f, ":{}", self.qualifier)?;
        }
        Ok(())
    }
}

fn parts(f: &mut fmt::Formatter<'_>, sub: &str, location: &str) -> fmt::Result {
    if !sub.is_empty() || !location.is_empty() {
        write!(f, "/{sub}")?;
    }
    if !location.is_empty() {
        write!(f, "/{location}")?;
    }
    Ok(())
}
