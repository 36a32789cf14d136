//! Messages as rows: chosen fields as JSON or CSV, or the message as its log has it.

use fixcore::{DataPairs, Message};

use crate::spell::Speller;
use crate::{Lines, Place};

/// The form of rows.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowForm {
    /// A line of JSON.
    #[default]
    Json,
    /// A line of comma-separated values (RFC 4180) with LF line ends.
    Csv,
    /// What the line of the log has before the message, the message with the separator of its log, and the
    /// end of a line. What stands behind the message is left out.
    Raw,
}

/// The columns of CSV before those of fields.
const PLACE_COLUMNS: &str = "file,line,offset,time,msg_type";
/// Where no fields are chosen: columns of the header, and the whole message.
const WHOLE_COLUMNS: [(&str, u32); 3] = [("sender", 49), ("target", 56), ("number", 34)];
/// SendingTime.
const SENT: u32 = 52;

/// What rows have, and how.
///
/// ```
/// use fixcore::Decoder;
/// use fixlog::{Lines, Place, RowForm, RowWriter, Rows};
///
/// let rows = Rows::new(RowForm::Csv, Lines::new()).fields([("ClOrdID", 11), ("OrdStatus", 39)]);
/// let mut text = Vec::new();
/// fixcore::frame::write(b"FIX.4.4", b"35=8\x0152=20260305-14:15:16\x0111=a,b\x0139=2\x01", &mut text);
/// let mut decoder = Decoder::new();
/// let message = decoder.parse(&text)?;
/// let mut out = rows.head().into_bytes();
/// let place = Place { path: None, offset: 100, line: Some(3), origin: None };
/// RowWriter::new(None).message(&rows, &mut out, place, (&message, b"\x01"), b"");
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     "file,line,offset,time,msg_type,ClOrdID,OrdStatus\n,3,100,20260305-14:15:16,8,\"a,b\",2\n"
/// );
/// # Ok::<(), fixcore::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rows {
    form: RowForm,
    lines: Lines,
    fields: Vec<(String, u32)>,
}

impl Rows {
    /// Rows of whole messages.
    #[must_use]
    pub fn new(form: RowForm, lines: Lines) -> Self {
        let fields = Vec::new();
        Self {
            form,
            lines,
            fields,
        }
    }

    /// Chooses fields by tag, each with the name of its column. Raw rows have all fields.
    #[must_use]
    pub fn fields<N: Into<String>>(mut self, fields: impl IntoIterator<Item = (N, u32)>) -> Self {
        let fields = fields.into_iter().map(|(name, tag)| (name.into(), tag));
        self.fields.extend(fields);
        self
    }

    /// The form.
    #[must_use]
    pub fn form(&self) -> RowForm {
        self.form
    }

    /// The line before all rows: the names of columns in CSV, else nothing.
    #[must_use]
    pub fn head(&self) -> String {
        if self.form != RowForm::Csv {
            return String::new();
        }
        let mut head = PLACE_COLUMNS.as_bytes().to_vec();
        let whole = WHOLE_COLUMNS.map(|column| column.0);
        let chosen = self.fields.iter().map(|field| field.0.as_str());
        let names: Vec<_> = match self.fields.is_empty() {
            true => whole.into_iter().chain(["message"]).collect(),
            false => chosen.collect(),
        };
        for name in names {
            head.push(b',');
            cell(&mut head, name.as_bytes());
        }
        head.push(b'\n');
        String::from_utf8_lossy(&head).into_owned()
    }

    pub(crate) fn tags(&self) -> impl Iterator<Item = u32> {
        self.fields.iter().map(|field| field.1)
    }

    fn json(&self, out: &mut Vec<u8>, place: Place<'_>, message: &Message<'_, '_>) {
        if self.fields.is_empty() {
            return self.lines.message(out, place, message);
        }
        self.lines.begin(out, place);
        if let Some(time) = message.get(SENT) {
            out.extend_from_slice(b",\"time\":");
            self.lines.string(out, time);
        }
        out.extend_from_slice(b",\"msg_type\":");
        self.lines.string(out, message.msg_type());
        let chosen = self.fields.iter().flat_map(|(_, tag)| {
            let fields = message.fields();
            fields.filter(move |field| field.tag == *tag)
        });
        self.lines.pairs(out, chosen);
    }

    fn csv(&self, out: &mut Vec<u8>, place: Place<'_>, message: &Message<'_, '_>, pipes: &[u8]) {
        let path = place.path.map(|path| path.as_os_str().as_encoded_bytes());
        cell(out, path.unwrap_or_default());
        out.push(b',');
        if let Some(line) = place.line {
            out.extend_from_slice(line.to_string().as_bytes());
        }
        out.push(b',');
        out.extend_from_slice(place.offset.to_string().as_bytes());
        out.push(b',');
        cell(out, message.get(SENT).unwrap_or_default());
        out.push(b',');
        cell(out, message.msg_type());
        if self.fields.is_empty() {
            for (_, tag) in WHOLE_COLUMNS {
                out.push(b',');
                cell(out, message.get(tag).unwrap_or_default());
            }
            out.push(b',');
            cell(out, pipes);
        }
        for (_, tag) in &self.fields {
            out.push(b',');
            let mut values = message.fields().filter(|field| field.tag == *tag);
            let first = values.next().map_or(&b""[..], |field| field.value);
            match values.next() {
                None => cell(out, first),
                Some(second) => {
                    let mut all = [first, second.value].join(&b';');
                    for field in values {
                        all.push(b';');
                        all.extend_from_slice(field.value);
                    }
                    cell(out, &all);
                }
            }
        }
        out.push(b'\n');
    }
}

/// Writes rows, with the buffers of one thread.
#[derive(Debug)]
pub struct RowWriter {
    speller: Speller,
    text: Vec<u8>,
}

impl RowWriter {
    /// A writer that knows the data fields of `pairs` beyond those of the standard.
    #[must_use]
    pub fn new(pairs: Option<DataPairs>) -> Self {
        Self {
            speller: Speller::new(pairs.unwrap_or_else(DataPairs::standard)),
            text: Vec::new(),
        }
    }

    /// Appends a message at a place, whose log has this separator, and this before the message on its line.
    pub fn message(
        &mut self,
        rows: &Rows,
        out: &mut Vec<u8>,
        place: Place<'_>,
        (message, separator): (&Message<'_, '_>, &[u8]),
        prefix: &[u8],
    ) {
        match rows.form {
            RowForm::Json => rows.json(out, place, message),
            RowForm::Csv => {
                self.text.clear();
                if rows.fields.is_empty() {
                    let text = &mut self.text;
                    self.speller.message(message, message.bytes(), b"|", text);
                }
                rows.csv(out, place, message, &self.text);
            }
            RowForm::Raw => {
                out.extend_from_slice(prefix);
                self.speller
                    .message(message, message.bytes(), separator, out);
                out.push(b'\n');
            }
        }
    }
}

/// Appends a value of a CSV line, in quotes where it needs them.
fn cell(out: &mut Vec<u8>, value: &[u8]) {
    let quoted = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    let is_blank = |byte: Option<&u8>| byte == Some(&b' ');
    if !value.iter().any(quoted) && !is_blank(value.first()) && !is_blank(value.last()) {
        out.extend_from_slice(value);
        return;
    }
    out.push(b'"');
    for byte in value {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
}
