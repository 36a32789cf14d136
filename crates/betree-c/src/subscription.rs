//! Subscriptions: expressions with ids and constants.

#![allow(unsafe_code, reason = "exports C functions")]

use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

use ::betree::{Constants, Expression, SubscriptionId};

use crate::failure::{Result, guard};
use crate::pointer;
use crate::state::betree_sub;
use crate::tree::{betree, state};

/// The id of a subscription.
pub type betree_sub_t = u64;

/// A value that a subscription brings along: the ids that its frequency caps count by.
#[derive(Debug, Clone)]
pub struct betree_constant {
    name: Box<str>,
    value: i64,
}

/// Makes a constant: `advertiser_id`, `campaign_id`, `campaign_group_id`, `flight_id` or `product_id`. Free it with
/// betree_free_constant; subscriptions copy what they need. Null if the name is null or not UTF-8.
///
/// # Safety
/// `name` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_make_integer_constant(
    name: *const c_char,
    integer_value: i64,
) -> *mut betree_constant {
    guard(ptr::null_mut(), || {
        // SAFETY: the caller promises a string.
        let name = unsafe { pointer::text(name, "name") }?.into();
        let value = integer_value;
        Ok(pointer::give(betree_constant { name, value }))
    })
}

/// Frees a constant. Null does nothing.
///
/// # Safety
/// `constant` is null, or came from betree_make_integer_constant and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_free_constant(constant: *mut betree_constant) {
    // SAFETY: the caller's promise is the same.
    unsafe { pointer::drop_given(constant) };
}

/// Frees `count` constants, and not the array.
///
/// # Safety
/// `constants` is null, or points to `count` constants, each as betree_free_constant needs it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_free_constants(count: usize, constants: *mut *mut betree_constant) {
    guard((), || {
        // SAFETY: the caller promises `count` pointers.
        for constant in unsafe { pointer::elements(constants, count, "constants") }? {
            // SAFETY: and that each is a constant that is used no more.
            unsafe { pointer::drop_given(*constant) };
        }
        Ok(())
    });
}

/// # Safety
/// `constants` is null, or points to `count` pointers that are null or valid.
unsafe fn read_constants(
    count: usize,
    constants: *const *const betree_constant,
) -> Result<Constants> {
    let mut read = Constants::default();
    // SAFETY: the caller promises `count` pointers.
    for constant in unsafe { pointer::elements(constants, count, "constants") }? {
        // SAFETY: and that each is null or valid.
        let constant = unsafe { pointer::shared(*constant, "constant") }?;
        let place = match &*constant.name {
            "advertiser_id" => &mut read.advertiser_id,
            "campaign_id" => &mut read.campaign_id,
            "campaign_group_id" => &mut read.campaign_group_id,
            "flight_id" => &mut read.flight_id,
            "product_id" => &mut read.product_id,
            // What no function of the language reads changes no answer.
            _ => continue,
        };
        *place = Some(constant.value);
    }
    Ok(read)
}

/// Makes a subscription and checks its expression. It belongs to the tree and is freed with it. Null if the
/// expression is wrong, names an unknown attribute, has a value outside of its bounds, or lacks a constant. Constants
/// of other names are ignored.
///
/// # Safety
/// `tree` and `expr` are null or valid; `constants` is null, or points to `constant_count` pointers that are null or
/// valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_make_sub(
    tree: *mut betree,
    id: betree_sub_t,
    constant_count: usize,
    constants: *const *const betree_constant,
    expr: *const c_char,
) -> *const betree_sub {
    guard(ptr::null(), || {
        // SAFETY: the caller promises that all are valid.
        let (state, text, constants) = unsafe {
            (
                state(tree)?,
                pointer::text(expr, "expr")?,
                read_constants(constant_count, constants)?,
            )
        };
        let expression = Expression::parse(text)?;
        state.read(|writer| {
            writer.check(&expression, &constants)?;
            let made = Arc::new(betree_sub {
                id: SubscriptionId(id),
                constants,
                expression: text.into(),
            });
            let pointer = Arc::as_ptr(&made);
            writer.keep(made);
            Ok(pointer)
        })
    })
}

/// Inserts a subscription of betree_make_sub. False if its id is taken.
///
/// # Safety
/// `tree` and `sub` are null or valid, and the tree is that of the subscription.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_insert_sub(tree: *mut betree, sub: *const betree_sub) -> bool {
    guard(false, || {
        // SAFETY: the caller promises that both are valid.
        let (state, sub) = unsafe { (state(tree)?, pointer::shared(sub, "sub")?) };
        let expression = Expression::parse(&sub.expression)?;
        state.change(|writer| {
            let tree = writer.tree();
            Ok(tree.insert(sub.id, &expression, &sub.constants)?)
        })?;
        Ok(true)
    })
}

/// Inserts a subscription without constants. False if its id is taken or its expression is wrong.
///
/// # Safety
/// `tree` and `expr` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_insert(
    tree: *mut betree,
    id: betree_sub_t,
    expr: *const c_char,
) -> bool {
    // SAFETY: the caller's promise is the same; there are no constants.
    unsafe { betree_insert_with_constants(tree, id, 0, ptr::null(), expr) }
}

/// Inserts a subscription. False if its id is taken, or its expression is wrong or lacks a constant.
///
/// # Safety
/// As for betree_make_sub.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_insert_with_constants(
    tree: *mut betree,
    id: betree_sub_t,
    constant_count: usize,
    constants: *const *const betree_constant,
    expr: *const c_char,
) -> bool {
    guard(false, || {
        // SAFETY: the caller promises that all are valid.
        let (state, text, constants) = unsafe {
            (
                state(tree)?,
                pointer::text(expr, "expr")?,
                read_constants(constant_count, constants)?,
            )
        };
        let expression = Expression::parse(text)?;
        let id = SubscriptionId(id);
        state.change(|writer| Ok(writer.tree().insert(id, &expression, &constants)?))?;
        Ok(true)
    })
}

/// Replaces the expression and the constants of a subscription. False if there is none with this id, or as for
/// betree_insert_with_constants; the subscription then stays what it was.
///
/// # Safety
/// As for betree_make_sub.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_update(
    tree: *mut betree,
    id: betree_sub_t,
    constant_count: usize,
    constants: *const *const betree_constant,
    expr: *const c_char,
) -> bool {
    guard(false, || {
        // SAFETY: the caller promises that all are valid.
        let (state, text, constants) = unsafe {
            (
                state(tree)?,
                pointer::text(expr, "expr")?,
                read_constants(constant_count, constants)?,
            )
        };
        let expression = Expression::parse(text)?;
        let id = SubscriptionId(id);
        state.change(|writer| Ok(writer.tree().update(id, &expression, &constants)?))?;
        Ok(true)
    })
}

/// Removes a subscription. False if there is none with this id.
///
/// # Safety
/// `tree` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_delete(tree: *mut betree, id: betree_sub_t) -> bool {
    guard(false, || {
        // SAFETY: the caller promises that it is valid.
        let state = unsafe { state(tree) }?;
        state.change(|writer| Ok(writer.tree().delete(SubscriptionId(id))?))?;
        Ok(true)
    })
}
