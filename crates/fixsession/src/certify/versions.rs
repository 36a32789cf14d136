//! The versions that scenarios are run for, and how their messages differ.

use fixcore::dict::Version;

use super::seen::Seen;

/// The versions that a session can have.
pub const VERSIONS: [Version; 8] = [
    Version::Fix40,
    Version::Fix41,
    Version::Fix42,
    Version::Fix43,
    Version::Fix44,
    Version::Fix50,
    Version::Fix50Sp1,
    Version::Fix50Sp2,
];

/// SessionRejectReason (373) of FIX 4.2 ends here.
const REASON_MAX_FIX42: u32 = 11;

/// BeginString (8) of a version: `FIXT.1.1` from 5.0 on.
#[must_use]
pub fn begin_string(version: Version) -> &'static str {
    match version {
        Version::Fix40 => "FIX.4.0",
        Version::Fix41 => "FIX.4.1",
        Version::Fix42 => "FIX.4.2",
        Version::Fix43 => "FIX.4.3",
        Version::Fix44 => "FIX.4.4",
        _ => "FIXT.1.1",
    }
}

/// The version that a Logon (35=A) names, by BeginString (8) and, for FIXT, DefaultApplVerID (1137). `None`
/// for other messages and versions.
#[must_use]
pub fn logon_version(message: &[u8]) -> Option<Version> {
    let seen = Seen::read(message.to_vec()).ok()?;
    let is_it = |version: &Version| {
        let application = appl_ver_id(*version).map(str::as_bytes);
        seen.get("8") == Some(begin_string(*version).as_bytes())
            && (application.is_none() || seen.get("1137") == application)
    };
    VERSIONS.into_iter().find(is_it).filter(|_| seen.is("A"))
}

/// ApplVerID (1128, 1137) of a version whose transport is FIXT.
pub(super) fn appl_ver_id(version: Version) -> Option<&'static str> {
    match version {
        Version::Fix50 => Some("7"),
        Version::Fix50Sp1 => Some("8"),
        Version::Fix50Sp2 => Some("9"),
        _ => None,
    }
}

/// Whether a Reject has RefTagID (371), RefMsgType (372) and SessionRejectReason (373).
pub(super) fn has_references(version: Version) -> bool {
    !matches!(version, Version::Fix40 | Version::Fix41)
}

/// Whether a Reject states this SessionRejectReason (373).
pub(super) fn has_reason(version: Version, reason: u32) -> bool {
    has_references(version) && (version != Version::Fix42 || reason <= REASON_MAX_FIX42)
}
