//! Runs the comparison, and writes its record.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{FixSession, Part};
use crate::peers::{LAST_CPU, Size, build_perfkit, fix, is_built, made};
use crate::record::{Machine, Record, Results};
use crate::{metadata, sh};

/// The processors of the client and of the acceptors.
const CPUS: &str = "0,1";
/// How long an engine may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// Measures and writes the record.
pub(crate) fn run(size: Size) -> Result<()> {
    build_perfkit()?;
    let perfkit = metadata::measured_binaries()?.join("perfkit");
    let bench_peers = sh::root().join("bench-peers");
    let quickfix = bench_peers.join("target/fix/quickfix-session");
    if !is_built() {
        fix::compile_quickfix("session.cpp", &quickfix)?;
    }
    let bench = Bench {
        dictionary: fix::dictionary(&bench_peers.join("fix"))?,
        folder: tempfile::tempdir()?,
        size,
        perfkit,
        quickfix,
    };
    let (name, command) = match size {
        Size::Full => ("fix-session", "cargo xtask peers fix-session"),
        Size::Quick => ("fix-session-quick", "cargo xtask peers fix-session --quick"),
    };
    let parts = vec![bench.echo()?, bench.resend()?, bench.memory()?];
    let mut record = Record::new(
        "Sessions of fixsession, a plain loop and QuickFIX",
        command,
        Results::FixSession(FixSession { parts }),
    );
    record.quick = size == Size::Quick;
    record.made = vec![made(&bench.perfkit)?];
    record.versions = vec![fix::quickfix_version()?];
    record.machine = Some(Machine::here());
    println!("{}", record.write(name)?.display());
    Ok(())
}

struct Bench {
    perfkit: PathBuf,
    quickfix: PathBuf,
    dictionary: PathBuf,
    folder: tempfile::TempDir,
    size: Size,
}

impl Bench {
    /// Echo of 1, 64 and 1,000 sessions, messages in memory.
    fn echo(&self) -> Result<Part> {
        let engine = self.quickfix(1_000, None)?;
        let words = ["--sessions", "1,64,1000", "--resend", "0"];
        self.measure("Echo", &engine, "QuickFIX", &words)
    }

    /// A resend, and an echo whose messages are kept in files.
    fn resend(&self) -> Result<Part> {
        let store = self.folder.path().join("quickfix");
        fs::create_dir_all(&store)?;
        let engine = self.quickfix(1, Some(&store))?;
        let words = ["--sessions", "1", "--durable", "--rate", "0"];
        let title = "Resend, and echo with messages kept in files";
        self.measure(title, &engine, "QuickFIX", &words)
    }

    /// What 1,000 sessions add to a process of `perfkit fix acceptor`.
    fn memory(&self) -> Result<Part> {
        let port = free_port()?;
        let settings = self.folder.path().join("acceptor.cfg");
        let text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptAddress=127.0.0.1\nSocketAcceptPort={}\n\
             NonStopSession=Y\n[SESSION]\nBeginString=FIX.4.4\nSenderCompID=SERVER\nTargetCompID=*\n\
             AcceptorTemplate=Y\n",
            port.port()
        );
        fs::write(&settings, text)?;
        let mut command = sh::command(&self.perfkit);
        command.args(["fix", "acceptor", "-q", "--app", "echo", "--settings"]);
        let engine = Engine::start(command.arg(&settings), port)?;
        let words = [
            "--sessions",
            "1000",
            "--transport",
            "epoll",
            "--rate",
            "0",
            "--resend",
            "0",
        ];
        self.measure("Memory of a process", &engine, "fix acceptor", &words)
    }

    fn quickfix(&self, sessions: u32, store: Option<&Path>) -> Result<Engine> {
        let port = free_port()?;
        let mut command = match sh::find("taskset") {
            Some(taskset) => {
                let mut command = sh::command(taskset);
                command.args(["-c", LAST_CPU]).arg(&self.quickfix);
                command
            }
            None => sh::command(&self.quickfix),
        };
        command.args([port.port().to_string(), sessions.to_string()]);
        command.arg(&self.dictionary);
        Engine::start(command.args(store), port)
    }

    fn measure(&self, title: &str, engine: &Engine, name: &str, words: &[&str]) -> Result<Part> {
        let json = self.folder.path().join("report.json");
        let (address, pid) = (engine.address.to_string(), engine.child.id().to_string());
        let mut all = vec!["fix-bench", "session", "--cpu", CPUS, "--name", name];
        all.extend(words);
        if self.size == Size::Quick {
            all.extend(["--rounds", "2", "--messages", "2000"]);
        }
        let shown = format!("perfkit {} --connect HOST:PORT", all.join(" "));
        println!("$ {shown}");
        let mut command = sh::command(&self.perfkit);
        command
            .args(&all)
            .args(["--connect", &address, "--pid", &pid]);
        command.args(["-qq", "--force", "--export-json"]).arg(&json);
        sh::output(&mut command)?;
        let report: Value = serde_json::from_str(&fs::read_to_string(&json)?)?;
        let checked = &report["validation"];
        ensure!(checked["ok"] == true, "wrong answers: {checked}");
        Ok(Part {
            title: title.to_owned(),
            command: shown,
            answers: checked["checked"].as_u64().unwrap_or(0),
            tables: serde_json::from_value(report["tables"].clone())?,
        })
    }
}

/// An acceptor in a process of its own, which ends with this value.
struct Engine {
    child: Child,
    address: SocketAddr,
}

impl Engine {
    fn start(command: &mut Command, address: SocketAddr) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| sh::shown(command))?;
        let stdout = child.stdout.take();
        // Whatever it says: nobody waits for it to be read.
        std::thread::spawn(move || {
            let lines = stdout.map(|stdout| BufReader::new(stdout).lines());
            lines.into_iter().flatten().for_each(drop);
        });
        let engine = Self { child, address };
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            ensure!(start.elapsed() < PATIENCE, "nothing listens at {address}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(engine)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port of 127.0.0.1 that is free now.
fn free_port() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}
