//! What a validation checks.

/// What a validator checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a check of its own")]
pub struct Rules {
    /// Reject tags from 5000 on that the dictionary does not have.
    pub user_tags: bool,
    /// Reject header and trailer fields in other places.
    pub order: bool,
    /// Reject values that the dictionary does not list.
    pub values: bool,
    /// Accept fields without a value. A [`Decoder`](crate::Decoder) only returns such fields if asked to.
    pub empty: bool,
    /// Reject tags below 5000 that the dictionary does not have, or not for the message.
    pub unexpected: bool,
    /// Reject groups that do not have the number of entries that their count field states.
    pub counts: bool,
    /// Reject entries of groups whose fields are not in the dictionary's order. The first field of an entry always
    /// has to be the dictionary's.
    pub group_order: bool,
    /// Reject messages that lack a field which the value of another one requires, such as Price of a limit order.
    pub conditions: bool,
}

impl Default for Rules {
    /// Checks everything except tags from 5000 on, the order inside of groups, and conditions.
    fn default() -> Self {
        Self {
            user_tags: false,
            order: true,
            values: true,
            empty: false,
            unexpected: true,
            counts: true,
            group_order: false,
            conditions: false,
        }
    }
}

impl Rules {
    /// Sets [`user_tags`](Self#structfield.user_tags).
    #[must_use]
    pub fn user_tags(mut self, user_tags: bool) -> Self {
        self.user_tags = user_tags;
        self
    }

    /// Sets [`order`](Self#structfield.order).
    #[must_use]
    pub fn order(mut self, order: bool) -> Self {
        self.order = order;
        self
    }

    /// Sets [`values`](Self#structfield.values).
    #[must_use]
    pub fn values(mut self, values: bool) -> Self {
        self.values = values;
        self
    }

    /// Sets [`counts`](Self#structfield.counts).
    #[must_use]
    pub fn counts(mut self, counts: bool) -> Self {
        self.counts = counts;
        self
    }

    /// Sets [`group_order`](Self#structfield.group_order).
    #[must_use]
    pub fn group_order(mut self, group_order: bool) -> Self {
        self.group_order = group_order;
        self
    }

    /// Sets [`unexpected`](Self#structfield.unexpected).
    #[must_use]
    pub fn unexpected(mut self, unexpected: bool) -> Self {
        self.unexpected = unexpected;
        self
    }

    /// Sets [`empty`](Self#structfield.empty).
    #[must_use]
    pub fn empty(mut self, empty: bool) -> Self {
        self.empty = empty;
        self
    }

    /// Sets [`conditions`](Self#structfield.conditions).
    #[must_use]
    pub fn conditions(mut self, conditions: bool) -> Self {
        self.conditions = conditions;
        self
    }
}
