//! Widens the bounds of attributes to the values of an expression.

use crate::betree::BeTree;
use crate::domain::{AttributeType, Domain};
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::expr::{Expression, Literal, Test};

impl Domain {
    /// Widens the bounds of attributes so that they hold the values of an expression. Where it has values of a string
    /// or an enum, any number of distinct values is allowed from now on.
    ///
    /// ```
    /// let mut domain = betree::Domain::parse("age|integer|true|0|120\n")?;
    /// domain.widen(&betree::Expression::parse("age > 150")?)?;
    /// let kind = betree::AttributeType::Integer { min: 0, max: 150 };
    /// assert_eq!(domain.attributes()[0].kind(), kind);
    /// # Ok::<(), betree::Error>(())
    /// ```
    ///
    /// # Errors
    /// An attribute that the domain does not have, with its place. The domain is then unchanged.
    pub fn widen(&mut self, expression: &Expression<'_>) -> Result<()> {
        let mut kinds = Vec::new();
        for leaf in &expression.leaves {
            for (name, value) in values(expression, &leaf.test) {
                let Some(id) = self.attribute(name) else {
                    let message = format!("unknown attribute {}", quoted(name));
                    let error = Error::new(ErrorKind::UnknownAttribute, message);
                    return Err(error.at(expression.text, leaf.offset));
                };
                kinds.push((id, value));
            }
        }
        for (id, value) in kinds {
            self.set_kind(id, widened(self[id].kind(), value));
        }
        Ok(())
    }
}

/// The values that a test compares an attribute with, each with its name.
fn values<'e>(expression: &Expression<'e>, test: &Test<'e>) -> Vec<(&'e str, Literal<'e>)> {
    match test {
        Test::Compare(name, _, value)
        | Test::Equal { name, value, .. }
        | Test::Has { name, value, .. } => vec![(*name, *value)],
        Test::In { name, list, .. } | Test::Of(name, _, list) => {
            let values = expression.literals[list.clone()].iter();
            values.map(|value| (*name, *value)).collect()
        }
        _ => Vec::new(),
    }
}

/// The type with bounds that hold a value; a value of another type changes nothing.
fn widened(kind: AttributeType, value: Literal<'_>) -> AttributeType {
    let distinct_max = u64::MAX;
    match (kind, value) {
        (AttributeType::Integer { min, max }, Literal::Integer(value)) => AttributeType::Integer {
            min: min.min(value),
            max: max.max(value),
        },
        (AttributeType::IntegerList { min, max }, Literal::Integer(value)) => {
            AttributeType::IntegerList {
                min: min.min(value),
                max: max.max(value),
            }
        }
        (AttributeType::Float { min, max }, Literal::Float(value)) => AttributeType::Float {
            min: min.min(value),
            max: max.max(value),
        },
        (AttributeType::Float { min, max }, Literal::Integer(value)) => AttributeType::Float {
            min: min.min(value as f64),
            max: max.max(value as f64),
        },
        (AttributeType::String { .. }, _) => AttributeType::String { distinct_max },
        (AttributeType::StringList { .. }, _) => AttributeType::StringList { distinct_max },
        (AttributeType::IntegerEnum { .. }, _) => AttributeType::IntegerEnum { distinct_max },
        _ => kind,
    }
}

impl BeTree {
    /// [`Domain::widen`] for the domain of this tree: expressions that are inserted later may have these values.
    ///
    /// # Errors
    /// Those of [`Domain::widen`].
    pub fn widen(&mut self, expression: &Expression<'_>) -> Result<()> {
        self.domain_mut().widen(expression)
    }
}

#[cfg(test)]
mod tests {
    use crate::{BeTree, Constants, Domain, ErrorKind, Expression, SubscriptionId, Undefined};

    #[test]
    fn bounds_widen_before_and_after_subscriptions_are_searched() {
        let text =
            "i|integer|true|0|9\nf|float|true|0|1\nl|integer list|true|0|9\ns|string|true||1\n";
        let domain = Domain::parse(text).unwrap();
        let mut tree = BeTree::new(domain, Undefined::False);
        let insert = |tree: &mut BeTree, id: u64, text: &str| {
            let expression = Expression::parse(text).unwrap();
            let refused = tree.insert(SubscriptionId(id), &expression, &Constants::default());
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Bounds, "{text}");
            tree.widen(&expression).unwrap();
            tree.insert(SubscriptionId(id), &expression, &Constants::default())
                .unwrap();
        };
        insert(&mut tree, 1, "i > 12 or i < -3");
        insert(&mut tree, 2, "f in (2, -1.5)");
        let event = r#"{"i": 15, "f": 2.0, "l": [77], "s": "b"}"#;
        let snapshot = tree.snapshot();
        let found = snapshot.search(&snapshot.event(event).unwrap()).unwrap();
        assert_eq!(found, [1, 2].map(SubscriptionId));
        insert(&mut tree, 3, "l one of (77, -1)");
        insert(&mut tree, 4, "s in ('a', 'b')");
        let snapshot = tree.snapshot();
        let found = snapshot.search(&snapshot.event(event).unwrap()).unwrap();
        assert_eq!(found, [1, 2, 3, 4].map(SubscriptionId));

        let unknown = Expression::parse("i = 99 and nope = 1").unwrap();
        let before = tree.domain().clone();
        let error = tree.widen(&unknown).unwrap_err();
        assert_eq!(error.to_string(), "unknown attribute 'nope' at column 12");
        assert_eq!(*tree.domain(), before);
    }
}
