//! Flags of a load by several machines.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use workers::nats::Address;

use crate::args::broker::WaitArgs;
use crate::args::nats::AccessArgs;
use crate::args::units;
use crate::failure::{Failure, Result};

/// What an address is called that names no run.
const RUN: &str = "stress";

/// One load by several machines.
#[derive(Debug, Clone, Args)]
pub(crate) struct AgentsArgs {
    /// Lead --agents that --join nats://HOST[:PORT][/NAME]
    ///
    /// Needs --rate or --interval. Gives each agent its part of that and of --blocks and a seed of its own, starts all at once, adds up their
    /// histograms, and reports every agent. Everything else (--producers, --threads, --duration) each agent does in full.
    /// Exit 4 if an agent was late, 3 if one vanished. Agents need the same version of perfkit.
    #[arg(long, value_name = "URL", value_parser = run, requires = "agents",
          conflicts_with_all = ["join", "files", "metrics", "live"])]
    pub(crate) lead: Option<Address>,
    /// Agents that --lead waits for
    #[arg(long, value_name = "N", requires = "lead", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) agents: Option<u32>,
    /// Be an agent of the run that is led here
    ///
    /// Does the part that the lead gives, reports it to the lead and here, and ends.
    #[arg(long, value_name = "URL", value_parser = run,
          conflicts_with_all = ["files", "codec", "pool", "producers", "consumers", "threads", "min_size", "max_size",
                                "data", "work", "rate", "interval", "arrivals", "duration", "soak", "blocks", "min_ratio",
                                "fault", "batch", "queue", "seed", "live"])]
    pub(crate) join: Option<Address>,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// A start that comes TIME after it was due is late; over 1 % of them make an agent late
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = units::duration, requires = "lead",
          hide_short_help = true)]
    pub(crate) late_after: Duration,
}

impl AgentsArgs {
    /// Who we are needs somebody to tell it to.
    pub(crate) fn check(&self, access: &AccessArgs) -> Result<()> {
        let files: [&Option<PathBuf>; 6] = [
            &access.creds,
            &access.password_file,
            &access.token_file,
            &access.tls_ca,
            &access.tls_cert,
            &access.tls_key,
        ];
        let has_access = access.user.is_some() || files.iter().any(|file| file.is_some());
        match has_access && self.lead.is_none() && self.join.is_none() {
            true => Err(
                Failure::usage("who you are to a server was stated, and no server")
                    .help("add --lead URL or --join URL"),
            ),
            false => Ok(()),
        }
    }
}

/// An address of a run; without a name it is the only one on that server.
fn run(text: &str) -> std::result::Result<Address, String> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let whole = match rest.contains('/') {
        true => text.to_owned(),
        false => format!("{text}/{RUN}"),
    };
    let error = match whole.parse() {
        Ok(address) => return Ok(address),
        Err(error) => error,
    };
    Err(match error {
        workers::nats::WrongAddress::Form => {
            "expected nats://HOST[:PORT][/NAME] or tls://HOST[:PORT][/NAME]".to_owned()
        }
        workers::nats::WrongAddress::Stream => {
            "the name of a run has no blanks, dots, `*`, `>`, `/` or `\\`".to_owned()
        }
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, parse};

    fn args(line: &str) -> Option<crate::commands::stress::flags::StressArgs> {
        let words = format!("perfkit stress {line}");
        let words: Vec<_> = words.split_whitespace().map(Into::into).collect();
        match parse(&words).map(|cli| cli.command) {
            Ok(Command::Stress(args)) => Some(*args),
            _ => None,
        }
    }

    fn agents(line: &str) -> Option<AgentsArgs> {
        args(line).map(|args| args.agents)
    }

    #[test]
    fn a_run_is_led_or_joined() {
        let lead = agents("--lead nats://a --agents 4 --rate 1000 --codec lz4").expect("parses");
        assert_eq!(lead.lead.expect("led").to_string(), "nats://a/stress");
        let join = agents("--join tls://a:4222/night --creds c -v").expect("parses");
        assert_eq!(join.join.expect("joined").stream(), "night");
        for wrong in [
            "--lead nats://a",
            "--agents 4",
            "--lead nats://a --agents 0",
            "--lead nats://a --agents 2 --join nats://a",
            "--lead nats://a --agents 2 file",
            "--lead nats://a --agents 2 --metrics 1",
            "--join nats://a --rate 5",
            "--join nats://a --codec lz4",
            "--join nats://a --seed 1",
            "--join nats://me:secret@a",
            "--join a",
            "--join nats://a/b.c",
            "--late-after 1ms",
        ] {
            assert!(agents(wrong).is_none(), "{wrong}");
        }
        for (line, is_right) in [
            ("--creds c", false),
            ("", true),
            ("--join nats://a --creds c", true),
        ] {
            let args = args(line).expect("parses");
            assert_eq!(args.agents.check(&args.access).is_ok(), is_right, "{line}");
        }
    }
}
