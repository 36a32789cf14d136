//! An engine in memory that loses, delays, repeats and reorders, for tests under a clock that tokio simulates.
//!
//! It keeps the promises of a broker and no others: what is stored stays, a message whose id is known within the window
//! is refused, a block without an acknowledgement is given out again. Anything may be lost on the way.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::block::{Block, BlockId, Delivery, Place};
use crate::engine::{AWAY, Engine, Published, To, Verdict};
use crate::error::{Error, Result};

/// How bad things are. Chances are of 1,000.
#[derive(Debug, Clone)]
pub struct Weather {
    /// What the random numbers start from.
    pub seed: u64,
    /// How long the broker waits for an acknowledgement.
    pub ack_wait: Duration,
    /// How long it remembers ids.
    pub window: Duration,
    /// The chance that a delivery, a publication, its acknowledgement, or that of a delivery is lost.
    pub loses: u64,
    /// The chance that a block is given out again though it is being worked on.
    pub repeats: u64,
    /// Blocks are given out in any order within so many.
    pub reorders: usize,
    /// The longest time that a message is on its way.
    pub delay: Duration,
}

impl Weather {
    /// Nothing goes wrong.
    #[must_use]
    pub fn fair(seed: u64) -> Self {
        Self {
            seed,
            ack_wait: Duration::from_secs(30),
            window: Duration::from_secs(600),
            loses: 0,
            repeats: 0,
            reorders: 1,
            delay: Duration::from_micros(200),
        }
    }
}

/// A broker in memory. Copies are connections to the same one.
#[derive(Debug, Clone)]
pub struct Memory {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    weather: Weather,
    random: u64,
    blocks: Vec<Stored>,
    /// The first that is not done.
    first: usize,
    answers: Vec<(BlockId, Block)>,
    dead: Vec<(BlockId, Block)>,
    ids: HashMap<(bool, BlockId), Instant>,
    /// Nothing gets through until then.
    stalled_until: Option<Instant>,
}

#[derive(Debug)]
struct Stored {
    block: Block,
    count: u64,
    is_done: bool,
    /// Given out, or given back, until then.
    until: Option<Instant>,
}

impl Memory {
    /// A broker with these blocks.
    #[must_use]
    pub fn new(weather: Weather, blocks: impl IntoIterator<Item = Block>) -> Self {
        let stored = blocks.into_iter().map(|block| Stored {
            block,
            count: 0,
            is_done: false,
            until: None,
        });
        let state = State {
            random: weather.seed,
            weather,
            blocks: stored.collect(),
            first: 0,
            answers: Vec::new(),
            dead: Vec::new(),
            ids: HashMap::new(),
            stalled_until: None,
        };
        Self {
            state: Rc::new(RefCell::new(state)),
        }
    }

    /// The answers in the order in which they were stored.
    #[must_use]
    pub fn answers(&self) -> Vec<(BlockId, Block)> {
        self.state.borrow().answers.clone()
    }

    /// The dead letters.
    #[must_use]
    pub fn dead_letters(&self) -> Vec<(BlockId, Block)> {
        self.state.borrow().dead.clone()
    }

    /// Whether every block is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state.borrow().blocks.iter().all(|block| block.is_done)
    }

    /// Lets nothing through for a while.
    pub fn stall(&self, time: Duration) {
        self.state.borrow_mut().stalled_until = Some(Instant::now() + time);
    }

    /// A message is on its way. Whether it arrives.
    async fn travel(&self) -> bool {
        let (delay, arrives) = {
            let mut state = self.state.borrow_mut();
            let micros = u64::try_from(state.weather.delay.as_micros()).unwrap_or(u64::MAX);
            let delay = Duration::from_micros(state.draw(micros.max(1)));
            let loses = state.weather.loses;
            (delay, state.draw(1000) >= loses)
        };
        sleep(delay).await;
        let stalled = self.state.borrow().stalled_until;
        if let Some(until) = stalled {
            tokio::time::sleep_until(until).await;
        }
        arrives
    }
}

impl State {
    /// A number below `limit`, by SplitMix64.
    fn draw(&mut self, limit: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// Gives out a block.
    fn give(&mut self) -> Option<Delivery<usize>> {
        let now = Instant::now();
        while self
            .blocks
            .get(self.first)
            .is_some_and(|block| block.is_done)
        {
            self.first += 1;
        }
        let repeats = self.draw(1000) < self.weather.repeats;
        let is_free = |block: &Stored| {
            !block.is_done && (repeats || block.until.is_none_or(|until| until <= now))
        };
        let free: Vec<usize> = (self.first..self.blocks.len())
            .filter(|at| is_free(&self.blocks[*at]))
            .take(self.weather.reorders.max(1))
            .collect();
        let drawn = self.draw(free.len().max(1) as u64) as usize;
        let at = *free.get(drawn)?;
        let until = now + self.weather.ack_wait;
        let block = &mut self.blocks[at];
        block.count += 1;
        block.until = Some(until);
        Some(Delivery {
            block: block.block.clone(),
            place: Place {
                stream: "memory".to_owned(),
                sequence: at as u64 + 1,
            },
            count: block.count,
            token: at,
        })
    }

    fn store(&mut self, to: To, id: &BlockId, block: &Block) -> Published {
        let now = Instant::now();
        let key = (to == To::Answers, id.clone());
        let window = self.weather.window;
        if self.ids.get(&key).is_some_and(|at| *at + window > now) {
            return Published::Duplicate;
        }
        self.ids.insert(key, now);
        let stream = match to {
            To::Answers => &mut self.answers,
            To::DeadLetters => &mut self.dead,
        };
        stream.push((id.clone(), block.clone()));
        Published::Stored
    }
}

impl Engine for Memory {
    type Token = usize;

    async fn next_block(&self, free: usize) -> Result<Option<Delivery<usize>>> {
        if free == 0 {
            return Ok(None);
        }
        self.travel().await;
        let given = self.state.borrow_mut().give();
        let Some(given) = given else {
            sleep(Duration::from_secs(1)).await;
            return Ok(None);
        };
        match self.travel().await {
            true => Ok(Some(given)),
            false => Err(Error::Later("a delivery was lost".to_owned())),
        }
    }

    async fn publish(&self, to: To, _: &Place, id: &BlockId, block: &Block) -> Result<Published> {
        let lost = |what: &str| Err(Error::Later(what.to_owned()));
        if !self.travel().await {
            return lost("a publication was lost");
        }
        let published = self.state.borrow_mut().store(to, id, block);
        match self.travel().await {
            true => Ok(published),
            false => lost("the acknowledgement of a publication was lost"),
        }
    }

    async fn away(&self) {
        let is_stalled = || {
            let stalled = self.state.borrow().stalled_until;
            stalled.is_some_and(|until| until > Instant::now())
        };
        while !is_stalled() {
            sleep(AWAY).await;
        }
        sleep(AWAY).await;
    }

    async fn ack(&self, token: &usize, verdict: Verdict) -> Result<()> {
        if !self.travel().await {
            return Ok(());
        }
        let mut state = self.state.borrow_mut();
        let wait = state.weather.ack_wait;
        let now = Instant::now();
        let block = &mut state.blocks[*token];
        match verdict {
            Verdict::Done | Verdict::Never => block.is_done = true,
            Verdict::Progress => block.until = Some(now + wait),
            Verdict::Again(pause) => block.until = Some(now + pause),
        }
        Ok(())
    }
}
