//! Rust sources as words: comments, strings and characters left out, so that a rule about a keyword
//! is about the keyword. Not a parser: what words mean together is not looked at, but for lint
//! attributes.

/// A word or a character of code, and the line that it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'c> {
    pub(super) text: &'c str,
    line_index: usize,
}

/// The lines that have the keyword `unsafe`.
pub(super) fn unsafe_lines(content: &str) -> Vec<usize> {
    let tokens = tokens(content).into_iter();
    let found = tokens.filter(|token| token.text == "unsafe");
    found.map(|token| token.line_index).collect()
}

/// The lines with an attribute that lets code be unsafe: `allow`, `expect` or `warn`.
pub(super) fn permits_unsafe(content: &str) -> Vec<usize> {
    let tokens = tokens(content);
    let mut lines = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let opens = tokens.get(at + 1).is_some_and(|next| next.text == "(");
        if !opens || !["allow", "expect", "warn"].contains(&token.text) {
            continue;
        }
        let inside = tokens.iter().skip(at).take_while(|token| token.text != "]");
        let inside = inside.take_while(|token| token.text != ")");
        if inside.into_iter().any(|token| token.text == "unsafe_code") {
            lines.push(token.line_index);
        }
    }
    lines
}

pub(super) fn tokens(content: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer {
        content,
        at: 0,
        line_index: 0,
    };
    let mut tokens = Vec::new();
    while let Some(first) = lexer.rest().chars().next() {
        let (start, line_index) = (lexer.at, lexer.line_index);
        if lexer.rest().starts_with("//") {
            lexer.until(|rest| rest.starts_with('\n'));
        } else if lexer.rest().starts_with("/*") {
            lexer.block_comment();
        } else if first == '"' {
            lexer.string();
        } else if first == '\'' {
            lexer.quote();
        } else if is_in_word(first) {
            lexer.until(|rest| !rest.starts_with(is_in_word));
            let text = &content[start..lexer.at];
            if !lexer.literal_behind(text) {
                tokens.push(Token { text, line_index });
            }
        } else {
            lexer.skip(first.len_utf8());
            if !first.is_whitespace() {
                let text = &content[start..lexer.at];
                tokens.push(Token { text, line_index });
            }
        }
    }
    tokens
}

/// The names that paths take out of a module, `name` in `module::name` and in `module::{name, …}`, each
/// with its line.
pub(super) fn children<'c>(content: &'c str, module: &str) -> Vec<(usize, &'c str)> {
    let tokens = tokens(content);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let behind = tokens.get(at + 1..).unwrap_or_default();
        let is_path = behind
            .iter()
            .take(2)
            .filter(|next| next.text == ":")
            .count()
            == 2;
        let Some(first) = behind.get(2).filter(|_| is_path && token.text == module) else {
            continue;
        };
        if first.text != "{" {
            found.push((first.line_index, first.text));
            continue;
        }
        let (mut depth, mut starts) = (0_usize, false);
        for token in &behind[2..] {
            match token.text {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                name if starts && depth == 1 => found.push((token.line_index, name)),
                _ => {}
            }
            if depth == 0 {
                break;
            }
            starts = matches!(token.text, "{" | ",");
        }
    }
    found
}

pub(super) fn is_in_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

struct Lexer<'c> {
    content: &'c str,
    at: usize,
    line_index: usize,
}

impl<'c> Lexer<'c> {
    fn rest(&self) -> &'c str {
        self.content.get(self.at..).unwrap_or("")
    }

    /// Skips a number of bytes that ends at a character boundary.
    fn skip(&mut self, bytes: usize) {
        let over = self.rest().get(..bytes).unwrap_or(self.rest());
        self.line_index += over.matches('\n').count();
        self.at += over.len();
    }

    /// Passes over characters up to the first place of which this is true, or the end.
    fn until(&mut self, is_there: impl Fn(&str) -> bool) {
        while let Some(char) = self.rest().chars().next() {
            if is_there(self.rest()) {
                return;
            }
            self.skip(char.len_utf8());
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            if self.rest().starts_with("/*") {
                depth += 1;
                self.skip(2);
            } else if self.rest().starts_with("*/") {
                depth -= 1;
                self.skip(2);
            } else {
                self.until(|rest| rest.starts_with("/*") || rest.starts_with("*/"));
            }
            if depth == 0 || self.rest().is_empty() {
                return;
            }
        }
    }

    /// A string from its quote on, or a character: to the same quote without a backslash before it.
    fn string(&mut self) {
        let quote = self.rest().chars().next();
        self.skip(1);
        while let Some(char) = self.rest().chars().next() {
            self.skip(char.len_utf8());
            if char == '\\' {
                self.skip(self.rest().chars().next().map_or(0, char::len_utf8));
            } else if Some(char) == quote {
                return;
            }
        }
    }

    /// A character, or the quote of a lifetime, whose name is no keyword.
    fn quote(&mut self) {
        let mut behind = self.rest().chars().skip(1);
        match (behind.next(), behind.next()) {
            (Some('\\'), _) | (Some(_), Some('\'')) => self.string(),
            _ => {
                self.skip(1);
                self.until(|rest| !rest.starts_with(is_in_word));
            }
        }
    }

    /// Passes over the literal, or the raw name, that a word is the prefix of; whether it is of one.
    fn literal_behind(&mut self, word: &str) -> bool {
        let rest = self.rest();
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        let is_raw = ["r", "br", "cr"].contains(&word);
        if is_raw && rest[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            self.skip(hashes + 1);
            self.until(|rest| rest.starts_with(&end));
            self.skip(end.len());
            return true;
        }
        if word == "r" && hashes == 1 && rest[1..].starts_with(is_in_word) {
            self.skip(1);
            self.until(|rest| !rest.starts_with(is_in_word));
            return true;
        }
        let is_string = ["b", "c"].contains(&word) && rest.starts_with('"');
        if is_string || (word == "b" && rest.starts_with('\'')) {
            self.string();
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keyword_is_found_wherever_it_is_code() {
        for code in [
            "unsafe { a() }",
            "pub unsafe fn a() {}",
            "unsafe impl Send for A {}",
            "unsafe extern \"C\" {}",
            "#[unsafe(no_mangle)]",
            "macro_rules! a { () => { unsafe { b() } } }",
            "let a = 'a'; unsafe {}",
            "fn a<'a>(b: &'a u8) { unsafe {} }",
            "let a = '\\''; unsafe {}",
            "let a = b'\"'; unsafe {}",
            "let a = \"\\\\\"; unsafe {}",
            "let a = r\"\\\"; unsafe {}",
            "let a = r#\"\"quoted\"\"#; unsafe {}",
            "/* a /* b */ c */ unsafe {}",
            "a();//\nunsafe {}",
            "let r = 1; let a = r; unsafe {}",
            "let a = 1..2; unsafe{}",
            "let ü = 'ü'; unsafe {}",
        ] {
            let line = code.matches('\n').count();
            assert_eq!(unsafe_lines(code), [line], "{code}");
        }
    }

    #[test]
    fn what_is_no_code_is_no_keyword() {
        for code in [
            "// unsafe { a() }",
            "//! unsafe",
            "/* unsafe /* unsafe */ unsafe */",
            "let a = \"unsafe\";",
            "let a = \"\\\" unsafe\";",
            "let a = b\"unsafe\";",
            "let a = c\"unsafe\";",
            "let a = r\"unsafe\\\";",
            "let a = r#\"\" unsafe \"\"#;",
            "let a = br##\"\"# unsafe\"##;",
            "let r#unsafe = 1;",
            "let 'unsafe: loop {}",
            "#![forbid(unsafe_code)]",
            "fn unsafe_names(not_unsafe: u8) {}",
            "let a = \"unterminated unsafe",
            "/* unterminated unsafe",
        ] {
            assert!(unsafe_lines(code).is_empty(), "{code}");
        }
    }

    #[test]
    fn attributes_that_permit_are_told_from_those_that_forbid() {
        for code in [
            "#![allow(unsafe_code)]",
            "#[allow(\n    unsafe_code,\n    reason = \"speed\"\n)]",
            "#[expect(dead_code, unsafe_code)]",
            "#[cfg_attr(unix, allow(unsafe_code))]",
        ] {
            assert_eq!(permits_unsafe(code).len(), 1, "{code}");
        }
        for code in [
            "#![forbid(unsafe_code)]",
            "#![deny(unsafe_code)]\n#![allow(dead_code)]",
            "// #![allow(unsafe_code)]",
            "let a = \"#![allow(unsafe_code)]\";",
            "#[allow(dead_code)]\nfn unsafe_code() {}",
        ] {
            assert!(permits_unsafe(code).is_empty(), "{code}");
        }
    }
}
