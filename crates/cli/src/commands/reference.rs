//! Dictionaries and older versions: files that frames refer back to, read completely before the work.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use files::conflicts::Flagged;
use files::display;
use files::plan::Jobs;
use zstdkit::{DecoderOptions, Dictionary};

use crate::args::settings::ReferenceArgs;
use crate::failure::{Failure, Result};
use crate::io::open::open;

/// The limit of the zstd command.
const DICTIONARY_BYTES_MAX: u64 = 32 << 20;
/// The largest window of the format.
pub(crate) const PATCH_BYTES_MAX: u64 = 1 << 31;

/// What frames refer back to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reference {
    pub(crate) dictionary: Option<Dictionary>,
    /// The older version of a patch, in memory.
    pub(crate) prefix: Option<Arc<[u8]>>,
    /// The older version of a patch, of which may be read what is needed.
    pub(crate) older: Option<PathBuf>,
}

impl Reference {
    /// Reads what the flags name.
    pub(crate) fn load(args: &ReferenceArgs) -> Result<Self> {
        let dictionary = args.dictionary.as_deref().map(dictionary).transpose()?;
        let prefix = args.patch_from.as_deref().map(older_content);
        Ok(Self {
            dictionary,
            prefix: prefix.transpose()?,
            older: None,
        })
    }

    /// Reads what the flags name but the older version of a patch, which is only looked at: how much of it is needed
    /// depends on the patch.
    pub(crate) fn open(args: &ReferenceArgs) -> Result<Self> {
        if let Some(path) = args.patch_from.as_deref()
            && regular_bytes(path)? == 0
        {
            return Err(empty(path));
        }
        Ok(Self {
            dictionary: args.dictionary.as_deref().map(dictionary).transpose()?,
            prefix: None,
            older: args.patch_from.clone(),
        })
    }

    /// Makes a decoder refer back to it. Returns the older version that patches are applied to.
    #[must_use]
    pub(crate) fn decode_with(self, decoder: &mut DecoderOptions) -> Option<PathBuf> {
        if self.older.is_some() {
            // The window must cover the whole older version that the user chose.
            decoder.window_log_max = 31;
        }
        decoder.dictionaries.extend(self.dictionary);
        self.older
    }
}

/// The files that readers of the frames will need, which must not be overwritten.
pub(crate) fn needed(args: &ReferenceArgs) -> Vec<Flagged<'_>> {
    let named = [
        ("--dictionary", &args.dictionary),
        ("--patch-from", &args.patch_from),
    ];
    named
        .into_iter()
        .filter_map(|(flag, path)| Some((flag, path.as_deref()?)))
        .collect()
}

/// Loads a dictionary from a file.
pub(crate) fn dictionary(path: &Path) -> Result<Dictionary> {
    let bytes = read(path, DICTIONARY_BYTES_MAX)?;
    if bytes.is_empty() {
        return Err(empty(path));
    }
    Dictionary::new(bytes).map_err(|error| {
        Failure::new(format!(
            "cannot use {} as dictionary: {error}",
            display(path)
        ))
        .help("train one with `perfkit compress --train FILES -o DICT`")
    })
}

/// Refuses a patch for several sources, or for a stream whose size is not stated.
pub(crate) fn refuse_unfit(args: &ReferenceArgs, jobs: &Jobs, sized: bool) -> Result<()> {
    if args.patch_from.is_none() {
        return Ok(());
    }
    if jobs.jobs.len() > 1 {
        return Err(Failure::usage(format!(
            "--patch-from needs exactly one file, but {} were named",
            jobs.jobs.len()
        ))
        .help("make one patch per file"));
    }
    if !sized && jobs.jobs.iter().any(|job| job.source.as_os_str() == "-") {
        return Err(
            Failure::usage("--patch-from needs to know the size of standard input")
                .help("add --stream-size, or name a file"),
        );
    }
    Ok(())
}

/// All of the older version of a patch of one frame.
pub(crate) fn older_content(path: &Path) -> Result<Arc<[u8]>> {
    match regular_bytes(path)? {
        bytes if bytes > PATCH_BYTES_MAX => Err(too_large(path, PATCH_BYTES_MAX)),
        _ => match read(path, PATCH_BYTES_MAX)? {
            bytes if bytes.is_empty() => Err(empty(path)),
            bytes => Ok(Arc::from(bytes)),
        },
    }
}

/// The length of a regular file: one that never ends would fill the memory.
pub(crate) fn regular_bytes(path: &Path) -> Result<u64> {
    let metadata = std::fs::metadata(path).map_err(|error| Failure::io("read", path, &error))?;
    match () {
        () if metadata.is_file() => Ok(metadata.len()),
        () if metadata.is_dir() => Err(directory(path)),
        () => Err(Failure::new(format!(
            "cannot refer back to {}: it is not a regular file",
            display(path)
        ))
        .help("save its content to a file first")),
    }
}

fn directory(path: &Path) -> Failure {
    Failure::new(format!("{} is a directory", display(path))).help("name the file itself")
}

fn too_large(path: &Path, most_bytes: u64) -> Failure {
    Failure::new(format!(
        "{} is larger than {} MiB, the most that frames can refer back to",
        display(path),
        most_bytes >> 20
    ))
    .help("use a smaller file")
}

fn read(path: &Path, most_bytes: u64) -> Result<Vec<u8>> {
    let failed = |error| Failure::io("read", path, &error);
    let file = open(path, OpenOptions::new().read(true)).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(directory(path));
    }
    let mut bytes = Vec::new();
    file.take(most_bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > most_bytes {
        return Err(too_large(path, most_bytes));
    }
    Ok(bytes)
}

fn empty(path: &Path) -> Failure {
    Failure::new(format!("{} is empty", display(path))).help("name a file to refer back to")
}
