//! A matcher behind a channel, as a server has it: subscriptions and events come from any thread, and no event keeps the
//! matcher for more than a budget before the next message is looked at: `cargo run -p betree --example channel`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use betree::{BeTree, Budget, Buffers, Constants, Domain, Expression, Progress};
use betree::{Snapshot, SubscriptionId, Undefined};

/// What the matcher is asked for.
enum Request {
    Subscribe(SubscriptionId, String),
    /// An event, and where the subscriptions that want it go, or why it is none.
    Match(String, Sender<Result<Vec<SubscriptionId>, betree::Error>>),
}

fn main() -> Result<(), Box<dyn Error>> {
    let domain = Domain::parse("country|string|false\nage|integer|true|0|120\n")?;
    let (requests, received) = channel();
    let matcher = thread::spawn(move || serve(&received, BeTree::new(domain, Undefined::False)));

    let subscribe =
        |id, text: &str| requests.send(Request::Subscribe(SubscriptionId(id), text.into()));
    subscribe(1, "country in ('FR', 'DE') and age >= 18")?;
    subscribe(2, "not (country = 'FR')")?;
    subscribe(3, "age >=")?;
    for event in [
        r#"{"country": "DE", "age": 44}"#,
        r#"{"country": "FR", "age": 7}"#,
        "{",
    ] {
        let (answer, answered) = channel();
        requests.send(Request::Match(event.to_owned(), answer))?;
        match answered.recv()? {
            Ok(ids) => println!("{event}: {ids:?}"),
            Err(error) => println!("{event}: {error}"),
        }
    }
    drop(requests);
    for (id, error) in matcher.join().map_err(|_| "the matcher panicked")? {
        println!("{id:?} was refused: {error}");
    }
    Ok(())
}

/// Serves requests until all senders are gone; the subscriptions that were refused, and why.
fn serve(requests: &Receiver<Request>, mut tree: BeTree) -> Vec<(SubscriptionId, betree::Error)> {
    let mut refused = Vec::new();
    let mut buffers = Buffers::new();
    // Made anew when the first event after a change comes, so that many changes cost one.
    let mut snapshot = None;
    for request in requests {
        match request {
            Request::Subscribe(id, text) => {
                let inserted = Expression::parse(&text)
                    .and_then(|expression| tree.insert(id, &expression, &Constants::default()));
                match inserted {
                    Ok(_) => snapshot = None,
                    Err(error) => refused.push((id, error)),
                }
            }
            Request::Match(event, answer) => {
                let snapshot = snapshot.get_or_insert_with(|| tree.snapshot());
                // Whoever asked may have gone.
                let _ = answer.send(matches(snapshot, &event, &mut buffers));
            }
        }
    }
    refused
}

fn matches(
    snapshot: &Snapshot,
    event: &str,
    buffers: &mut Buffers,
) -> Result<Vec<SubscriptionId>, betree::Error> {
    let event = snapshot.event(event)?;
    let mut search = snapshot.search_iterator(&event, buffers)?;
    while search.step(Budget::reductions(2_000)) == Progress::Yielded {
        // Heartbeats, timers and other queues have their turn here.
        thread::yield_now();
    }
    Ok(search.ids().to_vec())
}
