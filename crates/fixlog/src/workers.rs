//! Several threads over the blocks of logs, and one that receives what they made, in order.

use ordered::{Ended, Pool};

use crate::{Block, Blocks, Logs, Separator};

/// Reads logs by several threads. One thread at a time reads and cuts the next block and then works on
/// it while it is in its cache; the calling thread receives each block with its result, in order.
///
/// ```
/// use fixlog::{Block, Found, Messages, Readers, Workers};
///
/// let log = b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01".repeat(1000);
/// let mut messages = 0;
/// let ended = Workers::new().run(
///     &|| false,
///     Readers::new([&log[..], &log[..]]),
///     // One state per thread.
///     vec![Messages::new(), Messages::new()],
///     |finder, block: &Block, count: &mut usize| {
///         *count = 0;
///         finder.each(block, &mut |_, found| {
///             *count += usize::from(matches!(found, Found::Message(..)));
///             true
///         });
///     },
///     |_, count| {
///         messages += *count;
///         Ok::<(), fixlog::Error>(())
///     },
/// );
/// assert!(ended.result.is_ok());
/// assert_eq!(messages, 2000);
/// ```
#[derive(Debug, Default, Clone)]
pub struct Workers {
    separator: Separator,
    lengths_differ: bool,
    text: Option<String>,
}

impl Workers {
    /// Workers that find out what stands between fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what stands between fields.
    #[must_use]
    pub fn separator(mut self, separator: Separator) -> Self {
        self.separator = separator;
        self
    }

    /// Sets whether the lengths that messages state may differ from those that they have; see
    /// [`Blocks::lengths_differ`].
    #[must_use]
    pub fn lengths_differ(mut self, differ: bool) -> Self {
        self.lengths_differ = differ;
        self
    }

    /// Passes over messages without this text; see [`Task::with_text`](crate::Task::with_text), which is to have the same.
    #[must_use]
    pub fn with_text(mut self, text: Option<&str>) -> Self {
        self.text = text.map(str::to_owned);
        self
    }

    /// Runs one thread per state; with one state the caller's thread does all. Ends when all logs are
    /// read, when `cancelled` is true, or at the first error of `receive`. Results are used again:
    /// `work` finds one as it was left.
    pub fn run<L, O, W, E>(
        &self,
        cancelled: &(dyn Fn() -> bool + Sync),
        logs: L,
        states: Vec<W>,
        work: impl Fn(&mut W, &Block, &mut O) + Sync,
        receive: impl FnMut(&mut Block, &mut O) -> Result<(), E>,
    ) -> Ended<W, E>
    where
        L: Logs + Send,
        O: Default + Send,
        W: Send,
    {
        let mut blocks = Blocks::new(logs, self.separator)
            .lengths_differ(self.lengths_differ)
            .with_text(self.text.as_deref());
        Pool::new().run_until(
            cancelled,
            states,
            move |block, stop| blocks.next(block, &|| stop.is_set()),
            |state, block, made| work(state, block, made),
            receive,
        )
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::mpsc::channel;

    use ordered::Error;

    use super::*;
    use crate::Files;

    const THREADS: usize = 3;

    /// As many small files. A file is a block or more.
    fn logs(dir: &std::path::Path, files: usize) -> Vec<PathBuf> {
        let named = (0..files).map(|file| {
            let path = dir.join(format!("{file}.log"));
            let message = "8=FIX.4.4\u{1}9=5\u{1}35=0\u{1}10=163\u{1}\n";
            std::fs::write(&path, message.repeat(file + 1)).unwrap();
            path
        });
        named.collect()
    }

    fn run<O: Default + Send>(
        files: &[PathBuf],
        threads: usize,
        work: impl Fn(&Block, &mut O) + Sync,
        receive: impl FnMut(&mut Block, &mut O) -> Result<(), &'static str>,
    ) -> Result<(), Error<&'static str>> {
        let files = Files(files.to_vec());
        let states = vec![(); threads];
        let work = |(): &mut (), block: &Block, made: &mut O| work(block, made);
        let workers = Workers::new();
        workers.run(&|| false, files, states, work, receive).result
    }

    /// Log and offset of every block as they were received, with the bytes that a worker saw.
    fn taken(files: &[PathBuf], threads: usize) -> Vec<(usize, u64, usize)> {
        let mut found = Vec::new();
        let work = |block: &Block, made: &mut usize| *made = block.bytes().len();
        let result = run(files, threads, work, |block, made| {
            found.push((block.log(), block.offset(), *made));
            Ok(())
        });
        assert!(result.is_ok(), "{result:?}");
        found
    }

    #[test]
    fn threads_take_the_blocks_that_one_thread_takes_in_its_order() {
        let dir = tempfile::tempdir().unwrap();
        let count = THREADS;
        for files in [0, 1, count - 1, count, count + 1, 3 * count, 40] {
            let files = logs(dir.path(), files);
            let expected = taken(&files, 1);
            let ends = expected.iter().filter(|(_, _, bytes)| *bytes > 0).count();
            assert!(ends >= files.len(), "{expected:?}");
            for threads in [THREADS, 16] {
                assert_eq!(taken(&files, threads), expected, "{} files", files.len());
            }
        }
    }

    /// Runs under a time limit: a run that waits for ever fails the test.
    fn ended(
        files: usize,
        work: impl Fn(&Block) + Send + Sync + 'static,
        take: impl Fn(&Block) -> Result<(), &'static str> + Send + 'static,
    ) -> Option<std::thread::Result<Result<(), Error<&'static str>>>> {
        let dir = tempfile::tempdir().unwrap();
        let files = logs(dir.path(), files);
        let (say, hear) = channel();
        std::thread::spawn(move || {
            let all = || {
                let work = |block: &Block, (): &mut ()| work(block);
                run(&files, THREADS, work, |block, ()| take(block))
            };
            let _ = say.send(std::panic::catch_unwind(std::panic::AssertUnwindSafe(all)));
        });
        hear.recv_timeout(std::time::Duration::from_secs(60)).ok()
    }

    #[test]
    fn a_worker_that_panics_ends_the_run_with_a_failure() {
        for lost in [0, 1, 20, 39] {
            let work = move |block: &Block| assert!(block.log() != lost, "injected");
            let result = ended(40, work, |_| Ok(())).expect("the run ends");
            let Ok(Err(error @ Error::Panicked(_))) = result else {
                panic!("{result:?}");
            };
            assert!(error.to_string().contains("panicked"), "{error}");
        }
    }

    #[test]
    fn a_taker_that_fails_or_panics_ends_the_run() {
        let fails = ended(
            40,
            |_| (),
            |block| match block.log() {
                7 => Err("injected"),
                _ => Ok(()),
            },
        );
        let fails = fails.expect("the run ends");
        assert!(
            matches!(fails, Ok(Err(Error::Receiver("injected")))),
            "{fails:?}"
        );
        let take = |block: &Block| {
            assert!(block.log() != 7, "injected");
            Ok(())
        };
        assert!(ended(40, |_| (), take).expect("the run ends").is_err());
    }
}
