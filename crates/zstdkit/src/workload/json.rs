//! Event records, one per line, as an event collector writes them.

use super::prng::{Prng, Zipf};
use super::text::{Clock, Words, decimal, hex, padded, put};

const TYPES: [&str; 10] = [
    "page_view",
    "click",
    "impression",
    "scroll",
    "search",
    "add_to_cart",
    "login",
    "purchase",
    "error",
    "signup",
];
const PLATFORMS: [&str; 5] = ["web", "ios", "android", "tv", "desktop"];
const COUNTRIES: [&str; 16] = [
    "US", "DE", "IN", "BR", "GB", "FR", "JP", "PL", "NL", "ES", "IT", "CA", "MX", "SE", "KR", "CZ",
];
const AGENTS: [&str; 6] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_2 like Mac OS X) AppleWebKit/605.1.15 Mobile/",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/",
    "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Mobile Chrome/",
    "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/",
    "collector-sdk/2.",
];
const SESSIONS: usize = 400;

/// A visitor with fields that repeat from event to event.
struct Session {
    id: u64,
    user: u64,
    agent: usize,
    country: usize,
    platform: usize,
    sequence: u64,
}

pub(super) struct Json {
    clock: Clock,
    paths: Words,
    words: Words,
    sessions: Vec<Session>,
    types: Zipf,
    countries: Zipf,
    agents: Zipf,
}

impl Json {
    pub(super) fn new(prng: &mut Prng) -> Self {
        let mut json = Self {
            clock: Clock::new(),
            paths: Words::invent(prng, 300),
            words: Words::prose(prng, 2000),
            sessions: Vec::with_capacity(SESSIONS),
            types: Zipf::new(TYPES.len()),
            countries: Zipf::new(COUNTRIES.len()),
            agents: Zipf::new(AGENTS.len()),
        };
        for _ in 0..SESSIONS {
            let session = json.session(prng);
            json.sessions.push(session);
        }
        json
    }

    fn session(&self, prng: &mut Prng) -> Session {
        Session {
            id: prng.next(),
            user: prng.skewed(24),
            agent: self.agents.pick(prng),
            country: self.countries.pick(prng),
            platform: prng.below(PLATFORMS.len() as u64) as usize,
            sequence: 0,
        }
    }

    pub(super) fn append(&mut self, prng: &mut Prng, out: &mut Vec<u8>) {
        self.clock.advance(prng.skewed(9));
        let at = prng.below(SESSIONS as u64) as usize;
        if prng.chance(4) {
            self.sessions[at] = self.session(prng);
        }
        let session = &mut self.sessions[at];
        session.sequence += 1;
        let session = &self.sessions[at];
        put(out, "{\"ts\":\"2026-01-");
        padded(out, self.clock.day(), 2);
        out.push(b'T');
        self.clock.time_of_day(out);
        out.push(b'.');
        padded(out, self.clock.millis(), 3);
        put(out, "Z\",\"id\":\"");
        hex(out, prng.next(), 12);
        put(out, "\",\"type\":\"");
        let kind = self.types.pick(prng);
        put(out, TYPES[kind]);
        put(out, "\",\"seq\":");
        decimal(out, session.sequence);
        put(out, ",\"session\":\"");
        hex(out, session.id, 16);
        put(out, "\",\"user\":{\"id\":");
        decimal(out, session.user);
        put(out, ",\"country\":\"");
        put(out, COUNTRIES[session.country]);
        put(out, "\",\"platform\":\"");
        put(out, PLATFORMS[session.platform]);
        put(out, "\"},\"agent\":\"");
        put(out, AGENTS[session.agent]);
        decimal(out, 120 + session.id % 14);
        put(out, ".0\",\"page\":\"/");
        put(out, self.paths.pick(prng));
        out.push(b'/');
        put(out, self.paths.pick(prng));
        put(out, "\",\"props\":{");
        self.properties(prng, kind, out);
        put(out, "},\"ok\":");
        put(
            out,
            if prng.chance(97) {
                "true}\n"
            } else {
                "false}\n"
            },
        );
    }

    fn properties(&self, prng: &mut Prng, kind: usize, out: &mut Vec<u8>) {
        put(out, "\"duration_ms\":");
        decimal(out, prng.skewed(12));
        match TYPES[kind] {
            "search" => {
                put(out, ",\"query\":\"");
                let count = prng.range(1, 5);
                self.words.phrase(prng, count, out);
                put(out, "\",\"results\":");
                decimal(out, prng.skewed(9));
            }
            "purchase" | "add_to_cart" => {
                put(out, ",\"currency\":\"EUR\",\"items\":[");
                for item in 0..prng.range(1, 4) {
                    put(
                        out,
                        if item > 0 {
                            ",{\"sku\":\""
                        } else {
                            "{\"sku\":\""
                        },
                    );
                    put(out, self.paths.pick(prng));
                    put(out, "\",\"price\":");
                    decimal(out, prng.range(1, 120));
                    put(out, ".99,\"count\":");
                    decimal(out, 1 + prng.skewed(2));
                    out.push(b'}');
                }
                out.push(b']');
            }
            "error" => {
                put(out, ",\"message\":\"");
                self.words.phrase(prng, 6, out);
                put(out, "\",\"line\":");
                decimal(out, prng.below(900));
            }
            _ => {
                put(out, ",\"x\":");
                decimal(out, prng.below(1920));
                put(out, ",\"y\":");
                decimal(out, prng.skewed(12));
            }
        }
    }
}
