//! The compiled form of many expressions: some run in lockstep, others are found by rows of bits or by access
//! clauses and run as programs.
//!
//! An index never changes. Its expressions are in the order of their ids, numbered by *slots* from 0.

pub(crate) mod access;
pub(crate) mod columns;
pub(crate) mod tree;

use access::Clauses;
use columns::{Choice, Columns};
use tree::Tree;

use crate::SubscriptionId;
use crate::domain::Domain;
use crate::lockstep::{self, Lockstep};
use crate::program::arena::{Arena, ROOT};
use crate::program::estimate::Estimates;
use crate::program::run::MemoTests;
use crate::program::{self, Step};
use crate::simd::LANES;

/// An expression runs in lockstep when more than this share of events meet its best clause.
const LOCKSTEP_MIN: f32 = 0.2;

/// An expression goes into the tree when less than this share of events meet its best clause.
const TREE_MAX: f32 = 0.0005;

/// Where the program of a slot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Constant(bool),
    /// A block and a lane.
    Lane(usize, usize),
    /// A member of the columns.
    Member(usize),
    /// The words of the program.
    Code(usize, usize),
}

const LANE: u32 = 1 << 31;
const MEMBER: u32 = 1 << 30;
const TRUE: u32 = u32::MAX;
const FALSE: u32 = u32::MAX - 1;

/// Trees of expressions, one after the other.
#[derive(Debug, Default, Clone)]
pub(crate) struct Sources {
    pub(crate) ids: Vec<SubscriptionId>,
    words: Vec<u32>,
    ends: Vec<u32>,
}

impl Sources {
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn words(&self) -> usize {
        self.words.len()
    }

    /// Consecutive trees that end at these words.
    pub(crate) fn new(ids: Vec<SubscriptionId>, words: Vec<u32>, ends: Vec<u32>) -> Self {
        debug_assert_eq!(ids.len(), ends.len());
        Self { ids, words, ends }
    }

    /// The ends of the trees.
    pub(crate) fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// The words of all trees.
    pub(crate) fn all_words(&self) -> &[u32] {
        &self.words
    }

    /// The tree of a slot.
    pub(crate) fn tree(&self, slot: usize) -> &[u32] {
        let start = slot.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start as usize..self.ends[slot] as usize]
    }

    /// Adds an expression whose tree `write` appends. When that fails, nothing is added.
    pub(crate) fn add<E>(
        &mut self,
        id: SubscriptionId,
        write: impl FnOnce(&mut Vec<u32>) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = self.words.len();
        if let Err(error) = write(&mut self.words) {
            self.words.truncate(before);
            return Err(error);
        }
        self.ids.push(id);
        self.ends.push(self.words.len() as u32);
        Ok(())
    }

    fn push(&mut self, id: SubscriptionId, tree: &[u32]) {
        self.words.extend_from_slice(tree);
        self.ids.push(id);
        self.ends.push(self.words.len() as u32);
    }

    /// The same in the order of ids, only those that `keep` accepts.
    pub(crate) fn sorted(self, keep: impl Fn(usize) -> bool) -> Self {
        let all = (0..self.len()).all(&keep);
        if all && self.ids.is_sorted() {
            return self;
        }
        let mut order: Vec<usize> = (0..self.len()).filter(|slot| keep(*slot)).collect();
        order.sort_by_key(|slot| self.ids[*slot]);
        let mut out = Self::default();
        for slot in order {
            out.push(self.ids[slot], self.tree(slot));
        }
        out
    }

    /// Appends the expressions of another that `keep` accepts.
    pub(crate) fn append(&mut self, other: &Self, keep: impl Fn(usize) -> bool) {
        for slot in (0..other.len()).filter(|slot| keep(*slot)) {
            self.push(other.ids[slot], other.tree(slot));
        }
    }
}

/// Compiled expressions.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) sources: Sources,
    pub(crate) lockstep: Lockstep,
    pub(crate) columns: Columns,
    pub(crate) tree: Tree,
    /// Slots of expressions that are always true.
    pub(crate) always: Vec<u32>,
    pub(crate) tests: MemoTests,
    /// For each program in the tree its slot, its length and its words.
    pub(crate) code: Vec<u32>,
    places: Vec<u32>,
}

impl Index {
    /// Compiles expressions, which are in the order of their ids.
    pub(crate) fn build(sources: Sources, domain: &Domain, estimates: &Estimates) -> Self {
        let mut index = Self {
            places: vec![FALSE; sources.len()],
            sources,
            ..Self::default()
        };
        let choice = Choice::new(domain, &index.sources);
        let mut compiler = Compiler {
            columns: columns::Builder::new(choice, domain.attributes().len()),
            ..Compiler::default()
        };
        let mut lockstep = lockstep::Builder::default();
        for slot in 0..index.sources.len() {
            compiler.arena.load(index.sources.tree(slot), estimates);
            match program::steps(&compiler.arena, &mut compiler.steps) {
                Some(true) => {
                    index.places[slot] = TRUE;
                    index.always.push(slot as u32);
                }
                Some(false) => {}
                None => {
                    let best = compiler.clauses.best(&compiler.arena, estimates);
                    if best < TREE_MAX {
                        compiler.program(slot as u32, &mut index.tests);
                    } else if best < LOCKSTEP_MIN {
                        index.places[slot] = compiler.member(slot as u32, &mut index.tests);
                    } else if !compiler.lane(slot as u32, &mut lockstep) {
                        compiler.arena.load(index.sources.tree(slot), estimates);
                        index.places[slot] = compiler.member(slot as u32, &mut index.tests);
                    }
                }
            }
        }
        let (lockstep, refused) = lockstep.finish();
        for slot in refused {
            let tree = index.sources.tree(slot as usize);
            compiler.arena.load(tree, estimates);
            index.places[slot as usize] = compiler.member(slot, &mut index.tests);
        }
        for block in 0..lockstep.blocks.len() {
            for lane in 0..LANES {
                let slot = lockstep.slot(block, lane);
                if let Some(place) = index.places.get_mut(slot as usize) {
                    *place = LANE | (block * LANES + lane) as u32;
                }
            }
        }
        index.lockstep = lockstep;
        index.lay_out(compiler);
        index
    }

    /// Builds the tree and puts programs in its order, so that programs visited together are next to each other.
    fn lay_out(&mut self, compiler: Compiler) {
        self.columns = compiler.columns.finish();
        self.tree = Tree::build(&compiler.clauses);
        self.code = compiler.members;
        self.code.reserve_exact(compiler.code.len());
        let mut moved = vec![u32::MAX; compiler.programs.len()];
        for item in &mut self.tree.items {
            let expression = item.target as usize;
            if moved[expression] == u32::MAX {
                let at = self.code.len() as u32;
                moved[expression] = at;
                let (start, end) = compiler.programs[expression];
                let words = &compiler.code[start as usize..end as usize];
                self.code.extend_from_slice(words);
                self.places[words[0] as usize] = at;
            }
            item.target = moved[expression];
        }
    }

    /// The program of a slot.
    pub(crate) fn place(&self, slot: usize) -> Place {
        match self.places.get(slot).copied().unwrap_or(FALSE) {
            TRUE => Place::Constant(true),
            FALSE => Place::Constant(false),
            lane if lane & LANE != 0 => {
                let lane = (lane & !LANE) as usize;
                Place::Lane(lane / LANES, lane % LANES)
            }
            member if member & MEMBER != 0 => Place::Member((member & !MEMBER) as usize),
            at => {
                let (_, start, end) = self.program(at);
                Place::Code(start, end)
            }
        }
    }

    /// The slot and the words of the program at a place in the code.
    #[inline]
    pub(crate) fn program(&self, at: u32) -> (u32, usize, usize) {
        let start = at as usize + 2;
        match self.code.get(at as usize..start) {
            Some([slot, length]) => (*slot, start, start + *length as usize),
            _ => (u32::MAX, 0, 0),
        }
    }

    /// Whether all expressions run in lockstep.
    pub(crate) fn is_all_lockstep(&self) -> bool {
        self.always.is_empty() && self.code.is_empty() && self.columns.is_empty()
    }

    /// The slot of an id.
    pub(crate) fn slot(&self, id: SubscriptionId) -> Option<usize> {
        self.sources.ids.binary_search(&id).ok()
    }
}

/// Reusable memory of compiling, and the programs so far.
#[derive(Debug, Default)]
struct Compiler {
    arena: Arena,
    steps: Vec<Step>,
    positions: Vec<u32>,
    clauses: Clauses,
    columns: columns::Builder,
    /// The programs of members of the columns, and those of the tree.
    members: Vec<u32>,
    code: Vec<u32>,
    programs: Vec<(u32, u32)>,
    numbers: std::collections::HashMap<Box<[u32]>, u32>,
}

impl Compiler {
    /// Adds the program of the arena, whose clauses were weighed, to the tree.
    fn program(&mut self, slot: u32, tests: &mut MemoTests) {
        self.clauses.push(&self.arena);
        let start = self.code.len() as u32;
        let mut code = std::mem::take(&mut self.code);
        self.emit(slot, tests, &mut code);
        self.programs.push((start, code.len() as u32));
        self.code = code;
    }

    /// Adds the expression of the arena to lockstep. Returns false when it does not fit there.
    fn lane(&mut self, slot: u32, lockstep: &mut lockstep::Builder) -> bool {
        self.arena.order_by_size();
        let _ = program::steps(&self.arena, &mut self.steps);
        lockstep.add(slot, &self.arena, &self.steps)
    }

    /// Adds the expression of the arena to the columns, with a program for what the rows do not decide. Returns
    /// its place.
    fn member(&mut self, slot: u32, tests: &mut MemoTests) -> u32 {
        let place = MEMBER | self.columns.len() as u32;
        self.columns.add(slot, &mut self.arena);
        if self.arena.children(ROOT).is_empty() {
            return place;
        }
        let _ = program::steps(&self.arena, &mut self.steps);
        self.columns.code(self.members.len() as u32);
        let mut code = std::mem::take(&mut self.members);
        self.emit(slot, tests, &mut code);
        self.members = code;
        place
    }

    /// Appends the slot, the length and the words of a program.
    fn emit(&mut self, slot: u32, tests: &mut MemoTests, code: &mut Vec<u32>) {
        let start = code.len();
        code.extend([slot, 0]);
        let numbers = &mut self.numbers;
        program::emit(
            &self.arena,
            &self.steps,
            &mut self.positions,
            |test| {
                let mut words: Box<[u32]> = test.into();
                words[0] = crate::code::Head(words[0]).with(false, false).0;
                *numbers
                    .entry(words)
                    .or_insert_with_key(|words| tests.push(words))
            },
            code,
        );
        code[start + 1] = (code.len() - start - 2) as u32;
    }
}
