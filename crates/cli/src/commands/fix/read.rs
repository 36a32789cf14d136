//! Messages of logs parsed, validated, printed and counted: what workers make of a block, and what
//! becomes of it in order.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fixcore::dict::{Dictionary, Rules, Validator, Version};
use fixcore::separator::from_soh;
use fixcore::{Decoder, Isa, Message};
use latency::Recorder;
use latency::report::{Input, Table, Unit};

use crate::commands::fix::blocks::{Block, Ended};
use crate::commands::fix::crew::{Crew, Stop};
use crate::commands::fix::faults::{AllFaults, Faults, Wrong};
use crate::commands::fix::flags::MessagesArgs;
use crate::commands::fix::lines;
use crate::commands::fix::run::decoder;
use crate::commands::fix::stats::{Part, Stats};
use crate::commands::fix::texts::{Found, Texts};
use crate::commands::fix::veil::{Scratch, Veil};
use crate::exit::ExitStatus;
use crate::export::names;
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::io::output::Output;
use crate::io::target::display;
use crate::session::{INPUTS_LISTED, Outcome};
use crate::term::{message, signal};

/// Messages that the report of `stats` names as bad.
pub(super) const BAD_NAMED: usize = 20;

/// The built-in versions of a message's frame and body, where there are such, and whether the dictionary
/// of the flag is of its BeginString.
type Versions = (Option<(Version, Option<Version>)>, bool);
/// What messages of some versions are held to; `None` where the dictionary of the flag is of others.
type Held<'d> = (Versions, Option<Validator<'d>>);

/// What is done with messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Job {
    Parse,
    Validate,
    Print,
    Stats,
    Anonymize,
}

impl Job {
    /// The part of the command.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Parse => "fix parse",
            Self::Validate => "fix validate",
            Self::Print => "fix print",
            Self::Stats => "fix stats",
            Self::Anonymize => "fix anonymize",
        }
    }
}

/// What a worker needs to know.
#[derive(Clone, Copy)]
pub(super) struct Task<'d> {
    pub(super) job: Job,
    pub(super) messages: &'d MessagesArgs,
    pub(super) dictionary: Option<&'d Dictionary>,
    pub(super) isa: Isa,
    /// Of `Anonymize`.
    pub(super) veil: Option<&'d Veil>,
    pub(super) warns: bool,
}

/// What came of a block.
#[derive(Debug, Default)]
struct Made {
    out: Vec<u8>,
    good: u64,
    bad: u64,
    /// The first of those that are bad: where, and what is wrong. Where there are no lines for them.
    named: Vec<(u64, String)>,
    faults: Faults,
    part: Part,
    span: Option<(Instant, Instant)>,
}

/// Does the work of one thread.
struct Worker<'d> {
    task: Task<'d>,
    texts: Texts,
    decoder: Decoder,
    /// Of each pair of versions that was met.
    validators: Vec<Held<'d>>,
    scratch: Scratch,
}

impl<'d> Worker<'d> {
    fn new(task: Task<'d>) -> Self {
        Self {
            texts: Texts::new(),
            // That there is one was seen before.
            decoder: decoder(Some(task.isa), task.dictionary).unwrap_or_default(),
            validators: Vec::new(),
            scratch: Scratch::default(),
            task,
        }
    }

    fn block(&mut self, block: &Block, made: &mut Made) {
        let start = Instant::now();
        made.out.clear();
        made.named.clear();
        made.faults.clear();
        (made.good, made.bad) = (0, 0);
        if self.task.job == Job::Stats {
            made.part.clear();
        }
        let (task, validators) = (self.task, &mut self.validators);
        let (decoder, scratch) = (&mut self.decoder, &mut self.scratch);
        let files = &task.messages.files;
        let name = files
            .get(block.file)
            .map_or(Path::new(""), PathBuf::as_path);
        self.texts.each(block, &mut |offset, found| {
            let wrong = match found {
                Found::Between(bytes) => {
                    made.faults.between_bytes += bytes;
                    return;
                }
                Found::Noise(bytes) => return task.noise(name, offset, bytes, made),
                Found::Bad(why) => Some(Wrong::of_kind(why)),
                Found::Message(bytes, separator) => match decoder.parse(bytes) {
                    Ok(message) => match task.veil {
                        None => task.message(validators, offset, &message, separator, made),
                        Some(veil) => {
                            let veiled = veil.message(&message, scratch);
                            from_soh(veiled, separator, &mut made.out);
                            made.out.push(b'\n');
                            None
                        }
                    },
                    Err(error) => Some(Wrong::of(&error, bytes, separator)),
                },
            };
            match wrong {
                None => made.good += 1,
                Some(wrong) => task.wrong(name, offset, wrong, made),
            }
        });
        made.span = Some((start, Instant::now()));
    }
}

impl<'d> Task<'d> {
    /// Does what is asked for with a message; what is wrong with it.
    fn message(
        &self,
        validators: &mut Vec<Held<'d>>,
        offset: u64,
        message: &Message<'_, '_>,
        separator: &[u8],
        made: &mut Made,
    ) -> Option<Wrong> {
        match self.job {
            Job::Parse => lines::message(&mut made.out, offset, message),
            Job::Stats => made.part.message(offset, message),
            Job::Print => {
                let dictionaries = match self.dictionaries(message) {
                    Some((frame, body)) => [Some(frame), body],
                    None => [self.dictionary, None],
                };
                lines::named(&mut made.out, offset, message, dictionaries);
            }
            Job::Validate => return self.validate(validators, message, separator),
            // That is done where the separator is known.
            Job::Anonymize => {}
        }
        None
    }

    /// The dictionaries of a message's frame and of its body where that is another; `None` where the one
    /// of the flag is of another version, or none is built in.
    fn dictionaries(
        &self,
        message: &Message<'_, '_>,
    ) -> Option<(&'d Dictionary, Option<&'d Dictionary>)> {
        let versions = Validator::versions(message);
        let body = versions.and_then(|versions| versions.1);
        let body = body.and_then(Version::dictionary);
        let frame = versions.map(|versions| versions.0);
        match self.dictionary {
            None => Some((frame?.dictionary()?, body)),
            Some(own) if own.begin_string().as_bytes() == message.begin_string() => {
                Some((own, body))
            }
            // Those of applications describe no frame.
            Some(own) if frame? == Version::Fixt11 && own.begin_string().starts_with("FIX.5") => {
                Some((frame?.dictionary()?, Some(own)))
            }
            Some(_) => None,
        }
    }

    /// What a dictionary says against a message.
    fn validate(
        &self,
        validators: &mut Vec<Held<'d>>,
        message: &Message<'_, '_>,
        separator: &[u8],
    ) -> Option<Wrong> {
        let is_own = |own: &Dictionary| own.begin_string().as_bytes() == message.begin_string();
        let versions = (
            Validator::versions(message),
            self.dictionary.is_some_and(is_own),
        );
        let known = validators.iter().position(|known| known.0 == versions);
        let at = known.unwrap_or_else(|| {
            let held = self
                .dictionaries(message)
                .map(|(frame, body)| Validator::with_application(frame, body, Rules::default()));
            validators.push((versions, held));
            validators.len() - 1
        });
        let Some(validator) = &mut validators.get_mut(at)?.1 else {
            return Some(Wrong::of_another_version(
                message.begin_string(),
                self.dictionary,
            ));
        };
        let error = validator.validate(message).err()?;
        Some(Wrong::of(&error, message.bytes(), separator))
    }

    fn wrong(&self, path: &Path, offset: u64, wrong: Wrong, made: &mut Made) {
        made.bad += 1;
        made.faults.add(wrong.class, offset);
        if !matches!(self.job, Job::Stats | Job::Anonymize) {
            lines::wrong(&mut made.out, path, offset, wrong.tag, &wrong.text);
        } else if made.named.len() < BAD_NAMED {
            made.named.push((offset, wrong.text));
        }
    }

    fn noise(&self, path: &Path, offset: u64, bytes: u64, made: &mut Made) {
        made.faults.noise(offset, bytes);
        if self.job == Job::Validate {
            let text = format!("{bytes} bytes between messages are no text");
            lines::wrong(&mut made.out, path, offset, None, &text);
        }
    }
}

/// What came of all blocks so far.
pub(super) struct Reading<'d> {
    task: Task<'d>,
    stats: Option<Stats>,
    pieces: Recorder,
    out: Output,
    written: u64,
    good: u64,
    bad: u64,
    /// The first that are bad: file, place, what is wrong.
    named: Vec<(usize, u64, String)>,
    faults: AllFaults,
    /// Messages of the file that is being read, whatever they are like.
    seen: u64,
}

impl<'d> Reading<'d> {
    pub(super) fn new(task: Task<'d>, stats: Option<Stats>, pieces: Recorder) -> Result<Self> {
        let failed = |error| Failure::io("write", Path::new("standard output"), &error);
        Ok(Self {
            task,
            stats,
            pieces,
            out: Output::stdout(context()).map_err(failed)?,
            written: 0,
            good: 0,
            bad: 0,
            named: Vec::new(),
            faults: AllFaults::default(),
            seen: 0,
        })
    }

    /// Reads all files, and says what came of it.
    pub(super) fn run(mut self, threads: u32, outcome: &mut Outcome) {
        let task = self.task;
        let crew = Crew {
            files: &task.messages.files,
            separator: task.messages.separator,
            threads,
        };
        let work = || {
            let mut worker = Worker::new(task);
            move |block: &Block, made: &mut Made| worker.block(block, made)
        };
        let result = crew.run(work, &mut |block, made| {
            self.take(block, made)?;
            if let Some(ended) = block.ended.take() {
                let seen = std::mem::take(&mut self.seen);
                let none = seen == 0 && ended.bytes > 0 && ended.failure.is_none();
                if none && task.warns {
                    no_messages(&task.messages.files, block.file);
                }
                ended_file(&task.messages.files, block.file, ended, outcome);
            }
            Ok(())
        });
        match result {
            // Who closed the pipe has seen enough.
            Ok(()) | Err(Stop::Closed) => {}
            Err(Stop::Failed(failure)) => {
                message::failure(&failure);
                outcome.complete = false;
                outcome.status = failure.exit_status();
            }
        }
        self.conclude(outcome);
    }

    fn take(&mut self, block: &Block, made: &mut Made) -> std::result::Result<(), Stop> {
        self.good += made.good;
        self.bad += made.bad;
        self.seen += made.good + made.bad;
        self.faults.take(block.file, &made.faults);
        for (offset, error) in &made.named {
            if self.named.len() < BAD_NAMED {
                self.named.push((block.file, *offset, error.clone()));
            }
        }
        if let Some(stats) = &mut self.stats {
            stats.add(block.file, &made.part);
        }
        if let Some((start, end)) = made.span
            && !block.bytes().is_empty()
        {
            self.pieces.record_span(start, end);
        }
        if made.out.is_empty() {
            return Ok(());
        }
        self.written += write_out(&mut self.out, &made.out)?;
        Ok(())
    }

    fn conclude(self, outcome: &mut Outcome) {
        outcome.bytes_content = outcome.bytes_in;
        outcome.bytes_out = self.written;
        outcome.ops = Some(self.good + self.bad);
        let params = &mut outcome.workload.params;
        params.insert("messages".to_owned(), self.good.into());
        params.insert("messages_bad".to_owned(), self.bad.into());
        let files = &self.task.messages.files;
        if let Some(stats) = self.stats {
            let (tables, waits, unfollowed) = stats.finish(files);
            params.insert("unfollowed".to_owned(), unfollowed.into());
            outcome.tables.extend(tables);
            if !waits.is_empty() {
                outcome.add(&waits.finish());
            }
        }
        if !self.pieces.is_empty() {
            outcome.add(&self.pieces.finish());
        }
        // Who validates wants to know of all that should not be there.
        let noise = match self.task.job {
            Job::Validate => self.faults.noise_places(),
            _ => 0,
        };
        self.faults.conclude(files, outcome);
        conclude_bad(self.bad + noise, self.named, files, outcome);
        if signal::interrupted() {
            outcome.complete = false;
            outcome.status = ExitStatus::Interrupted;
        }
    }
}

/// Whoever named a file without messages meant another one.
fn no_messages(files: &[PathBuf], file: usize) {
    let name = files
        .get(file)
        .map_or_else(String::new, |path| display(path));
    message::note(
        &format!("there are no messages in {name}"),
        "messages begin with 8=FIX",
    );
}

/// Adds the first messages that are bad to what the report says, and how that ends the process.
pub(super) fn conclude_bad(
    bad: u64,
    named: Vec<(usize, u64, String)>,
    files: &[PathBuf],
    outcome: &mut Outcome,
) {
    if !named.is_empty() {
        let columns = [
            ("file", Unit::Text),
            ("offset", Unit::Count),
            ("error", Unit::Text),
        ];
        let mut table = Table::new("bad messages", &columns);
        for (file, offset, error) in named {
            let path = files.get(file).map(|path| names::path(path));
            let row = vec![path.unwrap_or_default().into(), offset.into(), error.into()];
            table.rows.push(row);
        }
        outcome.tables.push(table);
    }
    if bad > 0 && outcome.status == ExitStatus::Ok {
        outcome.status = ExitStatus::Partial;
    }
}

/// Writes to standard output; how many bytes that were.
pub(super) fn write_out(file: &mut Output, bytes: &[u8]) -> std::result::Result<u64, Stop> {
    match file.write_all(bytes) {
        Ok(()) => Ok(bytes.len() as u64),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Stop::Closed),
        Err(error) => Err(Failure::io("write", Path::new("standard output"), &error).into()),
    }
}

/// Adds a file that has ended to what the report says.
pub(super) fn ended_file(files: &[PathBuf], file: usize, ended: Ended, outcome: &mut Outcome) {
    outcome.bytes_in += ended.bytes;
    if let Some(failure) = ended.failure {
        message::failure(&failure);
        outcome.complete = false;
        outcome.status = match files.len() {
            1 => failure.exit_status(),
            _ => ExitStatus::Partial,
        };
        return;
    }
    outcome.workload.inputs_total += 1;
    if outcome.workload.inputs.len() < INPUTS_LISTED {
        let path = files.get(file).map(|path| names::path(path));
        outcome.workload.inputs.push(Input {
            path: path.unwrap_or_default(),
            bytes: ended.bytes,
            xxh64: None,
        });
    }
}
