//! A worker: takes blocks from an engine, has them matched, publishes answers and acknowledges. What is done when is
//! decided by [`crate::life`]; here are waits.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::time::{Instant, sleep_until};

use crate::block::{Block, BlockId, Delivery, Labels, Place, Steps};
use crate::engine::{Engine, To, Verdict};
use crate::error::Error;
use crate::in_flight::{Bounds, InFlight};
use crate::life::{Action, Fate, Fault, Life, Limits, Reason, pause};

/// What makes an answer of a block.
pub trait Matching {
    /// Answers a block, and counts the steps on the way. `place` is that of the block that is answered.
    fn answer(
        &self,
        block: &Block,
        place: &Place,
        steps: Steps,
    ) -> impl Future<Output = Result<Answer, Fault>>;

    /// Which state of the expressions answers the next block.
    fn epoch(&self) -> Arc<str>;
}

/// An answer of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its lines.
    pub bytes: Bytes,
    /// Which state of the expressions gave it.
    pub epoch: Arc<str>,
    /// How long a thread was busy with it.
    pub took: Duration,
    /// How many events of the block were refused.
    pub refused: u64,
    /// The first of them and why, in a form of the caller's of at most [`crate::LABEL_BYTES_MAX`] bytes.
    pub refusals: Option<String>,
}

/// What a worker does.
#[derive(Debug, Clone)]
pub struct Options {
    /// What bounds the life of a delivery.
    pub limits: Limits,
    /// How many blocks it has at a time.
    pub in_flight: Bounds,
    /// Which part of the expressions it has.
    pub shard: String,
    /// After this time a worker that was asked to stop leaves what it has not finished to others.
    pub grace: Duration,
    /// Where this many blocks have failed and none was answered, it ends: they are of another kind than what answers
    /// them. 0: it goes on whatever fails.
    pub failures_max: usize,
}

/// How long room for fewer blocks waits for more.
const LINGER: Duration = Duration::from_millis(20);

/// What a worker has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Deliveries.
    pub taken: u64,
    /// Deliveries that were not the first of their block.
    pub again: u64,
    /// Answers that were stored.
    pub answered: u64,
    /// Answers that the broker had, and refused.
    pub refused: u64,
    /// Attempts that failed, after which the block was given back.
    pub returned: u64,
    /// Dead letters.
    pub dead: u64,
    /// Publications that were repeated.
    pub republished: u64,
    /// Reports of progress.
    pub progress: u64,
    /// Deliveries that were left to others when the grace period ended, or as the broker was away.
    pub left: u64,
    /// Whether it ended as the broker was away.
    pub is_away: bool,
    /// The most blocks that it had at a time.
    pub in_flight_most: u64,
    /// Bytes of blocks that were answered.
    pub bytes_in: u64,
    /// Bytes of their answers.
    pub bytes_out: u64,
}

/// What somebody may want to know while a worker goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// The broker does not do what it is asked; it is tried again.
    Broker(String),
    /// A block could not be answered, and is given back.
    Failed(Place, Reason),
    /// A block is a dead letter.
    Dead(Place, Reason),
}

/// Who looks on while a worker goes on. A function of troubles is one that hears no more than these.
pub trait Watch {
    /// Something went wrong.
    fn tell(&self, trouble: Trouble);

    /// What was done by now, and how many blocks it has. Called whenever that has changed.
    fn see(&self, _tally: &Tally, _in_flight: usize) {}
}

impl<F: Fn(Trouble)> Watch for F {
    fn tell(&self, trouble: Trouble) {
        self(trouble);
    }
}

/// Works until `stop`, and returns what was done, and what ended it if that was not `stop`.
pub async fn work<E: Engine, M: Matching>(
    engine: &E,
    matching: &M,
    options: &Options,
    stop: impl Future<Output = ()>,
    watch: &dyn Watch,
) -> (Tally, Option<Error>) {
    let worker = Worker {
        engine,
        matching,
        options,
        started: Instant::now(),
        watch,
    };
    let mut stop = pin!(stop);
    let mut tally = Tally::default();
    let mut failures = Failures::new(options.failures_max);
    let mut in_flight = InFlight::new(options.in_flight);
    let mut lives = FuturesUnordered::new();
    let (mut asking, mut ended, mut away) = (None, None, None);
    let (mut deadline, mut unheard, mut quiet_until) = (None, 0, Instant::now());
    let mut is_drained = false;
    // Whether more may come of what was asked for; if not, since when there is room.
    let (mut is_asked, mut room_since) = (false, Instant::now());
    loop {
        watch.see(&tally, lives.len());
        let is_stopping = deadline.is_some();
        let free = match is_stopping {
            true => 0,
            false => in_flight.limit().saturating_sub(lives.len()),
        };
        let linger = room_since + LINGER;
        let is_little = free < in_flight.asked_min();
        let lingers = free > 0 && is_little && Instant::now() < linger;
        // What was asked for is taken in any case.
        let wanted = match lingers {
            true => is_asked.then_some(0),
            false => Some(free).filter(|free| is_stopping || *free > 0),
        };
        if let Some(wanted) = wanted.filter(|_| asking.is_none() && !is_drained) {
            is_asked = true;
            let quiet = quiet_until;
            asking = Some(Box::pin(async move {
                sleep_until(quiet).await;
                engine.next_block(wanted).await
            }));
        }
        if is_drained && lives.is_empty() {
            break;
        }
        let patience = deadline.unwrap_or_else(Instant::now);
        if is_stopping && away.is_none() {
            away = Some(Box::pin(engine.away()));
        }
        tokio::select! {
            biased;
            () = &mut stop, if !is_stopping => deadline = Some(Instant::now() + options.grace),
            Some(life) = lives.next() => {
                let mut life: Ended = life;
                if free == 0 {
                    room_since = Instant::now();
                }
                if let Some(took) = life.took {
                    in_flight.answered(took, life.bytes_in.saturating_add(life.bytes_out));
                }
                tally = add(tally, &life);
                let reason = life.refused.take().or_else(|| failures.add(&life));
                if let Some(reason) = reason {
                    // What was taken is finished.
                    ended = ended.or(Some(reason));
                    is_drained = true;
                    deadline = deadline.or_else(|| Some(Instant::now() + options.grace));
                }
            }
            got = async { asking.as_mut().expect("asked").await }, if asking.is_some() => {
                asking = None;
                if !matches!(got, Ok(Some(_))) {
                    (is_asked, room_since) = (false, Instant::now());
                }
                match got {
                    Ok(Some(delivery)) => {
                        unheard = 0;
                        tally.taken += 1;
                        tally.again += u64::from(delivery.count > 1);
                        in_flight.taken(delivery.count > 1);
                        lives.push(worker.live(delivery));
                        tally.in_flight_most = tally.in_flight_most.max(lives.len() as u64);
                    }
                    Ok(None) if is_stopping => is_drained = true,
                    Ok(None) => unheard = 0,
                    Err(error) if error.is_passing() && !is_stopping => {
                        unheard += 1;
                        quiet_until = Instant::now() + pause(unheard);
                        watch.tell(Trouble::Broker(error.to_string()));
                    }
                    Err(error) => {
                        // What was taken is finished.
                        if !error.is_passing() {
                            ended = ended.or(Some(error));
                        }
                        is_drained = true;
                        deadline = deadline.or_else(|| Some(Instant::now() + options.grace));
                    }
                }
            }
            () = async { away.as_mut().expect("asked").await }, if away.is_some() => {
                tally.is_away = true;
                break;
            }
            () = sleep_until(linger), if asking.is_none() && lingers => {}
            () = sleep_until(patience), if is_stopping => break,
        }
    }
    tally.left += lives.len() as u64;
    watch.see(&tally, 0);
    (tally, ended)
}

/// Blocks that failed, as long as none was answered.
struct Failures {
    max: usize,
    /// None once one was answered.
    failed: Option<BTreeSet<Place>>,
}

impl Failures {
    fn new(max: usize) -> Self {
        Self {
            max,
            failed: (max > 0).then(BTreeSet::new),
        }
    }

    /// Adds how a life ended. An error once too many have failed.
    fn add(&mut self, ended: &Ended) -> Option<Error> {
        let Some((place, reason)) = &ended.failed else {
            self.failed = None;
            return None;
        };
        let failed = self.failed.as_mut()?;
        failed.insert(place.clone());
        let count = failed.len();
        if count < self.max {
            return None;
        }
        let Reason { text, help } = reason;
        let help = help.as_deref().unwrap_or("mend the cause");
        Some(Error::refused(
            format!(
                "the first {count} blocks have failed, and none was answered: the last is {place}: {text}"
            ),
            format!("see that the stream has events for these expressions; {help}"),
        ))
    }
}

fn add(tally: Tally, ended: &Ended) -> Tally {
    let mut tally = Tally {
        republished: tally.republished + ended.republished,
        progress: tally.progress + ended.progress,
        ..tally
    };
    match ended.fate {
        Fate::Answered | Fate::AnsweredBefore => {
            let is_new = ended.fate == Fate::Answered;
            tally.answered += u64::from(is_new);
            tally.refused += u64::from(!is_new);
            tally.bytes_in += ended.bytes_in as u64;
            tally.bytes_out += ended.bytes_out as u64;
        }
        Fate::Returned => tally.returned += 1,
        Fate::Dead => tally.dead += 1,
    }
    tally
}

/// How a life ended, for the tally.
struct Ended {
    fate: Fate,
    republished: u64,
    progress: u64,
    bytes_in: usize,
    bytes_out: usize,
    /// How long a thread was busy with it, if it was answered.
    took: Option<Duration>,
    /// Which block it was and why, if it was not answered.
    failed: Option<(Place, Reason)>,
    /// Why the broker will store nothing of this worker.
    refused: Option<Error>,
}

struct Worker<'a, E, M> {
    engine: &'a E,
    matching: &'a M,
    options: &'a Options,
    started: Instant,
    watch: &'a dyn Watch,
}

impl<E: Engine, M: Matching> Worker<'_, E, M> {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    async fn live(&self, delivery: Delivery<E::Token>) -> Ended {
        let mut life = Life::new(self.options.limits, delivery.count, self.now());
        let id = BlockId::of_answer(delivery.answered(), &self.options.shard);
        let (mut answer, mut refused) = (None, None);
        // A life publishes an answer only once it has one.
        let none = || Answer {
            bytes: Bytes::new(),
            epoch: self.matching.epoch(),
            took: Duration::ZERO,
            refused: 0,
            refusals: None,
        };
        let mut is_bare = false;
        let (mut republished, mut progress) = (0, 0);
        let mut action = life.first(self.now());
        let verdict = loop {
            action = match action {
                Action::Match => {
                    let steps = Steps::default();
                    let work = async {
                        check_lines(&delivery.block)?;
                        let place = delivery.answered();
                        let answer = self.matching.answer(&delivery.block, place, steps.clone());
                        answer.await
                    };
                    let counted = || Some(steps.count()).filter(|count| *count > 0);
                    let result = self
                        .while_telling(work, &mut life, &delivery.token, counted, &mut progress)
                        .await;
                    let result = result.map(|made| answer = Some(made));
                    life.matched(result, self.now())
                }
                Action::Publish(to, at) => {
                    let block = match to {
                        To::Answers => self.answer(&delivery, answer.clone().unwrap_or_else(none)),
                        To::DeadLetters => {
                            let epoch = answer.as_ref().map(|answer| answer.epoch.clone());
                            self.dead(&delivery, epoch, life.reason(), is_bare)
                        }
                    };
                    let work = async {
                        sleep_until(self.started + at).await;
                        self.engine.publish(to, &delivery.place, &id, &block).await
                    };
                    let result = self
                        .while_telling(work, &mut life, &delivery.token, || None, &mut progress)
                        .await;
                    if let Err(error) = &result {
                        republished += 1;
                        is_bare |= to == To::DeadLetters && !error.is_passing();
                        match error.is_for_ever() {
                            true => refused = Some(error.clone()),
                            false => self.watch.tell(Trouble::Broker(error.to_string())),
                        }
                    }
                    life.published(&result, self.now())
                }
                Action::End(verdict) => break verdict,
            };
        };
        // If this is lost, the block is given out again, and its answer refused as a copy.
        let _ = self.engine.ack(&delivery.token, verdict).await;
        let fate = life.fate().unwrap_or(Fate::Returned);
        let place = delivery.answered().clone();
        let failed = match fate {
            // The one error of all of them is said at the end.
            Fate::Returned if refused.is_some() => None,
            Fate::Returned => {
                let trouble = Trouble::Failed(place.clone(), life.why());
                self.watch.tell(trouble);
                Some((place, life.why()))
            }
            Fate::Dead => {
                self.watch.tell(Trouble::Dead(place.clone(), life.why()));
                Some((place, life.why()))
            }
            Fate::Answered | Fate::AnsweredBefore => None,
        };
        Ended {
            fate,
            failed,
            refused,
            republished,
            progress,
            bytes_in: delivery.block.bytes.len(),
            bytes_out: answer.as_ref().map_or(0, |answer| answer.bytes.len()),
            took: answer.map(|answer| answer.took),
        }
    }

    /// Waits for something, and reports progress to the broker meanwhile.
    async fn while_telling<T>(
        &self,
        work: impl Future<Output = T>,
        life: &mut Life,
        token: &E::Token,
        steps: impl Fn() -> Option<u64>,
        told: &mut u64,
    ) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                result = &mut work => return result,
                () = sleep_until(self.started + life.next_look()) => {
                    if life.reports(steps(), self.now()) {
                        *told += 1;
                        let _ = self.engine.ack(token, Verdict::Progress).await;
                    }
                }
            }
        }
    }

    fn answer(&self, delivery: &Delivery<E::Token>, answer: Answer) -> Block {
        Block {
            labels: Labels {
                answers: Some(delivery.answered().clone()),
                shard: Some(self.options.shard.clone()),
                epoch: Some(answer.epoch.to_string()),
                reason: None,
                refused: Some(answer.refused).filter(|count| *count > 0),
                refusals: answer.refusals,
                ..delivery.block.labels.clone()
            },
            bytes: answer.bytes,
        }
    }

    /// The block with the reason why it was not answered; without its lines where they did not fit. Its epoch is that of
    /// its answer, if it had one, else that of now.
    fn dead(
        &self,
        delivery: &Delivery<E::Token>,
        epoch: Option<Arc<str>>,
        reason: Option<&str>,
        is_bare: bool,
    ) -> Block {
        let bytes = match is_bare {
            true => Bytes::new(),
            false => delivery.block.bytes.clone(),
        };
        let epoch = epoch.unwrap_or_else(|| self.matching.epoch());
        let answer = Answer {
            bytes,
            epoch,
            took: Duration::ZERO,
            refused: 0,
            refusals: None,
        };
        let mut block = self.answer(delivery, answer);
        block.labels.reason = reason.map(str::to_owned);
        if is_bare {
            block.labels.carried.clear();
        }
        block
    }
}

/// Refuses a dead letter that has the reason and not the lines, as they did not fit.
fn check_lines(block: &Block) -> Result<(), Fault> {
    match block.is_dead_letter() && block.bytes.is_empty() {
        false => Ok(()),
        true => Err(Fault::Always(Reason {
            text: "this dead letter has no lines, as they did not fit into its stream".to_owned(),
            help: Some(
                "feed them again from their source: see Perfkit-Source and Perfkit-Offset"
                    .to_owned(),
            ),
        })),
    }
}
