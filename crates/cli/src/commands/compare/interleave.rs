//! `perfkit compare` of two commands: in random order in one run, with an A/A control.
//!
//! A round runs the baseline, the target and the baseline once more (the control), each a batch at
//! a time, in an order drawn anew. Drift of the machine then falls on all three alike, and the
//! control says what difference this run shows where there is none. With `--max-time` rounds are added until
//! the verdict on the wall time stands, and the limits on other rows are decided.

mod growth;
mod measured;
mod outcome;
mod side;

use std::cell::RefCell;

use bench::{Paired, Turn, paired_until, programs};
use latency::report::Input;
use report::Outcome;

use self::growth::Growth;
use self::measured::{Measured, SIDES};
use self::outcome::{Found, outcome};
use self::side::Side;
use crate::commands::compare::flags::{Commands, CompareArgs, Rounds};
use crate::commands::memory_floor::Floor;
use crate::failure::Result;
use crate::hyper_compat::Children;
use crate::session::Session;
use crate::term::progress::Progress;
use crate::term::signal;

/// Runs both commands as asked and compares them.
pub(crate) fn run(args: &CompareArgs, commands: &Commands, session: &Session) -> Result<Outcome> {
    let Rounds { rounds, batch } = commands.rounds;
    let [base, target] = &commands.sides;
    let [baseline, tried, control] = SIDES;
    let sides = [
        Side::new(baseline, base, session),
        Side::new(tried, target, session),
        Side::new(control, base, session),
    ];
    let turns = commands.max_time.is_none().then_some(u64::from(rounds) * 3);
    let wanted = args.output.terminal.wants_progress();
    let progress = turns.map_or_else(
        || Progress::counting(wanted, "turns"),
        |turns| Progress::steps(wanted, turns),
    );
    let kept = session.wants_hashes();
    let programs = kept.then(|| sides[..2].iter().flat_map(Side::programs));
    let programs: Vec<Input> = programs.into_iter().flatten().collect();
    let warm = warm_up(&sides[..2], args)?;
    let floor = (warm && session.has_report()).then(|| programs::start_floor(&mut Children));
    let mut memory = Floor::default();
    memory.look();
    let mut growth = commands.max_time.map(|most| Growth::new(most, rounds));
    let sides = RefCell::new(sides);
    let turn = |turn: Turn| -> Result<Option<f64>> {
        let mut sides = sides.borrow_mut();
        let Some(side) = sides.get_mut(turn.side).filter(|_| warm) else {
            return Ok(None);
        };
        let took = side.turn(batch, args)?;
        progress.add(1);
        Ok(took)
    };
    let ends = |wall: &Paired| match &mut growth {
        Some(growth) => {
            let sides = sides.borrow();
            let found = Measured::of(wall, sides.each_ref().map(|side| &side.turns));
            growth.stands(&found, args, u64::from(batch))
        }
        None => wall.rounds() >= rounds as usize,
    };
    let wall = paired_until(3, args.seed, turn, ends)?;
    memory.look();
    let mut sides = sides.into_inner();
    // A round counts whole or not at all, so that the pairs stay pairs.
    for side in &mut sides {
        side.turns.keep(wall.rounds());
    }
    progress.finish();
    let mut found = Found {
        options: args.options(),
        batch: u64::from(batch),
        complete: wall.is_complete(),
        looks: None,
        rss_floor_bytes: memory.bytes(),
        start_floor_ns: floor.flatten().map(|ns| ns.round() as u64),
        wall,
    };
    if let Some(growth) = growth {
        found.options = growth.options;
        found.looks = Some(growth.looks.made());
    }
    let mut outcome = outcome(sides, args, &found);
    outcome.workload.programs = programs;
    outcome.workload.programs.dedup();
    Ok(outcome)
}

/// Runs both commands untimed; whether no signal ended it.
fn warm_up(sides: &[Side], args: &CompareArgs) -> Result<bool> {
    for side in sides {
        for _ in 0..args.warmup {
            if side.once(args)?.is_none() {
                return Ok(false);
            }
        }
    }
    Ok(!signal::interrupted())
}
