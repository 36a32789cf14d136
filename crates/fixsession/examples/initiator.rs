//! An initiator that logs on, sends an order, prints what becomes of it, and logs out:
//! `cargo run --features net --example initiator -- initiator.cfg`, beside the example `acceptor`.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::Duration;

use fixsession::engine::{Clock as _, Engine, EngineOptions, SystemClock};
use fixsession::settings::Settings;
use fixsession::{Application, Outbox, Received, Refusal, SessionId};

/// The order is answered.
#[derive(Default)]
struct Trader(bool);

impl Application for Trader {
    fn on_logon(&mut self, _: &SessionId, out: &mut Outbox) {
        let order = "11=A1|55=MSFT|54=1|60=20260102-09:30:00|38=100|40=2|44=40.25|59=0|";
        out.send(b"D", order.replace('|', "\x01").as_bytes());
    }

    fn from_app(
        &mut self,
        _: &SessionId,
        received: &Received<'_>,
        _: &mut Outbox,
    ) -> Result<(), Refusal> {
        let text = |tag| String::from_utf8_lossy(received.message.get(tag).unwrap_or_default());
        println!("order {}: status {}, {} done", text(11), text(39), text(14));
        self.0 = true;
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or("initiator.cfg".to_owned());
    let settings = Settings::read(Path::new(&path))?;
    let (clock, mut trader) = (SystemClock::new(), Trader::default());
    let mut engine = Engine::open(settings.sessions, EngineOptions::default(), clock.now())?;
    while !trader.0 {
        engine.turn(Duration::from_secs(1), &clock, &mut trader)?;
        engine
            .happenings()
            .for_each(|happening| println!("{happening:?}"));
    }
    engine.stop(Duration::from_secs(2), &clock, &mut trader);
    while !engine.is_stopped(&clock) {
        engine.turn(Duration::from_secs(1), &clock, &mut trader)?;
    }
    Ok(())
}
