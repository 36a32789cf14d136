//! Fills of all versions, corrected, cancelled and told twice, beside a list that is searched from its start.

use fixcore::Decoder;
use fixcore::value::Decimal;

use super::*;
use crate::GroupKey;

/// Symbol and side.
const BY: [GroupKey; 2] = [GroupKey::Field(55), GroupKey::Field(54)];

fn bytes(begin: &str, body: &str) -> Vec<u8> {
    let mut all = Vec::new();
    let body = body.replace('|', "\x01");
    fixcore::frame::write(begin.as_bytes(), body.as_bytes(), &mut all);
    all
}

/// The fills of messages of one version, in parts of a number of messages; each is at the byte of its number.
fn of(begin: &str, bodies: &[&str], part_messages: usize) -> Fills {
    let (mut decoder, mut fills) = (Decoder::new(), Fills::new());
    let mut part = FillPart::default();
    for (at, body) in bodies.iter().enumerate() {
        let bytes = bytes(begin, body);
        part.message(at as u64, &BY, &decoder.parse(&bytes).expect(body));
        if (at + 1) % part_messages == 0 {
            fills.add(0, &part);
            part.clear();
        }
    }
    fills.add(0, &part);
    fills
}

/// Rows as text: values, executions, quantity, average, least and greatest price, notional.
fn shown(fills: &mut Fills) -> Vec<String> {
    let row = |row: FillRow| {
        let values = row.values.iter().flatten();
        let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value)).collect();
        let price =
            |price: Option<_>| price.map_or("-".to_owned(), |price: Decimal| price.to_string());
        let average = row
            .average()
            .map_or("-".to_owned(), |one| one.text(row.price_scale()));
        format!(
            "{}: {} of {} at {average} ({} to {}) = {}, {} corrected, {} busted",
            values.join(" "),
            row.executions,
            row.quantity.text(0),
            price(row.least),
            price(row.greatest),
            row.notional.text(0),
            row.corrected,
            row.busted,
        )
    };
    fills.rows(&BY).into_iter().map(row).collect()
}

/// A report of the market: ids, kind, quantity and price.
fn report(number: u32, fields: &str) -> String {
    format!("35=8|49=M|56=D|34={number}|52=20260305-14:15:16|37=o|55=X|54=1|{fields}|")
}

fn check(begin: &str, fields: &[&str], wanted: &[&str], counts: FillCounts) {
    let bodies: Vec<_> = fields
        .iter()
        .enumerate()
        .map(|(at, fields)| report(at as u32 + 1, fields))
        .collect();
    let bodies: Vec<_> = bodies.iter().map(String::as_str).collect();
    for part_messages in [1, 2, 100] {
        let mut fills = of(begin, &bodies, part_messages);
        assert_eq!(shown(&mut fills), wanted, "{fields:?}");
        assert_eq!(fills.counts(), counts, "{fields:?}");
    }
}

#[test]
fn trades_of_every_version_count() {
    let none = FillCounts::default();
    let both = ["X 1: 2 of 150 at 10.30 (10.20 to 10.50) = 1545, 0 corrected, 0 busted"];
    // There is no ExecType in 4.0.
    let of_40 = [
        "17=a|20=0|39=0|32=0|31=0",
        "17=b|20=0|39=1|32=100|31=10.20",
        "17=c|20=0|39=2|32=50|31=10.50",
        "17=0|20=3|39=2|32=50|31=10.50",
    ];
    check("FIX.4.0", &of_40, &both, none);
    let of_42 = [
        "17=a|20=0|150=0|39=0|32=0|31=0",
        "17=b|20=0|150=1|39=1|32=100|31=10.20",
        "17=c|20=0|150=2|39=2|32=50|31=10.50",
        "17=d|20=3|150=2|39=2|32=50|31=10.50",
        // The last trade is stated again with the end of the order.
        "17=e|20=0|150=4|39=4|32=50|31=10.50",
    ];
    check("FIX.4.1", &of_42, &both, none);
    check("FIX.4.2", &of_42, &both, none);
    let of_44 = [
        "17=a|150=0|39=0",
        "17=b|150=F|39=1|32=100|31=10.20",
        "17=c|150=F|39=2|32=50|31=10.50",
        "17=d|150=I|39=2|32=50|31=10.50",
        "17=e|150=F|39=2|32=0|31=0",
    ];
    check("FIX.4.3", &of_44, &both, none);
    check("FIX.4.4", &of_44, &both, none);
    check("FIXT.1.1", &of_44, &both, none);
}

#[test]
fn corrections_and_busts_are_applied_whichever_comes_first() {
    let trade = "17=a|150=F|32=100|31=10";
    let correct = "17=b|19=a|150=G|32=80|31=11";
    let again = "17=c|19=b|150=G|32=70|31=12";
    let of_first = "17=c|19=a|150=G|32=70|31=12";
    let bust = "17=z|19=a|150=H";
    let counts = |corrections, busts| FillCounts {
        corrections,
        busts,
        ..FillCounts::default()
    };
    let corrected = ["X 1: 1 of 80 at 11 (11 to 11) = 880, 1 corrected, 0 busted"];
    let twice = ["X 1: 1 of 70 at 12 (12 to 12) = 840, 1 corrected, 0 busted"];
    let gone = ["X 1: 0 of 0 at - (- to -) = 0, 0 corrected, 1 busted"];
    check("FIX.4.4", &[trade, correct], &corrected, counts(1, 0));
    check("FIX.4.4", &[correct, trade], &corrected, counts(1, 0));
    check("FIX.4.4", &[trade, correct, again], &twice, counts(2, 0));
    check("FIX.4.4", &[trade, correct, of_first], &twice, counts(2, 0));
    check("FIX.4.4", &[correct, again, trade], &twice, counts(2, 0));
    check("FIX.4.4", &[trade, bust], &gone, counts(0, 1));
    check("FIX.4.4", &[bust, trade], &gone, counts(0, 1));
    check("FIX.4.4", &[trade, correct, bust], &gone, counts(1, 1));
    check("FIX.4.4", &[trade, bust, correct], &gone, counts(1, 1));
    let of_later = "17=z|19=b|150=H";
    check("FIX.4.4", &[trade, correct, of_later], &gone, counts(1, 1));
    let to_nothing = "17=b|19=a|150=G|32=0|31=0";
    check("FIX.4.4", &[trade, to_nothing], &gone, counts(1, 0));
    // ExecTransType, with a new ExecID or without ExecRefID.
    let trade = "17=a|20=0|150=2|32=100|31=10";
    let correct = "17=b|19=a|20=2|150=2|32=80|31=11";
    check("FIX.4.2", &[trade, correct], &corrected, counts(1, 0));
    let same_id = "17=a|20=2|150=2|32=80|31=11";
    check("FIX.4.2", &[trade, same_id], &corrected, counts(1, 0));
    check(
        "FIX.4.0",
        &[trade, "17=z|19=a|20=1|39=1"],
        &gone,
        counts(0, 1),
    );
    check("FIX.4.2", &[trade, "17=a|20=1|150=1"], &gone, counts(0, 1));
    // There and back again by the same ids: each is a message of its own.
    let back = "17=a|19=a|20=2|150=2|32=100|31=10";
    let forth = "17=a|19=a|20=2|150=2|32=80|31=11";
    check(
        "FIX.4.2",
        &[trade, forth, back, forth],
        &corrected,
        counts(3, 0),
    );
}

#[test]
fn what_changes_a_trade_that_is_not_in_the_logs_is_known_as_such() {
    let counts = FillCounts {
        corrections: 1,
        unknown: 1,
        ..FillCounts::default()
    };
    let row = ["X 1: 1 of 80 at 11 (11 to 11) = 880, 1 corrected, 0 busted"];
    check("FIX.4.4", &["17=b|19=a|150=G|32=80|31=11"], &row, counts);
    let counts = FillCounts {
        busts: 1,
        unknown: 1,
        ..FillCounts::default()
    };
    let row = ["X 1: 0 of 0 at - (- to -) = 0, 0 corrected, 1 busted"];
    check("FIX.4.4", &["17=b|19=a|150=H"], &row, counts);
}

#[test]
fn what_was_sent_again_counts_once() {
    let first = report(2, "17=a|150=F|32=100|31=10|60=20260305-14:15:16");
    let again = first.replace(
        "|52=",
        "|43=Y|122=20260305-14:15:16|52=20260305-23:59:59|999=",
    );
    let number = |tag: &str| first.replace("|34=2|", tag);
    // As possibly sent before, under a number of its own; of the next day; and with a correction in between.
    let resent = number("|34=9|97=Y|");
    let correct = report(3, "17=b|19=a|150=G|32=80|31=11|60=20260305-14:15:17");
    let correct_again = correct.replace("|34=3|", "|34=3|43=Y|");
    for others in [vec![&again], vec![&resent], vec![&again, &resent, &first]] {
        let all: Vec<_> = [&first]
            .into_iter()
            .chain(others)
            .map(String::as_str)
            .collect();
        let mut fills = of("FIX.4.4", &all, 2);
        assert_eq!(
            shown(&mut fills),
            ["X 1: 1 of 100 at 10 (10 to 10) = 1000, 0 corrected, 0 busted"]
        );
        assert_eq!(fills.counts().duplicates, all.len() as u64 - 1);
    }
    let all = [&first, &correct, &again, &correct_again].map(String::as_str);
    let mut fills = of("FIX.4.4", &all, 1);
    assert_eq!(
        shown(&mut fills),
        ["X 1: 1 of 80 at 11 (11 to 11) = 880, 1 corrected, 0 busted"]
    );
    assert_eq!(
        (fills.counts().duplicates, fills.counts().corrections),
        (2, 1)
    );
    // An earlier correction that comes late changes nothing.
    let late = report(
        4,
        "17=c|19=a|150=G|32=70|31=12|43=Y|122=20260305-14:15:15|60=20260305-14:15:15",
    );
    let all = [&first, &correct, &late].map(String::as_str);
    assert_eq!(
        shown(&mut of("FIX.4.4", &all, 1)),
        ["X 1: 1 of 80 at 11 (11 to 11) = 880, 1 corrected, 0 busted"]
    );
    // The log of the other party.
    let (mut fills, mut decoder) = (Fills::new(), Decoder::new());
    for log in 0..2 {
        let (mut part, bytes) = (FillPart::default(), bytes("FIX.4.4", &first));
        part.message(0, &BY, &decoder.parse(&bytes).expect("valid"));
        fills.add(log, &part);
    }
    assert_eq!(fills.counts().duplicates, 1);
    assert_eq!(shown(&mut fills).len(), 1);
}

#[test]
fn an_exec_id_that_comes_again_for_something_else_is_another_fill() {
    let first = report(2, "17=a|150=F|32=100|31=10");
    let others = [
        ("the other side", first.replace("|54=1|", "|54=2|")),
        ("another symbol", first.replace("|55=X|", "|55=Y|")),
        ("another order", first.replace("|37=o|", "|37=p|")),
        ("another day", first.replace("52=20260305", "52=20260306")),
        ("another session", first.replace("|56=D|", "|56=E|")),
        ("another firm", first.replace("|37=o|", "|37=o|115=F|")),
    ];
    for (what, other) in &others {
        let mut fills = of("FIX.4.4", &[&first, other], 1);
        let executions: u64 = fills.rows(&BY).iter().map(|row| row.executions).sum();
        assert_eq!(
            (executions, fills.counts()),
            (2, FillCounts::default()),
            "{what}"
        );
    }
    // Of the same order and day, one of the two is wrong, and the log does not say which.
    let other = first.replace("|32=100|", "|32=90|");
    let fills = of("FIX.4.4", &[&first, &other, &other, &first], 1);
    let counts = fills.counts();
    assert_eq!((counts.contradictions, counts.duplicates), (1, 2));
    // A cancel is for the fill of its side.
    let bust = report(9, "17=z|19=a|150=H").replace("|54=1|", "|54=2|");
    let mut fills = of("FIX.4.4", &[&first, &others[0].1, &bust], 1);
    let rows: Vec<_> = fills
        .rows(&BY)
        .iter()
        .map(|row| (row.executions, row.busted))
        .collect();
    assert_eq!(rows, [(1, 0), (0, 1)]);
}

#[test]
fn trades_without_an_exec_id_are_told_apart_by_their_numbers() {
    for id in ["", "17=0|", "17=NONE|"] {
        let trade = |number| report(number, &format!("{id}150=F|32=100|31=10"));
        let again = trade(2).replace(
            "|52=",
            "|43=Y|122=20260305-14:15:16|52=20260305-15:00:00|999=",
        );
        let mut fills = of("FIX.4.4", &[&trade(2), &trade(3), &again], 1);
        assert_eq!(fills.rows(&BY)[0].executions, 2, "{id}");
        assert_eq!(fills.counts().duplicates, 1, "{id}");
        let bare = trade(2).replace("|34=2|", "|");
        let other = bare.replace("|32=100|", "|32=90|");
        let mut fills = of("FIX.4.4", &[&bare, &bare, &other], 1);
        assert_eq!(fills.rows(&BY)[0].executions, 2, "{id}");
    }
}

#[test]
fn what_cannot_be_read_or_summed_is_named() {
    let huge = "32=9223372036854775807|31=900000000000000000";
    let cases = [
        ("17=a|150=F|31=10", FillFault::NoQuantity),
        ("17=b|150=F|32=100", FillFault::NoPrice),
        ("17=c|150=F|32=-1|31=10", FillFault::Quantity),
        ("17=d|150=F|32=1e3|31=10", FillFault::Quantity),
        ("17=e|150=F|32=100|31=ten", FillFault::Price),
        (
            "17=f|150=G|19=x|32=9223372036854775808|31=1",
            FillFault::Quantity,
        ),
    ];
    let bodies: Vec<_> = cases.iter().map(|(fields, _)| report(1, fields)).collect();
    let bodies: Vec<_> = bodies.iter().map(String::as_str).collect();
    let mut fills = of("FIX.4.4", &bodies, 4);
    assert_eq!(fills.rows(&BY), []);
    let found: Vec<_> = fills
        .not_counted()
        .iter()
        .map(|one| (one.offset, one.fault))
        .collect();
    let wanted: Vec<_> = (0..).zip(cases.map(|(_, fault)| fault)).collect();
    assert_eq!(found, wanted);
    assert_eq!(fills.counts().not_counted, cases.len() as u64);
    // Prices may be negative; what makes a sum too large is left out whole, and named.
    let trade = |id: u32, values: &str| report(id, &format!("17={id}|150=F|{values}"));
    let all = [
        trade(1, "32=1|31=-3"),
        trade(2, huge),
        trade(3, huge),
        trade(4, "32=1|31=-1.0"),
    ];
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    let mut fills = of("FIX.4.4", &all, 1);
    let rows = fills.rows(&BY);
    assert_eq!(rows[0].executions, 3);
    assert_eq!(rows[0].quantity.to_string(), "9223372036854775809");
    let found: Vec<_> = fills
        .not_counted()
        .iter()
        .map(|one| (one.offset, one.fault))
        .collect();
    assert_eq!(found, [(2, FillFault::TooLarge)]);
    assert_eq!(fills.counts().not_counted, 1);
}

#[test]
fn fills_beyond_the_limit_are_counted() {
    let mut fills = of("FIX.4.4", &[], 1);
    fills.fills_max = 2;
    let mut decoder = Decoder::new();
    let mut part = FillPart::default();
    for number in 0..5 {
        let bytes = bytes(
            "FIX.4.4",
            &report(number, &format!("17={number}|150=F|32=1|31=1")),
        );
        part.message(0, &BY, &decoder.parse(&bytes).expect("valid"));
    }
    fills.add(0, &part);
    fills.add(0, &part);
    assert_eq!(fills.rows(&BY)[0].executions, 2);
    let counts = fills.counts();
    assert_eq!((counts.unfollowed, counts.duplicates), (6, 2));
}

#[test]
fn sessions_that_pass_fills_on_are_known() {
    let hop = |from: &str, to: &str| {
        report(1, "17=a|150=F|32=1|31=1").replace("|49=M|56=D|", &format!("|49={from}|56={to}|"))
    };
    let names = |all: &[String]| {
        let all: Vec<_> = all.iter().map(String::as_str).collect();
        let fills = of("FIX.4.4", &all, 1);
        fills
            .passed_on()
            .map(|found| found.map(|one| String::from_utf8_lossy(&one.concat()).into_owned()))
    };
    assert_eq!(names(&[hop("M", "D"), hop("M", "E")]), None);
    assert_eq!(names(&[hop("M", "D"), hop("D", "M")]), None);
    assert_eq!(
        names(&[hop("M", "G"), hop("G", "D")]),
        Some(["MG".to_owned(), "GD".to_owned()])
    );
}

/// A message by three bytes: what it says, of which trade, and how much.
fn any(at: usize, [kind, trade, value]: [u8; 3]) -> String {
    let (trade, quantity, price) = (trade & 7, value & 7, i32::from(value >> 3) - 8);
    let symbol = if trade & 1 == 0 { "X" } else { "Y" };
    let side = 1 + (trade >> 1 & 1);
    let number = at + 1;
    let fields = match kind & 7 {
        0..=3 => format!("17=t{trade}|150=F"),
        4 => format!("17=c{number}|19=t{trade}|150=G"),
        5 => format!("17=z{number}|19=t{trade}|150=H"),
        6 => format!("17=t{trade}|150=0"),
        _ => format!("17=t{trade}|150=I"),
    };
    format!(
        "35=8|49=M|56=D|34={number}|52=20260305-14:15:16|37=o{trade}|55={symbol}|54={side}|{fields}|32={quantity}|31={price}.25|"
    )
}

/// What it comes to, by the plain rules: the first trade of an id counts, and one with other values beside it; the last
/// correction of an id is what counts of its newest trade, and a cancel ends that.
fn oracle(messages: &[[u8; 3]]) -> Vec<(String, u64, i128, i128)> {
    #[derive(Clone)]
    struct One {
        trade: u8,
        is_told: bool,
        stated: (u8, i32),
        now: (u8, i32),
        is_busted: bool,
    }
    let mut all: Vec<One> = Vec::new();
    for [kind, trade, value] in messages {
        let (trade, quantity, price) = (trade & 7, value & 7, i32::from(value >> 3) - 8);
        let values = (quantity, if quantity == 0 { 0 } else { price });
        match kind & 7 {
            0..=3 if quantity == 0 => {}
            0..=3 => {
                let same = |one: &&mut One| one.trade == trade;
                if all
                    .iter()
                    .any(|one| one.trade == trade && one.is_told && one.stated == values)
                {
                    continue;
                }
                match all.iter_mut().filter(same).find(|one| !one.is_told) {
                    Some(one) => (one.is_told, one.stated) = (true, values),
                    None => all.push(One {
                        trade,
                        is_told: true,
                        stated: values,
                        now: values,
                        is_busted: false,
                    }),
                }
            }
            4 | 5 => {
                let is_bust = kind & 7 == 5;
                let values = if is_bust { (0, 0) } else { values };
                match all.iter_mut().rev().find(|one| one.trade == trade) {
                    Some(one) if is_bust => one.is_busted = true,
                    Some(one) => one.now = values,
                    None => all.push(One {
                        trade,
                        is_told: false,
                        stated: (9, 0),
                        now: values,
                        is_busted: is_bust,
                    }),
                }
            }
            _ => {}
        }
    }
    let mut rows = std::collections::BTreeMap::<String, (u64, i128, i128)>::new();
    for one in all {
        let symbol = if one.trade & 1 == 0 { "X" } else { "Y" };
        let row = rows
            .entry(format!("{symbol} {}", 1 + (one.trade >> 1 & 1)))
            .or_default();
        let (quantity, price) = (i128::from(one.now.0), i128::from(one.now.1));
        if one.is_busted || quantity == 0 {
            continue;
        }
        // Prices are in hundredths, of which a sign stands before all.
        let cents = if price < 0 {
            price * 100 - 25
        } else {
            price * 100 + 25
        };
        row.0 += 1;
        row.1 += quantity;
        row.2 += quantity * cents;
    }
    let row = |(name, (count, quantity, notional))| (name, count, quantity, notional);
    rows.into_iter().map(row).collect()
}

#[test]
fn any_messages_come_to_what_a_list_says() {
    let mut random = 5_u64;
    let mut below = move |limit: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as usize % limit
    };
    let number = |text: String| text.parse::<i128>().expect("a whole number");
    let hundred = Decimal::parse(b"100").expect("a number");
    for round in 0..2000 {
        let count = below(60);
        let mut byte = || below(256) as u8;
        let messages: Vec<_> = (0..count).map(|_| [byte(), byte(), byte()]).collect();
        let bodies: Vec<_> = messages
            .iter()
            .enumerate()
            .map(|(at, one)| any(at, *one))
            .collect();
        let bodies: Vec<_> = bodies.iter().map(String::as_str).collect();
        let mut fills = of("FIX.4.4", &bodies, 1 + round % 7);
        let rows = fills.rows(&BY);
        let sums = |row: &FillRow| {
            let values = row.values.iter().flatten();
            let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value)).collect();
            let cents = row.notional.times(hundred.into()).expect("small");
            let quantity = number(row.quantity.text(0));
            (
                values.join(" "),
                row.executions,
                quantity,
                number(cents.text(0)),
            )
        };
        let found: Vec<_> = rows.iter().map(sums).collect();
        assert_eq!(found, oracle(&messages), "round {round}");
        for row in rows.iter().filter(|row| row.executions > 0) {
            let bounds = [row.least, row.greatest].map(|price| price.expect("traded"));
            let average = row.average().expect("traded").text(0);
            let average = Decimal::parse(average.as_bytes()).expect("a number");
            assert!(exact::compare(bounds[0], average).is_le(), "round {round}");
            assert!(exact::compare(average, bounds[1]).is_le(), "round {round}");
        }
    }
}
