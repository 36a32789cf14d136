//! Checks the value of one field.

use super::dictionary::{Dictionary, FieldSpec};
use super::rules::Rules;
use crate::decoder::Field;
use crate::error::{Error, ErrorKind, Result};
use crate::value::Decimal;

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
    if !known.data_type.accepts(field.value) && !is_quantity(field) {
        return Err(wrong(ErrorKind::Value, field));
    }
    match known.values.is_empty() || !rules.values || is_listed(known, field) {
        true => Ok(()),
        false if is_quantity(field) => Ok(()),
        false => Err(wrong(ErrorKind::UnknownValue, field)),
    }
}

/// Whether this is IOIQty (27) or LegIOIQty (682), which has a code or a quantity, with a quantity.
#[cold]
fn is_quantity(field: &Field<'_>) -> bool {
    matches!(field.tag, 27 | 682)
        && Decimal::parse(field.value).is_some_and(|quantity| quantity.mantissa >= 0)
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
