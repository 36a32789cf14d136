//! What becomes of an order, and all messages about it with their times.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng as _;

use super::post::{Letter, Party, way_ns};
use super::truth::{Outage, Truth};

/// Symbols and their prices in hundredths.
const SYMBOLS: [(&str, u64); 8] = [
    ("MSFT", 41_250),
    ("AAPL", 19_810),
    ("VOD.L", 7_320),
    ("BNP.PA", 6_125),
    ("IBM", 18_730),
    ("SAP.DE", 17_480),
    ("GE", 16_005),
    ("HALT", 1_000),
];
/// The last of them is halted.
const HALTED: usize = 7;
const SECOND_NS: u64 = 1_000_000_000;

/// What becomes of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Filled,
    GateRejects,
    VenueRejects,
    Cancelled,
    TooLate,
    Replaced,
    Unanswered,
    Open,
    Expired,
}

/// Writes the messages of one order.
pub(super) struct Story<'r> {
    random: &'r mut SplitMix64,
    outage: Outage,
    /// What is sent, with its time.
    pub(super) letters: Vec<(u64, Letter)>,
    client: Party,
    venue: Party,
    number: u64,
    executions: u64,
    symbol: &'static str,
    side: u64,
    price: u64,
    quantity: u64,
    filled: u64,
    /// Price times quantity of what is filled.
    paid: u64,
    truth: Truth,
}

/// The last ids of an order, as clients have it and as venues do.
#[derive(Debug, Clone)]
struct Ids {
    id: String,
    below: String,
}

fn decimal(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

impl<'r> Story<'r> {
    /// All messages of an order that is sent at some time of the day; the day ends at `close_ns`.
    pub(super) fn tell(
        random: &'r mut SplitMix64,
        outage: Outage,
        number: u64,
        clients: u32,
        at_ns: u64,
        close_ns: u64,
    ) -> (Vec<(u64, Letter)>, Truth) {
        let any = random.next_u64();
        let fate = match any % 1000 {
            0..560 => Fate::Filled,
            560..600 => Fate::GateRejects,
            600..640 => Fate::VenueRejects,
            640..760 => Fate::Cancelled,
            760..790 => Fate::TooLate,
            790..900 => Fate::Replaced,
            900..906 => Fate::Unanswered,
            906..930 => Fate::Open,
            _ => Fate::Expired,
        };
        let symbol = match fate {
            Fate::VenueRejects => HALTED,
            _ => (random.next_u64() % HALTED as u64) as usize,
        };
        let (symbol, price) = SYMBOLS[symbol];
        let price = price + random.next_u64() % 200;
        let client = Party::Client((random.next_u64() % u64::from(clients.max(1))) as u32);
        let venue = Party::Venue((random.next_u64() % 3) as u32);
        let quantity = 100 * (1 + random.next_u64() % 50);
        let truth = Truth {
            id: format!("C{number:09}"),
            client: client.name(),
            ..Truth::default()
        };
        let mut story = Self {
            random,
            outage,
            letters: Vec::new(),
            client,
            venue,
            number,
            executions: 0,
            symbol,
            side: 1 + any / 1000 % 2,
            price,
            quantity,
            filled: 0,
            paid: 0,
            truth,
        };
        story.live(fate, at_ns, close_ns);
        story.truth.filled = story.filled;
        story.truth.quantity = story.quantity;
        story.truth.messages = story.letters.len() as u64;
        (story.letters, story.truth)
    }

    fn way(&mut self) -> u64 {
        way_ns(self.random.next_u64())
    }

    /// How long a party thinks.
    fn think(&mut self) -> u64 {
        10_000 + self.random.next_u64() % 60_000
    }

    /// Sends a message at some time; when it is there.
    fn send(
        &mut self,
        at_ns: u64,
        from: Party,
        to: Party,
        msg_type: &'static str,
        body: String,
    ) -> u64 {
        let is_router = |party| party == Party::Router;
        let is_hop = from == Party::Gate && is_router(to) || is_router(from) && to == Party::Gate;
        let mut there_ns = at_ns + self.way();
        let is_out = is_hop && self.outage.has(at_ns, there_ns);
        if is_out {
            there_ns = self.outage.resent_ns + self.way();
        }
        let body = format!("{body}60={}\x01", from.time(at_ns));
        let letter = Letter {
            from,
            to,
            msg_type,
            body,
            there_ns,
            is_lost: is_out,
        };
        self.letters.push((at_ns, letter));
        there_ns
    }

    /// A request of the client on its way to the venue: when it is there.
    fn down(&mut self, at_ns: u64, msg_type: &'static str, ids: [&Ids; 2], rest: &str) -> u64 {
        let [new, old] = ids;
        let is_new = msg_type == "D";
        let own = |id: &str, of: &str| match is_new {
            true => format!("11={id}\x01"),
            false => format!("41={of}\x0111={id}\x01"),
        };
        let body = format!("{}{rest}", own(&new.id, &old.id));
        let mut at = self.send(at_ns, self.client, Party::Gate, msg_type, body.clone());
        at += self.think();
        at = self.send(at, Party::Gate, Party::Router, msg_type, body);
        at += self.think();
        let body = format!("{}526={}\x01{rest}", own(&new.below, &old.below), new.id);
        self.send(at, Party::Router, self.venue, msg_type, body)
    }

    /// An answer of the venue on its way to the client: when the gate sends it.
    fn up(&mut self, at_ns: u64, msg_type: &'static str, ids: [&Ids; 2], rest: &str) -> u64 {
        let [new, old] = ids;
        let is_other = new.id != old.id;
        let own = |id: &str, of: &str| match is_other {
            true => format!("11={id}\x0141={of}\x01"),
            false => format!("11={id}\x01"),
        };
        let below = format!(
            "37={}-{}\x01{}{rest}",
            self.venue.name(),
            self.number,
            own(&new.below, &old.below)
        );
        let above = format!("37=R-{}\x01{}{rest}", self.number, own(&new.id, &old.id));
        let mut at = self.send(at_ns, self.venue, Party::Router, msg_type, below);
        at += self.think();
        at = self.send(at, Party::Router, Party::Gate, msg_type, above.clone());
        at += self.think();
        self.send(at, Party::Gate, self.client, msg_type, above);
        at
    }

    /// An execution report: when the gate sends it.
    fn report(
        &mut self,
        at_ns: u64,
        ids: [&Ids; 2],
        exec_type: char,
        status: char,
        rest: &str,
    ) -> u64 {
        self.executions += 1;
        let average = self.paid.checked_div(self.filled).unwrap_or(0);
        let ended = "248C".contains(status);
        let left = if ended {
            0
        } else {
            self.quantity - self.filled
        };
        let body = format!(
            "17=E{}-{}\x01150={exec_type}\x0139={status}\x0155={}\x0154={}\x0138={}\x01{rest}14={}\x01151={left}\x016={}\x01",
            self.number,
            self.executions,
            self.symbol,
            self.side,
            self.quantity,
            self.filled,
            decimal(average),
        );
        self.up(at_ns, "8", ids, &body)
    }

    /// Fills some: when the gate sends that.
    fn fill(&mut self, at_ns: u64, ids: [&Ids; 2], quantity: u64) -> u64 {
        let better = self.random.next_u64() % 20;
        // No worse than the limit.
        let price = match self.side {
            1 => self.price - better,
            _ => self.price + better,
        };
        self.filled += quantity;
        self.paid += quantity * price;
        let status = if self.filled == self.quantity {
            '2'
        } else {
            '1'
        };
        let rest = format!("32={quantity}\x0131={}\x01", decimal(price));
        self.report(at_ns, ids, 'F', status, &rest)
    }

    fn order(&self) -> String {
        format!(
            "21=1\x0155={}\x0154={}\x0138={}\x0140=2\x0144={}\x0159=0\x01",
            self.symbol,
            self.side,
            self.quantity,
            decimal(self.price)
        )
    }

    fn live(&mut self, fate: Fate, at_ns: u64, close_ns: u64) {
        let first = Ids {
            id: self.truth.id.clone(),
            below: format!("R{:09}", self.number),
        };
        let ids = [&first, &first];
        let sent_ns = self.client.stamp_ns(at_ns);
        let since = |gate_ns: u64| Party::Gate.stamp_ns(gate_ns) - sent_ns;
        if fate == Fate::GateRejects {
            let body = format!("11={}\x01{}", first.id, self.order());
            let there = self.send(at_ns, self.client, Party::Gate, "D", body);
            let at = there + self.think();
            let text = "Order value exceeds limit";
            let body = format!(
                "37=NONE\x0111={}\x0117=G{}\x01150=8\x0139=8\x01103=3\x0158={text}\x0155={}\x0154={}\x0114=0\x01151=0\x016=0\x01",
                first.id, self.number, self.symbol, self.side
            );
            self.send(at, Party::Gate, self.client, "8", body);
            self.truth
                .end("rejected", text, Some(since(at)), None, Some(since(at)));
            return;
        }
        let order = self.order();
        let there = self.down(at_ns, "D", ids, &order);
        if fate == Fate::Unanswered {
            self.truth.end("unanswered", "", None, None, None);
            return;
        }
        let at = there + self.think();
        if fate == Fate::VenueRejects {
            let text = "Trading in HALT is suspended";
            let rest = format!("103=2\x0158={text}\x01");
            let gate = self.report(at, ids, '8', '8', &rest);
            self.truth
                .end("rejected", text, Some(since(gate)), None, Some(since(gate)));
            return;
        }
        let answered = self.report(at, ids, '0', '0', "");
        let answered = Some(since(answered));
        let mut at = at + SECOND_NS / 20 + self.random.next_u64() % (5 * SECOND_NS);
        let mut first_fill = None;
        // Some are filled in part before anything else happens.
        let parts = match fate {
            Fate::Filled => 1 + self.random.next_u64() % 4,
            _ => self.random.next_u64() % 3,
        };
        let mut last = None;
        for part in 0..parts {
            let open = self.quantity - self.filled;
            let is_last = fate == Fate::Filled && part + 1 == parts;
            let some = match is_last {
                true => open,
                false => (open / 200 * 100).max(if open > 100 { 100 } else { 0 }),
            };
            if some == 0 {
                continue;
            }
            let gate = self.fill(at, ids, some);
            first_fill.get_or_insert(since(gate));
            last = Some(gate);
            at += SECOND_NS / 50 + self.random.next_u64() % (2 * SECOND_NS);
        }
        let next = Ids {
            id: format!("{}.2", first.id),
            below: format!("{}.2", first.below),
        };
        let wait = 2 * SECOND_NS;
        match fate {
            Fate::Filled => {
                self.truth
                    .end("filled", "", answered, first_fill, last.map(since));
            }
            Fate::Cancelled => {
                let rest = format!(
                    "55={}\x0154={}\x0138={}\x01",
                    self.symbol, self.side, self.quantity
                );
                let there = self.down(at + wait, "F", [&next, &first], &rest);
                let at = there + self.think();
                let gate = self.report(at, [&next, &first], '4', '4', "");
                self.truth
                    .end("cancelled", "", answered, first_fill, Some(since(gate)));
            }
            Fate::TooLate => {
                let open = self.quantity - self.filled;
                let gate = self.fill(at, ids, open);
                first_fill.get_or_insert(since(gate));
                let rest = format!(
                    "55={}\x0154={}\x0138={}\x01",
                    self.symbol, self.side, self.quantity
                );
                let there = self.down(at + wait, "F", [&next, &first], &rest);
                let at = there + self.think();
                self.up(
                    at,
                    "9",
                    [&next, &first],
                    "39=2\x01434=1\x01102=0\x0158=Too late to cancel\x01",
                );
                self.truth
                    .end("filled", "", answered, first_fill, Some(since(gate)));
            }
            Fate::Replaced => {
                self.quantity += 500;
                let order = self.order();
                let there = self.down(at + wait, "G", [&next, &first], &order);
                let at = there + self.think();
                let status = if self.filled > 0 { '1' } else { '0' };
                self.report(at, [&next, &first], '5', status, "");
                let open = self.quantity - self.filled;
                let gate = self.fill(at + wait, [&next, &next], open);
                first_fill.get_or_insert(since(gate));
                self.truth
                    .end("filled", "", answered, first_fill, Some(since(gate)));
            }
            Fate::Expired => {
                let at = close_ns.max(at) + self.random.next_u64() % SECOND_NS;
                let gate = self.report(at, ids, 'C', 'C', "");
                self.truth
                    .end("expired", "", answered, first_fill, Some(since(gate)));
            }
            _ => {
                let state = if self.filled > 0 {
                    "partially-filled"
                } else {
                    "open"
                };
                self.truth.end(state, "", answered, first_fill, None);
            }
        }
    }
}
