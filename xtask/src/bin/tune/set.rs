//! Sets of parameters, as they are named on the command line.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use zstdkit::{EncoderOptions, Parameters, Strategy};

/// All parameters, in libzstd's order: window, chain, hash, search, shortest match, target
/// length, strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Set {
    pub(crate) numbers: [u32; 6],
    pub(crate) strategy: Strategy,
}

impl Set {
    pub(crate) fn options(&self) -> EncoderOptions {
        let [window, chain, hash, search, min_match, target] = self.numbers;
        EncoderOptions::default()
            .with_window_log(window)
            .with_parameters(
                Parameters::default()
                    .with_chain_log(chain)
                    .with_hash_log(hash)
                    .with_search_log(search)
                    .with_min_match(min_match)
                    .with_target_length(target)
                    .with_strategy(self.strategy),
            )
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for number in self.numbers {
            write!(f, "{number},")?;
        }
        f.write_str(self.strategy.name())
    }
}

impl FromStr for Set {
    type Err = anyhow::Error;

    fn from_str(words: &str) -> Result<Self> {
        let words: Vec<&str> = words.split(',').map(str::trim).collect();
        ensure!(words.len() == 7, "a set is six numbers and a strategy");
        let mut numbers = [0; 6];
        for (number, word) in numbers.iter_mut().zip(&words) {
            *number = word
                .parse()
                .with_context(|| format!("{word} is no number"))?;
        }
        let strategy = Strategy::ALL
            .into_iter()
            .find(|strategy| strategy.name() == words[6])
            .with_context(|| format!("{} is no strategy", words[6]))?;
        let set = Self { numbers, strategy };
        set.options().validate()?;
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_read_as_it_is_written() {
        let words = "22,21,22,6,5,16,lazy2";
        assert_eq!(words.parse::<Set>().unwrap().to_string(), words);
        assert!("22,21,22,6,9,16,lazy2".parse::<Set>().is_err());
        assert!("22,21,22,6,5,16,lazy3".parse::<Set>().is_err());
    }
}
