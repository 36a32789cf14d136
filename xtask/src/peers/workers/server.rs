//! A server of NATS for the comparison: started, asked, stopped.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::sh;

/// How long the server may take to start, and to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server, killed when dropped.
pub(super) struct Server {
    process: Child,
    port: u16,
    monitor: u16,
}

/// What it says of a stream.
pub(super) struct Stream {
    pub(super) messages: u64,
    /// When the last message was stored, in nanoseconds of the day.
    pub(super) last_ns: u64,
}

impl Server {
    /// A server with its streams in a folder.
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let (port, monitor) = (free_port()?, free_port()?);
        let process = sh::command("nats-server")
            .args(["-a", "127.0.0.1", "-p", &port.to_string()])
            .args(["-m", &monitor.to_string(), "-js", "-sd"])
            .arg(folder.join("store"))
            .arg("-l")
            .arg(folder.join("server.log"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start nats-server")?;
        let server = Self {
            process,
            port,
            monitor,
        };
        let began = Instant::now();
        while !server
            .get("/healthz")
            .is_ok_and(|body| body.contains("\"ok\""))
        {
            ensure!(began.elapsed() < PATIENCE, "nats-server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    /// Its process.
    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn url(&self, stream: &str) -> String {
        format!("nats://127.0.0.1:{}/{stream}", self.port)
    }

    pub(super) fn version() -> Result<String> {
        let text = sh::text(sh::command("nats-server").arg("--version"))?;
        Ok(text.trim().to_owned())
    }

    /// What it says of a stream.
    pub(super) fn stream(&self, name: &str) -> Result<Stream> {
        let facts: Value = serde_json::from_str(&self.get("/jsz?accounts=true&streams=true")?)?;
        let streams = facts["account_details"][0]["stream_detail"].as_array();
        let found = streams
            .and_then(|streams| streams.iter().find(|stream| stream["name"] == name))
            .with_context(|| format!("the server has no stream {name}"))?;
        let state = &found["state"];
        let last = state["last_ts"].as_str().unwrap_or_default();
        Ok(Stream {
            messages: state["messages"]
                .as_u64()
                .context("no number of messages")?,
            last_ns: ns_of_day(last).with_context(|| format!("'{last}' is no time"))?,
        })
    }

    /// Removes a stream, with all that is in it.
    pub(super) fn remove(&self, name: &str) -> Result<()> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(
            stream,
            "CONNECT {{}}\r\nPUB $JS.API.STREAM.DELETE.{name} 0\r\n\r\nPING\r\n"
        )?;
        let began = Instant::now();
        while self.stream(name).is_ok() {
            ensure!(
                began.elapsed() < PATIENCE,
                "the stream {name} is not removed"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn get(&self, path: &str) -> Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.monitor))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        match text.split_once("\r\n\r\n") {
            Some((_, body)) => Ok(body.to_owned()),
            None => bail!("the server's answer has no body"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The nanoseconds since midnight of `2026-11-25T04:26:14.123Z`.
fn ns_of_day(time: &str) -> Option<u64> {
    let (_, clock) = time.split_once('T')?;
    let clock = clock.strip_suffix('Z')?;
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let parts: Vec<u64> = whole
        .split(':')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts[..] else {
        return None;
    };
    let digits: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    let ns: u64 = digits.parse().ok()?;
    Some(((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_server_are_nanoseconds_of_the_day() {
        assert_eq!(ns_of_day("2026-11-25T01:00:02.5Z"), Some(3_602_500_000_000));
        assert_eq!(ns_of_day("2026-11-25T00:00:00.000000001Z"), Some(1));
        assert_eq!(ns_of_day("2026-11-25T00:01:00Z"), Some(60_000_000_000));
        assert_eq!(ns_of_day("yesterday"), None);
    }
}
