//! `perfkit fix generate`: a log to try things on.

use std::cell::RefCell;
use std::io::Write as _;
use std::path::Path;

use files::target::{Target, is_stdout};
use fixcore::workload::Mix;
use fixlog::Generator;
use fixlog::day::{Day, DayLog};
use report::ExitStatus;

use crate::commands::fix::flags::{GenerateArgs, LogForm};
use crate::commands::fix::values::Separator;
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::progress::Progress;
use crate::term::signal;

/// What is gathered before it is written.
const OUTPUT_BYTES: usize = 1 << 20;

/// Runs the command.
pub(super) fn run(args: &GenerateArgs) -> Result<ExitStatus> {
    if let Some(dir) = &args.day {
        return day(args, dir);
    }
    let mix = mix(args)?;
    if args.form == LogForm::Pcap && args.separator != Separator::Soh {
        return Err(Failure::usage("--form pcap has SOH between fields")
            .help("a capture has messages as they are sent: leave --separator out"));
    }
    let target = match is_stdout(&args.output) {
        true => Target::stdout(context())?,
        false => Target::create(&args.output, args.force, None, context())?,
    };
    let mut log = Generator::new(args.seed)
        .mix(mix)
        .sessions(args.sessions as usize)
        .harmed(args.hostile)
        .form(args.form.into())
        .separator(args.separator.into());
    let shows = args.terminal.wants_progress() && !is_stdout(&args.output);
    let progress = Progress::late(shows, args.size);
    let mut out = Vec::with_capacity(2 * OUTPUT_BYTES);
    let (mut messages, mut written) = (0, 0);
    loop {
        let enough = match args.size {
            Some(bytes) => written + out.len() as u64 >= bytes,
            None => messages >= args.messages,
        };
        if out.len() >= OUTPUT_BYTES || enough {
            match target.writer().write_all(&out) {
                // Who closed the pipe has seen enough.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => break,
                done => done.map_err(|error| target.error(error))?,
            }
            written += out.len() as u64;
            progress.add(out.len() as u64);
            out.clear();
        }
        if enough {
            break;
        }
        if signal::interrupted() {
            return Err(Failure::new("interrupted").status(ExitStatus::Interrupted));
        }
        log.message(&mut out)
            .map_err(|error| failed(&error.to_string()))?;
        messages += 1;
    }
    progress.finish();
    target.commit()?;
    Ok(ExitStatus::Ok)
}

fn mix(args: &GenerateArgs) -> Result<Mix> {
    let weights = <[u32; 4]>::try_from(args.mix.as_slice());
    let weights = weights
        .ok()
        .filter(|weights| weights.iter().any(|weight| *weight > 0));
    let weights = weights.ok_or_else(|| {
        Failure::usage("--mix has four weights, not all of them 0").help("such as 4,44,48,4")
    })?;
    if !(0.0..=1.0).contains(&args.hostile) {
        return Err(Failure::usage("--hostile is a share from 0 to 1"));
    }
    Ok(Mix { weights })
}

fn failed(reason: &str) -> Failure {
    Failure::io(
        "write",
        Path::new("a message"),
        &std::io::Error::other(reason.to_owned()),
    )
}

/// A file of a day that is being written.
struct Output {
    target: Target,
    text: Vec<u8>,
}

impl Output {
    fn create(dir: &Path, name: &str, force: bool) -> Result<Self> {
        Ok(Self {
            target: Target::create(&dir.join(name), force, None, context())?,
            text: Vec::with_capacity(2 * OUTPUT_BYTES),
        })
    }

    fn add(&mut self, text: &[u8]) -> Result<()> {
        if signal::interrupted() {
            return Err(Failure::new("interrupted").status(ExitStatus::Interrupted));
        }
        self.text.extend_from_slice(text);
        match self.text.len() >= OUTPUT_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        let done = self.target.writer().write_all(&self.text);
        done.map_err(|error| self.target.error(error))?;
        self.text.clear();
        Ok(())
    }
}

/// Writes the logs of a day and their truth.
fn day(args: &GenerateArgs, dir: &Path) -> Result<ExitStatus> {
    std::fs::create_dir_all(dir).map_err(|error| Failure::io("create", dir, &error))?;
    let logs = DayLog::ALL.map(|log| Output::create(dir, log.name(), args.force));
    let [gateway, router, venue] = logs;
    let logs = RefCell::new([gateway?, router?, venue?]);
    let mut truth = Output::create(dir, "truth.jsonl", args.force)?;
    let progress = Progress::late(args.terminal.wants_progress(), None);
    Day::new(args.seed, args.orders).run(
        |log, line| match logs.borrow_mut().get_mut(log as usize) {
            Some(output) => {
                progress.add(line.len() as u64);
                output.add(line)
            }
            None => Ok(()),
        },
        |told| {
            let line = serde_json::json!({
                "id": told.id, "client": told.client, "state": told.state, "reason": told.reason,
                "quantity": told.quantity, "filled": told.filled, "messages": told.messages,
                "answer_ns": told.answer_ns, "fill_ns": told.fill_ns, "end_ns": told.end_ns,
            });
            truth.add(format!("{line}\n").as_bytes())
        },
    )?;
    progress.finish();
    for mut output in logs.into_inner().into_iter().chain([truth]) {
        output.flush()?;
        output.target.commit()?;
    }
    Ok(ExitStatus::Ok)
}
