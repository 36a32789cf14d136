//! Events that are made of variables.

#![allow(unsafe_code, reason = "exports C functions")]

use std::ffi::c_char;
use std::ptr;

use crate::failure::{Failure, Result, guard};
use crate::json::{Value, betree_variable};
use crate::list::{
    betree_frequency_caps, betree_integer_list, betree_segments, betree_string_list,
};
use crate::pointer;
use crate::tree::{betree, state};

/// An event: a variable for each attribute that it has. Users may read both fields and change none.
#[derive(Debug)]
#[repr(C)]
pub struct betree_event {
    /// How many attributes the tree has.
    pub variable_count: usize,
    /// The variables; null where the event lacks the attribute.
    pub variables: *mut *mut betree_variable,
}

/// # Safety
/// `name` is null or valid.
unsafe fn variable(
    name: *const c_char,
    value: impl FnOnce() -> Result<Value>,
) -> *mut betree_variable {
    guard(ptr::null_mut(), || {
        // The value first: it may take over a list.
        let value = value()?;
        // SAFETY: the caller promises a string.
        let name = unsafe { pointer::text(name, "name") }?.into();
        Ok(pointer::give(betree_variable { name, value }))
    })
}

/// Makes the value of a boolean. Free it with betree_free_variable, unless it was set in an event; the same holds for
/// the other types.
///
/// # Safety
/// `name` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_make_boolean_variable(
    name: *const c_char,
    value: bool,
) -> *mut betree_variable {
    // SAFETY: the caller's promise is the same.
    unsafe { variable(name, || Ok(Value::Boolean(value))) }
}

/// Makes the value of an integer or an integer enum.
///
/// # Safety
/// `name` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_make_integer_variable(
    name: *const c_char,
    value: i64,
) -> *mut betree_variable {
    // SAFETY: the caller's promise is the same.
    unsafe { variable(name, || Ok(Value::Integer(value))) }
}

/// Makes the value of a float, which must be finite.
///
/// # Safety
/// `name` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_make_float_variable(
    name: *const c_char,
    value: f64,
) -> *mut betree_variable {
    // SAFETY: the caller's promise is the same.
    unsafe { variable(name, || Ok(Value::Float(value))) }
}

/// Makes the value of a string, which is copied.
///
/// # Safety
/// `name` and `value` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_make_string_variable(
    name: *const c_char,
    value: *const c_char,
) -> *mut betree_variable {
    // SAFETY: the caller's promise is the same.
    unsafe {
        variable(name, || {
            Ok(Value::String(pointer::text(value, "value")?.into()))
        })
    }
}

/// Makes the value of a list of integers. The list is given up in any case.
///
/// # Safety
/// `name` is null or valid; `value` is null, or a list that is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_make_integer_list_variable(
    name: *const c_char,
    value: *mut betree_integer_list,
) -> *mut betree_variable {
    // SAFETY: the caller's promise is the same.
    unsafe {
        variable(name, || {
            Ok(Value::IntegerList(pointer::take(value, "value")?.0))
        })
    }
}

/// Makes the value of a list of strings. The list is given up in any case.
///
/// # Safety
/// `name` is null or valid; `value` is null, or a list that is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_make_string_list_variable(
    name: *const c_char,
    value: *mut betree_string_list,
) -> *mut betree_variable {
    // SAFETY: the caller's promise is the same.
    unsafe {
        variable(name, || {
            Ok(Value::StringList(complete(
                pointer::take(value, "value")?.0,
            )?))
        })
    }
}

/// Makes the value of a list of segments. The list is given up in any case.
///
/// # Safety
/// `name` is null or valid; `value` is null, or a list that is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_make_segments_variable(
    name: *const c_char,
    value: *mut betree_segments,
) -> *mut betree_variable {
    // SAFETY: the caller's promise is the same.
    unsafe {
        variable(name, || {
            Ok(Value::Segments(complete(pointer::take(value, "value")?.0)?))
        })
    }
}

/// Makes the value of a list of counters. The list is given up in any case.
///
/// # Safety
/// `name` is null or valid; `value` is null, or a list that is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_make_frequency_caps_variable(
    name: *const c_char,
    value: *mut betree_frequency_caps,
) -> *mut betree_variable {
    // SAFETY: the caller's promise is the same.
    unsafe {
        variable(name, || {
            Ok(Value::FrequencyCaps(complete(
                pointer::take(value, "value")?.0,
            )?))
        })
    }
}

/// The elements of a list, all of which must have been set.
fn complete<T>(list: Vec<Option<T>>) -> Result<Vec<T>> {
    let elements = list.into_iter().enumerate();
    elements
        .map(|(at, element)| element.ok_or(Failure::Hole(at)))
        .collect()
}

/// Frees a variable. Null does nothing.
///
/// # Safety
/// `variable` is null, or a variable that was set in no event and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_free_variable(variable: *mut betree_variable) {
    // SAFETY: the caller's promise is the same.
    unsafe { pointer::drop_given(variable) };
}

/// Makes an event that lacks all attributes of the tree. Free it with betree_free_event.
///
/// # Safety
/// `tree` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_make_event(tree: *const betree) -> *mut betree_event {
    guard(ptr::null_mut(), || {
        // SAFETY: the caller promises that it is valid.
        let count = unsafe { state(tree) }?.attribute_count();
        let variables = vec![ptr::null_mut::<betree_variable>(); count].into_boxed_slice();
        Ok(pointer::give(betree_event {
            variable_count: count,
            variables: Box::into_raw(variables).cast(),
        }))
    })
}

/// Sets the variable at a position, by convention that of its attribute, and frees the one that was there. Null unsets
/// it. The variable is given up in any case. What attribute it is of, its name says.
///
/// # Safety
/// `event` is null or valid; `variable` is null, or a variable that is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_set_variable(
    event: *mut betree_event,
    index: usize,
    variable: *mut betree_variable,
) {
    guard((), || {
        let mut given = variable;
        let placed = (|| {
            // SAFETY: the caller promises an event that nothing else uses; its fields are as they were made.
            let places = unsafe {
                let event = pointer::exclusive(event, "event")?;
                std::slice::from_raw_parts_mut(event.variables, event.variable_count)
            };
            let count = places.len();
            let place = places
                .get_mut(index)
                .ok_or(Failure::Index { index, count })?;
            std::mem::swap(place, &mut given);
            Ok(())
        })();
        // SAFETY: what is left here is in no event: the old variable, or the new one that has no place.
        unsafe { pointer::drop_given(given) };
        placed
    });
}

/// Frees an event with its variables. Null does nothing.
///
/// # Safety
/// `event` is null, or an event that is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_free_event(event: *mut betree_event) {
    guard((), || {
        if event.is_null() {
            return Ok(());
        }
        // SAFETY: the caller gives the event up; its fields are as they were made, by `Box::into_raw` of a slice
        // of that length.
        let variables = unsafe {
            let event = pointer::take(event, "event")?;
            let places = ptr::slice_from_raw_parts_mut(event.variables, event.variable_count);
            Box::from_raw(places)
        };
        for variable in variables {
            // SAFETY: the event owned its variables.
            unsafe { pointer::drop_given(variable) };
        }
        Ok(())
    });
}

/// The variables that an event has.
///
/// # Safety
/// `event` is null, or an event that nothing changes while the variables are used.
pub(crate) unsafe fn variables<'a>(event: *const betree_event) -> Result<Vec<&'a betree_variable>> {
    // SAFETY: the caller promises an event; its fields are as they were made.
    let places = unsafe {
        let event = pointer::shared(event, "event")?;
        pointer::elements(
            event.variables.cast_const(),
            event.variable_count,
            "variables",
        )?
    };
    // SAFETY: each is null, or a variable that the event owns.
    let set = places.iter().filter_map(|place| unsafe { place.as_ref() });
    Ok(set.collect())
}
