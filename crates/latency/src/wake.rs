//! What it takes to wake a thread: the floor of times that count until a waiting thread runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::clock::Floor;
use crate::span::nanoseconds;

/// Wake-ups that are timed at most.
const WAKES_MAX: usize = 101;
/// Wake-ups before those.
const WARM_UP: usize = 10;
/// On a busy machine a wake-up may take a time slice: no more are timed after this.
const TIME_MAX: Duration = Duration::from_millis(20);

/// What the two threads tell each other.
#[derive(Debug, Clone, Copy)]
enum Word {
    /// The other one is to wake now.
    Wake(Instant),
    /// It woke, so much later.
    Woke(u64),
    /// There is nothing more to do.
    End,
}

#[derive(Debug)]
struct Shared {
    word: Mutex<Option<Word>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Option<Word>> {
        self.word.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, word: Word, to: &Thread) {
        *self.lock() = Some(word);
        to.unpark();
    }

    /// Sleeps until `mine` has found something for it. The thread that says it wakes this one.
    fn awaited<T>(&self, mine: impl Fn(&Word) -> Option<T>) -> T {
        loop {
            let found = self.lock().as_ref().and_then(&mine);
            match found {
                Some(found) => return found,
                None => thread::park(),
            }
        }
    }
}

/// Times how long a sleeping thread takes from the call that wakes it until it reads the clock; takes about a
/// millisecond, on a busy machine up to some tens. `None` where no thread can be started.
#[must_use]
pub fn wake_floor() -> Option<Floor> {
    let shared = Arc::new(Shared {
        word: Mutex::new(None),
    });
    let caller = thread::current();
    let other = {
        let shared = Arc::clone(&shared);
        let woken = move || {
            while let Some(sent) = shared.awaited(to_wake) {
                let late = nanoseconds(sent, Instant::now());
                shared.say(Word::Woke(late), &caller);
            }
        };
        thread::Builder::new()
            .name("wake-up".to_owned())
            .spawn(woken)
            .ok()?
    };
    let started = Instant::now();
    let mut wakes = Vec::with_capacity(WAKES_MAX);
    for nth in 0..WARM_UP + WAKES_MAX {
        shared.say(Word::Wake(Instant::now()), other.thread());
        let late = shared.awaited(|word| match word {
            Word::Woke(late) => Some(*late),
            Word::Wake(_) | Word::End => None,
        });
        if nth >= WARM_UP {
            wakes.push(late);
        }
        if started.elapsed() > TIME_MAX && !wakes.is_empty() {
            break;
        }
    }
    shared.say(Word::End, other.thread());
    // It does nothing that can panic.
    let _ = other.join();
    wakes.sort_unstable();
    let at = |share: usize| wakes.get(wakes.len().saturating_sub(1) * share / 100);
    Some(Floor {
        min_ns: *at(0)?,
        p50_ns: *at(50)?,
        p99_ns: *at(99)?,
        n: wakes.len() as u64,
    })
}

/// What the woken thread waits for: when it was woken, or that there is nothing more to do.
fn to_wake(word: &Word) -> Option<Option<Instant>> {
    match word {
        Word::Wake(sent) => Some(Some(*sent)),
        Word::End => Some(None),
        Word::Woke(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_takes_longer_than_reading_the_clock() {
        let wake = wake_floor().expect("a thread");
        assert!(wake.min_ns <= wake.p50_ns && wake.p50_ns <= wake.p99_ns);
        assert!((1..=WAKES_MAX as u64).contains(&wake.n));
        // A system call and a switch of threads, whatever the machine.
        assert!(wake.p50_ns > crate::clock::floor().min_ns, "{wake:?}");
    }

    #[test]
    fn several_threads_measure_at_once() {
        let found = [(); 3].map(|()| thread::spawn(wake_floor));
        for one in found {
            assert!(
                one.join()
                    .expect("no panic")
                    .is_some_and(|floor| floor.n > 0)
            );
        }
    }
}
