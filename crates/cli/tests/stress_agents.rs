//! `perfkit stress --lead` and `--join` over a real server of NATS: histograms add up to the bit, and an agent that stands
//! still or dies is named.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use latency::Histogram;
use latency::report::read_json;
use libtest_mimic::Trial;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::broker::Broker;
use crate::common::signals::{send, until};
use crate::common::{Run, directory, file, perfkit, words};
use crate::peer;

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has_server = peer::works(Command::new("nats-server").arg("--version"));
    peer::trials![
        has_server => [
            histograms_of_four_agents_add_up_to_the_bit,
            an_agent_that_stands_still_is_named,
            an_agent_that_is_killed_fails_the_run,
            a_lead_without_agents_says_so,
            secrets_of_agents_are_not_in_reports,
        ],
    ]
}

/// A run in a directory.
struct Load {
    broker: Broker,
    dir: tempfile::TempDir,
}

impl Load {
    fn new() -> Self {
        Self {
            broker: Broker::start(),
            dir: directory(),
        }
    }

    fn spawn(&self, line: &str) -> Child {
        let mut command = perfkit();
        command.current_dir(self.dir.path()).args(words(line));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("perfkit runs")
    }

    fn lead(&self, agents: u32, more: &str) -> Child {
        let url = self.broker.url("load");
        self.spawn(&format!(
            "stress --lead {url} --agents {agents} --codec none --interval 20ms --producers 10 --threads 1 \
             --wait 120s --export-json lead.json {more}"
        ))
    }

    fn agent(&self, nth: usize) -> Child {
        let url = self.broker.url("load");
        self.spawn(&format!(
            "stress --join {url} --wait 120s --export-json agent{nth}.json"
        ))
    }

    fn report(&self, name: &str) -> latency::Report {
        let bytes = std::fs::read(self.dir.path().join(name)).expect("a report");
        read_json(&bytes).expect("a report")
    }
}

fn ended(child: Child) -> Run {
    child.wait_with_output().expect("it ends").into()
}

/// The agents of a report: name and verdict.
fn verdicts(report: &latency::Report) -> Vec<(String, String)> {
    let table = report.tables.iter().find(|table| table.name == "agents");
    let text = |cell: &latency::report::Cell| match cell {
        latency::report::Cell::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    let rows = table.expect("a table of agents").rows.iter();
    rows.map(|row| (text(&row[0]), text(&row[1]))).collect()
}

fn histograms_of_four_agents_add_up_to_the_bit() {
    let load = Load::new();
    // A start of any lateness is in time: other tests run at the same time.
    let lead = load.lead(4, "--duration 2s --late-after 3600s --seed 5");
    let agents: Vec<_> = (0..4).map(|nth| load.agent(nth)).collect();
    for agent in agents {
        ended(agent).expect(0);
    }
    let said = ended(lead).expect(0);
    assert!(said.text().contains("4 agents"), "{}", said.text());
    let whole = load.report("lead.json");
    let parts: Vec<_> = (0..4)
        .map(|nth| load.report(&format!("agent{nth}.json")))
        .collect();
    assert!(whole.complete);
    assert_eq!(verdicts(&whole).len(), 4);
    assert_eq!(whole.latencies.len(), parts[0].latencies.len());
    for (at, row) in whole.latencies.iter().enumerate() {
        let mut sum: Option<Histogram<u64>> = None;
        let mut n = 0;
        for part in &parts {
            let own = &part.latencies[at];
            n += own.n;
            assert_eq!((own.name, &own.operation), (row.name, &row.operation));
            let histogram = own.histogram().expect("a histogram");
            match &mut sum {
                None => sum = Some(histogram),
                Some(sum) => sum.add(&histogram).expect("of one layout"),
            }
        }
        let sum = sum.expect("four parts");
        assert_eq!(row.histogram().expect("a histogram"), sum);
        assert_eq!(row.n, n);
        let coded = latency::Latency::from_histogram(row.name, "sum", row.timing, &sum);
        assert_eq!(row.histogram_v2_deflate_b64, coded.histogram_v2_deflate_b64);
        assert_eq!(
            row.max_ns,
            parts
                .iter()
                .filter_map(|part| part.latencies[at].max_ns)
                .max()
        );
    }
    let seeds: std::collections::BTreeSet<_> = parts.iter().map(|part| part.command.seed).collect();
    assert_eq!(seeds.len(), 4);
    assert!(seeds.contains(&Some(5)));
    let rates = parts.iter().filter_map(|part| part.load.rate_target_per_s);
    // Ten producers, each every 20 ms.
    assert!((rates.sum::<f64>() - 500.0).abs() < 1e-6);
    assert_eq!(whole.load.rate_target_per_s.map(f64::round), Some(500.0));
}

fn an_agent_that_stands_still_is_named() {
    let load = Load::new();
    let lead = Watched::new(load.lead(2, "--duration 4s --late-after 100ms"));
    let agents = [load.agent(0), load.agent(1)];
    let still = agents[0].id();
    lead.until_they_run();
    send(&agents[0], Signal::SIGSTOP);
    std::thread::sleep(Duration::from_millis(500));
    send(&agents[0], Signal::SIGCONT);
    for agent in agents {
        ended(agent).expect(0);
    }
    let said = lead.ended(4);
    let late: Vec<_> = said
        .lines()
        .filter(|line| line.contains("was late"))
        .collect();
    let name = format!("-{still} was late: ");
    assert!(late.iter().any(|line| line.contains(&name)), "{said}");
    assert!(
        late[0].contains("started over 100 ms after they were due"),
        "{said}"
    );
    let found = verdicts(&load.report("lead.json"));
    let own = found
        .iter()
        .find(|(name, _)| name.ends_with(&format!("-{still}")));
    assert_eq!(own.expect("it is listed").1, "LATE");
    assert_eq!(found.len(), 2);
}

/// A lead, and what it has said so far.
struct Watched {
    child: Child,
    said: Arc<Mutex<String>>,
    reader: JoinHandle<()>,
}

impl Watched {
    fn new(mut child: Child) -> Self {
        let stderr = child.stderr.take().expect("piped");
        let said = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&said);
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut heard = heard.lock().expect("no panic");
                heard.push_str(&line);
                heard.push('\n');
            }
        });
        Self {
            child,
            said,
            reader,
        }
    }

    /// Until its agents have run for a second.
    fn until_they_run(&self) {
        until("all are ready", || {
            self.said
                .lock()
                .expect("no panic")
                .contains("all are ready")
        });
        std::thread::sleep(Duration::from_secs(2));
    }

    fn ended(self, code: i32) -> String {
        ended(self.child).expect(code);
        self.reader.join().expect("read");
        self.said.lock().expect("no panic").clone()
    }
}

fn an_agent_that_is_killed_fails_the_run() {
    let load = Load::new();
    let lead = Watched::new(load.lead(2, "--duration 60s --late-after 3600s"));
    let mut agents = [load.agent(0), load.agent(1)];
    lead.until_they_run();
    let gone = agents[0].id();
    agents[0].kill().expect("killed");
    agents[0].wait().expect("ended");
    let said = lead.ended(3);
    let [_, other] = agents;
    let other = ended(other).expect(1);
    assert!(other.stderr.contains("has vanished"), "{}", other.stderr);
    let name = format!("-{gone} has vanished: nothing was heard of it for 10 s");
    let lines: Vec<_> = said
        .lines()
        .filter(|line| line.contains("vanished"))
        .collect();
    assert!(lines.len() == 1 && lines[0].contains(&name), "{said}");
    let report = load.report("lead.json");
    assert!(!report.complete && report.exit_code == 3);
    let found = verdicts(&report);
    let own = found
        .iter()
        .find(|(name, _)| name.ends_with(&format!("-{gone}")));
    assert_eq!(own.expect("it is listed").1, "GONE");
    // What the other one did is there, and what was asked of both.
    assert!(report.latencies[0].n > 0);
    assert_eq!(report.load.rate_target_per_s.map(f64::round), Some(500.0));
}

fn a_lead_without_agents_says_so() {
    let load = Load::new();
    let url = load.broker.url("load");
    let lead = load.spawn(&format!(
        "stress --lead {url} --agents 2 --codec none --rate 10 --wait 300ms"
    ));
    let run = ended(lead).expect(1);
    assert!(
        run.stderr.contains("0 of 2 agents came within 0.3 s") && run.stderr.contains("--join"),
        "{}",
        run.stderr
    );
    let agent = load.spawn(&format!("stress --join {url} --wait 300ms"));
    let run = ended(agent).expect(1);
    assert!(
        run.stderr.contains("no run began within 0.3 s"),
        "{}",
        run.stderr
    );
    // What several machines cannot do together.
    for wrong in [
        "",
        "--rate 50%",
        "--rate 10 --codec lz4,none",
        "--rate 5 --blocks 1",
    ] {
        let lead = load.spawn(&format!("stress --lead {url} --agents 2 {wrong}"));
        ended(lead).expect(2);
    }
}

fn secrets_of_agents_are_not_in_reports() {
    let broker = Broker::start_with("authorization { user: loader, password: \"s3cret\" }");
    let load = Load {
        broker,
        dir: directory(),
    };
    file(load.dir.path(), "password", b"s3cret\n");
    let access = "--user loader --password-file password -v";
    let url = load.broker.url("load");
    let lead = load.lead(1, &format!("--duration 300ms --late-after 3600s {access}"));
    let agent = load.spawn(&format!(
        "stress --join {url} --wait 120s --export-json agent0.json {access}"
    ));
    for (child, name) in [(agent, "agent0.json"), (lead, "lead.json")] {
        let run = ended(child).expect(0);
        let report = std::fs::read_to_string(load.dir.path().join(name)).expect("a report");
        for text in [
            &run.stderr,
            &String::from_utf8_lossy(&run.stdout).into_owned(),
            &report,
        ] {
            assert!(!text.contains("s3cret"), "{text}");
        }
        let _: Value = serde_json::from_str(&report).expect("JSON");
    }
}
