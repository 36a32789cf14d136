//! Which order a message is about.
//!
//! A ClOrdID may be used for several orders, by mistake or on another day. What the other side calls the order,
//! OrderID (37), tells them apart; before it has given one, answers come in the order of the orders.

use super::book::Book;
use super::keys::Keys;
use super::life::{State, Step, StepKind, number, value};
use super::open::Open;
use super::wait::Watch;
use super::who;

/// An order that was sent so much before another one with its ClOrdID has no answer any more.
const ANSWERED_NS: i64 = 12 * 3_600_000_000_000;

impl Book {
    pub(super) fn open(&self, slot: u32) -> Option<&Open> {
        self.lives.get(slot as usize).and_then(Option::as_ref)
    }

    /// Whether the message is known: it is in another log as well, or was sent again.
    pub(super) fn is_repeated(&self, keys: &Keys, step: &Step) -> bool {
        let is_same = |other: &Step| {
            let ids = [11, 41, 37, 17];
            step.number > 0
                && step.number == other.number
                && [step.sender, step.target] == [other.sender, other.target]
                && step.kind == other.kind
                && (step.is_copy || other.is_copy || step.sent_ns == other.sent_ns)
                && (step.fields == other.fields
                    || ids.into_iter().all(|id| step.get(id) == other.get(id)))
        };
        let all = [keys.id, keys.order, keys.original, keys.about];
        let mut slots = all.into_iter().flat_map(|key| self.slots.of(key));
        slots.any(|slot| {
            self.open(*slot)
                .is_some_and(|open| open.life.steps.iter().any(is_same))
        })
    }

    /// The order that a new order says again, or of which only the answers were seen; `None` if it is a new one.
    pub(super) fn begun(&mut self, keys: &Keys, step: &Step) -> Option<u32> {
        let is_its = |open: &Open| open.parties == [step.sender, step.target];
        let says_again = step.get(97) == Some(b"Y");
        let holders = self.slots.of(keys.id).iter().rev();
        let found = holders.copied().find(|slot| {
            let Some(open) = self.open(*slot).filter(|open| is_its(open)) else {
                return false;
            };
            if who::is_of(open, step) == Some(false) {
                return false;
            }
            let steps = &open.life.steps;
            if open.life.is_orphan {
                // Its own log may come later than that of the other side, whose clock is behind, or it was sent again.
                // Or what was written into this log had not the order in which it was sent.
                let is_earlier = |other: &Step| other.sent_ns >= step.sent_ns;
                let is_late = step.is_copy
                    || steps.iter().all(|other| other.log != step.log)
                    || (step.sent_ns.is_some() && steps.iter().all(is_earlier));
                return is_late && agree(steps, step);
            }
            let is_first =
                |other: &Step| other.kind == StepKind::New && other.get(11) == step.get(11);
            says_again && steps.iter().any(is_first)
        });
        if let Some(open) = found.and_then(|slot| self.open(slot)) {
            let is_same = |other: &Step| other.log == step.log;
            if open.life.is_orphan && !step.is_copy && open.life.steps.iter().any(is_same) {
                self.unordered.far(step);
            }
            return found;
        }
        let before = self.live(&self.for_whom(self.slots.of(keys.id), step))?;
        let open = self.lives.get_mut(before as usize)?.as_mut()?;
        // Two traders may have the same ids.
        let is_other = who::is_of(open, step) == Some(false);
        if !open.life.state.is_end() && is_its(open) && !is_other {
            open.life.reused += 1;
        }
        None
    }

    /// The order that a request is about.
    pub(super) fn requested(&self, keys: &Keys, step: &Step) -> Option<u32> {
        let by_id = self.for_whom(self.slots.of(keys.id), step);
        let by_original = self.for_whom(self.slots.of(keys.original), step);
        let newest = match keys.original {
            Some(_) => self.live(&by_original),
            None if step.kind == StepKind::DontKnow => None,
            None => self.live(&by_id),
        };
        if let Some(slot) = self.of_both(keys.order, [keys.original, keys.id]) {
            // OrderIDs come again on the next day, and this order has none yet.
            let is_newer = newest.filter(|newest| self.is_ended(slot) && self.is_unnamed(*newest));
            return is_newer.or(Some(slot));
        }
        newest.or_else(|| self.slots.last(keys.order))
    }

    /// The order that an execution or a cancel reject is about.
    pub(super) fn answered(&self, keys: &Keys, step: &Step) -> Option<u32> {
        let all = self.slots.of(keys.id);
        let by_id = &*self.for_whom(all, step);
        let by_original = &*self.for_whom(self.slots.of(keys.original), step);
        let unnamed = |slot: &u32| self.is_unnamed(*slot);
        if let Some(slot) = self.slots.last(keys.order) {
            // Both agree: there are logs in which many orders have one OrderID.
            let order_id = step.get(37);
            let has_both = |slot: &&u32| {
                let is_its = |other: &Step| !other.kind.is_request() && other.get(37) == order_id;
                self.open(**slot)
                    .is_some_and(|open| open.life.steps.iter().any(is_its))
            };
            let mut holders = by_id.iter().rev().chain(all.iter().rev());
            if let Some(slot) = holders.find(has_both) {
                return self.renewed(*slot, by_id, step).or(Some(*slot));
            }
            let ids = [step.get(11), step.get(41)];
            let is_named = |other: &Step| {
                let id = other.get(11);
                id.is_some() && ids.contains(&id)
            };
            let has_id = |slot: &&u32| {
                self.open(**slot)
                    .is_some_and(|open| open.life.steps.iter().any(is_named))
            };
            let named = self.slots.of(keys.order).iter().rev().find(has_id);
            if named.is_some() || keys.id.is_none() {
                return named.copied().or(Some(slot));
            }
            // OrderIDs may come again, as on the next day.
            if let Some(slot) = self.first_unnamed(by_id) {
                return Some(slot);
            }
            // A ClOrdID that is not known is another order's, unless it takes the place of one.
            let is_known = !by_id.is_empty() || keys.original.is_some();
            return is_known.then_some(slot);
        }
        let candidates = match by_id.is_empty() {
            true => by_original,
            false => by_id,
        };
        // A request with an id that was used before.
        let both = candidates
            .iter()
            .rev()
            .find(|slot| by_original.contains(slot));
        if keys.order.is_none() {
            let is_rejected = step.kind.status() == Some(b'8');
            if is_rejected && matches!(step.kind, StepKind::Execution { .. }) {
                let latest = candidates.iter().rev().find(|slot| unnamed(slot));
                return latest.copied().or_else(|| self.live(candidates));
            }
            return both.copied().or_else(|| self.live(candidates));
        }
        // Another order has this ClOrdID already: a duplicate is the latest one.
        if step.get(103) == Some(b"6")
            && let Some(slot) = candidates.iter().rev().find(|slot| unnamed(slot))
        {
            return Some(*slot);
        }
        if let Some(slot) = self.first_unnamed(candidates) {
            return Some(slot);
        }
        // The OrderID of an order may change; one that has ended keeps it.
        both.copied()
            .or_else(|| self.live(candidates))
            .filter(|slot| {
                self.open(*slot).is_some_and(|open| {
                    !open.has_order_id || !open.life.state.is_end() || keys.original.is_some()
                })
            })
    }

    /// Whether an order is live, and the other side has not given it an OrderID yet.
    fn is_unnamed(&self, slot: u32) -> bool {
        self.open(slot)
            .is_some_and(|open| !open.has_order_id && !open.life.state.is_end())
    }

    pub(super) fn is_ended(&self, slot: u32) -> bool {
        self.open(slot).is_some_and(|open| open.life.state.is_end())
    }

    /// The first of some orders that waits for an answer: not one of the day before, which gets none any more.
    fn first_unnamed(&self, slots: &[u32]) -> Option<u32> {
        let new_ns = |slot: u32| self.open(slot).and_then(|open| open.new_ns);
        let mut waiting = slots.iter().copied().filter(|slot| self.is_unnamed(*slot));
        let mut first = waiting.next()?;
        for newer in waiting {
            let both = new_ns(first).zip(new_ns(newer));
            if both.is_some_and(|(first, newer)| newer.saturating_sub(first) > ANSWERED_NS) {
                first = newer;
            }
        }
        Some(first)
    }

    /// An order that was sent after another one had ended, with its ClOrdID, to which an answer with the OrderID of
    /// that one belongs: OrderIDs are unique within a day only.
    fn renewed(&self, slot: u32, by_id: &[u32], step: &Step) -> Option<u32> {
        let old = self.open(slot)?;
        let StepKind::Execution { exec_type, .. } = step.kind else {
            return None;
        };
        // Of an order that has not ended, only what comes first can be another one's, and that on another day.
        let is_first = matches!(exec_type, b'0' | b'A' | b'8');
        let is_over = old.life.state.is_end() || (is_first && is_stale(old, step));
        if !is_over {
            return None;
        }
        // A trade that is cancelled or corrected, a status, and what follows "done for the day".
        let is_late = matches!(exec_type, b'H' | b'G' | b'I')
            || (old.life.state == State::Expired && matches!(exec_type, b'3' | b'B' | b'C'));
        let is_told = |other: &Step| !other.kind.is_request() && other.get(17) == step.get(17);
        // ExecIDs come again on another day, too.
        let is_again = step.get(17).is_some() && !is_stale(old, step);
        if is_late || step.is_copy || (is_again && old.life.steps.iter().any(is_told)) {
            return None;
        }
        let newest = by_id.iter().copied().rev();
        let mut newest = newest.take_while(|newer| *newer != slot);
        newest.find(|newer| {
            let open = self.open(*newer);
            self.is_unnamed(*newer)
                && open.is_some_and(|open| {
                    open.life.number > old.life.number.max(old.ended_before.saturating_sub(1))
                })
        })
    }

    /// The orders of which a message was rejected.
    pub(super) fn rejected(&self, keys: &Keys, about: Option<u64>, step: &Step) -> Vec<u32> {
        let refused = step.get(372);
        let is_it = |other: &&Step| {
            Some(other.number) == about
                && [other.target, other.sender] == [step.sender, step.target]
                && refused.is_none_or(|refused| other.kind.is_type(refused))
        };
        let found = |slot: u32| {
            let open = self.open(slot)?;
            let step = open.life.steps.iter().rev().find(is_it)?;
            Some((slot, step.log, step.offset))
        };
        let holders = self.slots.of(keys.about).iter().rev();
        let mut all = holders.filter_map(|slot| found(*slot));
        if let Some((slot, log, offset)) = all.next() {
            // All orders of one list.
            let same = all.filter(|other| (other.1, other.2) == (log, offset));
            let mut slots: Vec<_> = same.map(|other| other.0).collect();
            slots.push(slot);
            return slots;
        }
        let is_business = step.kind == StepKind::BusinessReject;
        let named = keys.id.filter(|_| is_business);
        self.live(self.slots.of(named)).into_iter().collect()
    }

    /// The latest order that is found both by one key and by one of the others.
    fn of_both(&self, one: Option<u128>, others: [Option<u128>; 2]) -> Option<u32> {
        let mut slots = self.slots.of(one).iter().rev();
        let is_other = |slot: &u32| others.iter().any(|key| self.slots.of(*key).contains(slot));
        slots.find(|slot| is_other(slot)).copied()
    }

    /// The latest order that has not ended; if all have, the latest.
    fn live(&self, slots: &[u32]) -> Option<u32> {
        let is_live = |slot: &&u32| {
            self.open(**slot)
                .is_some_and(|open| !open.life.state.is_end())
        };
        let live = slots.iter().rev().find(is_live);
        live.or(slots.last()).copied()
    }

    /// Whoever sends an order on has got it before: the latest one that was not sent on, of what is asked for.
    pub(super) fn link_above(
        &mut self,
        slot: u32,
        open: &mut Open,
        step: &Step,
        watch: &mut dyn Watch,
    ) {
        for tag in [11, 526] {
            let Some(id) = step.get(tag) else {
                continue;
            };
            let key = super::keys::key(super::keys::RELAY, [step.sender; 2], id);
            let holders = self.slots.of(Some(key)).iter().rev();
            let fits = |above: &u32, is_whole: bool| {
                *above != slot
                    && self.open(*above).is_some_and(|upstream| {
                        let steps = &upstream.life.steps;
                        let fits = match is_whole {
                            true => upstream.downstream.is_none() && same_quantity(steps, step),
                            false => is_part(steps, step),
                        };
                        fits && !upstream.is_told && agree(steps, step)
                    })
            };
            let whole = holders.clone().find(|above| fits(above, true));
            // It may be sent on in parts, or a second time.
            let found = whole.or_else(|| holders.clone().find(|above| fits(above, false)));
            let Some(above) = found.copied() else {
                continue;
            };
            if let Some(Some(upstream)) = self.lives.get_mut(above as usize) {
                open.life.upstream = Some(upstream.life.number);
                upstream.downstream = Some((slot, open.life.number));
                upstream.life.downstream = Some(open.life.number);
                if let (Some(there), Some(here)) = (upstream.new_ns, open.new_ns) {
                    let parties = upstream.parties;
                    self.hop(parties, false, here.saturating_sub(there), watch);
                }
                return;
            }
        }
    }

    /// What was sent on before it was seen here.
    pub(super) fn link_below(
        &mut self,
        open: &mut Open,
        keys: &Keys,
        step: &Step,
        watch: &mut dyn Watch,
    ) {
        if keys.id.is_none() || open.downstream.is_some() {
            return;
        }
        let id = step.get(11).unwrap_or_default();
        let key = super::keys::key(super::keys::SENT, [step.target; 2], id);
        let fits = |below: &&u32| {
            self.open(**below).is_some_and(|downstream| {
                downstream.life.upstream.is_none()
                    && downstream.life.number != open.life.number
                    && !downstream.is_told
                    && downstream.parties[0] == step.target
                    && agree(&downstream.life.steps, step)
                    && same_quantity(&downstream.life.steps, step)
            })
        };
        let Some(below) = self.slots.of(Some(key)).iter().find(fits).copied() else {
            return;
        };
        if let Some(Some(downstream)) = self.lives.get_mut(below as usize) {
            downstream.life.upstream = Some(open.life.number);
            open.downstream = Some((below, downstream.life.number));
            open.life.downstream = Some(downstream.life.number);
            if let (Some(there), Some(here)) = (open.new_ns, downstream.new_ns) {
                let parties = open.parties;
                self.hop(parties, false, here.saturating_sub(there), watch);
            }
        }
    }
}

/// Whether nothing was heard of an order for so long before a message that this may be of another day.
pub(super) fn is_stale(open: &Open, step: &Step) -> bool {
    let last = open.life.steps.last().and_then(|step| step.sent_ns);
    let both = last.zip(step.sent_ns);
    both.is_some_and(|(last, sent)| sent.saturating_sub(last) > ANSWERED_NS)
}

/// Whether symbol and side are the same, where both are known.
fn agree(steps: &[Step], step: &Step) -> bool {
    [55, 54].into_iter().all(|tag| {
        let other = steps.iter().find_map(|step| step.get(tag));
        let (Some(one), Some(other)) = (step.get(tag), other) else {
            return true;
        };
        one == other
    })
}

/// Whether the quantity that is sent on is no more than that of the order.
fn is_part(steps: &[Step], step: &Step) -> bool {
    let quantity = |fields: &[u8]| value(fields, 38).and_then(number);
    let above = steps.iter().find_map(|step| quantity(&step.fields));
    let part = quantity(&step.fields);
    above.zip(part).is_none_or(|(above, part)| part <= above)
}

fn same_quantity(steps: &[Step], step: &Step) -> bool {
    let other = steps.iter().find_map(|step| step.get(38));
    let (Some(one), Some(other)) = (step.get(38), other) else {
        return true;
    };
    one == other
}
