//! What is said of blocks that a stream removed before a worker had them.

use std::time::Duration;

use tokio::time::Instant;
use workers::Lost;
use workers::settings::Drops;

use crate::failure::Failure;
use crate::term::message;

/// The most ranges of blocks that are named.
const NAMED_MAX: usize = 5;
/// How often further losses are told.
const AGAIN: Duration = Duration::from_secs(60);

/// Ranges of blocks, the first few by name.
pub(super) fn listed(lost: impl Iterator<Item = Lost>) -> String {
    let (mut named, mut more) = (Vec::new(), 0);
    for lost in lost {
        match named.len() < NAMED_MAX {
            true => named.push(lost.to_string()),
            false => more += lost.count,
        }
    }
    let more = (more > 0).then(|| format!("{more} more blocks"));
    named.into_iter().chain(more).collect::<Vec<_>>().join(", ")
}

/// Warns of limits by which a stream may remove blocks that no worker has had.
pub(super) fn warn(drops: &[Drops]) {
    for Drops { reason, help } in drops {
        message::note(reason, help);
    }
}

/// What a worker has noticed.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// How many blocks.
    pub(super) count: u64,
    /// Those that were not told yet.
    untold: Vec<Lost>,
    told: Option<Instant>,
}

impl Losses {
    /// Adds what was noticed, and tells of it unless something was told just now.
    pub(super) fn add(&mut self, lost: Vec<Lost>) {
        self.count += lost.iter().map(|lost| lost.count).sum::<u64>();
        self.untold.extend(lost);
        if self.told.is_none_or(|told| told.elapsed() >= AGAIN) {
            self.tell();
        }
    }

    /// Tells of what was not told yet.
    pub(super) fn tell(&mut self) {
        if self.untold.is_empty() {
            return;
        }
        let lost = listed(self.untold.drain(..));
        let failure = Failure::new(format!(
            "lost: {lost}, removed from the stream before being read"
        ));
        message::failure(&failure.help(
            "feed their events again; let the stream keep blocks for longer, or refuse new ones when it is full, or start \
             more workers",
        ));
        self.told = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_losses_are_named_and_the_others_counted() {
        let lost = |first: u64| Lost {
            stream: "IN".to_owned(),
            first,
            last: first + 1,
            count: 2,
        };
        assert_eq!(listed([].into_iter()), "");
        assert_eq!(listed([lost(1)].into_iter()), "blocks 1 to 2 of IN");
        let all = listed((0..7).map(|at| lost(10 * at + 1)));
        assert!(
            all.ends_with("blocks 41 to 42 of IN, 4 more blocks"),
            "{all}"
        );
    }
}
