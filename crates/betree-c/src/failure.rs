//! What can go wrong in a call, and the message that a thread keeps of it.

#![allow(unsafe_code, reason = "exports a C function")]

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0} is a null pointer")]
    Null(&'static str),
    #[error("{0} is not UTF-8: byte {1} is wrong")]
    Encoding(&'static str, usize),
    #[error("index {index} is out of range: there are {count}")]
    Index { index: usize, count: usize },
    #[error("the attribute '{0}' cannot be added: subscriptions were inserted already")]
    Closed(String),
    #[error("variable '{0}': {1} is not a finite number")]
    NotFinite(String, f64),
    #[error("element {0} of the list was not set")]
    Hole(usize),
    #[error("the search is not finished")]
    Unfinished,
    #[error("out of memory")]
    Memory,
    #[error("an earlier call on this tree panicked, so it is no longer used")]
    Poisoned,
    #[error(transparent)]
    Betree(#[from] ::betree::Error),
    #[error(transparent)]
    File(#[from] files::Error),
    #[error("cannot read '{path}': {source}")]
    Read {
        path: String,
        source: std::io::Error,
    },
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

thread_local! {
    static LAST: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// Keeps a message for [`betree_last_error`].
fn remember(message: &str) {
    let bytes: Vec<u8> = message.bytes().filter(|byte| *byte != 0).collect();
    let message = CString::new(bytes).ok();
    // A thread that is ending keeps no message.
    let _ = LAST.try_with(|last| *last.borrow_mut() = message);
}

/// Does the work of a call; `otherwise` is what the call returns if it fails. No panic leaves it.
pub(crate) fn guard<T>(otherwise: T, work: impl FnOnce() -> Result<T>) -> T {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => value,
        Ok(Err(failure)) => {
            remember(&failure.to_string());
            otherwise
        }
        Err(_) => {
            remember("a defect of betree: the call panicked");
            otherwise
        }
    }
}

/// The message of the last call of this thread that failed, in UTF-8, or null if none failed. It is valid until
/// another call of this thread fails. A call that succeeds leaves it as it is.
#[unsafe(no_mangle)]
pub extern "C" fn betree_last_error() -> *const c_char {
    let message = |last: &RefCell<Option<CString>>| match &*last.borrow() {
        Some(message) => message.as_ptr(),
        None => ptr::null(),
    };
    LAST.try_with(message).unwrap_or(ptr::null())
}
