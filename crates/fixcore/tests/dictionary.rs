//! All messages of all versions are generated, decoded by every instruction set and validated; invalid
//! messages are rejected.

#![allow(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the place in hand"
)]

use crate::common::{cases, framed, oracle};
use fixcore::dict::{Dictionary, Rules, Validator, Version};
use fixcore::workload::{Generator, Sample};
use fixcore::{Decoder, ErrorKind, Isa};

fn transport(version: Version) -> &'static Dictionary {
    let is_application = matches!(
        version,
        Version::Fix50 | Version::Fix50Sp1 | Version::Fix50Sp2
    );
    let transport = if is_application {
        Version::Fixt11
    } else {
        version
    };
    transport.dictionary().unwrap()
}

#[test]
fn every_message_of_every_version_is_valid_on_every_path() {
    let rounds = cases(10_000).div_ceil(2_500);
    let mut decoders: Vec<_> = Isa::ALL.into_iter().filter_map(Decoder::with_isa).collect();
    for version in Version::ALL {
        let dictionary = version.dictionary().unwrap();
        let mut generator = Generator::new(transport(version), dictionary, 7);
        let mut validator =
            Validator::with_application(transport(version), Some(dictionary), Rules::default());
        for number in 0..dictionary.messages().len() * rounds as usize {
            let bytes = generator.message(number).unwrap();
            let right = oracle(&bytes).unwrap();
            for decoder in &mut decoders {
                let message = decoder.parse(&bytes).unwrap();
                let found = message
                    .fields()
                    .map(|field| (field.tag, field.value.to_vec()));
                assert_eq!(found.collect::<Vec<_>>(), right);
            }
            let message = decoders[0].parse(&bytes).unwrap();
            let valid = validator.validate(&message);
            assert_eq!(valid, Ok(()), "{version}: {}", bytes.escape_ascii());
        }
    }
}

/// What a validator knows of earlier messages changes no answer.
#[test]
fn a_validator_that_was_used_before_finds_the_same() {
    let dictionary = Version::Fix44.dictionary().unwrap();
    let mut decoder = Decoder::new();
    let mut random = 1_u64;
    let mut draw = |below: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % below
    };
    for rules in [Rules::default(), Rules::default().values(false).empty(true)] {
        let mut used = Validator::new(dictionary, rules);
        let mut generator = Generator::new(dictionary, dictionary, 7);
        let kinds = dictionary.messages().len();
        let (mut valid, mut invalid) = (0, 0);
        for round in 0..cases(2_000) {
            // Few kinds in a row, so that most have come before.
            let bytes = generator
                .message(round as usize / 8 % 5 * 7 % kinds)
                .unwrap();
            let parsed = decoder.parse(&bytes).unwrap();
            let mut fields: Vec<(u32, Vec<u8>)> = parsed
                .fields()
                .map(|field| (field.tag, field.value.to_vec()))
                .collect();
            // One field in other ways: another value, a further time, elsewhere, or not at all.
            let at = 3 + draw(fields.len() - 4);
            match draw(8) {
                0 => fields[at].1 = b"?".to_vec(),
                1 => fields[at].1 = b"7".to_vec(),
                2 => fields.insert(at, fields[3].clone()),
                3 => drop(fields.remove(at)),
                4 => fields.swap(3, at),
                5 => fields.insert(at, (4_999, b"x".to_vec())),
                _ => {}
            }
            let last = fields.len() - 1;
            let body = fields[2..last]
                .iter()
                .map(|(tag, value)| [format!("{tag}=").as_bytes(), value, b"\x01"].concat());
            let mut changed = Vec::new();
            let begin = fields[0].1.clone();
            fixcore::frame::write(&begin, &body.collect::<Vec<_>>().concat(), &mut changed);
            let Ok(message) = decoder.parse(&changed) else {
                continue;
            };
            for _ in 0..2 {
                let expected = Validator::new(dictionary, rules).validate(&message);
                let found = used.validate(&message);
                assert_eq!(found, expected, "{}", changed.escape_ascii());
                valid += u32::from(found.is_ok());
                invalid += u32::from(found.is_err());
            }
        }
        assert!(valid > 100 && invalid > 100, "{valid} and {invalid}");
    }
}

#[test]
fn what_is_not_valid_is_named_with_its_tag_and_place() {
    let mut decoder = Decoder::new();
    let head = "49=A\x0156=B\x0134=1\x0152=20260305-14:15:16\x01";
    let order = "11=x\x0155=A\x0154=1\x0160=20260305-14:15:16\x0140=1\x0138=5\x01";
    let parties = "453=1\x01448=p\x01447=D\x01452=1\x01802=1\x01523=s\x01803=1\x01";
    let cases: &[(String, Option<(ErrorKind, u32)>)] = &[
        (format!("35=D\x01{head}{order}"), None),
        (format!("35=D\x01{head}{order}{parties}"), None),
        (format!("35=D\x01{head}{order}6000=own\x01"), None),
        (
            format!("35=zz\x01{head}"),
            Some((ErrorKind::UnknownMessage, 35)),
        ),
        (
            format!("35=D\x01{order}{head}"),
            Some((ErrorKind::FieldOrder, 49)),
        ),
        (format!("35=D\x01{head}"), Some((ErrorKind::MissingTag, 11))),
        (
            format!("35=D\x01{head}{order}54=2\x01"),
            Some((ErrorKind::RepeatedTag, 54)),
        ),
        (
            format!("35=D\x01{head}{order}150=0\x01"),
            Some((ErrorKind::UnexpectedTag, 150)),
        ),
        (
            format!("35=D\x01{head}{order}4999=0\x01"),
            Some((ErrorKind::UnknownTag, 4999)),
        ),
        (
            format!("35=D\x01{head}{order}59=z\x01"),
            Some((ErrorKind::UnknownValue, 59)),
        ),
        (
            format!("35=D\x01{head}{order}44=1e5\x01"),
            Some((ErrorKind::Value, 44)),
        ),
        (
            format!("35=D\x01{head}{order}453=2\x01448=p\x01"),
            Some((ErrorKind::GroupCount, 453)),
        ),
        (
            format!("35=D\x01{head}{order}453=1\x01447=D\x01"),
            Some((ErrorKind::GroupOrder, 447)),
        ),
        (
            format!("35=D\x01{head}{order}453=1\x01448=p\x01452=1\x01452=1\x01"),
            Some((ErrorKind::RepeatedTag, 452)),
        ),
    ];
    for (body, wanted) in cases {
        let bytes = framed(body.as_bytes());
        let message = decoder.parse(&bytes).unwrap();
        let mut validator = Validator::for_message(&message, Rules::default()).unwrap();
        let found = validator.validate(&message).err();
        let found = found.map(|error| (error.kind(), error.tag().unwrap_or(0)));
        assert_eq!(found, *wanted, "{}", bytes.escape_ascii());
    }
    for sample in Sample::ALL {
        let bytes = sample.bytes();
        let message = decoder.parse(&bytes).unwrap();
        let valid = Validator::for_message(&message, Rules::default())
            .unwrap()
            .validate(&message);
        assert_eq!(valid, Ok(()), "{}", sample.name());
    }
}

#[test]
fn groups_of_a_dictionary_are_taken_apart() {
    let dictionary = Version::Fix44.dictionary().unwrap();
    let bytes = Sample::MarketData.bytes();
    let mut decoder = Decoder::new();
    let message = decoder.parse(&bytes).unwrap();
    let entries = dictionary
        .entries(&message.whole(), b"X", 268)
        .unwrap()
        .unwrap();
    let prices: Vec<_> = entries
        .map(|entry| entry.get(270).unwrap().to_vec())
        .collect();
    assert_eq!(prices.len(), 24);
    assert_eq!(
        (prices[0].as_slice(), prices[23].as_slice()),
        (&b"5120.00"[..], &b"5125.75"[..])
    );
    assert!(
        dictionary
            .entries(&message.whole(), b"X", 55)
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_file_of_quickfix_is_read_and_what_is_wrong_with_one_is_said() {
    let xml = |header: &str, components: &str, fields: &str| {
        format!(
            "<?xml version='1.0'?><!-- ours --><fix type='FIX' major='4' minor='4'>\
             <header><field name='BeginString' required='Y'/>{header}</header>\
             <messages><message name='Own' msgtype='U1' msgcat='app'>\
             <component name='Block' required='N'/><field name='Own' required='Y'/></message></messages>\
             <trailer/><components>{components}</components>\
             <fields><field number='8' name='BeginString' type='STRING'/>\
             <field number='20001' name='Own' type='CHAR'><value enum='&lt;' description='LESS'/></field>\
             <field number='70001' name='NoThings' type='NUMINGROUP'/>{fields}</fields></fix>"
        )
    };
    let block = "<component name='Block'><group name='NoThings' required='N'>\
                 <field name='Own' required='N'/></group></component>";
    let dictionary = Dictionary::from_xml(&xml("", block, "")).unwrap();
    let field = dictionary.field(20_001).unwrap();
    assert_eq!(field.value_name(b"<"), Some("LESS"));
    assert_eq!(dictionary.field(70_001).unwrap().name(), "NoThings");
    let message = dictionary.message(b"U1").unwrap();
    assert_eq!(dictionary.body(message).count(), 2);

    let ring = "<component name='Block'><component name='Block' required='N'/></component>";
    let doubling: String = (0..40)
        .map(|at| {
            let inner = format!("<component name='C{}' required='N'/>", at + 1);
            format!("<component name='C{at}'>{inner}{inner}</component>")
        })
        .collect();
    let doubling = format!(
        "<component name='Block'><component name='C0' required='N'/></component>{doubling}\
         <component name='C40'><field name='Own' required='N'/></component>"
    );
    for (text, says) in [
        (String::new(), "not a QuickFIX dictionary"),
        ("<html></html>".to_owned(), "not a QuickFIX dictionary"),
        (
            xml("<field name='Nobody' required='Y'/>", block, ""),
            "'Nobody'",
        ),
        (xml("", "", ""), "'Block'"),
        (xml("", ring, ""), "too deep"),
        (xml("", &doubling, ""), "too many"),
        (
            xml("", block, "<field number='0' name='X' type='INT'/>"),
            "'0'",
        ),
        (xml("", block, "<field"), ""),
        ("<fix major='4' minor='4'>".repeat(100), "too deep"),
    ] {
        let error = Dictionary::from_xml(&text).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.offset() <= text.len());
    }
}
