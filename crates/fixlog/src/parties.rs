//! What tells sessions apart, in one place for all that follow them: BeginString, both CompIDs, and the SubIDs of
//! Logons where these differ.

use std::collections::HashMap;

use fixcore::SOH;

/// Sessions of the same parties that SubIDs of Logons tell apart.
const SUBS_MAX: usize = 256;

/// The names that a message has: BeginString (8), SenderCompID (49) and TargetCompID (56), SenderSubID (50) and
/// TargetSubID (57).
pub(crate) type Names = [Vec<u8>; 5];

/// The sessions of two parties: one, or as many as their Logons have different SubIDs.
#[derive(Debug, Default)]
struct Family {
    /// Their places, the one with the last message last.
    sessions: Vec<usize>,
    /// Whether SubIDs differ, so that they count.
    has_subs: bool,
}

/// The sessions of logs, each at its place.
#[derive(Debug)]
pub(crate) struct Parties {
    families: Vec<Family>,
    /// By the logs that are one, BeginString, and the two parties, the lesser first.
    places: HashMap<Vec<u8>, usize>,
    key: Vec<u8>,
    /// Of each session the SubIDs of its Logons, that of the lesser party first, once there was one.
    subs: Vec<Option<[Vec<u8>; 2]>>,
    sessions_max: usize,
}

impl Parties {
    /// Of no log so far; at most `sessions_max` sessions are told apart.
    pub(crate) fn new(sessions_max: usize) -> Self {
        Self {
            families: Vec::new(),
            places: HashMap::new(),
            key: Vec::new(),
            subs: Vec::new(),
            sessions_max,
        }
    }

    /// Which direction of a session has these names: 0 where the sender is the lesser party.
    pub(crate) fn way(names: &Names) -> usize {
        let [_, sender, target, ..] = names;
        usize::from(sender > target)
    }

    /// The sessions of the parties of a message. `None` if there are too many.
    pub(crate) fn family(&mut self, group: usize, names: &Names) -> Option<usize> {
        let [begin, sender, target, ..] = names;
        let [lesser, greater] = turned([sender, target], Self::way(names));
        self.key.clear();
        self.key.extend_from_slice(&group.to_le_bytes());
        for name in [begin, lesser, greater] {
            self.key.extend_from_slice(name);
            self.key.push(SOH);
        }
        if let Some(place) = self.places.get(&self.key) {
            return Some(*place);
        }
        if self.families.len() >= self.sessions_max {
            return None;
        }
        self.families.push(Family::default());
        let place = self.families.len() - 1;
        self.places.insert(self.key.clone(), place);
        Some(place)
    }

    /// The place of the session of a message; a new one is the next that there was not. SubIDs count if Logons have
    /// different ones: those of other messages may be users. `None` if there are too many sessions.
    pub(crate) fn session(
        &mut self,
        family: usize,
        names: &Names,
        is_logon: bool,
    ) -> Option<usize> {
        let known = self.families.get(family)?;
        if let [only] = known.sessions[..]
            && !is_logon
        {
            return Some(only);
        }
        let [.., sender, target] = names;
        let subs = turned([sender, target], Self::way(names));
        let fits = |place: &&usize, all: bool| {
            let of = self.subs.get(**place).and_then(Option::as_ref);
            of.is_none_or(|of| {
                let is = |at: usize| {
                    of[at] == *subs[at] || !all && (of[at].is_empty() || subs[at].is_empty())
                };
                is(0) && is(1)
            })
        };
        let latest = || known.sessions.iter().rev();
        let place = latest()
            .find(|place| fits(place, true))
            .or_else(|| latest().find(|place| fits(place, false)))
            .or_else(|| {
                latest()
                    .next()
                    .filter(|_| !is_logon || known.sessions.len() >= SUBS_MAX)
            })
            .copied();
        let place = match place {
            Some(place) => place,
            None if self.subs.len() >= self.sessions_max => return None,
            None => {
                self.subs.push(None);
                self.subs.len() - 1
            }
        };
        if is_logon {
            let of = self.subs.get_mut(place)?;
            let of = of.get_or_insert_with(|| subs.map(Clone::clone));
            // The answer may have what the Logon had not.
            for (of, sub) in of.iter_mut().zip(subs) {
                if of.is_empty() {
                    of.clone_from(sub);
                }
            }
        }
        let known = self.families.get_mut(family)?;
        if known.sessions.last() != Some(&place) {
            known.sessions.retain(|at| *at != place);
            known.sessions.push(place);
        }
        known.has_subs = known.sessions.len() > 1;
        Some(place)
    }

    /// The sessions of parties whose SubIDs count, with those of the lesser party first.
    pub(crate) fn with_subs(
        &self,
        family: usize,
    ) -> impl Iterator<Item = (usize, &[Vec<u8>; 2])> + '_ {
        let family = self.families.get(family).filter(|known| known.has_subs);
        let sessions = family.into_iter().flat_map(|known| &known.sessions);
        sessions.filter_map(|at| Some((*at, self.subs.get(*at)?.as_ref()?)))
    }

    /// The SubIDs that a session is told apart by, that of the lesser party first; none where they do not count.
    pub(crate) fn subs(&self, family: usize, place: usize) -> [Vec<u8>; 2] {
        let found = self.with_subs(family).find(|(at, _)| *at == place);
        found.map_or_else(Default::default, |(_, subs)| subs.clone())
    }
}

/// Sender and target from the lesser and the greater party in a direction of [`Parties::way`], or the other way round.
pub(crate) fn turned<T>([first, second]: [T; 2], way: usize) -> [T; 2] {
    match way {
        0 => [first, second],
        _ => [second, first],
    }
}

/// `A → B`, or `A/DESK → B` with SubIDs.
pub(crate) fn title(session: &[Vec<u8>; 2], subs: &[Vec<u8>; 2]) -> String {
    let one = |at: usize| {
        let name = session[at].escape_ascii();
        match subs[at].is_empty() {
            true => name.to_string(),
            false => format!("{name}/{}", subs[at].escape_ascii()),
        }
    };
    format!("{} → {}", one(0), one(1))
}
