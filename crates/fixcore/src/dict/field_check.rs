//! Checks the value of one field.

use super::dictionary::{Dictionary, FieldSpec};
use super::rules::Rules;
use crate::decoder::Field;
use crate::error::{Error, ErrorKind, Result};

/// What is wrong with a field, and where.
pub(super) fn wrong(kind: ErrorKind, field: &Field<'_>) -> Error {
    Error::new(kind, field.offset).tag_is(field.tag)
}

/// Checks the data type and the value of a field.
#[inline]
pub(super) fn check_value(
    dictionary: &Dictionary,
    rules: Rules,
    number: usize,
    field: &Field<'_>,
) -> Result<()> {
    if field.value.is_empty() {
        return match rules.empty {
            true => Ok(()),
            false => Err(wrong(ErrorKind::EmptyValue, field)),
        };
    }
    let Some(known) = dictionary.fields.get(number) else {
        return Ok(());
    };
    if !known.data_type.accepts(field.value) {
        return Err(wrong(ErrorKind::Value, field));
    }
    match known.values.is_empty() || !rules.values || is_listed(known, field) {
        true => Ok(()),
        false => Err(wrong(ErrorKind::UnknownValue, field)),
    }
}

/// Whether a value is one of those that its field lists.
fn is_listed(known: &FieldSpec, field: &Field<'_>) -> bool {
    // The message type was found before; the values of tag 35 do not list all types.
    if field.tag == 35 || known.lists(field.value) {
        return true;
    }
    // A listed value may itself contain spaces.
    let mut words = field.value.split(|byte| *byte == b' ');
    known.data_type.is_list() && words.all(|word| known.lists(word))
}
