//! Follows the orders of logs and reports what became of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::Path;

use files::output::Output;
use fixlog::orders::{Book, LifeLines, State};
use fixlog::{AllFaults, Checks, Job, Task};
use latency::report::{Cell, FloorKind, LatencyName, RowFloor, Table, Unit};
use latency::{Recorder, Spec};
use report::{ExitStatus, Outcome, names};

use super::flags::OrdersArgs;
use super::follower::Follower;
use super::remarks::remarks;
use super::watch::{Form, Wanted, Watcher, wait_name};
use crate::args::threads;
use crate::commands::fix::conclude::{
    BAD_NAMED, advice, conclude_bad, ended_file, lines, named_some, no_match, no_messages,
};
use crate::commands::fix::dictionaries::Dictionaries;
use crate::commands::fix::several::{self, Plan};
use crate::commands::fix::tables;
use crate::commands::fix_logs;
use crate::commands::stop::stopped;
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::session::{Session, Setup};
use crate::term::progress::Progress;
use crate::term::{message, signal};

/// Reasons that the report names.
const REASONS_NAMED: usize = 20;

/// Runs the command.
pub(in crate::commands::fix) fn run(
    args: &OrdersArgs,
    dictionaries: &Dictionaries,
    isa: fixcore::Isa,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let setup = match args.writes_orders() {
        true => Setup::filter_of(name, argv, &args.output),
        false => Setup::analysis(name, argv, &args.output),
    };
    let messages = &args.messages;
    let filter = messages.wanted.filter(dictionaries.all())?;
    let rows = &[LatencyName::Service];
    let session = Session::start(&Setup { rows, ..setup })?;
    let recorder = |operation: &str, series: &str| {
        let spec = Spec::new(LatencyName::Service, operation).series(series);
        Recorder::new(session.spec(spec), session.run_start())
    };
    let files = &messages.files;
    let mut outcome = Outcome::new("fix orders");
    let task = Task::new(Job::Orders)
        .names(files)
        .isa(isa)
        .lines(lines())
        .filter(Some(&filter))
        .accept(messages.accepted())
        .checks(dictionaries.checks(Checks::new()));
    let terminal = &args.output.terminal;
    let shows = terminal.wants_progress() && !messages.follow;
    let shows = shows && !(args.writes_orders() && std::io::stdout().is_terminal());
    let progress = Progress::late(shows, fix_logs::bytes_of(files));
    let count = threads(messages.threads)?;
    let plan = Plan {
        files,
        separator: messages.separator.into(),
        threads: count,
        task,
        follows: messages.follow,
        read: progress.counter(),
    };
    let failed = |error| Failure::io("write", Path::new("standard output"), &error);
    let out = Output::stdout(context()).map_err(failed)?;
    let wanted = match (args.list.as_slice(), args.id.as_slice()) {
        ([], []) => Wanted::Nothing,
        ([], ids) => Wanted::Ids(ids, None),
        (listed, ids @ [_, ..]) => {
            let chains = args.chains;
            Wanted::Ids(ids, Some(Form { listed, chains }))
        }
        (listed, _) if args.chains => Wanted::Chains(listed, Box::default()),
        (listed, _) => Wanted::Listed(listed),
    };
    let shown = LifeLines::new(lines(), files);
    let mut watcher = Watcher::new(wanted, args.slowest as usize, shown, out, recorder);
    let mut book = Book::new();
    let warns = args.output.terminal.wants_warnings();
    let (mut good, mut bad, mut filtered) = (0, 0, 0);
    let (mut faults, mut named) = (AllFaults::default(), Vec::new());
    let mut seen = vec![0_u64; files.len()];
    let mut on_piece = |piece: &mut several::Piece| {
        let made = &piece.made;
        good += made.good;
        bad += made.bad;
        filtered += made.filtered;
        seen[piece.log] += made.good + made.bad + made.filtered;
        faults.add(piece.log, &made.faults);
        for (offset, error) in &made.named {
            if named.len() < BAD_NAMED {
                named.push((piece.log, *offset, error.clone()));
            }
        }
        if let Some(ended) = piece.ended.take() {
            if seen[piece.log] == 0 && ended.error.is_none() {
                no_messages(files, piece.log, ended.bytes, warns, &mut outcome);
            }
            // Each log is the only one of its threads.
            let error = ended.error.map(|error| error.of_log(piece.log));
            ended_file(files, piece.log, ended.bytes, error, &mut outcome);
        }
    };
    let mut follower = Follower::new(&mut book, &mut watcher, &mut on_piece);
    let result = several::in_order(plan, &mut follower);
    let result = result.and_then(|()| follower.finish());
    progress.finish();
    match result.and_then(|()| watcher.timelines(&book.clocks())) {
        Err(stop) => stopped(stop, &mut outcome),
        Ok(missing) if !missing.is_empty() => {
            for id in missing {
                let why = format!("no order has the id '{}'", id.escape_debug());
                let help = "ids are ClOrdID (11), OrigClOrdID (41), OrderID (37) or SecondaryClOrdID (526)";
                message::failure(&Failure::new(why).help(help));
            }
            outcome.status = ExitStatus::Failure;
        }
        Ok(_) => {}
    }
    outcome.bytes_content = outcome.bytes_in;
    outcome.bytes_out = watcher.written;
    outcome.ops = Some(good + bad);
    let params = &mut outcome.workload.params;
    params.insert("threads".to_owned(), count.into());
    params.insert("messages".to_owned(), good.into());
    params.insert("messages_bad".to_owned(), bad.into());
    params.insert("messages_about_orders".to_owned(), book.messages().into());
    params.insert("messages_repeated".to_owned(), book.repeated().into());
    params.insert("drop_copies".to_owned(), book.drop_copies().into());
    let unordered = book.unordered();
    let moved = unordered.map_or(0, |unordered| unordered.moved);
    params.insert("messages_put_in_order".to_owned(), moved.into());
    params.insert("orders_known_at_once".to_owned(), book.most().into());
    params.insert("unfollowed".to_owned(), book.unfollowed().into());
    if !filter.is_empty() {
        params.insert("messages_filtered".to_owned(), filtered.into());
        if good == 0 && filtered > 0 && warns {
            no_match(filtered);
        } else if filtered > 0 && warns {
            message::note(
                &format!("the filters left out {filtered} messages"),
                "orders are what the other messages say: without D they have no beginning, without 8 no answer",
            );
        }
    }
    if warns {
        remarks(&book, files);
        advice(&faults, good + bad + filtered, messages.accepted());
    }
    conclude(watcher, &book, files, warns, &mut outcome);
    tables::faults(&faults, files, &mut outcome);
    if warns {
        let help = "perfkit fix validate writes all";
        named_some(named.len(), bad, "bad messages", help);
    }
    conclude_bad(bad, named, files, &mut outcome);
    if signal::interrupted() {
        outcome.complete = false;
        outcome.status = ExitStatus::Interrupted;
    }
    session.finish(outcome)
}

/// Puts what was gathered into the report.
fn conclude(
    watcher: Watcher<'_>,
    book: &Book,
    files: &[std::path::PathBuf],
    warns: bool,
    outcome: &mut Outcome,
) {
    let file = |log: usize| {
        Cell::from(
            files
                .get(log)
                .map(|path| names::path(path))
                .unwrap_or_default(),
        )
    };
    let counted = |name, states: &BTreeMap<State, u64>| {
        let mut table = Table::new(name, &[("state", Unit::Text), ("orders", Unit::Count)]);
        for state in State::ALL {
            if let Some(count) = states.get(&state).filter(|count| **count > 0) {
                table.rows.push(vec![state.name().into(), (*count).into()]);
            }
        }
        table
    };
    outcome
        .tables
        .push(counted("orders", &watcher.first_states));
    if watcher.relayed > 0 {
        let all = counted("orders on each session", &watcher.states);
        outcome.tables.push(all);
    }
    // In a table with the states, they would be counted twice.
    let columns = [("which", Unit::Text), ("orders", Unit::Count)];
    let mut among = Table::new("among them", &columns);
    for (which, count) in [
        ("begun before the logs", watcher.orphans),
        ("with an id that came again", watcher.reused),
        ("with messages long after the end", watcher.again),
        ("sent on from another session", watcher.relayed),
    ] {
        if count > 0 {
            among.rows.push(vec![which.into(), count.into()]);
        }
    }
    if !among.rows.is_empty() {
        outcome.tables.push(among);
    }
    if !watcher.reasons.is_empty() {
        let columns = [
            ("reason", Unit::Text),
            ("orders", Unit::Count),
            ("first", Unit::Text),
            ("file", Unit::Text),
            ("line", Unit::Count),
        ];
        let mut table = Table::new("rejects", &columns);
        let mut reasons: Vec<_> = watcher.reasons.into_values().collect();
        reasons.sort_by(|a, b| (b.orders, &a.text).cmp(&(a.orders, &b.text)));
        if warns {
            let all = reasons.len() as u64;
            let help = "perfkit fix orders --list rejected writes all orders";
            named_some(
                reasons.len().min(REASONS_NAMED),
                all,
                "reasons of rejects",
                help,
            );
        }
        for reason in reasons.into_iter().take(REASONS_NAMED) {
            let line = reason.line.map_or(Cell::Null, Cell::from);
            let row = vec![
                reason.text.into(),
                reason.orders.into(),
                reason.id.into(),
                file(reason.log),
                line,
            ];
            table.rows.push(row);
        }
        outcome.tables.push(table);
    }
    // On one session alone, a hop is what the answers say.
    let has_hops = watcher.relayed > 0;
    let hops = book.hops();
    if has_hops {
        let columns = [
            ("from", Unit::Text),
            ("to", Unit::Text),
            ("clock_ahead_ns", Unit::Nanoseconds),
            ("there", Unit::Count),
            ("back", Unit::Count),
            ("early", Unit::Count),
        ];
        let mut table = Table::new("hops", &columns);
        table.clock_floor_ns = Some(0);
        for hop in hops {
            let ahead = hop
                .offset_ns
                .map_or(Cell::Null, |ns| Cell::Number(ns as f64));
            table.rows.push(vec![
                hop.from.escape_ascii().to_string().into(),
                hop.to.escape_ascii().to_string().into(),
                ahead,
                hop.samples[0].into(),
                hop.samples[1].into(),
                (hop.early[0] + hop.early[1]).into(),
            ]);
        }
        outcome.tables.push(table);
    }
    if !watcher.slowest.is_empty() {
        let columns = [
            ("slowest", Unit::Text),
            ("took_ns", Unit::Nanoseconds),
            ("order", Unit::Text),
            ("sent", Unit::Text),
            ("file", Unit::Text),
            ("line", Unit::Count),
        ];
        let mut table = Table::new("slowest orders", &columns);
        table.clock_floor_ns = Some(0);
        for (wait, slowest) in watcher.slowest {
            for slow in slowest {
                table.rows.push(vec![
                    wait_name(wait).into(),
                    slow.ns.into(),
                    slow.id.into(),
                    slow.sent_ns
                        .map_or(Cell::Null, |ns| fixlog::orders::time(ns).into()),
                    file(slow.log),
                    slow.line.map_or(Cell::Null, Cell::from),
                ]);
            }
        }
        outcome.tables.push(table);
    }
    let early: u64 = book.early().values().sum();
    if early > 0 {
        let columns = [("time", Unit::Text), ("orders", Unit::Count)];
        let mut table = Table::new("answers stamped before their cause", &columns);
        for (wait, count) in book.early() {
            table.rows.push(vec![wait.name().into(), (*count).into()]);
        }
        outcome.tables.push(table);
    }
    let recorders = watcher
        .waits
        .into_values()
        .chain(watcher.hops.into_values().filter(|_| has_hops));
    for recorder in recorders.filter(|recorder| !recorder.is_empty()) {
        outcome.add(&recorder.finish());
        // The clocks are those of the log, not this machine's.
        if let Some(row) = outcome.latencies.last_mut() {
            let kind = FloorKind::Clock;
            row.floors.push(RowFloor { kind, ns: 0 });
        }
    }
}
