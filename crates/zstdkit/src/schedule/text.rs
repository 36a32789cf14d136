//! Costs as a small text file, to start from next time. They hold for one machine and one version of
//! libzstd.

use std::fmt::Write as _;

use super::model::{Cost, CostModel, NS_PER_KIB};

const MAGIC: &str = "zstdkit costs 1";
/// The longest accepted text. Files that this crate writes are much shorter.
const TEXT_BYTES_MAX: usize = 256 << 10;

/// Why a text is not a valid cost file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid cost file at line {line} (byte {offset}): {reason}")]
pub struct ParseCostsError {
    line: usize,
    offset: usize,
    reason: &'static str,
}

impl ParseCostsError {
    /// The line, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The byte offset of the line.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl CostModel {
    /// The learned costs as text for [`from_text`](CostModel::from_text).
    ///
    /// ```
    /// use zstdkit::EncoderOptions;
    /// use zstdkit::schedule::{CostModel, CostKey};
    ///
    /// let (model, options) = (CostModel::default(), EncoderOptions::default());
    /// model.observe(CostKey::compress(&options, 2000), 2000, 5_000);
    /// let again = CostModel::from_text(&model.to_text())?;
    /// let key = CostKey::compress(&options, 2000);
    /// assert_eq!(again.predict_ns(key, 2000), model.predict_ns(key, 2000));
    /// # Ok::<(), zstdkit::schedule::ParseCostsError>(())
    /// ```
    pub fn to_text(&self) -> String {
        let mut costs: Vec<_> = self.costs().collect();
        costs.sort_unstable_by_key(|&(hash, _)| hash);
        let mut text = format!("{MAGIC}\nlibzstd {}\n", crate::version());
        for (hash, cost) in &costs {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{hash:016x} {} {}", cost.mean, cost.deviation);
        }
        let _ = writeln!(text, "end {}", costs.len());
        text
    }

    /// A model with these costs and the default threshold. A text that is truncated, malformed, or
    /// written by a different version of this crate or of libzstd is refused.
    pub fn from_text(text: &str) -> Result<Self, ParseCostsError> {
        let mut at = (1, 0);
        let fail = |(line, offset), reason| ParseCostsError {
            line,
            offset,
            reason,
        };
        if text.len() > TEXT_BYTES_MAX {
            return Err(fail(at, "too long"));
        }
        let model = Self::default();
        let mut count = 0_usize;
        let mut last = 0;
        for line in text.split_inclusive('\n') {
            let refuse = |reason| fail(at, reason);
            let words = line
                .strip_suffix('\n')
                .ok_or_else(|| refuse("truncated line"))?;
            match at.0 {
                1 if words != MAGIC => return Err(refuse("not a cost file of version 1")),
                2 if words.strip_prefix("libzstd ") != Some(crate::version()) => {
                    return Err(refuse("written with a different libzstd"));
                }
                1 | 2 => {}
                _ => match words.strip_prefix("end ") {
                    Some(_) if at.1 + line.len() < text.len() => {
                        return Err(refuse("lines after the end"));
                    }
                    Some(stated) if stated == count.to_string() => return Ok(model),
                    Some(_) => {
                        return Err(refuse("the number of costs differs from the stated one"));
                    }
                    None => {
                        let (hash, cost) = cost(words).ok_or_else(|| refuse("malformed cost"))?;
                        if hash <= last {
                            return Err(refuse("costs out of order"));
                        }
                        if !model.restore(hash, cost) {
                            return Err(refuse("too many costs"));
                        }
                        last = hash;
                        count += 1;
                    }
                },
            }
            at = (at.0 + 1, at.1 + line.len());
        }
        Err(fail(at, "missing end line"))
    }
}

fn cost(line: &str) -> Option<(u64, Cost)> {
    let mut words = line.split(' ');
    let hash = words.next().filter(|word| {
        word.len() == 16
            && word
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })?;
    let hash = u64::from_str_radix(hash, 16)
        .ok()
        .filter(|&hash| hash != 0)?;
    let mut number = || words.next()?.parse::<f32>().ok();
    let (mean, deviation) = (number()?, number()?);
    let usable = NS_PER_KIB.contains(&mean)
        && (0.0..=*NS_PER_KIB.end()).contains(&deviation)
        && words.next().is_none();
    usable.then_some((hash, Cost { mean, deviation }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EncoderOptions;
    use crate::schedule::CostKey;
    use proptest::prelude::*;

    fn model() -> CostModel {
        let model = CostModel::default();
        for log in 10..20 {
            let bytes = 1 << log;
            let key = CostKey::compress(&EncoderOptions::default(), bytes);
            model.observe(key, bytes, bytes as u64 * 3 + 777);
            model.observe(key, bytes, bytes as u64 * 4 + 500);
        }
        model
    }

    #[test]
    fn costs_come_back_exactly() {
        let text = model().to_text();
        let again = CostModel::from_text(&text).unwrap();
        assert_eq!(again.to_text(), text);
        assert_eq!(again.costs().count(), 10);
        let empty = CostModel::default().to_text();
        assert_eq!(CostModel::from_text(&empty).unwrap().costs().count(), 0);
    }

    #[test]
    fn every_cut_is_refused() {
        let text = model().to_text();
        for cut in 0..text.len() {
            assert!(CostModel::from_text(&text[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn refusals_name_the_line() {
        let text = model().to_text();
        let error = |text: &str| CostModel::from_text(text).unwrap_err().to_string();
        let head = format!("zstdkit costs 1\nlibzstd {}\n", crate::version());
        let cases = [
            ("".into(), "line 1 (byte 0): missing end line"),
            (
                "something else\n".into(),
                "line 1 (byte 0): not a cost file of version 1",
            ),
            (
                "zstdkit costs 1\nlibzstd 1.4.0\n".into(),
                "line 2 (byte 16): written with a different libzstd",
            ),
            (
                format!("{head}0000000000000001 NaN 1\nend 1\n"),
                "line 3 (byte 30): malformed cost",
            ),
            (
                format!("{head}0000000000000001 1 inf\nend 1\n"),
                "line 3 (byte 30): malformed cost",
            ),
            (
                format!("{head}0000000000000001 -1 1\nend 1\n"),
                "line 3 (byte 30): malformed cost",
            ),
            (
                format!("{head}0000000000000000 1 1\nend 1\n"),
                "line 3 (byte 30): malformed cost",
            ),
            (
                format!("{head}0000000000000001 1 1 1\nend 1\n"),
                "line 3 (byte 30): malformed cost",
            ),
            (
                format!("{head}+00000000000000a 1 1\nend 1\n"),
                "line 3 (byte 30): malformed cost",
            ),
            (
                format!("{head}end 1\n"),
                "line 3 (byte 30): the number of costs differs from the stated one",
            ),
            (
                format!("{head}end 0\nend 0\n"),
                "line 3 (byte 30): lines after the end",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(error(&text), format!("invalid cost file at {expected}"));
        }
        let twice = text.replace("end 10", "") + &text[30..];
        assert!(CostModel::from_text(&twice).is_err());
        assert!(CostModel::from_text(&"x".repeat(1 << 20)).is_err());
    }

    #[test]
    fn no_number_of_costs_fills_more_than_there_is() {
        let mut text = format!("{MAGIC}\nlibzstd {}\n", crate::version());
        for hash in 1..5000_u64 {
            let _ = writeln!(text, "{:016x} 1 1", hash << 11);
        }
        let error = CostModel::from_text(&text).unwrap_err();
        assert_eq!((error.reason, error.line()), ("too many costs", 19));
    }

    proptest! {
        #[test]
        fn mutations_never_panic_and_never_make_costs_absurd(
            flips in prop::collection::vec((any::<prop::sample::Index>(), 32_u8..127), 1..4),
        ) {
            let mut text = model().to_text().into_bytes();
            for (at, byte) in flips {
                let at = at.index(text.len());
                text[at] = byte;
            }
            if let Ok(model) = CostModel::from_text(&String::from_utf8(text).unwrap()) {
                for (_, cost) in model.costs() {
                    prop_assert!(NS_PER_KIB.contains(&cost.mean) && cost.deviation.is_finite());
                }
            }
        }
    }
}
