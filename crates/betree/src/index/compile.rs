//! Compiles expressions into an index: chooses where each one runs, and writes its program.

use super::access::Clauses;
use super::asks::Asks;
use super::cells::CellWords;
use super::columns::{self, Choice};
use super::cost;
use super::dimension::Bounds;
use super::known::Known;
use super::texts::Texts;
use super::tree::Tree;
use super::{FALSE, Index, LANE, MEMBER, NEVER, Sources, TRUE, Unit};
use crate::code::Op;
use crate::dictionary::Dictionary;
use crate::domain::Domain;
use crate::lockstep;
use crate::program::arena::{Arena, ROOT};
use crate::program::estimate::Estimates;
use crate::program::run::MemoTests;
use crate::program::{self, Step};
use crate::simd::LANES;

/// An expression runs in lockstep when more than this share of events meet its best clause.
const LOCKSTEP_MIN: f32 = 0.2;

/// An expression goes into the tree when less than this share of events meet its best clauses.
const TREE_MAX: f32 = 0.2;

/// An expression with more units has many.
const UNITS_MANY: usize = 16;

impl Index {
    /// Compiles expressions, which are in the order of their ids.
    pub(crate) fn build(
        sources: Sources,
        domain: &Domain,
        dictionary: &Dictionary,
        estimates: &Estimates,
    ) -> Self {
        let mut index = Self {
            places: vec![FALSE; sources.len()],
            sources,
            ..Self::default()
        };
        let asks = Asks::new(&index.sources, domain.attributes().len());
        let (.., counters) = dictionary.sizes();
        let cells = CellWords::new(&asks, domain, counters);
        let bounds = Bounds::new(&asks, domain);
        let attribute = |name| {
            domain
                .attribute(name)
                .map(crate::domain::AttributeId::index)
        };
        index.place = attribute("latitude").zip(attribute("longitude"));
        let choice = Choice::new(domain, &index.sources, &asks);
        let mut compiler = Compiler {
            columns: columns::Builder::new(choice, domain.attributes().len()),
            ..Compiler::default()
        };
        let mut lockstep = lockstep::Builder::default();
        let known = Known {
            asks: &asks,
            cells: &cells,
            bounds: &bounds,
            estimates,
            domain,
            dictionary,
        };
        for slot in 0..index.sources.len() {
            compiler.arena.load(index.sources.tree(slot), estimates);
            match program::steps(&compiler.arena, &mut compiler.steps) {
                Some(true) => {
                    index.places[slot] = TRUE;
                    index.always.push(slot as u32);
                }
                Some(false) => {}
                None => {
                    let first = compiler.units.len() as u32;
                    let at_slot = slot as u32;
                    let placed = compiler.units(at_slot, &known, &mut index.tests, TREE_MAX);
                    let Err(best) = placed else {
                        index.places[slot] = first;
                        continue;
                    };
                    if best < LOCKSTEP_MIN || compiler.is_cheap_member(&asks) {
                        index.places[slot] = compiler.member(at_slot, &mut index.tests);
                    } else if !compiler.lane(at_slot, &mut lockstep) {
                        compiler.arena.load(index.sources.tree(slot), estimates);
                        index.places[slot] = compiler.rest(at_slot, &known, &mut index.tests);
                    }
                }
            }
        }
        let (lockstep, refused) = lockstep.finish();
        for slot in refused {
            let tree = index.sources.tree(slot as usize);
            compiler.arena.load(tree, estimates);
            index.places[slot as usize] = compiler.rest(slot, &known, &mut index.tests);
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
        (index.cells, index.bounds) = (cells, bounds);
        index.lay_out(compiler);
        index.texts = Texts::new(index.tree.take_patterns(), dictionary);
        index
    }

    /// Builds the tree and puts programs in its order, so that programs visited together are next to each other.
    fn lay_out(&mut self, compiler: Compiler) {
        self.columns = compiler.columns.finish(self.sources.len());
        if self.columns.is_aligned() {
            for (slot, place) in self.places.iter_mut().enumerate() {
                if *place & (LANE | MEMBER) == MEMBER {
                    *place = MEMBER | slot as u32;
                }
            }
        }
        let mut clauses = compiler.clauses;
        self.tree = Tree::build(&mut clauses);
        self.code = compiler.members;
        self.code.reserve_exact(compiler.code.len());
        let mut moved = vec![false; compiler.units.len()];
        self.units = compiler.units;
        for (at, unit) in self.units.iter_mut().enumerate() {
            if !self.tree.is_apart(&clauses, at as u32) {
                unit.left = u32::MAX;
            }
        }
        drop(clauses);
        for unit in self.tree.units() {
            let unit = unit as usize;
            if !std::mem::replace(&mut moved[unit], true) {
                let start = self.units[unit].code as usize;
                self.units[unit].code = self.code.len() as u32;
                let length = compiler.code[start + 1] as usize;
                let words = &compiler.code[start..start + 2 + length];
                self.code.extend_from_slice(words);
            }
        }
        let units = &self.units;
        let used = self.tree.finish(|unit| units[unit as usize].slot);
        self.cells.keep(&used);
        // What no event can have a key of is nowhere in the tree.
        for (unit, moved) in self.units.iter_mut().zip(moved) {
            unit.code = if moved { unit.code } else { NEVER };
        }
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
    units: Vec<Unit>,
    numbers: std::collections::HashMap<Box<[u32]>, u32>,
}

impl Compiler {
    /// Adds the expression of the arena to the tree, an `or` at its root as several units.
    ///
    /// # Errors
    /// It costs less elsewhere: the share of events that meet its clauses. Nothing is added then.
    fn units(
        &mut self,
        slot: u32,
        known: &Known<'_>,
        tests: &mut MemoTests,
        share_max: f32,
    ) -> std::result::Result<(), f32> {
        let arena = &self.arena;
        let (any, alternatives) = match arena.children(ROOT) {
            [only] if arena.nodes[*only as usize].op == Op::Or => (*only, arena.children(*only)),
            _ => (ROOT, &[][..]),
        };
        self.clauses.weigh(arena, known);
        let is_many = alternatives.len() > UNITS_MANY;
        let nodes = match alternatives {
            [] => vec![ROOT],
            _ if self.clauses.is_long_or(arena, any)
                && (is_many || self.clauses.is_list(arena, any)) =>
            {
                vec![ROOT]
            }
            _ => alternatives.to_vec(),
        };
        let first = self.clauses.len();
        let shares = nodes
            .iter()
            .map(|node| self.clauses.push(arena, *node, is_many, known));
        let share = shares.sum::<f32>().min(1.0);
        let units = first..self.clauses.len();
        let has_long = units.clone().any(|unit| {
            let unit = unit as u32;
            self.clauses.long(unit).is_some() || self.clauses.several(unit).is_some()
        });
        let cost = units.map(|unit| self.clauses.cost(unit as u32));
        let cost = cost.sum::<f32>();
        let is_rare = match is_many || has_long {
            true => share < share_max || cost < cost::of_lockstep(arena, known.asks),
            false => share < share_max,
        };
        if !is_rare || cost > self.columns.cost(arena) {
            self.clauses.truncate(first);
            return Err(share);
        }
        self.clauses.list(arena, first, known);
        let mut code = std::mem::take(&mut self.code);
        for (unit, node) in (first as u32..).zip(nodes) {
            let at = code.len() as u32;
            let implied = self.clauses.implied(unit);
            let left = self.arena.put_last(node, implied);
            let _ = program::steps_of(&self.arena, node, &mut self.steps);
            self.emit(slot, tests, &mut code);
            // Every step has its position.
            let left = self.positions.get(left).copied().unwrap_or(u32::MAX);
            self.units.push(Unit {
                slot,
                code: at,
                left,
            });
        }
        self.code = code;
        Ok(())
    }

    /// Adds an expression that lockstep does not take where it costs less: to the tree, however many events meet its
    /// clauses, or to the columns. Returns its place.
    fn rest(&mut self, slot: u32, known: &Known<'_>, tests: &mut MemoTests) -> u32 {
        let first = self.units.len() as u32;
        match self.units(slot, known, tests, f32::INFINITY) {
            Ok(()) => first,
            Err(_) => self.member(slot, tests),
        }
    }

    /// Whether lists, or bounds of ranges, decide the expression of the arena, for less than its tests take in lockstep.
    fn is_cheap_member(&self, asks: &Asks) -> bool {
        let arena = &self.arena;
        let decides = columns::Builder::may_exclude(arena) || self.columns.is_of_cells(arena);
        decides && self.columns.cost(arena) < cost::of_lockstep(arena, asks)
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
