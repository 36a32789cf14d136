//! An acceptor that fills every order: `cargo run --features net --example acceptor -- acceptor.cfg`.

use std::path::Path;
use std::time::Duration;

use fixsession::engine::{Clock as _, Engine, EngineOptions, SystemClock};
use fixsession::settings::Settings;
use fixsession::{Application, Outbox, Received, Refusal, SessionId};

/// How many orders were filled.
struct Exchange(u64);

impl Application for Exchange {
    fn from_app(
        &mut self,
        _: &SessionId,
        received: &Received<'_>,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        let order = received.message;
        if order.msg_type() != b"D" {
            return Err(Refusal::UnsupportedType);
        }
        self.0 += 1;
        let text = |tag| String::from_utf8_lossy(order.get(tag).unwrap_or_default());
        let (id, side, symbol, quantity, number) = (text(11), text(54), text(55), text(38), self.0);
        let fill = format!(
            "6=1|11={id}|14={quantity}|17=E{number}|37=O{number}|39=2|54={side}|55={symbol}|150=F|151=0|"
        );
        out.send(b"8", fill.replace('|', "\x01").as_bytes());
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or("acceptor.cfg".to_owned());
    let settings = Settings::read(Path::new(&path))?;
    let (clock, mut exchange) = (SystemClock::new(), Exchange(0));
    let mut engine = Engine::open(settings.sessions, EngineOptions::default(), clock.now())?;
    loop {
        engine.turn(Duration::from_secs(1), &clock, &mut exchange)?;
    }
}
