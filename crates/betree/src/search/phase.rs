//! Where a search is: its phase, its place in the tree, and how far its ids are written.

/// Reductions of fetching a program from memory: with a million expressions nearly every fetch is a cache miss,
/// which takes as long as a hundred short tests.
pub(super) const FETCH_REDUCTIONS: u64 = 96;
/// The same when several are fetched together.
pub(super) const PROGRAM_REDUCTIONS: u64 = 80;
/// Words of a bitmap that are copied per reduction.
pub(super) const WORDS_PER_REDUCTION: usize = 64;

/// The state of a search.
#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    /// Clearing the bits of a search that was dropped.
    Clear {
        part: usize,
        /// Groups of words that are clear.
        word: usize,
    },
    Enter {
        part: usize,
    },
    /// Evaluating the tests of a family.
    Tests {
        part: usize,
        family: usize,
        test: usize,
    },
    Blocks {
        part: usize,
        family: usize,
        block: usize,
    },
    Always {
        part: usize,
        at: usize,
    },
    /// Planning the joins of rows for the event.
    Plan {
        part: usize,
        column: usize,
        element: usize,
    },
    /// Joining rows, a tile at a time.
    Scan {
        part: usize,
        tile: usize,
    },
    /// Removing the members of a tile that values of the event exclude, list by list.
    Exclude {
        part: usize,
        tile: usize,
        list: usize,
    },
    /// Running the members that passed a tile, by their position.
    Members {
        part: usize,
        tile: usize,
        at: usize,
        running: Option<u32>,
    },
    /// Filling the words that guards test, by attribute.
    Cells {
        part: usize,
        at: usize,
    },
    /// Finding the patterns of the tree in the texts of the event, lane by lane.
    Texts {
        part: usize,
        lane: usize,
        /// The next window, or the next pattern.
        at: usize,
        /// Whether each pattern is looked for by itself.
        one_by_one: bool,
    },
    Walk {
        part: usize,
        at: Place,
    },
    /// Running the programs of units whose guards passed; then the walk goes on.
    Units {
        part: usize,
        at: Place,
        unit: usize,
        running: Option<u32>,
    },
    /// Marking the lists that name elements of the event.
    Count {
        part: usize,
        at: Elements,
    },
    Named {
        at: usize,
        part: usize,
        /// Finished units of the expression.
        units: u32,
        running: Option<u32>,
    },
    /// Writing ids, from a word of bits on.
    Write {
        word: usize,
    },
    Merge,
    /// Copying the bits of the only part to the result.
    Words,
    /// Clearing the bits of matches, of which the best are known.
    Best {
        part: usize,
        group: usize,
    },
    /// Writing the best, the worst of them first.
    Order {
        left: usize,
    },
    /// Converting ids to bits of the result.
    Rank {
        at: usize,
    },
    Done,
}

/// What a search writes into its buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// The ids, ascending.
    Ids,
    /// One bit per id.
    Bitmap,
    /// The ids of the best, the best first.
    Top,
    /// The bits of each part for expressions outside lockstep; the caller clears them.
    Rest,
}

/// Where in the tree a search is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) node: u32,
    /// Finished items of the node.
    pub(super) items: u32,
    /// Finished dimensions of the node.
    pub(super) parts: u32,
    /// Finished values of the next dimension.
    pub(super) values: u32,
    /// Whether the visit itself was counted.
    pub(super) entered: bool,
}

/// Which element of the event marks lists next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Elements {
    /// Finished attributes.
    pub(super) attribute: u32,
    /// Finished elements of the next attribute.
    pub(super) element: u32,
    /// Finished postings of the next element.
    pub(super) posting: u32,
}

/// The number that stands for all units that are found by counting, as if they were in a node.
const COUNTED: u32 = u32::MAX - 1;

impl Place {
    pub(super) const ROOT: Self = Self::at(0);
    /// Beyond all nodes.
    pub(super) const END: Self = Self::at(u32::MAX);

    /// Before a block of the units that are found by counting.
    pub(super) const fn counted(block: u32) -> Self {
        Self {
            items: block,
            ..Self::at(COUNTED)
        }
    }

    /// The block of such a place.
    pub(super) const fn block(&self) -> Option<u32> {
        match self.node {
            COUNTED => Some(self.items),
            _ => None,
        }
    }

    pub(super) const fn at(node: u32) -> Self {
        Self {
            node,
            items: 0,
            parts: 0,
            values: 0,
            entered: false,
        }
    }
}

/// How far a part was written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    /// The current group of words, and the current word.
    pub(super) group: usize,
    pub(super) word: usize,
    /// Bits of the current word that are not written yet.
    pub(super) bits: u64,
}
