//! The keys of settings, by name. What each one does is in the tables; how values are read is in the modules of
//! the options they go to.

use super::key::{Family, Key};
use super::{keys_local, keys_network, keys_session};

/// All keys that perfkit knows, group by group.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    let tables = [keys_session::KEYS, keys_network::KEYS, keys_local::KEYS];
    tables.into_iter().flatten()
}

/// The key of a stated name, and what follows its name: `SocketConnectHost2` is `SocketConnectHost` and `2`.
#[must_use]
pub fn key(stated: &str) -> Option<(&'static Key, &str)> {
    keys().find_map(|key| Some((key, key.rest(stated)?)))
}

/// The known name that is most like this one.
pub(super) fn like(stated: &str) -> Option<&'static str> {
    let stated = stated.to_ascii_lowercase();
    let names = keys().filter(|key| key.family() != Family::Prefix);
    let names = names.flat_map(|key| key.aliases.iter().copied().chain([key.name]));
    let near = names.map(|name| {
        let near = strsim::jaro_winkler(&stated, &name.to_ascii_lowercase());
        (near, name)
    });
    near.max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(near, _)| *near > 0.9)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::key::Service;
    use super::*;

    #[test]
    fn names_are_found_whatever_their_case_and_with_what_follows() {
        let of = |stated| key(stated).map(|(key, rest)| (key.name, rest));
        assert_eq!(of("socketconnecthost12"), Some(("SocketConnectHost", "12")));
        assert_eq!(of("SocketConnectHost0"), None);
        assert_eq!(of("SocketLocalHost"), Some(("SocketConnectSourceHost", "")));
        assert_eq!(
            of("AppDataDictionary.FIX.4.4"),
            Some(("AppDataDictionary", ".FIX.4.4"))
        );
        assert_eq!(of("JdbcAnything"), Some(("Jdbc*", "Anything")));
        assert_eq!(of("ResetOnLogon1"), None);
        assert_eq!(like("ResetOnLogn"), Some("ResetOnLogon"));
        assert_eq!(like("Colour"), None);
    }

    #[test]
    fn no_name_is_stated_twice() {
        let mut names = BTreeSet::new();
        for key in keys() {
            for name in key.aliases.iter().chain([&key.name]) {
                assert!(names.insert(name.to_ascii_lowercase()), "{name}");
            }
            assert!(!key.what.is_empty(), "{}", key.name);
            assert_eq!(
                key.takes.is_empty(),
                key.service != Service::Served,
                "{}",
                key.name
            );
        }
    }
}
