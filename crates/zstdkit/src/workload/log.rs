//! A web server's access log in the combined format.

use super::prng::{Prng, Zipf};
use super::text::{Clock, Words, decimal, padded, put};

const STATUS: [&str; 8] = ["200", "304", "200", "404", "301", "206", "500", "403"];
const AGENTS: [&str; 8] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.2 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.2 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
    "curl/8.11.0",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "kube-probe/1.31",
];
const EXTENSIONS: [&str; 8] = ["", "", "", ".html", ".js", ".css", ".png", ".svg"];
const CLIENTS: usize = 1500;

pub(super) struct Log {
    clock: Clock,
    clients: Vec<([u8; 4], usize)>,
    client: Zipf,
    pages: Vec<String>,
    page: Zipf,
    status: Zipf,
    queries: Words,
}

impl Log {
    pub(super) fn new(prng: &mut Prng) -> Self {
        let agents = Zipf::new(AGENTS.len());
        let clients = (0..CLIENTS)
            .map(|_| ((prng.next() as u32).to_be_bytes(), agents.pick(prng)))
            .collect();
        let segments = Words::invent(prng, 200);
        let pages = (0..800)
            .map(|_| {
                let mut page = String::new();
                for _ in 0..prng.range(1, 4) {
                    page.push('/');
                    page.push_str(segments.pick(prng));
                }
                page.push_str(prng.pick(&EXTENSIONS));
                page
            })
            .collect();
        Self {
            clock: Clock::new(),
            clients,
            client: Zipf::new(CLIENTS),
            pages,
            page: Zipf::new(800),
            status: Zipf::new(STATUS.len()),
            queries: Words::prose(prng, 1500),
        }
    }

    pub(super) fn append(&mut self, prng: &mut Prng, out: &mut Vec<u8>) {
        self.clock.advance(prng.skewed(9));
        let (address, agent) = self.clients[self.client.pick(prng)];
        for (at, byte) in address.into_iter().enumerate() {
            if at > 0 {
                out.push(b'.');
            }
            decimal(out, byte.into());
        }
        put(out, " - - [");
        padded(out, self.clock.day(), 2);
        put(out, "/Jan/2026:");
        self.clock.time_of_day(out);
        put(out, " +0000] \"");
        put(out, if prng.chance(93) { "GET " } else { "POST " });
        let page = self.page.pick(prng);
        put(out, &self.pages[page]);
        if prng.chance(12) {
            put(out, "?q=");
            put(out, self.queries.pick(prng));
            put(out, "&page=");
            decimal(out, 1 + prng.skewed(4));
        }
        put(out, " HTTP/1.1\" ");
        let status = STATUS[self.status.pick(prng)];
        put(out, status);
        out.push(b' ');
        match status {
            "304" | "301" => out.push(b'0'),
            // A page has its size; what is generated for a query varies.
            _ if prng.chance(70) => decimal(out, (page as u64 + 7) * 2_654_435_761 % 60_000),
            _ => decimal(out, prng.skewed(16)),
        }
        put(out, " \"");
        if prng.chance(55) {
            put(out, "https://www.example.com");
            put(out, &self.pages[self.page.pick(prng)]);
        } else {
            out.push(b'-');
        }
        put(out, "\" \"");
        put(out, AGENTS[agent]);
        put(out, "\"\n");
    }
}
