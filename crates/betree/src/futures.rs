//! Searches, batches and event readers as futures, for any runtime: between steps of a budget the task yields to
//! the other tasks of its runtime. With the feature `tokio`, a tokio runtime also serves its timers and sockets
//! between steps.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::batch::BatchSearch;
use crate::budget::{Budget, Progress};
use crate::error::Result;
use crate::event::EventReader;
use crate::search::Search;

/// Work that can be done in steps.
trait Steps {
    type Output;

    /// One step. Returns the result after the last one.
    fn once(&mut self, budget: Budget) -> Option<Self::Output>;
}

impl Steps for Search<'_> {
    type Output = ();

    fn once(&mut self, budget: Budget) -> Option<()> {
        (self.step(budget) == Progress::Done).then_some(())
    }
}

impl Steps for BatchSearch<'_> {
    type Output = ();

    fn once(&mut self, budget: Budget) -> Option<()> {
        (self.step(budget) == Progress::Done).then_some(())
    }
}

impl Steps for EventReader<'_> {
    type Output = Result<()>;

    fn once(&mut self, budget: Budget) -> Option<Result<()>> {
        match self.step(budget) {
            Ok(Progress::Yielded) => None,
            Ok(Progress::Done) => Some(Ok(())),
            Err(error) => Some(Err(error)),
        }
    }
}

/// Does one step per poll until the work is done. Dropped between steps, it leaves the rest undone.
struct Yielding<'w, W> {
    work: &'w mut W,
    budget: Budget,
}

impl<W: Steps> Future for Yielding<'_, W> {
    type Output = W::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<W::Output> {
        let budget = self.budget;
        match self.work.once(budget) {
            Some(output) => Poll::Ready(output),
            None => {
                wake_later(context);
                Poll::Pending
            }
        }
    }
}

/// Wakes the task again after other tasks had their turn.
///
/// A tokio runtime checks its timers and sockets before it polls the task again only when the task yields by
/// `yield_now`; a task that wakes itself is polled up to 61 times before. Outside a tokio runtime both are the
/// same.
fn wake_later(context: &mut Context<'_>) {
    #[cfg(feature = "tokio")]
    {
        let asked = std::pin::pin!(tokio::task::yield_now());
        if asked.poll(context).is_ready() {
            context.waker().wake_by_ref();
        }
    }
    #[cfg(not(feature = "tokio"))]
    context.waker().wake_by_ref();
}

impl Search<'_> {
    /// Searches to the end, yielding to the other tasks of the runtime after each `budget`.
    ///
    /// ```
    /// # use betree::{BeTree, Budget, Buffers, Constants, Domain, Expression, SubscriptionId, Undefined};
    /// # let mut tree = BeTree::new(Domain::parse("a|boolean|false\n")?, Undefined::False);
    /// # tree.insert(SubscriptionId(9), &Expression::parse("a")?, &Constants::default())?;
    /// # let snapshot = tree.snapshot();
    /// async fn matching(snapshot: &betree::Snapshot, json: &str) -> betree::Result<usize> {
    ///     let event = snapshot.event(json)?;
    ///     let mut buffers = Buffers::new();
    ///     let mut search = snapshot.search_iterator(&event, &mut buffers)?;
    ///     search.yielding(Budget::reductions(2_000)).await;
    ///     Ok(search.ids().len())
    /// }
    /// # let found = std::pin::pin!(matching(&snapshot, r#"{"a":true}"#));
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # let done = std::future::Future::poll(found, &mut context);
    /// # assert_eq!(done, std::task::Poll::Ready(Ok(1)));
    /// # Ok::<(), betree::Error>(())
    /// ```
    pub fn yielding(&mut self, budget: Budget) -> impl Future<Output = ()> + Send + '_ {
        Yielding { work: self, budget }
    }
}

impl BatchSearch<'_> {
    /// Searches to the end, yielding to the other tasks of the runtime after each `budget`.
    pub fn yielding(&mut self, budget: Budget) -> impl Future<Output = ()> + Send + '_ {
        Yielding { work: self, budget }
    }
}

impl EventReader<'_> {
    /// Reads to the end, yielding to the other tasks of the runtime after each `budget`.
    ///
    /// # Errors
    /// Bytes that are not an event of the domain, with their offset.
    pub fn yielding(&mut self, budget: Budget) -> impl Future<Output = Result<()>> + Send + '_ {
        Yielding { work: self, budget }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};

    use super::*;
    use crate::{BeTree, Buffers, Constants, Domain, Expression, SubscriptionId, Undefined};

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Polls to the end. Returns the number of polls; each but the last follows a wake.
    fn polls<T>(future: impl Future<Output = T>) -> (T, usize) {
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        let mut count = 0;
        loop {
            count += 1;
            match future.as_mut().poll(&mut context) {
                Poll::Ready(output) => return (output, count),
                Poll::Pending => assert_eq!(wakes.0.load(Ordering::Relaxed), count),
            }
        }
    }

    #[test]
    fn everything_yields_after_each_budget_and_finds_the_same() {
        let domain = Domain::parse("a|integer|false\n").unwrap();
        let mut tree = BeTree::new(domain, Undefined::False);
        for id in 0..300 {
            let text = format!("a <> {id}");
            let expression = Expression::parse(&text).unwrap();
            tree.insert(SubscriptionId(id), &expression, &Constants::default())
                .unwrap();
        }
        let snapshot = tree.snapshot();
        let json = format!("{{{}\"a\":7}}", " ".repeat(20_000));
        let budget = Budget::reductions(2);
        let mut reader = snapshot.event_reader(json.as_bytes(), false);
        let (read, count) = polls(reader.yielding(budget));
        assert!(read.is_ok() && count > 3, "{count}");
        let event = reader.finish().unwrap();
        let whole = snapshot.search(&event).unwrap();
        assert_eq!(whole.len(), 299);
        let mut buffers = Buffers::new();
        let mut search = snapshot.search_iterator(&event, &mut buffers).unwrap();
        let ((), count) = polls(search.yielding(budget));
        assert!(count > 3, "{count}");
        assert_eq!(search.ids(), whole);
        let mut batch = snapshot.batch();
        let events = [event];
        let ((), count) = polls(batch.search(&events).unwrap().yielding(budget));
        assert!(count > 3, "{count}");
        assert_eq!(batch.count(0), 299);
        let mut reader = snapshot.event_reader(b"{", false);
        assert!(polls(reader.yielding(budget)).0.is_err());
    }

    /// Work that is done as soon as another task has run.
    #[cfg(feature = "tokio")]
    struct Until(Arc<AtomicUsize>, usize);

    #[cfg(feature = "tokio")]
    impl Steps for Until {
        type Output = usize;

        fn once(&mut self, _: Budget) -> Option<usize> {
            self.1 += 1;
            std::thread::sleep(std::time::Duration::from_millis(2));
            (self.0.load(Ordering::Relaxed) > 0).then_some(self.1)
        }
    }

    #[cfg(feature = "tokio")]
    #[test]
    fn timers_of_a_runtime_are_seen_to_between_steps() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let came = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&came);
        let steps = runtime.block_on(async {
            tokio::spawn(async move {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                came.store(1, Ordering::Relaxed);
            });
            let working = tokio::spawn(async move {
                let mut work = Until(seen, 0);
                let budget = Budget::reductions(1);
                let work = &mut work;
                Yielding { work, budget }.await
            });
            working.await.unwrap()
        });
        assert!(steps < 20, "{steps} steps until a timer of half a step");
    }
}
