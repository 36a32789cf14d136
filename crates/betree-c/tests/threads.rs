//! Threads that search one tree while another changes it.
#![allow(unsafe_code, reason = "calls the functions as C does")]

use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use betree_c as c;
use libtest_mimic::Trial;

use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    let name = "threads::searches_and_changes_go_on_at_once";
    vec![trial(name, true, searches_and_changes_go_on_at_once)]
}

#[derive(Clone, Copy)]
struct Tree(*mut c::betree);
// SAFETY: the header lets any number of threads use one tree.
unsafe impl Send for Tree {}

const ALWAYS: u64 = 1;
const COMES_AND_GOES: u64 = 2;
const EVENT: &CStr = c"{\"a\": 5, \"b\": true}";

fn searches_and_changes_go_on_at_once() {
    const CHANGES: usize = 300;
    // SAFETY: all pointers are valid, and the tree is freed when the threads have ended.
    unsafe {
        let tree = Tree(c::betree_make());
        c::betree_add_integer_variable(tree.0, c"a".as_ptr(), false, 0, 10);
        c::betree_add_boolean_variable(tree.0, c"b".as_ptr(), true);
        assert!(c::betree_insert(tree.0, ALWAYS, c"a > 3 and b".as_ptr()));
        assert!(c::betree_insert(tree.0, 3, c"a > 6".as_ptr()));
        let ends = AtomicBool::new(false);
        let searches = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for budget in [1, 37, 2_000] {
                let (ends, searches) = (&ends, &searches);
                scope.spawn(move || {
                    let tree = tree;
                    while !ends.load(Ordering::Relaxed) {
                        at_once(tree);
                        in_steps(tree, budget);
                        searches.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            for _ in 0..CHANGES {
                assert!(c::betree_insert(tree.0, COMES_AND_GOES, c"b".as_ptr()));
                std::thread::yield_now();
                assert!(c::betree_delete(tree.0, COMES_AND_GOES));
            }
            while searches.load(Ordering::Relaxed) < 30 {
                std::thread::yield_now();
            }
            ends.store(true, Ordering::Relaxed);
        });
        c::betree_free(tree.0);
    }
}

fn at_once(tree: Tree) {
    // SAFETY: all pointers are valid.
    unsafe {
        let report = c::make_report();
        assert!(c::betree_search(tree.0, EVENT.as_ptr(), report));
        check(&*report);
        c::free_report(report);
    }
}

fn in_steps(tree: Tree, budget: u64) {
    // SAFETY: all pointers are valid.
    unsafe {
        let search = c::betree_search_iterator(tree.0, EVENT.as_ptr());
        assert!(!search.is_null());
        while c::betree_search_next(search, budget) == 1 {}
        let mut report = c::report {
            evaluated: 0,
            matched: 0,
            memoized: 0,
            shorted: 0,
            subs: ptr::null_mut(),
        };
        assert!(c::betree_search_report(search, &raw mut report));
        check(&report);
        c::betree_search_release(search);
        // The ids are freed with a report that `make_report` made.
        let owner = c::make_report();
        owner.write(report);
        c::free_report(owner);
    }
}

/// One of the two states that the tree has.
fn check(report: &c::report) {
    // SAFETY: the report has that many ids.
    let ids = unsafe { std::slice::from_raw_parts(report.subs, report.matched) };
    assert!(
        matches!(ids, [ALWAYS] | [ALWAYS, COMES_AND_GOES]),
        "{ids:?}"
    );
}
