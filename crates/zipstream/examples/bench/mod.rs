//! Shared by the deflate benchmarks: options, contents, and output of the results.

#[path = "../../tests/data/mod.rs"]
mod data;

/// The options of a run.
pub(crate) struct Options {
    pub(crate) levels: Vec<i32>,
    pub(crate) rounds: usize,
    bytes_max: usize,
    json: Option<String>,
    files: Vec<String>,
}

impl Options {
    /// The options of the command line.
    pub(crate) fn of_arguments() -> Self {
        let mut options = Self {
            levels: vec![1, 6, 9],
            rounds: 9,
            bytes_max: 16 << 20,
            json: None,
            files: Vec::new(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_default();
            match word.as_str() {
                "--levels" => {
                    options.levels = value().split(',').filter_map(|n| n.parse().ok()).collect();
                }
                "--rounds" => options.rounds = value().parse().unwrap_or(9).max(1),
                "--mib" => options.bytes_max = value().parse::<usize>().unwrap_or(16) << 20,
                "--json" => options.json = Some(value()),
                _ => options.files.push(word),
            }
        }
        options
    }

    /// The generated contents and the named files, each with its name.
    pub(crate) fn contents(&self) -> std::io::Result<Vec<(String, Vec<u8>)>> {
        let line = b"The quick brown fox jumps over the lazy dog, and then it does so again.\n";
        let line = |bytes| line.iter().copied().cycle().take(bytes).collect();
        let mut contents = vec![
            ("one line, 5 MiB".to_owned(), line(5 << 20)),
            ("one line, 100 KB".to_owned(), line(100_000)),
            ("words, 4 MiB".to_owned(), data::words(42, 4000, 4 << 20)),
            (
                "noise, 2 MiB".to_owned(),
                data::noise(0x9e37_79b9_7f4a_7c15, 2 << 20),
            ),
        ];
        for path in &self.files {
            let mut content = std::fs::read(path)?;
            content.truncate(self.bytes_max);
            let name = path.rsplit('/').next().unwrap_or(path);
            contents.push((name.to_owned(), content));
        }
        Ok(contents)
    }

    /// Prints the rows, which are JSON objects, and writes them to the file of `--json`.
    pub(crate) fn write_out(&self, rows: &[String]) -> std::io::Result<()> {
        for row in rows {
            print_line(row);
        }
        if let Some(path) = &self.json {
            let rows = rows.join(",\n    ");
            let rounds = self.rounds;
            let text = format!("{{\n  \"rounds\": {rounds},\n  \"rows\": [\n    {rows}\n  ]\n}}\n");
            std::fs::write(path, text)?;
        }
        Ok(())
    }
}

#[allow(clippy::print_stdout, reason = "a benchmark prints its results")]
fn print_line(line: &str) {
    println!("{line}");
}
