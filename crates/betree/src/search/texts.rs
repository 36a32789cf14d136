//! The phase that finds which patterns of the tree the texts of the event have.

use super::Search;
use super::phase::{Phase, Place};
use crate::eval::TEXT_BYTES_PER_REDUCTION;
use crate::expr::Position;
use crate::index::texts::{Lane, Texts};

/// Reductions of a window, of a pattern that has it, and of comparing that pattern.
const WINDOW_REDUCTIONS: u64 = 2;
const FOUND_REDUCTIONS: u64 = 4;
const PATTERN_REDUCTIONS: u64 = 8;
/// Patterns that windows of one lane may lead to, for each pattern and altogether; beyond, each pattern is looked for by
/// itself.
const LOOKS_PER_PATTERN: usize = 4;
const LOOKS_MIN: usize = 256;

impl Search<'_> {
    /// Finds the patterns of lanes: by windows, or one by one where windows lead to too many.
    pub(super) fn texts(
        &mut self,
        part: usize,
        (mut lane, mut at): (usize, usize),
        mut one_by_one: bool,
        limit: u64,
    ) -> Phase {
        let texts = &self.part(part).index.texts;
        if lane == 0 && at == 0 && !one_by_one {
            self.buffers.texts.begin(texts);
        }
        while let Some(found) = texts.lanes.get(lane) {
            if self.spent >= limit {
                return Phase::Texts {
                    part,
                    lane,
                    at,
                    one_by_one,
                };
            }
            let next = match one_by_one {
                true => self.patterns(texts, found, at),
                false => self.windows(texts, found, at, limit),
            };
            if let Some(next) = next {
                at = next;
            } else if one_by_one {
                let end = self.buffers.texts.strings.len();
                self.buffers.texts.ends.push(end);
                (lane, at, one_by_one) = (lane + 1, 0, false);
            } else {
                let is_enough = self.buffers.texts.looks <= looks_max(found);
                at = if is_enough { found.with_window } else { 0 };
                one_by_one = true;
            }
        }
        match self.spent < limit {
            true => self.walk(part, Place::ROOT, limit),
            false => Phase::Walk {
                part,
                at: Place::ROOT,
            },
        }
    }

    /// Looks up some windows of a lane. Returns the number of the next one, `None` when there are no more or too many
    /// patterns were looked at.
    fn windows(&mut self, texts: &Texts, lane: &Lane, first: usize, limit: u64) -> Option<usize> {
        let text = self.event.text(usize::from(lane.attribute)).as_bytes();
        let dictionary = &self.state.dictionary;
        let found = &mut self.buffers.texts;
        if first == 0 {
            found.looks = 0;
        }
        let mut next = first;
        while self.spent < limit {
            let place = lane.place(text, next)?;
            self.spent += WINDOW_REDUCTIONS;
            let mut compared = 0;
            let count = texts.at(lane, text, place.at, place.distance, |number| {
                if !found.has(number) {
                    compared += 1;
                    if texts.is_there(lane, number, (text, place.at), dictionary)
                        && let Some(pattern) = texts.pattern(number)
                    {
                        found.add(number, pattern.string);
                    }
                }
            });
            self.spent += count * FOUND_REDUCTIONS + compared * PATTERN_REDUCTIONS;
            found.looks += count as usize;
            if found.looks > looks_max(lane) {
                return None;
            }
            next += 1;
        }
        Some(next)
    }

    /// Looks for one pattern of a lane. Returns the number of the next one.
    fn patterns(&mut self, texts: &Texts, lane: &Lane, at: usize) -> Option<usize> {
        let number = lane.patterns.start + at;
        if number >= lane.patterns.end {
            return None;
        }
        self.spent += PATTERN_REDUCTIONS;
        let pattern = texts.pattern(number)?;
        if !self.buffers.texts.has(number) {
            let text = self.event.text(usize::from(lane.attribute));
            self.spent += (text.len() / TEXT_BYTES_PER_REDUCTION) as u64;
            let wanted = self.state.dictionary.text(pattern.string);
            let has = match lane.position {
                Position::Anywhere => text.contains(wanted),
                Position::Start => text.starts_with(wanted),
                Position::End => text.ends_with(wanted),
            };
            if has {
                self.buffers.texts.add(number, pattern.string);
            }
        }
        Some(at + 1)
    }
}

fn looks_max(lane: &Lane) -> usize {
    LOOKS_MIN + LOOKS_PER_PATTERN * lane.patterns.len()
}
