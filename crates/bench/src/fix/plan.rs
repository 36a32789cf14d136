//! What is measured, and how much of it.

use std::path::PathBuf;

use fixcore::Isa;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Finding separators, and an index with tags and checksum.
    Scan,
    /// A validated parse, and a parse with eight look-ups.
    Parse,
    /// Writing a new order by a template, and messages field by field.
    Encode,
    /// Storing messages and reading them back, compared with maps in memory.
    Store,
    /// A queue between two threads.
    Spsc,
    /// Handing messages over, inline work, and a handler that stalls.
    Deferred,
    /// Rings, many connections by io_uring and by epoll, and a round trip (Linux).
    Transport,
    /// Techniques of low latency, each off and on.
    Techniques,
}

impl Part {
    /// All of them, in the order in which they are measured.
    pub const ALL: [Self; 8] = [
        Self::Scan,
        Self::Parse,
        Self::Encode,
        Self::Store,
        Self::Spsc,
        Self::Deferred,
        Self::Transport,
        Self::Techniques,
    ];

    /// Whether it goes through messages, by every instruction set.
    #[must_use]
    pub fn is_codec(self) -> bool {
        matches!(self, Self::Scan | Self::Parse | Self::Encode)
    }
}

/// What is measured, and how much of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plan {
    /// What is measured.
    pub parts: Vec<Part>,
    /// Messages to go through; if empty, four samples and 256 of types in no order.
    pub messages: Vec<Vec<u8>>,
    /// Instruction sets to go through them by.
    pub isas: Vec<Isa>,
    /// Batches of each row.
    pub batches: u32,
    /// Messages of a batch.
    pub batch_size: u32,
    /// Operations that warm up a technique; a batch by default.
    pub warm_up: Option<u32>,
    /// Messages of the largest store.
    pub store_messages: u64,
    /// Where stores are made; the directory for temporary files by default.
    pub store_dir: Option<PathBuf>,
    /// Processors of the threads that are pinned, the client's first.
    pub cpus: Vec<u32>,
    /// What carries connections.
    #[cfg(target_os = "linux")]
    pub choice: fixcore::io::Choice,
}

impl Plan {
    /// Parts by every instruction set that this processor has, in batches as `perfkit fix-bench` has
    /// them by default.
    #[must_use]
    pub fn new(parts: Vec<Part>) -> Self {
        let isas = Isa::ALL.into_iter().filter(|isa| isa.is_available());
        Self {
            parts,
            messages: Vec::new(),
            isas: isas.collect(),
            batches: 31,
            batch_size: 2000,
            warm_up: None,
            store_messages: 100_000,
            store_dir: None,
            cpus: Vec::new(),
            #[cfg(target_os = "linux")]
            choice: fixcore::io::Choice::Auto,
        }
    }

    /// Whether a part is measured.
    pub(crate) fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }
}
