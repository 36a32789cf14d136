//! Fills summed up by the values that they are told apart by.

use std::cmp::Ordering;

use fixcore::value::Decimal;

use super::exact::{Exact, compare};
use super::fill::Fill;
use super::part::FillFault;

/// Digits that an average has more than the prices.
const AVERAGE_DIGITS: u32 = 6;

/// Fills with the same values.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FillRow {
    /// One for each [`GroupKey`](crate::GroupKey); `None` where messages have no such field.
    pub values: Vec<Option<Vec<u8>>>,
    /// How many executions count.
    pub executions: u64,
    /// The sum of their LastQty (32).
    pub quantity: Exact,
    /// The sum of LastQty (32) times LastPx (31).
    pub notional: Exact,
    /// The least LastPx (31).
    pub least: Option<Decimal>,
    /// The greatest LastPx (31).
    pub greatest: Option<Decimal>,
    /// How many of the executions were corrected.
    pub corrected: u64,
    /// How many others were cancelled.
    pub busted: u64,
    /// The most digits of a price behind the point.
    price_scale: u32,
}

/// How often fills are told, and how.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FillCounts {
    /// Messages that were in the logs before.
    pub duplicates: u64,
    /// Corrections.
    pub corrections: u64,
    /// Cancels of trades.
    pub busts: u64,
    /// Trades that are corrected or cancelled, but are not in the logs.
    pub unknown: u64,
    /// Trades with the ExecID of another one of the same order and day, and another quantity or price. Both count.
    pub contradictions: u64,
    /// Executions that are not counted because their values cannot be read or summed up.
    pub not_counted: u64,
    /// Executions that are not counted because there are too many fills or rows.
    pub unfollowed: u64,
}

/// An execution that is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotCounted {
    /// The log, counted from 0.
    pub log: usize,
    /// Its byte in the log.
    pub offset: u64,
    /// Why.
    pub fault: FillFault,
}

impl FillRow {
    /// The average price, weighted by quantity: with six digits more than the prices have, the last one rounded. `None`
    /// where nothing was traded.
    #[must_use]
    pub fn average(&self) -> Option<Exact> {
        let scale = self.price_scale + AVERAGE_DIGITS;
        self.notional.over(self.quantity, scale)
    }

    /// The most digits of a price behind the point.
    #[must_use]
    pub fn price_scale(&self) -> u32 {
        self.price_scale
    }

    /// Adds a trade. `None` if a sum has too many digits: then nothing is added.
    fn add(&mut self, quantity: Decimal, price: Decimal) -> Option<()> {
        let (of, at) = (Exact::from(quantity), Exact::from(price));
        let sum = self.quantity.plus(of)?;
        let notional = self.notional.plus(of.times(at)?)?;
        (self.quantity, self.notional) = (sum, notional);
        self.executions += 1;
        self.price_scale = self.price_scale.max(u32::from(price.scale));
        let is = |known: Option<Decimal>, order: Ordering| {
            known.is_none_or(|known| compare(price, known) == order)
        };
        if is(self.least, Ordering::Less) {
            self.least = Some(price);
        }
        if is(self.greatest, Ordering::Greater) {
            self.greatest = Some(price);
        }
        Some(())
    }
}

/// The rows of fills, by their values, and the fills that make a sum too large.
pub(super) fn rows(
    keys: impl Iterator<Item = Vec<Option<Vec<u8>>>>,
    fills: &[Fill],
) -> (Vec<FillRow>, Vec<NotCounted>) {
    let mut rows: Vec<_> = keys
        .map(|values| FillRow {
            values,
            ..FillRow::default()
        })
        .collect();
    let mut too_large = Vec::new();
    for fill in fills {
        let Some(row) = rows.get_mut(fill.row as usize) else {
            continue;
        };
        if fill.is_busted {
            row.busted += 1;
            continue;
        }
        // A correction may leave nothing of a trade.
        if fill.quantity.mantissa == 0 {
            row.busted += 1;
            continue;
        }
        if row.add(fill.quantity, fill.price).is_none() {
            too_large.push(NotCounted {
                log: fill.log as usize,
                offset: fill.offset,
                fault: FillFault::TooLarge,
            });
            continue;
        }
        row.corrected += u64::from(fill.is_corrected);
    }
    rows.sort_by(|a, b| a.values.cmp(&b.values));
    (rows, too_large)
}
