//! What perfkit shows by itself: a minute of soak, open loops at shares of the capacity, and the verdict
//! on leaks over many runs. Each is a section of the record, by a command of its own.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Bench;
use super::record::{Section, cell, table};
use crate::sh;

/// Seconds of the soak.
const SOAK: &str = "60s";
/// Runs of each pool, and how long each of them takes.
const LEAK_RUNS: usize = 20;
const LEAK_DURATION: &str = "750ms";
const SOUND: [&str; 5] = ["fresh", "thread-local", "mutex", "queue", "sharded"];

impl Bench {
    /// The section of that name: `soak`, `open` or `leaks`.
    pub(super) fn section(&self, name: &str) -> Result<Section> {
        match name {
            "soak" => self.soak(),
            "open" => self.open(),
            "leaks" => self.leaks(),
            _ => bail!("no section is called {name}: soak, open or leaks"),
        }
    }

    /// A run of perfkit that must end with one of these codes, and its report.
    fn report(&self, words: &[&str], codes: &[i32]) -> Result<(i32, Value)> {
        let mut command = sh::command(&self.perfkit);
        command.arg("stress").args(words);
        command.args(["--report", "json", "-q"]);
        let made = command.output()?;
        let code = made.status.code().unwrap_or(-1);
        if !codes.contains(&code) {
            let errors = String::from_utf8_lossy(&made.stderr);
            bail!("{}: exit {code}: {errors}", words.join(" "));
        }
        Ok((code, serde_json::from_slice(&made.stdout)?))
    }

    fn soak(&self) -> Result<Section> {
        let words = ["--codec", "zstd:1", "--pool", "sharded", "-d", SOAK];
        let (_, report) = self.report(&words, &[0])?;
        let mut rows = Vec::new();
        let bytes = [
            "settled_bytes",
            "end_bytes",
            "max_bytes",
            "slope_bytes_per_s",
            "slope_low_bytes_per_s",
            "slope_high_bytes_per_s",
        ];
        let counts = bytes.map(|key| key.replace("_bytes", ""));
        for (name, keys) in [
            ("memory", bytes.map(str::to_owned)),
            ("contexts and threads", counts),
        ] {
            let held = table(&report, name)?;
            for at in 0..held["rows"].as_array().map_or(0, Vec::len) {
                let [settled, end, max, slope, low, high] =
                    keys.each_ref().map(|key| shown(cell(held, at, key)));
                let what = ["held", "verdict"].map(|key| shown(cell(held, at, key)));
                let interval = format!("{low} to {high}");
                rows.push([&what[..], &[settled, end, max, slope, interval]].concat());
            }
        }
        let columns = [
            "held",
            "verdict",
            "after a quarter",
            "at the end",
            "most",
            "slope a second",
            "95 %",
        ];
        Ok(Section {
            title: "A minute of soak".to_owned(),
            made: self.made()?,
            commands: vec![format!("perfkit stress {}", words.join(" "))],
            note: "Bytes, and contexts and threads; the slope is over the time after the first quarter, by \
                   Theil and Sen. No context is left when the pools are gone, or the command fails."
                .to_owned(),
            columns: columns.map(str::to_owned).to_vec(),
            rows,
        })
    }

    fn open(&self) -> Result<Section> {
        let rates = "50%,80%,95%,120%";
        let words = ["--codec", "zstd:1", "--rate", rates, "-d", "5s"];
        let (_, report) = self.report(&words, &[0])?;
        let found = table(&report, "rates")?;
        let keys = [
            "load",
            "verdict",
            "rate_per_s",
            "achieved_per_s",
            "backlog_max",
            "response_p50_ns",
            "response_p99_ns",
            "response_p99_9_ns",
            "compress_p50_ns",
            "compress_p99_ns",
            "decompress_p50_ns",
            "decompress_p99_ns",
            "rss_bytes_max",
        ];
        let count = found["rows"].as_array().map_or(0, Vec::len);
        let row = |at: usize| keys.map(|key| shown(cell(found, at, key))).to_vec();
        Ok(Section {
            title: "Open loops at shares of the capacity".to_owned(),
            made: self.made()?,
            commands: vec![format!("perfkit stress {}", words.join(" "))],
            note: "The capacity is that of a closed loop right before them. Response times count from when a \
                   block was due, those of the codec from when it was begun; nanoseconds."
                .to_owned(),
            columns: keys.map(str::to_owned).to_vec(),
            rows: (0..count).map(row).collect(),
        })
    }

    fn leaks(&self) -> Result<Section> {
        let mut rows = Vec::new();
        let mut commands = Vec::new();
        for pool in SOUND.into_iter().chain(["leaking"]) {
            let mut found = 0;
            for seed in 1..=LEAK_RUNS {
                let seed = seed.to_string();
                let words = ["--codec", "zstd:1", "--pool", pool, "-d", LEAK_DURATION];
                let words = [&words[..], &["--seed", &seed]].concat();
                let (code, _) = self
                    .report(&words, &[0, 4])
                    .with_context(|| format!("{pool}, run {seed}"))?;
                found += usize::from(code == 4);
                if seed == "1" {
                    commands.push(format!("perfkit stress {}", words.join(" ")));
                }
            }
            println!("{pool}: a leak in {found} of {LEAK_RUNS}");
            rows.push(vec![
                pool.to_owned(),
                LEAK_RUNS.to_string(),
                found.to_string(),
            ]);
        }
        Ok(Section {
            title: "The verdict on leaks".to_owned(),
            made: self.made()?,
            commands,
            note: format!("Runs with the seeds 1 to {LEAK_RUNS}, and how many ended with exit 4."),
            columns: ["pool", "runs", "leaks found"].map(str::to_owned).to_vec(),
            rows,
        })
    }
}

/// A table cell: a dash for no value, three digits for a fraction.
fn shown(cell: Option<&Value>) -> String {
    match cell {
        None | Some(Value::Null) => "—".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => match (value.as_u64(), value.as_f64()) {
            (Some(whole), _) => whole.to_string(),
            (None, Some(number)) if number.abs() < 100.0 => format!("{number:.3}"),
            (None, Some(number)) => format!("{number:.0}"),
            (None, None) => value.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_are_shown_for_people() {
        let values = [
            json!(7),
            json!(0.25),
            json!(1234.5),
            json!("x"),
            Value::Null,
        ];
        let texts: Vec<_> = values.iter().map(|value| shown(Some(value))).collect();
        assert_eq!(texts, ["7", "0.250", "1234", "x", "—"]);
        assert_eq!(shown(None), "—");
    }
}
