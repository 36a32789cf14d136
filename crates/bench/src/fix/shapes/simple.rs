//! The naive parser and encoder as a side.

use std::hint::black_box;

use fixcore::workload::shapes::ABSENT_TAG;
use fixcore::{DataPairs, Isa};

use super::naive::{Encoder, Field, Parser};
use super::sides::timed;
use super::{Answer, Operation, Rival, Side, Workload};
use crate::Error;

/// The naive parser and encoder.
#[derive(Debug, Clone, Copy)]
pub struct Naive;

impl Rival for Naive {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn build<'w>(
        &self,
        workload: &'w Workload,
        _isa: Isa,
    ) -> Result<Option<Box<dyn Side + 'w>>, Error> {
        let new = || Parser::new(&DataPairs::standard());
        Ok(Some(Box::new(NaiveSide {
            workload,
            parser: new(),
            // A parser for each message keeps its fields.
            parsers: workload.messages.iter().map(|_| new()).collect(),
            encoder: Encoder::new(workload.shape.begin_string),
        })))
    }
}

struct NaiveSide<'w> {
    workload: &'w Workload,
    parser: Parser,
    parsers: Vec<Parser>,
    encoder: Encoder,
}

/// The value of a field.
fn value<'m>(bytes: &'m [u8], (_, from, to): &Field) -> Option<&'m [u8]> {
    bytes.get(*from as usize..*to as usize)
}

impl NaiveSide<'_> {
    fn parse(&mut self) -> f64 {
        timed(|| {
            for drawn in &self.workload.messages {
                black_box(self.parser.parse(black_box(&drawn.bytes)).is_ok());
            }
        })
    }

    /// Fields of parsed messages, with the bytes that they are of and the tag that comes up last.
    fn parsed_messages(&mut self) -> Vec<(&[Field], &[u8], u32)> {
        let messages = self.workload.messages.iter().zip(&self.workload.late);
        let parsers = self.parsers.iter_mut().zip(messages);
        let parsed = parsers.filter_map(|(parser, (drawn, late))| {
            let fields = parser.parse(&drawn.bytes).ok()?;
            Some((fields, &drawn.bytes[..], *late))
        });
        parsed.collect()
    }

    fn find(&mut self, tag: Option<u32>) -> f64 {
        let parsed = self.parsed_messages();
        timed(|| {
            for (fields, bytes, late) in &parsed {
                let found = Parser::find(fields, black_box(tag.unwrap_or(*late)));
                black_box(found.and_then(|field| value(bytes, field)));
            }
        })
    }

    fn iterate(&mut self) -> f64 {
        let parsed = self.parsed_messages();
        timed(|| {
            for (fields, bytes, _) in &parsed {
                for field in fields.iter() {
                    black_box((field.0, value(bytes, field)));
                }
            }
        })
    }

    fn read(&mut self) -> f64 {
        timed(|| {
            for drawn in &self.workload.messages {
                let bytes = black_box(&drawn.bytes);
                if let Ok(fields) = self.parser.parse(bytes) {
                    for field in fields {
                        black_box((field.0, value(bytes, field)));
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
                let written = self
                    .encoder
                    .encode(shape.msg_type, black_box(&drawn.fields));
                black_box(written.is_ok());
            }
        })
    }
}

impl Side for NaiveSide<'_> {
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
        Ok(match self.parser.parse(bytes) {
            Ok(fields) => Answer::Fields(fields.to_vec()),
            Err(kind) => Answer::Refused(Some(kind)),
        })
    }

    fn written(&mut self, message: usize) -> Result<Option<Vec<u8>>, Error> {
        let Some(drawn) = self.workload.messages.get(message) else {
            return Ok(None);
        };
        let msg_type = self.workload.shape.msg_type;
        let written = self.encoder.encode(msg_type, &drawn.fields);
        written
            .map(|bytes| Some(bytes.to_vec()))
            .map_err(Error::broken)
    }
}
