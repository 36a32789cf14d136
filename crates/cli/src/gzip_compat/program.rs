//! A command line of gzip, from its arguments to its exit code.

use std::ffi::OsString;

use super::ended::{Code, Ended};
use super::flags::{self, Asked};
use super::name::Name;
use crate::term::message::{self, Voice};
use crate::term::signal::{self, Ending};

/// Runs a command line of gzip; returns its exit code, or `None` if the user interrupted it.
pub(crate) fn run(name: Name, argv: &[OsString]) -> Option<u8> {
    message::set_voice(Voice {
        name: name.as_str(),
        failures: true,
    });
    signal::end_by_any();
    signal::install(Ending::BetweenSteps);
    let environment = std::env::var("GZIP").unwrap_or_default();
    let begun = flags::begin(name, &environment).inspect(|plan| {
        if !environment.trim().is_empty() && !plan.quiet {
            message::status(
                "gzip: warning: GZIP environment variable is deprecated; use an alias or script",
            );
        }
    });
    let parsed = begun.and_then(|plan| flags::parse(plan, argv));
    let ended = parsed.and_then(|plan| match plan.asked {
        Some(asked) => {
            let text = match asked {
                Asked::Help => flags::HELP.to_owned(),
                Asked::Version => format!("gzip, by perfkit {}\n", env!("CARGO_PKG_VERSION")),
            };
            message::output(text.as_bytes())?;
            Ok(Ended::With(Code::Ok))
        }
        None => super::run::work(plan),
    });
    match ended {
        Ok(Ended::With(code)) => Some(code.number()),
        Ok(Ended::Interrupted) => None,
        Err(failure) => {
            message::failure(&failure);
            Some(Code::Error.number())
        }
    }
}
