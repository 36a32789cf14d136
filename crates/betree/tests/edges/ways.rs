//! All ways to ask a snapshot what matches: every one has to give what the oracle gives, in the same
//! number of reductions however the work is split.

use std::convert::Infallible;

use betree::{Batch, Budget, Buffers, Event, Expression, Isa, OVERSHOOT_MAX, Progress, Search};
use betree::{Snapshot, SubscriptionId};

use super::Random;

/// An event as the crate has it, with its JSON and the ids that match it.
pub(crate) struct Case {
    pub(crate) json: String,
    /// Whether it names what the domain lacks.
    pub(crate) foreign: bool,
    pub(crate) right: Vec<SubscriptionId>,
}

/// What disagrees with the oracle: the event, the way, and what that gave.
pub(crate) struct Mismatch {
    pub(crate) case: usize,
    pub(crate) way: String,
    pub(crate) found: Vec<SubscriptionId>,
}

pub(crate) type Checked = Result<(), Mismatch>;

/// Asks in every way.
pub(crate) fn check(snapshot: &Snapshot, cases: &[Case], random: &mut Random) -> Checked {
    let events: Vec<Event> = cases
        .iter()
        .map(|case| read(snapshot, case, random))
        .collect();
    let mut buffers: Vec<Buffers> = isas().map(Buffers::with_isa).collect();
    for (at, event) in events.iter().enumerate() {
        let asked = Asked {
            snapshot,
            event,
            case: at,
            right: &cases[at].right,
        };
        asked.whole(&mut buffers, random)?;
        let at = random.below(buffers.len() as u64) as usize;
        let buffers = &mut buffers[at];
        asked.bitmap(buffers, random)?;
        asked.named(buffers, random)?;
        asked.first(buffers, random)?;
        asked.explained(random)?;
    }
    batches(snapshot, &events, cases, random)
}

/// The state of a snapshot that was written and read back.
pub(crate) fn reloaded(snapshot: &Snapshot) -> Snapshot {
    let read = Snapshot::load(&saved(snapshot)).expect("what was saved");
    assert!(
        saved(&read) == saved(snapshot),
        "the same state is the same bytes"
    );
    read
}

fn saved(snapshot: &Snapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Ok(()) = snapshot.save(|piece| {
        bytes.extend_from_slice(piece);
        Ok::<(), Infallible>(())
    });
    bytes
}

fn isas() -> impl Iterator<Item = Isa> {
    Isa::ALL.into_iter().filter(|isa| isa.is_available())
}

/// A random budget: often one of the smallest.
fn budget(random: &mut Random) -> u64 {
    match random.below(5) {
        0 => 1,
        1 => 2,
        2 => 1 + random.below(200),
        3 => 1 + random.below(5_000),
        _ => u64::MAX,
    }
}

/// Reads an event whole and in steps of random budgets.
fn read(snapshot: &Snapshot, case: &Case, random: &mut Random) -> Event {
    let mut reader = snapshot.event_reader(case.json.as_bytes(), case.foreign);
    let whole = reader.step(Budget::UNLIMITED);
    assert_eq!(whole, Ok(Progress::Done), "{}", case.json);
    let reductions = reader.reductions();
    let whole = reader.finish().expect("an event");
    let mut reader = snapshot.event_reader(case.json.as_bytes(), case.foreign);
    while reader.step(Budget::reductions(budget(random))) == Ok(Progress::Yielded) {}
    assert_eq!(reader.reductions(), reductions, "{}", case.json);
    let split = reader.finish().expect("an event");
    assert!(split == whole, "{}", case.json);
    whole
}

/// Searches to the end in steps of one budget, 0 for random ones; the reductions in all.
fn run(search: &mut Search<'_>, steps: u64, random: &mut Random) -> u64 {
    loop {
        let before = search.reductions();
        let step = if steps == 0 { budget(random) } else { steps };
        let progress = search.step(Budget::reductions(step));
        let done = search.reductions() - before;
        assert!(
            done <= step.saturating_add(OVERSHOOT_MAX),
            "{done} of {step}"
        );
        if progress == Progress::Done {
            return search.reductions();
        }
    }
}

struct Asked<'a> {
    snapshot: &'a Snapshot,
    event: &'a Event,
    case: usize,
    right: &'a [SubscriptionId],
}

impl Asked<'_> {
    fn equal(&self, way: impl Into<String>, found: &[SubscriptionId]) -> Checked {
        self.is(found == self.right, way, found)
    }

    fn is(&self, right: bool, way: impl Into<String>, found: &[SubscriptionId]) -> Checked {
        match right {
            true => Ok(()),
            false => Err(Mismatch {
                case: self.case,
                way: way.into(),
                found: found.to_vec(),
            }),
        }
    }

    /// Searches with every instruction set, in one step and in many.
    fn whole(&self, buffers: &mut [Buffers], random: &mut Random) -> Checked {
        let mut reductions = None;
        for buffers in buffers {
            let isa = buffers.isa().name();
            for steps in [u64::MAX, [1, 2, 0][random.below(3) as usize]] {
                // One that is dropped half way leaves nothing behind.
                if random.chance(20) {
                    let begun = self.snapshot.search_iterator(self.event, buffers);
                    begun
                        .expect("its own event")
                        .step(Budget::reductions(budget(random)));
                }
                let search = self.snapshot.search_iterator(self.event, buffers);
                let mut search = search.expect("its own event");
                let count = run(&mut search, steps, random);
                self.equal(format!("{isa}, steps of {steps}"), search.ids())?;
                assert_eq!(search.matched(), self.right.len() as u64);
                assert_eq!(
                    *reductions.get_or_insert(count),
                    count,
                    "{isa}, steps of {steps}"
                );
            }
        }
        Ok(())
    }

    fn bitmap(&self, buffers: &mut Buffers, random: &mut Random) -> Checked {
        let mut whole = None;
        for steps in [u64::MAX, 0] {
            let search = self.snapshot.search_bitmap(self.event, buffers);
            let mut search = search.expect("its own event");
            let reductions = run(&mut search, steps, random);
            assert_eq!(*whole.get_or_insert(reductions), reductions, "a bitmap");
            self.equal("a bitmap", &of_bits(self.snapshot, search.bitmap()))?;
        }
        Ok(())
    }

    /// Searches among names: some that have events, some twice, some without any event.
    fn named(&self, buffers: &mut Buffers, random: &mut Random) -> Checked {
        let all = self.snapshot.ids();
        let mut names = vec![SubscriptionId(0), SubscriptionId(u64::MAX)];
        for _ in 0..random.below(60) {
            names.push(match random.chance(90) && !all.is_empty() {
                true => random.pick(all),
                false => SubscriptionId(random.next()),
            });
        }
        let right = self.right.iter().copied();
        let right: Vec<SubscriptionId> = right.filter(|id| names.contains(id)).collect();
        let mut whole = None;
        for steps in [u64::MAX, 1, 0] {
            let search = self.snapshot.search_ids(self.event, &names, buffers);
            let mut search = search.expect("its own event");
            let reductions = run(&mut search, steps, random);
            assert_eq!(*whole.get_or_insert(reductions), reductions, "by name");
            let is_right = search.ids() == right;
            let way = format!("by name in steps of {steps}, where {right:?} is right");
            self.is(is_right, way, search.ids())?;
        }
        Ok(())
    }

    /// Searches for some only.
    fn first(&self, buffers: &mut Buffers, random: &mut Random) -> Checked {
        let exists = self.snapshot.exists(self.event, buffers);
        assert_eq!(exists, Ok(!self.right.is_empty()));
        let count = random.pick(&[0, 1, 2, 17, u64::MAX]);
        let mut whole = None;
        for steps in [u64::MAX, 0] {
            let search = self.snapshot.first_n(self.event, count, buffers);
            let mut search = search.expect("its own event");
            let reductions = run(&mut search, steps, random);
            let found = search.ids();
            let known = found.iter().all(|id| self.right.binary_search(id).is_ok());
            let enough = found.len() as u64 == count.min(self.right.len() as u64);
            self.is(
                known && enough && found.is_sorted(),
                format!("the first {count}"),
                found,
            )?;
            let both = (found.to_vec(), reductions);
            assert_eq!(
                *whole.get_or_insert_with(|| both.clone()),
                both,
                "the first {count}"
            );
        }
        Ok(())
    }

    /// What is explained is evaluated test by test, without any index.
    fn explained(&self, random: &mut Random) -> Checked {
        let all = self.snapshot.ids();
        for _ in 0..all.len().min(8) {
            let id = random.pick(all);
            let found = self.snapshot.explain(self.event, id).expect("it is there");
            let right = self.right.binary_search(&id).is_ok();
            let matched = if found.matched { vec![id] } else { Vec::new() };
            let way = format!("explain {id:?}, where {right} is right");
            self.is(found.matched == right, way, &matched)?;
            for test in found.tests {
                // What is shortened, or is never true, has no words in the language.
                let shown = !test.text.contains("more)") && !test.text.contains("empty range");
                let read = Expression::parse(&test.text);
                assert!(!shown || read.is_ok(), "{read:?}: {}", test.text);
            }
        }
        Ok(())
    }
}

fn of_bits(snapshot: &Snapshot, bits: &[u64]) -> Vec<SubscriptionId> {
    assert_eq!(bits.len(), snapshot.len().div_ceil(64));
    let all = snapshot.ids().iter().enumerate();
    all.filter(|(at, _)| bits[at / 64] >> (at % 64) & 1 == 1)
        .map(|(_, id)| *id)
        .collect()
}

/// All events at once, with every instruction set, in one step and in many.
fn batches(snapshot: &Snapshot, events: &[Event], cases: &[Case], random: &mut Random) -> Checked {
    let mut whole = None;
    for isa in isas() {
        let mut batch = snapshot.batch_with(isa);
        for steps in [u64::MAX, 0] {
            let mut search = batch.search(events).expect("its own events");
            loop {
                let before = search.reductions();
                let step = if steps == 0 { budget(random) } else { steps };
                let progress = search.step(Budget::reductions(step));
                let done = search.reductions() - before;
                assert!(
                    done <= step.saturating_add(OVERSHOOT_MAX),
                    "{done} of {step}"
                );
                if progress == Progress::Done {
                    break;
                }
            }
            let reductions = search.reductions();
            assert_eq!(
                *whole.get_or_insert(reductions),
                reductions,
                "a batch on {isa:?}"
            );
            batch_equals(snapshot, &batch, cases, isa)?;
        }
    }
    Ok(())
}

fn batch_equals(snapshot: &Snapshot, batch: &Batch, cases: &[Case], isa: Isa) -> Checked {
    let (mut ids, mut bits) = (Vec::new(), Vec::new());
    for (case, Case { right, .. }) in cases.iter().enumerate() {
        ids.clear();
        batch.ids(case, &mut ids);
        batch.bitmap(case, &mut bits);
        let by_bits = of_bits(snapshot, &bits);
        for (found, way) in [(&ids, "ids"), (&by_bits, "bits")] {
            if found != right {
                return Err(Mismatch {
                    case,
                    way: format!("{way} of a batch on {}", isa.name()),
                    found: found.clone(),
                });
            }
        }
        assert_eq!(batch.count(case), right.len() as u64);
    }
    Ok(())
}
