//! The candidates: native levels, recipes, the old mapping, and parameter sets.

use crate::table::Group;
use zstdkit::{EncoderOptions, Recipe};

use crate::args::Args;
use crate::data::Case;
use crate::set::Set;

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
    all.extend(args.sets.iter().map(Candidate::set));
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

    pub(crate) fn set(set: &Set) -> Self {
        Self {
            name: set.to_string(),
            group: Group::Set,
            options: set.options(),
        }
    }
}
