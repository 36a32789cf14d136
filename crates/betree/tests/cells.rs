//! Ranges of attributes with many values: they are found by cells and by the bounds inside of them.

use crate::common::Random;
use betree::{
    BeTree, Budget, Buffers, Constants, Domain, Expression, Isa, OVERSHOOT_MAX, Progress, Snapshot,
    SubscriptionId, Undefined,
};

/// Attributes that have ranges, and the values that they are over.
const ATTRIBUTES: usize = 6;
const VALUES: u64 = 20_000;

/// A test of a number, as it is meant.
#[derive(Debug, Clone, Copy)]
enum Asks {
    Between(f64, f64),
    Outside(f64, f64),
    Is(f64),
    IsNot(f64),
}

/// A test of an attribute; odd ones are floats.
#[derive(Debug, Clone, Copy)]
struct Test(usize, Asks);

impl Test {
    fn draw(random: &mut Random, widest: u64) -> Self {
        let at = random.below(ATTRIBUTES as u64) as usize;
        let half = if at % 2 == 1 { 0.5 } else { 0.0 };
        let low = random.below(VALUES) as f64 - VALUES as f64 / 2.0 + half;
        let high = low + random.below(widest) as f64;
        let asks = match random.below(16) {
            0 => Asks::Outside(low, high),
            1 => Asks::Is(low),
            2 => Asks::IsNot(low),
            3 => Asks::Between(low, f64::INFINITY),
            4 => Asks::Between(f64::NEG_INFINITY, high),
            // Nothing is in it.
            5 => Asks::Between(low + 1.0, low),
            _ => Asks::Between(low, high),
        };
        Self(at, asks)
    }

    fn text(&self) -> String {
        let name = format!("r{}", self.0);
        match self.1 {
            Asks::Between(low, high) if high == f64::INFINITY => format!("{name} >= {low:?}"),
            Asks::Between(low, high) if low == f64::NEG_INFINITY => format!("{name} <= {high:?}"),
            Asks::Between(low, high) => format!("{name} >= {low:?} and {name} <= {high:?}"),
            Asks::Outside(low, high) => {
                format!("not ({name} >= {low:?} and {name} <= {high:?})")
            }
            Asks::Is(value) => format!("{name} = {value:?}"),
            Asks::IsNot(value) => format!("{name} <> {value:?}"),
        }
    }

    /// The text of an integer has no fraction.
    fn written(&self) -> String {
        match self.0 % 2 {
            0 => self.text().replace(".0", ""),
            _ => self.text(),
        }
    }

    fn holds(&self, value: f64) -> bool {
        match self.1 {
            Asks::Between(low, high) => low <= value && value <= high,
            Asks::Outside(low, high) => value < low || high < value,
            Asks::Is(one) => value == one,
            Asks::IsNot(one) => value != one,
        }
    }
}

fn domain() -> Domain {
    let line = |at: usize| {
        let kind = if at % 2 == 1 { "float" } else { "integer" };
        format!("r{at}|{kind}|true\n")
    };
    Domain::parse(&(0..ATTRIBUTES).map(line).collect::<String>()).unwrap()
}

/// What an event has of each attribute, often a bound of an expression or its neighbour.
fn event(random: &mut Random, all: &[Vec<Test>], lacking: u64) -> Vec<Option<f64>> {
    let value = |at: usize, random: &mut Random| {
        let test = all[random.below(all.len() as u64) as usize][0];
        let (low, high) = match test.1 {
            Asks::Between(low, high) | Asks::Outside(low, high) => (low, high),
            Asks::Is(value) | Asks::IsNot(value) => (value, value),
        };
        let step = random.below(3) as f64 - 1.0;
        let bound = if random.below(2) == 0 { low } else { high };
        let value = if bound.is_finite() { bound } else { 0.0 } + step;
        if at % 2 == 1 { value } else { value.floor() }
    };
    (0..ATTRIBUTES)
        .map(|at| (random.below(100) >= lacking).then(|| value(at, random)))
        .collect()
}

fn json(event: &[Option<f64>]) -> String {
    let members = event.iter().enumerate().filter_map(|(at, value)| {
        let value = (*value)?;
        Some(match at % 2 {
            0 => format!("\"r{at}\": {}", value as i64),
            _ => format!("\"r{at}\": {value:?}"),
        })
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
}

fn tree(all: &[Vec<Test>], undefined: Undefined) -> BeTree {
    let mut tree = BeTree::new(domain(), undefined);
    for (id, tests) in all.iter().enumerate() {
        let text: Vec<String> = tests.iter().map(Test::written).collect();
        let text = text.join(" and ");
        let expression = Expression::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        tree.insert(
            SubscriptionId(id as u64),
            &expression,
            &Constants::default(),
        )
        .unwrap_or_else(|e| panic!("{e}: {text}"));
    }
    tree
}

/// Searches in steps; the ids and the reductions.
fn found(snapshot: &Snapshot, json: &str, buffers: &mut Buffers, step: u64) -> (Vec<u64>, u64) {
    let event = snapshot.event(json).unwrap();
    let mut search = snapshot.search_iterator(&event, buffers).unwrap();
    loop {
        let before = search.reductions();
        let progress = search.step(Budget::reductions(step));
        let done = search.reductions() - before;
        assert!(done <= step.saturating_add(OVERSHOOT_MAX), "{done}");
        if progress == Progress::Done {
            let ids = search.ids().iter().map(|id| id.0).collect();
            return (ids, search.reductions());
        }
    }
}

fn check(
    snapshot: &Snapshot,
    undefined: Undefined,
    all: &[Vec<Test>],
    events: &[Vec<Option<f64>>],
) -> usize {
    let mut buffers: Vec<Buffers> = Isa::ALL.into_iter().map(Buffers::with_isa).collect();
    let mut matches = 0;
    for event in events {
        let json = json(event);
        let holds = |test: &Test| match event[test.0] {
            Some(value) => test.holds(value),
            // A test of what is not defined is false, so `not` makes it true; or unknown, whatever is made of it.
            None => undefined == Undefined::False && matches!(test.1, Asks::Outside(..)),
        };
        let right = all.iter().enumerate();
        let right = right.filter(|(_, tests)| tests.iter().all(holds));
        let right: Vec<u64> = right.map(|(id, _)| id as u64).collect();
        matches += right.len();
        let mut whole = None;
        for buffers in &mut buffers {
            for step in [u64::MAX, 1, 37, 2_000] {
                let (ids, reductions) = found(snapshot, &json, buffers, step);
                assert_eq!(ids, right, "steps of {step}: {json}");
                assert_eq!(*whole.get_or_insert(reductions), reductions, "{json}");
            }
        }
        let event = snapshot.event(&json).unwrap();
        let some: Vec<SubscriptionId> = snapshot.ids().iter().copied().step_by(5).collect();
        let mut search = snapshot.search_ids(&event, &some, &mut buffers[0]).unwrap();
        search.step(Budget::UNLIMITED);
        let named: Vec<u64> = search.ids().iter().map(|id| id.0).collect();
        let right: Vec<u64> = right.into_iter().filter(|id| id % 5 == 0).collect();
        assert_eq!(named, right, "by name: {json}");
    }
    matches
}

#[test]
fn ranges_of_any_width_are_what_they_are_one_by_one() {
    let mut random = Random(17);
    let widths = [2, VALUES / 50, VALUES / 2, VALUES * 2];
    let both = [Undefined::False, Undefined::Unknown];
    for (widest, undefined) in widths.into_iter().flat_map(|w| both.map(|u| (w, u))) {
        let all: Vec<Vec<Test>> = (0..3_000)
            .map(|_| {
                let count = 1 + random.below(3);
                (0..count)
                    .map(|_| Test::draw(&mut random, widest))
                    .collect()
            })
            .collect();
        let events: Vec<_> = [0, 0, 0, 0, 20, 50, 100]
            .into_iter()
            .map(|lacking| event(&mut random, &all, lacking))
            .collect();
        let tree = &mut tree(&all, undefined);
        let snapshot = tree.snapshot();
        let matches = check(&snapshot, undefined, &all, &events);
        assert!(matches > 0);
        let mut bytes = Vec::new();
        snapshot
            .save(|piece: &[u8]| -> std::io::Result<()> {
                bytes.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
        let loaded = Snapshot::load(&bytes).unwrap();
        assert_eq!(
            check(&loaded, undefined, &all, &events[..2]) > 0,
            matches > 0
        );
    }
}

/// Reductions that an event takes for 64 expressions whose attributes it lacks, at most; and some for each attribute.
const LACKING_MAX: u64 = 8;

#[test]
fn an_event_without_attributes_costs_no_look_at_each_expression() {
    for attributes in [2, 20, 200] {
        let domain: String = (0..attributes)
            .map(|at| format!("r{at}|integer|true\n"))
            .collect();
        let mut tree = BeTree::new(Domain::parse(&domain).unwrap(), Undefined::False);
        let mut random = Random(5);
        let count = 20_000;
        for id in 0..count {
            let mut texts = Vec::new();
            for _ in 0..3 {
                let at = random.below(attributes);
                let low = random.below(500_000);
                let high = low + 300_000 + random.below(200_000);
                texts.push(format!("r{at} >= {low} and r{at} <= {high}"));
            }
            let text = texts.join(" and ");
            let expression = Expression::parse(&text).unwrap();
            tree.insert(SubscriptionId(id), &expression, &Constants::default())
                .unwrap();
        }
        let snapshot = tree.snapshot();
        for json in ["{}", "{\"r0\": -5}"] {
            let (ids, reductions) = found(&snapshot, json, &mut Buffers::new(), u64::MAX);
            assert!(ids.is_empty());
            let each = reductions * 64 / count;
            assert!(
                each <= LACKING_MAX + attributes / 5,
                "{attributes}: {each} for 64"
            );
        }
    }
}
