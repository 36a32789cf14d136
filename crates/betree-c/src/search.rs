//! Searches in one call, and their reports.

#![allow(unsafe_code, reason = "exports C functions")]

use std::ffi::c_char;
use std::ptr;

use ::betree::{Budget, Event, EventReader, Snapshot, SubscriptionId};

use crate::event::{betree_event, variables};
use crate::failure::{Failure, Result, guard};
use crate::json;
use crate::pointer;
use crate::state::{Scratch, betree_state};
use crate::subscription::betree_sub_t;
use crate::tree::{betree, state};

/// What a search found. Users read the fields; make_report makes one, and a struct of zeros is one too.
#[derive(Debug)]
#[repr(C)]
pub struct report {
    /// Expressions that were evaluated one by one.
    pub evaluated: usize,
    /// Subscriptions that match.
    pub matched: usize,
    /// Always 0: the C library be-tree counts tests here whose results it kept.
    pub memoized: usize,
    /// Always 0: the C library be-tree counts tests here that it skipped.
    pub shorted: usize,
    /// The ids of the subscriptions that match, ascending; null before the first search.
    pub subs: *mut betree_sub_t,
}

/// Makes an empty report. A search replaces what is in a report. Free it with free_report.
#[unsafe(no_mangle)]
pub extern "C" fn make_report() -> *mut report {
    guard(ptr::null_mut(), || {
        // SAFETY: `calloc` may be called with any size; a report of zeros is empty.
        let made: *mut report = unsafe { libc::calloc(1, size_of::<report>()) }.cast();
        match made.is_null() {
            true => Err(Failure::Memory),
            false => Ok(made),
        }
    })
}

/// Frees a report with its ids. Null does nothing.
///
/// # Safety
/// `report` is null, or came from make_report and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_report(report: *mut report) {
    // SAFETY: the caller gives the report up; it and its ids came from the allocator of C, or are null.
    unsafe {
        if let Some(found) = report.as_ref() {
            libc::free(found.subs.cast());
        }
        libc::free(report.cast());
    }
}

/// Replaces what is in a report.
///
/// # Safety
/// `report` is null, or a report that nothing else uses.
pub(crate) unsafe fn fill(
    report: *mut report,
    evaluated: u64,
    ids: &[SubscriptionId],
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let report = unsafe { pointer::exclusive(report, "report") }?;
    // SAFETY: the ids are null or came from here. The new memory has room for all ids, and at least for one,
    // so that it is not freed.
    unsafe {
        let bytes = size_of_val(ids).max(size_of::<betree_sub_t>());
        let room: *mut SubscriptionId = libc::realloc(report.subs.cast(), bytes).cast();
        if room.is_null() {
            return Err(Failure::Memory);
        }
        ptr::copy_nonoverlapping(ids.as_ptr(), room, ids.len());
        report.subs = room.cast();
    }
    report.matched = ids.len();
    report.evaluated = usize::try_from(evaluated).unwrap_or(usize::MAX);
    (report.memoized, report.shorted) = (0, 0);
    Ok(())
}

/// Where an event comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    Json(*const c_char),
    Variables(*const betree_event),
}

/// Reads an event in the memory of an earlier one. Returns it with the reductions that this took.
///
/// # Safety
/// The pointer of the source is null or valid.
pub(crate) unsafe fn read(
    snapshot: &Snapshot,
    source: Source,
    scratch: &mut Scratch,
) -> Result<(Event, u64)> {
    let old = scratch.event.take();
    let bytes = match source {
        // SAFETY: the caller promises a string.
        Source::Json(json) => unsafe { pointer::bytes(json, "event") }?,
        Source::Variables(event) => {
            // SAFETY: the caller promises an event.
            json::write(&unsafe { variables(event) }?, &mut scratch.json)?;
            scratch.json.as_bytes()
        }
    };
    let mut reader: EventReader<'_> = match old {
        Some(old) => snapshot.event_reader_reusing(bytes, false, old),
        None => snapshot.event_reader(bytes, false),
    };
    reader.step(Budget::UNLIMITED)?;
    let reductions = reader.reductions();
    Ok((reader.finish()?, reductions))
}

/// Reads an event and does something with it.
///
/// # Safety
/// The pointer of the source is null or valid.
unsafe fn with_event<T>(
    state: &betree_state,
    source: Source,
    work: impl FnOnce(&Snapshot, &Event, &mut Scratch) -> Result<T>,
) -> Result<T> {
    let snapshot = state.snapshot()?;
    let mut scratch = state.pool().take();
    // SAFETY: the caller's promise is the same.
    let read = unsafe { read(&snapshot, source, &mut scratch) };
    let done = read.and_then(|(event, _)| {
        let done = work(&snapshot, &event, &mut scratch);
        scratch.event = Some(event);
        done
    });
    state.pool().put(scratch);
    done
}

/// # Safety
/// All pointers are null or valid, and nothing else uses the report.
unsafe fn search(
    tree: *const betree,
    source: Source,
    report: *mut report,
    ids: Option<(*const u64, usize)>,
) -> bool {
    guard(false, || {
        // SAFETY: the caller promises a tree and ids. An id is a `u64` under another name.
        let (state, ids) = unsafe {
            let ids = ids
                .map(|(ids, count)| pointer::elements(ids.cast::<SubscriptionId>(), count, "ids"));
            (state(tree)?, ids.transpose()?)
        };
        let work = |snapshot: &Snapshot, event: &Event, scratch: &mut Scratch| {
            let buffers = &mut scratch.buffers;
            let mut search = match ids {
                Some(ids) => snapshot.search_ids(event, ids, buffers)?,
                None => snapshot.search_iterator(event, buffers)?,
            };
            search.step(Budget::UNLIMITED);
            // SAFETY: the caller promises that nothing else uses the report.
            unsafe { fill(report, search.evaluated(), search.ids()) }
        };
        // SAFETY: the caller promises that the event is valid.
        unsafe { with_event(state, source, work) }?;
        Ok(true)
    })
}

/// # Safety
/// All pointers are null or valid.
unsafe fn exists(tree: *const betree, source: Source) -> bool {
    guard(false, || {
        // SAFETY: the caller promises a tree.
        let state = unsafe { state(tree) }?;
        let work = |snapshot: &Snapshot, event: &Event, scratch: &mut Scratch| {
            Ok(snapshot.exists(event, &mut scratch.buffers)?)
        };
        // SAFETY: the caller promises that the event is valid.
        unsafe { with_event(state, source, work) }
    })
}

/// Finds the subscriptions that match an event in JSON. False if the event is wrong, has an unknown attribute, or lacks
/// one that must be defined. The first search after a change compiles what is new.
///
/// # Safety
/// All pointers are null or valid, and nothing else uses the report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_search(
    tree: *const betree,
    event: *const c_char,
    report: *mut report,
) -> bool {
    // SAFETY: the caller's promise is the same.
    unsafe { search(tree, Source::Json(event), report, None) }
}

/// The same among `count` ids only. Ids that do not exist do not match.
///
/// # Safety
/// All pointers are null or valid, `ids` for `count` elements, and nothing else uses the report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_search_ids(
    tree: *const betree,
    event: *const c_char,
    report: *mut report,
    ids: *const u64,
    count: usize,
) -> bool {
    // SAFETY: the caller's promise is the same.
    unsafe { search(tree, Source::Json(event), report, Some((ids, count))) }
}

/// betree_search with an event made of variables, which may be of any tree that has their names. The caller keeps
/// the event.
///
/// # Safety
/// All pointers are null or valid, and nothing else uses the report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_search_with_event(
    tree: *const betree,
    event: *mut betree_event,
    report: *mut report,
) -> bool {
    // SAFETY: the caller's promise is the same.
    unsafe { search(tree, Source::Variables(event), report, None) }
}

/// betree_search_ids with an event made of variables.
///
/// # Safety
/// All pointers are null or valid, `ids` for `count` elements, and nothing else uses the report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_search_with_event_ids(
    tree: *const betree,
    event: *mut betree_event,
    report: *mut report,
    ids: *const u64,
    count: usize,
) -> bool {
    // SAFETY: the caller's promise is the same.
    unsafe { search(tree, Source::Variables(event), report, Some((ids, count))) }
}

/// Whether any subscription matches an event in JSON. Stops at the first. False if the event is wrong, too.
///
/// # Safety
/// All pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_exists(tree: *const betree, event: *const c_char) -> bool {
    // SAFETY: the caller's promise is the same.
    unsafe { exists(tree, Source::Json(event)) }
}

/// Whether any subscription matches an event made of variables.
///
/// # Safety
/// All pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_exists_with_event(
    tree: *const betree,
    event: *mut betree_event,
) -> bool {
    // SAFETY: the caller's promise is the same.
    unsafe { exists(tree, Source::Variables(event)) }
}
