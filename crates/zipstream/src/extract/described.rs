//! The other way: what an entry says of the file that it is made of.

use std::fs::Metadata;

use jiff::Timestamp;

use crate::extract::utc_offset_seconds;
use crate::write::EntryOptions;

/// Sets when a file was changed, with the zone of this system at that time, and on Unix its mode. What the system does
/// not say stays as it was.
pub fn describe(options: &mut EntryOptions, file: &Metadata) {
    let modified = file.modified().ok();
    let modified = modified.and_then(|time| Timestamp::try_from(time).ok());
    if let Some(modified) = modified {
        let seconds = modified.as_second();
        options.modified = Some(seconds);
        options.utc_offset_seconds = utc_offset_seconds(seconds);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        options.mode = file.permissions().mode();
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn an_entry_has_the_time_of_its_file() {
        let file = tempfile::tempfile().unwrap();
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        file.set_modified(modified).unwrap();
        let mut options = EntryOptions::default();
        describe(&mut options, &file.metadata().unwrap());
        assert_eq!(options.modified, Some(1_700_000_000));
        assert_eq!(
            options.utc_offset_seconds,
            utc_offset_seconds(1_700_000_000)
        );
        #[cfg(unix)]
        assert_eq!(options.mode & 0o170_000, 0o100_000);
    }
}
