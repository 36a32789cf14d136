//! The dictionaries of a session.

use std::path::PathBuf;

use super::reader::Reader;
use super::value::appl_ver_id;

/// The dictionaries of a session, as files of QuickFIX XML. Where none is named, the built-in ones serve.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DictionaryOptions {
    /// `DataDictionary`, for FIX.4.0 to FIX.4.4.
    pub data: Option<PathBuf>,
    /// `TransportDataDictionary`, for FIXT.1.1.
    pub transport: Option<PathBuf>,
    /// `AppDataDictionary` and `AppDataDictionary.VERSION`, for FIXT.1.1: by ApplVerID (1128), ascending.
    pub application: Vec<(String, PathBuf)>,
}

/// Why dictionaries of FIXT change nothing before it.
pub(super) const OF_FIXT: &str = "only FIXT.1.1 has dictionaries of transport and application: FIX.4.0 to FIX.4.4 use DataDictionary";

pub(super) fn dictionaries(
    reader: &Reader<'_>,
    begin_string: &str,
    default_version: Option<&str>,
) -> DictionaryOptions {
    let mut application = Vec::new();
    for (version, stated) in reader.versions("AppDataDictionary") {
        match appl_ver_id(&version) {
            Some(id) => application.push((id.to_owned(), stated.value.into())),
            None => reader.conflict(
                &stated,
                "expected a version after the point, such as FIX.5.0SP2",
            ),
        }
    }
    if let (Some(path), Some(version)) = (reader.path("AppDataDictionary"), default_version)
        && !application.iter().any(|(id, _)| id == version)
    {
        application.push((version.to_owned(), path));
    }
    application.sort();
    let is_fixt = begin_string == "FIXT.1.1" || begin_string == "*";
    if is_fixt
        && let Some(stated) = reader.stated("DataDictionary")
        && begin_string != "*"
    {
        let why = "FIXT.1.1 uses TransportDataDictionary and AppDataDictionary in its place";
        reader.no_effect(&stated, why);
    }
    if !is_fixt {
        let versions = reader.versions("AppDataDictionary");
        let rests = versions.iter().map(|(version, _)| format!(".{version}"));
        let application = std::iter::once(String::new()).chain(rests);
        let mut own: Vec<_> = application
            .filter_map(|rest| reader.own("AppDataDictionary", &rest))
            .collect();
        own.extend(reader.own("TransportDataDictionary", ""));
        for stated in own {
            reader.no_effect(&stated, OF_FIXT);
        }
    }
    DictionaryOptions {
        data: reader.path("DataDictionary"),
        transport: reader.path("TransportDataDictionary"),
        application,
    }
}
