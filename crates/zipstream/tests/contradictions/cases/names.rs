//! Names alone, and names next to each other.

use super::Cases;

const UTF8: u16 = 0x800;

pub(super) fn add(cases: &mut Cases) {
    for (what, name) in [
        ("`../evil`", &b"../evil"[..]),
        ("`d/../evil`", b"d/../evil"),
        ("`d/../../evil`", b"d/../../evil"),
        ("`..`", b".."),
        ("`/evil`", b"/evil"),
        ("`//evil`", b"//evil"),
        ("`C:/evil`", b"C:/evil"),
        ("`C:evil`", b"C:evil"),
        ("`d:e/f`", b"d:e/f"),
        ("`de:f`", b"de:f"),
        ("`d\\e`", b"d\\e"),
        ("`..\\evil`", b"..\\evil"),
        ("`\\evil`", b"\\evil"),
        ("`d/e\\`", b"d/e\\"),
        ("`./e`", b"./e"),
        ("`d//e`", b"d//e"),
        ("`d/./e`", b"d/./e"),
        ("`d/.`", b"d/."),
        ("`d//`", b"d//"),
        ("`.`", b"."),
        ("`...`", b"..."),
        ("`e.`", b"e."),
        ("`e `", b"e "),
        ("` e`", b" e"),
        ("`d /e`", b"d /e"),
        ("`CON`", b"CON"),
        ("`aux.txt`", b"aux.txt"),
        ("`e;1`", b"e;1"),
        ("`e;`", b"e;"),
        ("`e;x`", b"e;x"),
        ("`d;1/e`", b"d;1/e"),
        ("`e~1`", b"e~1"),
        ("`e*?`", b"e*?"),
        ("`e<>|\"`", b"e<>|\""),
        ("`~/e`", b"~/e"),
        ("`$HOME`", b"$HOME"),
        ("`-e`", b"-e"),
        ("`[e]`", b"[e]"),
        ("`#U00fc`", b"#U00fc"),
        ("`%41`", b"%41"),
        ("`^e`", b"^e"),
        ("`@e`", b"@e"),
        ("with a line feed", b"e\nf"),
        ("with a carriage return", b"e\rf"),
        ("with a tab", b"e\tf"),
        ("with an escape", b"e\x1b[2Jf"),
        ("with a delete", b"e\x7ff"),
        ("with a NUL", b"e\0f"),
        ("of code page 437", b"\x81.txt"),
        ("of UTF-8 without a flag", b"\xc3\xbc.txt"),
    ] {
        cases.names(&format!("name {what}"), &[b"a.txt", name], 0);
    }
    cases.names("an empty name", &[b"a.txt", b""], 0);
    let long = [b'n'; 256];
    cases.names("name of 256 bytes", &[b"a.txt", &long], 0);
    for (what, name) in [
        ("of UTF-8", &b"\xc3\xbc.txt"[..]),
        ("of no UTF-8", b"\x81.txt"),
        ("with an overlong slash", b"d\xc0\xafe"),
        ("with a surrogate", b"\xed\xa0\x80"),
        ("with a mark of UTF-8 first", b"\xef\xbb\xbfe"),
        ("with a wide slash", "d／e".as_bytes()),
        ("with a mark of direction", "e\u{202e}txt".as_bytes()),
        ("with a control of C1", "e\u{85}f".as_bytes()),
        ("with a letter and its mark", "u\u{308}.txt".as_bytes()),
        ("beyond 16 bits", "😀".as_bytes()),
    ] {
        cases.names(&format!("flagged name {what}"), &[b"a.txt", name], UTF8);
    }
    for (what, names) in [
        ("the same name twice", &[&b"e"[..], b"e"][..]),
        ("`e` and `E`", &[b"e", b"E"]),
        ("`d/e` and `D/f`", &[b"d/e", b"D/f"]),
        ("`e` and `e/f`", &[b"e", b"e/f"]),
        ("`e/f` and `e`", &[b"e/f", b"e"]),
        ("`e` and `E/f`", &[b"e", b"E/f"]),
        ("`e` and `e/`", &[b"e", b"e/"]),
        ("`e/` and `e`", &[b"e/", b"e"]),
        ("`e/` twice", &[b"e/", b"e/"]),
        ("`e` and `./e`", &[b"e", b"./e"]),
        ("`e` and `e.`", &[b"e", b"e."]),
    ] {
        cases.names(what, names, 0);
    }
    let names: &[&[u8]] = &[b"d/", b"d/e", b"d/f/", b"d/f/g"];
    cases.names("directories and files", names, 0);
    cases.all.last_mut().expect("added").plain = true;
    let folded: [&[&str]; 4] = [&["ü", "Ü"], &["ß", "ẞ"], &["ü", "u\u{308}"], &["ﬁ", "fi"]];
    for names in folded {
        let bytes: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let what = names.join("` and `");
        cases.names(
            &format!("flagged names `{}`", what.escape_unicode()),
            &bytes,
            UTF8,
        );
    }
}
