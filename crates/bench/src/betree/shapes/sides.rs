//! What takes part: the workload of a case, and those who answer it next to betree.

use betree::workload::shapes::{
    self, Conjunctions, CountingIndex, Drawer, Plain, Shape, SimpleIndex,
};

use crate::Error;
use crate::betree::shapes::{Case, Plan};

/// Expressions and events of a case, as plain data.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The shape that they are of.
    pub shape: Shape,
    /// Numbered from 0.
    pub expressions: Vec<Conjunctions>,
    /// The events.
    pub events: Vec<Plain>,
}

impl Workload {
    /// The workload of a case: the same one for a seed.
    #[must_use]
    pub fn new(case: &Case, plan: &Plan) -> Self {
        let mut drawer = Drawer::new(case.shape.clone(), plan.seed);
        Self {
            expressions: (0..case.expressions).map(|_| drawer.expression()).collect(),
            events: (0..plan.events).map(|_| drawer.event()).collect(),
            shape: case.shape.clone(),
        }
    }

    /// The text of an expression; empty beyond the last.
    #[must_use]
    pub fn text(&self, expression: usize) -> String {
        let found = self.expressions.get(expression);
        found.map_or(String::new(), |found| shapes::text(&self.shape, found))
    }

    /// All events as JSON.
    pub fn jsons(&self) -> impl Iterator<Item = String> {
        let events = self.events.iter();
        events.map(|event| shapes::json(&self.shape, event))
    }
}

/// Something that answers what betree answers.
pub trait Rival {
    /// What the report calls it, as in `simple`: the beginning of its columns.
    fn name(&self) -> &'static str;

    /// Takes the expressions and the events of a workload. `None` where it cannot: its language lacks a test, or
    /// building it takes too long.
    ///
    /// # Errors
    /// What else goes wrong.
    fn build<'w>(&self, workload: &'w Workload) -> Result<Option<Box<dyn Side + 'w>>, Error>;
}

/// One side of a case.
pub trait Side {
    /// Finds the expressions that match an event, by its number. This is what is timed.
    ///
    /// # Errors
    /// What the side reports.
    fn search(&mut self, event: usize) -> Result<(), Error>;

    /// The numbers of the expressions that match an event, in any order. This is not timed.
    ///
    /// # Errors
    /// What the side reports.
    fn matches(&mut self, event: usize) -> Result<Vec<u32>, Error>;

    /// How many events, from the first one, a side answers in a turn: a slow one may take fewer.
    fn events_max(&self) -> usize {
        usize::MAX
    }
}

/// The simple inverted index.
#[derive(Debug, Clone, Copy)]
pub struct Simple;

impl Rival for Simple {
    fn name(&self) -> &'static str {
        "simple"
    }

    fn build<'w>(&self, workload: &'w Workload) -> Result<Option<Box<dyn Side + 'w>>, Error> {
        Ok(Some(Box::new(SimpleSide {
            index: SimpleIndex::new(&workload.expressions),
            search: SimpleIndex::search,
            events: &workload.events,
            found: Vec::new(),
        })))
    }
}

/// The counting inverted index.
#[derive(Debug, Clone, Copy)]
pub struct Counting;

impl Rival for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn build<'w>(&self, workload: &'w Workload) -> Result<Option<Box<dyn Side + 'w>>, Error> {
        Ok(Some(Box::new(SimpleSide {
            index: CountingIndex::new(&workload.expressions),
            search: CountingIndex::search,
            events: &workload.events,
            found: Vec::new(),
        })))
    }
}

struct SimpleSide<'w, I> {
    index: I,
    search: fn(&mut I, &Plain, &mut Vec<u32>),
    events: &'w [Plain],
    found: Vec<u32>,
}

impl<I> Side for SimpleSide<'_, I> {
    fn search(&mut self, event: usize) -> Result<(), Error> {
        if let Some(event) = self.events.get(event) {
            (self.search)(&mut self.index, event, &mut self.found);
            std::hint::black_box(&self.found);
        }
        Ok(())
    }

    fn matches(&mut self, event: usize) -> Result<Vec<u32>, Error> {
        self.search(event)?;
        Ok(self.found.clone())
    }
}
