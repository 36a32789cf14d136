//! The attributes of events and expressions.

#![allow(unsafe_code, reason = "exports C functions")]

use std::ffi::c_char;
use std::ptr;

use ::betree::{AttributeType, Expression};

use crate::failure::guard;
use crate::pointer;
use crate::tree::{betree, state};

/// The type of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum betree_value_type_e {
    /// True or false.
    BETREE_BOOLEAN,
    /// A 64-bit integer.
    BETREE_INTEGER,
    /// A double.
    BETREE_FLOAT,
    /// Text.
    BETREE_STRING,
    /// A set of integers.
    BETREE_INTEGER_LIST,
    /// A set of texts.
    BETREE_STRING_LIST,
    /// Segments with the times at which they were entered.
    BETREE_SEGMENTS,
    /// Counters of what was shown.
    BETREE_FREQUENCY_CAPS,
    /// An integer that is compared only for equality.
    BETREE_INTEGER_ENUM,
}

/// The name and the type of an attribute.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct betree_variable_definition {
    /// The name, or null if there is no such attribute. Valid until the tree is freed.
    pub name: *const c_char,
    /// The type.
    pub r#type: betree_value_type_e,
}

/// # Safety
/// `tree` and `name` are null or valid.
unsafe fn add(tree: *mut betree, name: *const c_char, allow_undefined: bool, kind: AttributeType) {
    guard((), || {
        // SAFETY: the caller promises that both are valid.
        let (state, name) = unsafe { (state(tree)?, pointer::text(name, "name")?) };
        state.add(name, kind, allow_undefined)
    });
}

/// Adds a boolean. An event may lack an attribute only if it allows undefined. A name that is taken or wrong adds
/// nothing, and betree_last_error says so; the same holds for the other types.
///
/// # Safety
/// `tree` and `name` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_boolean_variable(
    tree: *mut betree,
    name: *const c_char,
    allow_undefined: bool,
) {
    // SAFETY: the caller's promise is the same.
    unsafe { add(tree, name, allow_undefined, AttributeType::Boolean) };
}

/// Adds an integer. Values of expressions must be within the bounds; events may have any.
///
/// # Safety
/// `tree` and `name` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_integer_variable(
    tree: *mut betree,
    name: *const c_char,
    allow_undefined: bool,
    min: i64,
    max: i64,
) {
    let kind = AttributeType::Integer { min, max };
    // SAFETY: the caller's promise is the same.
    unsafe { add(tree, name, allow_undefined, kind) };
}

/// Adds a float. Values of expressions must be within the bounds; events may have any.
///
/// # Safety
/// `tree` and `name` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_float_variable(
    tree: *mut betree,
    name: *const c_char,
    allow_undefined: bool,
    min: f64,
    max: f64,
) {
    let kind = AttributeType::Float { min, max };
    // SAFETY: the caller's promise is the same.
    unsafe { add(tree, name, allow_undefined, kind) };
}

/// Adds a string, of which expressions have at most `count` distinct values.
///
/// # Safety
/// `tree` and `name` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_string_variable(
    tree: *mut betree,
    name: *const c_char,
    allow_undefined: bool,
    count: usize,
) {
    let kind = AttributeType::String {
        distinct_max: count as u64,
    };
    // SAFETY: the caller's promise is the same.
    unsafe { add(tree, name, allow_undefined, kind) };
}

/// Adds a list of integers. Values of expressions must be within the bounds; events may have any.
///
/// # Safety
/// `tree` and `name` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_integer_list_variable(
    tree: *mut betree,
    name: *const c_char,
    allow_undefined: bool,
    min: i64,
    max: i64,
) {
    let kind = AttributeType::IntegerList { min, max };
    // SAFETY: the caller's promise is the same.
    unsafe { add(tree, name, allow_undefined, kind) };
}

/// Adds an integer that is compared only for equality, of which expressions have at most `count` distinct values.
///
/// # Safety
/// `tree` and `name` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_integer_enum_variable(
    tree: *mut betree,
    name: *const c_char,
    allow_undefined: bool,
    count: usize,
) {
    let kind = AttributeType::IntegerEnum {
        distinct_max: count as u64,
    };
    // SAFETY: the caller's promise is the same.
    unsafe { add(tree, name, allow_undefined, kind) };
}

/// Adds a list of strings, of which expressions have at most `count` distinct values.
///
/// # Safety
/// `tree` and `name` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_string_list_variable(
    tree: *mut betree,
    name: *const c_char,
    allow_undefined: bool,
    count: usize,
) {
    let kind = AttributeType::StringList {
        distinct_max: count as u64,
    };
    // SAFETY: the caller's promise is the same.
    unsafe { add(tree, name, allow_undefined, kind) };
}

/// Adds a list of segments.
///
/// # Safety
/// `tree` and `name` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_segments_variable(
    tree: *mut betree,
    name: *const c_char,
    allow_undefined: bool,
) {
    // SAFETY: the caller's promise is the same.
    unsafe { add(tree, name, allow_undefined, AttributeType::Segments) };
}

/// Adds a list of frequency caps. `within_frequency_cap` reads the attribute named `frequency_caps`.
///
/// # Safety
/// `tree` and `name` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_frequency_caps_variable(
    tree: *mut betree,
    name: *const c_char,
    allow_undefined: bool,
) {
    // SAFETY: the caller's promise is the same.
    unsafe { add(tree, name, allow_undefined, AttributeType::Frequency) };
}

/// Widens the bounds of attributes so that they hold the values of an expression, which is not inserted. Where it has
/// values of a string or an enum, any number of distinct values is allowed from now on. False if the expression is
/// wrong or names an unknown attribute.
///
/// # Safety
/// `tree` and `expr` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_change_boundaries(tree: *mut betree, expr: *const c_char) -> bool {
    guard(false, || {
        // SAFETY: the caller promises that both are valid.
        let (state, expr) = unsafe { (state(tree)?, pointer::text(expr, "expr")?) };
        let expression = Expression::parse(expr)?;
        // What is inserted does not change, so the snapshot stays.
        state.read(|writer| writer.widen(&expression))?;
        Ok(true)
    })
}

/// The name and the type of an attribute, by its position from 0 in the order in which attributes were added.
///
/// # Safety
/// `tree` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_get_variable_definition(
    tree: *mut betree,
    index: usize,
) -> betree_variable_definition {
    let none = betree_variable_definition {
        name: ptr::null(),
        r#type: betree_value_type_e::BETREE_BOOLEAN,
    };
    guard(none, || {
        // SAFETY: the caller promises that it is valid.
        let state = unsafe { state(tree) }?;
        state.read(|writer| {
            let (attribute, name) = writer.attribute(index)?;
            Ok(betree_variable_definition {
                name: name.as_ptr(),
                r#type: type_of(attribute.kind()),
            })
        })
    })
}

fn type_of(kind: AttributeType) -> betree_value_type_e {
    match kind {
        AttributeType::Integer { .. } => betree_value_type_e::BETREE_INTEGER,
        AttributeType::Float { .. } => betree_value_type_e::BETREE_FLOAT,
        AttributeType::String { .. } => betree_value_type_e::BETREE_STRING,
        AttributeType::IntegerList { .. } => betree_value_type_e::BETREE_INTEGER_LIST,
        AttributeType::StringList { .. } => betree_value_type_e::BETREE_STRING_LIST,
        AttributeType::Segments => betree_value_type_e::BETREE_SEGMENTS,
        AttributeType::Frequency => betree_value_type_e::BETREE_FREQUENCY_CAPS,
        AttributeType::IntegerEnum { .. } => betree_value_type_e::BETREE_INTEGER_ENUM,
        _ => betree_value_type_e::BETREE_BOOLEAN,
    }
}
