//! Orders that have ended: they are passed on, and stay known for what comes late.

use super::book::Book;
use super::wait::Watch;

/// How long after its end an order is passed on.
const KEPT_NS: i64 = 60_000_000_000;

impl Book {
    /// Passes on the orders that ended long enough ago.
    pub(super) fn let_go(&mut self, watch: &mut dyn Watch) {
        let now_ns = self.now_ns.max(self.window.newest_ns);
        while let Some((end_ns, slot, number)) = self.ended.front().copied()
            && end_ns.saturating_add(KEPT_NS) <= now_ns
        {
            self.ended.pop_front();
            let open = self.lives.get(slot as usize).and_then(Option::as_ref);
            let is_it = open.is_some_and(|open| {
                open.life.number == number
                    && open.end_ns == Some(end_ns)
                    && open.life.state.is_end()
                    && !open.is_told
            });
            if is_it {
                self.tell(slot, watch);
            }
        }
    }

    /// Passes on an order that has ended, and keeps it for what comes late.
    fn tell(&mut self, slot: u32, watch: &mut dyn Watch) {
        let Some(Some(open)) = self.lives.get_mut(slot as usize) else {
            return;
        };
        watch.life(&open.life, &self.parties);
        open.is_told = true;
        open.times_told += 1;
        open.bytes = open.bytes_of();
        self.told_orders += 1;
        self.told_bytes += open.bytes;
        let told = (slot, open.life.number, open.times_told);
        self.told.push_back(told);
        while self.told_bytes > self.told_bytes_max
            && let Some((slot, number, times)) = self.told.pop_front()
        {
            let open = self.lives.get(slot as usize).and_then(Option::as_ref);
            let is_it = open.is_some_and(|open| {
                open.life.number == number && open.times_told == times && open.is_told
            });
            if is_it {
                self.forget(slot);
            }
        }
    }

    fn forget(&mut self, slot: u32) {
        let open = self.lives.get_mut(slot as usize).and_then(Option::take);
        let Some(open) = open else {
            return;
        };
        for key in &open.keys {
            self.slots.remove(*key, slot);
        }
        self.free.push(slot);
        self.forgotten += 1;
        self.told_orders -= 1;
        self.told_bytes -= open.bytes;
    }
}
