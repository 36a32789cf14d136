//! Contexts of a pool while they are in use, and what each kind needs to be fit for its next user.
//! Where they wait in between is in `store`.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use super::ledger::{Ledger, Share};
use super::store::{Idle, Shelf};
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::Error;
use crate::memory;
use crate::oneshot::{Compressor, Decompressor};
use crate::options::{DecoderOptions, EncoderOptions};

/// A context of any kind.
pub enum Item {
    Compressor(Box<Compressor>),
    Encoder(Box<Encoder>),
    Decompressor(Box<Decompressor>),
    Decoder(Box<Decoder>),
}

impl Item {
    pub(super) fn share_bytes(&self) -> u64 {
        match self {
            Self::Compressor(context) => bytes(&context.share),
            Self::Encoder(context) => bytes(&context.share),
            Self::Decompressor(context) => context.share_bytes(),
            Self::Decoder(context) => bytes(&context.share),
        }
    }
}

fn bytes(share: &Option<Share>) -> u64 {
    share.as_ref().map_or(0, Share::bytes)
}

/// The class of contexts that hold about this much: a factor of two from end to end, so that
/// libzstd, which shrinks what is three times too large, never does.
fn class(bytes: u64) -> u32 {
    bytes.max(1).ilog2()
}

/// What a pool can hold: [`Compressor`], [`Encoder`], [`Decompressor`] and [`Decoder`].
pub trait Pooling: Sized {
    /// How it is made.
    type Options;

    /// A size class, where the size of the content decides what a context holds.
    fn class(options: &Self::Options, content_bytes: Option<u64>) -> Option<u32>;

    /// A new one, with its share of the memory.
    fn make(
        options: &Self::Options,
        content_bytes: Option<u64>,
        ledger: &Arc<Ledger>,
    ) -> Result<Self, Error>;

    /// To an item.
    fn wrap(context: Box<Self>) -> Item;

    /// From an item, if it is one of these.
    fn unwrap(item: Item) -> Option<Box<Self>>;

    /// Whether an item is one of these, made with these options and of this class.
    fn fits(item: &Item, options: &Self::Options, class: Option<u32>) -> bool;

    /// Makes it ready for content of this size.
    fn prepare(&mut self, content_bytes: Option<u64>) -> Result<(), Error>;

    /// Forgets its use. `false`: it is not to be used again.
    fn recycle(&mut self) -> bool;
}

fn same_class(share: &Option<Share>, wanted: Option<u32>) -> bool {
    wanted.is_none_or(|wanted| wanted == class(bytes(share)))
}

/// Notes what a context holds after its use. `false`: that is more than there is room for.
fn settle(share: &mut Option<Share>, bytes: usize) -> bool {
    share
        .as_mut()
        .is_none_or(|share| share.settle(bytes as u64))
}

impl Pooling for Compressor {
    type Options = EncoderOptions;

    fn class(options: &EncoderOptions, content_bytes: Option<u64>) -> Option<u32> {
        content_bytes.map(|_| class(options.one_shot_estimate_bytes(content_bytes)))
    }

    fn make(
        options: &EncoderOptions,
        content_bytes: Option<u64>,
        ledger: &Arc<Ledger>,
    ) -> Result<Self, Error> {
        // Of unknown content each call tells the size, and asks for what it needs by then.
        let need = options.one_shot_estimate_bytes(content_bytes.or(Some(0)));
        let share = Share::of_context(ledger, need)?;
        let mut compressor = Self::new(options)?;
        compressor.share = Some(share);
        compressor.covered_bytes = 0;
        Ok(compressor)
    }

    fn wrap(context: Box<Self>) -> Item {
        Item::Compressor(context)
    }

    fn unwrap(item: Item) -> Option<Box<Self>> {
        match item {
            Item::Compressor(context) => Some(context),
            _ => None,
        }
    }

    fn fits(item: &Item, options: &EncoderOptions, class: Option<u32>) -> bool {
        match item {
            Item::Compressor(context) => {
                same_class(&context.share, class) && context.options() == options
            }
            _ => false,
        }
    }

    fn prepare(&mut self, content_bytes: Option<u64>) -> Result<(), Error> {
        self.cover(content_bytes.unwrap_or(0))
    }

    fn recycle(&mut self) -> bool {
        let held = self.memory_bytes();
        !self.spoiled && self.options().prefix.is_none() && settle(&mut self.share, held)
    }
}

impl Pooling for Encoder {
    type Options = EncoderOptions;

    fn class(options: &EncoderOptions, content_bytes: Option<u64>) -> Option<u32> {
        Some(class(options.memory_estimate_bytes(content_bytes)))
    }

    fn make(
        options: &EncoderOptions,
        content_bytes: Option<u64>,
        ledger: &Arc<Ledger>,
    ) -> Result<Self, Error> {
        let share = Share::of_context(ledger, options.memory_estimate_bytes(content_bytes))?;
        let mut encoder = Self::new(options)?;
        encoder.share = Some(share);
        Ok(encoder)
    }

    fn wrap(context: Box<Self>) -> Item {
        Item::Encoder(context)
    }

    fn unwrap(item: Item) -> Option<Box<Self>> {
        match item {
            Item::Encoder(context) => Some(context),
            _ => None,
        }
    }

    fn fits(item: &Item, options: &EncoderOptions, class: Option<u32>) -> bool {
        match item {
            Item::Encoder(context) => {
                same_class(&context.share, class) && context.options() == options
            }
            _ => false,
        }
    }

    fn prepare(&mut self, content_bytes: Option<u64>) -> Result<(), Error> {
        self.begin(content_bytes)
    }

    fn recycle(&mut self) -> bool {
        let held = self.memory_bytes();
        !self.spoiled() && self.options().prefix.is_none() && settle(&mut self.share, held)
    }
}

impl Pooling for Decompressor {
    type Options = DecoderOptions;

    fn class(_: &DecoderOptions, _: Option<u64>) -> Option<u32> {
        None
    }

    fn make(options: &DecoderOptions, _: Option<u64>, ledger: &Arc<Ledger>) -> Result<Self, Error> {
        let share = Share::of_context(ledger, memory::DECODER_BYTES)?;
        let mut decompressor = Self::new(options)?;
        decompressor.share = Some(share);
        Ok(decompressor)
    }

    fn wrap(context: Box<Self>) -> Item {
        Item::Decompressor(context)
    }

    fn unwrap(item: Item) -> Option<Box<Self>> {
        match item {
            Item::Decompressor(context) => Some(context),
            _ => None,
        }
    }

    fn fits(item: &Item, options: &DecoderOptions, _: Option<u32>) -> bool {
        match item {
            Item::Decompressor(context) => context.options() == options,
            _ => false,
        }
    }

    fn prepare(&mut self, _: Option<u64>) -> Result<(), Error> {
        Ok(())
    }

    fn recycle(&mut self) -> bool {
        !self.spoiled() && self.options().prefix.is_none() && self.settle_shares()
    }
}

impl Pooling for Decoder {
    type Options = DecoderOptions;

    fn class(_: &DecoderOptions, _: Option<u64>) -> Option<u32> {
        None
    }

    fn make(options: &DecoderOptions, _: Option<u64>, ledger: &Arc<Ledger>) -> Result<Self, Error> {
        let share = Share::of_context(ledger, memory::DECODER_BYTES)?;
        let mut decoder = Self::new(options)?;
        decoder.share = Some(share);
        Ok(decoder)
    }

    fn wrap(context: Box<Self>) -> Item {
        Item::Decoder(context)
    }

    fn unwrap(item: Item) -> Option<Box<Self>> {
        match item {
            Item::Decoder(context) => Some(context),
            _ => None,
        }
    }

    fn fits(item: &Item, options: &DecoderOptions, _: Option<u32>) -> bool {
        match item {
            Item::Decoder(context) => context.options() == options,
            _ => false,
        }
    }

    fn prepare(&mut self, _: Option<u64>) -> Result<(), Error> {
        self.reset();
        Ok(())
    }

    fn recycle(&mut self) -> bool {
        let usable = !self.spoiled() && self.options().prefix.is_none();
        self.reset();
        usable && self.settle_share()
    }
}

/// A context that goes back to its [`Pool`](super::Pool) on drop.
///
/// It goes back to the thread that took it, wherever it is dropped. It is thrown away instead if
/// libzstd itself failed in it, if it is dropped by a panic, or if it refers to a prefix. An error
/// that only the input is to blame for leaves it usable.
pub struct Pooled<T: Pooling> {
    context: Option<Box<T>>,
    home: Arc<Shelf>,
    /// Whether its thread was unwinding already when it was taken.
    panicking: bool,
}

impl<T: Pooling> Pooled<T> {
    pub(super) fn new(context: Box<T>, home: Arc<Shelf>) -> Self {
        Self {
            context: Some(context),
            home,
            panicking: thread::panicking(),
        }
    }

    /// Throws the context away rather than give it back.
    pub fn discard(mut self) {
        if self.context.take().is_some() {
            self.home.ledger.discarded.fetch_add(1, Relaxed);
        }
    }
}

impl<T: Pooling> Deref for Pooled<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.context.as_ref().expect(HELD)
    }
}

impl<T: Pooling> DerefMut for Pooled<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.context.as_mut().expect(HELD)
    }
}

const HELD: &str = "a guard holds its context until it is dropped";

impl<T: Pooling> Drop for Pooled<T> {
    fn drop(&mut self) {
        let Some(mut context) = self.context.take() else {
            return;
        };
        let panicked = thread::panicking() && !self.panicking;
        if panicked || !context.recycle() {
            self.home.ledger.discarded.fetch_add(1, Relaxed);
            return;
        }
        let idle = Idle::new(T::wrap(context), &self.home.ledger);
        self.home.put(idle);
    }
}

impl<T: Pooling> std::fmt::Debug for Pooled<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pooled").finish_non_exhaustive()
    }
}
