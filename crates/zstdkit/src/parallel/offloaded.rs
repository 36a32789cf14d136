//! An encoder with worker threads on a thread of its own, so that no call waits for the workers longer than
//! its caller allows.
//!
//! libzstd itself waits inside of a call: for a worker when all are busy, and for all of them at the end,
//! which takes as long as the last jobs. Here another thread does that. Calls copy, and wait in steps.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use super::workers::no_thread;
use crate::encoder::Encoder;
use crate::error::{Error, Repr};
use crate::options::EncoderOptions;
use crate::step::{Operation, State, Step};

/// The most input that a call takes.
const INPUT_BYTES_MAX: usize = 128 << 10;
/// Output that is passed on at a time.
const OUTPUT_BYTES: usize = 64 << 10;
/// Inputs on their way to the thread.
const INPUTS_MAX: usize = 4;
/// Answers on their way back.
const ANSWERS_MAX: usize = 8;

/// Compresses a stream into frames on worker threads, in calls of bounded time.
///
/// A call takes at most 128 KiB of input, copies output that is ready, and waits no longer than it is told to
/// when there is neither. The frames are those of an [`Encoder`] with the same options.
///
/// ```
/// use std::time::Duration;
/// use zstdkit::parallel::OffloadedEncoder;
/// use zstdkit::{EncoderOptions, Operation, State};
///
/// let options = EncoderOptions::default().with_level(19).with_workers(2);
/// let mut encoder = OffloadedEncoder::new(&options)?;
/// let content = b"to be or not to be ".repeat(10_000);
/// encoder.begin(Some(content.len() as u64))?;
/// let (mut rest, mut frame, mut room) = (&content[..], Vec::new(), [0; 4096]);
/// loop {
///     // Other work can be done after each millisecond.
///     let wait = Duration::from_millis(1);
///     let step = encoder.push(rest, &mut room, Operation::End, wait)?;
///     rest = &rest[step.consumed..];
///     frame.extend_from_slice(&room[..step.produced]);
///     if step.state == State::Done {
///         break;
///     }
/// }
/// assert_eq!(zstdkit::decompress(&frame, &Default::default())?, content);
/// # Ok::<(), zstdkit::Error>(())
/// ```
pub struct OffloadedEncoder {
    options: EncoderOptions,
    inputs: SyncSender<(u64, Ask)>,
    answers: Receiver<(u64, Answer)>,
    /// The frame that answers have to be of; older ones were dropped.
    frame: u64,
    /// Output that did not fit into a call.
    ready: VecDeque<Vec<u8>>,
    /// Bytes of the first of them that were handed out.
    handed: usize,
    /// Memory for inputs.
    spare: Vec<Vec<u8>>,
    /// Flushes that were asked for and are not done.
    flushes: usize,
    /// Whether there is something to flush.
    dirty: bool,
    ending: Ending,
    taken: u64,
    failed: Option<Error>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    NotYet,
    Asked,
    Done,
}

enum Ask {
    Begin(Option<u64>),
    /// Go on at this level.
    Level(i32),
    Push(Vec<u8>, Operation),
}

/// Each [`Ask`] has at least one.
enum Answer {
    /// A frame was begun, or another level was set.
    Begun,
    Output(Vec<u8>),
    /// An input was taken; its memory comes back.
    Taken(Vec<u8>, Operation),
    Failed(Error),
}

impl OffloadedEncoder {
    /// An encoder with these options, and the thread that calls it. The thread ends after its current call
    /// when the encoder is dropped; drop does not wait for it.
    pub fn new(options: &EncoderOptions) -> Result<Self, Error> {
        let encoder = Encoder::new(options)?;
        let (inputs, asked) = sync_channel(INPUTS_MAX);
        let (answer, answers) = sync_channel(ANSWERS_MAX);
        std::thread::Builder::new()
            .name("zstd encoder".to_owned())
            .spawn(move || work(encoder, &asked, &answer))
            .map_err(|_| no_thread())?;
        Ok(Self {
            options: options.clone(),
            inputs,
            answers,
            frame: 0,
            ready: VecDeque::new(),
            handed: 0,
            spare: Vec::new(),
            flushes: 0,
            dirty: true,
            ending: Ending::NotYet,
            taken: 0,
            failed: None,
        })
    }

    /// The options it was made with.
    pub fn options(&self) -> &EncoderOptions {
        &self.options
    }

    /// Starts a frame, of a pledged size if it is known, and drops what was not finished. Only where a frame is
    /// dropped that was not at its end, this waits for calls on the other thread.
    pub fn begin(&mut self, pledged: Option<u64>) -> Result<(), Error> {
        self.frame += 1;
        self.ready.clear();
        self.handed = 0;
        self.flushes = 0;
        self.dirty = true;
        self.ending = Ending::NotYet;
        self.taken = 0;
        self.failed = None;
        let mut ask = (self.frame, Ask::Begin(pledged));
        loop {
            match self.inputs.try_send(ask) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(self.fail(gone(0))),
                Err(TrySendError::Full(back)) => ask = back,
            }
            // The thread may be waiting for room for answers of the frame that is dropped. What stands in the line
            // before this has answers to come, so that this wait ends.
            match self.answers.recv() {
                Ok(answer) => self.see(answer),
                Err(_) => return Err(self.fail(gone(0))),
            }
        }
    }

    /// Goes on at this level from the next job of the workers on. Returns whether it was passed on: `false` if
    /// the line is full, for the level of a later call is as good. See [`Encoder::set_level`].
    pub fn set_level(&mut self, level: i32) -> bool {
        self.inputs
            .try_send((self.frame, Ask::Level(level)))
            .is_ok()
    }

    /// Takes input, hands out output, and waits up to `wait` if it can do neither. A step that did nothing is
    /// [`State::MoreOutput`]: call again, with the same operation and the rest of the input.
    pub fn push(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        operation: Operation,
        wait: Duration,
    ) -> Result<Step, Error> {
        while let Ok(answer) = self.answers.try_recv() {
            self.see(answer);
        }
        let consumed = self.give(input, operation)?;
        let mut produced = self.hand_out(output);
        let all = consumed == input.len();
        if consumed + produced == 0 && self.state(all, operation) == State::MoreOutput {
            match self.answers.recv_timeout(wait) {
                Ok(answer) => self.see(answer),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.fail(gone(self.taken))),
            }
            produced = self.hand_out(output);
        }
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => Ok(Step {
                consumed,
                produced,
                state: self.state(all, operation),
            }),
        }
    }

    /// Passes input to the thread if there is room on the way; how much of it.
    fn give(&mut self, input: &[u8], operation: Operation) -> Result<usize, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if self.ending != Ending::NotYet {
            return match input.is_empty() {
                true => Ok(0),
                false => Err(self.fail(Repr::NoOpenFrame { given: input.len() }.into())),
            };
        }
        let piece = &input[..input.len().min(INPUT_BYTES_MAX)];
        let last = piece.len() == input.len();
        let operation = if last { operation } else { Operation::Continue };
        let nothing = match operation {
            Operation::Continue => piece.is_empty(),
            Operation::Flush => piece.is_empty() && !self.dirty,
            Operation::End => false,
        };
        if nothing {
            return Ok(0);
        }
        let mut content = self.spare.pop().unwrap_or_default();
        content.clear();
        content.extend_from_slice(piece);
        match self
            .inputs
            .try_send((self.frame, Ask::Push(content, operation)))
        {
            Ok(()) => {
                self.taken += piece.len() as u64;
                self.dirty = operation == Operation::Continue;
                match operation {
                    Operation::Continue => {}
                    Operation::Flush => self.flushes += 1,
                    Operation::End => self.ending = Ending::Asked,
                }
                Ok(piece.len())
            }
            Err(TrySendError::Full((_, ask))) => {
                if let Ask::Push(content, _) = ask {
                    self.spare.push(content);
                }
                Ok(0)
            }
            Err(TrySendError::Disconnected(_)) => Err(self.fail(gone(self.taken))),
        }
    }

    fn see(&mut self, (frame, answer): (u64, Answer)) {
        let ours = frame == self.frame;
        match answer {
            Answer::Output(bytes) if ours => self.ready.push_back(bytes),
            Answer::Failed(error) if ours => self.failed = Some(error),
            Answer::Taken(content, operation) => {
                if self.spare.len() < INPUTS_MAX {
                    self.spare.push(content);
                }
                match operation {
                    Operation::Flush if ours => self.flushes = self.flushes.saturating_sub(1),
                    Operation::End if ours => self.ending = Ending::Done,
                    _ => {}
                }
            }
            Answer::Begun | Answer::Output(_) | Answer::Failed(_) => {}
        }
    }

    fn hand_out(&mut self, output: &mut [u8]) -> usize {
        let mut filled = 0;
        while let Some(first) = self.ready.front() {
            let rest = &first[self.handed..];
            let count = rest.len().min(output.len() - filled);
            output[filled..filled + count].copy_from_slice(&rest[..count]);
            filled += count;
            self.handed += count;
            if self.handed < first.len() {
                break;
            }
            self.ready.pop_front();
            self.handed = 0;
        }
        filled
    }

    fn state(&self, all_taken: bool, operation: Operation) -> State {
        let drained = self.ready.is_empty();
        match (operation, self.ending) {
            (_, Ending::Done) if drained => State::Done,
            (Operation::Continue, Ending::NotYet) if all_taken && drained => State::NeedInput,
            (Operation::Flush, Ending::NotYet) if all_taken && drained && self.flushes == 0 => {
                State::NeedInput
            }
            _ => State::MoreOutput,
        }
    }

    fn fail(&mut self, error: Error) -> Error {
        self.failed = Some(error.clone());
        error
    }
}

impl std::fmt::Debug for OffloadedEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OffloadedEncoder")
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

/// The thread ended, which it only does when it panics.
fn gone(offset: u64) -> Error {
    let reason = "the thread of the encoder ended";
    Repr::Internal { offset, reason }.into()
}

/// Calls the encoder until the other side is gone.
fn work(mut encoder: Encoder, asked: &Receiver<(u64, Ask)>, answers: &SyncSender<(u64, Answer)>) {
    for (frame, ask) in asked {
        let done = match ask {
            Ask::Begin(pledged) => match encoder.begin(pledged) {
                Ok(()) => answers.send((frame, Answer::Begun)),
                Err(error) => answers.send((frame, Answer::Failed(error))),
            },
            Ask::Level(level) => match encoder.set_level(level) {
                Ok(()) => answers.send((frame, Answer::Begun)),
                Err(error) => answers.send((frame, Answer::Failed(error))),
            },
            Ask::Push(content, operation) => {
                let mut pass = |bytes| answers.send((frame, Answer::Output(bytes))).is_ok();
                match drive(&mut encoder, &content, operation, &mut pass) {
                    Ok(()) => answers.send((frame, Answer::Taken(content, operation))),
                    Err(error) => answers.send((frame, Answer::Failed(error))),
                }
            }
        };
        if done.is_err() {
            return;
        }
    }
}

/// Gives the encoder all of `content`; `pass` says whether there is still somebody to pass output to.
fn drive(
    encoder: &mut Encoder,
    content: &[u8],
    operation: Operation,
    pass: &mut dyn FnMut(Vec<u8>) -> bool,
) -> Result<(), Error> {
    let mut rest = content;
    loop {
        let mut room = vec![0; OUTPUT_BYTES];
        let step = encoder.push(rest, &mut room, operation)?;
        rest = &rest[step.consumed..];
        room.truncate(step.produced);
        let heard = room.is_empty() || pass(room);
        let over = match operation {
            Operation::Continue => rest.is_empty(),
            Operation::Flush => step.state != State::MoreOutput,
            Operation::End => step.state == State::Done,
        };
        if over || !heard {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_that_is_begun_is_answered() {
        let encoder = Encoder::new(&EncoderOptions::default()).expect("an encoder");
        let (inputs, asked) = sync_channel(INPUTS_MAX);
        let (answer, answers) = sync_channel(ANSWERS_MAX);
        for frame in 1..=3 {
            inputs.send((frame, Ask::Begin(None))).expect("room");
        }
        drop(inputs);
        work(encoder, &asked, &answer);
        drop(answer);
        let frames: Vec<u64> = answers.iter().map(|(frame, _)| frame).collect();
        assert_eq!(frames, [1, 2, 3]);
    }
}
