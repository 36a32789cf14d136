//! Generates the logs, times the commands, and writes the record.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use super::{FixDesk, Log};
use crate::peers::fix_log::run::{TIME, timed};
use crate::peers::{build_perfkit, made};
use crate::record::{Machine, Record, Results};
use crate::{metadata, sh};

const ROUNDS: u32 = 3;
/// Counts messages of type 8.
const PYTHON: &str = "import sys, simplefix
p, n = simplefix.FixParser(), 0
p.append_buffer(open(sys.argv[1], 'rb').read(16 << 20))
while (m := p.get_message()) is not None: n += m.get(35) == b'8'
print(n)";

/// Logs: their names, and how they are generated; a day has its files in a directory.
const LOGS: [(&str, &str); 6] = [
    ("lines, SOH, no order ends", "--size 300MB"),
    (
        "lines, pipes, prefixed",
        "--size 300MB --separator pipe --form prefixed",
    ),
    ("short messages", "--size 200MB --mix 80,10,10,0"),
    ("long messages", "--size 300MB --mix 0,1,1,30"),
    ("a day, 3 logs, few orders open", "--day"),
    ("ten times that day", "--day 10"),
];
/// Orders of a day.
const ORDERS: u64 = 40_000;

/// Names, and lines of shell in which $1 is perfkit and $2 the log or logs.
fn commands(is_day: bool, has: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: &str, line: String| all.push((name.to_owned(), line));
    // Into a pipe, for grep stops at the first match when its output is /dev/null.
    add("grep -c 35=8", "grep -ac 35=8 $2 | cat".to_owned());
    if has("rg") {
        add("rg -c 35=8", "rg -ac 35=8 $2 | cat".to_owned());
    }
    let fix = |part: &str, flags: &str| format!("exec \"$1\" fix {part} -qq -T1 {flags} $2");
    add("fix parse --type 9 (few or none)", fix("parse", "--type 9"));
    add(
        "fix parse --where ClOrdID=… (one order)",
        fix("parse", "--where 'ClOrdID in (C000001000, ORD00000001000)'"),
    );
    add(
        "fix parse --type D --format raw",
        fix("parse", "--type D --format raw"),
    );
    add(
        "fix parse --fields 11,39 (all)",
        fix("parse", "--fields 11,39"),
    );
    add("fix orders", fix("orders", ""));
    if !is_day && has("python3") {
        add(
            "python3, simplefix, 16 MiB",
            format!("exec python3 -c \"{}\" $2", PYTHON.replace('"', "\\\"")),
        );
    }
    all
}

/// Measures and writes the record.
pub(crate) fn run() -> Result<()> {
    if !Path::new(TIME).is_file() {
        bail!(
            "{TIME} is not installed (apt-get install time): nothing else says what a command held"
        );
    }
    build_perfkit()?;
    let perfkit = metadata::measured_binaries()?.join("perfkit");
    let memory = Path::new("/dev/shm");
    let folder = match memory.is_dir() {
        true => tempfile::tempdir_in(memory)?,
        false => tempfile::tempdir()?,
    };
    let mut logs = Vec::new();
    for (name, flags) in LOGS {
        let mut generate = sh::command(&perfkit);
        generate.args(["fix", "generate"]);
        let (path, is_day) = (folder.path().join("log"), flags.starts_with("--day"));
        let paths = match is_day {
            true => {
                let times = flags
                    .strip_prefix("--day ")
                    .map_or(Ok(1), str::parse::<u64>)?;
                generate.arg("--day").arg(&path);
                generate.args(["--orders", &(times * ORDERS).to_string()]);
                ["gateway.log", "router.log", "venue.log"]
                    .map(|log| path.join(log))
                    .to_vec()
            }
            false => {
                generate.args(flags.split(' ')).arg("-o").arg(&path);
                vec![path.clone()]
            }
        };
        sh::run(&mut generate)?;
        let sizes = paths.iter().map(|path| Ok(fs::metadata(path)?.len()));
        let bytes = sizes.sum::<Result<u64>>()?;
        let words: Vec<_> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let words = words.join(" ");
        let mut rows: Vec<crate::peers::fix_log::Row> = Vec::new();
        for _ in 0..ROUNDS {
            for (command, line) in commands(is_day, |name| sh::find(name).is_some()) {
                let row = timed(&command, &line, &perfkit, &words)?;
                println!("{name}: {command}: {:.2} s", row.seconds);
                match rows.iter_mut().find(|old| old.command == command) {
                    Some(old) if row.processor_s < old.processor_s => *old = row,
                    Some(_) => {}
                    None => rows.push(row),
                }
            }
        }
        match is_day {
            true => fs::remove_dir_all(&path)?,
            false => fs::remove_file(&path)?,
        }
        let name = name.to_owned();
        logs.push(Log { name, bytes, rows });
    }
    let results = FixDesk {
        rounds: ROUNDS,
        logs,
    };
    let mut record = Record::new(
        "perfkit fix and the questions of a support desk",
        "cargo xtask peers fix-desk",
        Results::FixDesk(results),
    );
    record.made = vec![made(&perfkit)?];
    record.machine = Some(Machine::here());
    println!("{}", record.write("fix-desk")?.display());
    Ok(())
}
