//! Shapes of workloads: betree, the simple inverted index and a-tree in one run.

use std::time::{Duration, Instant};

use a_tree::{ATree, Event};
use bench::Error;
use bench::betree::shapes::{self, Plan, Rival, Row, Side, Simple, Workload};
use betree::Domain;
use betree::workload::shapes::{Ask, Shape, Values};
use serde_json::{Value, json};

use crate::{Result, atree};

/// a-tree takes part up to this number of expressions: with ten times as many it is built for minutes.
const PEER_EXPRESSIONS_MAX: usize = 10_000;
/// The longest time that a-tree may be built for, and that it may search for in one turn.
const BUILD_MAX: Duration = Duration::from_secs(4);
const TURN_MAX: Duration = Duration::from_millis(600);
/// The least events of a turn.
const EVENTS_MIN: usize = 10;

/// Measures all cases of a plan and prints each as it is done.
pub(crate) fn run(plan: &Plan) -> Result<Value> {
    let rivals: [&dyn Rival; 2] = [&Simple, &Peer];
    let names = rivals.map(Rival::name);
    let start = Instant::now();
    let cases = plan.cases();
    let mut rows: Vec<Row> = Vec::new();
    let mut otherwise: Vec<String> = Vec::new();
    for case in cases.iter().take_while(|_| start.elapsed() < plan.max_time) {
        let mut row = shapes::measure(case, plan, &rivals, &(), |_, _| {})?;
        if row.answers.1 > 0 {
            // Without a-tree, which takes no part where it answers otherwise.
            row = shapes::measure(case, plan, &rivals[..1], &(), |_, _| {})?;
            row.rivals.push(None);
            let (done, wrong) = row.answers;
            if wrong > 0 {
                let shape = &row.shape;
                return Err(format!("{shape}: {wrong} of {done} answers differ").into());
            }
            otherwise.push(format!("{}, {} expressions", row.shape, row.expressions));
        }
        eprintln!(
            "{} of {}: {}, {}",
            rows.len() + 1,
            cases.len(),
            row.shape,
            row.expressions
        );
        rows.push(row);
    }
    let neighbours = shapes::cliffs(&rows);
    Ok(json!({
        "cases": cases.len(),
        "measured": rows.len(),
        "answers": rows.iter().map(|row| row.answers.0).sum::<u64>(),
        "otherwise": otherwise,
        "cliffs": neighbours.iter().filter(|found| found.is_cliff()).count(),
        "seconds": start.elapsed().as_secs(),
        "tables": [
            shapes::table_of_sizes(&rows),
            shapes::table(&rows, &names),
            shapes::table_of_neighbours(&neighbours),
        ],
    }))
}

/// a-tree as a rival.
struct Peer;

/// Whether a-tree's language has what a shape asks, with the same answers: it knows neither places nor counters, the
/// negation of an unknown boolean is unknown, and `none of` is false for a list without elements.
fn is_sayable(shape: &Shape) -> bool {
    let absent = |at: usize| {
        shape
            .attributes
            .get(at)
            .is_some_and(|(_, absent)| *absent > 0)
    };
    let is_list = |at: usize| matches!(shape.attributes.get(at), Some((Values::List(..), _)));
    !shape.clauses.iter().any(|clause| match clause.ask {
        Ask::Radius(_) | Ask::Cap => true,
        Ask::False => absent(clause.attribute),
        Ask::None(_) => is_list(clause.attribute),
        _ => false,
    })
}

impl Rival for Peer {
    fn name(&self) -> &'static str {
        "a_tree"
    }

    fn build<'w>(
        &self,
        workload: &'w Workload,
    ) -> std::result::Result<Option<Box<dyn Side + 'w>>, Error> {
        let count = workload.expressions.len();
        if count > PEER_EXPRESSIONS_MAX || !is_sayable(&workload.shape) {
            return Ok(None);
        }
        let side = built(workload).map_err(Error::broken)?;
        Ok(side.map(|side| Box::new(side) as Box<dyn Side>))
    }
}

fn built(workload: &Workload) -> Result<Option<PeerSide>> {
    let domain = Domain::parse(&workload.shape.domains())?;
    let mut tree = atree::empty(&domain)?;
    let start = Instant::now();
    for at in 0..workload.expressions.len() {
        if start.elapsed() > BUILD_MAX {
            return Ok(None);
        }
        atree::insert(&mut tree, at as u64, &workload.text(at))?;
    }
    let events = workload
        .jsons()
        .map(|json| atree::event(&tree, &domain, &json))
        .collect::<Result<Vec<Event>>>()?;
    let start = Instant::now();
    for event in events.iter().take(EVENTS_MIN) {
        atree::search(&tree, event)?;
    }
    let each = (start.elapsed() / EVENTS_MIN as u32).max(Duration::from_nanos(1));
    let events_max = (TURN_MAX.as_nanos() / each.as_nanos()) as usize;
    Ok(Some(PeerSide {
        tree,
        events_max: events_max.max(EVENTS_MIN),
        events,
    }))
}

struct PeerSide {
    tree: ATree<u64>,
    events: Vec<Event>,
    events_max: usize,
}

impl Side for PeerSide {
    fn search(&mut self, event: usize) -> std::result::Result<(), Error> {
        let report = self.tree.search(&self.events[event]);
        let report = report.map_err(|error| Error::broken(format!("a-tree: {error:?}")))?;
        std::hint::black_box(report.matches());
        Ok(())
    }

    fn matches(&mut self, event: usize) -> std::result::Result<Vec<u32>, Error> {
        let found = atree::search(&self.tree, &self.events[event]).map_err(Error::broken)?;
        Ok(found.into_iter().map(|id| id as u32).collect())
    }

    fn events_max(&self) -> usize {
        self.events_max
    }
}
