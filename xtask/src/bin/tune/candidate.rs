//! The candidates: native levels, recipes, the old mapping, and parameter sets.

use std::fmt;
use std::str::FromStr;

use crate::table::Group;
use anyhow::{Context, Result, ensure};
use zstdkit::{EncoderOptions, Parameters, Recipe, Strategy};

use crate::args::Args;
use crate::data::Case;

/// The suffix of the name of a control.
pub(crate) const TWIN: &str = " again";

#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) name: String,
    pub(crate) group: Group,
    pub(crate) options: EncoderOptions,
}

/// Levels, recipes, sets and the old mapping, as asked for, for this content.
pub(crate) fn all(args: &Args, case: &Case) -> Vec<Candidate> {
    let (low, high) = args.levels;
    let mut all: Vec<Candidate> = (low..=high)
        .filter(|&level| level != 0)
        .map(Candidate::level)
        .collect();
    let recipes = Recipe::ALL.into_iter().filter(|&it| it != Recipe::Auto);
    if args.recipes {
        let first = case.samples.first().map_or(&[][..], Vec::as_slice);
        let named = |recipe: Recipe, group, suffix| Candidate {
            name: format!("{recipe}{suffix}"),
            group,
            options: recipe.options_for(first, Some(case.size as u64)),
        };
        all.extend(recipes.clone().map(|it| named(it, Group::Recipe, "")));
        // `Maximum` would take as long as all others together.
        let quick = recipes.clone().filter(|&it| it != Recipe::Maximum);
        all.extend(quick.map(|it| named(it, Group::Control, TWIN)));
    }
    if args.compat {
        all.extend(recipes.map(|recipe| Candidate {
            name: format!("old {recipe}"),
            group: Group::Exzstandard,
            options: recipe.exzstandard(None),
        }));
    }
    all.extend(args.sets.iter().map(|set| set.candidate()));
    all
}

impl Candidate {
    pub(crate) fn level(level: i32) -> Self {
        Self {
            name: format!("level {level}"),
            group: Group::Level,
            options: EncoderOptions::default().with_level(level),
        }
    }
}

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

    pub(crate) fn candidate(&self) -> Candidate {
        Candidate {
            name: self.to_string(),
            group: Group::Set,
            options: self.options(),
        }
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
