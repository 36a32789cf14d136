//! What each message changes: it is held for a moment, finds its order, and becomes a step of it.

use super::batch::Batch;
use super::book::Book;
use super::find::is_stale;
use super::keys::{self, Keys};
use super::life::{Step, StepKind};
use super::open::Open;
use super::wait::{Wait, Watch};
use super::window::{self, Held};

/// Orders that are followed at once: beyond them, new ones are only counted.
const LIVES_MAX: usize = 1 << 22;
/// Messages of an order that are kept.
const STEPS_MAX: usize = 256;
/// Parties among which the order of a copy is looked for.
const COPIED_PARTIES_MAX: usize = 32;

impl Book {
    /// Takes the next message of the logs, and follows those that were held long enough.
    pub(super) fn arrive(&mut self, batch: &Batch, at: usize, watch: &mut dyn Watch) {
        let Some(event) = batch.part.events.get(at) else {
            return;
        };
        let parties = batch.parties.get(event.session as usize).copied();
        let parties = parties.unwrap_or([u32::MAX; 2]);
        if event.restarts {
            return self.restarts.add(parties, event.sent_ns);
        }
        self.messages += 1;
        if parties.contains(&u32::MAX) {
            self.unfollowed += 1;
            return;
        }
        self.times.add(batch.log, parties[0], event);
        let fields = batch.part.fields(event);
        let step = Step {
            kind: event.kind,
            sent_ns: event.sent_ns,
            sender: parties[0],
            target: parties[1],
            number: event.number,
            log: batch.log,
            offset: event.offset,
            line: event.line,
            is_copy: event.is_copy,
            original_ns: event.original_ns,
            is_late: false,
            fields: fields.into(),
        };
        let place = (step.log, step.offset, step.line);
        let is_moved = self.window.push(Held {
            keys: Keys::of(parties, event, fields, self.restarts.of(parties)),
            step,
            about: event.about,
            came_ns: 0,
        });
        if is_moved {
            self.unordered.moved(place);
        }
        while let Some(held) = self.window.due() {
            self.follow(held, true, watch);
        }
        self.let_go(watch);
    }

    /// Finds the order of a message, and makes it a step of that. If it `may_wait`, what it answers is followed first.
    pub(super) fn follow(&mut self, held: Held, may_wait: bool, watch: &mut dyn Watch) {
        if may_wait && let Some(at) = self.awaited(&held) {
            let earlier = self.window.take(at);
            if let Some(request) = earlier.last() {
                let step = &request.step;
                self.unordered.moved((step.log, step.offset, step.line));
            }
            for before in earlier {
                self.follow(before, false, watch);
            }
        }
        let Held {
            keys, step, about, ..
        } = held;
        if let Some(sent) = step.sent_ns {
            self.now_ns = self.now_ns.max(sent);
        }
        if self.is_repeated(&keys, &step) {
            self.repeated += 1;
            return;
        }
        let kind = step.kind;
        if matches!(kind, StepKind::Reject | StepKind::BusinessReject) {
            for slot in self.rejected(&keys, about, &step) {
                self.step(slot, step.clone(), watch);
            }
            return;
        }
        let found = match kind {
            StepKind::New => self.begun(&keys, &step),
            kind if kind.is_request() => self.requested(&keys, &step),
            _ => self.answered(&keys, &step),
        };
        if found.is_none() && self.is_drop_copy(&step) {
            self.drop_copies += 1;
            return;
        }
        let names = kind.is_request() || found.is_none();
        let may_begin = !matches!(kind, StepKind::StatusRequest | StepKind::DontKnow);
        let slot = match found {
            None if may_begin => self.create(&keys, &step, watch),
            found => found,
        };
        if let Some(slot) = slot {
            self.slots.share(slot, &mut self.lives, &keys, names);
            self.step(slot, step, watch);
        }
    }

    /// What a message answers, if that comes later in the log, though it was sent before.
    fn awaited(&self, held: &Held) -> Option<usize> {
        let Held {
            keys, step, about, ..
        } = held;
        match step.kind {
            StepKind::Execution { .. } | StepKind::CancelReject { .. } => {
                let id = keys.id?;
                let mut holders = self.slots.of(keys.id).iter();
                // An order that has ended, or was not heard of for long, may be one of another day.
                let is_live = |open: &Open| !open.life.state.is_end() && !is_stale(open, step);
                if holders.any(|slot| self.open(*slot).is_some_and(is_live)) {
                    return None;
                }
                self.window.before(step, |other| {
                    other.keys.id == Some(id) && window::is_answered(other.step.kind)
                })
            }
            StepKind::Reject | StepKind::BusinessReject => {
                let number = keys.about?;
                if !self.rejected(keys, *about, step).is_empty() {
                    return None;
                }
                let is_it = |other: &Held| other.keys.number == Some(number);
                self.window.before(step, is_it)
            }
            StepKind::DontKnow => {
                let order = keys.order?;
                if !self.slots.of(keys.order).is_empty() {
                    return None;
                }
                let is_it = |other: &Held| other.keys.order == Some(order);
                self.window.before(step, is_it)
            }
            _ => None,
        }
    }

    /// Whether an execution of no order of its session is a copy of one of another session: it says so with
    /// CopyMsgIndicator (797), or has the OrderID (37) and ExecID (17) that the same party sent before.
    fn is_drop_copy(&self, step: &Step) -> bool {
        let StepKind::Execution { .. } = step.kind else {
            return false;
        };
        let (Some(id), Some(order)) = (step.get(11), step.get(37)) else {
            return false;
        };
        let says_so = step.get(797) == Some(b"Y");
        let exec_id = step.get(17);
        if !says_so && exec_id.is_none() {
            return false;
        }
        let is_of = |slot: &u32| {
            let Some(open) = self.open(*slot) else {
                return false;
            };
            let is_same = |other: &Step| {
                matches!(other.kind, StepKind::Execution { .. })
                    && other.get(37) == Some(order)
                    && (says_so || other.get(17) == exec_id)
            };
            open.parties != [step.target, step.sender] && open.life.steps.iter().any(is_same)
        };
        let has_it = |party: u32| {
            let key = keys::key(keys::RELAY, [party; 2], id);
            self.slots.of(Some(key)).iter().any(is_of)
        };
        let parties = self.parties.len();
        has_it(step.sender)
            || (says_so && parties <= COPIED_PARTIES_MAX && (0..parties as u32).any(has_it))
    }

    fn create(&mut self, keys: &Keys, step: &Step, watch: &mut dyn Watch) -> Option<u32> {
        let used = self.lives.len() - self.free.len() - self.told_orders;
        if used >= LIVES_MAX {
            self.unfollowed += 1;
            return None;
        }
        self.open_most = self.open_most.max(used + 1);
        let number = self.next;
        self.next += 1;
        let mut open = Open::new(number, step.kind, step.sent_ns, [step.sender, step.target]);
        open.life.may_be_forgotten = open.life.is_orphan && self.forgotten > 0;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.lives.push(None);
            self.lives.len() as u32 - 1
        });
        if step.kind == StepKind::New {
            self.link_above(slot, &mut open, step, watch);
            // A log whose clock is ahead may have told of the session below before.
            self.link_below(&mut open, keys, step, watch);
        }
        if let Some(place) = self.lives.get_mut(slot as usize) {
            *place = Some(open);
        }
        Some(slot)
    }

    fn step(&mut self, slot: u32, mut step: Step, watch: &mut dyn Watch) {
        let Some(Some(open)) = self.lives.get_mut(slot as usize) else {
            return;
        };
        step.is_late = open.is_late(&step);
        let was_told = open.is_told;
        if was_told {
            open.life.again = Some(open.life.state);
            open.life.was_orphan = open.life.is_orphan;
            open.is_told = false;
            self.told_orders -= 1;
            self.told_bytes -= std::mem::take(&mut open.bytes);
        }
        let told = open.tell(&step);
        let sent = step.sent_ns;
        // The party below answers first; what is sent up is because of that.
        let (parties, below, new_ns) = (open.parties, open.downstream, open.new_ns);
        let number = open.life.number;
        let cause = below.and_then(|below| self.cause(below, &step));
        let Some(Some(open)) = self.lives.get_mut(slot as usize) else {
            return;
        };
        if open.life.steps.len() >= STEPS_MAX {
            open.life.steps.pop();
            open.life.left_out += 1;
        }
        match told.begins {
            // The log of another party had the answers first.
            true => open.life.steps.insert(0, step),
            false => open.life.steps.push(step),
        }
        for (wait, ns) in told.waits {
            match u64::try_from(ns) {
                Ok(ns) => watch.wait(wait, ns, &open.life),
                Err(_) => *self.early.entry(wait).or_default() += 1,
            }
        }
        if told.ends || (was_told && open.life.state.is_end()) {
            let end_ns = sent.unwrap_or(self.now_ns).max(self.now_ns);
            open.end_ns = Some(end_ns);
            open.ended_before = self.next;
            self.ended.push_back((end_ns, slot, number));
        }
        match (below, cause, new_ns, sent) {
            (None, _, Some(from), Some(to)) if told.is_first_answer => {
                self.hop(parties, false, to.saturating_sub(from), watch);
            }
            (_, Some((hop, from)), _, Some(to)) => {
                self.hop(hop, true, to.saturating_sub(from), watch);
            }
            _ => {}
        }
        if told.begins {
            self.waits_of_beginning(slot, watch);
        }
    }

    /// The times of an order that came after its answers: they are known only now.
    fn waits_of_beginning(&mut self, slot: u32, watch: &mut dyn Watch) {
        let Some(open) = self.open(slot) else {
            return;
        };
        let Some((begin, answers)) = open.life.steps.split_first() else {
            return;
        };
        // Where clocks differ, there is nothing to tell.
        let is_first = |answer: &Step| answer.sent_ns >= begin.sent_ns;
        if begin.sent_ns.is_none() || !answers.iter().all(is_first) {
            return;
        }
        let parties = open.parties;
        let mut again = Open::new(0, begin.kind, begin.sent_ns, parties);
        let (mut waits, mut first_ns) = (Vec::new(), None);
        for step in &open.life.steps {
            let told = again.tell(step);
            if told.is_first_answer {
                first_ns = step.sent_ns;
            }
            waits.extend(told.waits);
            again.life.steps.push(step.clone());
        }
        // Those of its requests were known before.
        waits.retain(|(wait, _)| !matches!(wait, Wait::Cancel | Wait::Replace));
        for (wait, ns) in waits {
            if let Ok(ns) = u64::try_from(ns) {
                watch.wait(wait, ns, &open.life);
            }
        }
        if open.downstream.is_none()
            && let (Some(from), Some(to)) = (begin.sent_ns, first_ns)
        {
            self.hop(parties, false, to.saturating_sub(from), watch);
        }
    }

    /// The message of the session below that an execution was sent up for: the hop and its time.
    fn cause(&self, (slot, number): (u32, u64), step: &Step) -> Option<([u32; 2], i64)> {
        let below = self.lives.get(slot as usize)?.as_ref()?;
        if below.life.number != number || step.kind.is_request() {
            return None;
        }
        let id = step.get(17);
        let is_same = |other: &&Step| match id {
            Some(id) => other.get(17) == Some(id),
            None => other.kind == step.kind && other.get(14) == step.get(14),
        };
        let mut steps = below.life.steps.iter().rev();
        let found = steps.find(|other| !other.kind.is_request() && is_same(other))?;
        Some((below.parties, found.sent_ns?))
    }

    pub(super) fn hop(&mut self, parties: [u32; 2], back: bool, ns: i64, watch: &mut dyn Watch) {
        let names = parties.map(|party| {
            self.parties
                .get(party as usize)
                .map_or(&b""[..], Vec::as_slice)
        });
        let hop = self.hops.entry(parties).or_default();
        hop.add(back, ns, &mut |back, ns| watch.hop(names, back, ns));
    }
}
