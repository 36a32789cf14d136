//! Files of Erlang terms: read, written again, refused.

use super::*;

#[test]
fn a_file_is_read_over_lines_and_written_again() {
    let text = "% the domain\n[{par1,bool,disallow_undefined},\n  {age, int, allow_undefined, 0, 120},\n\
                {s,string,allow_undefined}].\n<<\"par1 and s = \\\"x\\\"\">>.\n\n<<\"not par1\">>.";
    let terms = ErlangTerms::parse(text).unwrap();
    assert_eq!(terms.expressions, ["par1 and s = \"x\"", "not par1"]);
    let mut again = ErlangTerms::write_domain(&terms.domain).unwrap();
    for expression in &terms.expressions {
        again.push('\n');
        again.push_str(&ErlangTerms::write_expression(expression));
    }
    assert!(ErlangTerms::begins(text) && ErlangTerms::begins(&again));
    assert_eq!(ErlangTerms::parse(&again), Ok(terms));
    assert!(!ErlangTerms::begins("[1,2]") && !ErlangTerms::begins("a and b"));
    assert!(ErlangTerms::parse("[].").unwrap().expressions.is_empty());
}

#[test]
fn events_are_lists_or_bits() {
    let domain = Domain::parse("a|boolean|false\nb|boolean|true\n").unwrap();
    for line in ["[1,0].", " [true, false] .", "10", "10  "] {
        assert_eq!(
            ErlangTerms::event(&domain, line).unwrap(),
            r#"{"a":true,"b":false}"#
        );
    }
    assert_eq!(
        ErlangTerms::event(&domain, "[0,undefined].").unwrap(),
        r#"{"a":false}"#
    );
    assert_eq!(ErlangTerms::write_event(&[true, false]), "[1,0].");
    for (line, message) in [
        ("[1].", "expected ',', found ']' at byte 2"),
        (
            "[1,2].",
            "'2' is not a value of attribute 'b' (boolean) at byte 3",
        ),
        ("[1,0,1].", "expected ']', found ',' at byte 4"),
        (" []", "expected an object, found a list at byte 1"),
        (
            "1",
            "the value of attribute 'b' (boolean) is missing at byte 1",
        ),
        ("101", "more values than attributes at byte 2"),
        ("[1,0]. x", "more values than attributes at byte 7"),
        ("x", "expected a list of values at byte 0"),
    ] {
        assert_eq!(
            ErlangTerms::event(&domain, line).unwrap_err().to_string(),
            message
        );
    }
}

#[test]
fn wrong_files_are_refused_with_line_and_column() {
    for (text, message) in [
        ("x", "expected '[', found 'x' at column 1"),
        (
            "[{a,bool}].",
            "expected {name,type,allow_undefined} at column 2",
        ),
        (
            "[{a,bool,maybe}].",
            "expected allow_undefined or disallow_undefined, found 'maybe' at column 2",
        ),
        (
            "[\n{a,odd,allow_undefined}].",
            "unknown type 'odd' at line 2, column 1",
        ),
        (
            "[{a,bool,allow_undefined}",
            "expected ',', found the end at column 26",
        ),
        (
            "[{a,bool,allow_undefined},\n{a,bool,allow_undefined}].",
            "attribute 'a' is declared twice at line 2, column 1",
        ),
        (
            "[].\na",
            "expected <<\"an expression\">>., found 'a' at line 2, column 1",
        ),
        (
            "[].\n<<\"a",
            "a text without its closing quote at line 2, column 3",
        ),
        (
            "[].\n<<\"a\\",
            "a text without its closing quote at line 2, column 3",
        ),
        (
            "[].\n<<\"a\\é\">>.",
            "invalid escape in a text at line 2, column 5",
        ),
        (
            "[].\n<<\"a\">.",
            "expected '>', found '.' at line 2, column 7",
        ),
    ] {
        assert_eq!(
            ErlangTerms::parse(text).unwrap_err().to_string(),
            message,
            "{text}"
        );
    }
}
