//! From pointers of callers to references and values: null is a failure, all else is the caller's promise.

#![allow(unsafe_code, reason = "reads through pointers of the caller")]

use std::ffi::{CStr, c_char};

use crate::failure::{Failure, Result};

/// A reference to what a caller points to.
///
/// # Safety
/// `pointer` is null, or points to a live `T` that nothing changes while the reference lives.
pub(crate) unsafe fn shared<'a, T>(pointer: *const T, what: &'static str) -> Result<&'a T> {
    // SAFETY: the caller's promise is the same.
    unsafe { pointer.as_ref() }.ok_or(Failure::Null(what))
}

/// A reference to what a caller points to and lets us change.
///
/// # Safety
/// `pointer` is null, or points to a live `T` that nothing else reads or changes while the reference lives.
pub(crate) unsafe fn exclusive<'a, T>(pointer: *mut T, what: &'static str) -> Result<&'a mut T> {
    // SAFETY: the caller's promise is the same.
    unsafe { pointer.as_mut() }.ok_or(Failure::Null(what))
}

/// The elements that a caller points to; none if `count` is 0, wherever `pointer` points.
///
/// # Safety
/// `pointer` is null, or points to `count` live elements that nothing changes while the slice lives.
pub(crate) unsafe fn elements<'a, T>(
    pointer: *const T,
    count: usize,
    what: &'static str,
) -> Result<&'a [T]> {
    match pointer.is_null() {
        _ if count == 0 => Ok(&[]),
        true => Err(Failure::Null(what)),
        // SAFETY: the caller promises `count` live elements.
        false => Ok(unsafe { std::slice::from_raw_parts(pointer, count) }),
    }
}

/// A string of a caller.
///
/// # Safety
/// `pointer` is null, or points to bytes that end with 0, which nothing changes while the text lives.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, what: &'static str) -> Result<&'a str> {
    // SAFETY: the caller's promise is the same.
    let bytes = unsafe { bytes(pointer, what) }?;
    let wrong = |error: std::str::Utf8Error| Failure::Encoding(what, error.valid_up_to());
    std::str::from_utf8(bytes).map_err(wrong)
}

/// A string of a caller, in any encoding, without its 0.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn bytes<'a>(pointer: *const c_char, what: &'static str) -> Result<&'a [u8]> {
    match pointer.is_null() {
        true => Err(Failure::Null(what)),
        // SAFETY: the caller promises an end, and that nothing changes the bytes.
        false => Ok(unsafe { CStr::from_ptr(pointer) }.to_bytes()),
    }
}

/// Hands a value over to the caller, who gives it back to [`take`].
pub(crate) fn give<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// What [`give`] handed over.
///
/// # Safety
/// `pointer` is null, or came from [`give`] and is used no more.
pub(crate) unsafe fn take<T>(pointer: *mut T, what: &'static str) -> Result<Box<T>> {
    match pointer.is_null() {
        true => Err(Failure::Null(what)),
        // SAFETY: it came from `Box::into_raw`, and the caller gives it up.
        false => Ok(unsafe { Box::from_raw(pointer) }),
    }
}

/// Drops what [`give`] handed over; null is nothing.
///
/// # Safety
/// As for [`take`].
pub(crate) unsafe fn drop_given<T>(pointer: *mut T) {
    crate::failure::guard((), || {
        if !pointer.is_null() {
            // SAFETY: the caller's promise is the same.
            drop(unsafe { take(pointer, "value") }?);
        }
        Ok(())
    });
}
