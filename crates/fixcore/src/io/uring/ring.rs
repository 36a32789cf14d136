//! A ring and the memory that the kernel works on: with `pages`, the only unsafe code of `io`.
//!
//! The kernel writes to receive buffers and reads from outboxes after the submitting call has
//! returned. So a [`Ring`] owns all of that memory. It lends out a received buffer only while the
//! kernel does not use it ([`Lent`]), counts requests in flight, cancels them when it is dropped, and
//! leaks memory rather than free what the kernel may still write to. `carrier.rs` decides what to send
//! and when.
#![allow(
    unsafe_code,
    reason = "the kernel is handed memory, which has to outlive its use"
)]

use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use io_uring::types::{BufRingEntry, CancelBuilder, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};

use crate::io::options::{Setup, Wait};

mod completions;
mod pages;
mod requests;

pub(in crate::io) use completions::Completion;
use pages::Pages;
pub(super) use requests::Send;

/// The group number of the provided buffers.
const GROUP: u16 = 0;
/// How often, and how long each time, `drop` waits for requests in flight to end.
const END_TRIES: u32 = 20;
const END_WAIT: Wait = Wait::For(std::time::Duration::from_millis(50));
/// The `user_data` of the request that cancels all others.
const END: u64 = u64::MAX;
/// How long the kernel's thread polls for requests before it sleeps.
const IDLE_MS: u32 = 50;

/// How many rings there were so far: tells which ring a buffer belongs to.
static RINGS: AtomicU64 = AtomicU64::new(0);

/// Sizes of a ring and of its memory.
#[derive(Debug, Clone, Copy)]
pub(in crate::io) struct Sizes {
    /// The length of the submission queue.
    pub(in crate::io) submissions: u32,
    /// The length of the completion queue.
    pub(in crate::io) completions: u32,
    /// How many receive buffers there are: a power of two, or 0.
    pub(in crate::io) buffers: u16,
    pub(in crate::io) buffer_bytes: usize,
    /// How many outboxes there are.
    pub(in crate::io) outboxes: usize,
    pub(in crate::io) outbox_bytes: usize,
}

/// A received buffer that the kernel has handed out, until it is [released](Ring::release) to its ring.
#[derive(Debug)]
pub(in crate::io) struct Lent {
    ring: u64,
    id: u16,
    bytes: usize,
}

/// A ring with its memory. It stays on one thread: with `SINGLE_ISSUER` the kernel accepts requests
/// only from the thread that made the ring.
pub(in crate::io) struct Ring {
    /// The number of this ring.
    number: u64,
    /// Dropped before the memory below.
    ring: IoUring,
    memory: Option<Memory>,
    sizes: Sizes,
    tail: u16,
    registered: bool,
    /// Whether a thread of the kernel takes requests.
    is_polled: bool,
    /// How many submitted or queued requests have not completed.
    in_flight: usize,
    /// Whether a request made the kernel write to an outbox.
    reads_into_outbox: bool,
    syscalls: u64,
    overflows: u64,
    one_thread: PhantomData<*const ()>,
}

#[derive(Debug)]
struct Memory {
    /// The memory that the kernel receives into.
    buffers: Pages,
    /// The ring that provides those buffers.
    entries: Pages,
    /// The memory that it sends from.
    outboxes: Pages,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring")
            .field("sizes", &self.sizes)
            .field("in_flight", &self.in_flight)
            .field("syscalls", &self.syscalls)
            .finish_non_exhaustive()
    }
}

impl Ring {
    /// Sets up a ring, provides its buffers, and locks its outboxes in memory if allowed.
    pub(in crate::io) fn open(setup: Setup, sizes: Sizes, register: bool) -> io::Result<Self> {
        let mut builder = IoUring::builder();
        builder.setup_clamp().setup_cqsize(sizes.completions);
        match setup {
            Setup::Deferred => {
                builder.setup_coop_taskrun().setup_single_issuer();
                builder.setup_defer_taskrun().setup_taskrun_flag();
            }
            Setup::Cooperative => {
                builder.setup_coop_taskrun().setup_taskrun_flag();
            }
            Setup::Plain => {}
            Setup::Polled => {
                builder.setup_sqpoll(IDLE_MS).setup_single_issuer();
            }
        }
        let ring = builder.build(sizes.submissions)?;
        // Without these features completions could be lost, and waits could not time out.
        let able = ring.params().is_feature_nodrop() && ring.params().is_feature_ext_arg();
        if !able {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let buffers = usize::from(sizes.buffers);
        let memory = Memory {
            buffers: Pages::of(buffers, sizes.buffer_bytes)?,
            entries: Pages::of(buffers, size_of::<BufRingEntry>())?,
            outboxes: Pages::of(sizes.outboxes, sizes.outbox_bytes)?,
        };
        let mut ring = Self {
            number: RINGS.fetch_add(1, Ordering::Relaxed),
            ring,
            memory: Some(memory),
            sizes,
            tail: 0,
            registered: false,
            is_polled: setup == Setup::Polled,
            in_flight: 0,
            reads_into_outbox: false,
            syscalls: 1,
            overflows: 0,
            one_thread: PhantomData,
        };
        ring.provide()?;
        if register {
            ring.register();
        }
        Ok(ring)
    }

    fn memory(&self) -> &Memory {
        // It is `None` only while the ring is dropped, when nothing else is called.
        self.memory
            .as_ref()
            .expect("the memory of a ring that lives")
    }

    /// Provides all receive buffers to the kernel.
    fn provide(&mut self) -> io::Result<()> {
        if self.sizes.buffers == 0 {
            return Ok(());
        }
        let entries = self.memory().entries.start() as u64;
        self.syscalls += 1;
        let submitter = self.ring.submitter();
        // SAFETY: the entries are on a page boundary, as many as are said, and freed when the ring
        // is closed and nothing is in flight.
        unsafe { submitter.register_buf_ring_with_flags(entries, self.sizes.buffers, GROUP, 0)? };
        for id in 0..self.sizes.buffers {
            self.give(id);
        }
        self.publish();
        Ok(())
    }

    /// Locks the outboxes in memory. The system refuses it if the process may not lock as much.
    fn register(&mut self) {
        let outboxes = &self.memory().outboxes;
        let all = libc::iovec {
            iov_base: outboxes.start().cast(),
            iov_len: outboxes.bytes(),
        };
        // SAFETY: the outboxes are freed when the ring is closed and nothing is in flight.
        let done = unsafe { self.ring.submitter().register_buffers(&[all]) };
        self.syscalls += 1;
        self.registered = done.is_ok();
    }

    /// Whether sends may be [`Send::Registered`].
    pub(super) fn is_registered(&self) -> bool {
        self.registered
    }

    /// The size of each outbox.
    pub(super) fn outbox_bytes(&self) -> usize {
        self.sizes.outbox_bytes
    }

    /// How many system calls were made so far.
    pub(in crate::io) fn syscalls(&self) -> u64 {
        self.syscalls
    }

    /// How often the kernel had to keep completions for which there was no room.
    pub(super) fn overflows(&self) -> u64 {
        self.overflows
    }

    /// Queues a buffer for the kernel, which sees it once it is [published](Self::publish).
    fn give(&mut self, id: u16) {
        let memory = self.memory();
        let at = usize::from(id) * self.sizes.buffer_bytes;
        let address = memory.buffers.at(at, self.sizes.buffer_bytes) as u64;
        let place = usize::from(self.tail & (self.sizes.buffers - 1)) * size_of::<BufRingEntry>();
        let entry = memory.entries.at(place, size_of::<BufRingEntry>());
        // SAFETY: inside the entries and aligned as they are. The kernel reads only published entries,
        // and no two queued buffers share an entry: there are as many entries as buffers, and giving a
        // buffer back takes its `Lent`, so none is given back twice.
        let entry = unsafe { &mut *entry.cast::<BufRingEntry>() };
        entry.set_addr(address);
        entry.set_len(u32::try_from(self.sizes.buffer_bytes).unwrap_or(u32::MAX));
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    fn publish(&self) {
        let entries = self.memory().entries.start().cast::<BufRingEntry>();
        // SAFETY: the first entry of the ring, whose unused field is the tail. It is aligned for an
        // atomic, and the kernel only reads it.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(entries).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }

    /// The bytes of a received buffer.
    pub(super) fn bytes(&self, lent: &Lent) -> &[u8] {
        assert_eq!(lent.ring, self.number, "a buffer of another ring");
        let at = usize::from(lent.id) * self.sizes.buffer_bytes;
        let start = self.memory().buffers.at(at, lent.bytes);
        // SAFETY: inside the buffers, and zeroed or written by the kernel. The kernel handed this
        // buffer out: its only `Lent` proves it. The kernel gets it back only by `release`, which takes
        // the ring by `&mut`, so no slice that borrows the ring is left then. The buffer of a dropped
        // `Lent` is never given back.
        unsafe { std::slice::from_raw_parts(start, lent.bytes) }
    }

    /// Gives a buffer back to the kernel.
    #[expect(clippy::needless_pass_by_value, reason = "it must not be used again")]
    pub(super) fn release(&mut self, lent: Lent) {
        assert_eq!(lent.ring, self.number, "a buffer of another ring");
        self.give(lent.id);
        self.publish();
    }

    /// Copies bytes into an outbox.
    pub(in crate::io) fn write(&mut self, outbox: usize, at: usize, bytes: &[u8]) {
        let start = self.outbox(outbox, at, bytes.len());
        let is_written = self.reads_into_outbox && self.in_flight > 0;
        assert!(!is_written, "the kernel writes to an outbox");
        // SAFETY: inside the outboxes, which the caller's slice cannot overlap. No request of the
        // kernel writes there; if it sends while this writes, it sends old or new bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) }
    }

    fn outbox(&self, outbox: usize, at: usize, bytes: usize) -> *mut u8 {
        let size = self.sizes.outbox_bytes;
        let inside = at.checked_add(bytes).is_some_and(|end| end <= size);
        assert!(inside && outbox < self.sizes.outboxes, "beyond an outbox");
        self.memory().outboxes.at(outbox * size + at, bytes)
    }

    /// The first eight bytes of the first outbox, if nothing is in flight.
    #[cfg(feature = "workload")]
    pub(in crate::io) fn word(&self) -> Option<u64> {
        let start = self.outbox(0, 0, 8).cast_const().cast::<[u8; 8]>();
        // SAFETY: eight bytes of the outboxes, and the kernel has no request that could write them.
        (self.in_flight == 0).then(|| u64::from_ne_bytes(unsafe { start.read() }))
    }

    /// Queues a request. If the queue is full it is submitted first; `WouldBlock` means that the kernel
    /// refused that for now.
    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the request refers to memory of this ring, inside it as asserted above, which
        // outlives the request: see `drop`. A socket that was closed meanwhile gives an error.
        if unsafe { self.ring.submission().push(entry) }.is_err() {
            self.syscalls += 1;
            match self.ring.submit() {
                Ok(_) => {}
                Err(error) if is_passing(&error) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(error) => return Err(error),
            }
            // SAFETY: as above.
            let pushed = unsafe { self.ring.submission().push(entry) };
            pushed.map_err(|_| io::Error::from(io::ErrorKind::WouldBlock))?;
        }
        self.in_flight += 1;
        Ok(())
    }

    /// Submits the queue, and in the same call waits for `want` completions if there are none. Nothing
    /// stays queued while the thread sleeps. A signal ends the wait.
    pub(in crate::io) fn enter(&mut self, wait: Wait, want: usize) -> io::Result<()> {
        let (submitter, line, completions) = self.ring.split();
        let overflown = line.cq_overflow();
        let waits = wait != Wait::Poll && completions.is_empty();
        if !waits && line.is_empty() && !line.taskrun() && !overflown {
            return Ok(());
        }
        let want = if waits {
            want.min(completions.capacity())
        } else {
            0
        };
        // The kernel's own thread takes requests without a call, unless it sleeps.
        let is_taken = self.is_polled && want == 0 && !overflown && !line.need_wakeup();
        drop((line, completions));
        self.overflows += u64::from(overflown);
        self.syscalls += u64::from(!is_taken);
        let time;
        let mut arguments = SubmitArgs::new();
        if let Wait::For(duration) = wait {
            time = Timespec::from(duration);
            arguments = arguments.timespec(&time);
        }
        match submitter.submit_with_args(want, &arguments) {
            Ok(_) => Ok(()),
            Err(error) if is_passing(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Cancels all requests in flight. Returns whether the kernel has released everything.
    fn end(&mut self) -> bool {
        let mut asked = false;
        for _ in 0..END_TRIES {
            while self.completion().is_some() {}
            if self.in_flight == 0 {
                return true;
            }
            if !asked {
                let end = opcode::AsyncCancel2::new(CancelBuilder::any());
                asked = self.push(&end.build().user_data(END)).is_ok();
            }
            if self.enter(END_WAIT, 1).is_err() {
                return false;
            }
        }
        false
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if !self.end() {
            // Requests may still run after the ring is closed, so their memory is leaked.
            std::mem::forget(self.memory.take());
        }
    }
}

/// Errors after which the kernel is entered again: a signal, a timeout, completions that must be taken
/// first.
fn is_passing(error: &io::Error) -> bool {
    let passing = [libc::EINTR, libc::ETIME, libc::EBUSY, libc::EAGAIN];
    error
        .raw_os_error()
        .is_some_and(|code| passing.contains(&code))
}
