//! Functions of the language, and their arguments.

use super::super::lexer::Token;
use super::super::{CapKind, Literal, Position, Test, hints};
use super::Parser;
use crate::error::{Result, quoted};

impl<'s> Parser<'s> {
    pub(super) fn function(&mut self, name: &'s str, at: usize) -> Result<Test<'s>> {
        self.advance()?;
        let test = match name {
            "contains" => self.text_function(Position::Anywhere)?,
            "starts_with" => self.text_function(Position::Start)?,
            "ends_with" => self.text_function(Position::End)?,
            "geo_within_radius" => {
                let latitude = self.number()?;
                self.expect(",")?;
                let longitude = self.number()?;
                self.expect(",")?;
                let radius_km = self.number()?;
                Test::Geo {
                    latitude,
                    longitude,
                    radius_km,
                }
            }
            "segment_within" => self.segment(true)?,
            "segment_before" => self.segment(false)?,
            "within_frequency_cap" => self.cap()?,
            _ => {
                let message = format!("unknown function {}", quoted(name));
                return Err(self.lexer.wrong(at, message).help(hints::function(name)));
            }
        };
        self.expect(")")?;
        Ok(test)
    }

    fn text_function(&mut self, position: Position) -> Result<Test<'s>> {
        let name = self.name()?;
        self.expect(",")?;
        Ok(Test::Text(name, position, self.text()?))
    }

    fn segment(&mut self, within: bool) -> Result<Test<'s>> {
        let name = match self.token {
            Token::Word(name) => {
                self.advance()?;
                self.expect(",")?;
                Some(name)
            }
            _ => None,
        };
        let id = self.integer()?;
        self.expect(",")?;
        let seconds = self.integer()?;
        Ok(Test::Segment {
            name,
            within,
            id,
            seconds,
        })
    }

    fn cap(&mut self) -> Result<Test<'s>> {
        let offset = self.offset;
        let word = self.text()?;
        let (kind, by_address) = CapKind::parse(word).ok_or_else(|| {
            let message = format!("{} is not a type of frequency cap", quoted(word));
            self.lexer.wrong(offset, message).help(hints::cap(word))
        })?;
        self.expect(",")?;
        let namespace = self.text()?;
        self.expect(",")?;
        let value = self.integer()?;
        self.expect(",")?;
        let length = self.integer()?;
        Ok(Test::Cap {
            kind,
            by_address,
            namespace,
            value,
            length,
        })
    }

    fn text(&mut self) -> Result<&'s str> {
        match self.token {
            Token::Text(text) => {
                self.advance()?;
                Ok(text)
            }
            _ => Err(self.wrong("a text")),
        }
    }

    fn integer(&mut self) -> Result<i64> {
        match self.token {
            Token::Integer(value) => {
                self.advance()?;
                Ok(value)
            }
            _ => Err(self.wrong("an integer")),
        }
    }

    fn number(&mut self) -> Result<f64> {
        match self.constant()? {
            Literal::Integer(value) => Ok(value as f64),
            Literal::Float(value) => Ok(value),
            Literal::Text(_) => Err(self.wrong("a number before this")),
        }
    }
}
