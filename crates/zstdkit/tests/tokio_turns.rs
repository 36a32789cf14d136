//! Many streams that become ready at once hold their thread no longer than one. What other tasks wait for is counted in
//! blocks, not timed: a busy machine does not change it.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::runtime::Builder;
use tokio::task::{JoinSet, yield_now};
use zstdkit::schedule::{CostModel, Offload};
use zstdkit::tokio::Scheduler;
use zstdkit::{DecoderOptions, EncoderOptions, Pool};

use crate::common::prose;

const STREAMS: usize = 32;
const BLOCK_BYTES: usize = 128 << 10;

/// What all sources wait for.
#[derive(Default)]
struct Door {
    open: bool,
    wakers: Vec<Waker>,
}

/// Gives a few bytes, and all others when its door is opened.
struct Source {
    frame: Arc<[u8]>,
    at: usize,
    first_bytes: usize,
    door: Arc<Mutex<Door>>,
}

impl AsyncRead for Source {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut door = self.door.lock().unwrap();
        let end = match door.open {
            true => self.frame.len(),
            false => self.first_bytes,
        };
        if self.at == self.first_bytes && !door.open {
            door.wakers.push(context.waker().clone());
            return Poll::Pending;
        }
        drop(door);
        let count = (end - self.at).min(buffer.remaining());
        buffer.put_slice(&self.frame[self.at..self.at + count]);
        self.at += count;
        Poll::Ready(Ok(()))
    }
}

#[test]
fn blocks_that_are_complete_at_once_are_decoded_in_turns_of_their_own() {
    let content = prose(1, 2 * BLOCK_BYTES);
    let frame: Arc<[u8]> = zstdkit::compress(&content, &EncoderOptions::default())
        .unwrap()
        .into();
    let content: Arc<[u8]> = content.into();
    // Each block takes longer than a turn.
    let offload = Offload::new(1).unwrap();
    let scheduler = Scheduler::new(CostModel::new(1), Pool::default(), offload);
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    // The beginning of the frame, and that of its first block, too.
    for first_bytes in [2, 12, 1_000] {
        let (blocks, door) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<Door>>::default());
        let most = runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for _ in 0..STREAMS {
                let source = Source {
                    frame: frame.clone(),
                    at: 0,
                    first_bytes,
                    door: door.clone(),
                };
                let options = DecoderOptions::default();
                let mut decoder = scheduler.decoder(source, &options).unwrap();
                let (blocks, content) = (blocks.clone(), content.clone());
                tasks.spawn(async move {
                    let mut found = vec![0; content.len()];
                    let mut at = 0;
                    while at < found.len() {
                        at += decoder.read(&mut found[at..]).await.unwrap();
                        blocks.fetch_add(1, Relaxed);
                    }
                    assert!(found == *content);
                    assert_eq!(decoder.read(&mut [0]).await.unwrap(), 0);
                });
            }
            while door.lock().unwrap().wakers.len() < STREAMS {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let wakers = {
                let mut door = door.lock().unwrap();
                door.open = true;
                std::mem::take(&mut door.wakers)
            };
            wakers.into_iter().for_each(Waker::wake);
            let mut most = 0;
            loop {
                yield_now().await;
                most = most.max(blocks.swap(0, Relaxed));
                match tasks.try_join_next() {
                    Some(ended) => ended.unwrap(),
                    None if tasks.is_empty() => return most,
                    None => {}
                }
            }
        });
        // That of a stream that was admitted, and that of one that did not have to wait.
        assert!(most <= 2, "{most} blocks after {first_bytes} bytes");
    }
}
