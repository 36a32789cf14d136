//! A pool of one's own under load, as a test of yours would have it: every block is verified, and contexts that the pool
//! does not give back are found.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perfkit_stress::{Codec, CodecError, Compress, Context, Decompress, Finding, Plan, PoolKind};

/// Bytes of a context.
const CONTEXT_BYTES: usize = 64 << 10;

/// The pool that is tested: contexts that wait, and how many are out.
#[derive(Debug, Default)]
struct Pool {
    waiting: Vec<Vec<u8>>,
    out: usize,
    /// One in this many contexts that come back is not kept: its caller has lost it.
    loses_each: Option<usize>,
    returned: usize,
}

#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<Pool>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Pool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A context that goes back when it is dropped.
struct Taken {
    scratch: Vec<u8>,
    pool: Shared,
}

impl Taken {
    fn of(pool: &Shared) -> Self {
        let mut inner = pool.lock();
        inner.out += 1;
        let scratch = inner
            .waiting
            .pop()
            .unwrap_or_else(|| vec![0; CONTEXT_BYTES]);
        drop(inner);
        Self {
            scratch,
            pool: pool.clone(),
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut inner = self.pool.lock();
        inner.returned += 1;
        let lost = inner
            .loses_each
            .is_some_and(|each| inner.returned.is_multiple_of(each));
        if !lost {
            inner.out -= 1;
            inner.waiting.push(std::mem::take(&mut self.scratch));
        }
    }
}

impl Codec for Shared {
    fn name(&self) -> &str {
        "inverted, in a pool of its own"
    }
    fn compressor(&self, _: usize) -> Result<Box<dyn Compress>, CodecError> {
        Ok(Box::new(Taken::of(self)))
    }
    fn decompressor(&self, _: usize) -> Result<Box<dyn Decompress>, CodecError> {
        Ok(Box::new(Taken::of(self)))
    }
}

impl Context for Taken {
    fn memory_bytes(&self) -> usize {
        self.scratch.len()
    }
}

impl Compress for Taken {
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
        let scratch = &mut self.scratch[..content.len()];
        for (to, from) in scratch.iter_mut().zip(content) {
            *to = !from;
        }
        block.clear();
        block.extend_from_slice(scratch);
        Ok(())
    }
}

impl Decompress for Taken {
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
        self.compress(block, content)
    }
}

/// Takes a context for each block and gives it back behind it.
fn under_load(pool: &Shared) -> Result<Finding, perfkit_stress::Error> {
    let plan = Plan::default()
        .pool(PoolKind::Fresh)
        .blocks_max(Some(20_000))
        .producers(8)
        .consumers(8);
    perfkit_stress::run(&plan, Arc::new(pool.clone()), &mut |_| true)
}

#[test]
fn a_sound_pool_has_all_contexts_back() {
    let pool = Shared::default();
    let found = under_load(&pool).expect("the run ends");
    assert_eq!(found.counts.verified, 20_000);
    assert!(found.counts.balanced() && !found.leak.left());
    let inner = pool.lock();
    assert_eq!(inner.out, 0, "contexts that are still out");
    assert!(
        inner.waiting.len() <= 4,
        "{} contexts for two threads",
        inner.waiting.len()
    );
}

#[test]
fn a_pool_that_loses_contexts_is_found() {
    let pool = Shared::default();
    pool.lock().loses_each = Some(100);
    let found = under_load(&pool).expect("the run ends");
    assert_eq!(found.counts.verified, 20_000);
    assert_eq!(
        pool.lock().out,
        2 * 20_000 / 100,
        "each hundredth of both sides"
    );
}
