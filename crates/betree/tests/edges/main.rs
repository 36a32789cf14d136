//! Every way to search equals an oracle that shares no code with the crate, over values at the edges
//! of what integers, floats, texts and moments can be, while subscriptions come, change and go.
//!
//! A few seconds by default. `PERFKIT_BETREE_PAIRS` asks for more pairs of an expression and an event,
//! `PERFKIT_BETREE_SEED` for others.

#[path = "../common/random.rs"]
mod random;

mod ast;
mod draw;
mod event;
mod oracle;
mod values;
mod ways;
mod world;

use std::collections::BTreeMap;

use betree::{
    BeTree, Constants, Domain, ErrorKind, Expression, Snapshot, SubscriptionId, Undefined,
};

use ast::{Ast, Constant, Sign, Test};
use oracle::Subscription;
use random::Random;
use ways::{Case, Mismatch};
use world::{Ids, Kind, Shape, World};

/// Subscriptions of a world, and events of a round, by shape.
const SUBSCRIPTIONS: [u64; 6] = [1, 3, 64, 65, 260, 260];
const SUBSCRIPTIONS_SELECTIVE: u64 = 3_500;
const SUBSCRIPTIONS_SHARED: u64 = 900;
const EVENTS: u64 = 14;
const EVENTS_SELECTIVE: u64 = 6;
/// Rounds of changes of a world.
const ROUNDS: u64 = 4;

/// A number of the environment.
fn asked(name: &str, otherwise: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(otherwise, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number"))
    })
}

#[test]
fn every_way_to_search_equals_the_oracle_at_the_edges() {
    let least = asked("PERFKIT_BETREE_PAIRS", 300_000);
    let seed = asked("PERFKIT_BETREE_SEED", 1);
    let mut done = Done::default();
    for number in 0.. {
        if done.pairs >= least {
            break;
        }
        // Each world has its own stream: it can be repeated by itself.
        let stream = seed.wrapping_mul(0x1_0000_0001).wrapping_add(number);
        let shape = match number % 12 {
            1 | 5 | 9 => Shape::Shared,
            3 => Shape::Selective,
            _ => Shape::Mixed,
        };
        Run::new(stream, shape).all(&mut done);
    }
    println!(
        "{} pairs of seed {seed}, {} of them matches, {} events, {} refused expressions",
        done.pairs, done.matches, done.events, done.refused
    );
    // A generator that draws what never matches, or always does, would test little.
    let share = done.matches as f64 / done.pairs as f64;
    assert!((0.05..0.8).contains(&share), "{share} of all pairs match");
    assert!(done.refused > 0);
}

/// What was done.
#[derive(Debug, Default)]
struct Done {
    pairs: u64,
    matches: u64,
    events: u64,
    refused: u64,
}

/// One world: its tree, and what the tree should hold.
struct Run {
    stream: u64,
    random: Random,
    world: World,
    tree: BeTree,
    there: BTreeMap<SubscriptionId, (Subscription, String)>,
}

fn constants(ids: &Ids) -> Constants {
    Constants {
        flight_id: ids[0],
        advertiser_id: ids[1],
        campaign_id: ids[2],
        campaign_group_id: ids[3],
        product_id: ids[4],
    }
}

impl Run {
    fn new(stream: u64, shape: Shape) -> Self {
        let mut random = Random(stream);
        let mut world = World::draw(&mut random, shape);
        if shape == Shape::Shared {
            world.bank = draw::bank(&world, &mut random);
        }
        let domains = world.domains(&mut random);
        let domain = Domain::parse(&domains).unwrap_or_else(|error| panic!("{error}: {domains}"));
        let undefined = match world.three_valued {
            true => Undefined::Unknown,
            false => Undefined::False,
        };
        Self {
            stream,
            random,
            world,
            tree: BeTree::new(domain, undefined),
            there: BTreeMap::new(),
        }
    }

    fn all(&mut self, done: &mut Done) {
        let count = match self.world.shape {
            Shape::Selective => SUBSCRIPTIONS_SELECTIVE,
            Shape::Shared => SUBSCRIPTIONS_SHARED,
            Shape::Mixed => self.random.pick(&SUBSCRIPTIONS),
        };
        for round in 0..ROUNDS {
            // First the most, then ever fewer changes: several parts, and dead slots in them.
            for _ in 0..(count >> (2 * round)).max(1) {
                self.change(round, done);
            }
            assert_eq!(self.tree.len(), self.there.len());
            let snapshot = self.tree.snapshot();
            assert!(snapshot.ids().iter().eq(self.there.keys()));
            assert!(snapshot.lockstep_len() <= snapshot.len());
            self.check(&snapshot, done);
            if self.random.chance(50) {
                let read = ways::reloaded(&snapshot);
                self.check(&read, done);
                self.tree = BeTree::from_snapshot(&read);
            }
        }
    }

    /// Inserts, updates or deletes a subscription.
    fn change(&mut self, round: u64, done: &mut Done) {
        let random = &mut self.random;
        let known: Option<SubscriptionId> = match round {
            0 => None,
            _ => {
                let at = random.below(self.there.len().max(1) as u64) as usize;
                self.there.keys().nth(at).copied()
            }
        };
        if let Some(id) = known.filter(|_| random.chance(40)) {
            self.tree.delete(id).expect("it is there");
            self.there.remove(&id);
            return;
        }
        let subscription = self.subscription();
        let id = known
            .filter(|_| self.random.chance(60))
            .unwrap_or_else(|| self.id());
        let text = ast::text(&subscription.ast, &self.world, &mut self.random);
        let constants = constants(&subscription.ids);
        let parsed = Expression::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let changed = match self.there.contains_key(&id) {
            true => self.tree.update(id, &parsed, &constants),
            false => self.tree.insert(id, &parsed, &constants),
        };
        match expected_refusal(&subscription, &self.world) {
            None => {
                changed.unwrap_or_else(|error| panic!("{error}: {text}"));
                self.there.insert(id, (subscription, text));
            }
            Some(kind) => {
                let error = changed.expect_err(&text);
                assert_eq!(error.kind(), kind, "{error}: {text}");
                done.refused += 1;
            }
        }
    }

    /// An id, often one of the least or the greatest.
    fn id(&mut self) -> SubscriptionId {
        let random = &mut self.random;
        SubscriptionId(match random.below(10) {
            0 => random.below(3),
            1 => u64::MAX - random.below(3),
            2 => (1 << 63) + random.below(3),
            3 | 4 => random.below(5_000),
            _ => random.next(),
        })
    }

    fn subscription(&mut self) -> Subscription {
        let random = &mut self.random;
        let ids = random.pick(&self.world.ids);
        let is_selective = self.world.shape == Shape::Selective;
        let mut ast = match is_selective && random.chance(90) {
            true => draw::selective(&self.world, random),
            false => {
                let most = random.pick(&[4, 10, 10, 10, 60]);
                let leaves = 1 + random.below(most);
                draw::expression(&self.world, random, leaves)
            }
        };
        // Now and then a value just outside of what its attribute may be.
        if random.below(50) == 0
            && let Some(outside) = outside(&self.world, random)
        {
            ast = Ast::Or(vec![ast, Ast::Test(outside)]);
        }
        Subscription { ast, ids }
    }

    fn check(&mut self, snapshot: &Snapshot, done: &mut Done) {
        let count = match self.world.shape {
            Shape::Selective => EVENTS_SELECTIVE,
            _ => EVENTS,
        };
        let mut cases = Vec::new();
        for _ in 0..count {
            let event = event::event(&self.world, &mut self.random);
            let (json, foreign) = event::json(&event, &self.world, &mut self.random);
            let matching = self.there.iter().filter(|(_, (subscription, _))| {
                oracle::matches(&self.world, subscription, &event)
            });
            let right: Vec<SubscriptionId> = matching.map(|(id, _)| *id).collect();
            done.pairs += self.there.len() as u64;
            done.matches += right.len() as u64;
            done.events += 1;
            cases.push(Case {
                json,
                foreign,
                right,
            });
        }
        if let Err(mismatch) = ways::check(snapshot, &cases, &mut self.random) {
            self.show(&mismatch, &cases[mismatch.case]);
        }
    }

    fn show(&mut self, mismatch: &Mismatch, case: &Case) -> ! {
        let differs = |id: &&SubscriptionId| case.right.contains(id) != mismatch.found.contains(id);
        let wrong = self.there.keys().find(differs);
        let text = wrong.map_or("", |id| self.there[id].1.as_str());
        let is_right = wrong.is_some_and(|id| case.right.contains(id));
        let domains = self.world.domains(&mut self.random);
        panic!(
            "stream {}, {}: {wrong:?} matches: {is_right}, found otherwise\n{text}\n{}\n{domains}",
            self.stream, mismatch.way, case.json
        );
    }
}

/// A test for a value that the bounds of its attribute exclude, if there is an attribute with bounds.
fn outside(world: &World, random: &mut Random) -> Option<Test> {
    let attribute = world.any(random, |kind| {
        matches!(kind, Kind::Integer(..) | Kind::Float(..))
    });
    let sign = random.pick(&Sign::ALL);
    let value = match world.attributes[attribute].kind {
        Kind::Integer(low, high) => match random.chance(50) {
            true => Constant::Integer(low.checked_sub(1)?),
            false => Constant::Integer(high.checked_add(1)?),
        },
        Kind::Float(low, high) => {
            let value = if random.chance(50) {
                low.next_down()
            } else {
                high.next_up()
            };
            Constant::Float(Some(value).filter(|value| value.is_finite())?)
        }
        _ => return None,
    };
    Some(Test::Compare(attribute, sign, value))
}

/// Why a tree has to refuse a subscription, if it has to: the first test that is wrong decides.
fn expected_refusal(subscription: &Subscription, world: &World) -> Option<ErrorKind> {
    fn tests<'a>(ast: &'a Ast, out: &mut Vec<&'a Test>) {
        match ast {
            Ast::And(parts) | Ast::Or(parts) => parts.iter().for_each(|part| tests(part, out)),
            Ast::Not(inner) => tests(inner, out),
            Ast::Test(test) => out.push(test),
            Ast::Constant(_) => {}
        }
    }
    let mut all = Vec::new();
    tests(&subscription.ast, &mut all);
    all.into_iter().find_map(|test| match test {
        Test::Compare(attribute, _, constant) => {
            let inside = match (world.attributes[*attribute].kind, constant) {
                (Kind::Integer(low, high), Constant::Integer(value)) => {
                    (low..=high).contains(value)
                }
                (Kind::Float(low, high), Constant::Float(value)) => (low..=high).contains(value),
                _ => true,
            };
            (!inside).then_some(ErrorKind::Bounds)
        }
        Test::Cap { kind, .. } => {
            let plain = kind.trim_end_matches(":ip");
            let at = world::CAP_KINDS.iter().position(|found| *found == plain)?;
            subscription.ids[at]
                .is_none()
                .then_some(ErrorKind::Constants)
        }
        _ => None,
    })
}
