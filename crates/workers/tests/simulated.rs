//! Every event is answered once, whatever is lost, late, repeated or out of order, and whoever dies.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep};
use workers::simulation::{Memory, Weather};
use workers::{
    Answer, Block, Bounds, Fault, Labels, Limits, Matching, Options, Place, Steps, Tally, Trouble,
    work,
};

/// Answers with the lines themselves, after a while.
struct Echo {
    work: Duration,
    /// Blocks with this line cannot be answered.
    poison: &'static [u8],
    /// Steps that each block takes, one after `work`; 0: it stands still.
    steps: u32,
}

impl Matching for Echo {
    async fn answer(&self, block: &Block, _: &Place, steps: Steps) -> Result<Answer, Fault> {
        for _ in 0..self.steps.max(1) {
            sleep(self.work).await;
            steps.step();
        }
        if self.steps == 0 {
            pending::<()>().await;
        }
        match block.bytes.starts_with(self.poison) && !self.poison.is_empty() {
            true => Err(Fault::Once("poison".to_owned().into())),
            false => Ok(Answer {
                bytes: block.bytes.clone(),
                epoch: self.epoch(),
                took: self.work * self.steps,
                refused: 0,
                refusals: None,
            }),
        }
    }

    fn epoch(&self) -> Arc<str> {
        "e1".into()
    }
}

const ECHO: Echo = Echo {
    work: Duration::from_millis(3),
    poison: b"",
    steps: 1,
};

fn options(ack_wait: Duration) -> Options {
    Options {
        limits: Limits {
            ack_wait,
            deliveries: 5,
        },
        in_flight: Bounds {
            least: 4,
            most: 64,
            ahead: Duration::from_millis(30),
            asked_part: 2,
        },
        shard: "all".to_owned(),
        grace: Duration::from_secs(60),
        failures_max: 20,
    }
}

fn blocks(count: u64) -> impl Iterator<Item = Block> {
    (1..=count).map(|line| Block {
        labels: Labels {
            line: Some(line),
            ..Labels::default()
        },
        bytes: Bytes::from(format!("{line}\n")),
    })
}

fn run<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.expect("a runtime").block_on(future)
}

/// Waits until every block is done. Simulated hours may pass.
async fn done(memory: &Memory) {
    while !memory.is_done() {
        sleep(Duration::from_millis(100)).await;
    }
}

/// How often each line was answered.
fn answers(memory: &Memory) -> HashMap<Bytes, u32> {
    let mut counts = HashMap::new();
    for (_, block) in memory.answers() {
        *counts.entry(block.bytes).or_default() += 1;
    }
    counts
}

fn assert_once(memory: &Memory, count: u64) {
    let answers = answers(memory);
    assert_eq!(answers.len() as u64, count);
    assert!(answers.values().all(|times| *times == 1), "{answers:?}");
}

#[test]
fn a_worker_that_is_to_end_does_not_wait_for_a_broker_that_is_away() {
    run(async {
        let memory = Memory::new(Weather::fair(4), blocks(100));
        let (away, stopped) = (Duration::from_millis(20), Duration::from_secs(10));
        let stop = async {
            sleep(away).await;
            memory.stall(Duration::from_secs(3600));
            sleep(stopped).await;
        };
        let options = options(Duration::from_secs(30));
        let started = Instant::now();
        let (tally, ended) = work(&memory, &ECHO, &options, stop, &|_| {}).await;
        // The grace period is a minute; the clock is simulated.
        let waited = started.elapsed() - away - stopped;
        assert!(waited <= Duration::from_secs(2), "{waited:?}");
        assert_eq!(ended, None);
        assert!(tally.is_away && tally.left > 0, "{tally:?}");
        assert_eq!(tally.taken, tally.answered + tally.left, "{tally:?}");
    });
}

#[test]
fn fair_weather_needs_one_delivery_each() {
    run(async {
        let memory = Memory::new(Weather::fair(1), blocks(100));
        let (tally, ended) = work(
            &memory,
            &ECHO,
            &options(Duration::from_secs(30)),
            done(&memory),
            &|_| {},
        )
        .await;
        assert_eq!(ended, None);
        let expected = Tally {
            taken: 100,
            answered: 100,
            bytes_in: tally.bytes_in,
            bytes_out: tally.bytes_in,
            in_flight_most: tally.in_flight_most,
            ..Tally::default()
        };
        assert_eq!(tally, expected);
        assert_once(&memory, 100);
        let (id, block) = memory.answers().remove(0);
        assert_eq!(id.as_str(), "memory.all.1");
        assert_eq!(block.labels.epoch.as_deref(), Some("e1"));
        assert_eq!(block.labels.line, Some(1));
    });
}

/// Two workers, of which one dies; later a third. Everything is lost at times, late, repeated, out of order.
#[test]
fn foul_weather_and_dead_workers_change_nothing() {
    for seed in 0..40 {
        run(async {
            let weather = Weather {
                ack_wait: Duration::from_secs(2),
                window: Duration::from_secs(3600),
                loses: 100,
                repeats: 50,
                reorders: 7,
                delay: Duration::from_millis(20),
                ..Weather::fair(seed)
            };
            let memory = Memory::new(weather, blocks(200));
            // Blocks are repeated while they are worked on: more deliveries than five are no sign of poison.
            let mut options = options(Duration::from_secs(2));
            options.limits.deliveries = 1000;
            let again = Cell::new(0);
            let whole = async {
                let (tally, ended) = work(&memory, &ECHO, &options, done(&memory), &|_| {}).await;
                assert_eq!(ended, None);
                again.set(again.get() + tally.again);
            };
            let killed = async {
                let life = work(&memory, &ECHO, &options, pending(), &|_| {});
                let _ = tokio::time::timeout(Duration::from_millis(700), life).await;
            };
            let late = async {
                sleep(Duration::from_secs(1)).await;
                work(&memory, &ECHO, &options, done(&memory), &|_| {}).await
            };
            tokio::join!(whole, killed, late);
            assert_once(&memory, 200);
            assert!(again.get() > 0, "seed {seed} tested nothing");
        });
    }
}

/// Why short windows are refused: with one, answers do come twice.
#[test]
fn a_short_window_answers_twice() {
    let twice = (0..20).any(|seed| {
        run(async {
            let weather = Weather {
                ack_wait: Duration::from_secs(3),
                window: Duration::from_secs(1),
                loses: 200,
                ..Weather::fair(seed)
            };
            let memory = Memory::new(weather, blocks(50));
            let mut options = options(Duration::from_secs(3));
            options.limits.deliveries = 1000;
            work(&memory, &ECHO, &options, done(&memory), &|_| {}).await;
            answers(&memory).values().any(|times| *times > 1)
        })
    });
    assert!(twice);
}

#[test]
fn poison_is_tried_five_times_and_buried() {
    run(async {
        let memory = Memory::new(Weather::fair(3), blocks(20));
        let echo = Echo {
            poison: b"13\n",
            ..ECHO
        };
        let troubles = RefCell::new(Vec::new());
        let tell = |trouble| troubles.borrow_mut().push(trouble);
        let options = options(Duration::from_secs(30));
        let (tally, ended) = work(&memory, &echo, &options, done(&memory), &tell).await;
        assert_eq!(ended, None);
        assert_eq!((tally.answered, tally.returned, tally.dead), (19, 4, 1));
        let dead = memory.dead_letters();
        assert_eq!(dead.len(), 1);
        let (_, block) = &dead[0];
        assert_eq!(&block.bytes[..], b"13\n");
        assert_eq!(block.labels.reason.as_deref(), Some("poison"));
        assert_eq!(
            block.labels.answers.as_ref().map(|place| place.sequence),
            Some(13)
        );
        let troubles = troubles.borrow();
        assert_eq!(troubles.len(), 5);
        assert!(matches!(troubles[4], Trouble::Dead(..)));
    });
}

/// Answers nothing.
struct Fails;

impl Matching for Fails {
    async fn answer(&self, _: &Block, _: &Place, _: Steps) -> Result<Answer, Fault> {
        Err(Fault::Once("of another kind".to_owned().into()))
    }

    fn epoch(&self) -> Arc<str> {
        "e1".into()
    }
}

#[test]
fn where_the_first_blocks_all_fail_it_ends_and_they_stay() {
    run(async {
        let memory = Memory::new(Weather::fair(8), blocks(100));
        let options = options(Duration::from_secs(30));
        let (tally, ended) = work(&memory, &Fails, &options, pending(), &|_| {}).await;
        let ended = ended.expect("a reason").to_string();
        assert!(
            ended.starts_with(
                "the first 20 blocks have failed, and none was answered: the last is block "
            ) && ended.ends_with(" of memory: of another kind"),
            "{ended}"
        );
        assert_eq!((tally.dead, memory.dead_letters().len()), (0, 0));
        // They are answered by who can.
        let (tally, _) = work(&memory, &ECHO, &options, done(&memory), &|_| {}).await;
        assert_eq!(tally.answered, 100);
        assert_once(&memory, 100);
    });
}

#[test]
fn who_wants_it_buries_all_of_them() {
    run(async {
        let memory = Memory::new(Weather::fair(9), blocks(100));
        let mut options = options(Duration::from_secs(30));
        options.failures_max = 0;
        let (tally, ended) = work(&memory, &Fails, &options, done(&memory), &|_| {}).await;
        assert_eq!((ended, tally.dead), (None, 100));
    });
}

#[test]
fn a_dead_letter_is_answered_as_its_block() {
    run(async {
        let dead = |sequence: u64, bytes: &'static [u8]| Block {
            labels: Labels {
                answers: Some(Place {
                    stream: "IN-1f".to_owned(),
                    sequence,
                }),
                reason: Some("poison".to_owned()),
                carried: vec![("traceparent".to_owned(), "00-1".to_owned())],
                ..Labels::default()
            },
            bytes: Bytes::from_static(bytes),
        };
        let memory = Memory::new(Weather::fair(10), [dead(13, b"13\n"), dead(17, b"")]);
        let options = options(Duration::from_secs(30));
        let (tally, _) = work(&memory, &ECHO, &options, done(&memory), &|_| {}).await;
        // That of which the lines did not fit cannot be.
        assert_eq!((tally.answered, tally.dead), (1, 1));
        let (id, block) = memory.answers().remove(0);
        assert_eq!(id.as_str(), "IN-1f.all.13");
        let place = block.labels.answers.as_ref();
        assert_eq!(place.map(|place| place.sequence), Some(13));
        assert_eq!(
            (&block.bytes[..], block.labels.reason),
            (&b"13\n"[..], None)
        );
        assert_eq!(block.labels.carried.len(), 1);
        let (id, block) = memory.dead_letters().remove(0);
        assert_eq!(id.as_str(), "IN-1f.all.17");
        assert!(
            block
                .labels
                .reason
                .is_some_and(|reason| reason.contains("has no lines"))
        );
    });
}

#[test]
fn long_work_is_reported_while_it_goes_on() {
    run(async {
        // Ten steps of a second each, and the broker waits for three.
        let weather = Weather {
            ack_wait: Duration::from_secs(3),
            ..Weather::fair(4)
        };
        let memory = Memory::new(weather, blocks(1));
        let echo = Echo {
            work: Duration::from_millis(900),
            steps: 10,
            ..ECHO
        };
        let options = options(Duration::from_secs(3));
        let (tally, _) = work(&memory, &echo, &options, done(&memory), &|_| {}).await;
        assert_eq!((tally.taken, tally.again), (1, 0));
        assert!(tally.progress >= 8, "{tally:?}");
    });
}

#[test]
fn work_that_stands_still_is_given_to_others() {
    run(async {
        let weather = Weather {
            ack_wait: Duration::from_secs(3),
            ..Weather::fair(5)
        };
        let memory = Memory::new(weather, blocks(1));
        let stuck = Echo { steps: 0, ..ECHO };
        let options = options(Duration::from_secs(3));
        let stuck = work(&memory, &stuck, &options, done(&memory), &|_| {});
        let other = async {
            sleep(Duration::from_secs(1)).await;
            work(&memory, &ECHO, &options, done(&memory), &|_| {}).await
        };
        let ((stuck, _), (other, _)) = tokio::join!(stuck, other);
        assert_eq!((other.answered, other.again), (1, 1));
        // It is left behind when its grace period ends.
        assert_eq!((stuck.answered, stuck.left), (0, 1));
        assert_once(&memory, 1);
    });
}

#[test]
fn a_worker_that_is_asked_to_stop_finishes_what_it_has() {
    run(async {
        let memory = Memory::new(Weather::fair(6), blocks(1000));
        let options = options(Duration::from_secs(30));
        let stop = sleep(Duration::from_millis(100));
        let (tally, ended) = work(&memory, &ECHO, &options, stop, &|_| {}).await;
        assert_eq!(ended, None);
        assert!(tally.taken > 4 && tally.taken < 1000, "{tally:?}");
        assert_eq!((tally.answered, tally.left), (tally.taken, 0));
        let (other, _) = work(&memory, &ECHO, &options, done(&memory), &|_| {}).await;
        assert_eq!(other.again, 0, "nothing was given out twice");
        assert_once(&memory, 1000);
    });
}

#[test]
fn a_broker_that_stalls_loses_nothing() {
    run(async {
        let memory = Memory::new(Weather::fair(7), blocks(500));
        let options = options(Duration::from_secs(30));
        let stall = async {
            sleep(Duration::from_millis(50)).await;
            memory.stall(Duration::from_secs(10));
        };
        let life = work(&memory, &ECHO, &options, done(&memory), &|_| {});
        let ((tally, _), ()) = tokio::join!(life, stall);
        assert_eq!(tally.answered, 500);
        assert_once(&memory, 500);
    });
}
