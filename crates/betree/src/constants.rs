//! The ids that frequency caps of a subscription count by, and the file of these ids.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;

use crate::SubscriptionId;
use crate::csv::{Field, Records};
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::expr::CapKind;
use crate::nearest::did_you_mean;

/// The ids that a subscription's frequency caps count by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Constants {
    /// Its advertiser.
    pub advertiser_id: Option<i64>,
    /// Its campaign.
    pub campaign_id: Option<i64>,
    /// Its group of campaigns.
    pub campaign_group_id: Option<i64>,
    /// Its flight.
    pub flight_id: Option<i64>,
    /// Its product.
    pub product_id: Option<i64>,
}

/// Columns of a file without a header.
const COLUMNS: [&str; 5] = [
    "id",
    "campaign_group_id",
    "campaign_id",
    "advertiser_id",
    "flight_id",
];

impl Constants {
    pub(crate) fn get(&self, kind: CapKind) -> Option<i64> {
        match kind {
            CapKind::Advertiser => self.advertiser_id,
            CapKind::Campaign => self.campaign_id,
            CapKind::CampaignGroup => self.campaign_group_id,
            CapKind::Flight => self.flight_id,
            CapKind::Product => self.product_id,
        }
    }

    fn column(&mut self, name: &str) -> Option<&mut Option<i64>> {
        Some(match name {
            "advertiser_id" => &mut self.advertiser_id,
            "campaign_id" => &mut self.campaign_id,
            "campaign_group_id" => &mut self.campaign_group_id,
            "flight_id" => &mut self.flight_id,
            "product_id" => &mut self.product_id,
            _ => return None,
        })
    }

    /// Reads a constants file: comma-separated values (RFC 4180), one subscription per record. A header names `id` and
    /// any fields of this type. Without a header the columns are `id`, `campaign_group_id`, `campaign_id`,
    /// `advertiser_id`, `flight_id`. An empty value means none.
    ///
    /// # Errors
    /// The first value that is wrong, with its line.
    pub fn parse(text: &str) -> Result<HashMap<SubscriptionId, Self>> {
        let id = |field: &str| field.parse().ok().map(SubscriptionId);
        Self::parse_by(text, id)
    }

    /// The same where ids are [`Names`](crate::Names) of subscriptions: any text that is not empty.
    ///
    /// # Errors
    /// The first value that is wrong, with its line.
    pub fn parse_named(text: &str) -> Result<HashMap<String, Self>> {
        Self::parse_by(text, |field| (!field.is_empty()).then(|| field.to_owned()))
    }

    fn parse_by<I: Hash + Eq>(
        text: &str,
        id: impl Fn(&str) -> Option<I>,
    ) -> Result<HashMap<I, Self>> {
        let at = |(error, at): (Error, usize)| error.at(text, at).in_file();
        let mut records = Records::new(text);
        let mut columns: Vec<Cow<'_, str>> = COLUMNS.map(Cow::Borrowed).to_vec();
        let mut first = records.next().map_err(at)?;
        if let Some(fields) = &first
            && let Some(header) = header(fields).map_err(at)?
        {
            columns = header;
            first = None;
        }
        let mut found = HashMap::new();
        while let Some(fields) = match first.take() {
            Some(fields) => Some(fields),
            None => records.next().map_err(at)?,
        } {
            let (field, constants) = row(&columns, &fields).map_err(at)?;
            let Some(id) = id(&field.text) else {
                let error = wrong(format!("{} is not a valid id", quoted(&field.text)));
                return Err(at((error, field.at)));
            };
            if found.insert(id, constants).is_some() {
                let error = wrong(format!("id {} appears twice", field.text));
                return Err(at((error, field.at)));
            }
        }
        Ok(found)
    }
}

/// The columns that the first record names; `None` when it is no header. Refuses a column that is unknown or appears
/// twice, and a header that lacks `id` or has other separators, each with its byte.
fn header<'t>(
    fields: &[Field<'t>],
) -> std::result::Result<Option<Vec<Cow<'t, str>>>, (Error, usize)> {
    let is_column = |name: &str| Constants::default().column(name).is_some();
    let start = fields.first().map_or(0, |field| field.at);
    if let [one] = fields
        && let Some(other) = [';', '\t', '|'].into_iter().find(|c| one.text.contains(*c))
    {
        let message = format!("fields are separated by {other:?}, not by commas");
        let hint = "write commas between the fields, as in `id,flight_id`";
        return Err((wrong(message).help(hint), start));
    }
    if !fields.iter().any(|field| field.text == "id") {
        return match fields.iter().find(|field| is_column(&field.text)) {
            None => Ok(None),
            Some(_) => Err((
                wrong("the header lacks the column 'id'").help(known("")),
                start,
            )),
        };
    }
    for (at, field) in fields.iter().enumerate() {
        let name = &field.text;
        if name != "id" && !is_column(name) {
            let error = wrong(format!("unknown column {}", quoted(name)));
            return Err((error.help(known(name)), field.at));
        }
        if fields[..at].iter().any(|other| other.text == *name) {
            let error = wrong(format!("column {} appears twice", quoted(name)));
            return Err((error, field.at));
        }
    }
    Ok(Some(
        fields.iter().map(|field| field.text.clone()).collect(),
    ))
}

/// The columns that there are.
fn known(name: &str) -> String {
    let names = CapKind::ALL.map(|kind| format!("{}_id", kind.word(false)));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = format!("the columns are id, {}", names.join(", "));
    match did_you_mean(name, names) {
        Some(meant) => format!("{meant} {all}"),
        None => all,
    }
}

/// The field of the id, and the constants; or what is wrong, with its byte.
fn row<'r, 't>(
    columns: &[Cow<'_, str>],
    fields: &'r [Field<'t>],
) -> std::result::Result<(&'r Field<'t>, Constants), (Error, usize)> {
    let mut id = None;
    let mut constants = Constants::default();
    let start = fields.first().map_or(0, |field| field.at);
    if fields.len() != columns.len() {
        let value = if fields.len() == 1 { "value" } else { "values" };
        let message = format!("{} {value} for {} columns", fields.len(), columns.len());
        let hint = format!("the columns are {}", columns.join(", "));
        let hint = match columns.iter().eq(COLUMNS.iter()) {
            true => format!("without a header that names `id`, {hint}"),
            false => hint,
        };
        return Err((wrong(message).help(hint), start));
    }
    for (name, field) in columns.iter().zip(fields) {
        let wrong = || {
            let message = format!("{} is not a valid {name}", quoted(&field.text));
            (wrong(message), field.at)
        };
        match constants.column(name) {
            Some(_) if field.text.is_empty() => {}
            Some(value) => *value = Some(field.text.parse().map_err(|_| wrong())?),
            None => id = Some(field),
        }
    }
    let id = id.ok_or_else(|| (wrong("the id is missing"), start))?;
    Ok((id, constants))
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Constants, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_names_columns_and_without_one_they_have_an_order() {
        let found = Constants::parse("flight_id,id,product_id\n7,1,\n").unwrap();
        let expected = Constants {
            flight_id: Some(7),
            ..Constants::default()
        };
        assert_eq!(found[&SubscriptionId(1)], expected);
        let found = Constants::parse("1,2,3,4,5\n\n2,,,,9\n").unwrap();
        assert_eq!(found[&SubscriptionId(1)].campaign_group_id, Some(2));
        assert_eq!(found[&SubscriptionId(1)].advertiser_id, Some(4));
        assert_eq!(found[&SubscriptionId(2)].flight_id, Some(9));
    }

    #[test]
    fn quoted_fields_are_read_as_exporters_write_them() {
        let text = "\"id\",\"flight_id\"\r\n\"1\",\"5\"\r\n2,\"\"\r\n";
        let found = Constants::parse(text).unwrap();
        assert_eq!(found[&SubscriptionId(1)].flight_id, Some(5));
        assert_eq!(found[&SubscriptionId(2)], Constants::default());
        let text = "id,flight_id\n\"a, \"\"b\"\"\",5\n";
        let found = Constants::parse_named(text).unwrap();
        assert_eq!(found["a, \"b\""].flight_id, Some(5));
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, message) in [
            (
                "id,  colour\n",
                "unknown column 'colour' at line 1, column 6",
            ),
            ("id,id\n", "column 'id' appears twice at line 1, column 4"),
            (
                "id,flight_id\n1\n",
                "1 value for 2 columns at line 2, column 1",
            ),
            (
                "id,flight_id\n1,x\n",
                "'x' is not a valid flight_id at line 2, column 3",
            ),
            (
                "id;flight_id\n1;2\n",
                "fields are separated by ';', not by commas at line 1, column 1",
            ),
            (
                "campaign,flight_id\n1,2\n",
                "the header lacks the column 'id' at line 1, column 1",
            ),
            (
                "\"number\",\"flight\"\n1,2\n",
                "2 values for 5 columns at line 1, column 1",
            ),
            (
                "id,flight_id\n1,\"5\n",
                "a quote is not closed at line 2, column 3",
            ),
            (
                "id,flight_id\n1,2\n1,3",
                "id 1 appears twice at line 3, column 1",
            ),
        ] {
            assert_eq!(Constants::parse(text).unwrap_err().to_string(), message);
        }
    }
}
