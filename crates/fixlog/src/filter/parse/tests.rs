//! What expressions and filters mean, what is no expression, and what bounds them.

use fixcore::{Decoder, frame};

use crate::{Expression, ExpressionError, Filter, Moment};

fn message(body: &str) -> Vec<u8> {
    let mut all = Vec::new();
    frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut all);
    all
}

fn fulfils(filter: &Filter, body: &str) -> bool {
    let (bytes, mut decoder) = (message(body), Decoder::new());
    filter.matches(&decoder.parse(&bytes).expect("valid"))
}

fn holds(text: &str, body: &str) -> bool {
    let wanted = Expression::parse(text, None).expect(text);
    fulfils(&Filter::new().expression(wanted), body)
}

const REPORT: &str = "35=8|49=MARKET|56=DESK|34=7|52=20260305-14:02:00.500|11=007|55=MSFT|39=8|38=1000|\
                      44=41.50|58=no 'such' price|453=2|448=ONE|448=TWO|";

#[test]
fn expressions_hold_as_they_read() {
    for (text, is) in [
        ("Symbol=MSFT", true),
        ("symbol = MSFT and OrdStatus=8", true),
        ("55=MSFT and 39=2", false),
        ("55=MSFT and 39=2 or 38=1000", true),
        ("55=MSFT and (39=2 or 38=1000)", true),
        ("55=IBM and 39=2 or 55=IBM", false),
        ("not 55=IBM && not (39=2 || 38=1)", true),
        ("not not 55=MSFT", true),
        // Names of values.
        ("OrdStatus=rejected", true),
        ("OrdStatus in (NEW, FILLED)", false),
        ("MsgType=D or MsgType=EXECUTION_REPORT", true),
        // Numbers are numbers, unless they are quoted.
        ("OrderQty=1000.0", true),
        ("OrderQty='1000.0'", false),
        ("OrderQty > 999 and OrderQty<=1000", true),
        ("Price > 9", true),
        ("Price > '9'", false),
        ("Price >= 41.500001", false),
        ("Price < -41.5", false),
        // An id is text.
        ("ClOrdID=7", false),
        ("ClOrdID=007", true),
        ("ClOrdID='7'", false),
        ("Symbol > 3", true),
        ("Symbol < 3", false),
        ("5000 > 3", false),
        (r"Text='no \x27such\x27 price'", true),
        ("OrderQty < 100000000000000000000000", true),
        ("SendingTime > 20260305 and SendingTime < 20260306", true),
        ("SendingTime > 14:02 and SendingTime < 14:03", true),
        ("SendingTime = 20260305-14:02:00.500000", true),
        (
            "SendingTime >= 20260305-14:02 and 52 < 20260305-14:03",
            true,
        ),
        // What a message lacks.
        ("OrigClOrdID is null", true),
        ("41 is not null", false),
        ("41 <> X", false),
        ("41 not in (X)", false),
        ("not 41 = X", true),
        ("41 != X or 11 <> 8", true),
        ("11 <> 007", false),
        ("11 <> 7", true),
        ("58 not in ('a', b)", true),
        // What it has several times.
        ("448=TWO", true),
        ("448 <> TWO", false),
        ("448 <> THREE", true),
        ("PartyID in (TWO)", true),
        ("PartyID not in (TWO, THREE)", false),
        // Parts of texts.
        (r#"contains(Text, "'such'")"#, true),
        (r"contains(Text, 'no \'such\'')", true),
        ("starts_with(Symbol, MS) and ends_with(55, FT)", true),
        ("ends_with(448, ONE) and not contains(448, X)", true),
        ("contains(41, '')", false),
        ("5000=1", false),
    ] {
        assert_eq!(holds(text, REPORT), is, "{text}");
    }
}

#[test]
fn what_is_no_expression_is_named_with_its_place() {
    for (text, error) in [
        ("", "expected a field, found the end at column 1"),
        (
            "Symbol",
            "expected a comparison, 'in' or 'is', found the end at column 7",
        ),
        ("Symbol =", "expected a value, found the end at column 9"),
        ("Symbol = )", "expected a value, found ')' at column 10"),
        (
            "55=A 38=1",
            "expected 'and', 'or' or the end, found '38' at column 6",
        ),
        ("(55=A", "expected ')', found the end at column 6"),
        ("55 in A", "expected '(', found 'A' at column 7"),
        ("55 in (A B)", "expected ',' or ')', found 'B' at column 10"),
        ("55 is A", "expected 'null', found 'A' at column 7"),
        (
            "Symbl=A",
            "no dictionary has the field 'Symbl' at column 1; state its tag",
        ),
        ("0=A", "'0' at column 1 is no tag: tags are 1 to 2147483647"),
        (
            "99999999999=A",
            "'99999999999' at column 1 is no tag: tags are 1 to 2147483647",
        ),
        (
            "55='A",
            "the text that begins at column 4 has no closing quote",
        ),
        (
            "55='A\\",
            "the text that begins at column 4 has no closing quote",
        ),
        (
            "OrdStatus=NOSUCH",
            "'NOSUCH' at column 11 is no value of OrdStatus; in quotes it is compared byte by byte",
        ),
        (
            "38 > 1e3",
            "'1e3' at column 6 is no number such as 41.5; in quotes it is compared byte by byte",
        ),
        (
            "5001 in (7, 0x10)",
            "'0x10' at column 13 is no number such as 41.5; in quotes it is compared byte by byte",
        ),
        (
            "Price=abc",
            "'abc' at column 7 is no number such as 41.5; in quotes it is compared byte by byte",
        ),
        (
            "52 > noon",
            "'noon' at column 6 is no time such as 20260305, 20260305-14:02 or 14:02; in quotes it is \
             compared byte by byte",
        ),
        ("= A", "expected a field, found a comparison at column 1"),
        (
            "like(55, A)",
            "expected a field, 'contains', 'starts_with' or 'ends_with', found 'like' at column 1",
        ),
        ("contains(55)", "expected ',', found ')' at column 12"),
        (
            "55=A & 55=B",
            "expected 'and', 'or' or the end, found '&' at column 6",
        ),
        (
            "\u{1b}[31m=1",
            "no dictionary has the field '\\u{1b}[31m' at column 1; state its tag",
        ),
    ] {
        let found = Expression::parse(text, None).expect_err(text);
        assert_eq!(found.to_string(), error);
    }
}

#[test]
fn depth_is_bounded_and_length_is_not() {
    for (open, close) in [("(", ")"), ("not ", "")] {
        for (count, is) in [(64, true), (65, false), (100_000, false)] {
            let text = format!("{}55=A{}", open.repeat(count), close.repeat(count));
            let found = Expression::parse(&text, None);
            assert_eq!(found.is_ok(), is, "{count}");
            if !is {
                assert!(matches!(
                    found,
                    Err(ExpressionError::TooDeep { most: 64, .. })
                ));
            }
        }
    }
    let long = vec!["55=MSFT"; 20_000].join(" and ");
    assert!(holds(&long, REPORT));
}

#[test]
fn a_filter_wants_what_fulfils_all_conditions() {
    let at = |text| Moment::parse(text).expect(text);
    let all = Filter::new();
    assert!(all.is_empty() && fulfils(&all, REPORT));
    for (filter, is) in [
        (Filter::new().types(["D", "8"]), true),
        (Filter::new().types(["D"]).types(["8"]), true),
        (Filter::new().types(["D", "AE"]), false),
        (Filter::new().session(Some("DESK"), Some("MARKET")), true),
        (Filter::new().session(Some("MARKET"), Some("DESK")), true),
        (Filter::new().session(Some("MARKET"), None), true),
        (Filter::new().session(None, Some("MARKET")), true),
        (Filter::new().session(Some("DESK"), Some("DESK")), false),
        (Filter::new().session(Some("DESK"), Some("OTHER")), false),
        (
            Filter::new()
                .session(Some("OTHER"), None)
                .session(Some("DESK"), None),
            true,
        ),
        (Filter::new().from(at("20260305-14:02:00.500")), true),
        (Filter::new().from(at("20260305-14:02:00.501")), false),
        (Filter::new().to(at("20260305-14:02:00.500")), false),
        (Filter::new().to(at("20260305-14:02:00.501")), true),
        (Filter::new().from(at("20260305")).to(at("20260306")), true),
        (Filter::new().from(at("14:02")).to(at("14:03")), true),
        (Filter::new().from(at("14:02:01")), false),
        (Filter::new().from(at("23:00")).to(at("01:00")), false),
        (Filter::new().from(at("23:00")).to(at("14:30")), true),
        (Filter::new().from(at("14:00")).to(at("01:00")), true),
        (Filter::new().from(at("14:00")).to(at("24:00")), true),
        (Filter::new().to(at("20260305-24:00")), true),
        (Filter::new().types(["8"]).to(at("14:00")), false),
    ] {
        assert!(!filter.is_empty());
        assert_eq!(fulfils(&filter, REPORT), is, "{filter:?}");
    }
    // What has no time is in no range of time.
    let ever = Filter::new().from(at("19700101"));
    assert!(fulfils(&ever, REPORT) && !fulfils(&ever, "35=0|"));
    assert!(!fulfils(
        &Filter::new().session(Some("DESK"), None),
        "35=0|"
    ));
}

#[test]
fn moments_are_what_fix_writes() {
    for text in [
        "20260305-14:02",
        "20260305-14:02:00",
        "20260305-14:02:00.000000",
    ] {
        assert_eq!(
            Moment::parse(text),
            Moment::parse("20260305-14:02:00.000"),
            "{text}"
        );
    }
    assert_eq!(
        Moment::parse("00:00:01"),
        Some(Moment::EachDay(1_000_000_000))
    );
    for text in [
        "",
        "14",
        "14:2",
        "24:01",
        "20260230",
        "20260305-",
        "20260305 14:02",
        "2026-03-05",
    ] {
        assert_eq!(Moment::parse(text), None, "{text}");
    }
}
