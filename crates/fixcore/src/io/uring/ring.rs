//! A ring and the memory that the kernel works on: the one place of `io` with unsafe code.
//!
//! The kernel writes to received buffers and reads from outboxes after the call that asked for it
//! has returned. So a [`Ring`] owns all of that memory; it gives out a received buffer only while
//! the kernel has no business in it ([`Lent`]); it counts what is in flight, ends that when it is
//! dropped, and would rather lose memory than free what may still be written to. What to send and
//! when is decided in `mod.rs`.
#![allow(
    unsafe_code,
    reason = "the kernel is handed memory, which has to outlive its use"
)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use io_uring::types::{BufRingEntry, CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};

use crate::io::options::{Receives, Setup, Wait};

/// What the kernel calls the group of provided buffers.
const GROUP: u16 = 0;
/// A page, to which a ring of buffers has to be aligned.
const PAGE_BYTES: usize = 4096;
/// How often, and how long each time, the end of what is in flight is waited for at drop.
const END_TRIES: u32 = 20;
const END_WAIT: Wait = Wait::For(std::time::Duration::from_millis(50));
/// What a send that the thread does not wait for is told.
const MSG_DONTWAIT: i32 = 0x40;
/// `user_data` of the request that ends all others.
const END: u64 = u64::MAX;

/// Rings so far: which one a buffer is of.
static RINGS: AtomicU64 = AtomicU64::new(0);

/// Sizes of a ring and of its memory.
#[derive(Debug, Clone, Copy)]
pub(in crate::io) struct Sizes {
    /// Requests that are handed over at a time.
    pub(in crate::io) submissions: u32,
    /// Completions that have room.
    pub(in crate::io) completions: u32,
    /// Buffers to receive into, a power of two; 0: none.
    pub(in crate::io) buffers: u16,
    pub(in crate::io) buffer_bytes: usize,
    /// Outboxes.
    pub(in crate::io) outboxes: usize,
    pub(in crate::io) outbox_bytes: usize,
}

/// A received buffer that the kernel has given to us, until it is [released](Ring::release) to the
/// ring that it is of.
#[derive(Debug)]
pub(in crate::io) struct Lent {
    ring: u64,
    id: u16,
    bytes: usize,
}

/// What became of a request.
#[derive(Debug)]
pub(in crate::io) struct Completion {
    pub(super) user_data: u64,
    /// Bytes, or an error below zero.
    pub(super) result: i32,
    /// Whether more completions of this request follow.
    pub(super) more: bool,
    /// Whether it only says that the kernel is done with the bytes of an earlier send.
    pub(super) notification: bool,
    /// What was received.
    pub(super) lent: Option<Lent>,
}

#[cfg(feature = "workload")]
impl Completion {
    /// The error of the request, if it failed.
    pub(in crate::io) fn check(&self) -> io::Result<()> {
        match self.result {
            0.. => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error)),
        }
    }
}

/// How a send shall be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Send {
    /// Now, or not at all: it completes while it is submitted.
    Now,
    /// When there is room in the kernel.
    Blocking,
    /// The same out of registered memory, which the kernel may read until it notifies.
    Registered,
}

/// Memory for the kernel, zeroed, on page boundaries.
#[derive(Debug)]
struct Pages {
    /// The allocation.
    all: NonNull<u8>,
    layout: Layout,
    /// The first page boundary in it, and bytes from there on.
    start: NonNull<u8>,
    bytes: usize,
}

impl Pages {
    fn new(bytes: usize) -> io::Result<Self> {
        // Not by its alignment: memory that is asked for so is zeroed page by page, which would take
        // all of it before any is used.
        let no_memory = || io::Error::from(io::ErrorKind::OutOfMemory);
        let with_page = bytes.checked_add(PAGE_BYTES).ok_or_else(no_memory)?;
        let layout = Layout::array::<u128>(with_page / size_of::<u128>() + 1);
        let layout = layout.map_err(|_| no_memory())?;
        // SAFETY: the layout has at least a page.
        let all = unsafe { alloc_zeroed(layout) };
        let all = NonNull::new(all).ok_or_else(no_memory)?;
        let over = all.align_offset(PAGE_BYTES);
        assert!(over <= PAGE_BYTES, "a page boundary within a page");
        // SAFETY: the allocation has a page more than `bytes`, and `over` is at most a page.
        let start = unsafe { all.add(over) };
        Ok(Self {
            all,
            layout,
            start,
            bytes,
        })
    }

    /// Pages for so many things of a size.
    fn of(number: usize, bytes_each: usize) -> io::Result<Self> {
        let bytes = number.checked_mul(bytes_each);
        Self::new(bytes.ok_or(io::ErrorKind::OutOfMemory)?)
    }

    /// The address of `bytes` bytes at `at`, which are inside.
    fn at(&self, at: usize, bytes: usize) -> *mut u8 {
        let inside = at.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        assert!(inside, "a buffer beyond the memory of the ring");
        // SAFETY: `at` is at most `bytes`, as just asserted, and the allocation has as many behind
        // `start`.
        unsafe { self.start.as_ptr().add(at) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and dropped once.
        unsafe { dealloc(self.all.as_ptr(), self.layout) }
    }
}

/// A ring with its memory. Of one thread: the kernel takes requests of a ring that is set up with
/// `SINGLE_ISSUER` from the thread that made it.
pub(in crate::io) struct Ring {
    /// Which of all rings.
    number: u64,
    /// Dropped before the memory below.
    ring: IoUring,
    memory: Option<Memory>,
    sizes: Sizes,
    tail: u16,
    registered: bool,
    /// Requests that the kernel has, or will have, and has not completed.
    in_flight: usize,
    /// Whether requests have had the kernel write to an outbox.
    reads_into_outbox: bool,
    syscalls: u64,
    overflows: u64,
    one_thread: PhantomData<*const ()>,
}

#[derive(Debug)]
struct Memory {
    /// What the kernel receives into.
    buffers: Pages,
    /// The ring that provides those.
    entries: Pages,
    /// What it sends from.
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
    /// Sets a ring up, gives it its buffers, and locks its outboxes in memory if it may.
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
        }
        let ring = builder.build(sizes.submissions)?;
        // Without these, completions could be lost and no wait could end in time.
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
        // It is taken when the ring is dropped, and nothing is called then.
        self.memory
            .as_ref()
            .expect("the memory of a ring that lives")
    }

    /// Gives the kernel all buffers to receive into.
    fn provide(&mut self) -> io::Result<()> {
        if self.sizes.buffers == 0 {
            return Ok(());
        }
        let entries = self.memory().entries.start.as_ptr() as u64;
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

    /// Locks the outboxes in memory. It is refused where a process may not lock as much.
    fn register(&mut self) {
        let outboxes = &self.memory().outboxes;
        let all = libc::iovec {
            iov_base: outboxes.start.as_ptr().cast(),
            iov_len: outboxes.bytes,
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

    /// Bytes of each outbox.
    pub(super) fn outbox_bytes(&self) -> usize {
        self.sizes.outbox_bytes
    }

    /// System calls so far.
    pub(in crate::io) fn syscalls(&self) -> u64 {
        self.syscalls
    }

    /// Times that the kernel kept completions for which there was no room.
    pub(super) fn overflows(&self) -> u64 {
        self.overflows
    }

    /// Puts a buffer back in line; the kernel sees it when that is [published](Self::publish).
    fn give(&mut self, id: u16) {
        let memory = self.memory();
        let at = usize::from(id) * self.sizes.buffer_bytes;
        let address = memory.buffers.at(at, self.sizes.buffer_bytes) as u64;
        let place = usize::from(self.tail & (self.sizes.buffers - 1)) * size_of::<BufRingEntry>();
        let entry = memory.entries.at(place, size_of::<BufRingEntry>());
        // SAFETY: inside of the entries and aligned as they are. The kernel reads only what is
        // published, and no two buffers in line share an entry: there are as many of each, and none is
        // given twice, for that takes its `Lent`.
        let entry = unsafe { &mut *entry.cast::<BufRingEntry>() };
        entry.set_addr(address);
        entry.set_len(u32::try_from(self.sizes.buffer_bytes).unwrap_or(u32::MAX));
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    fn publish(&self) {
        let entries = self.memory().entries.start.as_ptr().cast::<BufRingEntry>();
        // SAFETY: the first entry of the ring, whose unused field is the tail. It is aligned for an
        // atomic, and the kernel only reads it.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(entries).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }

    /// What was received.
    pub(super) fn bytes(&self, lent: &Lent) -> &[u8] {
        assert_eq!(lent.ring, self.number, "a buffer of another ring");
        let at = usize::from(lent.id) * self.sizes.buffer_bytes;
        let start = self.memory().buffers.at(at, lent.bytes);
        // SAFETY: inside of the buffers, and zeroed or written by the kernel. That gave this buffer
        // away, as its `Lent` shows, of which there is one, and gets it back by `release` alone: which
        // takes the ring by `&mut`, so that no slice that borrows the ring is left then. A `Lent` that
        // is dropped is never given back.
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
        // SAFETY: inside of the outboxes, which are no memory of the caller's. The kernel has no
        // request that writes there; what it sends while this changes it is some bytes or others.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) }
    }

    fn outbox(&self, outbox: usize, at: usize, bytes: usize) -> *mut u8 {
        let size = self.sizes.outbox_bytes;
        let inside = at.checked_add(bytes).is_some_and(|end| end <= size);
        assert!(inside && outbox < self.sizes.outboxes, "beyond an outbox");
        self.memory().outboxes.at(outbox * size + at, bytes)
    }

    /// Asks to receive from a socket into provided buffers: once, or until that ends.
    pub(super) fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
        how: Receives,
        user_data: u64,
    ) -> io::Result<()> {
        let fd = Fd(socket.as_raw_fd());
        let multishot = opcode::RecvMulti::new(fd, GROUP);
        let entry = match how {
            Receives::Multishot => multishot.build(),
            Receives::Single => {
                let bytes = u32::try_from(self.sizes.buffer_bytes).unwrap_or(u32::MAX);
                let receive = opcode::Recv::new(fd, std::ptr::null_mut(), bytes).buf_group(GROUP);
                receive.build().flags(squeue::Flags::BUFFER_SELECT)
            }
            // No kernel goes on with what waits for all.
            Receives::Refused => multishot.flags(libc::MSG_WAITALL).build(),
        };
        self.push(&entry.user_data(user_data))
    }

    /// Asks to send bytes of an outbox.
    pub(super) fn send(
        &mut self,
        socket: BorrowedFd<'_>,
        (outbox, at, bytes): (usize, usize, usize),
        how: Send,
        user_data: u64,
    ) -> io::Result<()> {
        let fd = Fd(socket.as_raw_fd());
        let start = self.outbox(outbox, at, bytes).cast_const();
        let length = u32::try_from(bytes).unwrap_or(u32::MAX);
        let entry = match how {
            Send::Now => {
                let send = opcode::Send::new(fd, start, length);
                send.flags(MSG_DONTWAIT).build()
            }
            Send::Blocking => opcode::Send::new(fd, start, length).build(),
            Send::Registered => {
                let send = opcode::SendZc::new(fd, start, length);
                send.buf_index(Some(0)).build()
            }
        };
        self.push(&entry.user_data(user_data))
    }

    /// Asks to end a request.
    pub(super) fn cancel(&mut self, target: u64, user_data: u64) -> io::Result<()> {
        let entry = opcode::AsyncCancel::new(target).build();
        self.push(&entry.user_data(user_data))
    }

    /// Asks for nothing.
    #[cfg(feature = "workload")]
    pub(in crate::io) fn nop(&mut self) -> io::Result<()> {
        self.push(&opcode::Nop::new().build())
    }

    /// Asks to write the first eight bytes of the first outbox to a file.
    #[cfg(feature = "workload")]
    pub(in crate::io) fn write_word(&mut self, file: BorrowedFd<'_>) -> io::Result<()> {
        let start = self.outbox(0, 0, 8).cast_const();
        self.push(&opcode::Write::new(Fd(file.as_raw_fd()), start, 8).build())
    }

    /// Asks to read eight bytes of a file into the first outbox.
    #[cfg(feature = "workload")]
    pub(in crate::io) fn read_word(&mut self, file: BorrowedFd<'_>) -> io::Result<()> {
        let start = self.outbox(0, 0, 8);
        self.reads_into_outbox = true;
        self.push(&opcode::Read::new(Fd(file.as_raw_fd()), start, 8).build())
    }

    /// The first eight bytes of the first outbox, when nothing is in flight.
    #[cfg(feature = "workload")]
    pub(in crate::io) fn word(&self) -> Option<u64> {
        let start = self.outbox(0, 0, 8).cast_const().cast::<[u8; 8]>();
        // SAFETY: eight bytes of the outboxes, and the kernel has no request that could write them.
        (self.in_flight == 0).then(|| u64::from_ne_bytes(unsafe { start.read() }))
    }

    /// Puts a request in line. When there is no room, what is there is handed over first;
    /// `WouldBlock`: that was refused for now.
    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: what the request refers to is memory of this ring, inside of it as asserted above,
        // and outlives the request: see `drop`. A socket that was closed meanwhile is an error.
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

    /// Hands over what is in line, and in the same call waits for `want` completions if there are
    /// none. Nothing stays in line while the thread sleeps. A signal ends the wait.
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
        drop((line, completions));
        self.overflows += u64::from(overflown);
        self.syscalls += 1;
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

    /// Completions that are there.
    pub(super) fn ready(&mut self) -> usize {
        self.ring.completion().len()
    }

    /// The next completion that is there.
    pub(in crate::io) fn completion(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        let (flags, result) = (entry.flags(), entry.result());
        let more = cqueue::more(flags);
        if !more {
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        let bytes = usize::try_from(result).unwrap_or(0);
        let id = cqueue::buffer_select(flags).filter(|id| *id < self.sizes.buffers);
        Some(Completion {
            user_data: entry.user_data(),
            result,
            more,
            notification: cqueue::notif(flags),
            lent: id.map(|id| Lent {
                ring: self.number,
                id,
                bytes: bytes.min(self.sizes.buffer_bytes),
            }),
        })
    }

    /// Ends all that is in flight: whether the kernel has let go of everything.
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
            // Requests may run on after the ring is closed: their memory is given up.
            std::mem::forget(self.memory.take());
        }
    }
}

/// Errors of entering the kernel after which it is entered again: a signal, a time that is over,
/// completions that have to be taken first.
fn is_passing(error: &io::Error) -> bool {
    let passing = [libc::EINTR, libc::ETIME, libc::EBUSY, libc::EAGAIN];
    error
        .raw_os_error()
        .is_some_and(|code| passing.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_no_number_counts_is_refused() {
        let kind = |pages: io::Result<Pages>| pages.unwrap_err().kind();
        for bytes in [
            usize::MAX,
            usize::MAX - PAGE_BYTES,
            isize::MAX.unsigned_abs(),
        ] {
            assert_eq!(kind(Pages::new(bytes)), io::ErrorKind::OutOfMemory);
            assert_eq!(kind(Pages::of(2, bytes)), io::ErrorKind::OutOfMemory);
        }
    }

    #[test]
    fn addresses_are_inside_or_refused() {
        let pages = Pages::of(3, 100).unwrap();
        for (at, bytes) in [(0, 300), (299, 1), (300, 0)] {
            assert_eq!(
                pages.at(at, bytes) as usize,
                pages.start.as_ptr() as usize + at
            );
        }
        assert_eq!(pages.start.as_ptr() as usize % PAGE_BYTES, 0);
        for (at, bytes) in [
            (0, 301),
            (300, 1),
            (301, 0),
            (usize::MAX, 2),
            (1, usize::MAX),
        ] {
            let at = || pages.at(at, bytes);
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(at)).is_err());
        }
    }
}
