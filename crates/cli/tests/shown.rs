//! What comes from outside (names, archives, messages, reports, the command line, the environment)
//! is shown on a terminal and never obeyed, by any command in any form.

#![cfg(unix)]

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{commands, directory, file, fix, perfkit, pty, run, words};

/// Every control character, and every format character that steers text or cannot be seen.
fn unfit() -> Vec<char> {
    let controls = ('\u{1}'..='\u{1f}').chain('\u{7f}'..='\u{9f}');
    let directions = "\u{61c}\u{200b}\u{200e}\u{200f}".chars();
    let lines = '\u{2028}'..='\u{202e}';
    let isolates = ('\u{2066}'..='\u{2069}').chain(['\u{2060}', '\u{206f}', '\u{fff9}']);
    let hidden = ['\u{ad}', '\u{feff}', '\u{e0001}', '\u{e0041}', '\u{e007f}'];
    controls
        .chain(directions)
        .chain(lines)
        .chain(isolates)
        .chain(hidden)
        .collect()
}

/// All of them, and sequences that clear the screen, hide text and set its title.
fn hostile() -> String {
    let all: String = unfit().into_iter().collect();
    format!("A{all}\u{1b}[2J\u{1b}[8m\u{1b}]0;t\u{7}Z")
}

/// The same for what is one line, without the separators of `format`.
fn hostile_but(separators: &[char]) -> String {
    hostile().replace(separators, "")
}

/// What of `shown` a terminal would obey, colours of perfkit's own aside.
fn obeyed(shown: &[u8], coloured: bool) -> Option<String> {
    let Ok(text) = std::str::from_utf8(shown) else {
        return Some(format!("no UTF-8: {}", shown.escape_ascii()));
    };
    let mut text = text.to_owned();
    if coloured {
        for style in ["0", "1", "2", "4", "31", "32", "33", "34", "35", "36"] {
            text = text.replace(&format!("\u{1b}[{style}m"), "");
        }
    }
    let at = text.find(|letter| !matches!(letter, '\n' | '\t') && unfit().contains(&letter))?;
    let before = text[..at].chars().count();
    let around = text.chars().skip(before.saturating_sub(60)).take(120);
    Some(around.flat_map(char::escape_debug).collect())
}

struct Row {
    command: &'static str,
    program: Option<&'static str>,
    args: Vec<String>,
    forms: bool,
    stdin: Option<&'static str>,
    variable: Option<&'static str>,
    /// Whether something hostile is to be seen.
    shows: bool,
}

/// A row of words, in which `{H}` stands for what is hostile.
fn row(command: &'static str, line: &str) -> Row {
    Row {
        command,
        program: None,
        args: words(line),
        forms: false,
        stdin: None,
        variable: None,
        shows: true,
    }
}

impl Row {
    /// In every form of the report.
    fn forms(self) -> Self {
        Self {
            forms: true,
            ..self
        }
    }

    fn stdin(self, name: &'static str) -> Self {
        Self {
            stdin: Some(name),
            ..self
        }
    }

    /// With a variable of the environment that is hostile.
    fn variable(self, name: &'static str) -> Self {
        Self {
            variable: Some(name),
            ..self
        }
    }

    fn program(self, name: &'static str) -> Self {
        Self {
            program: Some(name),
            ..self
        }
    }

    /// Nothing from outside is in what it says.
    fn quiet(self) -> Self {
        Self {
            shows: false,
            ..self
        }
    }
}

const TREE: &str = "--domains domains --expressions expressions";

fn rows() -> Vec<Row> {
    let betree = |line: &str| format!("betree {} {TREE}", line);
    let mut rows = vec![
        row("compress", "compress -fv {H}").forms(),
        row("compress", "compress gone{H}"),
        row("compress", "compress -o gone{H}/x a"),
        row("compress", "compress --{H}"),
        row("compress", "compress --report {H} a"),
        row("compress", "compress --slo {H} a"),
        row("compress", "compress -f http://127.0.0.1:9/{H}"),
        row("compress", "--color {H}"),
        row("decompress", "decompress -c {H}.zst"),
        row("decompress", "decompress -l {H}.zst").forms(),
        row("decompress", "decompress -lv {H}.zst").forms(),
        row("decompress", "decompress -tv {H}.zst").forms(),
        row("decompress", "decompress -o /dev/stdout {H}.zst"),
        row("decompress", "decompress -t {H}"),
        row("zip", "zip -v --force z.zip {H}").forms(),
        row("zip", "zip --force z.zip gone{H}"),
        row("zip", "zip --force z.zip a")
            .variable("SOURCE_DATE_EPOCH")
            .quiet(),
        row("unzip", "unzip -l a.zip").forms(),
        row("unzip", "unzip -lv a.zip").forms(),
        row("unzip", "unzip -t a.zip").forms().quiet(),
        row("unzip", "unzip -p a.zip"),
        row("unzip", "unzip -v -d out --overwrite a.zip"),
        row("unzip", "unzip -l -").stdin("a.zip"),
        row("unzip", "unzip -p -").stdin("a.zip"),
        row("unzip", "unzip -l a.zip gone{H}"),
        row("unzip", "unzip -l {H}"),
        row("betree generate", "betree generate bool -o a/{H}"),
        row("betree generate", "betree generate {H}"),
        row("betree generate", "betree generate shape {H} -o s"),
        row("betree generate", "betree generate drawn {H} -o s"),
        row("betree match", &betree("match --events events")),
        row(
            "betree match",
            &betree("match --events events --keep-going"),
        ),
        row(
            "betree match",
            "betree match --domains domains --expressions {H} --events events",
        ),
        row(
            "betree match",
            "betree match --domains {H} --expressions expressions",
        ),
        row(
            "betree build",
            "betree build --domains domains --expressions {H} -o s",
        ),
        row(
            "betree build",
            "betree build --domains domains --expressions expressions -o a/{H}",
        ),
        row(
            "betree check",
            "betree check --domains domains --expressions {H}",
        ),
        row(
            "betree lint",
            "betree lint --domains domains --expressions {H}",
        ),
        row("betree explain", &betree("explain --id 1 --events right")),
        row("betree explain", &betree("explain --id 1 --events events")),
        row("betree explain", &betree("explain --id {H} --events right")),
        row(
            "betree serve",
            "betree serve --listen 127.0.0.1:0 --domains domains --expressions {H}",
        ),
        row("betree serve", "betree serve --listen {H}"),
        #[cfg(feature = "workers")]
        row("betree feed", "betree feed --to {H}"),
        #[cfg(feature = "workers")]
        row(
            "betree join",
            "betree join --from nats://127.0.0.1:9/S --events {H}",
        ),
        #[cfg(feature = "workers")]
        row(
            "betree roll-out",
            "betree roll-out --to nats://127.0.0.1:9/S {H}",
        ),
        row(
            "betree-bench",
            "betree-bench --expression-file {H} --event-file {H}",
        ),
        row("betree-bench shapes", "betree-bench shapes --shape {H}"),
        row("betree-bench serve", "betree-bench serve --shape {H}"),
        row("fix parse", "fix parse log").forms(),
        row("fix parse", "fix parse {H}"),
        row("fix parse", "fix parse log").variable("PERFKIT_ISA"),
        row("fix parse", "fix parse --dictionary {H} log"),
        row("fix validate", "fix validate log").quiet(),
        row(
            "fix validate",
            "fix validate --dictionary dictionary.xml log",
        )
        .quiet(),
        row("fix print", "fix print log"),
        row("fix print", "fix print --dictionary dictionary.xml log"),
        row("fix stats", "fix stats log").forms().quiet(),
        row("fix orders", "fix orders log").forms().quiet(),
        row("fix orders", "fix orders --list all log"),
        row("fix orders", "fix orders --id {H} log"),
        row("fix fills", "fix fills log").forms().quiet(),
        row("fix health", "fix health log").forms().quiet(),
        row("fix health", "fix health --list all log").quiet(),
        row("fix diff", "fix diff log other"),
        row("fix replay", "fix replay --speed 0 log"),
        row("fix replay", "fix replay --connect {H} log"),
        row("fix anonymize", "fix anonymize --key-file key log").quiet(),
        row("fix generate", "fix generate --messages 3").quiet(),
        row("fix generate", "fix generate -o gone/{H}"),
        row("fix store dump", "fix store dump store"),
        row("fix store dump", "fix store dump --raw store"),
        row("fix store verify", "fix store verify {H}"),
        row("fix store stats", "fix store stats {H}"),
        #[cfg(target_os = "linux")]
        row("fix acceptor", "fix acceptor --settings {H}"),
        #[cfg(target_os = "linux")]
        row("fix initiator", "fix initiator --settings {H}"),
        row("fix store import", "fix store import {H} new"),
        row(
            "fix store export",
            "fix store export --format quickfix store gone/{H}",
        ),
        row("fix settings check", "fix settings check {H}"),
        row("fix settings check", "fix settings check -q {H}"),
        row("fix settings keys", "fix settings keys").quiet(),
        row("fix certify", "fix certify {H}"),
        row("fix certify", "fix certify 127.0.0.1:1 --only {H}"),
        row("fix-bench", "fix-bench {H}"),
        row("fix-bench shapes", "fix-bench shapes --shape {H}"),
        row("fix-bench shapes", "fix-bench shapes --isa {H}"),
        row("fix-bench shapes", "fix-bench shapes --operation {H}"),
        row("fix-bench session", "fix-bench session --transport {H}"),
        row("fix-bench session", "fix-bench session --connect {H}"),
        row("stress", "stress --codec {H}"),
        row("compress-bench", "compress-bench gone{H}"),
        row("zip-bench", "zip-bench --{H}"),
        row("advise", "advise gone{H}"),
        row("compare", "compare report.json report.json")
            .forms()
            .quiet(),
        row("compare", "compare gone{H} report.json"),
        row("compare", "compare --interleave 6x1 -- gone{H} -- true"),
        row("report", "report -v report.json").forms(),
        row("report", "report log.hlog").forms(),
        row("report", "report {H}"),
        row("rerun", "rerun --dry-run report.json"),
        row("rerun", "rerun gone{H}"),
        row("env", "env").forms().quiet(),
        row("env", "env --export-json gone/{H}"),
        row("tour", "tour --{H}"),
        row("explain", "explain {H}"),
        row("completions", "completions {H}"),
        row("man", "man {H}"),
        row("help", "help {H}"),
        row("help", "{H}"),
    ];
    for line in [
        "{H}",
        "gone{H}",
        "-dc {H}.zst",
        "-l {H}.zst",
        "-lv {H}.zst",
        "-t {H}",
        "--{H}",
    ] {
        rows.push(row("", line).program("zstd"));
    }
    rows.push(row("", "-f a").program("zstd").variable("ZSTD_CLEVEL"));
    rows
}

/// Files of every kind that commands read, with what is hostile in each place that takes it.
fn fixture(dir: &Path) {
    let name = hostile();
    // What the file system and the records of a log take for their own.
    let value = hostile_but(&['\u{1}', '\n', '\r']);
    file(dir, &name, format!("text\n{name}\0\u{9b}[2J").as_bytes());
    file(dir, "a", b"content");
    file(dir, "key", &[7; 32]);
    run(dir, ["compress", "-qq", &name]).expect(0);
    run(dir, ["zip", "-qq", "a.zip", &name]).expect(0);
    // The comment of an archive is its end.
    let mut archive = std::fs::read(dir.join("a.zip")).expect("read");
    let comment = name.as_bytes();
    let length = u16::try_from(comment.len()).expect("short").to_le_bytes();
    let at = archive.len() - 2;
    archive[at..].copy_from_slice(&length);
    archive.extend_from_slice(comment);
    file(dir, "a.zip", &archive);
    let exports = "--export-json report.json --export-hlog plain.hlog";
    let line = words(&format!("compress -qqcf {exports}"));
    let line = line.into_iter().chain([name.clone()]);
    run(dir, line).expect(0);
    let hlog = std::fs::read_to_string(dir.join("plain.hlog")).expect("read");
    let tag = hostile_but(&['\n', '\r', ',', '\u{85}', '\u{2028}', '\u{2029}']);
    assert!(hlog.contains("Tag=service,"), "{hlog}");
    let hlog = hlog.replace("Tag=service,", &format!("Tag={tag},"));
    file(dir, "log.hlog", hlog.as_bytes());
    file(dir, "domains", b"country|string|true\n");
    file(
        dir,
        "expressions",
        format!("country = '{value}'\n").as_bytes(),
    );
    let key = serde_json::to_string(&name).expect("JSON");
    file(
        dir,
        "events",
        format!("{{{key}:{key}}}\n{{\"country\":3}}\n").as_bytes(),
    );
    file(dir, "right", format!("{{\"country\":{key}}}\n").as_bytes());
    let message = |number: u32, text: &str| {
        fix::message(&format!(
            "35=D|49=A|56=B|34={number}|52=20260305-14:15:16.000|11={text}|58={text}|"
        ))
    };
    let mut log = message(1, &value);
    log.push(b'\n');
    log.extend_from_slice(&message(2, "plain")[..40]);
    log.push(b'\n');
    log.extend_from_slice(&message(3, &value));
    file(dir, "log", &log);
    file(dir, "other", &message(1, "plain"));
    let text = hostile_but(&('\u{1}'..='\u{1f}').collect::<Vec<_>>());
    let plain = [
        (8, "BeginString"),
        (9, "BodyLength"),
        (35, "MsgType"),
        (49, "SenderCompID"),
        (56, "TargetCompID"),
        (34, "MsgSeqNum"),
        (52, "SendingTime"),
    ];
    let uses = |name: &str| format!("<field name='{name}' required='Y'/>");
    let defines =
        |number: u32, name: &str| format!("<field number='{number}' name='{name}' type='STRING'/>");
    let header: String = plain.iter().map(|(_, name)| uses(name)).collect();
    let fields: String = plain
        .iter()
        .map(|(number, name)| defines(*number, name))
        .collect();
    let (first, second) = (format!("F{text}"), format!("G{text}"));
    let xml = format!(
        "<fix major='4' minor='4'><header>{header}</header><messages>\
         <message name='N{text}' msgtype='D' msgcat='app'>{}{}</message></messages>\
         <trailer>{}</trailer><components/><fields>{fields}{}{}\
         <field number='58' name='{second}' type='STRING'>\
         <value enum='{text}' description='D{text}'/></field></fields></fix>",
        uses(&first),
        uses(&second),
        uses("CheckSum"),
        defines(10, "CheckSum"),
        defines(11, &first),
    );
    file(dir, "dictionary.xml", xml.as_bytes());
    let options = fixcore::store::Options::default();
    let mut store = fixcore::store::Store::open(dir.join("store"), options).expect("a store");
    store.append(1, &message(1, &value)).expect("room");
    drop(store);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_perfkit"), dir.join("zstd")).expect("linked");
}

fn command(dir: &Path, row: &Row, form: Option<&str>, coloured: bool) -> Command {
    let mut command = match row.program {
        None => perfkit(),
        Some(name) => Command::new(dir.join(name)),
    };
    let args = row.args.iter().map(|word| word.replace("{H}", &hostile()));
    command
        .current_dir(dir)
        .args(args.map(OsString::from))
        .env("TERM", "dumb")
        .stdin(Stdio::null());
    if let Some(form) = form {
        command.args(["--report", form]);
    }
    match coloured {
        true => command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1"),
        false => command.env("NO_COLOR", "1"),
    };
    if let Some(name) = row.stdin {
        command.stdin(std::fs::File::open(dir.join(name)).expect("opened"));
    }
    if let Some(name) = row.variable {
        command.env(name, hostile());
    }
    command
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn no_command_lets_a_control_character_through_to_a_terminal() {
    let rows = rows();
    commands::assert_complete(rows.iter().map(|row| row.command));
    let dir = directory();
    fixture(dir.path());
    let forms = ["text", "json", "jsonl", "csv", "markdown"];
    let mut wrong = Vec::new();
    for row in &rows {
        let forms: Vec<Option<&str>> = match row.forms {
            true => forms.into_iter().map(Some).collect(),
            false => vec![None],
        };
        for form in forms {
            for coloured in [false, true] {
                let shown = pty::run(command(dir.path(), row, form, coloured));
                let what = format!("{:?} {form:?} coloured {coloured}", row.args);
                for (stream, bytes) in [("stdout", &shown.stdout), ("stderr", &shown.stderr)] {
                    if let Some(bytes) = obeyed(bytes, coloured) {
                        wrong.push(format!("{what}: {stream} has {bytes}"));
                    }
                }
                let all = [shown.stdout, shown.stderr].concat();
                let all = String::from_utf8_lossy(&all);
                // A row that shows nothing of it proves nothing.
                if row.shows && !coloured && form.is_none_or(|form| form == "text") {
                    let escapes = ["u{2}", "u0002", "x02", "u{202e}"];
                    let told = escapes.iter().any(|escape| all.contains(escape));
                    if !told {
                        wrong.push(format!("{what}: exit {:?} shows {all}", shown.code));
                    }
                }
                if shown.code == Some(101) || shown.code.is_none() {
                    wrong.push(format!("{what}: {:?}: {all}", shown.code));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn json_loses_nothing_and_csv_keeps_every_byte_in_a_pipe() {
    let dir = directory();
    let name = hostile();
    file(dir.path(), &name, b"content");
    run(dir.path(), ["compress", "-qq", &name]).expect(0);
    let packed = format!("{name}.zst");
    for form in ["json", "jsonl"] {
        let listed = run(dir.path(), ["decompress", "-l", "--report", form, &packed]).expect(0);
        assert_eq!(obeyed(&listed.stdout, false), None, "{form}");
        assert_eq!(listed.json()["workload"]["inputs"][0]["path"], packed);
        let rows = &listed.json()["tables"][0]["rows"][0];
        let row = rows.as_array().expect("a row");
        assert!(row.iter().any(|cell| *cell == packed));
    }
    let listed = run(dir.path(), ["decompress", "-l", "--report", "csv", &packed]).expect(0);
    assert!(
        listed.text().contains(&format!(",\"{packed}\"\n")),
        "{listed:?}"
    );
    // A spreadsheet is not handed a bare formula, and numbers stay numbers.
    file(dir.path(), "=1+2", b"content");
    run(dir.path(), ["compress", "-qq", "--", "=1+2"]).expect(0);
    let listed = run(
        dir.path(),
        ["decompress", "-l", "--report", "csv", "=1+2.zst"],
    )
    .expect(0);
    assert!(listed.text().ends_with(",\"=1+2.zst\"\n"), "{listed:?}");
}

#[test]
fn force_gives_a_terminal_the_bytes_as_they_are_and_text_needs_none() {
    let dir = directory();
    let content = format!("naïve\ttext\r\n{}\u{1b}[1m\0", "日本 ".repeat(50_000)).into_bytes();
    let content = [&content[..], b"\xff\r"].concat();
    file(dir.path(), "a", &content);
    run(dir.path(), words("compress -qq a")).expect(0);
    run(dir.path(), words("zip -qq a.zip a")).expect(0);
    let message = fix::order(1, "one", 200);
    file(dir.path(), "log", &message);
    let shown_message = String::from_utf8_lossy(&message).replace('\u{1}', "\\u{1}");
    let text = String::from_utf8_lossy(&content[..content.len() - 2])
        .replace("\u{1b}", "\\u{1b}")
        .replace('\0', "\\u{0}");
    let text = format!("{text}\\xff\\r");
    for (line, raw, shown) in [
        ("decompress -qqc a.zst", &content, &text),
        ("unzip -qqp a.zip", &content, &text),
        ("fix replay -qq --speed 0 log", &message, &shown_message),
    ] {
        for (force, expected) in [(false, shown.as_bytes()), (true, raw)] {
            let mut command = perfkit();
            command.current_dir(dir.path()).args(words(line));
            if force {
                command.arg("--force");
            }
            let found = pty::run(command);
            assert_eq!(found.code, Some(0), "{line}");
            assert!(found.stdout == expected, "{line}, -f {force}");
        }
    }
    // What is no text in any case is not shown as some.
    for line in ["compress -c a", "zip - a"] {
        let mut command = perfkit();
        command.current_dir(dir.path()).args(words(line));
        let refused = pty::run(command);
        assert_eq!(refused.code, Some(2), "{line}");
        assert_eq!(refused.stdout, b"");
    }
}

#[test]
fn a_long_name_is_cut_in_every_message() {
    let dir = directory();
    let long = "x".repeat(60_000);
    for (line, code) in [
        (vec!["compress", &long], 1),
        (vec!["compress", "--report", &long, "a"], 2),
        (vec!["man", &long], 2),
        (vec![&long], 2),
        (vec!["fix", "parse", &long], 1),
        (
            vec!["betree", "match", "--domains", "d", "--expressions", &long],
            1,
        ),
        (vec!["unzip", "-l", &long], 1),
        (vec!["compare", &long, &long], 1),
    ] {
        let failed = run(dir.path(), &line).expect(code);
        assert!(
            failed.stderr.len() < 2_000,
            "{:?}: {}",
            line[0],
            failed.stderr.len()
        );
        assert!(
            failed.stderr.contains("characters left out"),
            "{}",
            failed.stderr
        );
    }
}
