//! A real server of Kafka on ports of this machine: one process that keeps its own metadata (KRaft). Its archives are in
//! the directory `PERFKIT_KAFKA`, and `java` runs them.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::signals::until;
use crate::common::{directory, file};
use crate::peer;
use crate::worker_case::Urls;

/// The partitions of topics that perfkit creates.
const PARTITIONS: i32 = 8;

fn archives() -> Option<PathBuf> {
    std::env::var_os("PERFKIT_KAFKA").map(PathBuf::from)
}

/// Whether servers can be started, and Kafka's own client, which is a source, too.
pub(crate) fn is_here() -> bool {
    archives().is_some_and(|path| path.is_dir())
        && peer::works(Command::new("javac").arg("-version"))
        && peer::works(java("128m").args(["kafka.Kafka", "--version"]))
}

/// Java with the archives on its path, small and quick to start.
fn java(memory: &str) -> Command {
    let archives = archives().expect("it is here");
    let mut command = Command::new("java");
    command
        .arg(format!("-Xmx{memory}"))
        .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"])
        .arg(archives.join("*"))
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn free_port() -> u16 {
    // Free a moment ago, and asked for at once.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// A server with its topics in a directory, killed when dropped.
pub(crate) struct Server {
    process: Child,
    root: tempfile::TempDir,
    port: u16,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with("", "PLAINTEXT")
    }

    /// A server with more lines among its settings, whose clients speak that protocol.
    pub(crate) fn start_with(settings: &str, protocol: &str) -> Self {
        Self::start_formatted(settings, protocol, &[])
    }

    /// The same, with users of SCRAM of the form NAME, PASSWORD.
    pub(crate) fn start_formatted(settings: &str, protocol: &str, users: &[(&str, &str)]) -> Self {
        let users = users
            .iter()
            .map(|(name, password)| format!("SCRAM-SHA-512=[name={name},password={password}]"));
        let users = users.flat_map(|user| ["--add-scram".to_owned(), user]);
        let root = directory();
        let (port, controller) = (free_port(), free_port());
        let text = format!(
            "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:{controller}\n\
             listeners=CLIENTS://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n\
             advertised.listeners=CLIENTS://127.0.0.1:{port}\ncontroller.listener.names=CONTROLLER\n\
             inter.broker.listener.name=CLIENTS\n\
             listener.security.protocol.map=CLIENTS:{protocol},CONTROLLER:PLAINTEXT\n\
             log.dirs={}\nauto.create.topics.enable=false\ngroup.initial.rebalance.delay.ms=0\n\
             group.min.session.timeout.ms=1000\nbroker.session.timeout.ms=2000\nbroker.heartbeat.interval.ms=500\noffsets.topic.replication.factor=1\noffsets.topic.num.partitions=4\n\
             transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n\
             transaction.state.log.num.partitions=4\nlog.cleaner.dedupe.buffer.size=4194304\n{settings}\n",
            root.path().join("topics").display()
        );
        file(root.path(), "server.properties", text.as_bytes());
        let formatted = java("128m")
            .args(["kafka.tools.StorageTool", "format"])
            .args(["-t", "AAAAAAAAAAAAAAAAAAAAAA", "-c", "server.properties"])
            .args(users)
            .current_dir(root.path())
            .stdout(Stdio::null())
            .status();
        assert!(formatted.expect("java runs").success());
        let server = Self {
            process: spawn(root.path()),
            root,
            port,
        };
        server.wait();
        server
    }

    fn wait(&self) {
        until("the server listens", || {
            TcpStream::connect(("127.0.0.1", self.port)).is_ok()
        });
    }

    pub(crate) fn process(&self) -> &Child {
        &self.process
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("killed");
        self.process.wait().expect("ended");
    }

    pub(crate) fn restart(&mut self) {
        self.process = spawn(self.root.path());
        self.wait();
    }

    /// Runs Kafka's own client.
    fn client(&self, word: &str, words: &[&str]) -> String {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/Kafka.java");
        let output = java("256m")
            .arg(source)
            .args([word, &format!("127.0.0.1:{}", self.port)])
            .args(words)
            .output()
            .expect("java runs");
        assert!(output.status.success(), "{word} {words:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Creates topics of the form NAME,KEY=VALUE.
    pub(crate) fn create(&self, topics: &[&str]) {
        self.client("create", topics);
    }

    /// Removes what stands before this offset of each partition, or before its end.
    pub(crate) fn remove_before(&self, topic: &str, offset: i64) {
        self.client("remove", &[topic, &offset.to_string()]);
    }

    /// Lets the servers forget what they keep of a group, as they do after a week.
    pub(crate) fn forget(&self, group: &str) {
        self.client("forget", &[group]);
    }

    /// Which block each message of a topic answers, as another client reads it.
    pub(crate) fn answered(&self, topic: &str) -> Vec<String> {
        self.client("print", &[topic])
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// The offsets of a topic that are in use, ends of transactions included; 0 if there is no such topic.
    fn offsets(&self, topic: &str) -> Option<i64> {
        let mut server = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        server
            .set_read_timeout(Some(Duration::from_secs(10)))
            .ok()?;
        // ListOffsets, version 1: the last offset of each partition.
        let mut body = Vec::new();
        body.extend_from_slice(&[0, 2, 0, 1, 0, 0, 0, 0, 0, 0]);
        body.extend_from_slice(&(-1_i32).to_be_bytes());
        body.extend_from_slice(&1_i32.to_be_bytes());
        body.extend_from_slice(&u16::try_from(topic.len()).ok()?.to_be_bytes());
        body.extend_from_slice(topic.as_bytes());
        body.extend_from_slice(&PARTITIONS.to_be_bytes());
        for partition in 0..PARTITIONS {
            body.extend_from_slice(&partition.to_be_bytes());
            body.extend_from_slice(&(-1_i64).to_be_bytes());
        }
        server
            .write_all(&i32::try_from(body.len()).ok()?.to_be_bytes())
            .ok()?;
        server.write_all(&body).ok()?;
        let mut length = [0; 4];
        server.read_exact(&mut length).ok()?;
        let mut answer = vec![0; usize::try_from(i32::from_be_bytes(length)).ok()?];
        server.read_exact(&mut answer).ok()?;
        // Correlation, one topic with its name, the number of partitions; then partition, error, time, offset.
        let rows = answer.get(4 + 4 + 2 + topic.len() + 4..)?;
        let offset = |row: &[u8]| Some(i64::from_be_bytes(row.get(14..22)?.try_into().ok()?));
        rows.chunks(22)
            .map(|row| offset(row).map(|offset| offset.max(0)))
            .sum()
    }

    /// Waits until a topic has so many messages, ends of transactions included.
    pub(crate) fn until_offsets(&self, topic: &str, count: usize) {
        let count = i64::try_from(count).expect("a number");
        until(&format!("{count} messages in {topic}"), || {
            self.offsets(topic).is_some_and(|offsets| offsets >= count)
        });
    }
}

impl Urls for Server {
    fn url(&self, stream: &str) -> String {
        format!("kafka://127.0.0.1:{}/{stream}", self.port)
    }
}

fn spawn(root: &Path) -> Child {
    java("384m")
        .args(["kafka.Kafka", "server.properties"])
        .current_dir(root)
        .stdout(Stdio::null())
        .spawn()
        .expect("java runs")
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
