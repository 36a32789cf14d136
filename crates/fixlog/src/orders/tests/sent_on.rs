//! Orders that a party sends on: which one of those that it got.

use super::{check, seen};

#[test]
fn orders_of_one_party_with_ids_alike_have_nothing_to_do_with_each_other() {
    for width in 1..=17 {
        let ids = [600, 800, 763, 963].map(|id| format!("{id:0width$}"));
        let log: Vec<String> = (1..)
            .zip(&ids)
            .map(|(at, id)| format!("D B V {at} {at} 11={id}|55=VOD|54=1|38=100|"))
            .collect();
        let log: Vec<&str> = log.iter().map(String::as_str).collect();
        let expected = ids.map(|id| format!("{id} unanswered: new"));
        check(&[&log], &expected.each_ref().map(String::as_str));
    }
}

#[test]
fn two_clients_with_one_id_are_two_orders_below_as_well() {
    check(
        &[&[
            "D C1 G 100 1 11=77|55=MSFT|54=1|38=100|",
            "D C2 G 150 1 11=77|55=MSFT|54=1|38=500|",
            "D G R 151 1 11=G1|526=77|55=MSFT|54=1|38=100|",
            "D G R 152 2 11=G2|526=77|55=MSFT|54=1|38=500|",
        ]],
        &[
            "77 unanswered: new",
            "77 unanswered: new",
            "G1 unanswered: new (of 0)",
            "G2 unanswered: new (of 1)",
        ],
    );
}

#[test]
fn the_order_that_was_not_sent_on_is_sent_on_and_no_more_than_it_is() {
    check(
        &[&[
            "D C1 G 100 1 11=7|55=A|38=100|",
            "D G R 101 1 11=G1|526=7|55=A|38=100|",
            "D C2 G 200 1 11=7|55=A|38=100|",
            "D G R 201 2 11=G2|526=7|55=A|38=100|",
            // In parts.
            "D G R 202 3 11=G3|526=7|55=A|38=40|",
            // More than was asked for, and another symbol.
            "D G R 203 4 11=G4|526=7|55=A|38=140|",
            "D G R 204 5 11=G5|526=7|55=B|38=40|",
        ]],
        &[
            "7 unanswered: new",
            "G1 unanswered: new (of 0)",
            "7 unanswered: new",
            "G2 unanswered: new (of 2)",
            "G3 unanswered: new (of 2)",
            "G4 unanswered: new",
            "G5 unanswered: new",
        ],
    );
}

#[test]
fn clocks_that_agree_are_not_corrected_by_the_time_that_an_answer_took() {
    let log: &[&str] = &[
        "D C G 100 1 11=q|38=1|",
        "D G R 101 1 11=g|526=q|38=1|",
        "8 R G 201 1 11=g|37=r|17=e|150=0|39=0|",
        "8 G C 202 1 11=q|37=r|17=e|150=0|39=0|",
    ];
    let hops = seen(&[log], 4).hops;
    assert!(hops.contains(&("G>R".to_owned(), false, 100)), "{hops:?}");
    assert!(hops.contains(&("G>R".to_owned(), true, 1)), "{hops:?}");
}

#[test]
fn drop_copies_are_no_orders() {
    let log = [
        "D A B 50 2 11=1|38=100|",
        "8 B A 60 2 37=O1|11=1|17=E7|150=0|39=0|",
        "8 B DC 70 2 37=O1|11=1|17=E7|150=0|39=0|115=A|",
        "8 B A 80 3 37=O1|11=1|17=E8|150=F|39=2|14=100|38=100|",
        "8 B DC 90 3 37=O1|11=1|17=E8|150=F|39=2|14=100|38=100|115=A|",
        // Says so: of the order, if not of this execution.
        "8 X Y 95 1 37=O1|11=1|17=C1|150=F|39=2|14=100|38=100|797=Y|",
        // Another execution of an order that is not known here.
        "8 B DC 99 4 37=O2|11=1|17=E9|150=0|39=0|115=A|",
    ];
    check(
        &[&log],
        &[
            "1 filled: new, acknowledged, filled",
            "1 open: acknowledged (orphan)",
        ],
    );
    // The log of the copies alone has orders of its own.
    check(
        &[&["8 B DC 70 2 37=O1|11=1|17=E7|150=0|39=0|797=Y|"]],
        &["1 open: acknowledged (orphan)"],
    );
}
