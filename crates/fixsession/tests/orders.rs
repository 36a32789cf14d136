//! Orders and cancels in every version: the fields that each has, checked by the dictionary of the other side.

use fixsession::{
    Application, Dictionaries, Fill, MemoryStore, Orders, OrdersOptions, Outbox, Received, Refusal,
    Role, Session, SessionId, SessionOptions,
};

use crate::common::at;

/// What a buyer got: type and fields.
#[derive(Default)]
struct Buyer {
    got: Vec<(String, String)>,
    rejected: Vec<String>,
}

fn text(received: &Received<'_>) -> String {
    let bytes = received.message.bytes();
    String::from_utf8_lossy(bytes).replace('\x01', "|")
}

impl Application for Buyer {
    fn from_app(
        &mut self,
        _: &SessionId,
        received: &Received<'_>,
        _: &mut Outbox,
    ) -> Result<(), Refusal> {
        let kind = String::from_utf8_lossy(received.message.msg_type()).into_owned();
        self.got.push((kind, text(received)));
        Ok(())
    }

    fn from_admin(
        &mut self,
        _: &SessionId,
        received: &Received<'_>,
        _: &mut Outbox,
    ) -> Result<(), Refusal> {
        if received.message.msg_type() == b"3" {
            self.rejected.push(text(received));
        }
        Ok(())
    }

    fn event(&mut self, _: &SessionId, event: &fixsession::Event<'_>) {
        if matches!(event, fixsession::Event::Rejected { .. }) {
            self.rejected.push(event.to_string());
        }
    }
}

struct Pair {
    buyer: Session<MemoryStore>,
    seller: Session<MemoryStore>,
    application: Buyer,
    orders: Orders,
}

impl Pair {
    fn new(begin_string: &str, version: Option<&str>, options: OrdersOptions) -> Self {
        let session = |from: &str, to: &str, role| {
            let mut options = SessionOptions::new(SessionId::new(begin_string, from, to));
            options.role = role;
            options.default_appl_ver_id = version.map(str::to_owned);
            let dictionaries = Dictionaries::built_in(begin_string);
            Session::new(options, dictionaries, MemoryStore::new(at(0).utc))
        };
        let mut pair = Self {
            buyer: session("B", "S", Role::Initiator),
            seller: session("S", "B", Role::Acceptor),
            application: Buyer::default(),
            orders: Orders::new(options),
        };
        pair.seller.connected(at(0), &mut pair.orders);
        pair.buyer.connected(at(0), &mut pair.application);
        pair.talk();
        pair
    }

    fn talk(&mut self) {
        loop {
            let (out, back) = (self.buyer.output().to_vec(), self.seller.output().to_vec());
            if out.is_empty() && back.is_empty() {
                return;
            }
            self.buyer.sent(out.len());
            self.seller.sent(back.len());
            self.seller.bytes(&out, 1000, at(0), &mut self.orders);
            self.buyer.bytes(&back, 1000, at(0), &mut self.application);
        }
    }

    fn send(&mut self, kind: &str, body: &str) {
        let body = body.replace('|', "\x01");
        let sent = self.buyer.send(
            kind.as_bytes(),
            body.as_bytes(),
            at(0),
            &mut self.application,
        );
        assert!(sent.unwrap().on_wire);
        self.talk();
    }

    fn order(&mut self, id: &str, more: &str) {
        let time = match self.buyer.id().begin_string.as_str() {
            "FIX.4.0" | "FIX.4.1" => "",
            _ => "60=20260102-03:04:05|",
        };
        let body = format!("11={id}|21=1|38=100|40=2|44=12.5|54=1|55=X|{time}{more}");
        self.send("D", &body);
    }

    fn cancel(&mut self, id: &str, original: &str) {
        let more = match self.buyer.id().begin_string.as_str() {
            "FIX.4.0" => "125=F|",
            "FIX.4.1" => "",
            _ => "60=20260102-03:04:05|",
        };
        let body = format!("11={id}|38=100|41={original}|54=1|55=X|{more}");
        self.send("F", &body);
    }

    /// What came, and has not been asked for: each must have all of these fields.
    fn expect(&mut self, expected: &[(&str, &[&str])]) {
        let got = std::mem::take(&mut self.application.got);
        assert_eq!(self.application.rejected, Vec::<String>::new(), "{got:?}");
        let kinds: Vec<&str> = got.iter().map(|message| message.0.as_str()).collect();
        let wanted: Vec<&str> = expected.iter().map(|message| message.0).collect();
        assert_eq!(kinds, wanted, "{got:?}");
        for ((_, message), (_, fields)) in got.iter().zip(expected) {
            for field in *fields {
                assert!(
                    message.contains(&format!("|{field}|")),
                    "{field}: {message}"
                );
            }
        }
    }
}

const VERSIONS: [(&str, Option<&str>); 8] = [
    ("FIX.4.0", None),
    ("FIX.4.1", None),
    ("FIX.4.2", None),
    ("FIX.4.3", None),
    ("FIX.4.4", None),
    ("FIXT.1.1", Some("7")),
    ("FIXT.1.1", Some("8")),
    ("FIXT.1.1", Some("9")),
];

fn options(change: impl FnOnce(&mut OrdersOptions)) -> OrdersOptions {
    let mut options = OrdersOptions::default();
    change(&mut options);
    options
}

#[test]
fn orders_are_filled_in_every_version() {
    for (begin_string, version) in VERSIONS {
        let mut pair = Pair::new(begin_string, version, OrdersOptions::default());
        pair.order("a", "");
        let new = [
            "37=1", "11=a", "39=0", "14=0", "6=0", "55=X", "54=1", "38=100",
        ];
        let filled = ["37=1", "39=2", "32=100", "31=12.5", "14=100", "6=12.5"];
        pair.expect(&[("8", &new), ("8", &filled)]);
        pair.order("a", "");
        let has_reason = !matches!(begin_string, "FIX.4.0" | "FIX.4.1");
        let reason = if has_reason { "103=6" } else { "103=0" };
        pair.expect(&[("8", &["39=8", reason, "58=Duplicate ClOrdID"])]);
        pair.cancel("c", "a");
        pair.expect(&[("9", &["37=1", "11=c", "102=0"])]);
        pair.cancel("d", "unknown");
        pair.expect(&[("9", &["37=NONE", "11=d", "102=1"])]);
        let counts = pair.orders.counts();
        assert_eq!((counts.accepted, counts.rejected), (1, 1));
        assert_eq!((counts.canceled, counts.cancels_rejected), (0, 2));
    }
}

#[test]
fn what_is_open_is_canceled_in_every_version() {
    for (begin_string, version) in VERSIONS {
        let partial = options(|options| options.fill = Fill::Partial);
        let mut pair = Pair::new(begin_string, version, partial);
        pair.order("a", "");
        pair.expect(&[("8", &["39=0"]), ("8", &["39=1", "32=50", "14=50"])]);
        pair.cancel("c", "a");
        pair.expect(&[("8", &["39=4", "11=c", "14=50", "37=1"])]);
        pair.cancel("d", "a");
        pair.expect(&[("9", &["102=0"])]);
    }
}

#[test]
fn every_nth_order_is_rejected_and_routes_are_turned_round() {
    let third = options(|options| {
        options.reject_every = Some(3);
        options.fill = Fill::None;
        options.id_prefix = "p".to_owned();
    });
    let mut pair = Pair::new("FIX.4.4", None, third);
    pair.order("a", "50=desk|115=CLIENT|");
    pair.expect(&[("8", &["37=p1", "57=desk", "128=CLIENT", "151=100", "150=0"])]);
    pair.order("b", "");
    pair.expect(&[("8", &["39=0"])]);
    pair.order("c", "");
    pair.expect(&[("8", &["39=8", "150=8", "103=0", "151=0", "14=0"])]);
    // The same order, sent once more by its application, is no new order.
    pair.order("b", "97=Y|");
    pair.expect(&[]);
    // It trades orders only.
    pair.send("C", "164=1|94=0|147=s|33=1|58=t|");
    pair.expect(&[("j", &["380=3"])]);
}

#[test]
fn reports_say_what_the_order_stated_and_when() {
    for (begin_string, version) in VERSIONS {
        let mut pair = Pair::new(begin_string, version, OrdersOptions::default());
        pair.order("a", "1=ACCOUNT|15=EUR|59=0|");
        let stated = ["1=ACCOUNT", "15=EUR", "40=2", "44=12.5", "59=0"];
        let got: Vec<String> = pair
            .application
            .got
            .iter()
            .map(|one| one.1.clone())
            .collect();
        assert!(
            got.iter().all(|report| report.contains("|60=20")),
            "{got:?}"
        );
        pair.expect(&[("8", &stated), ("8", &stated)]);
    }
}

#[test]
fn what_may_not_wait_is_canceled_in_every_version() {
    for (begin_string, version) in VERSIONS {
        let partial = options(|options| options.fill = Fill::Partial);
        let mut pair = Pair::new(begin_string, version, partial);
        pair.order("ioc", "59=3|");
        let canceled = ["39=4", "14=50"];
        pair.expect(&[("8", &["39=0"]), ("8", &["39=1"]), ("8", &canceled)]);
        pair.order("fok", "59=4|");
        pair.expect(&[("8", &["39=0"]), ("8", &["39=4", "14=0"])]);
    }
}

#[test]
fn orders_and_cancels_that_cannot_be_meant_are_rejected() {
    let none = options(|options| options.fill = Fill::None);
    for (begin_string, version) in VERSIONS {
        let mut pair = Pair::new(begin_string, version, none.clone());
        let time = match begin_string {
            "FIX.4.0" | "FIX.4.1" => "",
            _ => "60=20260102-03:04:05|",
        };
        pair.send("D", &format!("11=p|21=1|38=100|40=2|54=1|55=X|{time}"));
        pair.expect(&[("8", &["39=8", "58=Price (44) is missing"])]);
        pair.order("a", "");
        pair.order("b", "");
        pair.application.got.clear();
        pair.cancel("b", "a");
        pair.expect(&[("9", &["58=Duplicate ClOrdID"])]);
        let more = match begin_string {
            "FIX.4.0" => "125=F|",
            _ => time,
        };
        for (side, symbol, text) in [("2", "X", "Side (54)"), ("1", "Y", "Symbol (55)")] {
            let body = format!("11=c|38=100|41=a|54={side}|55={symbol}|{more}");
            pair.send("F", &body);
            let text = format!("58={text} is not that of the order");
            pair.expect(&[("9", &["102=1", &text])]);
        }
        pair.cancel("c", "a");
        pair.expect(&[("8", &["39=4"])]);
    }
}
