//! The pages of `--export-html` in a browser: Chromium without a window, where there is one.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use crate::common::{directory, file, run, samples, words};
use crate::peer::{self, works};

/// What the browser is called.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let python = works(Command::new("python3").arg("--version"));
    peer::trials![
        browser().is_some() => [a_browser_shows_the_page_and_its_script_reads_values],
        python => [python_parses_the_page],
    ]
}

fn browser() -> Option<&'static str> {
    NAMES
        .into_iter()
        .find(|name| works(Command::new(name).arg("--version")))
}

/// A page of two runs over each other, of a file with a hostile name.
fn page(dir: &Path) {
    let name = "<script>alert(1)<b>.bin";
    file(dir, name, &samples(2_000_000).swap_remove(0).1.repeat(12));
    for (level, to) in [("-1", "a.json"), ("-5", "b.json")] {
        run(
            dir,
            [
                "compress",
                "-qqf",
                level,
                "--slo",
                "p99<=1s",
                "--slo-undecided=pass",
                "--export-json",
                to,
                name,
                "-o",
                "out",
            ],
        )
        .expect(0);
    }
    run(dir, words("report a.json b.json -o page.html")).expect(0);
}

/// The page after its scripts have run, with one more of ours that plays the user.
fn dumped(dir: &Path, page: &str) -> String {
    let browser = browser().expect("checked");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=2000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", dir.join(page).display()))
        .output()
        .expect("it runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

fn a_browser_shows_the_page_and_its_script_reads_values() {
    let dir = directory();
    page(dir.path());
    let page = std::fs::read_to_string(dir.path().join("page.html")).expect("read");
    let shown = dumped(dir.path(), "page.html");
    // The browser made of it what was written: as many pictures, no element of the hostile name.
    let count = |page: &str, what: &str| page.matches(what).count();
    for what in ["<figure>", "<svg class=\"chart\"", "<table"] {
        assert_eq!(count(&shown, what), count(&page, what), "{what}");
    }
    assert!(count(&page, "<figure>") >= 2 && !shown.contains("<script>alert"));
    assert!(
        shown.contains("class=\"values\" hidden"),
        "nothing is read out unasked"
    );
    // A key moves the read-out; the policy of the page is lifted for this script alone.
    let user = "<script>const c = document.querySelector('svg.chart[tabindex]'); c.focus(); \
        c.dispatchEvent(new KeyboardEvent('keydown', {key: 'End'}));</script></body>";
    let from = page.find("<meta http-equiv").expect("a policy");
    let to = from + page[from..].find('>').expect("it ends") + 1;
    let played = format!(
        "{}{}",
        &page[..from],
        page[to..].replacen("</body>", user, 1)
    );
    file(dir.path(), "played.html", played.as_bytes());
    let shown = dumped(dir.path(), "played.html");
    let (_, read) = shown.split_once("<b>maximum</b>").expect("it is read out");
    let read = read.split("</output>").next().unwrap_or_default();
    assert!(read.contains("a.json") && read.contains("b.json"), "{read}");
}

/// A page for Python's parser: every element is closed in its turn.
const PARSER: &str = "
import sys
from html.parser import HTMLParser


class Strict(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], {}
    def handle_starttag(self, tag, attributes):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        for name, value in attributes:
            assert not name.startswith('on'), (tag, name)
            assert name not in ('src', 'href'), (tag, name)
        if tag not in ('meta',):
            self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        self.seen[tag] = self.seen.get(tag, 0) + 1
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

strict = Strict()
strict.feed(open(sys.argv[1], encoding='utf-8').read())
strict.close()
assert not strict.open, strict.open
assert 'b' not in strict.seen and 'img' not in strict.seen, strict.seen
print(strict.seen['figure'], strict.seen['script'])
";

fn python_parses_the_page() {
    let dir = directory();
    page(dir.path());
    let output = Command::new("python3")
        .args(["-c", PARSER, "page.html"])
        .current_dir(dir.path())
        .output()
        .expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let size = std::fs::metadata(dir.path().join("page.html"))
        .expect("a file")
        .len();
    assert!(size < 200_000, "{size}");
}
