//! Memory that is freed elsewhere: to give a megabyte back to the system takes tens of microseconds.

use std::any::Any;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use tokio::runtime::Handle;

/// From this much memory on a value is dropped on another thread.
pub const DISCARD_BYTES: usize = 2 << 20;

type Discarded = Box<dyn Any + Send>;

/// Drops a value that holds about `bytes` of memory: at once if that is little or no runtime has this thread, else
/// on a thread that does nothing else.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let content = vec![1_u8; 64 << 20];
/// let bytes = content.capacity();
/// turns::discard(content, bytes);
/// # });
/// ```
pub fn discard<T: Send + 'static>(value: T, bytes: usize) {
    if bytes < DISCARD_BYTES || Handle::try_current().is_err() {
        return;
    }
    if let Some(thread) = thread() {
        // A thread that is gone gives it back, and it is dropped here.
        let _ = thread.send(Box::new(value));
    }
}

/// The way to the thread, which is started once; `None` where the system has no room for one.
fn thread() -> Option<&'static Sender<Discarded>> {
    static THREAD: OnceLock<Option<Sender<Discarded>>> = OnceLock::new();
    let start = || {
        let (sender, receiver) = channel::<Discarded>();
        let run = move || receiver.into_iter().for_each(drop);
        let thread = thread::Builder::new().name("turns-discard".to_owned());
        thread.spawn(run).is_ok().then_some(sender)
    };
    THREAD.get_or_init(start).as_ref()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::ThreadId;

    use super::*;

    /// Says on which thread it is dropped.
    struct Told(mpsc::Sender<ThreadId>);

    impl Drop for Told {
        fn drop(&mut self) {
            let _ = self.0.send(thread::current().id());
        }
    }

    fn dropped_on(bytes: usize) -> ThreadId {
        let (sender, receiver) = mpsc::channel();
        discard(Told(sender), bytes);
        receiver.recv().unwrap()
    }

    #[test]
    fn what_is_large_is_dropped_elsewhere_inside_of_a_runtime() {
        let here = thread::current().id();
        assert_eq!(dropped_on(DISCARD_BYTES), here);
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(async {
            assert_eq!(dropped_on(DISCARD_BYTES - 1), here);
            let elsewhere = dropped_on(DISCARD_BYTES);
            assert_ne!(elsewhere, here);
            assert_eq!(dropped_on(usize::MAX), elsewhere);
        });
    }
}
