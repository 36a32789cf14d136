//! Where orders are, by their keys: one key may be that of several orders.

use std::collections::HashMap;

use super::keys::Keys;
use super::open::Open;
use crate::hash::OwnHash;

/// Orders of one key that are told apart; of more, the latest.
const HOLDERS_MAX: usize = 32;

/// The places of orders by their keys.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// The latest order of each key.
    last: HashMap<u128, u32, OwnHash>,
    /// The keys of several orders, the latest last.
    shared: HashMap<u128, Vec<u32>, OwnHash>,
}

impl Slots {
    /// The orders of a key, the latest last.
    pub(super) fn of(&self, key: Option<u128>) -> &[u32] {
        let Some(key) = key else {
            return &[];
        };
        let Some(last) = self.last.get(&key) else {
            return &[];
        };
        if self.shared.is_empty() {
            return std::slice::from_ref(last);
        }
        let shared = self.shared.get(&key);
        shared.map_or(std::slice::from_ref(last), Vec::as_slice)
    }

    /// The latest order of a key.
    pub(super) fn last(&self, key: Option<u128>) -> Option<u32> {
        self.last.get(&key?).copied()
    }

    /// Makes an order be found under the keys of a message. What the other side says of it (`names` is false) is no
    /// reason to find it under the id of another one.
    pub(super) fn share(
        &mut self,
        slot: u32,
        lives: &mut [Option<Open>],
        keys: &Keys,
        names: bool,
    ) {
        let Some(Some(open)) = lives.get_mut(slot as usize) else {
            return;
        };
        let [one, other] = keys.sent;
        for key in [keys.order, keys.number, keys.relay, one, other] {
            self.add(key, slot, open);
        }
        if names || self.of(keys.id).is_empty() {
            self.add(keys.id, slot, open);
        }
        if self.of(keys.original).is_empty() {
            self.add(keys.original, slot, open);
        }
    }

    fn add(&mut self, key: Option<u128>, slot: u32, open: &mut Open) {
        let Some(key) = key else {
            return;
        };
        let before = self.last.insert(key, slot);
        let Some(before) = before else {
            open.keys.push(key);
            return;
        };
        if before == slot {
            return;
        }
        let shared = self.shared.entry(key).or_insert_with(|| vec![before]);
        // It stays where it is among them.
        if shared.contains(&slot) {
            self.last.insert(key, before);
            return;
        }
        shared.push(slot);
        open.keys.push(key);
        if shared.len() > HOLDERS_MAX {
            shared.remove(0);
        }
    }

    /// An order is no longer found under a key.
    pub(super) fn remove(&mut self, key: u128, slot: u32) {
        let Some(shared) = self.shared.get_mut(&key) else {
            if self.last.get(&key) == Some(&slot) {
                self.last.remove(&key);
            }
            return;
        };
        shared.retain(|holder| *holder != slot);
        if let Some(last) = shared.last() {
            self.last.insert(key, *last);
        } else {
            self.last.remove(&key);
        }
        if shared.len() < 2 {
            self.shared.remove(&key);
        }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.last.clear();
        self.shared.clear();
    }
}
