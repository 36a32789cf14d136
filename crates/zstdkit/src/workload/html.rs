//! Reference pages as documentation generators write them: the same navigation on each page, tables of
//! links, signatures and prose.

use super::prng::Prng;
use super::text::{Words, decimal, put, word};

pub(super) struct Html {
    names: Words,
    prose: Words,
    /// The navigation that every page of a module repeats.
    navigation: Vec<u8>,
    module: String,
    pages_left: u64,
}

impl Html {
    pub(super) fn new(prng: &mut Prng) -> Self {
        Self {
            names: Words::invent(prng, 3000),
            prose: Words::prose(prng, 6000),
            navigation: Vec::new(),
            module: String::new(),
            pages_left: 0,
        }
    }

    pub(super) fn append(&mut self, prng: &mut Prng, out: &mut Vec<u8>) {
        if self.pages_left == 0 {
            self.begin_module(prng);
        }
        self.pages_left -= 1;
        let name = word(prng);
        put(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1.0\"><title>",
        );
        put(out, &name);
        put(out, " in ");
        put(out, &self.module);
        put(
            out,
            "</title><link rel=\"stylesheet\" href=\"../static/normalize.css\"><link rel=\"stylesheet\" href=\"../static/main.css\"><script defer src=\"../static/main.js\"></script></head>\n<body class=\"page struct\">",
        );
        out.extend_from_slice(&self.navigation);
        put(
            out,
            "<main><section id=\"main-content\" class=\"content\"><h1>Struct <span class=\"struct\">",
        );
        put(out, &name);
        put(out, "</span></h1>\n<div class=\"docblock\"><p>");
        for _ in 0..prng.range(2, 7) {
            self.prose.sentence(prng, out);
            out.push(b' ');
        }
        put(out, "</p></div>\n");
        for _ in 0..prng.range(2, 10) {
            self.method(prng, &name, out);
        }
        self.table(prng, out);
        put(out, "</section></main></body></html>\n");
    }

    fn begin_module(&mut self, prng: &mut Prng) {
        self.pages_left = prng.range(6, 24);
        self.module = format!("{}::{}", self.names.pick(prng), self.names.pick(prng));
        let out = &mut self.navigation;
        out.clear();
        put(out, "<nav class=\"sidebar\"><h2 class=\"location\">");
        put(out, &self.module);
        put(out, "</h2><ul class=\"block\">\n");
        for _ in 0..prng.range(8, 30) {
            let name = self.names.pick(prng);
            put(out, "<li><a href=\"struct.");
            put(out, name);
            put(out, ".html\">");
            put(out, name);
            put(out, "</a></li>\n");
        }
        put(out, "</ul></nav>");
    }

    fn method(&self, prng: &mut Prng, owner: &str, out: &mut Vec<u8>) {
        let name = self.names.pick(prng);
        let argument = self.names.pick(prng);
        put(
            out,
            "<details class=\"toggle method-toggle\" open><summary><section id=\"method.",
        );
        put(out, name);
        put(
            out,
            "\" class=\"method\"><a class=\"src rightside\" href=\"../../src/",
        );
        put(out, owner);
        put(out, ".rs.html#");
        decimal(out, prng.range(10, 3000));
        put(
            out,
            "\">Source</a><h4 class=\"code-header\">pub fn <a href=\"#method.",
        );
        put(out, name);
        put(out, "\" class=\"fn\">");
        put(out, name);
        put(out, "</a>(&amp;self, ");
        put(out, argument);
        put(out, ": &amp;<a class=\"struct\" href=\"struct.");
        put(out, self.names.pick(prng));
        put(out, ".html\">");
        put(out, argument);
        put(
            out,
            "</a>) -&gt; <a class=\"enum\" href=\"../core/result/enum.Result.html\">Result</a>&lt;(), Error&gt;</h4></section></summary><div class=\"docblock\"><p>",
        );
        for _ in 0..prng.range(1, 4) {
            self.prose.sentence(prng, out);
            out.push(b' ');
        }
        put(out, "</p></div></details>\n");
    }

    fn table(&self, prng: &mut Prng, out: &mut Vec<u8>) {
        put(
            out,
            "<table class=\"fields\"><thead><tr><th>Name</th><th>Bytes</th><th>Description</th></tr></thead><tbody>\n",
        );
        for row in 0..prng.range(0, 25) {
            put(
                out,
                if row % 2 == 0 {
                    "<tr class=\"even\">"
                } else {
                    "<tr class=\"odd\">"
                },
            );
            put(out, "<td><code>");
            put(out, self.names.pick(prng));
            put(out, "</code></td><td class=\"number\">");
            decimal(out, prng.skewed(12));
            put(out, "</td><td>");
            let count = prng.range(2, 9);
            self.prose.phrase(prng, count, out);
            put(out, "</td></tr>\n");
        }
        put(out, "</tbody></table>");
    }
}
