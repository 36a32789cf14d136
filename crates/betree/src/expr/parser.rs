//! Parses tokens into an [`Expression`] by an operator stack, without recursion.

mod functions;

use super::lexer::{Lexer, Token};
use super::{Expression, Leaf, Literal, Node, Quantity, Relation, Test, hints};
use crate::error::{Error, Result};

/// An operator that waits for its right operand, or an open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Or,
    And,
    Not,
    /// With its byte offset.
    Bracket(usize),
}

impl<'s> Expression<'s> {
    /// Parses a text. Work and memory are in proportion to its length, however deep it nests.
    ///
    /// # Errors
    /// A syntax error, with line and column.
    pub fn parse(text: &'s str) -> Result<Self> {
        let mut parser = Parser::new(text)?;
        loop {
            parser.operand()?;
            if !parser.operator()? {
                return Ok(parser.out);
            }
        }
    }
}

struct Parser<'s> {
    lexer: Lexer<'s>,
    token: Token<'s>,
    /// The two tokens before it, for hints.
    before: [Token<'s>; 2],
    offset: usize,
    waiting: Vec<Waiting>,
    out: Expression<'s>,
}

impl<'s> Parser<'s> {
    fn new(text: &'s str) -> Result<Self> {
        let mut parser = Self {
            lexer: Lexer::new(text),
            token: Token::End,
            before: [Token::End; 2],
            offset: 0,
            waiting: Vec::new(),
            out: Expression {
                text,
                nodes: Vec::new(),
                leaves: Vec::new(),
                literals: Vec::new(),
            },
        };
        parser.advance()?;
        Ok(parser)
    }

    fn advance(&mut self) -> Result<Token<'s>> {
        let (next, offset) = self.lexer.next()?;
        self.offset = offset;
        self.before = [self.before[1], self.token];
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn wrong(&self, expected: &str) -> Error {
        let message = format!("expected {expected}, found {}", self.token.describe());
        let error = self.lexer.wrong(self.offset, message);
        match hints::token(self.before, self.token) {
            Some(hint) => error.help(hint),
            None => error,
        }
    }

    /// Takes the token when it is this sign.
    fn sign(&mut self, sign: &'static str) -> Result<bool> {
        let found = self.token == Token::Sign(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, sign: &'static str) -> Result<()> {
        match self.sign(sign)? {
            true => Ok(()),
            false => Err(self.wrong(&format!("'{sign}'"))),
        }
    }

    /// Takes the token when it is this word.
    fn word(&mut self, word: &str) -> Result<bool> {
        let found = self.token == Token::Word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        match self.word(word)? {
            true => Ok(()),
            false => Err(self.wrong(&format!("'{word}'"))),
        }
    }

    /// Everything up to and with the next operand.
    fn operand(&mut self) -> Result<()> {
        loop {
            if self.word("not")? {
                self.waiting.push(Waiting::Not);
            } else if self.token == Token::Sign("(") {
                self.waiting.push(Waiting::Bracket(self.offset));
                self.advance()?;
            } else {
                break;
            }
        }
        let node = if self.word("true")? {
            Node::Constant(true)
        } else if self.word("false")? {
            Node::Constant(false)
        } else {
            let offset = self.offset;
            let test = self.test()?;
            let index = u32::try_from(self.out.leaves.len())
                .map_err(|_| self.lexer.wrong(offset, "too many tests"))?;
            self.out.leaves.push(Leaf { offset, test });
            Node::Leaf(index)
        };
        self.out.nodes.push(node);
        self.negate();
        Ok(())
    }

    /// Applies the `not`s before a complete operand.
    fn negate(&mut self) {
        while self.waiting.last() == Some(&Waiting::Not) {
            self.waiting.pop();
            self.out.nodes.push(Node::Not);
        }
    }

    /// Parses what follows an operand. Returns whether another operand must follow.
    fn operator(&mut self) -> Result<bool> {
        loop {
            if self.sign("&&")? || self.word("and")? {
                self.complete(|waiting| waiting == Waiting::And);
                self.waiting.push(Waiting::And);
                return Ok(true);
            }
            if self.sign("||")? || self.word("or")? {
                self.complete(|waiting| matches!(waiting, Waiting::And | Waiting::Or));
                self.waiting.push(Waiting::Or);
                return Ok(true);
            }
            self.complete(|waiting| matches!(waiting, Waiting::And | Waiting::Or));
            match (self.token, self.waiting.pop()) {
                (Token::Sign(")"), Some(_)) => {
                    self.advance()?;
                    self.negate();
                }
                (Token::End, None) => return Ok(false),
                (Token::End, Some(Waiting::Bracket(offset))) => {
                    return Err(self.lexer.wrong(offset, "the bracket is not closed"));
                }
                _ => return Err(self.wrong("'and', 'or' or the end")),
            }
        }
    }

    fn complete(&mut self, binds: impl Fn(Waiting) -> bool) {
        while let Some(waiting) = self.waiting.pop_if(|waiting| binds(*waiting)) {
            self.out.nodes.push(match waiting {
                Waiting::And => Node::And,
                _ => Node::Or,
            });
        }
    }

    fn test(&mut self) -> Result<Test<'s>> {
        match self.token {
            Token::Word(name) => {
                let at = self.offset;
                self.advance()?;
                if self.token == Token::Sign("(") {
                    self.function(name, at)
                } else {
                    self.suffix(name)
                }
            }
            Token::Integer(_) | Token::Float(_) | Token::Text(_) => self.constant_first(),
            _ => Err(self.wrong("an attribute, a constant, 'not' or '('")),
        }
    }

    /// Parses the test of the attribute that was just named.
    fn suffix(&mut self, name: &'s str) -> Result<Test<'s>> {
        if let Some(relation) = self.relation()? {
            return Ok(Test::Compare(name, relation, self.constant()?));
        }
        if let Some(negated) = self.equality()? {
            let value = self.constant()?;
            return Ok(Test::Equal {
                name,
                negated,
                value,
            });
        }
        if let Some(negated) = self.membership()? {
            let list = self.list()?;
            return Ok(Test::In {
                name,
                negated,
                list,
            });
        }
        for (word, quantity) in [
            ("one", Quantity::One),
            ("none", Quantity::None),
            ("all", Quantity::All),
        ] {
            if self.word(word)? {
                self.expect_word("of")?;
                return Ok(Test::Of(name, quantity, self.list()?));
            }
        }
        if self.word("is")? {
            let negated = self.word("not")?;
            if !negated && self.word("empty")? {
                return Ok(Test::Empty(name));
            }
            self.expect_word("null")?;
            return Ok(Test::Null { name, negated });
        }
        Ok(Test::Variable(name))
    }

    /// A test that begins with its constant: `10 < age`, `"a" in tags`.
    fn constant_first(&mut self) -> Result<Test<'s>> {
        let value = self.constant()?;
        if let Some(relation) = self.relation()? {
            let mirrored = match relation {
                Relation::Less => Relation::Greater,
                Relation::LessEqual => Relation::GreaterEqual,
                Relation::Greater => Relation::Less,
                Relation::GreaterEqual => Relation::LessEqual,
            };
            return Ok(Test::Compare(self.name()?, mirrored, value));
        }
        if let Some(negated) = self.equality()? {
            let name = self.name()?;
            return Ok(Test::Equal {
                name,
                negated,
                value,
            });
        }
        match self.membership()? {
            Some(negated) => {
                let name = self.name()?;
                Ok(Test::Has {
                    name,
                    negated,
                    value,
                })
            }
            None => Err(self.wrong("a comparison or 'in'")),
        }
    }

    fn relation(&mut self) -> Result<Option<Relation>> {
        for (sign, relation) in [
            ("<=", Relation::LessEqual),
            ("<", Relation::Less),
            (">=", Relation::GreaterEqual),
            (">", Relation::Greater),
        ] {
            if self.sign(sign)? {
                return Ok(Some(relation));
            }
        }
        Ok(None)
    }

    fn equality(&mut self) -> Result<Option<bool>> {
        if self.sign("=")? {
            return Ok(Some(false));
        }
        Ok(self.sign("<>")?.then_some(true))
    }

    fn membership(&mut self) -> Result<Option<bool>> {
        if self.word("in")? {
            return Ok(Some(false));
        }
        if self.word("not")? {
            self.expect_word("in")?;
            return Ok(Some(true));
        }
        Ok(None)
    }

    fn name(&mut self) -> Result<&'s str> {
        match self.token {
            Token::Word(name) => {
                self.advance()?;
                Ok(name)
            }
            _ => Err(self.wrong("an attribute")),
        }
    }

    fn constant(&mut self) -> Result<Literal<'s>> {
        let value = match self.token {
            Token::Integer(value) => Literal::Integer(value),
            Token::Float(value) => Literal::Float(value),
            Token::Text(value) => Literal::Text(value),
            _ => return Err(self.wrong("a constant")),
        };
        self.advance()?;
        Ok(value)
    }

    fn list(&mut self) -> Result<std::ops::Range<usize>> {
        self.expect("(")?;
        let start = self.out.literals.len();
        loop {
            let value = self.constant()?;
            self.out.literals.push(value);
            if !self.sign(",")? {
                break;
            }
        }
        self.expect(")")?;
        Ok(start..self.out.literals.len())
    }
}

#[cfg(test)]
mod tests;
