//! What single messages say of the state of an order, and what is kept of them.

use super::{check, seen};

#[test]
fn the_transaction_types_of_fix_4_2_are_no_fills() {
    check(
        &[&[
            "D C G 100 1 11=a|38=100|",
            "8 G C 200 1 37=1|11=a|17=1|20=0|150=0|39=0|38=100|14=0|151=100|",
            "8 G C 300 2 37=1|11=a|17=2|20=0|150=1|39=1|38=100|14=40|151=60|",
            "8 G C 400 3 37=1|11=a|17=3|20=0|150=2|39=2|38=100|14=100|151=0|",
            "8 G C 500 4 37=1|11=a|17=4|20=1|19=3|150=1|39=1|38=100|14=40|151=60|",
            "8 G C 600 5 37=1|11=a|17=5|20=2|19=2|150=1|39=1|38=100|14=30|151=70|",
            "8 G C 700 6 37=1|11=a|17=0|20=3|150=1|39=1|38=100|14=30|151=70|",
            // FIX 4.0 and 4.1 have no ExecType.
            "D C G 800 2 11=b|38=1|",
            "8 G C 900 7 37=2|11=b|17=7|20=0|39=2|38=1|14=1|",
        ]],
        &[
            "a partially-filled: new, acknowledged, partial fill, filled, trade cancelled, \
             trade corrected, status",
            "b filled: new, filled",
        ],
    );
}

#[test]
fn states_follow_the_quantities() {
    check(
        &[&[
            "D C G 100 1 11=busted|38=100|",
            "8 G C 200 1 37=1|11=busted|17=1|150=F|39=2|38=100|14=100|151=0|",
            "8 G C 300 2 37=1|11=busted|17=2|150=H|39=0|38=100|14=0|151=100|19=1|",
            "D C G 400 2 11=calculated|38=100|",
            "8 G C 500 3 37=2|11=calculated|17=3|150=F|39=2|38=100|14=100|151=0|",
            "8 G C 600 4 37=2|11=calculated|17=4|150=B|39=B|38=100|14=100|151=0|",
            "D C G 700 3 11=done|38=100|",
            "8 G C 800 5 37=3|11=done|17=5|150=3|39=3|38=100|14=100|151=0|",
            "D C G 900 4 11=half|38=100|",
            "8 G C 950 6 37=4|11=half|17=6|150=3|39=3|38=100|14=50|151=0|",
            // It is not known, and the other side does not know it either.
            "F C G 960 5 11=c|41=NOSUCH|",
            "9 G C 970 7 37=NONE|11=c|41=NOSUCH|39=8|434=1|102=1|",
        ]],
        &[
            "busted open: new, filled, trade cancelled",
            "calculated filled: new, filled, calculated",
            "done filled: new, done for day",
            "half expired: new, done for day",
            "c rejected: cancel request, cancel reject (orphan)",
        ],
    );
}

#[test]
fn after_a_replace_quantity_and_price_are_the_new_ones() {
    let log: &[&str] = &[
        "D C G 100 1 11=h|38=100|44=10|",
        "8 G C 200 1 37=1|11=h|17=1|150=0|39=0|38=100|14=0|151=100|",
        "G C G 300 2 11=i|41=h|38=200|44=12|",
        "8 G C 350 2 37=1|11=i|41=h|17=2|150=E|39=E|38=200|44=12|",
    ];
    let current = |more: &[&str]| {
        let log = [log, more].concat();
        let lives = seen(&[&log], 1).lives;
        let value = |tag| {
            lives[0]
                .current(tag)
                .map(|value| value.escape_ascii().to_string())
        };
        (value(38).unwrap_or_default(), value(44).unwrap_or_default())
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(current(&[]), pair("100", "10"), "not yet");
    assert_eq!(
        current(&["9 G C 400 3 37=1|11=i|41=h|39=0|102=0|"]),
        pair("100", "10")
    );
    let accepted = "8 G C 400 3 37=1|11=i|41=h|17=3|150=5|39=0|";
    assert_eq!(current(&[accepted]), pair("200", "12"), "by the request");
    let own = "8 G C 400 3 37=1|11=i|41=h|17=3|150=5|39=0|38=150|44=11|";
    assert_eq!(current(&[own]), pair("150", "11"), "by the answer");
}

#[test]
fn an_exec_id_that_comes_again_is_marked() {
    let log: &[&str] = &[
        "D C G 100 1 11=u|",
        "8 G C 200 1 37=5|11=u|17=10|150=0|39=0|",
        "8 G C 300 2 37=5|11=u|17=11|150=F|39=1|14=30|",
        "8 G C 400 3 37=5|11=u|17=11|150=F|39=1|14=30|",
        "8 G C 500 4 97=Y|37=5|11=u|17=11|150=F|39=1|14=30|",
        "8 G C 600 5 37=5|11=u|17=0|150=I|39=1|14=30|",
        "8 G C 700 6 37=5|11=u|17=0|150=I|39=1|14=30|",
        "Q C G 800 2 37=5|17=11|127=A|",
    ];
    let life = &seen(&[log], 3).lives[0];
    let marks: Vec<_> = (0..log.len()).map(|at| life.repeats_exec_id(at)).collect();
    assert_eq!(
        marks,
        [false, false, false, true, true, false, false, false]
    );
}

#[test]
fn values_that_are_too_long_are_cut_and_ids_stay_different() {
    let long = |end: &str| format!("{}{end}", "x".repeat(3000));
    let (one, other) = (long("1"), long("2"));
    let texts = [
        format!("D C G 1 1 11={one}|"),
        format!("D C G 2 2 11={other}|"),
        format!(
            "8 G C 3 1 37=NONE|11={other}|17=e|150=8|39=8|103=99|58={}|",
            "\u{e9}".repeat(1500)
        ),
    ];
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let lives = seen(&[&texts], 1).final_lives();
    assert_eq!(lives.len(), 2);
    assert_eq!(lives[0].state.name(), "unanswered");
    assert_eq!(lives[1].state.name(), "rejected");
    assert_ne!(lives[0].id(), lives[1].id());
    let text = std::str::from_utf8(lives[1].last(58).expect("a text")).expect("whole characters");
    assert_eq!(text.chars().count(), 513);
    assert!(text.ends_with("\u{e9}\u{2026}"));
}
