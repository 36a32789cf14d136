//! A lead and agents under a simulated clock, over a network that loses, repeats and delays; and what is merged of their
//! reports.

use std::time::{Duration, Instant};

use latency::report::{LatencyName, Report, Validation};
use latency::{Recorder, Spec, SplitMix64};
use report::{ExitStatus, Outcome, Run, RunOptions};
use stress::{Pace, Plan as Load, PoolKind};

use super::*;
use crate::stress::Plan;

const MS: Duration = Duration::from_millis(1);
const RUN: Duration = Duration::from_secs(3);

fn shared() -> SharedPlan {
    let run = Load::default().pace(Pace::Poisson(1_000.0)).duration(RUN);
    let plan = Plan::new(vec![("none".to_owned(), PoolKind::Mutex)], run);
    SharedPlan::of(&plan, 10 * MS).unwrap()
}

/// Times of an agent, some of them beyond the range of a histogram.
fn values(agent: u64, count: u64) -> Vec<u64> {
    let mut random = SplitMix64::new(agent);
    let value = |_| {
        let bits = 10 + random.below(30);
        1_000 + random.below(1 << bits)
    };
    (0..count).map(value).chain([u64::MAX / 2]).collect()
}

fn recorded(values: &[u64]) -> latency::Recording {
    let spec = Spec::new(LatencyName::Response, "end to end");
    let mut recorder = Recorder::new(spec, Instant::now());
    values.iter().for_each(|value| recorder.record_ns(*value));
    recorder.finish()
}

/// The report of an agent whose starts were late in this share.
fn reported(values: &[u64], late: f64) -> Report {
    let mut outcome = Outcome::new("stress");
    outcome.add(&recorded(values));
    outcome.validation = Some(Validation::new("comparing", values.len() as u64, 0));
    outcome.load.model = latency::report::LoadModel::Open;
    outcome.load.late_start_ratio = Some(late);
    outcome.load.rate_target_per_s = Some(250.0);
    (outcome.bytes_in, outcome.bytes_out) = (1_000, 500);
    let mut options = RunOptions::new("perfkit", VERSION, "stress");
    options.floors = false;
    Run::start(options).unwrap().finish(outcome).report
}

/// What an agent of the simulation does.
struct Simulated {
    agent: Agent,
    comes_at: Duration,
    dies_at: Option<Duration>,
    runs_until: Option<Duration>,
    report: String,
    ended: Option<Result<(), String>>,
    orders: Vec<&'static str>,
}

struct World {
    lead: Lead,
    agents: Vec<Simulated>,
    random: SplitMix64,
    /// How many of a thousand messages are lost, and how many repeated.
    lost: u64,
    /// On their way: when they arrive, to which agent or the lead, what.
    flying: Vec<(Duration, Option<usize>, Vec<u8>)>,
    now: Duration,
}

impl World {
    fn new(agents: u64, wanted: u32, lost: u64, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let agents = (0..agents).map(|nth| Simulated {
            agent: Agent::new(
                &format!("id-{nth}"),
                &format!("host-{nth}"),
                Duration::from_secs(60),
            ),
            comes_at: MS * (random.below(3_000) as u32),
            dies_at: None,
            runs_until: None,
            report: serde_json::to_string(&reported(&values(nth, 500), 0.0)).unwrap(),
            ended: None,
            orders: Vec::new(),
        });
        Self {
            agents: agents.collect(),
            lead: Lead::new("run-1", shared(), wanted, Duration::from_secs(30)),
            random,
            lost,
            flying: Vec::new(),
            now: Duration::ZERO,
        }
    }

    fn fly(&mut self, to: Option<usize>, bytes: &[u8]) {
        for _ in 0..1 + u64::from(self.random.below(1000) < self.lost) {
            if self.random.below(1000) >= self.lost {
                let arrives = self.now + MS * (1 + self.random.below(300) as u32);
                self.flying.push((arrives, to, bytes.to_vec()));
            }
        }
    }

    fn step(&mut self) {
        self.now += 10 * MS;
        let now = self.now;
        let (arrived, flying) = std::mem::take(&mut self.flying)
            .into_iter()
            .partition(|(at, ..)| *at <= now);
        self.flying = flying;
        let arrived: Vec<_> = arrived;
        for (_, to, bytes) in arrived {
            match to {
                None => self.lead.heard(&bytes, now),
                Some(at) if self.agents[at].lives(now) => self.agents[at].agent.heard(&bytes, now),
                Some(_) => {}
            }
        }
        self.lead.tick(now);
        while let Some((id, bytes)) = self.lead.send() {
            let nth = id.strip_prefix("id-").unwrap().parse().unwrap();
            self.fly(Some(nth), &bytes);
        }
        for at in 0..self.agents.len() {
            for bytes in self.agents[at].step(now) {
                self.fly(None, &bytes);
            }
        }
    }

    /// Until the lead has ended, and its agents, too.
    fn run(&mut self) {
        while !(self.lead.is_over()
            && self
                .agents
                .iter()
                .all(|one| one.agent.is_over() || !one.lives(self.now)))
        {
            self.step();
            assert!(self.now < Duration::from_secs(300), "{:?}", self.lead);
        }
    }
}

impl Simulated {
    fn lives(&self, now: Duration) -> bool {
        now >= self.comes_at && self.dies_at.is_none_or(|dies| now < dies)
    }

    fn step(&mut self, now: Duration) -> Vec<Vec<u8>> {
        if !self.lives(now) {
            return Vec::new();
        }
        self.agent.tick(now);
        while let Some(order) = self.agent.order() {
            match order {
                Order::Prepare(part) => {
                    assert!(part.plan().is_ok());
                    self.orders.push("prepare");
                    self.agent.ready(now);
                }
                Order::Start(at) => {
                    self.orders.push("start");
                    self.runs_until = Some(at + RUN);
                }
                Order::Stop(_) => {
                    self.orders.push("stop");
                    self.runs_until = Some(now);
                }
                Order::Done => self.ended = Some(Ok(())),
                Order::Failed(reason) => self.ended = Some(Err(reason)),
            }
        }
        if self.runs_until.is_some_and(|end| now >= end) {
            self.runs_until = None;
            let report = self.report.clone();
            self.agent.report(&report);
            self.agent.tick(now);
        }
        std::iter::from_fn(|| self.agent.send()).collect()
    }
}

#[test]
fn four_agents_report_once_whatever_gets_lost() {
    for seed in 0..30 {
        let lost = [0, 100, 300][seed as usize % 3];
        let mut world = World::new(4, 4, lost, seed);
        world.run();
        assert_eq!(world.lead.trouble(), None, "{seed}");
        for one in &world.agents {
            assert_eq!(one.orders, ["prepare", "start"], "{seed}");
            assert_eq!(one.ended, Some(Ok(())), "{seed}");
        }
        let mut parts: Vec<_> = world.lead.members().iter().map(Member::name).collect();
        parts.sort_unstable();
        assert_eq!(parts, ["host-0", "host-1", "host-2", "host-3"]);
    }
}

#[test]
fn whoever_stood_still_blames_no_other() {
    let mut world = World::new(2, 2, 0, 6);
    while world
        .lead
        .start()
        .is_none_or(|start| world.now < start + RUN / 2)
    {
        world.step();
    }
    // All of them, as when a machine sleeps; what was said before arrives after.
    world.now += 6 * SILENCE;
    world.run();
    assert_eq!(world.lead.trouble(), None);
    assert!(world.agents.iter().all(|one| one.ended == Some(Ok(()))));
}

#[test]
fn one_too_many_is_sent_away() {
    let mut world = World::new(3, 2, 0, 1);
    world.run();
    let away = world.agents.iter().filter_map(|one| match &one.ended {
        Some(Err(reason)) => Some(reason.as_str()),
        _ => None,
    });
    assert_eq!(away.collect::<Vec<_>>(), ["the run has its 2 agents"]);
    assert_eq!(world.lead.trouble(), None);
}

#[test]
fn a_run_without_its_agents_does_not_begin() {
    let mut world = World::new(1, 2, 0, 1);
    world.run();
    let said = world.lead.trouble().unwrap().to_string();
    assert_eq!(said, "1 of 2 agents came within 30 s");
    assert!(matches!(&world.agents[0].ended, Some(Err(reason)) if *reason == said));
}

#[test]
fn one_that_vanishes_stops_the_others() {
    let mut world = World::new(3, 3, 0, 2);
    while world
        .lead
        .start()
        .is_none_or(|start| world.now < start + RUN / 2)
    {
        world.step();
    }
    world.agents[1].dies_at = Some(world.now);
    world.run();
    let trouble = world.lead.trouble().unwrap().clone();
    assert_eq!(
        trouble,
        Trouble::Vanished {
            name: "host-1".to_owned()
        }
    );
    let mut outcome = Outcome::new("stress");
    let complaints = merge(world.lead.members(), &shared(), false, &mut outcome).unwrap();
    assert_eq!(outcome.status, ExitStatus::Partial);
    assert!(!outcome.complete);
    let gone: Vec<_> = complaints.iter().map(ToString::to_string).collect();
    assert_eq!(gone, ["agent host-1 is not in this report: it vanished"]);
    assert_eq!(outcome.load.rate_target_per_s, Some(1_000.0));
    // What the others have is reported.
    assert_eq!(outcome.latencies[0].n, 2 * 501);
}

#[test]
fn agents_stop_when_their_lead_vanishes() {
    let mut world = World::new(2, 2, 0, 3);
    while world.lead.start().is_none_or(|start| world.now < start) {
        world.step();
    }
    // Nothing arrives any more, in either direction.
    world.lost = 1000;
    world.flying.clear();
    for one in &mut world.agents {
        one.runs_until = one.runs_until.map(|end| end + Duration::from_secs(60));
    }
    while !world.agents.iter().all(|one| one.agent.is_over()) {
        world.step();
        assert!(world.now < Duration::from_secs(60));
    }
    world.step();
    for one in &world.agents {
        assert_eq!(one.orders.last(), Some(&"stop"));
        assert!(matches!(&one.ended, Some(Err(reason)) if reason.contains("vanished")));
    }
}

#[test]
fn a_lead_that_is_interrupted_gets_what_there_is() {
    let mut world = World::new(2, 2, 100, 4);
    while world
        .lead
        .start()
        .is_none_or(|start| world.now < start + RUN / 3)
    {
        world.step();
    }
    world.lead.stop("interrupted", world.now);
    world.run();
    assert!(
        world
            .lead
            .members()
            .iter()
            .all(|one| matches!(one.ended(), Some(Ended::Reported(_))))
    );
    assert_eq!(world.lead.trouble(), None);
}

/// The members of a run whose agents sent these reports.
fn members(reports: &[Report]) -> Vec<Member> {
    let mut world = World::new(reports.len() as u64, reports.len() as u32, 0, 5);
    for (one, report) in world.agents.iter_mut().zip(reports) {
        one.report = serde_json::to_string(report).unwrap();
    }
    world.run();
    world.lead.members().to_vec()
}

#[test]
fn histograms_of_four_agents_are_that_of_one_recorder_bit_for_bit() {
    let parts: Vec<_> = (0..4)
        .map(|agent| values(agent, 5_000 + 777 * agent))
        .collect();
    let reports: Vec<_> = parts.iter().map(|part| reported(part, 0.0)).collect();
    let mut outcome = Outcome::new("stress");
    let complaints = merge(&members(&reports), &shared(), false, &mut outcome).unwrap();
    assert_eq!(complaints, []);
    let one = recorded(&parts.concat()).latency();
    let [merged] = &outcome.latencies[..] else {
        panic!("{} rows", outcome.latencies.len());
    };
    assert_eq!(
        merged.histogram_v2_deflate_b64,
        one.histogram_v2_deflate_b64
    );
    assert_eq!(merged.histogram().unwrap(), one.histogram().unwrap());
    let exact = |row: &latency::Latency| (row.n, row.min_ns, row.max_ns, row.saturated);
    assert_eq!(exact(merged), exact(&one));
    let known = |row: &latency::Latency| -> Vec<_> {
        let values = row.percentiles.iter();
        values.map(|found| (found.p, found.value_ns)).collect()
    };
    assert_eq!(known(merged), known(&one));
    assert_eq!((outcome.bytes_in, outcome.bytes_out), (4_000, 2_000));
    assert_eq!(outcome.findings, ["4 agents, all in time."]);
}

#[test]
fn a_late_agent_is_named() {
    let shares = [0.0, 0.098, 0.01];
    let reports: Vec<_> = shares
        .iter()
        .map(|late| reported(&values(1, 10), *late))
        .collect();
    let members = members(&reports);
    let mut outcome = Outcome::new("stress");
    let complaints = merge(&members, &shared(), false, &mut outcome).unwrap();
    let late = members.iter().find(|member| {
        matches!(member.ended(), Some(Ended::Reported(report)) if report.load.late_start_ratio == Some(0.098))
    });
    let said: Vec<_> = complaints.iter().map(ToString::to_string).collect();
    let name = late.unwrap().name();
    assert_eq!(
        said,
        [format!(
            "agent {name} was late: 9.8 % of its blocks started over 10 ms after they were due, and at most 1 % may"
        )]
    );
    assert_eq!(outcome.status, ExitStatus::Gate);
    assert_eq!(outcome.findings, ["3 agents, 2 in time, 1 late."]);
}
