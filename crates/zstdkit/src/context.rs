//! Contexts of libzstd that own what they refer to: a digested dictionary, or the prefix of the next
//! frame. Only this module turns options into libzstd parameters.

use std::sync::{Arc, OnceLock};

use self_cell::self_cell;
use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{
    CCtx, CDict, CParameter, DCtx, DDict, DParameter, InBuffer, OutBuffer, ParamSwitch,
    ResetDirective, SafeResult, WriteBuf,
};

use crate::bounds::{WINDOW_LOG_MAX, saturate, within};
use crate::digested::Dictionary;
use crate::error::{self, Error, Repr};
use crate::options::{DecoderOptions, EncoderOptions};
use crate::parameters::Strategy;

struct CompressOwner {
    digested: Option<Arc<CDict<'static>>>,
    prefix: Option<Arc<[u8]>>,
}

self_cell!(
    struct CompressCell {
        owner: CompressOwner,
        #[not_covariant]
        dependent: CCtx,
    }
);

/// A compression context with the options set.
pub(crate) struct CompressContext {
    cell: CompressCell,
    options: EncoderOptions,
}

impl CompressContext {
    pub(crate) fn new(options: &EncoderOptions) -> Result<Self, Error> {
        options.validate()?;
        let owner = CompressOwner {
            digested: match &options.dictionary {
                Some(dictionary) if options.parameters.is_default() => {
                    Some(dictionary.digested_for_level(options.level)?)
                }
                _ => None,
            },
            prefix: options.prefix.clone(),
        };
        let cell = CompressCell::try_new(owner, |owner| {
            let mut context = CCtx::try_create().ok_or(Repr::Memory {
                bytes: None,
                what: "a compression context",
            })?;
            set_parameters(&mut context, options)?;
            match (&owner.digested, &options.dictionary) {
                (Some(digested), _) => context.ref_cdict(digested).map_err(refused_dictionary)?,
                // With custom parameters the dictionary is digested for this context alone, by its
                // first frame.
                (None, Some(dictionary)) => context
                    .load_dictionary(dictionary.bytes())
                    .map_err(refused_dictionary)?,
                (None, None) => 0,
            };
            Ok::<_, Error>(context)
        })?;
        let mut context = Self {
            cell,
            options: options.clone(),
        };
        context.refer_to_prefix().map_err(|code| failure(code, 0))?;
        Ok(context)
    }

    /// The options it was made with.
    pub(crate) fn options(&self) -> &EncoderOptions {
        &self.options
    }

    /// Drops the current frame, pledges the size of the next, and sets whether libzstd ends it with a
    /// checksum.
    pub(crate) fn begin(&mut self, pledged: Option<u64>, checksum: bool) -> SafeResult {
        self.cell.with_dependent_mut(|_, context| {
            context.reset(ResetDirective::SessionOnly)?;
            context.set_parameter(CParameter::ChecksumFlag(checksum))?;
            context.set_pledged_src_size(pledged)
        })?;
        self.refer_to_prefix()
    }

    /// Sets the level of the jobs to come.
    pub(crate) fn set_level(&mut self, level: i32) -> Result<(), Error> {
        let levels = EncoderOptions::levels();
        let (low, high) = (*levels.start(), *levels.end());
        within("level", level.into(), low.into(), high.into())?;
        self.cell
            .with_dependent_mut(|_, context| {
                context.set_parameter(CParameter::CompressionLevel(level))
            })
            .map(drop)
            .map_err(internal)
    }

    /// One step of a stream.
    pub(crate) fn stream(
        &mut self,
        input: &mut InBuffer<'_>,
        output: &mut OutBuffer<'_, [u8]>,
        directive: ZSTD_EndDirective,
    ) -> SafeResult {
        self.cell
            .with_dependent_mut(|_, context| context.compress_stream2(output, input, directive))
    }

    /// A whole frame.
    pub(crate) fn whole<C: WriteBuf + ?Sized>(
        &mut self,
        content: &[u8],
        frame: &mut C,
    ) -> SafeResult {
        let count = self
            .cell
            .with_dependent_mut(|_, context| context.compress2(frame, content));
        // libzstd forgets a prefix after one frame.
        self.refer_to_prefix()?;
        count
    }

    /// Bytes of memory held, without a shared dictionary.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.cell.with_dependent(|_, context| context.sizeof())
    }

    fn refer_to_prefix(&mut self) -> SafeResult {
        self.cell
            .with_dependent_mut(|owner, context| match &owner.prefix {
                Some(prefix) => context.ref_prefix(prefix),
                None => Ok(0),
            })
    }
}

fn set_parameters(context: &mut CCtx<'_>, options: &EncoderOptions) -> Result<(), Error> {
    let mut set = |option, value: i64, parameter| match context.set_parameter(parameter) {
        Ok(_) => Ok(()),
        Err(code) if error::is_out_of_memory(code) => Err(Error::from(Repr::Memory {
            bytes: None,
            what: "worker threads",
        })),
        Err(code) => Err(Repr::ParameterRefused {
            option,
            value,
            reason: error::reason(code),
        }
        .into()),
    };
    let level = options.level;
    set("level", level.into(), CParameter::CompressionLevel(level))?;
    let flags = [
        (
            "checksum",
            options.checksum,
            CParameter::ChecksumFlag(options.checksum),
        ),
        (
            "content_size",
            options.content_size,
            CParameter::ContentSizeFlag(options.content_size),
        ),
        (
            "dictionary_id",
            options.dictionary_id,
            CParameter::DictIdFlag(options.dictionary_id),
        ),
    ];
    for (option, value, parameter) in flags {
        set(option, value.into(), parameter)?;
    }
    if options.long_distance {
        let parameter = CParameter::EnableLongDistanceMatching(true);
        set("long_distance", 1, parameter)?;
    }
    let switch = |on: bool| match on {
        true => ParamSwitch::Enable,
        false => ParamSwitch::Disable,
    };
    if let Some(on) = options.literals {
        let parameter = CParameter::LiteralCompressionMode(switch(on));
        set("literals", on.into(), parameter)?;
    }
    if let Some(on) = options.row_match_finder {
        let parameter = CParameter::UseRowMatchFinder(switch(on));
        set("row_match_finder", on.into(), parameter)?;
    }
    let parameters = &options.parameters;
    let long = &options.long_distance_parameters;
    let hint = options.size_hint.filter(|&hint| hint > 0);
    let logs = [
        (
            "window_log",
            options.window_log,
            CParameter::WindowLog as fn(u32) -> CParameter,
        ),
        ("chain_log", parameters.chain_log, CParameter::ChainLog),
        ("hash_log", parameters.hash_log, CParameter::HashLog),
        ("search_log", parameters.search_log, CParameter::SearchLog),
        ("min_match", parameters.min_match, CParameter::MinMatch),
        (
            "target_length",
            parameters.target_length,
            CParameter::TargetLength,
        ),
        (
            "block_bytes_max",
            options.block_bytes_max,
            CParameter::MaxBlockSize,
        ),
        (
            "target_block_bytes",
            options.target_block_bytes,
            CParameter::TargetCBlockSize,
        ),
        (
            "size_hint",
            hint.map(|hint| u32::try_from(hint).unwrap_or(u32::MAX)),
            CParameter::SrcSizeHint,
        ),
        (
            "long_distance.hash_log",
            long.hash_log,
            CParameter::LdmHashLog,
        ),
        (
            "long_distance.min_match",
            long.min_match,
            CParameter::LdmMinMatch,
        ),
        (
            "long_distance.bucket_log",
            long.bucket_log.filter(|&log| log > 0),
            CParameter::LdmBucketSizeLog,
        ),
        (
            "long_distance.hash_rate_log",
            long.hash_rate_log,
            CParameter::LdmHashRateLog,
        ),
    ];
    for (option, value, parameter) in logs {
        if let Some(value) = value {
            set(option, value.into(), parameter(value))?;
        }
    }
    if let Some(strategy) = parameters.strategy {
        let number = strategy.number().into();
        set("strategy", number, CParameter::Strategy(raw(strategy)))?;
    }
    if options.workers > 0 {
        let workers = options.workers;
        set("workers", workers.into(), CParameter::NbWorkers(workers))?;
        if let Some(size) = options.job_size {
            let value = u32::try_from(size).unwrap_or(u32::MAX);
            set("job_size", saturate(size), CParameter::JobSize(value))?;
        }
        if let Some(log) = options.overlap_log {
            set("overlap_log", log.into(), CParameter::OverlapSizeLog(log))?;
        }
        if options.rsyncable {
            set("rsyncable", 1, CParameter::RSyncable(true))?;
        }
    }
    Ok(())
}

fn raw(strategy: Strategy) -> zstd_safe::Strategy {
    use zstd_safe::Strategy as Raw;
    match strategy {
        Strategy::Fast => Raw::ZSTD_fast,
        Strategy::Dfast => Raw::ZSTD_dfast,
        Strategy::Greedy => Raw::ZSTD_greedy,
        Strategy::Lazy => Raw::ZSTD_lazy,
        Strategy::Lazy2 => Raw::ZSTD_lazy2,
        Strategy::Btlazy2 => Raw::ZSTD_btlazy2,
        Strategy::Btopt => Raw::ZSTD_btopt,
        Strategy::Btultra => Raw::ZSTD_btultra,
        Strategy::Btultra2 => Raw::ZSTD_btultra2,
    }
}

/// The error for a failed compression at this byte of the content.
pub(crate) fn failure(code: usize, offset: u64) -> Error {
    if error::is_out_of_memory(code) {
        Repr::Memory {
            bytes: None,
            what: "the tables of a frame",
        }
        .into()
    } else {
        Repr::Internal {
            offset,
            reason: error::reason(code),
        }
        .into()
    }
}

fn refused_dictionary(code: usize) -> Error {
    if error::is_out_of_memory(code) {
        return Repr::Memory {
            bytes: None,
            what: "a dictionary",
        }
        .into();
    }
    Repr::BadDictionary {
        reason: error::reason(code),
    }
    .into()
}

struct DecompressOwner {
    /// Each is digested for the first frame that needs it.
    dictionaries: Vec<(Dictionary, OnceLock<Arc<DDict<'static>>>)>,
    prefix: Option<Arc<[u8]>>,
}

impl DecompressOwner {
    fn digested(&self, at: usize) -> Result<Option<&DDict<'static>>, Error> {
        let Some((dictionary, digest)) = self.dictionaries.get(at) else {
            return Ok(None);
        };
        if digest.get().is_none() {
            // Another thread may have set it first: it is the same one.
            let _ = digest.set(dictionary.digested_to_decode()?);
        }
        Ok(digest.get().map(Arc::as_ref))
    }
}

self_cell!(
    struct DecompressCell {
        owner: DecompressOwner,
        #[not_covariant]
        dependent: DCtx,
    }
);

/// A decompression context without limits of its own: the callers check them.
pub(crate) struct DecompressContext {
    cell: DecompressCell,
    /// The index of the dictionary it decodes with.
    dictionary: usize,
}

impl DecompressContext {
    pub(crate) fn new(options: &DecoderOptions) -> Result<Self, Error> {
        options.validate()?;
        let dictionaries = options.dictionaries.iter().cloned();
        let owner = DecompressOwner {
            dictionaries: dictionaries.map(|one| (one, OnceLock::new())).collect(),
            prefix: options.prefix.clone(),
        };
        let cell = DecompressCell::try_new(owner, |owner| {
            let what = "a decompression context";
            let mut context = DCtx::try_create().ok_or(Repr::Memory { bytes: None, what })?;
            context
                .set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))
                .and_then(|_| context.set_parameter(DParameter::ForceIgnoreChecksum(true)))
                .map_err(internal)?;
            if let Some(digested) = owner.digested(0)? {
                context.ref_ddict(digested).map_err(refused_dictionary)?;
            }
            Ok::<_, Error>(context)
        })?;
        Ok(Self {
            cell,
            dictionary: 0,
        })
    }

    /// Sets whether libzstd verifies checksums. A new context does not.
    pub(crate) fn verify_checksum(&mut self, verify: bool) -> Result<(), Error> {
        self.cell
            .with_dependent_mut(|_, context| {
                context.set_parameter(DParameter::ForceIgnoreChecksum(!verify))
            })
            .map(drop)
            .map_err(internal)
    }

    /// Drops the current frame and decodes with the dictionary of this index from now on.
    pub(crate) fn use_dictionary(&mut self, at: usize) -> Result<(), Error> {
        if self.dictionary == at {
            return Ok(());
        }
        self.cell.with_dependent_mut(|owner, context| {
            context
                .reset(ResetDirective::SessionOnly)
                .map_err(internal)?;
            match owner.digested(at)? {
                Some(digested) => context.ref_ddict(digested).map_err(refused_dictionary),
                None => context.disable_dictionary().map_err(internal),
            }
        })?;
        self.dictionary = at;
        Ok(())
    }

    /// Drops the current frame.
    pub(crate) fn begin(&mut self) -> SafeResult {
        self.cell.with_dependent_mut(|owner, context| {
            context.reset(ResetDirective::SessionOnly)?;
            match &owner.prefix {
                Some(prefix) => context.ref_prefix(prefix),
                None => Ok(0),
            }
        })
    }

    /// One step of a stream. Returns bytes taken and bytes written.
    pub(crate) fn stream(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(usize, usize), usize> {
        let mut source = InBuffer::around(input);
        let mut target = OutBuffer::around(output);
        self.cell
            .with_dependent_mut(|_, context| context.decompress_stream(&mut target, &mut source))?;
        Ok((source.pos(), target.pos()))
    }

    /// Whole frames.
    pub(crate) fn whole<C: WriteBuf + ?Sized>(
        &mut self,
        frames: &[u8],
        content: &mut C,
    ) -> SafeResult {
        self.cell
            .with_dependent_mut(|_, context| context.decompress(content, frames))
    }

    /// Bytes of memory held, without a shared dictionary.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.cell.with_dependent(|_, context| context.sizeof())
    }
}

fn internal(code: usize) -> Error {
    Repr::Internal {
        offset: 0,
        reason: error::reason(code),
    }
    .into()
}
