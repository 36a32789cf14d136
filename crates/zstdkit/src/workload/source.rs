//! Source code: functions over a vocabulary of identifiers, with comments and tests. It is not valid in
//! any language.

use super::prng::Prng;
use super::text::{Words, decimal, hex, put};

const TYPES: [&str; 12] = [
    "u64",
    "usize",
    "&str",
    "u32",
    "Vec<u8>",
    "bool",
    "&[u8]",
    "Option<usize>",
    "String",
    "i64",
    "Result<(), Error>",
    "Duration",
];
const OPERATORS: [&str; 12] = [
    " + ", " - ", " == ", " < ", " && ", " * ", " != ", " >> ", " & ", " | ", " >= ", " % ",
];
const DEPTH_MAX: usize = 4;

pub(super) struct Code {
    identifiers: Words,
    /// Names used over and over in the current file.
    local: Vec<String>,
    types: Words,
    prose: Words,
    functions_left: u64,
}

impl Code {
    pub(super) fn new(prng: &mut Prng) -> Self {
        Self {
            identifiers: Words::invent(prng, 5000),
            local: Vec::new(),
            types: Words::invent(prng, 400),
            prose: Words::prose(prng, 5000),
            functions_left: 0,
        }
    }

    pub(super) fn append(&mut self, prng: &mut Prng, out: &mut Vec<u8>) {
        if self.functions_left == 0 {
            self.begin_file(prng, out);
        }
        self.functions_left -= 1;
        if prng.chance(60) {
            for _ in 0..prng.range(1, 4) {
                put(out, "/// ");
                self.prose.sentence(prng, out);
                out.push(b'\n');
            }
        }
        put(out, if prng.chance(50) { "pub fn " } else { "fn " });
        self.identifier(prng, out);
        out.push(b'(');
        for argument in 0..prng.range(0, 4) {
            if argument > 0 {
                put(out, ", ");
            }
            self.local(prng, out);
            put(out, ": ");
            self.type_name(prng, out);
        }
        put(out, ") -> ");
        self.type_name(prng, out);
        put(out, " {\n");
        for _ in 0..prng.range(2, 12) {
            self.statement(prng, 1, out);
        }
        put(out, "}\n\n");
    }

    fn begin_file(&mut self, prng: &mut Prng, out: &mut Vec<u8>) {
        self.functions_left = prng.range(5, 40);
        self.local = (0..40)
            .map(|_| match prng.chance(55) {
                true => self.identifiers.pick(prng).to_owned(),
                false => {
                    format!(
                        "{}_{}",
                        self.identifiers.pick(prng),
                        self.identifiers.pick(prng)
                    )
                }
            })
            .collect();
        put(out, "//! ");
        self.prose.sentence(prng, out);
        put(out, "\n\n");
        for _ in 0..prng.range(2, 9) {
            put(out, "use crate::");
            self.identifier(prng, out);
            put(out, "::");
            self.identifier(prng, out);
            put(out, ";\n");
        }
        out.push(b'\n');
    }

    fn statement(&self, prng: &mut Prng, depth: usize, out: &mut Vec<u8>) {
        indent(depth, out);
        match prng.below(100) {
            0..34 => {
                put(out, "let ");
                self.local(prng, out);
                put(out, " = ");
                self.expression(prng, 2, out);
                put(out, ";\n");
            }
            34..52 => {
                put(out, "self.");
                self.local(prng, out);
                put(out, " = ");
                self.expression(prng, 1, out);
                put(out, ";\n");
            }
            52..60 => {
                put(out, "// ");
                let count = prng.range(3, 11);
                self.prose.phrase(prng, count, out);
                out.push(b'\n');
            }
            60..68 => {
                put(out, "return Err(Error::");
                put(out, self.types.pick(prng));
                put(out, " { offset });\n");
            }
            68..80 => {
                put(out, "assert_eq!(");
                self.expression(prng, 1, out);
                put(out, ", ");
                self.expression(prng, 1, out);
                put(out, ");\n");
            }
            _ if depth < DEPTH_MAX => {
                put(out, prng.pick(&["if ", "while ", "if let Some(found) = "]));
                self.expression(prng, 2, out);
                put(out, " {\n");
                for _ in 0..prng.range(1, 5) {
                    self.statement(prng, depth + 1, out);
                }
                indent(depth, out);
                put(out, "}\n");
            }
            _ => put(out, "continue;\n"),
        }
    }

    fn expression(&self, prng: &mut Prng, depth: u64, out: &mut Vec<u8>) {
        match prng.below(10) {
            0..3 => self.local(prng, out),
            3 => {
                put(out, "0x");
                let value = prng.skewed(16);
                hex(out, value, 4);
            }
            4 => decimal(out, prng.skewed(10)),
            5 | 6 if depth > 0 => {
                self.expression(prng, depth - 1, out);
                put(out, prng.pick(&OPERATORS));
                self.expression(prng, depth - 1, out);
            }
            7 if depth > 0 => {
                self.identifier(prng, out);
                out.push(b'(');
                self.expression(prng, depth - 1, out);
                put(out, ")?");
            }
            8 => {
                put(out, "\"");
                let count = prng.range(1, 5);
                self.prose.phrase(prng, count, out);
                put(out, "\"");
            }
            _ => {
                put(out, "self.");
                self.local(prng, out);
                put(
                    out,
                    prng.pick(&[".len()", ".iter()", "", ".get(at)", ".clone()", ""]),
                );
            }
        }
    }

    fn identifier(&self, prng: &mut Prng, out: &mut Vec<u8>) {
        put(out, self.identifiers.pick(prng));
        if prng.chance(35) {
            out.push(b'_');
            put(out, self.identifiers.pick(prng));
        }
    }

    fn local(&self, prng: &mut Prng, out: &mut Vec<u8>) {
        // The lower of two draws: a file's first names are used most.
        let count = self.local.len() as u64;
        let at = prng.below(count).min(prng.below(count));
        put(out, &self.local[at as usize]);
    }

    fn type_name(&self, prng: &mut Prng, out: &mut Vec<u8>) {
        if prng.chance(60) {
            put(out, prng.pick(&TYPES));
        } else {
            let start = out.len();
            put(out, self.types.pick(prng));
            out[start].make_ascii_uppercase();
        }
    }
}

fn indent(depth: usize, out: &mut Vec<u8>) {
    (0..depth).for_each(|_| put(out, "    "));
}
