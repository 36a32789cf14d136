//! A real server of NATS on a port of this machine, for tests of what talks over it.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use nkeys::KeyPair;
use serde_json::Value;

use crate::common::signals::until;
use crate::common::{directory, file};

fn free_port() -> u16 {
    // Free a moment ago, and asked for at once.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// A server with its streams in a directory, killed when dropped.
pub(crate) struct Broker {
    pub(crate) process: Child,
    root: tempfile::TempDir,
    pub(crate) port: u16,
    monitor: u16,
}

impl Broker {
    pub(crate) fn start() -> Self {
        Self::start_with("")
    }

    /// A server with more lines in its configuration.
    pub(crate) fn start_with(configuration: &str) -> Self {
        let root = directory();
        let (port, monitor) = (free_port(), free_port());
        let text = format!(
            "listen: 127.0.0.1:{port}\nhttp: 127.0.0.1:{monitor}\njetstream {{ store_dir: store }}\n{configuration}\n"
        );
        file(root.path(), "server.conf", text.as_bytes());
        let process = spawn_server(root.path());
        let broker = Self {
            process,
            root,
            port,
            monitor,
        };
        broker.wait();
        broker
    }

    /// Until it answers, JetStream included.
    fn wait(&self) {
        until("the server is healthy", || {
            self.get("/healthz")
                .is_some_and(|body| body.contains("\"ok\""))
        });
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("killed");
        self.process.wait().expect("ended");
    }

    pub(crate) fn restart(&mut self) {
        self.process = spawn_server(self.root.path());
        self.wait();
    }

    pub(crate) fn url(&self, stream: &str) -> String {
        format!("nats://127.0.0.1:{}/{stream}", self.port)
    }

    fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.monitor)).ok()?;
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        Some(text.split_once("\r\n\r\n")?.1.to_owned())
    }

    /// Creates a stream with any settings, by the protocol itself.
    pub(crate) fn create(&self, stream: &str, settings: &str) {
        self.ask(&format!("STREAM.CREATE.{stream}"), settings);
        until("the stream", || self.stream(stream).is_some());
    }

    /// Changes the settings of a stream.
    pub(crate) fn update(&self, stream: &str, settings: &str) {
        self.ask(&format!("STREAM.UPDATE.{stream}"), settings);
    }

    /// Removes a stream with its consumers.
    pub(crate) fn delete(&self, stream: &str) {
        self.ask(&format!("STREAM.DELETE.{stream}"), "");
        until("the stream is gone", || self.stream(stream).is_none());
    }

    /// Creates a consumer of blocks, as other programs do.
    pub(crate) fn consumer(&self, stream: &str, name: &str) {
        let settings = format!(
            "{{\"stream_name\":\"{stream}\",\"config\":{{\"durable_name\":\"{name}\",\"ack_policy\":\"explicit\",\
             \"ack_wait\":2000000000,\"max_deliver\":-1}}}}"
        );
        self.ask(&format!("CONSUMER.CREATE.{stream}.{name}"), &settings);
        until("the consumer", || {
            let body = self.get("/jsz?accounts=true&streams=true&consumers=true");
            body.is_some_and(|body| body.contains(&format!("\"name\": \"{name}\"")))
        });
    }

    /// Removes a message.
    pub(crate) fn remove(&self, stream: &str, sequence: u64) {
        let before = self.messages(stream);
        let settings = format!("{{\"seq\":{sequence}}}");
        self.ask(&format!("STREAM.MSG.DELETE.{stream}"), &settings);
        until("the message is gone", || self.messages(stream) < before);
    }

    /// Removes all messages.
    pub(crate) fn purge(&self, stream: &str) {
        self.ask(&format!("STREAM.PURGE.{stream}"), "");
        until("the stream is empty", || self.messages(stream) == 0);
    }

    fn ask(&self, what: &str, settings: &str) {
        self.publish(&format!("$JS.API.{what}"), settings.as_bytes());
    }

    /// Publishes a message as other programs do.
    pub(crate) fn publish(&self, subject: &str, bytes: &[u8]) {
        self.say(&format!("PUB {subject} {}", bytes.len()), bytes, b"PONG");
    }

    /// The same with headers, each a line.
    pub(crate) fn publish_with(&self, subject: &str, headers: &str, bytes: &[u8]) {
        let headers = format!("NATS/1.0\r\n{headers}\r\n");
        let (head, all) = (headers.len(), headers.len() + bytes.len());
        let message = [headers.as_bytes(), bytes].concat();
        self.say(&format!("HPUB {subject} {head} {all}"), &message, b"PONG");
    }

    /// The headers of a message.
    pub(crate) fn headers(&self, stream: &str, sequence: u64) -> String {
        let asked = format!("{{\"seq\":{sequence}}}");
        let line = format!(
            "SUB _INBOX.test 1\r\nPUB $JS.API.STREAM.MSG.GET.{stream} _INBOX.test {}",
            asked.len()
        );
        let said = self.say(&line, asked.as_bytes(), b"\"time\"");
        let said = String::from_utf8_lossy(&said).into_owned();
        let headers = said.split("\"hdrs\":\"").nth(1).unwrap_or_default();
        let headers = headers.split('"').next().unwrap_or_default();
        let base64 = base64::engine::general_purpose::STANDARD;
        let headers = base64.decode(headers).expect("base64");
        String::from_utf8(headers).expect("text")
    }

    /// Sends a command with its message, and returns what the server says up to the end of `until`.
    fn say(&self, command: &str, bytes: &[u8], until: &[u8]) -> Vec<u8> {
        let mut server = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let patience = Some(Duration::from_secs(60));
        server.set_read_timeout(patience).expect("set");
        let connect = "CONNECT {\"headers\":true,\"no_responders\":true}";
        write!(server, "{connect}\r\n{command}\r\n").expect("sent");
        server.write_all(bytes).expect("sent");
        server.write_all(b"\r\nPING\r\n").expect("sent");
        // Closed with something unread, a connection is reset, and what was sent may be lost.
        let mut said = Vec::new();
        let mut piece = [0; 4096];
        while !said.windows(until.len()).any(|word| word == until) {
            let length = server.read(&mut piece).expect("an answer");
            assert!(
                length > 0,
                "it hangs up: {}",
                String::from_utf8_lossy(&said)
            );
            said.extend_from_slice(&piece[..length]);
        }
        said
    }

    /// What the server says of a stream, if there is one.
    fn stream(&self, name: &str) -> Option<Value> {
        let body = self.get("/jsz?accounts=true&streams=true")?;
        let facts: Value = serde_json::from_str(&body).ok()?;
        let streams = facts["account_details"][0]["stream_detail"].as_array();
        streams?.iter().find(|entry| entry["name"] == name).cloned()
    }

    /// Messages of a stream, 0 if there is no such stream.
    pub(crate) fn messages(&self, stream: &str) -> u64 {
        let found = self.stream(stream);
        found
            .and_then(|entry| entry["state"]["messages"].as_u64())
            .unwrap_or(0)
    }

    /// Blocks that a consumer has not given out, and those that are not acknowledged; nothing if there is no such consumer.
    pub(crate) fn waiting(&self, stream: &str, consumer: &str) -> Option<u64> {
        let body = self.get("/jsz?accounts=true&streams=true&consumers=true")?;
        let facts: Value = serde_json::from_str(&body).ok()?;
        let streams = facts["account_details"][0]["stream_detail"].as_array()?;
        let found = streams.iter().find(|entry| entry["name"] == stream)?;
        let consumers = found["consumer_detail"].as_array()?;
        let found = consumers.iter().find(|entry| entry["name"] == consumer)?;
        Some(found["num_pending"].as_u64()? + found["num_ack_pending"].as_u64()?)
    }

    pub(crate) fn until_messages(&self, stream: &str, count: u64) {
        until(&format!("{count} messages in {stream}"), || {
            self.messages(stream) >= count
        });
    }
}

/// Lines of a server's configuration with a certificate for 127.0.0.1 that no system trusts, and the file of the
/// certificate. The key is written into `dir`.
pub(crate) fn tls(dir: &Path) -> (String, PathBuf) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let key = std::fs::read(data.join("local.key.der")).expect("a key");
    let key = base64::engine::general_purpose::STANDARD.encode(key);
    let lines: Vec<&str> = key
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).expect("text"))
        .collect();
    let pem = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        lines.join("\n")
    );
    let key = file(dir, "key.pem", pem.as_bytes());
    let certificate = data.join("local.crt");
    let configuration = format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\" }}",
        certificate.display(),
        key.display()
    );
    (configuration, certificate)
}

fn spawn_server(root: &Path) -> Child {
    Command::new("nats-server")
        .args(["-c", "server.conf", "-l", "server.log"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs")
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The settings of a stream, with more of them.
pub(crate) fn stream(name: &str, subjects: &str, more: &str) -> String {
    format!(
        "{{\"name\":\"{name}\",\"subjects\":[\"{subjects}\"],\"retention\":\"limits\",\"storage\":\"file\",\
         \"num_replicas\":1,\"duplicate_window\":120000000000{more}}}"
    )
}

/// Who decides on a server, whom it trusts, and who may come: keys and the JWTs that they sign, as `nsc` makes them.
pub(crate) struct Operator {
    operator: KeyPair,
    account: KeyPair,
    system: KeyPair,
}

impl Operator {
    pub(crate) fn new() -> Self {
        Self {
            operator: KeyPair::new_operator(),
            account: KeyPair::new_account(),
            system: KeyPair::new_account(),
        }
    }

    /// Lines of a server's configuration that trust this operator, and know its accounts.
    pub(crate) fn configuration(&self) -> String {
        let operator = jwt(
            &self.operator,
            &self.operator.public_key(),
            &serde_json::json!({"type": "operator", "version": 2}),
        );
        let account = |key: &KeyPair, storage: i64| {
            let claims = serde_json::json!({
                "limits": {
                    "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1,
                    "leaf": -1, "mem_storage": storage, "disk_storage": storage, "streams": -1, "consumer": -1
                },
                "default_permissions": {"pub": {}, "sub": {}}, "type": "account", "version": 2
            });
            format!(
                "{}: {}",
                key.public_key(),
                jwt(&self.operator, &key.public_key(), &claims)
            )
        };
        format!(
            "operator: {operator}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload {{\n{}\n{}\n}}",
            self.system.public_key(),
            account(&self.account, -1),
            account(&self.system, 0),
        )
    }

    /// The credentials file of a new user of the account, whose JWT ends after this many seconds.
    pub(crate) fn credentials(&self, ends_in_s: i64) -> String {
        let user = KeyPair::new_user();
        let claims = serde_json::json!({
            "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2
        });
        let jwt = jwt_until(&self.account, &user.public_key(), &claims, Some(ends_in_s));
        let seed = user.seed().expect("a seed");
        format!(
            "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        )
    }
}

fn jwt(signer: &KeyPair, subject: &str, nats: &Value) -> String {
    jwt_until(signer, subject, nats, None)
}

fn jwt_until(signer: &KeyPair, subject: &str, nats: &Value, ends_in_s: Option<i64>) -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = i64::try_from(since.expect("after 1970").as_secs()).expect("a time");
    let mut claims = serde_json::json!({
        "jti": "test", "iat": now - 60, "iss": signer.public_key(), "name": "test", "sub": subject, "nats": nats
    });
    if let Some(seconds) = ends_in_s {
        claims["exp"] = (now + seconds).into();
    }
    let base64 = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let head = base64.encode(r#"{"typ":"JWT","alg":"ed25519-nkey"}"#);
    let text = format!("{head}.{}", base64.encode(claims.to_string()));
    let signature = signer.sign(text.as_bytes()).expect("signed");
    format!("{text}.{}", base64.encode(signature))
}

/// A way to a server that carries a number of bytes of it and then stands still, with all connections open.
pub(crate) struct Proxy {
    port: u16,
}

impl Proxy {
    pub(crate) fn start(broker: &Broker, bytes_max: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let server = broker.port;
        // Ends with the test.
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", server)).expect("it listens");
                let (from_client, to_server) =
                    (client.try_clone().expect("a handle"), server.try_clone());
                let to_server = to_server.expect("a handle");
                std::thread::spawn(move || carry(from_client, to_server, u64::MAX));
                std::thread::spawn(move || carry(server, client, bytes_max));
            }
        });
        Self { port }
    }

    pub(crate) fn url(&self, stream: &str) -> String {
        format!("nats://127.0.0.1:{}/{stream}", self.port)
    }
}

/// Carries this number of bytes, and keeps both ends open where there are more.
fn carry(from: TcpStream, mut to: TcpStream, bytes_max: u64) {
    let carried = std::io::copy(&mut (&from).take(bytes_max), &mut to);
    if carried.is_ok_and(|bytes| bytes == bytes_max) {
        std::thread::sleep(Duration::from_secs(24 * 60 * 60));
    }
}
