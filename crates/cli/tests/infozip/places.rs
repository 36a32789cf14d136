//! Beside Info-ZIP: what is where a file or a directory goes, links that lead out, and damage to what is around the entries.

use super::made_by;

/// Runs a line in a copy of `from` by Info-ZIP and by us: the exit code and what is there then.
fn both(run: &impl Fn(&str) -> crate::common::Run, from: &str, line: &str) -> [String; 2] {
    // Links get the times of their entries here, and not by Info-ZIP.
    ["", "../../bin/"].map(|bin| {
        let copied = run(&format!("rm -rf t; mkdir t; cp -a {from} t/d"));
        assert_eq!(copied.code, Some(0), "{}", copied.stderr);
        let ended = run(&format!("cd t/d; {bin}{line} < /dev/null"));
        let left = run(
            "cd t; find . -type l -printf '%p %l\\n' -o -printf '%p %y %m %TY\\n' | sort; cat d/x d/s d/to 2> none; rm none",
        );
        format!(
            "{:?}\n{}",
            ended.code,
            String::from_utf8_lossy(&left.stdout)
        )
    })
}

pub(super) fn what_is_in_the_place_of_a_file_counts_as_with_unzip() {
    let (_dir, run) = made_by(
        "mkdir a; cd a; printf 'new\n' > x; mkdir s; printf 'in s\n' > s/y; mkdir dot; printf 'z\n' > dot/z; ln -s ../../far out; \
         ln -s /etc/hostname abs; mkdir Dir; printf 'U\n' > Dir/UP.TXT; find . -exec touch -h -d 2021-05-06T07:08:10 {} +; \
         zip -qry ../a.zip x s out abs; (cd dot; printf './\nz\n' | zip -q ../../dot.zip -@; zip -qr ../../dot.zip .); \
         zip -qr ../up.zip Dir; cd ..; \
         mkdir d; printf 'to\n' > d/to; touch -d 2022-01-01 d/to; cp a.zip dot.zip up.zip d; \
         cp -a d file; printf 'file\n' > file/s; chmod 640 file/s; \
         cp -a d link; ln -s to link/x; \
         cp -a d newer; ln -s to newer/x; touch -h -d 2030-01-01 newer/x; \
         cp -a d nowhere; ln -s gone nowhere/x; ln -s gone nowhere/s",
    );
    for (from, line) in [
        ("link", "unzip -uo a.zip x"),
        ("link", "unzip -fo a.zip x"),
        ("link", "unzip -un a.zip x"),
        ("link", "unzip -o a.zip x"),
        ("newer", "unzip -uo a.zip x"),
        ("newer", "unzip -fo a.zip x"),
        ("nowhere", "unzip -fo a.zip x"),
        ("nowhere", "unzip -o a.zip s/y"),
        ("file", "unzip -o a.zip x s/*"),
        ("file", "unzip -n a.zip s/y"),
        ("file", "unzip -uo a.zip s/*"),
        ("d", "unzip -o: a.zip"),
        ("d", "unzip -o: a.zip -d deep"),
        ("d", "unzip -o dot.zip"),
        ("d", "unzip -q dot.zip -d deep"),
        ("d", "unzip -LLo up.zip *.txt"),
        ("d", "unzip -LLo up.zip UP*"),
        ("d", "unzip -Z1 up.zip -d deep"),
    ] {
        let [theirs, ours] = both(&run, from, line);
        assert_eq!(ours, theirs, "{from}: {line}");
    }
}

pub(super) fn damage_costs_no_more_than_with_unzip() {
    let (dir, run) = made_by(
        "mkdir d; cd d; seq 1 300 > x; printf 's\n' > s; printf 'to\n' > to; touch -d 2021-05-06 x s to; zip -q a.zip x s to; \
         rm x s to",
    );
    let whole = std::fs::read(dir.path().join("d/a.zip")).expect("read");
    let end = whole.len() - 22;
    let records = whole.windows(4).enumerate();
    let records = records.filter(|(_, bytes)| *bytes == b"PK\x01\x02");
    let records: Vec<usize> = records.map(|(at, _)| at).collect();
    let locals = whole.windows(4).enumerate();
    let mut locals = locals.filter(|(_, bytes)| *bytes == b"PK\x03\x04");
    let name = locals.nth(2).expect("a third entry").0 + 30;
    let code = |shown: &str| shown.lines().next().map(str::to_owned);
    for (what, at) in [
        ("the number of the disk", end + 4),
        ("its high byte", end + 5),
        ("the number of entries", end + 10),
        ("its high byte", end + 11),
        ("the length of the comment", end + 20),
        ("the third record", records[2] + 1),
        ("the first record", records[0]),
        ("a local name", name),
        ("the end record", end),
    ] {
        for bit in 0..8 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << bit;
            std::fs::write(dir.path().join("d/a.zip"), damaged).expect("written");
            let [theirs, ours] = both(&run, "d", "unzip -o a.zip");
            assert_eq!(ours, theirs, "{what}, bit {bit}");
        }
    }
    // Where Info-ZIP says nothing, or takes nothing, all is had with a warning or an error.
    for (at, wanted) in [
        (end + 6, "Some(1)"),
        (end + 8, "Some(1)"),
        (end + 12, "Some(2)"),
        (end + 13, "Some(2)"),
        (end + 16, "Some(2)"),
        (end + 19, "Some(2)"),
    ] {
        for bit in 0..8 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << bit;
            std::fs::write(dir.path().join("d/a.zip"), damaged).expect("written");
            let [_, ours] = both(&run, "d", "unzip -o a.zip");
            assert_eq!(code(&ours).as_deref(), Some(wanted), "byte {at}, bit {bit}");
            assert!(
                ours.contains("299\n300\ns\nto\n"),
                "byte {at}, bit {bit}: {ours}"
            );
        }
    }
}
