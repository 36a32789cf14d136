//! Type-checks expressions against a domain and writes them as trees of words, with negation pushed down to the
//! tests.
//!
//! First every test is resolved ([`resolve`]), which changes nothing and may fail. Then the tree is written
//! ([`tree`]), which gives numbers to new names and cannot fail. A refused expression therefore leaves no
//! trace.

mod refused;
mod resolve;
mod tree;
mod widen;

use std::collections::HashSet;

use crate::constants::Constants;
use crate::dictionary::Dictionary;
use crate::domain::{AttributeType, Domain};
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::expr::{Expression, Literal, constant_offset, unescaped};

use resolve::Resolved;
pub(crate) use tree::{range_bounds, range_words};

/// The outcome of a test of an undefined attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Undefined {
    /// False, and its negation by `not` true. `<>`, `not in` and `none of` are false too.
    #[default]
    False,
    /// Unknown, and so is its negation. An expression that is unknown does not match.
    Unknown,
}

/// Appends the tree of `expression` to `words`.
///
/// # Errors
/// The first test that the domain does not allow, with its place. Nothing is changed then.
pub(crate) fn bind(
    domain: &Domain,
    undefined: Undefined,
    constants: &Constants,
    expression: &Expression<'_>,
    dictionary: &mut std::sync::Arc<Dictionary>,
    words: &mut Vec<u32>,
) -> Result<()> {
    let mut tests = Vec::with_capacity(expression.leaves.len());
    for leaf in &expression.leaves {
        let resolved = resolve::resolve(domain, constants, expression, &leaf.test)
            .map_err(|refused| refused.at(expression.text, leaf.offset))?;
        tests.push(resolved);
    }
    check_distinct(domain, dictionary, expression, &tests)?;
    let dictionary = std::sync::Arc::make_mut(dictionary);
    let rules = (domain, undefined);
    tree::write(&expression.nodes, &tests, rules, dictionary, words);
    Ok(())
}

/// Refuses more distinct values than an attribute may have.
fn check_distinct(
    domain: &Domain,
    dictionary: &Dictionary,
    expression: &Expression<'_>,
    tests: &[Resolved<'_>],
) -> Result<()> {
    // Few domains have such bounds; nothing is allocated for the others.
    let mut fresh: HashSet<(u16, Distinct<'_>)> = HashSet::new();
    let mut added: Vec<u64> = Vec::new();
    for (test, leaf) in tests.iter().zip(&expression.leaves) {
        let Some((attribute, values)) = test.values() else {
            continue;
        };
        let bound = match domain.attributes()[usize::from(attribute)].kind() {
            AttributeType::String { distinct_max }
            | AttributeType::StringList { distinct_max }
            | AttributeType::IntegerEnum { distinct_max } => distinct_max,
            _ => u64::MAX,
        };
        if bound == u64::MAX {
            continue;
        }
        added.resize(domain.attributes().len(), 0);
        for (position, value) in values.iter().enumerate() {
            let known = match value {
                Literal::Text(text) => dictionary
                    .find_string(unescaped(text).as_bytes())
                    .is_some_and(|id| {
                        let id = u64::from(id);
                        dictionary.has_value(attribute, id)
                            || dictionary.find_element(attribute, id).is_some()
                    }),
                Literal::Integer(value) => dictionary.has_value(attribute, *value as u64),
                Literal::Float(_) => true,
            };
            if known || !fresh.insert((attribute, Distinct::of(value))) {
                continue;
            }
            let count = &mut added[usize::from(attribute)];
            *count += 1;
            let total = u64::from(dictionary.distinct(usize::from(attribute))) + *count;
            if total > bound {
                let name = domain.attributes()[usize::from(attribute)].name();
                let message = format!(
                    "attribute {}: {total} distinct values, the domain allows {bound}",
                    quoted(name)
                );
                let offset = constant_offset(expression.text, leaf.offset, position);
                return Err(Error::new(ErrorKind::Bounds, message).at(expression.text, offset));
            }
        }
    }
    Ok(())
}

/// A literal that can be hashed.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Distinct<'s> {
    Integer(i64),
    Text(std::borrow::Cow<'s, str>),
    Other,
}

impl<'s> Distinct<'s> {
    fn of(literal: &Literal<'s>) -> Self {
        match literal {
            Literal::Integer(value) => Self::Integer(*value),
            Literal::Text(text) => Self::Text(unescaped(text)),
            Literal::Float(_) => Self::Other,
        }
    }
}
