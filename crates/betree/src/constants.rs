//! The ids that frequency caps of a subscription count by, and the file of these ids.

use std::collections::HashMap;
use std::hash::Hash;

use crate::SubscriptionId;
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

    /// Reads a constants file: comma-separated values, one subscription per line. A header names `id` and any
    /// fields of this type. Without a header the columns are `id`, `campaign_group_id`, `campaign_id`,
    /// `advertiser_id`, `flight_id`. An empty value means none.
    ///
    /// # Errors
    /// The first line that is wrong, with its number.
    pub fn parse(text: &str) -> Result<HashMap<SubscriptionId, Self>> {
        let id = |field: &str| field.parse().ok().map(SubscriptionId);
        Self::parse_by(text, id)
    }

    /// The same where ids are [`Names`](crate::Names) of subscriptions: any text without a comma.
    ///
    /// # Errors
    /// The first line that is wrong, with its number.
    pub fn parse_named(text: &str) -> Result<HashMap<String, Self>> {
        Self::parse_by(text, |field| (!field.is_empty()).then(|| field.to_owned()))
    }

    fn parse_by<I: Hash + Eq>(
        text: &str,
        id: impl Fn(&str) -> Option<I>,
    ) -> Result<HashMap<I, Self>> {
        let mut lines = text.lines().enumerate().peekable();
        let mut columns: Vec<&str> = COLUMNS.to_vec();
        if let Some((_, first)) = lines.peek()
            && first.split(',').any(|field| field.trim() == "id")
        {
            columns = first.split(',').map(str::trim).collect();
            check_header(first, &columns)?;
            lines.next();
        }
        let mut found = HashMap::new();
        for (index, line) in lines {
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            if line.trim().is_empty() {
                continue;
            }
            let (field, constants) = row(&columns, line).map_err(|error| error.line(number))?;
            let Some(id) = id(field) else {
                return Err(wrong(format!("{} is not a valid id", quoted(field))).line(number));
            };
            if found.insert(id, constants).is_some() {
                return Err(wrong(format!("id {field} appears twice")).line(number));
            }
        }
        Ok(found)
    }
}

/// Refuses a column that is unknown, or appears twice, at its place in the first line.
fn check_header(line: &str, columns: &[&str]) -> Result<()> {
    let mut start = 0;
    for (at, (field, name)) in line.split(',').zip(columns).enumerate() {
        let place = start + field.len() - field.trim_start().len();
        start += field.len() + 1;
        if *name != "id" && Constants::default().column(name).is_none() {
            let error = wrong(format!("unknown column {}", quoted(name)));
            return Err(error.help(known(name)).at(line, place).line(1));
        }
        if columns[..at].contains(name) {
            let error = wrong(format!("column {} appears twice", quoted(name)));
            return Err(error.at(line, place).line(1));
        }
    }
    Ok(())
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

/// The field of the id, and the constants.
fn row<'l>(columns: &[&str], line: &'l str) -> Result<(&'l str, Constants)> {
    let mut id = None;
    let mut constants = Constants::default();
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    if fields.len() != columns.len() {
        return Err(wrong(format!(
            "{} values for {} columns",
            fields.len(),
            columns.len()
        )));
    }
    for (name, field) in columns.iter().zip(fields) {
        let wrong = || wrong(format!("{} is not a valid {name}", quoted(field)));
        match constants.column(name) {
            Some(_) if field.is_empty() => {}
            Some(value) => *value = Some(field.parse().map_err(|_| wrong())?),
            None => id = Some(field),
        }
    }
    let id = id.ok_or_else(|| wrong("the id is missing"))?;
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
    fn wrong_lines_are_named() {
        for (text, message) in [
            (
                "id,  colour\n",
                "unknown column 'colour' at line 1, column 6",
            ),
            ("id,id\n", "column 'id' appears twice at line 1, column 4"),
            (
                "id,flight_id\n1\n",
                "1 values for 2 columns at line 2, column 1",
            ),
            (
                "id,flight_id\n1,x\n",
                "'x' is not a valid flight_id at line 2, column 1",
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
