//! The flags of commands whose state Prometheus can read while they run. The server is in `commands::metrics`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;

use crate::failure::{Failure, Result};

/// Whether a run serves its metrics. Flattened into commands that go on for long.
#[derive(Debug, Clone, Args)]
pub(crate) struct MetricsArgs {
    /// Serve live metrics for Prometheus at HOST:PORT
    ///
    /// What was done so far, at /metrics; /healthz answers 200 while the work goes on. A port alone means 127.0.0.1. An
    /// address that other machines can reach needs --metrics-remote.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    metrics: Option<SocketAddr>,
    /// Allow anyone on other machines to read --metrics
    #[arg(long, requires = "metrics", hide_short_help = true)]
    metrics_remote: bool,
}

impl MetricsArgs {
    /// Where live metrics are served, if that is as safe as it was asked to be.
    pub(crate) fn address(&self) -> Result<Option<SocketAddr>> {
        let far = |address: &SocketAddr| !address.ip().is_loopback() && !self.metrics_remote;
        match self.metrics.filter(far) {
            Some(address) => Err(Failure::usage(format!(
                "--metrics {address} can be reached from other machines"
            ))
            .help("use 127.0.0.1, or add --metrics-remote to allow that")),
            None => Ok(self.metrics),
        }
    }
}

fn address(text: &str) -> std::result::Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost").unwrap_or(text);
    match port.strip_prefix(':').unwrap_or(port).parse() {
        Ok(port) => Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
        Err(_) => text
            .parse()
            .map_err(|_| format!("'{text}' is not an address and port (such as 127.0.0.1:6060)")),
    }
}
