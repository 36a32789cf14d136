//! A run: a time in which everything may happen, and a calm one in which everything must arrive.

use std::time::Duration;

use fixcore::Timestamp;

use super::line::Line;
use super::side::Side;
use crate::dictionaries::Dictionaries;
use crate::id::SessionId;
use crate::now::Now;
use crate::options::{Role, SessionOptions, TimePrecision};

/// What a run is drawn from.
pub trait Choices {
    /// A number below `below`, which is at least 1.
    fn pick(&mut self, below: u64) -> u64;

    /// Whether there is more to draw: a run that has no more becomes calm.
    fn has_more(&self) -> bool {
        true
    }
}

/// What a run was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// Application messages that both sides sent, and received.
    pub messages: u64,
    /// How often the sides were connected.
    pub connections: u64,
    /// How often bytes were lost within a connection.
    pub losses: u64,
    /// How often a side was killed and started again.
    pub restarts: u64,
    /// How often the disk of a side was full for a while.
    pub full: u64,
}

/// The most steps in which everything may happen.
const STEPS_MAX: u64 = 400;
/// The most rounds in which everything must arrive.
const CALM_ROUNDS_MAX: u64 = 4_000;

struct World<'c, C> {
    choices: &'c mut C,
    now: Now,
    sides: [Side; 2],
    /// To the side of this number.
    lines: [Line; 2],
    is_connected: bool,
    outcome: Outcome,
    log: bool,
}

/// Draws a run and makes it. `log` keeps what happened for the report of a failure.
///
/// # Errors
/// What must hold and does not: a message lost, delivered twice or out of order, a number used twice, an
/// invalid message written, or sides that do not agree in the end.
pub fn run(choices: &mut impl Choices, log: bool) -> Result<Outcome, String> {
    let now = Now {
        monotonic: Duration::from_secs(1000),
        utc: Timestamp(1_767_323_045_000_000_000),
    };
    let [initiator, acceptor] = options(choices);
    let dictionaries = match choices.pick(4) {
        0 => Dictionaries::built_in(&initiator.id.begin_string),
        _ => Dictionaries::none(),
    };
    let mut world = World {
        choices,
        now,
        sides: [initiator, acceptor].map(|options| Side::new(options, dictionaries.clone(), now)),
        lines: [Line::default(), Line::default()],
        is_connected: false,
        outcome: Outcome::default(),
        log,
    };
    if log {
        for side in &mut world.sides {
            side.app.log = Some(String::new());
        }
    }
    let done = world.all();
    done.map(|()| world.outcome)
        .map_err(|error| world.report(&error))
}

fn options(choices: &mut impl Choices) -> [SessionOptions; 2] {
    let versions = [
        "FIX.4.0", "FIX.4.1", "FIX.4.2", "FIX.4.3", "FIX.4.4", "FIXT.1.1",
    ];
    let version = versions
        .get(choices.pick(versions.len() as u64) as usize)
        .copied()
        .unwrap_or("FIX.4.4");
    let interval = Duration::from_secs(1 + choices.pick(20));
    let precision = TimePrecision(choices.pick(4) as u8 * 3);
    [("A", "B", Role::Initiator), ("B", "A", Role::Acceptor)].map(|(from, to, role)| {
        let mut options = SessionOptions::new(SessionId::new(version, from, to));
        options.role = role;
        options.heart_bt_int = interval;
        // What is on its way for too long is rejected, and so lost: the rule says so.
        options.max_latency = Duration::from_secs(86_400);
        options.timestamp_precision = precision;
        options.resend_request_chunk_size = [0, 0, 1, 2, 5][choices.pick(5) as usize % 5];
        options.closed_resend_interval = choices.pick(3) == 0;
        options.send_redundant_resend_requests = choices.pick(8) == 0;
        options.send_next_expected_msg_seq_num = choices.pick(3) == 0;
        options.enable_last_msg_seq_num_processed = choices.pick(3) == 0;
        options.queue_bytes_max = [64 << 20, 600, 2_000][choices.pick(3) as usize % 3];
        options
    })
}

impl<C: Choices> World<'_, C> {
    fn all(&mut self) -> Result<(), String> {
        let steps = STEPS_MAX.min(20 + self.choices.pick(STEPS_MAX));
        for _ in 0..steps {
            if !self.choices.has_more() {
                break;
            }
            self.step();
            self.settle()?;
        }
        self.calm()?;
        self.outcome.messages = self.sides[0].sent + self.sides[1].sent;
        Ok(())
    }

    fn report(&self, error: &str) -> String {
        let mut text = error.to_owned();
        for (side, name) in self.sides.iter().zip(["initiator", "acceptor"]) {
            let (session, app) = (&side.session, &side.app);
            text.push_str(&format!(
                "\n{name}: {:?}, sent {}, received {}, next {} out {} in, {:?}",
                session.status(),
                side.sent,
                app.came,
                session.next_sender(),
                session.next_target(),
                session.options()
            ));
            text.push_str(&format!("\n{}", app.log.as_deref().unwrap_or("")));
        }
        text
    }

    fn note(&mut self, what: &str) {
        if self.log {
            for side in &mut self.sides {
                let log = side.app.log.get_or_insert_default();
                log.push_str(what);
                log.push('\n');
            }
        }
    }

    /// One thing happens.
    fn step(&mut self) {
        let side = self.choices.pick(2) as usize % 2;
        match self.choices.pick(32) {
            0..8 => self.sides[side].send(self.now),
            8..20 => {
                let most = 1 + self.lines[side].len() as u64;
                let count = self.choices.pick(most + most / 2) as usize;
                self.arrive(side, count);
            }
            20..24 => {
                let ms = self.choices.pick(8_000);
                self.pass(Duration::from_millis(ms));
            }
            24 => {
                // The wall clock is set: no timer may follow it.
                let seconds = self.choices.pick(61) as i64 - 30;
                let utc = self.now.utc.0.saturating_add(seconds * 1_000_000_000);
                self.now.utc = Timestamp(utc);
            }
            25 | 26 => self.lose(side),
            27 if self.is_connected => {
                // Some of what is on its way arrives, then both sides see the end.
                for side in 0..2 {
                    let count = self.choices.pick(1 + self.lines[side].len() as u64) as usize;
                    self.arrive(side, count);
                }
                self.cut();
            }
            28 => self.lines[side].is_dead |= self.is_connected && self.choices.pick(3) == 0,
            29 => self.restart(side),
            30 if self.choices.pick(4) == 0 => {
                let (now, side) = (self.now, &mut self.sides[side]);
                side.session.logout("end of a part", now, &mut side.app);
            }
            31 if self.choices.pick(4) == 0 => {
                let store = self.sides[side].session.store_mut();
                store.is_full = !store.is_full;
                self.outcome.full += u64::from(store.is_full);
                self.note("the disk of a side is full, or has room again");
            }
            _ if !self.is_connected => self.connect(),
            _ => {}
        }
    }

    fn lose(&mut self, side: usize) {
        let length = self.lines[side].len();
        if length == 0 || !self.is_connected {
            return;
        }
        let at = self.choices.pick(length as u64) as usize;
        let count = 1 + self.choices.pick(12) as usize;
        self.lines[side].lose(at, count);
        self.outcome.losses += 1;
        self.note("bytes are lost");
    }

    fn restart(&mut self, side: usize) {
        if self.choices.pick(4) != 0 {
            return;
        }
        self.note("a side is killed");
        self.cut();
        let [initiator, acceptor] = &mut self.sides;
        let this = match side {
            0 => initiator,
            _ => acceptor,
        };
        let placeholder = Side::new(
            this.session.options().clone(),
            Dictionaries::none(),
            self.now,
        );
        let killed = std::mem::replace(this, placeholder);
        *this = killed.restart();
        self.outcome.restarts += 1;
    }

    fn connect(&mut self) {
        self.note("connected");
        self.is_connected = true;
        self.outcome.connections += 1;
        let now = self.now;
        for (side, line) in self.sides.iter_mut().zip(&mut self.lines) {
            line.clear();
            side.session.connected(now, &mut side.app);
        }
    }

    /// Both sides see the end of the connection.
    fn cut(&mut self) {
        if self.is_connected {
            self.note("the connection ends");
        }
        self.is_connected = false;
        let now = self.now;
        for (side, line) in self.sides.iter_mut().zip(&mut self.lines) {
            side.session.disconnected(now, &mut side.app);
            line.clear();
        }
    }

    fn arrive(&mut self, side: usize, count: usize) {
        if !self.is_connected {
            return;
        }
        let bytes = self.lines[side].arrive(count);
        let budget = 1 + self.choices.pick(4) as usize;
        let (now, side) = (self.now, &mut self.sides[side]);
        let progress = side.session.bytes(&bytes, budget, now, &mut side.app);
        let _ = progress;
    }

    fn pass(&mut self, time: Duration) {
        self.now.monotonic += time;
        let ns = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        self.now.utc = Timestamp(self.now.utc.0.saturating_add(ns));
        let now = self.now;
        for side in &mut self.sides {
            side.session.tick(now, &mut side.app);
        }
    }

    /// What is written goes on its way; what must hold is checked.
    fn settle(&mut self) -> Result<(), String> {
        let mut closes = false;
        for at in 0..2 {
            let (now, side) = (self.now, &mut self.sides[at]);
            let line = &mut self.lines[1 - at];
            while !side.session.output().is_empty() {
                let output = side.session.output().len();
                line.send(side.session.output());
                side.session.sent(output);
                side.session.bytes(&[], 0, now, &mut side.app);
            }
            if let Some(wrong) = side.wrong() {
                return Err(wrong.to_owned());
            }
            closes |= side.session.close();
        }
        if closes && self.is_connected {
            // The last bytes of the side that closes arrive.
            for at in 0..2 {
                if !self.sides[at].session.close() {
                    let rest = self.lines[at].len();
                    self.arrive(at, rest);
                    let (now, side) = (self.now, &mut self.sides[at]);
                    while side.session.bytes(&[], 8, now, &mut side.app).more {}
                }
            }
            self.cut();
        }
        Ok(())
    }

    /// Nothing bad happens any more, and everything must arrive.
    fn calm(&mut self) -> Result<(), String> {
        self.note("calm");
        for side in &mut self.sides {
            side.session.store_mut().is_full = false;
        }
        self.cut();
        for _ in 0..CALM_ROUNDS_MAX {
            if !self.is_connected {
                self.connect();
            }
            self.settle()?;
            for at in 0..2 {
                let all = self.lines[at].len();
                self.arrive(at, all);
                let (now, side) = (self.now, &mut self.sides[at]);
                while side.session.bytes(&[], 8, now, &mut side.app).more {}
            }
            self.settle()?;
            if self.lines.iter().all(|line| line.len() == 0) {
                if self.is_agreed() {
                    return Ok(());
                }
                self.pass(Duration::from_millis(500));
            }
        }
        Err("the sides do not agree after a calm time".to_owned())
    }

    fn is_agreed(&self) -> bool {
        let [a, b] = &self.sides;
        let agrees = |from: &Side, to: &Side| {
            from.sent == to.app.came && from.session.next_sender() == to.session.next_target()
        };
        agrees(a, b) && agrees(b, a)
    }
}
