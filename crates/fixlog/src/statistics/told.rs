//! Of the names that the messages of a block have: which are of one direction, and of the same two parties.

use fixcore::SOH;
use twox_hash::XxHash3_64;

use crate::sessions::Sessions;

/// What is known of names.
#[derive(Debug)]
pub(super) struct Names {
    /// The place of their direction, and of the two parties.
    way: u32,
    pair: u32,
    /// The place of their SubIDs, that of the lesser party first.
    subs: u32,
    /// Seeds of ids, of orders in this direction and of what answers those of the other one.
    domains: [u64; 2],
    /// When the first and the last execution was sent in this direction.
    pub(super) executions_ns: Option<(i64, i64)>,
}

impl Names {
    /// Adds the time of an order or an execution; the seed of its id.
    pub(super) fn traded(&mut self, is_order: bool, sent_ns: i64) -> u64 {
        if is_order {
            return self.domains[0];
        }
        let (first, last) = self.executions_ns.unwrap_or((sent_ns, sent_ns));
        self.executions_ns = Some((first.min(sent_ns), last.max(sent_ns)));
        self.domains[1]
    }

    /// What the direction has as its own.
    pub(super) fn domain(&self) -> u64 {
        self.domains[0]
    }
}

/// Two parties. Numbers are put together only as long as nothing comes between that may say whose they are: a Logon,
/// or other SubIDs.
#[derive(Debug, Default)]
struct Pair {
    epoch: u32,
    subs: u32,
}

/// The last run of a direction, and when that was.
#[derive(Debug, Default)]
struct Way {
    run: u32,
    epoch: Option<u32>,
}

/// The names of a block, by their places.
#[derive(Debug, Default)]
pub(super) struct Told {
    names: Vec<Names>,
    ways: Vec<Way>,
    pairs: Vec<Pair>,
    way_places: Sessions<3>,
    pair_places: Sessions<3>,
    sub_places: Sessions<2>,
}

impl Told {
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.ways.clear();
        self.pairs.clear();
        self.way_places.clear();
        self.pair_places.clear();
        self.sub_places.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// All, by their places.
    pub(super) fn all(&self) -> &[Names] {
        &self.names
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Names> {
        self.names.get_mut(at)
    }

    /// Adds the next names: BeginString, sender, target, and their SubIDs.
    pub(super) fn add(&mut self, [begin, sender, target, sub, target_sub]: [&[u8]; 5]) {
        let (pair, subs) = match sender > target {
            true => ([begin, target, sender], [target_sub, sub]),
            false => ([begin, sender, target], [sub, target_sub]),
        };
        let way = self.way_places.place([begin, sender, target]);
        let pair = self.pair_places.place(pair);
        let subs = self.sub_places.place(subs) as u32;
        if way == self.ways.len() {
            self.ways.push(Way::default());
        }
        if pair == self.pairs.len() {
            self.pairs.push(Pair { epoch: 0, subs });
        }
        let domain = |a, b| XxHash3_64::oneshot(&[a, &[SOH][..], b].concat());
        self.names.push(Names {
            way: way as u32,
            pair: pair as u32,
            subs,
            domains: [domain(sender, target), domain(target, sender)],
            executions_ns: None,
        });
    }

    /// The run that a message with these names may go on; `None` if there are no such names.
    #[inline]
    pub(super) fn last_run(&mut self, names: usize, is_logon: bool) -> Option<Option<u32>> {
        let names = self.names.get(names)?;
        let pair = self.pairs.get_mut(names.pair as usize)?;
        if is_logon || pair.subs != names.subs {
            pair.epoch += 1;
            pair.subs = names.subs;
        }
        let way = self.ways.get(names.way as usize)?;
        Some((way.epoch == Some(pair.epoch) && !is_logon).then_some(way.run))
    }

    /// Notes the run that a message with these names began.
    pub(super) fn set_last_run(&mut self, names: usize, run: u32) {
        if let Some(names) = self.names.get(names)
            && let Some(pair) = self.pairs.get(names.pair as usize)
            && let Some(way) = self.ways.get_mut(names.way as usize)
        {
            *way = Way {
                run,
                epoch: Some(pair.epoch),
            };
        }
    }
}
