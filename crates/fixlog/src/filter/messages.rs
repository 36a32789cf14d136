//! Which messages of a log are wanted.

use fixcore::{Message, Timestamp};

use super::{Expression, Moment};

/// The two CompIDs of a session; `None` is any.
type Session = [Option<Vec<u8>>; 2];

/// Which messages of a log are wanted: those that fulfil every condition that was set.
///
/// ```
/// use fixcore::Decoder;
/// use fixlog::Filter;
///
/// # let message = {
/// #     let mut all = Vec::new();
/// #     fixcore::frame::write(b"FIX.4.4", b"35=D\x0149=DESK\x0156=MARKET\x01", &mut all);
/// #     all
/// # };
/// let mut decoder = Decoder::new();
/// let message = decoder.parse(&message)?;
/// let orders = Filter::new().types(["D", "F"]);
/// assert!(orders.clone().session(Some("MARKET"), Some("DESK")).matches(&message));
/// assert!(!orders.session(Some("OTHER"), None).matches(&message));
/// # Ok::<(), fixcore::Error>(())
/// ```
#[derive(Debug, Default, Clone)]
pub struct Filter {
    types: Vec<Vec<u8>>,
    sessions: Vec<Session>,
    from: Option<Moment>,
    to: Option<Moment>,
    expressions: Vec<Expression>,
}

impl Filter {
    /// All messages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds types (35): messages of any of them are wanted.
    #[must_use]
    pub fn types<T: AsRef<[u8]>>(mut self, types: impl IntoIterator<Item = T>) -> Self {
        let types = types.into_iter().map(|name| name.as_ref().to_vec());
        self.types.extend(types);
        self
    }

    /// Adds a session by its CompIDs (49, 56), of which `None` is any: messages of any session that was
    /// added are wanted, in both directions.
    #[must_use]
    pub fn session(mut self, sender: Option<&str>, target: Option<&str>) -> Self {
        let names = [sender, target];
        let names = names.map(|name| name.map(|name| name.as_bytes().to_vec()));
        self.sessions.push(names);
        self
    }

    /// Wants messages whose SendingTime (52) is this or later. A message without one is not wanted.
    #[must_use]
    pub fn from(mut self, from: Moment) -> Self {
        self.from = Some(from);
        self
    }

    /// Wants messages whose SendingTime (52) is earlier than this. A message without one is not wanted. If
    /// both ends are times of each day and this one is the earlier, the range goes over midnight.
    #[must_use]
    pub fn to(mut self, to: Moment) -> Self {
        self.to = Some(to);
        self
    }

    /// Adds an expression that has to hold.
    #[must_use]
    pub fn expression(mut self, expression: Expression) -> Self {
        self.expressions.push(expression);
        self
    }

    /// Whether no condition was set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let conditions = self.types.len() + self.sessions.len() + self.expressions.len();
        conditions == 0 && self.from.is_none() && self.to.is_none()
    }

    /// Whether a message fulfils every condition.
    #[must_use]
    pub fn matches(&self, message: &Message<'_, '_>) -> bool {
        (self.types.is_empty() || self.types.iter().any(|name| name == message.msg_type()))
            && (self.sessions.is_empty() || self.is_of_session(message))
            && self.is_in_time(message)
            && self.expressions.iter().all(|wanted| wanted.holds(message))
    }

    fn is_of_session(&self, message: &Message<'_, '_>) -> bool {
        let (sender, target) = (message.get(49), message.get(56));
        let is = |wanted: &Option<Vec<u8>>, name: Option<&[u8]>| {
            wanted.as_deref().is_none_or(|wanted| name == Some(wanted))
        };
        self.sessions.iter().any(|[one, other]| {
            (is(one, sender) && is(other, target)) || (is(one, target) && is(other, sender))
        })
    }

    fn is_in_time(&self, message: &Message<'_, '_>) -> bool {
        if self.from.is_none() && self.to.is_none() {
            return true;
        }
        let Some(time) = message.get(52).and_then(Timestamp::parse) else {
            return false;
        };
        let is_behind = self.from.is_none_or(|from| !from.is_after(time));
        let is_before = self.to.is_none_or(|to| to.is_after(time));
        match (self.from, self.to) {
            // Over midnight.
            (Some(Moment::EachDay(from)), Some(Moment::EachDay(to))) if from > to => {
                is_behind || is_before
            }
            _ => is_behind && is_before,
        }
    }

    /// Whether no time is in the range: it ends where it begins, or before. Between two times of each day,
    /// a range that ends before it begins goes over midnight.
    #[must_use]
    pub fn is_empty_range(&self) -> bool {
        match (self.from, self.to) {
            (Some(Moment::At(from)), Some(Moment::At(to))) => from >= to,
            (Some(Moment::EachDay(from)), Some(Moment::EachDay(to))) => from == to,
            _ => false,
        }
    }
}
