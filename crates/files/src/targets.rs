//! Several targets that belong together: they appear all at once, or not at all.

use std::path::PathBuf;

use crate::target::{Target, failed};
use crate::temporary::together::{self, Named};
use crate::{Context, Result};

/// Targets of one set, opened. Dropped without [`Targets::commit`] it leaves nothing behind.
#[derive(Debug)]
pub struct Targets {
    all: Vec<Target>,
}

impl Targets {
    /// Prepares all paths: one that cannot be written is refused before anything is written. Existing
    /// files are refused unless `force`; they stay untouched until [`Targets::commit`].
    pub fn create(paths: &[PathBuf], force: bool, context: &Context) -> Result<Self> {
        let create = |path: &PathBuf| Target::create(path, force, None, context);
        Ok(Self {
            all: paths.iter().map(create).collect::<Result<_>>()?,
        })
    }

    /// The targets in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = &Target> {
        self.all.iter()
    }

    /// Makes all files appear under their names. Where one cannot, those that were there before stay.
    /// Pipes and devices have their bytes already; they are flushed first.
    pub fn commit(self) -> Result<()> {
        let mut files = Vec::with_capacity(self.all.len());
        for target in self.all {
            match target {
                Target::File {
                    file,
                    temporary,
                    path,
                    replace,
                } => files.push(Named {
                    file,
                    temporary,
                    path,
                    replace,
                }),
                other => other.commit()?,
            }
        }
        together::persist(files).map_err(|(path, error)| failed(&path, error))
    }
}
