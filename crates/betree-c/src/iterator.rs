//! Searches in steps of a budget.

#![allow(unsafe_code, reason = "exports C functions")]

use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::Arc;

use ::betree::{Budget, OwnedSearch, Progress};

use crate::event::betree_event;
use crate::failure::{Failure, Result, guard};
use crate::pointer;
use crate::search::{Source, fill, read, report};
use crate::state::{Pool, Scratch};
use crate::tree::{betree, state};

/// A search in steps. It keeps the state of the tree that it began with, whatever changes later. One thread at a time
/// may use it, not always the same.
#[derive(Debug)]
pub struct betree_search {
    search: OwnedSearch,
    /// Reductions of reading the event.
    reading: u64,
    is_done: bool,
    /// Where the memory goes.
    pool: Arc<Pool>,
    json: String,
}

/// # Safety
/// All pointers are null or valid.
unsafe fn begin(tree: *const betree, source: Source) -> *mut betree_search {
    guard(ptr::null_mut(), || {
        // SAFETY: the caller promises a tree.
        let state = unsafe { state(tree) }?;
        let snapshot = state.snapshot()?;
        let mut scratch = state.pool().take();
        // SAFETY: the caller promises that the event is valid.
        let (event, reading) = match unsafe { read(&snapshot, source, &mut scratch) } {
            Ok(read) => read,
            Err(failure) => {
                state.pool().put(scratch);
                return Err(failure);
            }
        };
        Ok(pointer::give(betree_search {
            search: OwnedSearch::new(snapshot, event, scratch.buffers)?,
            reading,
            is_done: false,
            pool: Arc::clone(state.pool()),
            json: scratch.json,
        }))
    })
}

/// Begins a search for what matches an event in JSON, which is read now. Null if the event is wrong. Release it with
/// betree_search_release, finished or not.
///
/// # Safety
/// All pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_search_iterator(
    tree: *const betree,
    event: *const c_char,
) -> *mut betree_search {
    // SAFETY: the caller's promise is the same.
    unsafe { begin(tree, Source::Json(event)) }
}

/// The same with an event made of variables, which the caller keeps.
///
/// # Safety
/// All pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_search_iterator_with_event(
    tree: *const betree,
    event: *const betree_event,
) -> *mut betree_search {
    // SAFETY: the caller's promise is the same.
    unsafe { begin(tree, Source::Variables(event)) }
}

/// Continues a search for about as many reductions, at most 1,100 more: 2,000 take about a microsecond. Returns 0 when
/// the search is done, 1 when there is more to do, and -1 on an error.
///
/// # Safety
/// `search` is null or valid, and nothing else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_search_next(search: *mut betree_search, reductions: u64) -> c_int {
    guard(-1, || {
        // SAFETY: the caller promises that nothing else uses the search.
        let search = unsafe { pointer::exclusive(search, "search") }?;
        let progress = search.search.step(Budget::reductions(reductions));
        search.is_done = progress == Progress::Done;
        Ok(c_int::from(!search.is_done))
    })
}

/// Continues a search to its end, without a budget. False on an error.
///
/// # Safety
/// `search` is null or valid, and nothing else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_search_all(search: *mut betree_search) -> bool {
    // SAFETY: the caller's promise is the same.
    unsafe { betree_search_next(search, u64::MAX) == 0 }
}

/// The reductions of a search so far, reading of the event included: visits of index nodes, tests of expressions,
/// elements of lists, words of the event and written ids. They do not depend on how a search is split. 0 on an error.
///
/// # Safety
/// `search` is null or valid, and nothing changes it meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_search_reductions(search: *const betree_search) -> u64 {
    guard(0, || {
        // SAFETY: the caller promises a search that nothing changes.
        let search = unsafe { pointer::shared(search, "search") }?;
        Ok(search.reading + search.search.reductions())
    })
}

/// Replaces what is in a report by what a finished search found. False if it is not finished.
///
/// # Safety
/// Both pointers are null or valid, nothing changes the search meanwhile, and nothing else uses the report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_search_report(
    search: *const betree_search,
    report: *mut report,
) -> bool {
    guard(false, || {
        // SAFETY: the caller promises a search that nothing changes.
        let search = unsafe { pointer::shared(search, "search") }?;
        if !search.is_done {
            return Err(Failure::Unfinished);
        }
        // SAFETY: the caller promises that nothing else uses the report.
        unsafe { fill(report, search.search.evaluated(), search.search.ids()) }?;
        Ok(true)
    })
}

/// Frees a search, finished or not. Null does nothing.
///
/// # Safety
/// `search` is null, or a search that is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_search_release(search: *mut betree_search) {
    guard((), || -> Result<()> {
        if search.is_null() {
            return Ok(());
        }
        // SAFETY: the caller gives the search up.
        let betree_search {
            search, pool, json, ..
        } = *unsafe { pointer::take(search, "search") }?;
        let (event, buffers) = search.into_parts();
        pool.put(Scratch {
            buffers,
            event: Some(event),
            json,
        });
        Ok(())
    });
}
