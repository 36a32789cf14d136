//! Parses `--zstd=`: single settings of the match finder.

use zstdkit::{Parameters, Strategy};

/// The given settings. 0 leaves the value of the level, as if it had not been given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Advanced {
    pub(crate) window_log: Option<u32>,
    pub(crate) overlap_log: Option<u32>,
    pub(crate) parameters: Parameters,
}

impl Advanced {
    /// Adds a list such as `wlog=23,strat=5`; the error is the part that cannot be parsed.
    pub(crate) fn add<'a>(&mut self, list: &'a str) -> Result<(), &'a str> {
        for part in list.split(',') {
            let (key, value) = part.split_once('=').ok_or(part)?;
            let number: u32 = value.parse().map_err(|_| part)?;
            let value = Some(number).filter(|&n| n != 0);
            let parameters = &mut self.parameters;
            let place = match key {
                "windowLog" | "wlog" => &mut self.window_log,
                "overlapLog" | "ovlog" => &mut self.overlap_log,
                "chainLog" | "clog" => &mut parameters.chain_log,
                "hashLog" | "hlog" => &mut parameters.hash_log,
                "searchLog" | "slog" => &mut parameters.search_log,
                "minMatch" | "mml" => &mut parameters.min_match,
                "targetLength" | "tlen" => &mut parameters.target_length,
                "strategy" | "strat" => {
                    let named = |one: &Strategy| one.number() == number;
                    let strategy = Strategy::ALL.into_iter().find(named);
                    if value.is_some() && strategy.is_none() {
                        return Err(part);
                    }
                    parameters.strategy = strategy;
                    continue;
                }
                _ => return Err(part),
            };
            *place = value;
        }
        Ok(())
    }
}
