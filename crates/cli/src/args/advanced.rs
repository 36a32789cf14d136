//! Parses `--zstd=`: single settings of the match finder and of the search for distant matches.

use std::str::FromStr;

use zstdkit::{EncoderOptions, LongDistance, Parameters, Strategy};

/// The given settings. 0 leaves the value of the level, as if it had not been given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Advanced {
    pub(crate) window_log: Option<u32>,
    pub(crate) overlap_log: Option<u32>,
    pub(crate) long_distance: LongDistance,
    pub(crate) parameters: Parameters,
}

impl Advanced {
    /// Adds a list such as `wlog=23,strat=5`; the error is the part that cannot be parsed.
    pub(crate) fn add<'a>(&mut self, list: &'a str) -> Result<(), &'a str> {
        for part in list.split(',') {
            let (key, value) = part.split_once('=').ok_or(part)?;
            let number = number(value).ok_or(part)?;
            let value = Some(number).filter(|&n| n != 0);
            let parameters = &mut self.parameters;
            let long = &mut self.long_distance;
            let place = match key {
                "windowLog" | "wlog" => &mut self.window_log,
                "overlapLog" | "ovlog" => &mut self.overlap_log,
                "chainLog" | "clog" => &mut parameters.chain_log,
                "hashLog" | "hlog" => &mut parameters.hash_log,
                "searchLog" | "slog" => &mut parameters.search_log,
                "minMatch" | "mml" => &mut parameters.min_match,
                "targetLength" | "tlen" => &mut parameters.target_length,
                "ldmHashLog" | "lhlog" => &mut long.hash_log,
                "ldmMinMatch" | "lmml" => &mut long.min_match,
                "ldmBucketSizeLog" | "lblog" => &mut long.bucket_log,
                "ldmHashRateLog" | "lhrlog" => &mut long.hash_rate_log,
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

    /// All of them at their largest, as the zstd program's `--max` sets them.
    pub(crate) fn largest() -> Self {
        Self {
            window_log: Some(31),
            overlap_log: Some(9),
            long_distance: LongDistance::default()
                .with_hash_log(30)
                .with_min_match(16)
                .with_bucket_log(8),
            parameters: Parameters::default()
                .with_chain_log(30)
                .with_hash_log(30)
                .with_search_log(30)
                .with_min_match(3)
                .with_target_length(128 << 10)
                .with_strategy(Strategy::Btultra2),
        }
    }

    /// Sets all that was given.
    pub(crate) fn apply(&self, encoder: &mut EncoderOptions) {
        encoder.window_log = self.window_log.or(encoder.window_log);
        encoder.overlap_log = self.overlap_log.or(encoder.overlap_log);
        encoder.long_distance_parameters = self.long_distance;
        encoder.parameters = self.parameters;
    }
}

impl FromStr for Advanced {
    type Err = String;

    fn from_str(list: &str) -> Result<Self, String> {
        let mut advanced = Self::default();
        match advanced.add(list) {
            Ok(()) => Ok(advanced),
            Err(part) => Err(format!(
                "'{part}' is no setting: wlog, clog, hlog, slog, mml, tlen, strat, ovlog, lhlog, lmml, lblog or lhrlog, \
                 with = and a number"
            )),
        }
    }
}

/// A number, with an optional K or M behind it.
fn number(text: &str) -> Option<u32> {
    let units = ["KiB", "KB", "K", "MiB", "MB", "M"];
    let unit = units
        .into_iter()
        .find_map(|unit| text.strip_suffix(unit).map(|rest| (rest, unit)));
    let (digits, shift) = match unit {
        Some((digits, unit)) => (digits, if unit.starts_with('K') { 10 } else { 20 }),
        None => (text, 0),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u32>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_settings_have_two_names() {
        let long = "windowLog=20,overlapLog=6,chainLog=21,hashLog=22,searchLog=3,minMatch=4,targetLength=4K,\
                    strategy=7,ldmHashLog=23,ldmMinMatch=64,ldmBucketSizeLog=5,ldmHashRateLog=6";
        let short = "wlog=20,ovlog=6,clog=21,hlog=22,slog=3,mml=4,tlen=4096,strat=7,lhlog=23,lmml=64,lblog=5,lhrlog=6";
        assert_eq!(long.parse::<Advanced>(), short.parse());
        let mut encoder = EncoderOptions::default();
        short
            .parse::<Advanced>()
            .expect("parsed")
            .apply(&mut encoder);
        assert_eq!(
            (encoder.window_log, encoder.overlap_log),
            (Some(20), Some(6))
        );
        assert_eq!(encoder.long_distance_parameters.hash_rate_log, Some(6));
        assert_eq!(encoder.parameters.target_length, Some(4096));
        assert!(encoder.validate().is_ok());
        for wrong in [
            "",
            "wlog",
            "wlog=",
            "wlog=x",
            "wlog=-1",
            "foo=1",
            "strat=10",
            "wlog=5000M",
        ] {
            assert!(wrong.parse::<Advanced>().is_err(), "{wrong}");
        }
        let mut largest = EncoderOptions::default();
        Advanced::largest().apply(&mut largest);
        assert!(largest.validate().is_ok());
    }
}
