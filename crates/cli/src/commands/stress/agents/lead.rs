//! `stress --lead`: gives out the parts, and reports what came of them.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use bench::stress::agents::{AgentComplaint, Lead, News, SharedPlan, Trouble, merge};
use latency::report::LatencyName;
use report::{ExitStatus, Outcome, units};
use workers::nats::Address;

use super::line::{Line, id};
use crate::commands::absent::Wait;
use crate::commands::nats::{access, runtime};
use crate::commands::stress::flags::{StressArgs, StressPlan};
use crate::commands::stress::run::{describe, failed, note_generated};
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};
use crate::term::{message, signal};

/// How often it says how far all are.
const SAY_EVERY: Duration = Duration::from_secs(5);

/// Runs the command.
pub(in super::super) fn run(
    args: &StressArgs,
    address: &Address,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let StressPlan { plan, .. } = args.plan()?;
    let own = &args.agents;
    let agents = own.agents.unwrap_or(1);
    let shared = SharedPlan::of(&plan, own.late_after).map_err(unshared)?;
    shared.check_agents(agents).map_err(unshared)?;
    let access = access(&args.access)?;
    let session = Session::start(&Setup {
        seed: Some(args.seed),
        rows: &[LatencyName::Response, LatencyName::Service],
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut leading = Leading {
        lead: Lead::new(&id(), shared.clone(), agents, own.wait.wait),
        began: Instant::now(),
        wanted: agents,
        said: args.output.terminal.wants_warnings(),
        said_at: None,
    };
    runtime()?.block_on(async {
        let waits = Wait::new(&own.wait, leading.said);
        let line = Line::open(address, &access, None, waits).await?;
        leading.began = Instant::now();
        leading.run(line, &address.to_string()).await
    })?;
    let lead = &leading.lead;
    let mut outcome = Outcome::new("stress");
    note_generated(&mut outcome, args.data_name());
    describe(&plan, &mut outcome);
    let params = &mut outcome.workload.params;
    // Each agent has its own.
    params.remove("threads");
    params.insert("agents".to_owned(), agents.into());
    let late_ns = u64::try_from(own.late_after.as_nanos()).unwrap_or(u64::MAX);
    params.insert("late_after_ns".to_owned(), late_ns.into());
    let was_stopped = signal::interrupted();
    let complaints = merge(lead.members(), &shared, was_stopped, &mut outcome).map_err(failed)?;
    if let Some(trouble) = lead.trouble() {
        trouble_said(trouble, &mut outcome);
    }
    for complaint in &complaints {
        // It was said of the first one that vanished or refused.
        let is_told = lead
            .trouble()
            .is_some_and(|trouble| names(trouble, complaint));
        if !is_told {
            message::failure(&Failure::new(complaint.to_string()).help(next_step(complaint)));
        }
    }
    session.finish(outcome)
}

struct Leading {
    lead: Lead,
    began: Instant,
    wanted: u32,
    said: bool,
    said_at: Option<Duration>,
}

impl Leading {
    /// Until every agent has ended.
    async fn run(&mut self, mut line: Line, address: &str) -> Result<()> {
        if self.said {
            message::status(&format!(
                "waiting for {} agents: perfkit stress --join {address}",
                self.wanted
            ));
        }
        loop {
            let now = self.began.elapsed();
            if signal::interrupted() {
                self.lead.stop("its lead was interrupted", now);
            }
            self.lead.tick(now);
            while let Some((agent, bytes)) = self.lead.send() {
                line.send(Some(&agent), bytes).await?;
            }
            self.say(now);
            if self.lead.is_over() {
                line.flush().await;
                return Ok(());
            }
            if let Some(message) = line.next().await? {
                self.lead.heard(&message, self.began.elapsed());
            }
        }
    }

    fn say(&mut self, now: Duration) {
        while let Some(news) = self.lead.news() {
            match news {
                News::Wrong(what) => message::remark(&what),
                _ if !self.said => {}
                News::Came { name, here } => {
                    message::status(&format!("agent {name}: {here} of {} are here", self.wanted));
                }
                News::Starts(within) => {
                    message::status(&format!("all are ready, start in {} s", within.as_secs()));
                }
            }
        }
        let Some(at) = self.lead.start().and_then(|start| now.checked_sub(start)) else {
            return;
        };
        if self.said && at >= self.said_at.map_or(SAY_EVERY, |last| last + SAY_EVERY) {
            self.said_at = Some(at);
            let blocks = units::count(self.lead.blocks());
            message::status(&format!("{:>4.0} s  {blocks} blocks", at.as_secs_f64()));
        }
    }
}

/// What agents cannot do together is a mistake on this command line.
fn unshared(error: bench::Error) -> Failure {
    Failure::usage(error.to_string())
        .help("--lead needs one --codec, one --pool and one --rate N (or --interval TIME)")
}

fn trouble_said(trouble: &Trouble, outcome: &mut Outcome) {
    let (status, help) = match trouble {
        Trouble::Missing { came: 0, .. } => (
            ExitStatus::Failure,
            "start agents with --join and the same address, or wait longer with --wait",
        ),
        Trouble::Missing { .. } => (
            ExitStatus::Failure,
            "start more agents, say --agents N, or wait longer with --wait",
        ),
        Trouble::Refused { .. } => (ExitStatus::Failure, "see what it printed itself"),
        _ => (
            ExitStatus::Partial,
            "the others were stopped, and the report has what they did until then",
        ),
    };
    message::failure(&Failure::new(trouble.to_string()).help(help));
    outcome.complete = false;
    if outcome.status != ExitStatus::Interrupted {
        outcome.status = status;
    }
}

fn names(trouble: &Trouble, complaint: &AgentComplaint) -> bool {
    match (trouble, complaint) {
        // Of all that did not begin nothing has to be said.
        (Trouble::Missing { .. }, _) => true,
        (
            Trouble::Refused { name, .. } | Trouble::Vanished { name },
            AgentComplaint::Gone { name: gone, .. },
        ) => name == gone,
        // They were stopped because of it.
        (_, AgentComplaint::Failed { code, .. }) => *code == ExitStatus::Interrupted.code(),
        _ => false,
    }
}

fn next_step(complaint: &AgentComplaint) -> &'static str {
    match complaint {
        AgentComplaint::Late { .. } => {
            "give its machine less other work, add agents, or allow more with --late-after"
        }
        _ => "see what it printed itself",
    }
}
