//! Lines at the end of a terminal that are drawn again and again: how they are overwritten, and removed before
//! anything else is written there. What they say is not known here.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The lines that are on the terminal now.
static DRAWN: Mutex<usize> = Mutex::new(0);
/// Whether there may be any: without a view, nothing waits for the lock.
static DRAWS: AtomicBool = AtomicBool::new(false);

/// From now on there may be lines.
pub(crate) fn begin() {
    DRAWS.store(true, Ordering::Relaxed);
}

/// Draws these lines over those that are there.
pub(crate) fn draw(lines: &[String]) {
    let mut drawn = lock();
    let text = over(*drawn, lines);
    *drawn = lines.len();
    // Nothing can be done when standard error itself is gone.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Removes the lines; there will be no more.
pub(crate) fn end() {
    above(|| ());
    DRAWS.store(false, Ordering::Relaxed);
}

/// What draws these lines over the `drawn` lines that are there: each is overwritten, then what is below is cleared.
fn over(drawn: usize, lines: &[String]) -> String {
    let mut text = up(drawn);
    for line in lines {
        text += line;
        text += "\u{1b}[K\r\n";
    }
    text + "\u{1b}[J"
}

/// What goes to the first of `drawn` lines.
fn up(drawn: usize) -> String {
    match drawn {
        0 => "\r".to_owned(),
        lines => format!("\r\u{1b}[{lines}A"),
    }
}

/// Writes something where lines may be: they are removed first, and drawn again below it later.
pub(crate) fn above<T>(write: impl FnOnce() -> T) -> T {
    if !DRAWS.load(Ordering::Relaxed) {
        return write();
    }
    let mut drawn = lock();
    erase(&mut drawn);
    write()
}

fn erase(drawn: &mut usize) {
    if *drawn > 0 {
        let text = up(std::mem::take(drawn)) + "\u{1b}[J";
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

/// The same when the process ends: whoever draws may wait for a terminal that takes nothing.
pub(crate) fn erase_at_once() {
    match DRAWN.try_lock() {
        Ok(mut drawn) => erase(&mut drawn),
        Err(TryLockError::Poisoned(poisoned)) => erase(&mut poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {}
    }
}

fn lock() -> MutexGuard<'static, usize> {
    DRAWN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_drawn_over_those_before() {
        let lines = ["a".to_owned(), "b".to_owned()];
        assert_eq!(over(0, &lines), "\ra\u{1b}[K\r\nb\u{1b}[K\r\n\u{1b}[J");
        assert_eq!(over(3, &lines[..1]), "\r\u{1b}[3Aa\u{1b}[K\r\n\u{1b}[J");
        assert_eq!(over(2, &[]), "\r\u{1b}[2A\u{1b}[J");
    }
}
