//! Builds the bits of all rows, 64 expressions at a time.

use super::clears::{ClearsBuilder, may_decide};
use super::edges::EdgesBuilder;
use super::{Choice, Columns, DECIDED, holds};
use crate::bind::range_bounds;
use crate::code::{Head, Op, i64_at};
use crate::index::cost;
use crate::program::arena::{Arena, ROOT};

/// Most nodes of a group that is evaluated for each value.
const NODES_MAX: usize = 64;
/// Nanoseconds of a column for an expression, and of a match without a program.
const COLUMN_NS: f32 = 0.008;
const DECIDED_NS: f32 = 4.0;
/// Nanoseconds of comparing with a bound.
const EDGE_NS: f32 = 1.5;
/// Most rows of a scalar for which a test sets its bits directly.
const ROWS_KEPT: usize = 520;

/// Sets bits, expression by expression.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    pub(super) choice: Choice,
    /// The columns of an attribute: scalar, any of a list, none of a list.
    by_attribute: Vec<[Option<usize>; 3]>,
    pub(super) out: Columns,
    /// The current word of each row, and the rows of each column.
    pub(super) words: Vec<u64>,
    pub(super) starts: Vec<usize>,
    /// Columns that the current expression has already used.
    used: Vec<bool>,
    /// Children of a conjunction that the rows decide.
    decided: Vec<u32>,
    values: Vec<bool>,
    pub(super) clears: ClearsBuilder,
    /// Bounds, by the row of their cell.
    pub(super) edges: EdgesBuilder,
    /// Columns of cells that a member uses.
    in_use: Vec<bool>,
}

impl Builder {
    pub(crate) fn new(choice: Choice, attributes: usize) -> Self {
        let mut by_attribute = vec![[None; 3]; attributes];
        let mut starts = vec![0];
        for (at, column) in choice.scalars.iter().enumerate() {
            by_attribute[column.attribute][0] = Some(at);
            let rows = column.rows.iter().max().map_or(0, |row| *row as usize + 1);
            starts.push(starts[at] + 1 + rows);
        }
        for (at, column) in choice.lists.iter().enumerate() {
            let at = choice.scalars.len() + at;
            by_attribute[column.attribute][1 + usize::from(column.none)] = Some(at);
            starts.push(starts[at] + 1 + column.elements.len());
        }
        let rows = starts.last().copied().unwrap_or(0);
        let mut builder = Self {
            by_attribute,
            out: Columns {
                rows: vec![Vec::new(); rows],
                ..Columns::default()
            },
            words: vec![0; rows],
            used: vec![false; starts.len()],
            in_use: vec![false; starts.len()],
            edges: EdgesBuilder::new(rows),
            starts,
            choice,
            ..Self::default()
        };
        builder.open();
        builder
    }

    /// Initial words: all expressions may match, and none uses an element.
    fn open(&mut self) {
        self.words.fill(u64::MAX);
        for at in 0..self.choice.lists.len() {
            let at = self.choice.scalars.len() + at;
            let elements = self.starts[at] + 1..self.starts[at + 1];
            self.words[elements].fill(0);
        }
    }

    pub(super) fn close(&mut self) {
        for (row, word) in self.out.rows.iter_mut().zip(&self.words) {
            row.push(*word);
        }
        self.open();
    }

    /// Adds the expression of an arena and removes from it everything that the rows decide. The rest needs a
    /// program, whose place `code` sets.
    pub(crate) fn add(&mut self, slot: u32, arena: &mut Arena) {
        let bit = 1u64 << (self.out.slots.len() % 64);
        self.used.fill(false);
        let mut decided = std::mem::take(&mut self.decided);
        decided.clear();
        for child in arena.children(ROOT) {
            let is_leaf = !matches!(arena.nodes[*child as usize].op, Op::And | Op::Or);
            let member = self.out.slots.len() as u32;
            if self.child(arena, *child, bit)
                || is_leaf && self.clears.add(arena.test(*child), member)
            {
                decided.push(*child);
            }
        }
        if decided.is_empty() {
            let is_leaf = |child: &&u32| {
                let op = arena.nodes[**child as usize].op;
                !matches!(op, Op::And | Op::Or | Op::True | Op::False)
            };
            let leaves = arena.children(ROOT).iter().filter(is_leaf);
            let tests = leaves.map(|child| arena.test(*child));
            self.clears.need(tests, self.out.slots.len() as u32);
        }
        arena.drop_children(&decided);
        self.decided = decided;
        self.out.slots.push(slot);
        self.out.codes.push(DECIDED);
        if self.out.slots.len().is_multiple_of(64) {
            self.close();
        }
    }

    /// Nanoseconds that an expression costs here, about: its share of joining rows, and what runs for events that
    /// pass the rows.
    pub(crate) fn cost(&self, arena: &Arena) -> f32 {
        let columns = (self.starts.len() - 1) as f32;
        let (mut passing, mut left, mut compared) = (1.0, None, 0.0);
        for child in arena.children(ROOT) {
            let node = &arena.nodes[*child as usize];
            match self.cells(arena, *child) {
                Some((column, first, last)) => {
                    let cells = (self.choice.scalars[column].starts.len() + 1) as f32;
                    passing *= ((last + 1).saturating_sub(first)) as f32 / cells;
                    compared += 2.0 * EDGE_NS / cells;
                }
                None if self.may_decide(arena, *child) => passing *= node.probability,
                None => left = Some(left.unwrap_or(0.0) + node.cost),
            }
        }
        COLUMN_NS * columns + compared + passing * left.map_or(DECIDED_NS, cost::of_program)
    }

    /// Whether rows and bounds decide an expression, some part of it by cells.
    pub(crate) fn is_of_cells(&self, arena: &Arena) -> bool {
        let all = arena.children(ROOT).iter();
        let mut some = false;
        all.fold(true, |all, child| {
            let is_of_cells = self.cells(arena, *child).is_some();
            some |= is_of_cells;
            all && (is_of_cells || self.may_decide(arena, *child))
        }) && some
    }

    /// The column, the first and the last cell of a range over an attribute with cells; an empty range ends before it
    /// begins.
    fn cells(&self, arena: &Arena, child: u32) -> Option<(usize, usize, usize)> {
        if matches!(arena.nodes[child as usize].op, Op::And | Op::Or) {
            return None;
        }
        let (head, operands) = arena.test(child).split_first()?;
        let head = Head(*head);
        let [column, ..] = self.by_attribute.get(head.attribute())?;
        let column = (*column)?;
        let scalar = self
            .choice
            .scalars
            .get(column)
            .filter(|one| one.is_coarse)?;
        let (low, high) = scalar.interval(head, operands)?;
        Some(match low <= high {
            true => (column, scalar.interval_of(low), scalar.interval_of(high)),
            false => (column, 1, 0),
        })
    }

    /// Whether lists are likely to decide an expression, so that it costs nothing where no value of an event excludes it.
    pub(crate) fn may_exclude(arena: &Arena) -> bool {
        let mut all = arena.children(ROOT).iter();
        all.all(|child| {
            let is_group = matches!(arena.nodes[*child as usize].op, Op::And | Op::Or);
            !is_group && may_decide(Head(arena.test(*child).first().copied().unwrap_or(0)))
        })
    }

    /// Whether rows or lists are likely to decide a part of a conjunction.
    fn may_decide(&self, arena: &Arena, child: u32) -> bool {
        let is_group = matches!(arena.nodes[child as usize].op, Op::And | Op::Or);
        let attribute = match is_group {
            true => arena.only_attribute(child, NODES_MAX),
            false => Some(Head(arena.test(child)[0]).attribute()),
        };
        let columns = attribute.and_then(|at| self.by_attribute.get(at).copied());
        let [scalar, any, _] = columns.unwrap_or([None; 3]);
        let head = Head(arena.test(child).first().copied().unwrap_or(0));
        match scalar.and_then(|column| self.choice.scalars.get(column)) {
            Some(scalar) if scalar.is_coarse => {
                let decides = || self.cells(arena, child).is_some();
                return !is_group && (decides() || may_decide(head));
            }
            Some(_) => return true,
            None => {}
        }
        match (is_group, head.op(), head.flag()) {
            (true, ..) => false,
            (_, Op::HasAny, false) => any.is_some(),
            _ => may_decide(head),
        }
    }

    /// Sets the place of the last expression's program.
    pub(crate) fn code(&mut self, at: u32) {
        if let Some(last) = self.out.codes.last_mut() {
            *last = at;
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.out.slots.len()
    }

    /// Sets the bits of one part of a conjunction. Returns whether the rows decide it completely.
    fn child(&mut self, arena: &Arena, child: u32, bit: u64) -> bool {
        let is_group = matches!(arena.nodes[child as usize].op, Op::And | Op::Or);
        let attribute = match is_group {
            true => match arena.only_attribute(child, NODES_MAX) {
                Some(attribute) => attribute,
                None => return false,
            },
            false => Head(arena.test(child)[0]).attribute(),
        };
        let columns = self.by_attribute.get(attribute).copied();
        let [scalar, any, none] = columns.unwrap_or([None; 3]);
        if let Some(column) = scalar {
            return self.scalar(arena, child, column, bit);
        }
        if is_group {
            return false;
        }
        let test = arena.test(child);
        let head = Head(test[0]);
        let column = match (head.op(), head.flag()) {
            (Op::HasAny, false) if !head.undefined() => any,
            (Op::HasAny, true) => none,
            _ => None,
        };
        // The rows of `any` take only one of two lists.
        match column.filter(|column| !self.used[*column]) {
            Some(column) => self.list(column, &test[1..], head, bit),
            None => false,
        }
    }

    fn list(&mut self, column: usize, elements: &[u32], head: Head, bit: u64) -> bool {
        let list = &self.choice.lists[column - self.choice.scalars.len()];
        let start = self.starts[column];
        let row = |element: &u32| list.elements.binary_search(element);
        if elements.iter().any(|element| row(element).is_err()) {
            return false;
        }
        for at in elements.iter().filter_map(|element| row(element).ok()) {
            self.words[start + 1 + at] |= bit;
        }
        if !list.none || !head.undefined() {
            self.words[start] &= !bit;
        }
        self.used[column] = !list.none;
        true
    }

    /// Evaluates a test or a group over one scalar for each of its intervals.
    fn scalar(&mut self, arena: &Arena, child: u32, column: usize, bit: u64) -> bool {
        let start = self.starts[column];
        let is_leaf = !matches!(arena.nodes[child as usize].op, Op::And | Op::Or);
        if self.choice.scalars[column].is_coarse {
            return is_leaf && self.range(arena.test(child), column, bit);
        }
        if is_leaf && self.leaf(arena.test(child), column, bit) {
            return true;
        }
        let scalar_of = &self.choice.scalars[column];
        let mut values = std::mem::take(&mut self.values);
        let mut all = true;
        // The row for events without the attribute, then the others, each by one of its values.
        let own = scalar_of.values.iter().map(|value| value.map(Some));
        for (row, value) in std::iter::once(Some(None)).chain(own).enumerate() {
            // No event uses a row without a value.
            let Some(value) = value else {
                continue;
            };
            match holds(arena, child, value, &mut values) {
                Some(true) => {}
                Some(false) => self.words[start + row] &= !bit,
                None => {
                    all = false;
                    break;
                }
            }
        }
        self.values = values;
        all
    }

    /// Sets the rows of the cells of a range, and its bounds inside of cells. Returns false for any other test.
    fn range(&mut self, test: &[u32], column: usize, bit: u64) -> bool {
        let (head, operands) = (Head(test[0]), &test[1..]);
        let scalar = &self.choice.scalars[column];
        let Some((low, high)) = scalar.interval(head, operands) else {
            return false;
        };
        self.in_use[column] = true;
        let start = self.starts[column] + 1;
        let (base, words) = self.words[start - 1..self.starts[column + 1]].split_at_mut(1);
        if !head.undefined() {
            base[0] &= !bit;
        }
        let clear = |words: &mut [u64]| words.iter_mut().for_each(|word| *word &= !bit);
        if low > high {
            clear(words);
            return true;
        }
        let (first, last) = (scalar.interval_of(low), scalar.interval_of(high));
        clear(words.get_mut(..first).unwrap_or(&mut []));
        clear(words.get_mut(last + 1..).unwrap_or(&mut []));
        let member = self.out.slots.len() as u32;
        let begins = first
            .checked_sub(1)
            .map_or(i64::MIN, |at| scalar.starts[at]);
        if low > begins {
            self.edges.first(start + first, member, low);
        }
        let ends = scalar.starts.get(last).map_or(i64::MAX, |next| next - 1);
        if high < ends {
            self.edges.last(start + last, member, high);
        }
        true
    }

    /// Whether any member uses a column of cells.
    pub(super) fn is_used(&self, column: usize) -> bool {
        self.in_use.get(column) == Some(&true)
    }

    /// Sets the rows of a test for single values or a range. Returns false for any other test.
    fn leaf(&mut self, test: &[u32], column: usize, bit: u64) -> bool {
        let (head, operands) = (Head(test[0]), &test[1..]);
        let scalar = &self.choice.scalars[column];
        let interval = |value: i64| scalar.starts.partition_point(|start| *start <= value);
        let rows = self.starts[column] + 1..self.starts[column + 1];
        let words = &mut self.words[self.starts[column]..rows.end];
        let (base, words) = words.split_at_mut(1);
        let set = |words: &mut [u64], interval: usize| {
            let word = &mut words[scalar.rows[interval] as usize];
            match head.flag() {
                false => *word |= bit,
                true => *word &= !bit,
            }
        };
        // Bits that earlier tests of the attribute cleared stay cleared.
        let mut before = [0; ROWS_KEPT];
        let Some(kept) = before.get_mut(..words.len()) else {
            return false;
        };
        kept.copy_from_slice(words);
        let clear = |words: &mut [u64]| {
            if !head.flag() {
                words.iter_mut().for_each(|word| *word &= !bit);
            }
        };
        match head.op() {
            Op::Bool | Op::Equal32 | Op::Equal64 | Op::In => {
                clear(words);
                let values = match head.op() {
                    Op::Bool => &[1][..],
                    _ => operands,
                };
                match head.op() {
                    Op::Equal64 => set(words, interval(i64_at(operands, 0))),
                    _ => values.iter().for_each(|value| {
                        set(words, interval(i64::from(*value as i32)));
                    }),
                }
            }
            Op::Range32 | Op::Range64 => {
                let (low, high) = match (head.op(), operands) {
                    (Op::Range32, [low, high, ..]) => range_bounds(*low, *high),
                    _ => (i64_at(operands, 0), i64_at(operands, 2)),
                };
                clear(words);
                if low <= high {
                    (interval(low)..=interval(high)).for_each(|at| set(words, at));
                }
            }
            _ => return false,
        }
        for (word, before) in words.iter_mut().zip(&*kept) {
            *word &= before;
        }
        if !head.undefined() {
            base[0] &= !bit;
        }
        true
    }
}
