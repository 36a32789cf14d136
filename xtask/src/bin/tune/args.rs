//! The words of the command line as plain data. Nothing is opened here.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use zstdkit::workload::Kind;

use crate::data::Part;
use crate::set::Set;

pub(crate) const USAGE: &str = "\
usage: cargo xtask tune [OPTION…] [KIND=FILE…]

Measures recipes beside native levels on samples of the files (without any: on generated data)
and marks what a native level dominates: no larger, and faster by more than a recipe measured
twice differs by. Recipes have the parameters of a look at the first sample.

  --kinds LIST       kinds of generated data (default uuid,json,html,log,source,binary)
  --sizes LIST       bytes of a sample, with K or M (default 2K,16K,128K,512K,1M,4M)
  --part P           only this half of the data, `first` (to choose on) or `second` (to judge on)
  --bytes N          content of all samples of a kind and size (default 2M)
  --levels A..B      native levels to measure (default -3..22)
  --sets SETS        more candidates: window,chain,hash,search,min_match,target,strategy; …
  --compat           the exzstandard mapping too
  --no-recipes       no recipes
  --spend MS         processor time for each candidate and kind (default 200)
  --passes N         passes over the samples at least (default 3)
  --search STEPS     try so many parameter sets instead, children of the levels and of --sets
  --between A,B      with --search: only as slow as these native levels
  --seed N           with --search: another order
  --json FILE        the run as JSON; `cargo xtask record zstd-recipes FILE…` puts runs together
";

/// How long to measure each candidate on each case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Passes go on until so much time went into them …
    pub(crate) spend: Duration,
    /// … and there were so many.
    pub(crate) passes: u32,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Judge,
    Search {
        steps: usize,
        between: (i32, i32),
        seed: u64,
    },
}

#[derive(Debug)]
pub(crate) struct Args {
    /// Kind and path.
    pub(crate) files: Vec<(String, String)>,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) part: Part,
    pub(crate) bytes: usize,
    pub(crate) levels: (i32, i32),
    pub(crate) sets: Vec<Set>,
    pub(crate) compat: bool,
    pub(crate) recipes: bool,
    pub(crate) effort: Effort,
    pub(crate) task: Task,
    pub(crate) json: Option<String>,
}

impl Args {
    /// `None`: help was asked for.
    pub(crate) fn parse(words: &[String]) -> Result<Option<Self>> {
        let mut args = Self {
            files: Vec::new(),
            kinds: Kind::ALL[..6].to_vec(),
            sizes: list("2K,16K,128K,512K,1M,4M", bytes)?,
            part: Part::Whole,
            bytes: 2 << 20,
            levels: (-3, 22),
            sets: Vec::new(),
            compat: false,
            recipes: true,
            effort: Effort {
                spend: Duration::from_millis(200),
                passes: 3,
            },
            task: Task::Judge,
            json: None,
        };
        let (mut steps, mut between, mut seed) = (None, (1, 19), 1);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .with_context(|| format!("{word} needs a value"))
            };
            match word.as_str() {
                "--help" | "-h" => return Ok(None),
                "--kinds" => args.kinds = list(value()?, |kind| Ok(kind.parse()?))?,
                "--sizes" => args.sizes = list(value()?, bytes)?,
                "--part" => args.part = value()?.parse()?,
                "--bytes" => args.bytes = bytes(value()?)?,
                "--levels" => args.levels = pair(value()?, "..")?,
                "--sets" => args.sets = sets(value()?)?,
                "--compat" => args.compat = true,
                "--no-recipes" => args.recipes = false,
                "--spend" => args.effort.spend = Duration::from_millis(value()?.parse()?),
                "--passes" => args.effort.passes = value()?.parse()?,
                "--search" => steps = Some(value()?.parse()?),
                "--between" => between = pair(value()?, ",")?,
                "--seed" => seed = value()?.parse()?,
                "--json" => args.json = Some(value()?.clone()),
                flag if flag.starts_with('-') => bail!("no option is called {flag}\n{USAGE}"),
                file => {
                    let (kind, path) = file
                        .split_once('=')
                        .with_context(|| format!("{file}: a file is given as KIND=FILE"))?;
                    args.files.push((kind.to_owned(), path.to_owned()));
                }
            }
        }
        if let Some(steps) = steps {
            args.task = Task::Search {
                steps,
                between,
                seed,
            };
        }
        Ok(Some(args))
    }
}

fn list<T>(words: &str, read: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    words.split(',').map(read).collect()
}

fn sets(words: &str) -> Result<Vec<Set>> {
    words
        .split(';')
        .map(str::trim)
        .filter(|set| !set.is_empty())
        .map(str::parse)
        .collect()
}

fn pair(words: &str, between: &str) -> Result<(i32, i32)> {
    let (low, high) = words
        .split_once(between)
        .with_context(|| format!("{words}: two numbers with {between} between"))?;
    let (low, high) = (low.parse()?, high.parse()?);
    ensure!(low <= high, "{words}: the first is the larger");
    Ok((low, high))
}

fn bytes(word: &str) -> Result<usize> {
    let (digits, unit) = match word.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => word
            .strip_suffix('M')
            .map_or((word, 1), |digits| (digits, 1 << 20)),
    };
    let number: usize = digits
        .parse()
        .with_context(|| format!("{word} is no number of bytes"))?;
    let bytes = number.checked_mul(unit).context("too many bytes")?;
    ensure!(bytes > 0, "a size of 0 bytes");
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Option<Args>> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        Args::parse(&words)
    }

    #[test]
    fn words_become_data() {
        let args = parse("--sizes 2K,1M --levels -3..9 json=a/b --search 9 --between 3,9")
            .unwrap()
            .unwrap();
        assert_eq!(args.sizes, [2048, 1 << 20]);
        assert_eq!(args.levels, (-3, 9));
        assert_eq!(args.files, [("json".to_owned(), "a/b".to_owned())]);
        let wanted = Task::Search {
            steps: 9,
            between: (3, 9),
            seed: 1,
        };
        assert_eq!(args.task, wanted);
    }

    #[test]
    fn wrong_words_are_refused() {
        for words in [
            "--sizes 0",
            "--levels 9..3",
            "file",
            "--what",
            "--sets 1,2",
            "--json",
            "--part third",
        ] {
            assert!(parse(words).is_err(), "{words}");
        }
    }
}
