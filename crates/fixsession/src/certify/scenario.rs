//! A scenario as data.

use std::time::Duration;

use fixcore::dict::Version;

use super::counterparty::{Counterparty, Reset};
use crate::options::Role;

/// One of the connections of a scenario; nearly all have only the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// The first.
    A,
    /// A second one of the same identity.
    B,
}

/// What a scenario needs of the engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "needs are independent")]
pub struct Needs {
    /// An application that sends orders back.
    pub echo: bool,
    /// Checks against a dictionary.
    pub dictionary: bool,
    /// Numbers that go on over connections.
    pub kept_numbers: bool,
    /// This side connects: the engine is an acceptor.
    pub connect: bool,
    /// This side listens: the engine is an initiator.
    pub listen: bool,
}

/// A scenario: a rule, and the exchange that shows whether an engine obeys it.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub(super) name: String,
    pub(super) says: String,
    pub(super) known: Option<String>,
    pub(super) versions: Vec<Version>,
    pub(super) is_once: bool,
    pub(super) needs: Needs,
    pub(super) steps: Vec<Step>,
}

impl Scenario {
    /// Its name: an area and a rule, as `number.high`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rule in one sentence.
    #[must_use]
    pub fn says(&self) -> &str {
        &self.says
    }

    /// Which engines are known not to obey it.
    #[must_use]
    pub fn known(&self) -> Option<&str> {
        self.known.as_deref()
    }

    /// The versions that have this rule.
    #[must_use]
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    /// Whether one version stands for all.
    #[must_use]
    pub fn is_once(&self) -> bool {
        self.is_once
    }

    /// What it needs of the engine.
    #[must_use]
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// Why it cannot be run against this engine in this version, if it cannot.
    #[must_use]
    pub fn skipped(&self, version: Version, engine: &Counterparty) -> Option<&'static str> {
        let Needs {
            echo,
            dictionary,
            kept_numbers,
            connect,
            listen,
        } = self.needs;
        let flag = engine.reset == Reset::Flag;
        let connects = engine.role == Role::Initiator;
        Some(match () {
            () if connect && connects => "needs an engine that accepts connections",
            () if listen && !connects => "needs an engine that connects",
            () if !self.versions.contains(&version) => "the version does not have this rule",
            () if echo && !engine.echoes => "needs an application that sends orders back",
            () if dictionary && !engine.has_dictionaries => "needs an engine with dictionaries",
            () if kept_numbers && !flag => "needs an engine that keeps its numbers",
            () if flag && version == Version::Fix40 => "FIX 4.0 has no ResetSeqNumFlag (141)",
            () => return None,
        })
    }
}

/// One line of a scenario.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The line as it is in the table.
    pub(super) text: String,
    pub(super) versions: Vec<Version>,
    pub(super) connection: Connection,
    pub(super) action: Action,
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    Connect,
    Close,
    /// The engine closes the connection.
    Closed(Window),
    /// The same; it may send Rejects and Logouts before.
    Ends(Window),
    /// The engine sends nothing for this long.
    Nothing(Span),
    Wait(Span),
    Logon(Vec<Rule>),
    Logout,
    Alive,
    Send(Pattern, Cut),
    /// These fields as they are.
    Raw(Vec<Rule>),
    Expect(Pattern, Window),
    Next(i64),
    Restart,
    /// What was exchanged so far is not counted by `#N`.
    Rebase,
    AllowHeartbeats,
    /// Such messages are passed over from here on.
    Allow(Pattern),
    /// A message that was allowed has come.
    Came,
}

/// How a message is handed to the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    Whole,
    Bytes,
    /// Together with the next message.
    Glue,
}

/// A time, or a multiple of HeartBtInt (108).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) fixed: Duration,
    pub(super) thousandths: u32,
}

impl Span {
    /// The time for this HeartBtInt.
    pub(super) fn of(self, interval: Duration) -> Duration {
        let nanos = interval.as_nanos() * u128::from(self.thousandths) / 1000;
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
        self.fixed.saturating_add(Duration::from_nanos(nanos))
    }
}

/// When something has to happen, after the step before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: Span,
    /// `None`: the time-out of the counterparty.
    pub(super) until: Option<Span>,
}

/// A message that is sent or expected.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) kind: Kind,
    pub(super) fields: Vec<Rule>,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Type(String),
    Reject(RejectRule),
}

#[derive(Debug, Clone)]
pub(super) struct RejectRule {
    pub(super) reason: u32,
    pub(super) text: String,
    pub(super) of: Value,
    pub(super) msg_type: String,
    pub(super) tag: RefTag,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RefTag {
    Any,
    None,
    Is(String),
}

/// What is stated of a field.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// As text: some are no numbers.
    pub(super) tag: String,
    pub(super) what: What,
}

#[derive(Debug, Clone)]
pub(super) enum What {
    Is(Value),
    /// One of these.
    OneOf(Vec<Value>),
    /// Only if texts are compared.
    Text(Value),
    Present,
    Absent,
    /// At the end of the body, whatever is there.
    Append(Value),
    Keep(String),
    /// The value is kept if the field is there.
    KeepIfThere(String),
    /// The value that was kept; no field if there is none.
    Kept(String),
}

/// The value of a field, of parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value(pub(super) Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// A number of the side whose number the field is.
    Number(i64),
    /// A number of this side, or of the engine.
    Ours(i64),
    Theirs(i64),
    Now(i64),
    Length(i64),
    Sum(u8),
    BeginString,
    Us,
    Them,
    ApplVerId,
    Open,
    Repeat(char, usize),
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        Self(vec![Part::Text(text.to_owned())])
    }

    /// Whether the engine sends the same value back: times differ.
    pub(super) fn is_fixed(&self) -> bool {
        !self.0.iter().any(|part| matches!(part, Part::Now(_)))
    }
}
