//! A thread that takes pieces in order and hands something back for each: what [`sink`](crate::sink)
//! and [`write_behind`](crate::write_behind) write with.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};

use crate::{Cancel, POLL};

/// What the thread does.
pub(crate) trait Work: Send + 'static {
    /// What it is given.
    type Piece: Send + 'static;
    /// What it hands back.
    type Back: Send + 'static;

    /// Does the next piece.
    fn take(&mut self, piece: Self::Piece) -> io::Result<Option<Self::Back>>;

    /// Does what is left when there are no more pieces.
    fn end(self) -> io::Result<Self::Back>;
}

/// The giving end of the thread. It is never joined: blocked on a pipe that is not read, it must not
/// hold up the end of the process.
#[derive(Debug)]
pub(crate) struct Behind<P, B> {
    full: SyncSender<P>,
    back: Receiver<io::Result<B>>,
    cancel: Cancel,
}

impl<P: Send + 'static, B: Send + 'static> Behind<P, B> {
    /// Starts the thread. Up to `waiting` pieces wait for it, and up to `returned` of what it hands back
    /// wait for [`receive`](Self::receive); what is more is dropped.
    pub(crate) fn start(
        mut work: impl Work<Piece = P, Back = B>,
        waiting: usize,
        returned: usize,
        cancel: Cancel,
    ) -> io::Result<Self> {
        let (full, pieces) = sync_channel::<P>(waiting);
        // Room for the end as well.
        let (hand_back, back) = sync_channel(returned + 1);
        std::thread::Builder::new()
            .name("write".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || {
                while let Ok(piece) = pieces.recv() {
                    match work.take(piece) {
                        Ok(None) => {}
                        // Whoever wants it has made room.
                        Ok(Some(back)) => drop(hand_back.try_send(Ok(back))),
                        Err(error) => {
                            // Whoever gives more is told so, and takes what is handed back up to this.
                            drop(pieces);
                            let _ = hand_back.send(Err(error));
                            return;
                        }
                    }
                }
                let _ = hand_back.send(work.end());
            })?;
        Ok(Self { full, back, cancel })
    }

    /// Gives the next piece.
    pub(crate) fn send(&self, piece: P) -> io::Result<()> {
        match self.full.send(piece) {
            Ok(()) => Ok(()),
            // The error stands behind what was handed back before.
            Err(_) => Err(self
                .back
                .iter()
                .find_map(io::Result::err)
                .unwrap_or_else(gone)),
        }
    }

    /// What was handed back, if anything.
    pub(crate) fn try_receive(&self) -> io::Result<Option<B>> {
        match self.back.try_recv() {
            Ok(back) => back.map(Some),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(gone()),
        }
    }

    /// Waits for what is handed back next.
    pub(crate) fn receive(&self) -> io::Result<B> {
        receive(&self.back, &self.cancel)
    }

    /// Waits until everything is done; what came of it is what `is_end` picks.
    pub(crate) fn finish<T>(self, is_end: impl Fn(B) -> Option<T>) -> io::Result<T> {
        drop(self.full);
        loop {
            if let Some(end) = is_end(receive(&self.back, &self.cancel)?) {
                return Ok(end);
            }
        }
    }
}

fn receive<B>(back: &Receiver<io::Result<B>>, cancel: &Cancel) -> io::Result<B> {
    loop {
        match back.recv_timeout(POLL) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) if cancel.is_set() => {
                return Err(io::ErrorKind::Interrupted.into());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
        }
    }
}

fn gone() -> io::Error {
    io::Error::other("the writing thread is gone")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands back what it is given, and fails at a number.
    struct FailsAt(u32);

    impl Work for FailsAt {
        type Piece = u32;
        type Back = u32;

        fn take(&mut self, piece: u32) -> io::Result<Option<u32>> {
            match piece == self.0 {
                true => Err(io::ErrorKind::StorageFull.into()),
                false => Ok(Some(piece)),
            }
        }

        fn end(self) -> io::Result<u32> {
            Ok(u32::MAX)
        }
    }

    #[test]
    fn who_takes_nothing_back_is_told_of_the_failure_as_well() {
        for (at, waiting, returned) in [(0, 0, 0), (3, 0, 0), (3, 2, 1), (9, 2, 2)] {
            let cancel = Cancel::default();
            let behind = Behind::start(FailsAt(at), waiting, returned, cancel).expect("a thread");
            let failed = (0..100).find_map(|piece| behind.send(piece).err());
            let kind = failed.map(|error| error.kind());
            assert_eq!(kind, Some(io::ErrorKind::StorageFull), "at {at}");
        }
    }

    #[test]
    fn what_is_handed_back_is_there_up_to_the_end() {
        let behind = Behind::start(FailsAt(9), 2, 4, Cancel::default()).expect("a thread");
        for piece in 0..3 {
            behind.send(piece).expect("it works");
            assert_eq!(behind.receive().expect("it works"), piece);
        }
        let end = behind.finish(|back| (back == u32::MAX).then_some(back));
        assert_eq!(end.expect("it works"), u32::MAX);
    }
}
