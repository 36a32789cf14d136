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
