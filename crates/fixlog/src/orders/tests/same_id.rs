//! Orders with the same ClOrdID: what tells them apart.

use super::{check, seen};

#[test]
fn a_duplicate_that_is_rejected_leaves_the_first_order_open() {
    check(
        &[&[
            "D C G 100 1 11=u|38=100|",
            "8 G C 200 1 37=O2|11=u|17=E4|150=0|39=0|",
            "D C G 1200 2 11=u|38=100|",
            "8 G C 1300 2 37=NONE|11=u|17=E5|150=8|39=8|103=6|",
        ]],
        &[
            "u open: new, acknowledged (reused)",
            "u rejected: new, rejected",
        ],
    );
}

#[test]
fn two_orders_with_one_id_are_told_apart_by_the_order_id() {
    check(
        &[&[
            "D C G 100 1 11=u|38=100|",
            "8 G C 200 1 37=O1|11=u|17=E1|150=0|39=0|",
            "D C G 2200 2 11=u|38=700|",
            "8 G C 2300 2 37=O2|11=u|17=E2|150=0|39=0|38=700|14=0|151=700|",
            "8 G C 2400 3 37=O1|11=u|17=E3|150=F|39=2|38=100|14=100|151=0|",
            "8 G C 2500 4 37=O2|11=u|17=E4|150=F|39=1|38=700|14=300|151=400|",
        ]],
        &[
            "u filled: new, acknowledged, filled (reused)",
            "u partially-filled: new, acknowledged, partial fill",
        ],
    );
}

#[test]
fn a_late_bust_of_an_id_that_was_used_again_reaches_its_order() {
    check(
        &[&[
            "D C G 100 1 11=u|38=100|",
            "8 G C 200 1 37=O1|11=u|17=E1|150=F|39=2|38=100|14=100|151=0|",
            "D C G 2200 2 11=u|38=100|",
            "8 G C 2300 2 37=O2|11=u|17=E2|150=0|39=0|38=100|14=0|151=100|",
            "8 G C 2400 3 37=O1|11=u|17=E3|150=H|39=0|38=100|14=0|151=100|19=E1|",
            "8 G C 2500 4 37=O2|11=u|17=E4|150=F|39=2|38=100|14=100|151=0|",
        ]],
        &[
            "u open: new, filled, trade cancelled",
            "u filled: new, acknowledged, filled",
        ],
    );
}

#[test]
fn a_cancel_whose_id_another_order_has_is_of_the_order_that_it_names() {
    check(
        &[&[
            "D C G 100 1 11=A|",
            "D C G 200 2 11=B|",
            "8 G C 300 1 37=O1|11=A|17=E1|150=0|39=0|",
            "8 G C 400 2 37=O2|11=B|17=E2|150=0|39=0|",
            "F C G 500 3 11=B|41=A|",
            "9 G C 600 3 37=O1|11=B|41=A|39=0|102=6|",
            "F C G 700 4 11=B|41=A|",
            "9 G C 800 4 37=NONE|11=B|41=A|39=0|102=6|",
        ]],
        &[
            "A open: new, acknowledged, cancel request, cancel reject, cancel request, cancel reject",
            "B open: new, acknowledged",
        ],
    );
}

#[test]
fn an_order_that_may_have_been_sent_before_is_the_same_order() {
    check(
        &[&[
            "D C G 100 1 11=v|",
            "D C G 5100 2 97=Y|11=v|",
            "8 G C 5200 1 37=O1|11=v|17=E1|150=0|39=0|",
        ]],
        &["v open: new, new, acknowledged"],
    );
}

#[test]
fn rejects_by_number_are_of_the_message_that_they_name() {
    check(
        &[&[
            "D C G 100 1 11=v|",
            // The Logon is what is rejected: by its type, and because numbers began anew.
            "A C G 200 1 98=0|108=30|141=Y|",
            "3 G C 300 1 45=1|372=A|373=5|",
            "3 G C 400 2 45=1|373=5|",
        ]],
        &["v unanswered: new"],
    );
    check(
        &[&[
            "D C G 100 1 11=v|",
            "3 G C 300 1 45=1|372=F|373=5|",
            "3 G C 400 2 45=1|372=D|373=5|",
            "D C G 500 2 11=w|",
            "8 G C 600 3 11=w|37=O|17=E|150=0|39=0|",
            // The client refuses the answer.
            "3 C G 700 3 45=3|372=8|373=5|",
            "8 G C 800 4 11=w|37=O|17=E2|150=F|39=1|14=3|",
            "Q C G 900 4 37=O|17=E2|127=A|",
            "H C G 950 5 11=w|37=O|",
            "8 G C 960 5 11=w|37=O|17=0|150=I|39=1|14=3|",
        ]],
        &[
            "v rejected: new, session reject",
            "w partially-filled: new, acknowledged, session reject, partial fill, trade not accepted, \
             status request, status",
        ],
    );
}

#[test]
fn a_list_is_as_many_orders_and_its_reject_is_of_all() {
    check(
        &[&[
            "E C G 100 1 66=L1|394=3|68=2|73=2|11=LA|67=1|55=MSFT|54=1|38=100|11=LB|67=2|55=IBM|54=2|38=200|",
            "8 G C 200 1 37=O1|11=LA|17=E1|150=0|39=0|",
            "8 G C 300 2 37=O2|11=LB|17=E2|150=F|39=2|38=200|14=200|151=0|",
            "E C G 400 2 66=L2|73=2|11=LC|55=X|11=LD|55=Y|",
            "3 G C 500 3 45=2|372=E|373=5|",
        ]],
        &[
            "LA open: new, acknowledged",
            "LB filled: new, filled",
            "LC rejected: new, session reject",
            "LD rejected: new, session reject",
        ],
    );
    let lives = seen(
        &[&["E C G 1 1 66=L|73=2|11=a|55=X|38=1|11=b|55=Y|38=2|"]],
        1,
    )
    .lives;
    for (life, [symbol, quantity]) in lives.iter().zip([["X", "1"], ["Y", "2"]]) {
        assert_eq!(life.first(55), Some(symbol.as_bytes()));
        assert_eq!(life.first(38), Some(quantity.as_bytes()));
        assert_eq!(life.first(66), Some(&b"L"[..]));
    }
}

#[test]
fn many_orders_with_one_order_id_are_told_apart_by_their_own_ids() {
    let orders = 100;
    let mut texts = Vec::new();
    for step in 0..3 {
        for at in 0..orders {
            let number = step * orders + at + 1;
            texts.push(match step {
                0 => format!("D C G {number} {number} 11=i{at}|"),
                _ => format!(
                    "8 G C {number} {number} 37=V|11=i{at}|17=e{number}|150=F|39=1|14={step}|"
                ),
            });
        }
    }
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let lives = seen(&[&texts], 7).final_lives();
    assert_eq!(lives.len(), orders);
    for (at, life) in lives.iter().enumerate() {
        assert_eq!(
            (life.id(), life.steps.len()),
            (format!("i{at}").as_bytes(), 3)
        );
    }
}

/// What became of an order, as it was made up.
struct Truth {
    order_id: Option<u64>,
    steps: Vec<&'static str>,
    state: &'static str,
}

#[test]
fn orders_of_few_ids_are_what_was_made_up() {
    let mut random = 3_u64;
    let mut below = move |limit: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % limit
    };
    for round in 0..300 {
        let (mut orders, mut texts) = (Vec::<(u64, Truth)>::new(), Vec::new());
        let (mut ms, mut next) = (0, 1);
        for at in 1..40_u64 {
            // Now and then, hours pass.
            ms += if below(12) == 0 {
                40 * 60_000
            } else {
                1 + below(50)
            };
            let live =
                |truth: &Truth| ["unanswered", "open", "partially-filled"].contains(&truth.state);
            let pick = below(orders.len() as u64 + 1) as usize;
            let Some((id, truth)) = orders.get_mut(pick).filter(|_| below(3) > 0) else {
                let id = below(3);
                let others = orders
                    .iter()
                    .filter(|(other, truth)| *other == id && live(truth));
                if others.count() > 3 {
                    continue;
                }
                texts.push(format!("D C G {ms} {at} 11=i{id}|38=100|"));
                let truth = Truth {
                    order_id: None,
                    steps: vec!["new"],
                    state: "unanswered",
                };
                orders.push((id, truth));
                if below(4) == 0
                    && let Some((id, truth)) = orders.last_mut()
                {
                    texts.push(format!(
                        "8 G C {ms} {at} 37=NONE|11=i{id}|17=n{at}|150=8|39=8|103=6|"
                    ));
                    truth.steps.push("rejected");
                    truth.state = "rejected";
                }
                continue;
            };
            let id = *id;
            let Some(order_id) = truth.order_id else {
                // The first of its id is answered first.
                let mut all = orders.iter_mut();
                let first = all.find(|(other, truth)| *other == id && truth.state == "unanswered");
                if let Some((_, truth)) = first {
                    texts.push(format!(
                        "8 G C {ms} {at} 37=O{next}|11=i{id}|17=a{at}|150=0|39=0|14=0|"
                    ));
                    truth.steps.push("acknowledged");
                    (truth.state, truth.order_id) = ("open", Some(next));
                    next += 1;
                }
                continue;
            };
            let (exec_type, status, filled, step, state) = match (below(3), truth.state) {
                (0, "open") => ("F", "1", 40, "partial fill", "partially-filled"),
                (1, "open" | "partially-filled") => ("F", "2", 100, "filled", "filled"),
                (_, "filled") => ("H", "0", 0, "trade cancelled", "open"),
                (_, "open" | "partially-filled") => ("4", "4", 0, "cancelled", "cancelled"),
                _ => continue,
            };
            texts.push(format!(
                "8 G C {ms} {at} 37=O{order_id}|11=i{id}|17=x{at}|150={exec_type}|39={status}|38=100|14={filled}|"
            ));
            truth.steps.push(step);
            truth.state = state;
        }
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let seen = seen(&[&texts], 3).final_lives();
        assert_eq!(seen.len(), orders.len(), "round {round}: {texts:#?}");
        for (life, (id, truth)) in seen.iter().zip(&orders) {
            let steps: Vec<_> = life.steps.iter().map(|step| step.kind.name()).collect();
            let found = (life.id().to_vec(), life.state.name(), steps, life.is_orphan);
            let expected = (
                format!("i{id}").into_bytes(),
                truth.state,
                truth.steps.clone(),
                false,
            );
            assert_eq!(found, expected, "round {round}: {texts:#?}");
        }
    }
}

/// Counters of both sides begin anew each day: OrderIDs are unique within a day only.
#[test]
fn a_new_day_with_the_ids_of_the_day_before_has_orders_of_its_own() {
    const DAY: u64 = 24 * 3_600_000;
    let day = |day: u64, ms: u64, what: &str| {
        let mut words = what.splitn(5, ' ');
        let head: Vec<_> = words.by_ref().take(4).collect();
        let [kind, from, to, number] = head[..] else {
            panic!("{what}")
        };
        let rest = words.next().unwrap_or_default();
        let rest = rest.replace("17=", &format!("17={day}"));
        format!("{kind} {from} {to} {} {number} {rest}", day * DAY + ms)
    };
    let mut texts = Vec::new();
    for at in 0..3 {
        for (ms, what) in [
            (10, "D C G 2 11=a|38=100|"),
            (20, "8 G C 2 37=O|11=a|17=1|150=0|39=0|"),
            (30, "8 G C 3 37=O|11=a|17=2|150=F|39=2|38=100|14=100|151=0|"),
            // Filled at once, and cancelled.
            (40, "D C G 3 11=b|38=100|"),
            (50, "8 G C 4 37=P|11=b|17=3|150=F|39=2|38=100|14=100|151=0|"),
            (60, "D C G 4 11=c|38=100|"),
            (70, "8 G C 5 37=Q|11=c|17=4|150=0|39=0|"),
            (80, "F C G 5 11=d|41=c|37=Q|"),
            (90, "8 G C 6 37=Q|11=d|41=c|17=5|150=4|39=4|"),
            // Nobody answers.
            (100, "D C G 6 11=e|38=100|"),
        ] {
            texts.push(day(at, ms, what));
        }
    }
    // What comes late for the last order of an id is of that.
    texts.push(day(
        2,
        4000,
        "8 G C 9 37=O|11=a|17=6|150=H|39=0|38=100|14=0|19=22|",
    ));
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let one = [
        "a filled: new, acknowledged, filled",
        "b filled: new, filled",
        "c cancelled: new, acknowledged, cancel request, cancelled",
        "e unanswered: new",
    ];
    let mut all = [one, one, one].concat();
    all[8] = "a open: new, acknowledged, filled, trade cancelled";
    all[3] = "e unanswered: new (reused)";
    all[7] = "e unanswered: new (reused)";
    check(&[&texts], &all);
    // What the day before left unanswered takes no answer of this day.
    texts_of_next_day();
}

fn texts_of_next_day() {
    let hours = 20 * 3_600_000;
    let late = [
        format!("D C G {hours} 9 11=e|38=5|"),
        format!("8 G C {} 9 37=R|11=e|17=9|150=0|39=0|", hours + 10),
    ];
    let mut texts = vec!["D C G 100 1 11=e|38=100|"];
    texts.extend(late.iter().map(String::as_str));
    check(
        &[&texts],
        &["e unanswered: new (reused)", "e open: new, acknowledged"],
    );
}

#[test]
fn traders_and_clients_on_one_session_may_have_the_same_ids() {
    for (from, to) in [(50, 57), (142, 143), (115, 128), (116, 129)] {
        let texts = [
            format!("D C G 1 1 {from}=T1|11=a|"),
            format!("D C G 2 2 {from}=T2|11=a|"),
            format!("8 G C 3 1 {to}=T1|37=NONE|11=a|17=E1|150=8|39=8|"),
            format!("8 G C 4 2 {to}=T2|37=O2|11=a|17=E2|150=0|39=0|"),
            format!("D C G 5 3 {from}=T3|11=a|"),
            format!("D C G 6 4 {from}=T4|11=a|"),
            format!("8 G C 7 3 {to}=T4|37=O4|11=a|17=E3|150=0|39=0|"),
            format!("F C G 8 5 {from}=T2|11=b|41=a|"),
            format!("8 G C 9 4 {to}=T3|37=O3|11=a|17=E4|150=F|39=2|14=1|38=1|"),
            format!("8 G C 10 5 {to}=T2|37=O2|11=b|41=a|17=E5|150=4|39=4|"),
        ];
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        check(
            &[&texts],
            &[
                "a rejected: new, rejected",
                "a cancelled: new, acknowledged, cancel request, cancelled",
                "a filled: new, filled",
                "a open: new, acknowledged",
            ],
        );
    }
    // Where the other side says nothing of it, or something else, the first order is answered first.
    for to in ["", "57=desk|"] {
        let acknowledged = format!("8 G C 3 1 {to}37=O1|11=a|17=E1|150=0|39=0|");
        check(
            &[&[
                "D C G 1 1 50=T1|11=a|",
                "D C G 2 2 50=T2|11=a|",
                &acknowledged,
            ]],
            &["a open: new, acknowledged", "a unanswered: new"],
        );
    }
}

#[test]
fn the_sides_of_a_cross_are_orders() {
    let cross = "s A B 50 3 548=c1|549=1|550=0|552=2|54=1|11=a|38=100|54=2|11=b|38=200|55=X|44=7|";
    let log = [
        cross,
        "8 B A 60 3 37=Oa|11=a|17=E51|150=F|39=2|55=X|54=1|38=100|151=0|14=100|",
        "8 B A 70 4 37=Ob|11=b|17=E52|150=0|39=0|55=X|54=2|38=200|151=200|14=0|",
        "u A B 80 4 548=c2|551=c1|549=1|550=0|552=2|54=1|41=a|11=a2|54=2|41=b|11=b2|55=X|",
        "8 B A 90 5 37=Ob|11=b2|41=b|17=E53|150=4|39=4|38=200|151=0|14=0|",
        "9 B A 91 6 37=Oa|11=a2|41=a|39=2|434=1|102=0|",
    ];
    check(
        &[&log],
        &[
            "a filled: new, filled, cancel request, cancel reject",
            "b cancelled: new, acknowledged, cancel request, cancelled",
        ],
    );
    let lives = seen(&[&[cross]], 1).lives;
    for (life, [side, quantity]) in lives.iter().zip([["1", "100"], ["2", "200"]]) {
        for (tag, value) in [(54, side), (38, quantity), (55, "X"), (44, "7")] {
            assert_eq!(life.first(tag), Some(value.as_bytes()), "{tag}");
        }
    }
    check(
        &[&[cross, "3 B A 60 2 45=3|372=s|373=5|"]],
        &[
            "a rejected: new, session reject",
            "b rejected: new, session reject",
        ],
    );
}
