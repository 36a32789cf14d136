//! The requests of a ring. Their addresses are inside of its memory, as `outbox` asserts.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::types::Fd;
use io_uring::{opcode, squeue};

use super::{GROUP, Ring};
use crate::io::options::Receives;

/// The flags of a send that must not block.
const MSG_DONTWAIT: i32 = 0x40;

/// How to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::io::uring) enum Send {
    /// Now or not at all: it completes during submission.
    Now,
    /// When there is room in the kernel.
    Blocking,
    /// The same from registered memory, which the kernel may read until it sends a notification.
    Registered,
}

impl Ring {
    /// Queues a receive from a socket into provided buffers: single, or multishot.
    pub(in crate::io::uring) fn receive(
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
            // Multishot cannot be combined with waiting for the full length.
            Receives::Refused => multishot.flags(libc::MSG_WAITALL).build(),
        };
        self.push(&entry.user_data(user_data))
    }

    /// Queues a send of bytes of an outbox.
    pub(in crate::io::uring) fn send(
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

    /// Queues the cancellation of a request.
    pub(in crate::io::uring) fn cancel(&mut self, target: u64, user_data: u64) -> io::Result<()> {
        let entry = opcode::AsyncCancel::new(target).build();
        self.push(&entry.user_data(user_data))
    }

    /// Queues a request that does nothing.
    #[cfg(feature = "workload")]
    pub(in crate::io) fn nop(&mut self) -> io::Result<()> {
        self.push(&opcode::Nop::new().build())
    }

    /// Queues a write of the first eight bytes of the first outbox to a file.
    #[cfg(feature = "workload")]
    pub(in crate::io) fn write_word(&mut self, file: BorrowedFd<'_>) -> io::Result<()> {
        let start = self.outbox(0, 0, 8).cast_const();
        self.push(&opcode::Write::new(Fd(file.as_raw_fd()), start, 8).build())
    }

    /// Queues a read of eight bytes of a file into the first outbox.
    #[cfg(feature = "workload")]
    pub(in crate::io) fn read_word(&mut self, file: BorrowedFd<'_>) -> io::Result<()> {
        let start = self.outbox(0, 0, 8);
        self.reads_into_outbox = true;
        self.push(&opcode::Read::new(Fd(file.as_raw_fd()), start, 8).build())
    }
}
