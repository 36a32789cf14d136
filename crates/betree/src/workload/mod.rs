//! Generators of benchmark data: domains, expressions and events. A seed gives the same bytes on every platform.
//!
//! [`Kind::Bool`] is boolean-heavy: every expression tests every attribute, and about half of all expressions
//! match. [`Kind::Ad`] is selective: about nine tests of 21 attributes, all of which one event in a thousand
//! meets. [`shapes`] are workloads that span the space in between and beyond.

mod ad;
mod boolean;
mod prng;
pub mod shapes;

use prng::Prng;

/// The kind of generated data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Expressions over this many booleans, from 1 to 4,096.
    Bool(u16),
    /// Advertisements: places, devices, ages, segments.
    Ad,
}

/// The most attributes of [`Kind::Bool`].
const BOOLS_MAX: u16 = 4096;

/// One stream of generated lines.
#[derive(Debug, Clone)]
pub struct Generator {
    kind: Kind,
    expressions: Prng,
    events: Prng,
    line: String,
}

impl Generator {
    /// A generator whose expressions and events depend on nothing but the kind and the seed.
    #[must_use]
    pub fn new(kind: Kind, seed: u64) -> Self {
        let kind = match kind {
            Kind::Bool(count) => Kind::Bool(count.clamp(1, BOOLS_MAX)),
            Kind::Ad => Kind::Ad,
        };
        Self {
            kind,
            expressions: Prng::new(seed ^ 0x6578_7072),
            events: Prng::new(seed ^ 0x6576_6e74),
            line: String::new(),
        }
    }

    /// The domains file.
    #[must_use]
    pub fn domains(&self) -> String {
        match self.kind {
            Kind::Bool(count) => boolean::domains(count),
            Kind::Ad => ad::DOMAINS.to_owned(),
        }
    }

    /// The next expression, without a line end.
    pub fn expression(&mut self) -> &str {
        self.line.clear();
        match self.kind {
            Kind::Bool(count) => boolean::expression(count, &mut self.expressions, &mut self.line),
            Kind::Ad => ad::expression(&mut self.expressions, &mut self.line),
        }
        &self.line
    }

    /// The next event as bits, for [`Kind::Bool`].
    pub fn event_bits(&mut self) -> Option<Vec<bool>> {
        match self.kind {
            Kind::Bool(count) => Some(boolean::bits(count, &mut self.events)),
            Kind::Ad => None,
        }
    }

    /// The next event as JSON, without a line end.
    pub fn event(&mut self) -> &str {
        self.line.clear();
        match self.kind {
            Kind::Bool(count) => boolean::event(count, &mut self.events, &mut self.line),
            Kind::Ad => ad::event(&mut self.events, &mut self.line),
        }
        &self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FNV-1a, 64 bits.
    fn hash(text: &str) -> u64 {
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    fn all(kind: Kind) -> String {
        let mut generator = Generator::new(kind, 7);
        let mut text = generator.domains();
        for _ in 0..50 {
            text.push_str(generator.expression());
            text.push_str(generator.event());
        }
        text
    }

    #[test]
    fn a_seed_gives_the_same_bytes_everywhere() {
        let found = [Kind::Bool(64), Kind::Ad].map(|kind| hash(&all(kind)));
        let expected = [0x2c75_5628_09f0_62bd, 0xdef7_b070_d672_2ec6];
        assert_eq!(found, expected, "{found:#x?}");
    }

    #[test]
    fn every_boolean_stands_in_every_expression_once() {
        let mut generator = Generator::new(Kind::Bool(96), 3);
        for _ in 0..20 {
            let text = generator.expression();
            let expression = crate::Expression::parse(text).unwrap();
            assert_eq!(expression.leaves(), 96);
            for number in 1..=96 {
                let name = format!("par{number}");
                let words = text.split(|c: char| !c.is_ascii_alphanumeric());
                assert_eq!(words.filter(|word| *word == name).count(), 1);
            }
        }
    }

    #[test]
    fn what_is_generated_is_accepted() {
        for kind in [Kind::Bool(5), Kind::Ad] {
            let mut generator = Generator::new(kind, 1);
            let domain = crate::Domain::parse(&generator.domains()).unwrap();
            let mut tree = crate::BeTree::new(domain, crate::Undefined::False);
            for id in 0..200 {
                let text = generator.expression().to_owned();
                let expression = crate::Expression::parse(&text).unwrap();
                let constants = crate::Constants::default();
                tree.insert(crate::SubscriptionId(id), &expression, &constants)
                    .unwrap();
            }
            let snapshot = tree.snapshot();
            for _ in 0..200 {
                snapshot.event(generator.event()).unwrap();
            }
        }
    }
}
