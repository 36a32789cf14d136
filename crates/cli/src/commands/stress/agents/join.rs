//! `stress --join`: does the part that a lead gives, and reports it to the lead and here.

use std::ffi::OsString;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bench::stress::agents::{Agent, Order, SharedPlan};
use bench::stress::{Follow, Plan};
use bench::{Context, Watch};
use latency::report::{LatencyName, Report, Table};
use report::{ExitStatus, Outcome};
use stress::{PoolKind, Progress};
use workers::nats::{Access, Address};

use super::line::{Line, id};
use crate::commands::absent::Wait;
use crate::commands::nats::{access, process_name, runtime};
use crate::commands::stress::flags::StressArgs;
use crate::commands::stress::follow::Follower;
use crate::commands::stress::metrics::Metrics;
use crate::commands::stress::run::{complain, describe, failed, note_generated};
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};
use crate::term::{message, signal};

/// How often to look whether the user wants the end.
const LOOK: Duration = Duration::from_millis(50);
/// How long to wait until the lead is told that the part is refused; a user who interrupts waits less.
const REFUSED_WITHIN: Duration = Duration::from_secs(5);
const INTERRUPTED_WITHIN: Duration = Duration::from_secs(2);

/// What the run tells the thread that talks to the lead.
enum Wish {
    Ready,
    Refuse(String),
    Progress(u64),
    Report(String),
}

/// What that thread tells the run.
enum Told {
    Prepare(Box<SharedPlan>),
    Start(Instant),
    /// The lead has the report.
    Done,
    Failed(Failure),
}

/// The thread that talks to the lead, as the run sees it.
struct Talk {
    wishes: Sender<Wish>,
    told: Receiver<Told>,
    stop: Stop,
}

/// Why the lead wants the end, if it does.
#[derive(Clone, Default)]
struct Stop(Arc<OnceLock<String>>);

impl Watch for Stop {
    fn is_stopped(&self) -> bool {
        signal::interrupted() || self.0.get().is_some()
    }
}

/// Runs the command.
pub(in super::super) fn run(
    args: &StressArgs,
    address: &Address,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let address_access = (address.clone(), access(&args.access)?);
    let said = args.output.terminal.wants_warnings();
    let metrics = args
        .metrics()?
        .map(|address| Metrics::start(address, said))
        .transpose()?;
    let waits = Wait::new(&args.agents.wait, said);
    let talk = Talk::start(address_access, waits)?;
    if said {
        message::status(&format!("waiting for the run that is led at {address}"));
    }
    let Told::Prepare(part) = talk.next()? else {
        return Err(unexpected());
    };
    let prepared = prepare(&part, args, name, argv);
    let (mut plan, session) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => {
            talk.refuse(failure.message(), REFUSED_WITHIN);
            return Err(failure);
        }
    };
    plan.run.intervals = session.intervals();
    plan.run.live = metrics.is_some();
    talk.say(Wish::Ready);
    let Told::Start(start) = talk.next()? else {
        return Err(unexpected());
    };
    plan.run.start_at = Some(start);
    let mut outcome = Outcome::new("stress");
    outcome.began = Some(start);
    note_generated(&mut outcome, &plan.run.data.to_string());
    describe(&plan, &mut outcome);
    let late_ns = u64::try_from(part.late_above().as_nanos()).unwrap_or(u64::MAX);
    let params = &mut outcome.workload.params;
    params.insert("late_after_ns".to_owned(), late_ns.into());
    params.insert("seed".to_owned(), plan.run.seed.into());
    let mut follow = Telling {
        own: Follower::new(said, metrics.as_ref(), None),
        wishes: talk.wishes.clone(),
    };
    let context = Context {
        run: session.run(),
        watch: &talk.stop,
    };
    let ran = bench::stress::run(&plan, context, &mut follow, &mut outcome);
    let complaints = match ran {
        Ok(complaints) => complaints,
        Err(error) => {
            let failure = failed(error);
            talk.refuse(failure.message(), REFUSED_WITHIN);
            return Err(failure);
        }
    };
    complaints.iter().for_each(complain);
    let mut taken = Ok(());
    let status = session.finish_telling(outcome, |report| taken = talk.report(report))?;
    taken?;
    match (talk.stop.0.get(), signal::interrupted()) {
        (Some(reason), false) => Err(Failure::new(format!("stopped early: {reason}"))),
        _ => Ok(status),
    }
}

/// Everything that can go wrong before the start.
fn prepare(
    part: &SharedPlan,
    args: &StressArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<(Plan, Session)> {
    let mut plan = part.plan().map_err(failed)?;
    if plan.run.threads == 0 {
        plan.run.threads = std::thread::available_parallelism().map_or(1, usize::from);
    }
    let session = Session::start(&Setup {
        seed: Some(plan.run.seed),
        rows: &[LatencyName::Response, LatencyName::Service],
        ..Setup::analysis(name, argv, &args.output)
    })?;
    Ok((plan, session))
}

fn unexpected() -> Failure {
    Failure::new("the lead said something that was not its turn")
}

impl Talk {
    fn start((address, access): (Address, Access), waits: Wait) -> Result<Self> {
        let (wishes, heard) = channel();
        let (tell, told) = channel();
        let stop = Stop::default();
        let thread = Thread {
            agent: Agent::new(&id(), &process_name(), waits.limit),
            began: Instant::now(),
            wishes: heard,
            tell: tell.clone(),
            stop: stop.clone(),
        };
        // Never joined: the process may end while a server is silent.
        let started = std::thread::Builder::new()
            .name("lead".to_owned())
            .spawn(move || {
                let ended = runtime()
                    .and_then(|runtime| runtime.block_on(thread.run(address, access, waits)));
                if let Err(failure) = ended {
                    let _ = tell.send(Told::Failed(failure));
                }
            });
        started.map_err(|error| Failure::new(format!("cannot start a thread: {error}")))?;
        Ok(Self { wishes, told, stop })
    }

    fn say(&self, wish: Wish) {
        // If it is not heard, `next` says so.
        let _ = self.wishes.send(wish);
    }

    /// Says that the part is not done, and waits this long at most until the lead is told.
    fn refuse(&self, reason: &str, within: Duration) {
        self.say(Wish::Refuse(reason.to_owned()));
        let _ = self.told.recv_timeout(within);
    }

    /// Waits for what the lead wants.
    fn next(&self) -> Result<Told> {
        loop {
            match self.told.recv_timeout(LOOK) {
                Ok(Told::Failed(failure)) => return Err(failure),
                Ok(told) => return Ok(told),
                Err(RecvTimeoutError::Timeout) if signal::interrupted() => {
                    self.refuse("it was interrupted", INTERRUPTED_WITHIN);
                    return Err(Failure::new("interrupted before the run began")
                        .status(ExitStatus::Interrupted));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(unexpected()),
            }
        }
    }

    /// Gives the report to the lead, and waits until it has it.
    fn report(&self, report: &Report) -> Result<()> {
        let text = serde_json::to_string(report)
            .map_err(|error| Failure::new(format!("cannot write the report: {error}")))?;
        self.say(Wish::Report(text));
        loop {
            // It ends by itself if the lead is silent.
            match self.told.recv() {
                Ok(Told::Done) => return Ok(()),
                Ok(Told::Failed(failure)) => {
                    let message = format!("the lead did not get the report: {}", failure.message());
                    return Err(Failure::new(message));
                }
                Ok(_) => {}
                Err(_) => return Err(unexpected()),
            }
        }
    }
}

/// The thread itself.
struct Thread {
    agent: Agent,
    began: Instant,
    wishes: Receiver<Wish>,
    tell: Sender<Told>,
    stop: Stop,
}

impl Thread {
    async fn run(mut self, address: Address, access: Access, waits: Wait) -> Result<()> {
        let id = self.agent.id().to_owned();
        let mut line = Line::open(&address, &access, Some(&id), waits).await?;
        // The wait for the lead begins once there is somebody to hear it from.
        self.began = Instant::now();
        loop {
            let now = self.began.elapsed();
            while let Ok(wish) = self.wishes.try_recv() {
                match wish {
                    Wish::Ready => self.agent.ready(now),
                    Wish::Refuse(reason) => self.agent.refuse(&reason, now),
                    Wish::Progress(blocks) => self.agent.progress(blocks),
                    Wish::Report(report) => self.agent.report(&report),
                }
            }
            self.agent.tick(now);
            while let Some(bytes) = self.agent.send() {
                line.send(None, bytes).await?;
            }
            while let Some(order) = self.agent.order() {
                let told = match order {
                    Order::Prepare(part) => Told::Prepare(part),
                    Order::Start(at) => Told::Start(self.began + at),
                    Order::Stop(reason) => {
                        // An agent is stopped once.
                        let _ = self.stop.0.set(reason);
                        continue;
                    }
                    Order::Done => Told::Done,
                    Order::Failed(reason) => Told::Failed(
                        Failure::new(reason).help("see what the side with --lead printed"),
                    ),
                };
                // The run may have ended.
                let _ = self.tell.send(told);
            }
            if self.agent.is_over() {
                line.flush().await;
                return Ok(());
            }
            if let Some(message) = line.next().await? {
                self.agent.heard(&message, self.began.elapsed());
            }
        }
    }
}

/// Also tells the lead how far the run is.
struct Telling<'a> {
    own: Follower<'a>,
    wishes: Sender<Wish>,
}

impl Follow for Telling<'_> {
    fn begin(&mut self, codec: &str, pool: PoolKind, label: Option<String>) {
        self.own.begin(codec, pool, label);
    }

    fn see(&mut self, progress: &Progress) -> u64 {
        let _ = self.wishes.send(Wish::Progress(progress.counts.received));
        self.own.see(progress)
    }

    fn end(&mut self) -> Option<Table> {
        self.own.end()
    }
}
