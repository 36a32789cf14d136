//! Parses expressions, by recursion of bounded depth.

use fixcore::dict::{DataType, FieldSpec};

use super::names::Names;
use super::number::{Number, is_other_form};
use super::tokens::{Token, Tokens};
use super::tree::{Constant, Kind, Node, Test};
use super::{ExpressionError, Moment};

/// Parentheses and `not` within each other.
const DEPTH_MAX: usize = 64;

/// The tree of a text.
pub(super) fn parsed(text: &str, names: &Names<'_>) -> Result<Node, ExpressionError> {
    let mut tokens = Tokens::new(text);
    let (token, column) = tokens.next()?;
    let mut parser = Parser {
        tokens,
        token,
        column,
        names,
    };
    let node = parser.any(0)?;
    match parser.token {
        Token::End => Ok(node),
        _ => parser.unexpected("'and', 'or' or the end"),
    }
}

struct Parser<'t> {
    tokens: Tokens<'t>,
    /// The next token and its column.
    token: Token,
    column: usize,
    names: &'t Names<'t>,
}

impl Parser<'_> {
    fn unexpected<T>(&self, expected: &'static str) -> Result<T, ExpressionError> {
        Err(ExpressionError::Unexpected {
            expected,
            found: self.token.shown(),
            column: self.column,
        })
    }

    /// The next token, and makes the one after it the next.
    fn take(&mut self) -> Result<Token, ExpressionError> {
        let (next, column) = self.tokens.next()?;
        self.column = column;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// Takes the next token if it is this one.
    fn takes(&mut self, wanted: &Token) -> Result<bool, ExpressionError> {
        let is = self.token == *wanted;
        if is {
            self.take()?;
        }
        Ok(is)
    }

    fn is_word(&self, wanted: &str) -> bool {
        matches!(&self.token, Token::Word(word) if word.eq_ignore_ascii_case(wanted))
    }

    /// Takes the next token if it is this word.
    fn takes_word(&mut self, wanted: &str) -> Result<bool, ExpressionError> {
        let is = self.is_word(wanted);
        if is {
            self.take()?;
        }
        Ok(is)
    }

    fn expect(&mut self, wanted: &Token, expected: &'static str) -> Result<(), ExpressionError> {
        match self.takes(wanted)? {
            true => Ok(()),
            false => self.unexpected(expected),
        }
    }

    fn any(&mut self, depth: usize) -> Result<Node, ExpressionError> {
        let mut nodes = vec![self.all(depth)?];
        while self.takes(&Token::Or)? || self.takes_word("or")? {
            nodes.push(self.all(depth)?);
        }
        Ok(single(nodes, Node::Any))
    }

    fn all(&mut self, depth: usize) -> Result<Node, ExpressionError> {
        let mut nodes = vec![self.one(depth)?];
        while self.takes(&Token::And)? || self.takes_word("and")? {
            nodes.push(self.one(depth)?);
        }
        Ok(single(nodes, Node::All))
    }

    fn one(&mut self, depth: usize) -> Result<Node, ExpressionError> {
        if depth > DEPTH_MAX {
            return Err(ExpressionError::TooDeep {
                most: DEPTH_MAX,
                column: self.column,
            });
        }
        if self.takes_word("not")? {
            return Ok(Node::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.takes(&Token::Open)? {
            let node = self.any(depth + 1)?;
            self.expect(&Token::Close, "')'")?;
            return Ok(node);
        }
        self.test()
    }

    fn test(&mut self) -> Result<Node, ExpressionError> {
        let column = self.column;
        let name = match self.take()? {
            Token::Word(name) => name,
            other => {
                return Err(ExpressionError::Unexpected {
                    expected: "a field",
                    found: other.shown(),
                    column,
                });
            }
        };
        if self.token == Token::Open {
            return self.function(&name, column);
        }
        let tag = self.tag(&name, column)?;
        if let Token::Relation(relation) = self.token {
            self.take()?;
            let constant = self.constant(tag)?;
            return Ok(Node::Test(tag, Test::Is(relation, constant)));
        }
        if self.takes_word("is")? {
            let is_present = self.takes_word("not")?;
            if !self.takes_word("null")? {
                return self.unexpected("'null'");
            }
            let present = Node::Test(tag, Test::Present);
            return Ok(match is_present {
                true => present,
                false => Node::Not(Box::new(present)),
            });
        }
        let is_not = self.takes_word("not")?;
        if !self.takes_word("in")? {
            return self.unexpected("a comparison, 'in' or 'is'");
        }
        let found = Node::Test(tag, Test::In(self.list(tag)?));
        // What a message lacks is not in the list, and not outside of it.
        Ok(match is_not {
            true => Node::All(vec![
                Node::Test(tag, Test::Present),
                Node::Not(Box::new(found)),
            ]),
            false => found,
        })
    }

    fn function(&mut self, name: &str, column: usize) -> Result<Node, ExpressionError> {
        let test = match name.to_ascii_lowercase().as_str() {
            "contains" => Test::Contains,
            "starts_with" => Test::StartsWith,
            "ends_with" => Test::EndsWith,
            _ => {
                return Err(ExpressionError::Unexpected {
                    expected: "a field, 'contains', 'starts_with' or 'ends_with'",
                    found: format!("'{}'", name.escape_debug()),
                    column,
                });
            }
        };
        self.expect(&Token::Open, "'('")?;
        let column = self.column;
        let Token::Word(field) = &self.token else {
            return self.unexpected("a field");
        };
        let tag = self.tag(field, column)?;
        self.take()?;
        self.expect(&Token::Comma, "','")?;
        let text = match &self.token {
            Token::Text(text) => text.clone(),
            Token::Word(text) => text.clone().into_bytes(),
            _ => return self.unexpected("a value"),
        };
        self.take()?;
        self.expect(&Token::Close, "')'")?;
        Ok(Node::Test(tag, test(text)))
    }

    fn tag(&self, name: &str, column: usize) -> Result<u32, ExpressionError> {
        let text = || format!("'{}'", name.escape_debug());
        self.names
            .tag(name)
            .ok_or_else(|| match name.bytes().all(|byte| byte.is_ascii_digit()) {
                true => ExpressionError::NoTag {
                    text: text(),
                    column,
                },
                false => ExpressionError::UnknownField {
                    name: text(),
                    column,
                },
            })
    }

    fn constant(&mut self, tag: u32) -> Result<Constant, ExpressionError> {
        let constant = match &self.token {
            Token::Text(text) => Constant {
                text: text.clone(),
                kind: Kind::Bytes,
            },
            Token::Word(text) => {
                let text = self.names.value(tag, text).unwrap_or(text);
                Constant {
                    kind: self.kind(tag, text)?,
                    text: text.as_bytes().to_vec(),
                }
            }
            _ => return self.unexpected("a value"),
        };
        self.take()?;
        Ok(constant)
    }

    /// What a value without quotes is, by the type of its field.
    fn kind(&self, tag: u32, text: &str) -> Result<Kind, ExpressionError> {
        let field = self.names.field(tag);
        let name = || field.map_or("", FieldSpec::name);
        let wrong = |expected: String| {
            Err(ExpressionError::NoValue {
                value: format!("'{}'", text.escape_debug()),
                column: self.column,
                expected,
            })
        };
        let is_number = Number::parse(text.as_bytes()).is_some();
        let number = "number such as 41.5";
        match field.map(|field| (field.data_type(), field.values().is_empty())) {
            Some((DataType::UtcTimestamp, _)) => match Moment::parse(text) {
                Some(moment) => Ok(Kind::Time(moment)),
                None => wrong("time such as 20260305, 20260305-14:02 or 14:02".to_owned()),
            },
            // An id is no number, whatever its digits are.
            Some((DataType::String, true)) => Ok(Kind::Bytes),
            Some((data_type, _)) if is_numeric(data_type) => match is_number {
                true => Ok(Kind::Number),
                false => wrong(number.to_owned()),
            },
            Some((_, false)) if !self.names.may_have(tag, text) && !is_number => {
                wrong(format!("value of {}", name()))
            }
            _ if is_number => Ok(Kind::Number),
            _ if is_other_form(text) => wrong(number.to_owned()),
            _ => Ok(Kind::Bytes),
        }
    }

    fn list(&mut self, tag: u32) -> Result<Vec<Constant>, ExpressionError> {
        self.expect(&Token::Open, "'('")?;
        let mut list = vec![self.constant(tag)?];
        while self.takes(&Token::Comma)? {
            list.push(self.constant(tag)?);
        }
        self.expect(&Token::Close, "',' or ')'")?;
        Ok(list)
    }
}

/// Whether the values of a type are numbers.
fn is_numeric(data_type: DataType) -> bool {
    use DataType as Type;
    matches!(
        data_type,
        Type::Int
            | Type::Length
            | Type::SeqNum
            | Type::NumInGroup
            | Type::DayOfMonth
            | Type::Float
            | Type::Qty
            | Type::Price
            | Type::PriceOffset
            | Type::Amt
            | Type::Percentage
    )
}

/// The only node, or all of them together.
fn single(mut nodes: Vec<Node>, all: fn(Vec<Node>) -> Node) -> Node {
    match (nodes.len(), nodes.pop()) {
        (1, Some(node)) => node,
        (_, last) => {
            nodes.extend(last);
            all(nodes)
        }
    }
}

#[cfg(test)]
mod tests;
