//! Body of the dictionary target: any bytes as a dictionary and as a prefix, the right one, the
//! wrong one and none, and what was compressed with them through both ways of decoding.

use std::sync::Arc;

use zstdkit::{
    Compressor, Decoder, DecoderOptions, Decompressor, Dictionary, EncoderOptions, Error,
    ErrorKind, Parameters, State, Strategy,
};

use crate::plan::Plan;

const OUTPUT_LIMIT: u64 = 1 << 20;

/// A dictionary of hostile bytes, options, a content, and a stream that claims to be made with it.
pub fn zstd_dictionary(data: &[u8]) {
    let mut plan = Plan::new(data);
    let options = encoder_options(&mut plan);
    let dictionary_bytes = usize::from(plan.byte()) << plan.below(6);
    let dictionary_bytes = plan.take(dictionary_bytes).to_vec();
    let content_bytes = usize::from(plan.byte()) << plan.below(5);
    let mut content = plan.take(content_bytes).to_vec();
    // Something that is in the dictionary, for there would hardly ever be a match otherwise.
    let start = dictionary_bytes.len() / 3;
    content.extend_from_slice(&dictionary_bytes[start..2 * start]);
    let stream = plan.rest();

    prefix(&options, &dictionary_bytes, &content);
    let dictionary = match Dictionary::new(dictionary_bytes) {
        Ok(dictionary) => dictionary,
        Err(error) => return check_dictionary_error(&error),
    };
    round_trip(&options, &dictionary, &content);
    // Whatever comes of it, it comes of both ways.
    let _ = both(stream, &decoding(&[&dictionary]));
}

fn encoder_options(plan: &mut Plan<'_>) -> EncoderOptions {
    EncoderOptions::default()
        .with_level([-7, -1, 0, 1, 2, 3, 5, 7, 9, 13][plan.below(10)])
        .with_checksum(plan.bit())
        .with_content_size(plan.bit())
        .with_dictionary_id(plan.bit())
        .with_window_log(plan.bit().then(|| 10 + plan.below(9) as u32))
        .with_parameters(
            Parameters::default()
                .with_strategy(plan.bit().then(|| Strategy::ALL[plan.below(9)]))
                .with_min_match(plan.bit().then(|| 3 + plan.below(5) as u32)),
        )
}

fn decoding(dictionaries: &[&Dictionary]) -> DecoderOptions {
    DecoderOptions::default()
        .with_dictionaries(dictionaries.iter().copied().cloned())
        .with_output_limit(OUTPUT_LIMIT)
        .with_window_log_max(20)
}

fn check_dictionary_error(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Dictionary, "{error}");
    assert!(error.help().is_some());
}

fn round_trip(options: &EncoderOptions, dictionary: &Dictionary, content: &[u8]) {
    let with = options.clone().with_dictionary(dictionary.clone());
    let mut compressor = match Compressor::new(&with) {
        Ok(compressor) => compressor,
        // Tables that serve a decoder need not serve an encoder.
        Err(error) => return check_dictionary_error(&error),
    };
    let frame = match compressor.compress(content) {
        Ok(frame) => frame,
        // With settings of its own the dictionary is read by the first frame only.
        Err(error) => return assert_eq!(error.kind(), ErrorKind::Internal, "{error}"),
    };
    let again = compressor.compress(content).expect("as before");
    assert!(frame == again, "the second frame differs");
    let back = both(&frame, &decoding(&[dictionary])).expect("what was encoded decodes");
    assert!(back == content, "another content came back");

    let other = Dictionary::new(b"nothing that anyone would look for".to_vec());
    let other = other.expect("any content is a dictionary");
    for wrong in [decoding(&[]), decoding(&[&other])] {
        let named = options.dictionary_id && dictionary.id().is_some();
        match both(&frame, &wrong) {
            Ok(back) => assert!(!named && (back == content || !options.checksum)),
            Err(error) if named => assert_eq!(error.kind(), ErrorKind::Dictionary),
            Err(_) => {}
        }
    }
    let several = both(&frame, &decoding(&[dictionary, &other]));
    assert!(several.expect("the right one is there") == content);
}

fn prefix(options: &EncoderOptions, reference: &[u8], content: &[u8]) {
    let reference: Arc<[u8]> = reference.into();
    let options = options
        .clone()
        .for_patch(reference.clone(), content.len() as u64);
    let mut compressor = Compressor::new(&options).expect("the options are within bounds");
    let frame = compressor.compress(content).expect("a patch is made");
    let again = compressor.compress(content).expect("as before");
    assert!(frame == again, "the second patch differs");
    let decoding = DecoderOptions::default().with_output_limit(OUTPUT_LIMIT);
    let twice = [&frame[..], &again].concat();
    let back = both(&twice, &decoding.clone().for_patch(reference)).expect("a patch applies");
    assert!(
        back == [content, content].concat(),
        "another content came back"
    );
    if let Ok(back) = both(&frame, &decoding) {
        assert!(back == content || !options.checksum);
    }
}

/// Decodes whole and in pieces, which have to agree.
fn both(stream: &[u8], options: &DecoderOptions) -> Result<Vec<u8>, Error> {
    let mut decompressor = Decompressor::new(options)?;
    let whole = decompressor.decompress(stream);
    let pieces = pieces(stream, options);
    assert_eq!(whole, pieces, "one call and many disagree");
    if let Err(error) = &whole {
        assert_ne!(error.kind(), ErrorKind::Internal, "{error}");
    }
    whole
}

fn pieces(stream: &[u8], options: &DecoderOptions) -> Result<Vec<u8>, Error> {
    let mut decoder = Decoder::new(options)?;
    let (mut content, mut buffer) = (Vec::new(), [0; 999]);
    for mut input in stream.chunks(61) {
        loop {
            let step = decoder.push(input, &mut buffer)?;
            input = &input[step.consumed..];
            content.extend_from_slice(&buffer[..step.produced]);
            if step.state != State::MoreOutput {
                break;
            }
        }
    }
    decoder.finish().map(|_| content)
}
