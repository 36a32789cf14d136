//! Shapes of messages: fixcore, a naive parser and encoder, fefix and, in a process of its own, QuickFIX, in one run.

use std::io::{BufRead as _, BufReader, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use bench::Error;
use bench::fix::shapes::{self, Answer, Naive, Operation, Plan, Rival, Side, Workload};
use fefix::tagvalue::{Config, Encoder, FvWrite as _};
use fixcore::Isa;
use serde_json::{Value, json};

use crate::Result;
use crate::rival::Rival as Fefix;
use crate::sets;

/// Where QuickFIX's program and its dictionary are.
pub(crate) struct Quickfix {
    pub(crate) program: PathBuf,
    pub(crate) dictionary: PathBuf,
}

/// Measures all cases of a plan and prints each as it is done.
pub(crate) fn run(plan: &Plan, quickfix: Option<Quickfix>) -> Result<Value> {
    // fefix panics at data that hold a separator.
    std::panic::set_hook(Box::new(|_| {}));
    let mut rivals: Vec<&dyn Rival> = vec![&Naive, &FefixRival];
    rivals.extend(quickfix.as_ref().map(|program| program as &dyn Rival));
    let names: Vec<&str> = rivals.iter().map(|rival| rival.name()).collect();
    let start = Instant::now();
    let cases = plan.cases();
    let (mut rows, mut answers, mut measured) = (Vec::new(), 0, 0);
    let mut otherwise = vec![Vec::new(); rivals.len()];
    for case in cases.iter().take_while(|_| start.elapsed() < plan.max_time) {
        for isa in &plan.isas {
            let found = shapes::measure(case, *isa, plan, &rivals, &())?;
            let (done, wrong) = found.answers;
            if wrong > 0 {
                let shape = &case.shape.name;
                return Err(format!("{shape}: {wrong} of {done} answers differ").into());
            }
            answers += done;
            for (names, wrong) in otherwise.iter_mut().zip(&found.wrong) {
                if *wrong > 0 && names.last() != Some(&case.shape.name) {
                    names.push(case.shape.name.clone());
                }
            }
            rows.extend(found.rows);
        }
        measured += 1;
        eprintln!("{measured} of {}: {}", cases.len(), case.shape.name);
    }
    let neighbours = shapes::cliffs(&rows);
    let otherwise: Vec<Value> = names
        .iter()
        .zip(&otherwise)
        .filter(|(_, shapes)| !shapes.is_empty())
        .map(|(rival, shapes)| json!({ "rival": rival, "shapes": shapes }))
        .collect();
    Ok(json!({
        "cases": cases.len(),
        "measured": measured,
        "answers": answers,
        "otherwise": otherwise,
        "has_quickfix": quickfix.is_some(),
        "cliffs": neighbours.iter().filter(|found| found.is_cliff()).count(),
        "seconds": start.elapsed().as_secs(),
        "tables": [
            shapes::table_of_sets(&rows),
            shapes::table(&rows, &names),
            shapes::table_of_neighbours(&neighbours),
        ],
    }))
}

/// fefix, which parses by its dictionary of FIX 4.4.
struct FefixRival;

impl Rival for FefixRival {
    fn name(&self) -> &'static str {
        "fefix"
    }

    fn build<'w>(
        &self,
        workload: &'w Workload,
        _isa: Isa,
    ) -> std::result::Result<Option<Box<dyn Side + 'w>>, Error> {
        let fields = workload.messages.iter().map(|drawn| {
            let fields = drawn.fields.iter().flat_map(|field| {
                let value = field.content.text();
                let length = field
                    .length_tag
                    .map(|tag| (tag, value.len().to_string().into_bytes()));
                length.into_iter().chain([(field.tag, value)])
            });
            fields.collect()
        });
        Ok(Some(Box::new(FefixSide {
            workload,
            fields: fields.collect(),
            parser: Fefix::new(),
            encoder: Encoder::default(),
            buffer: Vec::new(),
            panics: false,
        })))
    }
}

struct FefixSide<'w> {
    workload: &'w Workload,
    fields: Vec<Vec<(u32, Vec<u8>)>>,
    parser: Fefix,
    encoder: Encoder<Config>,
    buffer: Vec<u8>,
    /// Whether it panicked at some message: it takes no turns then.
    panics: bool,
}

impl FefixSide<'_> {
    fn write(&mut self, message: usize) -> &[u8] {
        let shape = &self.workload.shape;
        self.buffer.clear();
        let begin_string = shape.begin_string.as_bytes();
        let msg_type = shape.msg_type.as_bytes();
        let mut writing = self
            .encoder
            .start_message(begin_string, &mut self.buffer, msg_type);
        for (tag, value) in &self.fields[message] {
            writing.set_fv(tag, value.as_slice());
        }
        writing.wrap()
    }
}

impl Side for FefixSide<'_> {
    fn turn(
        &mut self,
        operation: Operation,
        passes: u32,
    ) -> std::result::Result<Option<f64>, Error> {
        if self.panics {
            return Ok(None);
        }
        let start = Instant::now();
        for _ in 0..passes {
            match operation {
                Operation::Parse => {
                    for drawn in &self.workload.messages {
                        let bytes = std::hint::black_box(&drawn.bytes);
                        std::hint::black_box(self.parser.parse(bytes));
                    }
                }
                Operation::Encode => {
                    for message in 0..self.fields.len() {
                        std::hint::black_box(self.write(message));
                    }
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(start.elapsed().as_nanos() as f64))
    }

    fn parsed(&mut self, message: usize) -> std::result::Result<Answer, Error> {
        let bytes = &self.workload.messages[message].bytes;
        let parsed = catch_unwind(AssertUnwindSafe(|| self.parser.parse(bytes)));
        if parsed.is_err() {
            self.parser = Fefix::new();
            self.panics = true;
        }
        Ok(answer(parsed.unwrap_or(false)))
    }

    fn written(&mut self, message: usize) -> std::result::Result<Option<Vec<u8>>, Error> {
        let written = catch_unwind(AssertUnwindSafe(|| self.write(message).to_vec()));
        self.panics |= written.is_err();
        Ok(Some(written.unwrap_or_default()))
    }
}

fn answer(is_valid: bool) -> Answer {
    match is_valid {
        true => Answer::Accepted,
        false => Answer::Refused(None),
    }
}

impl Rival for Quickfix {
    fn name(&self) -> &'static str {
        "quickfix"
    }

    fn build<'w>(
        &self,
        workload: &'w Workload,
        _isa: Isa,
    ) -> std::result::Result<Option<Box<dyn Side + 'w>>, Error> {
        QuickfixSide::start(self, workload)
            .map(|side| Some(Box::new(side) as Box<dyn Side>))
            .map_err(|error| Error::broken(format!("QuickFIX: {error}")))
    }
}

/// QuickFIX in its process, which reads a number of passes from a line and answers with their nanoseconds.
struct QuickfixSide {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    accepted: Vec<bool>,
}

impl QuickfixSide {
    fn start(program: &Quickfix, workload: &Workload) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("set");
        let messages = workload.messages.iter().map(|drawn| drawn.bytes.clone());
        std::fs::write(&file, sets::framed(&messages.collect::<Vec<_>>()))?;
        let accepted = run_quickfix(program, "accept", &file)
            .output()?
            .stdout
            .iter()
            .filter(|byte| byte.is_ascii_digit())
            .map(|byte| *byte == b'1')
            .collect();
        let mut child = run_quickfix(program, "serve", &file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no standard input")?;
        let output = child.stdout.take().ok_or("no standard output")?;
        let mut side = Self {
            child,
            input,
            output: BufReader::new(output),
            accepted,
        };
        // Once the set is read, the file may go.
        side.passes(1)?;
        Ok(side)
    }

    fn passes(&mut self, passes: u32) -> Result<f64> {
        writeln!(self.input, "{passes}")?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().parse()?)
    }
}

fn run_quickfix(program: &Quickfix, verb: &str, file: &Path) -> Command {
    let mut command = Command::new(&program.program);
    command
        .arg("quickfix")
        .arg(&program.dictionary)
        .arg(verb)
        .arg(file);
    command
}

impl Side for QuickfixSide {
    fn turn(
        &mut self,
        operation: Operation,
        passes: u32,
    ) -> std::result::Result<Option<f64>, Error> {
        match operation {
            Operation::Parse => self.passes(passes).map(Some).map_err(Error::broken),
            _ => Ok(None),
        }
    }

    fn parsed(&mut self, message: usize) -> std::result::Result<Answer, Error> {
        let accepted = self.accepted.get(message);
        let accepted = accepted.ok_or_else(|| Error::broken("QuickFIX leaves messages out"))?;
        Ok(answer(*accepted))
    }

    fn written(&mut self, _message: usize) -> std::result::Result<Option<Vec<u8>>, Error> {
        Ok(None)
    }
}

impl Drop for QuickfixSide {
    fn drop(&mut self) {
        // It ends with its input; whatever it says then is not needed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
