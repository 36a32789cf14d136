//! The handle of a tree: made, saved, loaded, freed.

#![allow(unsafe_code, reason = "exports C functions")]

use std::ffi::c_char;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::ptr;

use ::betree::{BeTree, Domain, Snapshot};
use files::target::Target;

use crate::failure::{Failure, Result, guard};
use crate::pointer;
use crate::state::betree_state;

/// A set of boolean expressions to match against events.
///
/// First add attributes with betree_add_..._variable, then insert subscriptions, then search. Attributes cannot
/// be added after the first subscription. Any number of threads may use one tree, also while another one inserts or
/// deletes; but freeing it must be the last use. A tree may be copied or moved as a struct, if only one of the copies
/// is used and freed.
///
/// An attribute that an event lacks makes a test of it false, and `not` of that test true; `<>`, `not in` and
/// `none of` are false then, and `is null` is true. Where the C library be-tree finds another answer, because it
/// skips part of an expression, the answer here is what these rules give.
#[derive(Debug)]
#[repr(C)]
pub struct betree {
    /// Not for users.
    pub state: *mut betree_state,
}

impl betree {
    pub(crate) fn new(state: betree_state) -> Self {
        Self {
            state: pointer::give(state),
        }
    }
}

/// The state of a tree.
///
/// # Safety
/// `tree` is null, or points to a tree that was made and not freed.
pub(crate) unsafe fn state<'a>(tree: *const betree) -> Result<&'a betree_state> {
    // SAFETY: the caller promises a tree; nothing changes its one field but `betree_init` and `betree_deinit`,
    // which no other call may overlap. What it points to is shared between threads by its locks.
    unsafe {
        pointer::shared(
            pointer::shared(tree, "tree")?.state,
            "the state of the tree",
        )
    }
}

fn empty() -> betree {
    betree::new(betree_state::new(Domain::new(), None))
}

/// Makes a tree without attributes. Free it with betree_free.
#[unsafe(no_mangle)]
pub extern "C" fn betree_make() -> *mut betree {
    guard(ptr::null_mut(), || Ok(pointer::give(empty())))
}

/// The same as betree_make. Both parameters are ignored: they shaped the index of the C library be-tree, and the
/// index here needs none.
#[unsafe(no_mangle)]
pub extern "C" fn betree_make_with_parameters(
    lnode_max_cap: u64,
    min_partition_size: u64,
) -> *mut betree {
    let _ignored = (lnode_max_cap, min_partition_size);
    betree_make()
}

/// Makes a tree without attributes in a struct of the caller, whose content is overwritten. Free it with
/// betree_deinit.
///
/// # Safety
/// `tree` is null, or points to memory for a tree.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_init(tree: *mut betree) {
    guard((), || {
        if tree.is_null() {
            return Err(Failure::Null("tree"));
        }
        // SAFETY: the caller promises memory for a tree; what is in it is not read.
        unsafe { tree.write(empty()) };
        Ok(())
    });
}

/// Frees what a tree of betree_init has, not the struct. Null does nothing.
///
/// # Safety
/// `tree` is null, or points to a tree that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_deinit(tree: *mut betree) {
    // SAFETY: the caller promises a tree that nothing else uses.
    if let Some(tree) = unsafe { tree.as_mut() } {
        let state = std::mem::replace(&mut tree.state, ptr::null_mut());
        // SAFETY: it came from `give`, and nothing has it any more.
        unsafe { pointer::drop_given(state) };
    }
}

/// Frees a tree of betree_make or betree_load, with all of its subscriptions. Events and searches of it stay valid,
/// pointers to its subscriptions and to names of its attributes do not. Null does nothing.
///
/// # Safety
/// `tree` is null, or came from one of these functions and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_free(tree: *mut betree) {
    // SAFETY: the caller gives the tree up, and it came from `give`.
    unsafe {
        betree_deinit(tree);
        pointer::drop_given(tree);
    }
}

/// Saves the tree, its attributes included, to a file with checksums. An existing file is replaced when the new one
/// is complete.
///
/// # Safety
/// `tree` and `path` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_save(tree: *const betree, path: *const c_char) -> bool {
    guard(false, || {
        // SAFETY: the caller promises that both are valid.
        let (state, path) = unsafe { (state(tree)?, pointer::text(path, "path")?) };
        let snapshot = state.snapshot()?;
        let target = Target::create(Path::new(path), true, None, &files::Context::default())?;
        let mut out = BufWriter::new(target.writer());
        let written = snapshot
            .save(|piece| out.write_all(piece))
            .and_then(|()| out.flush())
            .and_then(|()| target.writer().file().sync_all());
        written.map_err(|error| target.error(error))?;
        drop(out);
        target.commit()?;
        Ok(true)
    })
}

/// Loads a file that betree_save wrote, or null. Any bytes are safe to load.
///
/// # Safety
/// `path` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn betree_load(path: *const c_char) -> *mut betree {
    guard(ptr::null_mut(), || {
        // SAFETY: the caller promises a string.
        let path = unsafe { pointer::text(path, "path") }?;
        let read = |source| Failure::Read {
            path: path.to_owned(),
            source,
        };
        let snapshot = Snapshot::load(&std::fs::read(path).map_err(read)?)?;
        let tree = BeTree::from_snapshot(&snapshot);
        let state = betree_state::new(snapshot.domain().clone(), Some(tree));
        Ok(pointer::give(betree::new(state)))
    })
}
