//! Readers and writers that are short, interrupted, blocked or broken, by a script.

use std::io::{self, ErrorKind, Read, Write};

use proptest::prelude::*;

/// What one call of a flaky reader or writer does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Call {
    /// Takes or gives at most this many bytes.
    AtMost(usize),
    Fails(ErrorKind),
}

/// Scripts that end with a call that makes progress.
pub(crate) fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        2 => (1_usize..40).prop_map(Call::AtMost),
        3 => (1000_usize..200_000).prop_map(Call::AtMost),
        1 => Just(Call::Fails(ErrorKind::Interrupted)),
        1 => Just(Call::Fails(ErrorKind::WouldBlock)),
        1 => Just(Call::Fails(ErrorKind::TimedOut)),
    ];
    prop::collection::vec(call, 0..8).prop_map(|mut calls| {
        calls.push(Call::AtMost(30_000));
        calls
    })
}

/// A reader or writer that follows a script, over and over.
#[derive(Debug)]
pub(crate) struct Flaky {
    pub(crate) bytes: Vec<u8>,
    start: usize,
    calls: Vec<Call>,
    next: usize,
    pub(crate) flushed: usize,
}

impl Flaky {
    pub(crate) fn new(bytes: &[u8], calls: &[Call]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            start: 0,
            calls: calls.to_vec(),
            next: 0,
            flushed: 0,
        }
    }

    fn call(&mut self) -> io::Result<usize> {
        let call = self.calls[self.next % self.calls.len()];
        self.next += 1;
        match call {
            Call::AtMost(count) => Ok(count),
            Call::Fails(kind) => Err(kind.into()),
        }
    }
}

impl Read for Flaky {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.bytes[self.start..];
        let count = rest.len().min(buffer.len());
        if count == 0 {
            return Ok(0);
        }
        let count = self.call()?.min(count);
        buffer[..count].copy_from_slice(&self.bytes[self.start..self.start + count]);
        self.start += count;
        Ok(count)
    }
}

impl Write for Flaky {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.call()?.min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushed = self.bytes.len();
        Ok(())
    }
}

/// Repeats a call that failed only because of the script.
pub(crate) fn persist<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..100_000 {
        match work() {
            Err(error) if error.get_ref().is_none() => {}
            result => return result,
        }
    }
    panic!("no progress");
}
