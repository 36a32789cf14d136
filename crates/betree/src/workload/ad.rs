//! Advertisements and requests for them: 21 attributes, about nine tests per expression.

use std::fmt::Write as _;

use super::prng::Prng;

pub(super) const DOMAINS: &str = "\
country|string|false
region|string|true
city|string|true
device|string|false
os|string|true
browser|string|true
language|string|true
carrier|string|true
site|string|false
exchange|integer enum|false
category|string list|true
segments|integer list|true
interests|string list|true
age|integer|true|13|99
gender|string|true
hour|integer|false|0|23
weekday|integer|false|0|6
bid_floor|float|true|0|10
width|integer|false|0|4096
height|integer|false|0|4096
secure|boolean|false
";

const COUNTRIES: u64 = 60;
const REGIONS: u64 = 300;
const CITIES: u64 = 800;
const DEVICES: u64 = 5;
const SYSTEMS: u64 = 8;
const BROWSERS: u64 = 8;
const LANGUAGES: u64 = 25;
const CARRIERS: u64 = 40;
const SITES: u64 = 3000;
const EXCHANGES: u64 = 20;
const CATEGORIES: u64 = 80;
const SEGMENTS: u64 = 2_000;
const INTERESTS: u64 = 200;
const SIZES: [(u32, u32); 8] = [
    (300, 250),
    (728, 90),
    (160, 600),
    (320, 50),
    (970, 250),
    (300, 600),
    (320, 480),
    (640, 480),
];

/// Between `least` and `most` constants, as the elements of a list.
fn list(prng: &mut Prng, out: &mut String, prefix: &str, bound: u64, least: u64, most: u64) {
    let count = least + prng.below(most - least + 1);
    out.push('(');
    for at in 0..count {
        let comma = if at == 0 { "" } else { ", " };
        let value = prng.skewed(bound);
        let _ = match prefix {
            "" => write!(out, "{comma}{value}"),
            prefix => write!(out, "{comma}\"{prefix}{value}\""),
        };
    }
    out.push(')');
}

pub(super) fn expression(prng: &mut Prng, out: &mut String) {
    out.push_str("country in ");
    list(prng, out, "c", COUNTRIES, 1, 6);
    let low = 13 + prng.below(40);
    let _ = write!(
        out,
        " and age >= {low} and age <= {}",
        low + 10 + prng.below(30)
    );
    match prng.below(3) {
        0 => {
            let _ = write!(out, " and device = \"d{}\"", prng.below(DEVICES));
        }
        1 => {
            out.push_str(" and device in ");
            list(prng, out, "d", DEVICES, 2, 2);
        }
        _ => {
            let _ = write!(out, " and os <> \"o{}\"", prng.below(SYSTEMS));
        }
    }
    match prng.below(4) {
        0 => {
            out.push_str(" and (segments one of ");
            list(prng, out, "", SEGMENTS, 4, 12);
            out.push_str(" or interests one of ");
            list(prng, out, "i", INTERESTS, 1, 3);
            out.push(')');
        }
        1 => {
            out.push_str(" and interests one of ");
            list(prng, out, "i", INTERESTS, 2, 6);
        }
        _ => {
            out.push_str(" and segments one of ");
            list(prng, out, "", SEGMENTS, 8, 24);
        }
    }
    optional(prng, out);
}

fn optional(prng: &mut Prng, out: &mut String) {
    if prng.chance(60) {
        let start = prng.below(16);
        let _ = write!(out, " and hour >= {start} and hour <= {}", start + 7);
    }
    if prng.chance(50) {
        out.push_str(" and category none of ");
        list(prng, out, "k", CATEGORIES, 1, 4);
    }
    if prng.chance(40) {
        let _ = write!(out, " and bid_floor <= {}.5", 1 + prng.below(9));
    }
    if prng.chance(40) {
        let (width, height) = SIZES[prng.below(SIZES.len() as u64) as usize];
        let _ = write!(out, " and (width = {width} and height = {height}");
        let _ = write!(out, " or site in ");
        list(prng, out, "s", SITES, 3, 8);
        out.push(')');
    }
    if prng.chance(30) {
        let _ = write!(out, " and not (language = \"l{}\"", prng.skewed(LANGUAGES));
        let _ = write!(out, " or exchange = {})", prng.skewed(EXCHANGES));
    }
    if prng.chance(25) {
        let _ = write!(out, " and gender = \"g{}\"", prng.below(2));
    }
    if prng.chance(20) {
        let _ = write!(
            out,
            " and (carrier is null or carrier <> \"r{}\")",
            prng.skewed(CARRIERS)
        );
    }
    if prng.chance(20) {
        out.push_str(" and (secure or browser in ");
        list(prng, out, "b", BROWSERS, 1, 3);
        out.push(')');
    }
    if prng.chance(10) {
        let _ = write!(out, " and weekday <> {}", prng.below(7));
    }
}

/// One named text of an event, left out in `absent` percent of events.
fn text(prng: &mut Prng, out: &mut String, name: &str, prefix: &str, bound: u64, absent: u64) {
    let value = prng.skewed(bound);
    if !prng.chance(absent) {
        let _ = write!(out, "\"{name}\":\"{prefix}{value}\",");
    }
}

fn texts(prng: &mut Prng, out: &mut String, name: &str, prefix: &str, bound: u64, count: u64) {
    let _ = write!(out, "\"{name}\":[");
    for at in 0..prng.below(count + 1) {
        let comma = if at == 0 { "" } else { "," };
        let value = prng.skewed(bound);
        let _ = match prefix {
            "" => write!(out, "{comma}{value}"),
            prefix => write!(out, "{comma}\"{prefix}{value}\""),
        };
    }
    out.push_str("],");
}

pub(super) fn event(prng: &mut Prng, out: &mut String) {
    out.push('{');
    text(prng, out, "country", "c", COUNTRIES, 0);
    text(prng, out, "region", "n", REGIONS, 20);
    text(prng, out, "city", "t", CITIES, 30);
    let _ = write!(out, "\"device\":\"d{}\",", prng.below(DEVICES));
    let _ = write!(out, "\"os\":\"o{}\",", prng.below(SYSTEMS));
    text(prng, out, "browser", "b", BROWSERS, 10);
    text(prng, out, "language", "l", LANGUAGES, 5);
    text(prng, out, "carrier", "r", CARRIERS, 50);
    text(prng, out, "site", "s", SITES, 0);
    let _ = write!(out, "\"exchange\":{},", prng.skewed(EXCHANGES));
    texts(prng, out, "category", "k", CATEGORIES, 4);
    texts(prng, out, "segments", "", SEGMENTS, 60);
    texts(prng, out, "interests", "i", INTERESTS, 8);
    if prng.chance(80) {
        let _ = write!(out, "\"age\":{},", 13 + prng.below(60));
    }
    if prng.chance(80) {
        let _ = write!(out, "\"gender\":\"g{}\",", prng.below(2));
    }
    let (width, height) = SIZES[prng.below(SIZES.len() as u64) as usize];
    let floor = prng.below(1000);
    let _ = write!(
        out,
        "\"hour\":{},\"weekday\":{},",
        prng.below(24),
        prng.below(7)
    );
    let _ = write!(out, "\"bid_floor\":{}.{:02},", floor / 100, floor % 100);
    let _ = write!(out, "\"width\":{width},\"height\":{height},");
    let _ = write!(out, "\"secure\":{}}}", prng.chance(90));
}
