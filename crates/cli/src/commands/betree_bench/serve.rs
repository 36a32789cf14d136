//! `perfkit betree-bench serve`: a matcher under load, in a process of its own. How it is measured is in
//! `bench::betree::serve`.

use std::ffi::OsString;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bench::betree::serve::{self as method, Plan};
use latency::report::LatencyName;
use report::{ExitStatus, Outcome};

use crate::commands::betree_bench::flags::ServeArgs;
use crate::commands::watch::Watcher;
use crate::failure::{Failure, Result};
use crate::session::{Session, Setup};
use crate::term::signal;

/// How long the server may take to start and to end.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(5);

/// Runs the command.
pub(super) fn run(args: &ServeArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let plan = plan(args);
    let domains = method::domains(&plan)?;
    let session = Session::start(&Setup {
        seed: Some(args.seed),
        rows: &LatencyName::ALL,
        ..Setup::analysis(name, argv, &args.output)
    })?;
    let mut outcome = Outcome::new("betree-bench");
    let watcher = Watcher::new(args.output.terminal.wants_progress());
    match args.connect {
        Some(address) => method::run(&plan, address, watcher.of(&session), &mut outcome)?,
        None => {
            let server = Server::start(args, &domains)?;
            method::run(&plan, server.address, watcher.of(&session), &mut outcome)?;
            // What the server recorded: rows of its own.
            let report = server.stop()?;
            let own = report.latencies.into_iter();
            outcome.latencies.extend(own.map(|mut row| {
                row.series = Some(format!("server {}", row.series.unwrap_or_default()));
                row
            }));
        }
    }
    session.finish(outcome)
}

fn plan(args: &ServeArgs) -> Plan {
    let mut plan = Plan::default();
    plan.shape.clone_from(&args.shape);
    plan.expressions = args.expressions;
    plan.rate = f64::from(args.events_per_s);
    plan.batch = args.batch;
    plan.connections = args.connections;
    plan.changes_rate = f64::from(args.changes_per_s);
    plan.duration = args.duration;
    plan.seed = args.seed;
    plan
}

/// A server in a process of its own, which ends with this value.
struct Server {
    child: Child,
    address: SocketAddr,
    report: PathBuf,
    directory: tempfile::TempDir,
}

impl Server {
    fn start(args: &ServeArgs, domains: &str) -> Result<Self> {
        let directory = tempfile::tempdir()
            .map_err(|error| Failure::new(format!("cannot create a directory: {error}")))?;
        let path = |name: &str| directory.path().join(name);
        let (file, ready, report) = (path("domains"), path("ready"), path("report"));
        std::fs::write(&file, domains).map_err(|error| Failure::io("write", &file, &error))?;
        let program = std::env::current_exe()
            .map_err(|error| Failure::new(format!("cannot find this program: {error}")))?;
        let mut command = Command::new(&program);
        // What is measured takes no defaults of the user.
        command
            .env(crate::config::FILE_VARIABLE, "")
            .args(["betree", "serve", "--listen", "127.0.0.1:0", "-qq"])
            .args(["--sync", &args.sync])
            .arg("--log")
            .arg(path("state"))
            .arg("--domains")
            .arg(&file)
            .arg("--ready-file")
            .arg(&ready)
            .arg("--export-json")
            .arg(&report)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if let Some(threads) = args.threads {
            command.args(["-T", &threads.to_string()]);
        }
        let mut child = command
            .spawn()
            .map_err(|error| Failure::program("server", &program, &error))?;
        let address = address(&mut child, &ready)?;
        Ok(Self {
            child,
            address,
            report,
            directory,
        })
    }

    /// Ends the server as a supervisor would, and returns its report.
    fn stop(mut self) -> Result<latency::Report> {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process};
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        }
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Ok(Some(_)) = self.child.try_wait() {
                break;
            }
            std::thread::sleep(LOOK);
        }
        let bytes = std::fs::read(&self.report)
            .map_err(|error| Failure::io("read", &self.report, &error))?;
        latency::report::read_json(&bytes)
            .map_err(|error| Failure::new(format!("cannot read the report of the server: {error}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = self.directory.path();
    }
}

/// Waits until the server answers, and returns where.
fn address(child: &mut Child, ready: &Path) -> Result<SocketAddr> {
    let until = Instant::now() + PATIENCE;
    loop {
        let text = std::fs::read_to_string(ready).unwrap_or_default();
        let address = text.trim().strip_prefix("http://");
        if let Some(address) = address.and_then(|address| address.parse().ok()) {
            return Ok(address);
        }
        let ended = child.try_wait().is_ok_and(|status| status.is_some());
        if ended || Instant::now() > until || signal::interrupted() {
            let _ = child.kill();
            let _ = child.wait();
            let mut said = String::new();
            if let Some(mut stderr) = child.stderr.take() {
                let _ = stderr.read_to_string(&mut said);
            }
            let message = format!("the server did not start: {}", said.trim());
            return Err(Failure::new(message));
        }
        std::thread::sleep(LOOK);
    }
}
