//! An acceptor of QuickFIX is killed in a burst, and its store taken over by ours, which is killed in a burst, too:
//! the numbers go on, nothing is lost, nothing comes twice. Then the store goes back to QuickFIX, and so on.
//!
//! `PERFKIT_FIX_TAKEOVERS` sets how often (default 2).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use libtest_mimic::Trial;

use crate::common::{directory, run, words};
use crate::fix_engines::{VERSIONS, free_port, settings, state, theirs};
use crate::peer::engine::{Kind, Ours, Peer, has_cpp, has_java};

/// Orders of a burst, in each direction.
const BURST: usize = 1500;
/// The files of the store, and ours of the same name.
const STORE: &str = "store-OURS/FIX.4.4-OURS-PEER";

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let engines = [
        ("quickfix", Kind::Cpp, has_cpp()),
        ("quickfixj", Kind::Java, has_java()),
    ];
    let trials = engines.map(|(name, kind, here)| {
        let path = format!("{}::{name}_is_killed_and_we_go_on", module_path!());
        let run = move || {
            let times = std::env::var("PERFKIT_FIX_TAKEOVERS").ok();
            killed(kind, times.and_then(|text| text.parse().ok()).unwrap_or(2));
            Ok(())
        };
        Trial::test(path, run).with_ignored_flag(!here)
    });
    trials.into()
}

/// The ids of orders that came in, by what an engine said.
fn orders_in(said: &[String], begin: &str) -> BTreeSet<String> {
    let orders = said.iter().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["app", "in", "D", _, id, _] if id.starts_with(begin) => Some(id.to_owned()),
            _ => None,
        }
    });
    orders.collect()
}

/// The ids of a burst up to this one.
fn ids(begin: &str, last: usize) -> BTreeSet<String> {
    (1..=last)
        .map(|number| format!("{begin}{number}"))
        .collect()
}

#[expect(clippy::print_stderr, reason = "the figures are what it is run for")]
fn killed(kind: Kind, times: usize) {
    let dir = directory();
    let dir = dir.path();
    let version = VERSIONS[1];
    let port = free_port();
    let own = settings(("acceptor", port), version, ("OURS", "PEER"), "");
    let at_peer = own.replace("[SESSION]", "UseDataDictionary=N\n[SESSION]");
    let format = match kind {
        Kind::Cpp => "quickfix-1.15",
        Kind::Java => "quickfixj",
    };
    let mut random = latency::SplitMix64::new(11);
    let mut acceptor = Peer::start(kind, dir, &at_peer, "acceptor");
    let mut other = Peer::start(kind, dir, &theirs(port, version, ""), "initiator");
    for time in 0..times {
        let (to, from) = (format!("to{time}-"), format!("from{time}-"));
        acceptor.until("logon ");
        acceptor.tell(&format!("send {BURST} {from}"));
        other.tell(&format!("send {BURST} {to}"));
        acceptor.until_all(&["app in", &to]);
        std::thread::sleep(Duration::from_micros(random.below(60_000)));
        let theirs = orders_in(&acceptor.kill(), &to);
        let _ = std::fs::remove_dir_all(dir.join(STORE));
        run(dir, words(&format!("fix store import {STORE} {STORE}"))).expect(0);
        // We go on, are killed, and go on again.
        let ours = Ours::acceptor(dir, &own);
        until_echoed(&mut other, &format!("one{time}-"));
        let more = format!("more{time}-");
        other.tell(&format!("send {BURST} {more}"));
        other.until_all(&["app in", &more]);
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        ours.kill();
        let ours = Ours::acceptor(dir, &own);
        until_echoed(&mut other, &format!("two{time}-"));
        // What QuickFIX's application did not get, ours did; the one that QuickFIX was at, both may have.
        let echoed = orders_in(&other.said, &to);
        let both = theirs.intersection(&echoed).count();
        let all: BTreeSet<_> = theirs.union(&echoed).cloned().collect();
        assert!(all == ids(&to, BURST), "{} of {BURST} came", all.len());
        assert!(both <= 1, "{both} came to QuickFIX and to us");
        assert!(orders_in(&other.said, &more) == ids(&more, BURST));
        // What QuickFIX had stored is sent, whichever engine does it.
        let stored = orders_in(&other.said, &from);
        assert!(stored == ids(&from, stored.len()), "{}", stored.len());
        let twice = other.orders().into_iter().filter(|order| order.1 != 1);
        assert_eq!(twice.collect::<Vec<_>>(), []);
        eprintln!(
            "{format}: of {BURST} orders {} came to QuickFIX, {} to us; {} of its own were sent",
            theirs.len(),
            echoed.len(),
            stored.len()
        );
        let (sent, expected) = other.numbers();
        let (code, said) = ours.stop();
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(state(dir), (expected + 1, sent + 1), "{said}");
        acceptor = given_back(kind, dir, format, &at_peer);
    }
}

/// Waits until an order with a new name came back, and so all before it.
fn until_echoed(other: &mut Peer, name: &str) {
    other.until("logon ");
    other.tell(&format!("send 1 {name}"));
    other.until_all(&["app in", &format!(" {name}1 ")]);
}

/// QuickFIX goes on with our store.
fn given_back(kind: Kind, dir: &Path, format: &str, settings: &str) -> Peer {
    let line = format!("fix store export -f --format {format} {STORE} {STORE}");
    run(dir, words(&line)).expect(0);
    Peer::start(kind, dir, settings, "acceptor")
}
