//! A session that runs asks for no memory: counted by an allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use fixcore::Timestamp;
use fixsession::{
    Application, Dictionaries, MemoryStore, Now, Outbox, Received, Refusal, Session, SessionId,
    SessionOptions, Store, StoreFailure, body,
};

thread_local! {
    /// Per thread, because the test harness has threads of its own. A constant without a destructor: access
    /// allocates nothing.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`, which is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: `at` came from `alloc` above, that is from the system's allocator.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Returns each application message.
struct Echo;

impl Application for Echo {
    fn from_app(
        &mut self,
        _: &SessionId,
        received: &Received<'_>,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        let message = received.message;
        out.with(message.msg_type(), |bytes| {
            body::sorted(message, received.dictionary, bytes);
        });
        Ok(())
    }
}

/// A store that keeps numbers only.
struct Numbers(u64, u64);

impl Store for Numbers {
    fn created(&self) -> Timestamp {
        Timestamp(0)
    }

    fn next_sender(&self) -> u64 {
        self.0
    }

    fn next_target(&self) -> u64 {
        self.1
    }

    fn append(&mut self, number: u64, _: &[u8]) -> Result<(), StoreFailure> {
        self.set_next_sender(number + 1)
    }

    fn set_next_sender(&mut self, number: u64) -> Result<(), StoreFailure> {
        self.0 = number;
        Ok(())
    }

    fn set_next_target(&mut self, number: u64) -> Result<(), StoreFailure> {
        self.1 = number;
        Ok(())
    }

    fn sent(&self, _: u64) -> Result<Option<&[u8]>, StoreFailure> {
        Ok(None)
    }

    fn reset(&mut self, _: Timestamp) -> Result<(), StoreFailure> {
        (self.0, self.1) = (1, 1);
        Ok(())
    }
}

/// A time some milliseconds after the first.
fn at(ms: u64) -> Now {
    let start: Timestamp = "20260102-03:04:05".parse().expect("a time");
    Now {
        monotonic: Duration::from_millis(ms),
        utc: Timestamp(start.0 + ms as i64 * 1_000_000),
    }
}

fn message(msg_type: &str, number: u64, body: &str, now: Now) -> Vec<u8> {
    let time = now.utc.to_string();
    let body = format!("35={msg_type}|34={number}|49=BUYER|52={time}|56=SELLER|{body}");
    let mut out = Vec::new();
    fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut out);
    out
}

/// How often memory was asked for while an acceptor answered as many orders, after as many that warmed it up.
fn allocations(store: impl Store, orders: u64) -> u64 {
    let id = SessionId::new("FIX.4.4", "SELLER", "BUYER");
    let dictionaries = Dictionaries::built_in("FIX.4.4");
    let mut session = Session::new(SessionOptions::new(id), dictionaries, store);
    session.connected(at(0), &mut Echo);
    session.bytes(&message("A", 1, "98=0|108=30|", at(0)), 1, at(0), &mut Echo);
    session.sent(session.output().len());
    let body = "11=id|21=1|38=100|40=2|44=101.25|54=1|55=MSFT|59=0|60=20260105-10:00:00.000|";
    // Some 20 seconds of orders.
    let all: Vec<(Now, Vec<u8>)> = (0..2 * orders)
        .map(|it| (at(1 + it * 10), message("D", it + 2, body, at(1 + it * 10))))
        .collect();
    let mut before = 0;
    for (order, (now, bytes)) in (0..).zip(&all) {
        if order == orders {
            before = ALLOCATIONS.get();
        }
        session.bytes(bytes, 1, *now, &mut Echo);
        let output = session.output();
        assert!(
            output.ends_with(b"\x01") && output.len() > 100,
            "order {order}"
        );
        session.sent(output.len());
        assert!(session.deadline().is_some());
    }
    ALLOCATIONS.get() - before
}

#[test]
fn an_order_and_its_answer_allocate_nothing() {
    assert_eq!(allocations(Numbers(1, 1), 1_000), 0);
}

#[test]
fn a_store_in_memory_allocates_blocks_of_messages() {
    let found = allocations(MemoryStore::new(at(0).utc), 1_000);
    assert!(found <= 3, "{found} for 1,000 messages that are kept");
}
