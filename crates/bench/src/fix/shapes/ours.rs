//! fixcore as a side.

use std::hint::black_box;

use fixcore::workload::shapes::{ABSENT_TAG, Content, Written};
use fixcore::{Decoder, Encoder, Isa, Message};

use super::sides::timed;
use super::{Answer, Operation, Rival, Side, Workload};
use crate::Error;

/// fixcore by one instruction set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ours;

impl Rival for Ours {
    fn name(&self) -> &'static str {
        "fixcore"
    }

    fn build<'w>(
        &self,
        workload: &'w Workload,
        isa: Isa,
    ) -> Result<Option<Box<dyn Side + 'w>>, Error> {
        let decoder = || {
            Decoder::with_isa(isa)
                .ok_or_else(|| Error::settings(format!("this processor has no {}", isa.name())))
        };
        let encoder = Encoder::new(workload.shape.begin_string);
        let decoders = workload.messages.iter().map(|_| decoder());
        Ok(Some(Box::new(OurSide {
            workload,
            decoder: decoder()?,
            // A decoder for each message keeps its fields.
            decoders: decoders.collect::<Result<_, _>>()?,
            encoder: encoder
                .with_isa(isa)
                .ok_or_else(|| Error::settings(format!("this processor has no {}", isa.name())))?,
        })))
    }
}

struct OurSide<'w> {
    workload: &'w Workload,
    decoder: Decoder,
    decoders: Vec<Decoder>,
    encoder: Encoder,
}

/// Writes a message.
fn write<'e>(
    encoder: &'e mut Encoder,
    msg_type: &str,
    fields: &[Written],
) -> fixcore::Result<&'e [u8]> {
    let mut writing = encoder.start(msg_type);
    for field in fields {
        writing = match (&field.content, field.length_tag) {
            (Content::Bytes(data), Some(length_tag)) => writing.data(length_tag, field.tag, data),
            (Content::Bytes(text), None) => writing.bytes(field.tag, text),
            (Content::Number(number), _) => writing.unsigned(field.tag, *number),
            (Content::Decimal(number), _) => writing.decimal(field.tag, *number),
            (Content::Time(moment), _) => writing.timestamp(field.tag, *moment),
        };
    }
    writing.finish()
}

impl OurSide<'_> {
    fn parse(&mut self) -> f64 {
        timed(|| {
            for drawn in &self.workload.messages {
                black_box(self.decoder.parse(black_box(&drawn.bytes)).is_ok());
            }
        })
    }

    /// Parsed messages, with the tag that comes up last.
    fn parsed_messages(&mut self) -> Vec<(Message<'_, '_>, u32)> {
        let messages = self.workload.messages.iter().zip(&self.workload.late);
        let decoders = self.decoders.iter_mut().zip(messages);
        let parsed = decoders.filter_map(|(decoder, (drawn, late))| {
            Some((decoder.parse(&drawn.bytes).ok()?, *late))
        });
        parsed.collect()
    }

    fn find(&mut self, tag: Option<u32>) -> f64 {
        let parsed = self.parsed_messages();
        timed(|| {
            for (message, late) in &parsed {
                black_box(message.get(black_box(tag.unwrap_or(*late))));
            }
        })
    }

    fn iterate(&mut self) -> f64 {
        let parsed = self.parsed_messages();
        timed(|| {
            for (message, _) in &parsed {
                for field in message.fields() {
                    black_box((field.tag, field.value));
                }
            }
        })
    }

    fn read(&mut self) -> f64 {
        timed(|| {
            for drawn in &self.workload.messages {
                if let Ok(message) = self.decoder.parse(black_box(&drawn.bytes)) {
                    for field in message.fields() {
                        black_box((field.tag, field.value));
                    }
                }
            }
        })
    }

    fn encode(&mut self) -> f64 {
        let Workload {
            shape, messages, ..
        } = self.workload;
        timed(|| {
            for drawn in messages {
                let written = write(&mut self.encoder, shape.msg_type, black_box(&drawn.fields));
                black_box(written.is_ok());
            }
        })
    }
}

impl Side for OurSide<'_> {
    fn turn(&mut self, operation: Operation, passes: u32) -> Result<Option<f64>, Error> {
        let mut pass = || match operation {
            Operation::Parse => self.parse(),
            Operation::Absent => self.find(Some(ABSENT_TAG)),
            Operation::Late => self.find(None),
            Operation::Iterate => self.iterate(),
            Operation::Read => self.read(),
            Operation::Encode => self.encode(),
        };
        Ok(Some((0..passes).map(|_| pass()).sum()))
    }

    fn parsed(&mut self, message: usize) -> Result<Answer, Error> {
        let drawn = self.workload.messages.get(message);
        let bytes = drawn.map_or(&[][..], |drawn| &drawn.bytes);
        let start = bytes.as_ptr() as usize;
        Ok(match self.decoder.parse(bytes) {
            Ok(message) => {
                let fields = message.fields().map(|field| {
                    let value = field.value.as_ptr() as usize - start;
                    (field.tag, value as u32, (value + field.value.len()) as u32)
                });
                Answer::Fields(fields.collect())
            }
            Err(error) => Answer::Refused(Some(error.kind())),
        })
    }

    fn written(&mut self, message: usize) -> Result<Option<Vec<u8>>, Error> {
        let Some(drawn) = self.workload.messages.get(message) else {
            return Ok(None);
        };
        let msg_type = self.workload.shape.msg_type;
        let written = write(&mut self.encoder, msg_type, &drawn.fields);
        written
            .map(|bytes| Some(bytes.to_vec()))
            .map_err(Error::broken)
    }
}
