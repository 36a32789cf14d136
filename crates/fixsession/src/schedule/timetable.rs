//! The schedule of a session: when it is open, and when one may log on.

use fixcore::Timestamp;

use super::rule::{Interval, Rule};

/// When a session is open. The numbers of a session belong to one interval; in the next one they begin at 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    rules: Option<Rules>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rules {
    session: Rule,
    logon: Option<Rule>,
}

/// Times that cannot be a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// LogonTime is outside of the session.
    #[error("LogonTime must be between StartTime and EndTime")]
    Logon,
    /// LogoutTime is outside of the session.
    #[error("LogoutTime must be between StartTime and EndTime")]
    Logout,
}

/// An interval of a session that never ends.
const ALWAYS: Interval = Interval {
    start: Timestamp(i64::MIN),
    end: Timestamp(i64::MAX),
};

/// An instant far from any change of a zone's rules, a Sunday: logon times are tried in its week.
const SAMPLE: Timestamp = Timestamp(1_767_484_800_000_000_000);
const DAY_NS: i64 = 86_400_000_000_000;

impl Schedule {
    /// Always open, and never reset (`NonStopSession`).
    #[must_use]
    pub fn non_stop() -> Self {
        Self { rules: None }
    }

    /// Open in the intervals of a rule.
    #[must_use]
    pub fn new(session: Rule) -> Self {
        let rules = Rules {
            session,
            logon: None,
        };
        Self { rules: Some(rules) }
    }

    /// One may be logged on only in the intervals of this rule, too (`LogonTime`, `LogoutTime`).
    ///
    /// # Errors
    ///
    /// The rule begins or ends outside of the session.
    pub fn logon(mut self, logon: Rule) -> Result<Self, ScheduleError> {
        let Some(rules) = &mut self.rules else {
            return Ok(self);
        };
        // The start of each session of a sample week must be before the logon, and its end after the logout.
        let inside = |at: Timestamp| rules.session.interval_at(at).is_some();
        let starts = (0..9).filter_map(|day| logon.next_start(Timestamp(SAMPLE.0 + day * DAY_NS)));
        let intervals: Vec<_> = starts
            .filter_map(|start| logon.interval_at(start))
            .collect();
        if !intervals.iter().any(|interval| inside(interval.start)) {
            return Err(ScheduleError::Logon);
        }
        let last = |interval: &Interval| Timestamp(interval.end.0 - 1);
        if !intervals.iter().any(|interval| inside(last(interval))) {
            return Err(ScheduleError::Logout);
        }
        rules.logon = Some(logon);
        Ok(self)
    }

    /// Whether it is always open.
    #[must_use]
    pub fn is_non_stop(&self) -> bool {
        self.rules.is_none()
    }

    /// The interval of the session that an instant is in; `None` when it is closed.
    #[must_use]
    pub fn interval_at(&self, utc: Timestamp) -> Option<Interval> {
        match &self.rules {
            None => Some(ALWAYS),
            Some(rules) => rules.session.interval_at(utc),
        }
    }

    /// Whether one may be logged on: the session is open, and it is between LogonTime and LogoutTime. When
    /// this ends inside the session's interval, a Logout is due, and no reset.
    #[must_use]
    pub fn is_logon_time(&self, utc: Timestamp) -> bool {
        let Some(rules) = &self.rules else {
            return true;
        };
        let is_open = rules.session.interval_at(utc).is_some();
        is_open
            && rules
                .logon
                .as_ref()
                .is_none_or(|logon| logon.interval_at(utc).is_some())
    }

    /// The next instant after this one at which [`interval_at`](Self::interval_at) or
    /// [`is_logon_time`](Self::is_logon_time) may change; `None` if never.
    #[must_use]
    pub fn next_change(&self, utc: Timestamp) -> Option<Timestamp> {
        let rules = self.rules.as_ref()?;
        let logon = rules.logon.as_ref();
        let changes = [
            rules.session.next_change(utc),
            logon.and_then(|logon| logon.next_change(utc)),
        ];
        changes.into_iter().flatten().min()
    }

    /// Whether numbers that began at `created` still hold at `now`: both are in the same interval. If not,
    /// they are reset once, before the Logon.
    #[must_use]
    pub fn same_session(&self, created: Timestamp, now: Timestamp) -> bool {
        let created = self.interval_at(created);
        created.is_some() && created == self.interval_at(now)
    }
}
