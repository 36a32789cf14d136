//! What the application does with orders and cancels.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use fixcore::{Decimal, Message, Timestamp};

use super::answers::{
    Answer, DUPLICATE, Execution, NotCanceled, cancel_reject, execution_report, version,
};
use super::book::{Book, Fill, Order, Rest, State};
use crate::application::{Application, Outbox, Received, Refusal};
use crate::id::SessionId;
use crate::version::Protocol;

/// What [`Orders`] does with orders.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OrdersOptions {
    /// How much of an order is filled at once. Default: all.
    pub fill: Fill,
    /// Each order of this number, of all sessions, is rejected: 3 rejects every third one. Default: none.
    pub reject_every: Option<u64>,
    /// The price of an order without one (44). Default: 100.
    pub market_price: Decimal,
    /// What OrderID (37) and ExecID (17) begin with. Two runs need different ones, as ids must not come again.
    /// Default: empty.
    pub id_prefix: String,
}

impl Default for OrdersOptions {
    fn default() -> Self {
        Self {
            fill: Fill::default(),
            reject_every: None,
            market_price: Decimal {
                mantissa: 100,
                scale: 0,
            },
            id_prefix: String::new(),
        }
    }
}

/// How many messages [`Orders`] answered, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderCounts {
    /// Orders that were accepted.
    pub accepted: u64,
    /// Orders that were rejected.
    pub rejected: u64,
    /// Orders that were canceled.
    pub canceled: u64,
    /// Cancels that were rejected.
    pub cancels_rejected: u64,
}

/// Answers NewOrderSingle with an ExecutionReport New and one of what is filled, and OrderCancelRequest with an
/// ExecutionReport Canceled or an OrderCancelReject, with the fields of the session's version. What an order does not
/// let wait (TimeInForce IOC or FOK) is canceled at once. An order whose
/// ClOrdID (11) was seen is rejected, or dropped if it says PossResend (97) `Y`. Other application messages are not
/// supported, and the session says so. The last 65,536 orders of each session are remembered.
#[derive(Debug, Default)]
pub struct Orders {
    options: OrdersOptions,
    books: HashMap<SessionId, Book>,
    counts: OrderCounts,
    /// Orders that came, and ids that were given out.
    came: u64,
    ids: u64,
}

impl Orders {
    /// An application without orders.
    #[must_use]
    pub fn new(options: OrdersOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// What it did so far.
    #[must_use]
    pub fn counts(&self) -> OrderCounts {
        self.counts
    }

    fn next_id(&mut self) -> Vec<u8> {
        self.ids += 1;
        format!("{}{}", self.options.id_prefix, self.ids).into_bytes()
    }

    fn report(
        &mut self,
        (id, received): (&SessionId, &Received<'_>),
        order: &Order,
        execution: Execution<'_>,
        out: &mut Outbox,
    ) {
        let exec_id = self.next_id();
        let answer = Answer {
            version: version(id, received.message, received.dictionary),
            message: received.message,
            exec_id: &exec_id,
            time: now(),
        };
        out.with(b"8", |bytes| {
            execution_report(answer, order, execution, bytes)
        });
    }

    fn order(
        &mut self,
        id: &SessionId,
        received: &Received<'_>,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        let message = received.message;
        let client_id = required(message, 11)?;
        let seen = self
            .books
            .get(id)
            .and_then(|book| book.get(client_id))
            .is_some();
        if seen && received.poss_resend {
            return Ok(());
        }
        let mut order = self.read(message)?;
        self.came += 1;
        let is_unlucky = self
            .options
            .reject_every
            .is_some_and(|every| self.came.is_multiple_of(every.max(1)));
        let refused: Option<(&[u8], &str)> = if seen {
            // Before FIX 4.2 there is no reason of its own for it.
            let has_reason = version(id, message, received.dictionary) >= Protocol::Fix42;
            Some((if has_reason { b"6" } else { b"0" }, DUPLICATE))
        } else if order.quantity.mantissa <= 0 {
            Some((b"0", "OrderQty must be more than 0"))
        } else if needs_price(message) && message.get(44).is_none() {
            Some((b"0", "Price (44) is missing"))
        } else if is_unlucky {
            Some((b"0", "Rejected as asked for"))
        } else {
            None
        };
        if let Some((reason, text)) = refused {
            order.state = State::Rejected;
            self.counts.rejected += 1;
            self.report(
                (id, received),
                &order,
                Execution::Rejected(reason, text),
                out,
            );
        } else {
            self.counts.accepted += 1;
            self.report((id, received), &order, Execution::New, out);
            if order.fill(self.options.fill).mantissa > 0 {
                self.report((id, received), &order, Execution::Fill, out);
            }
            if order.cancel_rest() {
                self.report((id, received), &order, Execution::Canceled, out);
            }
        }
        if !seen {
            self.books
                .entry(id.clone())
                .or_default()
                .add(client_id, order);
        }
        Ok(())
    }

    fn read(&mut self, message: &Message<'_, '_>) -> Result<Order, Refusal> {
        let quantity = message.get(38).ok_or_else(|| Refusal::Business {
            reason: 5,
            text: Some("OrderQty (38) is missing".to_owned()),
            reference: None,
        })?;
        let (symbol, side) = (required(message, 55)?, required(message, 54)?);
        let quantity = decimal(quantity, 38)?;
        let price = message
            .get(44)
            .map(|price| decimal(price, 44))
            .transpose()?;
        Ok(Order {
            id: self.next_id(),
            symbol: symbol.to_vec(),
            side: side.to_vec(),
            quantity,
            filled: Decimal {
                mantissa: 0,
                scale: quantity.scale,
            },
            price: price.unwrap_or(self.options.market_price),
            state: State::New,
            rest: match message.get(59) {
                Some(b"3") => Rest::Canceled,
                Some(b"4") => Rest::None,
                _ => Rest::Open,
            },
            stated: STATED
                .into_iter()
                .filter_map(|tag| Some((tag, message.get(tag)?.to_vec())))
                .collect(),
        })
    }

    fn cancel(
        &mut self,
        id: &SessionId,
        received: &Received<'_>,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        let message = received.message;
        let original = required(message, 41)?;
        let own = required(message, 11)?;
        let mut book = self.books.get_mut(id);
        let is_taken = book.as_ref().is_some_and(|book| book.get(own).is_some());
        let mut order = book.as_mut().and_then(|book| book.get_mut(original));
        let differs = |tag, known: &[u8]| message.get(tag).is_some_and(|stated| stated != known);
        let refused = match &order {
            None => Some(NotCanceled::Unknown("Unknown order")),
            Some(_) if is_taken => Some(NotCanceled::Duplicate),
            Some(order) if differs(55, &order.symbol) => {
                Some(NotCanceled::Unknown("Symbol (55) is not that of the order"))
            }
            Some(order) if differs(54, &order.side) => {
                Some(NotCanceled::Unknown("Side (54) is not that of the order"))
            }
            Some(order) if !order.state.is_open() => Some(NotCanceled::TooLate),
            Some(_) => None,
        };
        if let (Some(open), None) = (order.as_mut(), refused) {
            open.state = State::Canceled;
            let canceled = open.clone();
            self.counts.canceled += 1;
            self.report((id, received), &canceled, Execution::Canceled, out);
        } else {
            let version = version(id, message, received.dictionary);
            self.counts.cancels_rejected += 1;
            let why = refused.unwrap_or(NotCanceled::TooLate);
            out.with(b"9", |bytes| {
                cancel_reject(version, message, (order.as_deref(), why), bytes)
            });
        }
        Ok(())
    }
}

impl Application for Orders {
    fn from_app(
        &mut self,
        id: &SessionId,
        received: &Received<'_>,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        match received.message.msg_type() {
            b"D" => self.order(id, received, out),
            b"F" => self.cancel(id, received, out),
            _ => Err(Refusal::UnsupportedType),
        }
    }
}

/// The fields of an order that its reports say again.
const STATED: [u32; 5] = [1, 15, 40, 44, 59];

/// Whether the OrdType (40) is limit or stop limit.
fn needs_price(message: &Message<'_, '_>) -> bool {
    matches!(message.get(40), Some(b"2" | b"4"))
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let ns = since.map_or(0, |since| since.as_nanos());
    Timestamp(i64::try_from(ns).unwrap_or(i64::MAX))
}

/// A field that the message must have.
fn required<'m>(message: &Message<'_, 'm>, tag: u32) -> Result<&'m [u8], Refusal> {
    let value = message.get(tag).filter(|value| !value.is_empty());
    value.ok_or(Refusal::missing(tag))
}

fn decimal(value: &[u8], tag: u32) -> Result<Decimal, Refusal> {
    Decimal::parse(value).ok_or(Refusal::Reject {
        reason: 6,
        tag: Some(tag),
        text: None,
    })
}
