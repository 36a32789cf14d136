//! The same domain, expressions and events for a-tree.

use a_tree::{ATree, AttributeDefinition, Event};
use betree::{AttributeType, Domain};
use serde_json::Value;

use crate::Result;

/// A tree of expressions with their ids from 1.
pub(crate) fn build(domain: &Domain, texts: &[String]) -> Result<ATree<u64>> {
    let mut tree = empty(domain)?;
    for (id, text) in (1u64..).zip(texts) {
        insert(&mut tree, id, text)?;
    }
    Ok(tree)
}

/// Adds an expression.
pub(crate) fn insert(tree: &mut ATree<u64>, id: u64, text: &str) -> Result<()> {
    let inserted = tree.insert(&id, text);
    inserted.map_err(|error| format!("a-tree: {error:?}: {text}").into())
}

/// A tree without expressions.
pub(crate) fn empty(domain: &Domain) -> Result<ATree<u64>> {
    let definition = |attribute: &betree::Attribute| {
        let name = attribute.name();
        match attribute.kind() {
            AttributeType::Boolean => AttributeDefinition::boolean(name),
            AttributeType::Integer { .. } | AttributeType::IntegerEnum { .. } => {
                AttributeDefinition::integer(name)
            }
            AttributeType::Float { .. } => AttributeDefinition::float(name),
            AttributeType::IntegerList { .. } => AttributeDefinition::integer_list(name),
            AttributeType::StringList { .. } => AttributeDefinition::string_list(name),
            _ => AttributeDefinition::string(name),
        }
    };
    let definitions: Vec<AttributeDefinition> =
        domain.attributes().iter().map(definition).collect();
    let made = ATree::new(&definitions);
    made.map_err(|error| format!("a-tree: {error:?}").into())
}

/// An event of a tree, from JSON.
pub(crate) fn event(tree: &ATree<u64>, domain: &Domain, json: &str) -> Result<Event> {
    let object: Value = serde_json::from_str(json)?;
    let mut builder = tree.make_event();
    for attribute in domain.attributes() {
        let (name, value) = (attribute.name(), &object[attribute.name()]);
        match (attribute.kind(), value) {
            (_, Value::Null) => builder.with_undefined(name)?,
            (AttributeType::Boolean, value) => builder.with_boolean(name, value == true)?,
            (AttributeType::Float { .. }, value) => {
                // Generated floats have two digits behind the point.
                let hundredths = (value.as_f64().unwrap_or(0.0) * 100.0).round() as i64;
                builder.with_float(name, hundredths, 2)?;
            }
            (AttributeType::IntegerList { .. }, Value::Array(values)) => {
                let values: Vec<i64> = values.iter().filter_map(Value::as_i64).collect();
                builder.with_integer_list(name, &values)?;
            }
            (AttributeType::StringList { .. }, Value::Array(values)) => {
                let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
                builder.with_string_list(name, &values)?;
            }
            (_, Value::String(text)) => builder.with_string(name, text)?,
            (_, value) => builder.with_integer(name, value.as_i64().unwrap_or(0))?,
        }
    }
    Ok(builder.build()?)
}

/// The ids that match, ascending.
pub(crate) fn search(tree: &ATree<u64>, event: &Event) -> Result<Vec<u64>> {
    let report = tree
        .search(event)
        .map_err(|error| format!("a-tree: {error:?}"))?;
    let mut ids: Vec<u64> = report.matches().iter().map(|id| **id).collect();
    ids.sort_unstable();
    Ok(ids)
}
