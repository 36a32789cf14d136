//! The orders of a session.

use std::collections::{HashMap, VecDeque};

use fixcore::Decimal;

/// Orders of a session that are remembered; the oldest are forgotten, open or not.
const ORDERS_MAX: usize = 1 << 16;

/// How much of an order is filled at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Fill {
    /// All of it.
    #[default]
    Full,
    /// Half of it: the rest stays open until it is canceled.
    Partial,
    /// Nothing: it stays open until it is canceled.
    None,
}

/// Where an order is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    New,
    PartiallyFilled,
    Filled,
    Canceled,
    Rejected,
}

impl State {
    /// OrdStatus (39).
    pub(super) fn ord_status(self) -> &'static [u8] {
        match self {
            Self::New => b"0",
            Self::PartiallyFilled => b"1",
            Self::Filled => b"2",
            Self::Canceled => b"4",
            Self::Rejected => b"8",
        }
    }

    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::New | Self::PartiallyFilled)
    }
}

/// An order.
#[derive(Debug, Clone)]
pub(super) struct Order {
    /// OrderID (37).
    pub(super) id: Vec<u8>,
    pub(super) symbol: Vec<u8>,
    pub(super) side: Vec<u8>,
    /// OrderQty (38), and how much of it is filled, with the same digits after the point.
    pub(super) quantity: Decimal,
    pub(super) filled: Decimal,
    /// The price of fills.
    pub(super) price: Decimal,
    pub(super) state: State,
    pub(super) rest: Rest,
    /// What reports say again: Account (1), Currency (15), OrdType (40), Price (44) and TimeInForce (59), if the
    /// order states them.
    pub(super) stated: Vec<(u32, Vec<u8>)>,
}

/// What becomes of what is not filled at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// It stays open.
    Open,
    /// It is canceled: immediate or cancel.
    Canceled,
    /// The order is filled whole or not at all: fill or kill.
    None,
}

impl Order {
    /// Fills as much as the options say; how much that was.
    pub(super) fn fill(&mut self, fill: Fill) -> Decimal {
        let all = self.quantity.mantissa;
        let filled = match fill {
            Fill::Partial if self.rest == Rest::None => 0,
            Fill::Full => all,
            Fill::Partial => (all / 2).max(1).min(all),
            Fill::None => 0,
        };
        self.filled.mantissa = filled;
        self.state = match filled {
            0 => State::New,
            some if some < all => State::PartiallyFilled,
            _ => State::Filled,
        };
        self.filled
    }

    /// Cancels what is not filled, if the order may not stay open. Returns whether there was something.
    pub(super) fn cancel_rest(&mut self) -> bool {
        let cancels = self.rest != Rest::Open && self.state.is_open();
        if cancels {
            self.state = State::Canceled;
        }
        cancels
    }

    /// LeavesQty (151).
    pub(super) fn leaves(&self) -> Decimal {
        let mantissa = match self.state.is_open() {
            true => self.quantity.mantissa.saturating_sub(self.filled.mantissa),
            false => 0,
        };
        Decimal {
            mantissa,
            scale: self.quantity.scale,
        }
    }
}

/// The orders of a session by their ClOrdID (11).
#[derive(Debug, Default)]
pub(super) struct Book {
    orders: HashMap<Box<[u8]>, Order>,
    ids: VecDeque<Box<[u8]>>,
}

impl Book {
    pub(super) fn get(&self, id: &[u8]) -> Option<&Order> {
        self.orders.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &[u8]) -> Option<&mut Order> {
        self.orders.get_mut(id)
    }

    /// Adds an order whose id is new.
    pub(super) fn add(&mut self, id: &[u8], order: Order) {
        if self.ids.len() >= ORDERS_MAX
            && let Some(oldest) = self.ids.pop_front()
        {
            self.orders.remove(&oldest);
        }
        self.orders.insert(id.into(), order);
        self.ids.push_back(id.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(quantity: &str) -> Order {
        let quantity = Decimal::parse(quantity.as_bytes()).unwrap();
        Order {
            id: b"1".to_vec(),
            symbol: b"X".to_vec(),
            side: b"1".to_vec(),
            quantity,
            filled: Decimal {
                mantissa: 0,
                scale: quantity.scale,
            },
            price: quantity,
            state: State::New,
            rest: Rest::Open,
            stated: Vec::new(),
        }
    }

    #[test]
    fn fills_leave_what_is_open() {
        for (quantity, fill, filled, leaves) in [
            ("100", Fill::Full, "100", "0"),
            ("101", Fill::Partial, "50", "51"),
            ("0.5", Fill::Partial, "0.2", "0.3"),
            ("1", Fill::Partial, "1", "0"),
            ("7", Fill::None, "0", "7"),
        ] {
            let mut order = order(quantity);
            let done = order.fill(fill);
            let found = (done.to_string(), order.leaves().to_string());
            assert_eq!(found, (filled.to_owned(), leaves.to_owned()), "{quantity}");
        }
    }

    #[test]
    fn an_order_that_may_not_wait_leaves_nothing() {
        for (rest, fill, filled, cancels) in [
            (Rest::Canceled, Fill::Partial, "50", true),
            (Rest::Canceled, Fill::None, "0", true),
            (Rest::Canceled, Fill::Full, "100", false),
            (Rest::None, Fill::Partial, "0", true),
            (Rest::None, Fill::Full, "100", false),
            (Rest::Open, Fill::Partial, "50", false),
        ] {
            let mut order = order("100");
            order.rest = rest;
            let found = (order.fill(fill).to_string(), order.cancel_rest());
            assert_eq!(found, (filled.to_owned(), cancels), "{rest:?} {fill:?}");
        }
    }

    #[test]
    fn the_oldest_orders_are_forgotten() {
        let mut book = Book::default();
        for number in 0..=ORDERS_MAX {
            book.add(number.to_string().as_bytes(), order("1"));
        }
        assert!(book.get(b"0").is_none());
        assert!(book.get(b"1").is_some());
        assert_eq!(book.orders.len(), ORDERS_MAX);
    }
}
