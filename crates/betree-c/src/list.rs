//! Lists of values for events.

#![allow(unsafe_code, reason = "exports C functions")]

use std::ffi::c_char;
use std::ptr;

use crate::failure::{Failure, Result, guard};
use crate::pointer;

/// The most elements for which memory is set aside before they are set.
const ELEMENTS_MAX: usize = 1 << 24;

/// A list of integers.
#[derive(Debug)]
pub struct betree_integer_list(pub(crate) Vec<i64>);

/// A list of strings.
#[derive(Debug)]
pub struct betree_string_list(pub(crate) Vec<Option<Box<str>>>);

/// A segment with the time at which it was entered.
#[derive(Debug)]
pub struct betree_segment {
    pub(crate) id: i64,
    pub(crate) timestamp: i64,
}

/// A list of segments.
#[derive(Debug)]
pub struct betree_segments(pub(crate) Vec<Option<betree_segment>>);

/// A counter of what was shown.
#[derive(Debug)]
pub struct betree_frequency_cap {
    pub(crate) kind: Box<str>,
    pub(crate) id: u32,
    pub(crate) namespace: Box<str>,
    pub(crate) timestamp: Option<i64>,
    pub(crate) value: u32,
}

/// A list of counters.
#[derive(Debug)]
pub struct betree_frequency_caps(pub(crate) Vec<Option<betree_frequency_cap>>);

fn list<T>(count: usize, element: impl FnMut() -> T) -> Result<Vec<T>> {
    if count > ELEMENTS_MAX {
        return Err(Failure::Index {
            index: count,
            count: ELEMENTS_MAX,
        });
    }
    Ok(std::iter::repeat_with(element).take(count).collect())
}

fn set<T>(list: &mut [T], index: usize, value: T) -> Result<()> {
    let count = list.len();
    match list.get_mut(index) {
        Some(place) => {
            *place = value;
            Ok(())
        }
        None => Err(Failure::Index { index, count }),
    }
}

/// Makes a list of `count` integers, all 0, at most 2^24. Free it with betree_free_integer_list, unless it became the
/// value of a variable.
#[unsafe(no_mangle)]
pub extern "C" fn betree_make_integer_list(count: usize) -> *mut betree_integer_list {
    guard(ptr::null_mut(), || {
        Ok(pointer::give(betree_integer_list(list(count, || 0)?)))
    })
}

/// Sets one element, whose index must be below the count.
///
/// # Safety
/// `list` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_integer(
    list: *mut betree_integer_list,
    index: usize,
    value: i64,
) {
    guard((), || {
        // SAFETY: the caller promises a list that nothing else uses.
        let list = unsafe { pointer::exclusive(list, "list") }?;
        set(&mut list.0, index, value)
    });
}

/// Frees a list. Null does nothing.
///
/// # Safety
/// `value` is null, or a list that is the value of no variable and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_free_integer_list(value: *mut betree_integer_list) {
    // SAFETY: the caller's promise is the same.
    unsafe { pointer::drop_given(value) };
}

/// Makes a list of `count` strings, at most 2^24, all of which must be set. Free it with betree_free_string_list,
/// unless it became the value of a variable.
#[unsafe(no_mangle)]
pub extern "C" fn betree_make_string_list(count: usize) -> *mut betree_string_list {
    guard(ptr::null_mut(), || {
        Ok(pointer::give(betree_string_list(list(count, || None)?)))
    })
}

/// Sets one element, whose index must be below the count. The string is copied.
///
/// # Safety
/// `list` and `value` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_string(
    list: *mut betree_string_list,
    index: usize,
    value: *const c_char,
) {
    guard((), || {
        // SAFETY: the caller promises a list that nothing else uses, and a string.
        let (list, value) = unsafe {
            (
                pointer::exclusive(list, "list")?,
                pointer::text(value, "value")?,
            )
        };
        set(&mut list.0, index, Some(value.into()))
    });
}

/// Frees a list. Null does nothing.
///
/// # Safety
/// `value` is null, or a list that is the value of no variable and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_free_string_list(value: *mut betree_string_list) {
    // SAFETY: the caller's promise is the same.
    unsafe { pointer::drop_given(value) };
}

/// Makes a list of `count` segments, at most 2^24, all of which must be set. Free it with betree_free_segments, unless
/// it became the value of a variable.
#[unsafe(no_mangle)]
pub extern "C" fn betree_make_segments(count: usize) -> *mut betree_segments {
    guard(ptr::null_mut(), || {
        Ok(pointer::give(betree_segments(list(count, || None)?)))
    })
}

/// Makes a segment that was entered at `timestamp`, in microseconds. Free it with betree_free_segment, unless it was
/// added to a list.
#[unsafe(no_mangle)]
pub extern "C" fn betree_make_segment(id: i64, timestamp: i64) -> *mut betree_segment {
    guard(ptr::null_mut(), || {
        Ok(pointer::give(betree_segment { id, timestamp }))
    })
}

/// Sets one element, whose index must be below the count. The segment is given up in any case.
///
/// # Safety
/// `segments` is null or valid; `segment` is null, or a segment that is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_segment(
    segments: *mut betree_segments,
    index: usize,
    segment: *mut betree_segment,
) {
    guard((), || {
        // SAFETY: the caller gives the segment up, and promises a list that nothing else uses.
        let (segment, list) = unsafe {
            (
                pointer::take(segment, "segment")?,
                pointer::exclusive(segments, "segments")?,
            )
        };
        set(&mut list.0, index, Some(*segment))
    });
}

/// Frees a segment. Null does nothing.
///
/// # Safety
/// `value` is null, or a segment that was added to no list and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_free_segment(value: *mut betree_segment) {
    // SAFETY: the caller's promise is the same.
    unsafe { pointer::drop_given(value) };
}

/// Frees a list with its segments. Null does nothing.
///
/// # Safety
/// `value` is null, or a list that is the value of no variable and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_free_segments(value: *mut betree_segments) {
    // SAFETY: the caller's promise is the same.
    unsafe { pointer::drop_given(value) };
}

/// Makes a list of `count` counters, at most 2^24, all of which must be set. Free it with betree_free_frequency_caps,
/// unless it became the value of a variable.
#[unsafe(no_mangle)]
pub extern "C" fn betree_make_frequency_caps(count: usize) -> *mut betree_frequency_caps {
    guard(ptr::null_mut(), || {
        Ok(pointer::give(betree_frequency_caps(list(count, || None)?)))
    })
}

/// Makes a counter. `type` is `advertiser`, `campaign`, `campaign_group`, `flight` or `product`, each also with `:ip`.
/// The timestamp is in microseconds; a counter without one has expired. Free it with betree_free_frequency_cap, unless
/// it was added to a list.
///
/// # Safety
/// `type` and `ns` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_make_frequency_cap(
    r#type: *const c_char,
    id: u32,
    ns: *const c_char,
    timestamp_defined: bool,
    timestamp: i64,
    value: u32,
) -> *mut betree_frequency_cap {
    guard(ptr::null_mut(), || {
        // SAFETY: the caller promises strings.
        let (kind, namespace) =
            unsafe { (pointer::text(r#type, "type")?, pointer::text(ns, "ns")?) };
        Ok(pointer::give(betree_frequency_cap {
            kind: kind.into(),
            id,
            namespace: namespace.into(),
            timestamp: timestamp_defined.then_some(timestamp),
            value,
        }))
    })
}

/// Sets one element, whose index must be below the count. The counter is given up in any case.
///
/// # Safety
/// `frequency_caps` is null or valid; `frequency_cap` is null, or a counter that is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_add_frequency_cap(
    frequency_caps: *mut betree_frequency_caps,
    index: usize,
    frequency_cap: *mut betree_frequency_cap,
) {
    guard((), || {
        // SAFETY: the caller gives the counter up, and promises a list that nothing else uses.
        let (cap, list) = unsafe {
            (
                pointer::take(frequency_cap, "frequency_cap")?,
                pointer::exclusive(frequency_caps, "frequency_caps")?,
            )
        };
        set(&mut list.0, index, Some(*cap))
    });
}

/// Frees a counter. Null does nothing.
///
/// # Safety
/// `value` is null, or a counter that was added to no list and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_free_frequency_cap(value: *mut betree_frequency_cap) {
    // SAFETY: the caller's promise is the same.
    unsafe { pointer::drop_given(value) };
}

/// Frees a list with its counters. Null does nothing.
///
/// # Safety
/// `value` is null, or a list that is the value of no variable and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_free_frequency_caps(value: *mut betree_frequency_caps) {
    // SAFETY: the caller's promise is the same.
    unsafe { pointer::drop_given(value) };
}
