//! The form of pseudonyms, and that no two values share one.

use std::collections::HashSet;

use super::*;
use crate::pseudonym::digits::kind;
use crate::random::Random;

/// A count, a length or a flag names no person, and a changed length would break the data after it.
#[test]
fn what_is_replaced_is_text_or_data_in_every_version() {
    assert!(TAGS.is_sorted());
    let mut known = HashSet::new();
    for version in fixcore::dict::Version::ALL {
        let dictionary = version.dictionary().expect("it is built in");
        for field in TAGS.iter().filter_map(|tag| dictionary.field(*tag)) {
            let kind = format!("{:?}", field.data_type());
            assert!(
                !["Boolean", "Length", "NumInGroup", "SeqNum"].contains(&kind.as_str()),
                "{} {} {kind} {}",
                field.tag(),
                field.name(),
                version.name()
            );
            known.insert(field.tag());
        }
    }
    assert!(known.len() > 190, "{}", known.len());
}

#[test]
fn what_the_rule_names_is_replaced_in_every_version_and_known_tags_are_those_of_dictionaries() {
    let mut tags = std::collections::BTreeSet::new();
    let mut chosen = HashSet::new();
    for version in fixcore::dict::Version::ALL {
        let dictionary = version.dictionary().expect("it is built in");
        let chosen_of = dictionary
            .fields()
            .iter()
            .filter(|field| !field.values().is_empty());
        chosen.extend(chosen_of.map(fixcore::dict::FieldSpec::tag));
        tags.extend(
            dictionary
                .fields()
                .iter()
                .map(fixcore::dict::FieldSpec::tag),
        );
    }
    for version in fixcore::dict::Version::ALL {
        let dictionary = version.dictionary().expect("it is built in");
        for field in dictionary.fields() {
            let is_choice = chosen.contains(&field.tag());
            if is_private(field) && !is_choice {
                let what = format!("{} {} {}", field.tag(), field.name(), version.name());
                assert!(TAGS.contains(&field.tag()), "{what}");
            }
        }
    }
    let known: Vec<u32> = KNOWN.iter().flat_map(|(from, to)| *from..=*to).collect();
    assert!(known.iter().eq(&tags));
}

#[test]
fn what_no_dictionary_knows_is_replaced_unless_it_is_a_number_or_a_code() {
    let fields = "35=D\x015001=Miller\x015002=4711\x015003=AB\x011664=4\x011665=1234\x015004=5\x01";
    let mut bytes = Vec::new();
    fixcore::frame::write(b"FIX.4.4", fields.as_bytes(), &mut bytes);
    let mut decoder = fixcore::Decoder::new();
    let message = decoder.parse(&bytes).expect("valid");
    let mut scratch = Scratch::default();
    let hidden = under(b"a key of 16 byte")
        .message(&message, &mut scratch)
        .to_vec();
    let hidden = String::from_utf8(hidden).expect("text");
    assert!(
        !hidden.contains("Miller") && !hidden.contains("1665=1234"),
        "{hidden}"
    );
    assert!(
        hidden.contains("5002=4711\x015003=AB\x011664=4\x01"),
        "{hidden}"
    );
    let left = [(1664, 1), (5002, 1), (5003, 1), (5004, 1)];
    assert_eq!(scratch.take_left(), left.into());
    let some = under(b"a key of 16 byte").tags(&[49]);
    assert_eq!(
        some.message(&message, &mut scratch),
        bytes,
        "nothing else was asked for"
    );
}

fn under(key: &[u8]) -> Pseudonyms {
    Pseudonyms::new(key).expect("the key is long enough")
}

fn of(pseudonyms: &Pseudonyms, value: &str, scratch: &mut Scratch) -> String {
    let mut bytes = value.as_bytes().to_vec();
    pseudonyms.value(&mut bytes, scratch);
    String::from_utf8(bytes).expect("text")
}

#[test]
fn pseudonyms_keep_the_form_and_are_the_same_for_a_key_only() {
    let mut scratch = Scratch::default();
    let (one, other) = (under(b"a key of 16 byte"), under(b"another key of 1"));
    let long = "The quick brown fox of Account-0071 jumps over 13 lazy dogs again";
    for value in ["FUND-0071", "ORD00000271828", "a", "", "---", long] {
        let (a, b) = (
            of(&one, value, &mut scratch),
            of(&other, value, &mut Scratch::default()),
        );
        assert_eq!(a.len(), value.len());
        for (new, old) in a.bytes().zip(value.bytes()) {
            assert_eq!(kind(new), kind(old), "{value} {a}");
            assert!(kind(old).is_some() || new == old);
        }
        assert_eq!(a, of(&one, value, &mut Scratch::default()));
        if value.len() > 5 {
            assert!(a != value && a != b, "{value} {a} {b}");
        }
        // What is kept is of one key.
        assert_eq!(of(&other, value, &mut scratch), b);
    }
}

/// Whoever changes these breaks the comparison of logs of two versions: that is for the changelog.
#[test]
fn pseudonyms_stay_the_same_from_version_to_version() {
    let (pseudonyms, mut scratch) = (under(b"0123456789abcdef"), Scratch::default());
    let long =
        "The quick brown fox of Account-0071 jumps over 13 lazy dogs again and again, so it says";
    for (value, expected) in [
        ("7", "5"),
        ("FUND-0071", "MGWI-0710"),
        ("ORD00000271828", "FUJ04930171558"),
        ("Miller, call 555-0199 now", "Kyblbh, gypd 898-3676 yxz"),
        (
            "The quick brown fox jumps over 13 lazy dogs",
            "Tap bitve llpyw lfv ccoqt ltvs 06 ckrr iigw",
        ),
        (
            long,
            "Yrt fcpgw zolrj gvu hs Viwowvb-2200 epszi bkhj 11 nwed vaxt ojulp wfo trxcu, qa eq ofwr",
        ),
    ] {
        assert_eq!(of(&pseudonyms, value, &mut scratch), expected);
    }
}

#[test]
fn no_two_values_have_the_same_pseudonym() {
    let (pseudonyms, mut scratch) = (under(b"0123456789abcdef"), Scratch::default());
    for digits in 1..=4 {
        let count = 10_usize.pow(digits);
        let names = (0..count).map(|n| {
            let value = format!("{n:0digits$}", digits = digits as usize);
            of(&pseudonyms, &value, &mut scratch)
        });
        assert_eq!(names.collect::<HashSet<_>>().len(), count);
    }
}

impl Random {
    fn text(&mut self, length: usize) -> String {
        let all = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -./";
        let text = (0..length).map(|_| char::from(all[self.below(all.len())]));
        text.collect()
    }
}

/// Lengths on both sides of where the cipher works in another way, and values that differ in one
/// place.
#[test]
fn values_that_differ_in_one_place_have_pseudonyms_that_differ_everywhere() {
    let (pseudonyms, mut scratch) = (under(b"0123456789abcdef"), Scratch::default());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for length in [
        12, 15, 16, 17, 18, 24, 25, 31, 32, 33, 62, 63, 64, 65, 80, 200, 4096,
    ] {
        let value: Vec<u8> = (0..length).map(|_| b'a' + random.below(26) as u8).collect();
        let mut seen = HashSet::new();
        let own = {
            let mut own = value.clone();
            pseudonyms.value(&mut own, &mut scratch);
            own
        };
        assert!(seen.insert(own.clone()));
        for place in [0, 1, length / 2, length - 2, length - 1] {
            let mut other = value.clone();
            other[place] = b'a' + (other[place] - b'a' + 1) % 26;
            pseudonyms.value(&mut other, &mut scratch);
            assert!(seen.insert(other.clone()));
            let same = own.iter().zip(&other).filter(|(a, b)| a == b).count();
            // One of 26 by chance.
            assert!(same <= length / 10 + 6, "{length} {place}: {same}");
        }
    }
}

#[test]
fn all_values_of_a_small_form_have_different_pseudonyms_in_each_network() {
    let (pseudonyms, mut scratch) = (under(b"0123456789abcdef"), Scratch::default());
    // All numbers of four digits, at the beginning and at the end of a value of any network.
    for around in ["", "DESK-", "abcdefghijklmnop", "Zq9", "x/"] {
        for repeat in [1, 2, 5] {
            let around = around.repeat(repeat);
            for first in [true, false] {
                let mut seen = HashSet::new();
                for number in 0..2000 {
                    let value = match first {
                        true => format!("{number:04}{around}"),
                        false => format!("{around}{number:04}"),
                    };
                    assert!(seen.insert(of(&pseudonyms, &value, &mut scratch)));
                }
            }
        }
    }
}

#[test]
fn a_message_has_the_pseudonyms_that_its_values_have_alone() {
    let (pseudonyms, mut scratch) = (under(b"0123456789abcdef"), Scratch::default());
    let mut random = Random(7);
    let (mut encoder, mut decoder) = (fixcore::Encoder::new("FIX.4.4"), fixcore::Decoder::new());
    for _ in 0..500 {
        let mut message = encoder.start("D");
        for _ in 0..1 + random.below(20) {
            let tag = [11, 17, 37, 41, 58, 55][random.below(6)];
            let length = [1, 4, 8, 16, 17, 30, 70][random.below(7)] + random.below(3);
            message = message.bytes(tag, random.text(length).as_bytes());
        }
        let bytes = message.finish().expect("a message").to_vec();
        let fields = |bytes: &[u8], decoder: &mut fixcore::Decoder| {
            let message = decoder.parse(bytes).expect("valid");
            let fields = message
                .fields()
                .map(|field| (field.tag, field.value.to_vec()));
            fields.collect::<Vec<_>>()
        };
        let hidden = {
            let message = decoder.parse(&bytes).expect("valid");
            pseudonyms.message(&message, &mut scratch).to_vec()
        };
        let before = fields(&bytes, &mut decoder);
        for ((tag, value), (_, hidden)) in before.into_iter().zip(fields(&hidden, &mut decoder)) {
            let mut expected = value.clone();
            if TAGS.contains(&tag) {
                pseudonyms.value(&mut expected, &mut Scratch::default());
            } else if tag == 10 {
                continue;
            }
            assert_eq!(hidden, expected, "{tag} {}", value.escape_ascii());
        }
    }
}

/// Analyses of a log need to see that there is no id, and no id may become that.
#[test]
fn words_for_none_stay_and_are_no_pseudonyms() {
    let (pseudonyms, mut scratch) = (under(b"0123456789abcdef"), Scratch::default());
    for none in [
        "NONE",
        "none",
        "None",
        "N/A",
        "[N/A]",
        "UNKNOWN",
        "unassigned",
        "0",
    ] {
        assert_eq!(of(&pseudonyms, none, &mut scratch), none);
    }
    for key in 0..6_u8 {
        let pseudonyms = under(&[key; 16]);
        let hidden = |value: &str, scratch: &mut Scratch| of(&pseudonyms, value, scratch);
        let digits = (0..10).map(|digit| hidden(&digit.to_string(), &mut scratch));
        let digits: HashSet<_> = digits.collect();
        assert_eq!(digits.len(), 10, "{key}");
        assert_eq!(hidden("0", &mut scratch), "0");
        // Three letters and a mark: all 676 of a form.
        let mut seen = HashSet::new();
        for one in b'A'..=b'Z' {
            for other in b'A'..=b'Z' {
                let value = format!("{}/{}", char::from(one), char::from(other));
                let name = hidden(&value, &mut scratch);
                assert_eq!(name == "N/A", value == "N/A");
                assert!(seen.insert(name), "{value}");
            }
        }
    }
}
