//! Contexts of a pool while they are in use, and how each kind is prepared for its next user. `store`
//! keeps them in between.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use super::item::{Item, bytes};
use super::store::{Idle, IdleCache};
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::Error;
use crate::memory;
use crate::oneshot::{Compressor, Decompressor};
use crate::options::{DecoderOptions, EncoderOptions};
use crate::reservation::{Ledger, Reservation};

/// The size class of contexts that hold about this much. A class spans a factor of two: libzstd shrinks
/// a context that is three times too large, which therefore never happens.
fn class(bytes: u64) -> u32 {
    bytes.max(1).ilog2()
}

/// A context that a pool can hold: [`Compressor`], [`Encoder`], [`Decompressor`] and [`Decoder`].
pub trait PooledContext: Sized {
    /// The options it is made with.
    type Options;

    /// The size class, if the content size decides how much memory a context holds.
    fn class(options: &Self::Options, content_bytes: Option<u64>) -> Option<u32>;

    /// Makes one and reserves its memory.
    fn make(
        options: &Self::Options,
        content_bytes: Option<u64>,
        ledger: &Arc<Ledger>,
    ) -> Result<Self, Error>;

    /// Converts it to an item.
    fn wrap(context: Box<Self>) -> Item;

    /// Converts an item back, if it is of this kind.
    fn unwrap(item: Item) -> Option<Box<Self>>;

    /// Whether an item is of this kind and class and was made with these options.
    fn fits(item: &Item, options: &Self::Options, class: Option<u32>) -> bool;

    /// Makes it ready for content of this size.
    fn prepare(&mut self, content_bytes: Option<u64>) -> Result<(), Error>;

    /// Clears it after use. `false`: it must not be used again.
    fn recycle(&mut self) -> bool;
}

fn same_class(reservation: &Option<Reservation>, wanted: Option<u32>) -> bool {
    wanted.is_none_or(|wanted| wanted == class(bytes(reservation)))
}

/// Accounts for what a context holds after its use. `false`: that exceeds the budget.
fn settle(reservation: &mut Option<Reservation>, bytes: usize) -> bool {
    reservation
        .as_mut()
        .is_none_or(|reservation| reservation.settle(bytes as u64))
}

impl PooledContext for Compressor {
    type Options = EncoderOptions;

    fn class(options: &EncoderOptions, content_bytes: Option<u64>) -> Option<u32> {
        content_bytes.map(|_| class(options.one_shot_estimate_bytes(content_bytes)))
    }

    fn make(
        options: &EncoderOptions,
        content_bytes: Option<u64>,
        ledger: &Arc<Ledger>,
    ) -> Result<Self, Error> {
        // With unknown content each call reserves what it needs.
        let need = options.one_shot_estimate_bytes(content_bytes.or(Some(0)));
        let reservation = Reservation::for_context(ledger, need)?;
        let mut compressor = Self::new(options)?;
        compressor.reservation = Some(reservation);
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
                same_class(&context.reservation, class) && context.options() == options
            }
            _ => false,
        }
    }

    fn prepare(&mut self, content_bytes: Option<u64>) -> Result<(), Error> {
        self.cover(content_bytes.unwrap_or(0))
    }

    fn recycle(&mut self) -> bool {
        let held = self.memory_bytes();
        !self.spoiled && self.options().prefix.is_none() && settle(&mut self.reservation, held)
    }
}

impl PooledContext for Encoder {
    type Options = EncoderOptions;

    fn class(options: &EncoderOptions, content_bytes: Option<u64>) -> Option<u32> {
        Some(class(options.memory_estimate_bytes(content_bytes)))
    }

    fn make(
        options: &EncoderOptions,
        content_bytes: Option<u64>,
        ledger: &Arc<Ledger>,
    ) -> Result<Self, Error> {
        let reservation =
            Reservation::for_context(ledger, options.memory_estimate_bytes(content_bytes))?;
        let mut encoder = Self::new(options)?;
        encoder.reservation = Some(reservation);
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
                same_class(&context.reservation, class) && context.options() == options
            }
            _ => false,
        }
    }

    fn prepare(&mut self, content_bytes: Option<u64>) -> Result<(), Error> {
        self.begin(content_bytes)
    }

    fn recycle(&mut self) -> bool {
        let held = self.memory_bytes();
        !self.spoiled() && self.options().prefix.is_none() && settle(&mut self.reservation, held)
    }
}

impl PooledContext for Decompressor {
    type Options = DecoderOptions;

    fn class(_: &DecoderOptions, _: Option<u64>) -> Option<u32> {
        None
    }

    fn make(options: &DecoderOptions, _: Option<u64>, ledger: &Arc<Ledger>) -> Result<Self, Error> {
        let reservation = Reservation::for_context(ledger, memory::DECODER_BYTES)?;
        let mut decompressor = Self::new(options)?;
        decompressor.reservation = Some(reservation);
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
        !self.spoiled() && self.options().prefix.is_none() && self.settle_reservations()
    }
}

impl PooledContext for Decoder {
    type Options = DecoderOptions;

    fn class(_: &DecoderOptions, _: Option<u64>) -> Option<u32> {
        None
    }

    fn make(options: &DecoderOptions, _: Option<u64>, ledger: &Arc<Ledger>) -> Result<Self, Error> {
        let reservation = Reservation::for_context(ledger, memory::DECODER_BYTES)?;
        let mut decoder = Self::new(options)?;
        decoder.reservation = Some(reservation);
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
        usable && self.settle_reservation()
    }
}

/// A borrowed context that goes back to its [`Pool`](super::Pool) on drop.
///
/// It goes back to the cache of the thread that took it, wherever it is dropped. It is discarded
/// instead if libzstd itself failed in it, if a panic drops it, or if it refers to a prefix. Errors that
/// are caused by the input leave it usable.
pub struct Pooled<T: PooledContext> {
    context: Option<Box<T>>,
    cache: Arc<IdleCache>,
    /// Whether its thread was already unwinding when it was taken.
    panicking: bool,
    /// Whether somebody used it before.
    #[cfg(feature = "tokio")]
    used: bool,
}

impl<T: PooledContext> Pooled<T> {
    pub(super) fn new(
        context: Box<T>,
        cache: Arc<IdleCache>,
        #[cfg_attr(not(feature = "tokio"), expect(unused_variables))] used: bool,
    ) -> Self {
        Self {
            context: Some(context),
            cache,
            panicking: thread::panicking(),
            #[cfg(feature = "tokio")]
            used,
        }
    }

    /// Whether somebody used it before, for work of the same kind: its tables are made.
    #[cfg(feature = "tokio")]
    pub(crate) fn was_used(&self) -> bool {
        self.used
    }

    /// Drops the context instead of returning it to the pool.
    pub fn discard(mut self) {
        if let Some(context) = self.context.take() {
            T::wrap(context).free();
            self.cache.ledger.discarded.fetch_add(1, Relaxed);
        }
    }
}

impl<T: PooledContext> Deref for Pooled<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.context.as_ref().expect(HELD)
    }
}

impl<T: PooledContext> DerefMut for Pooled<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.context.as_mut().expect(HELD)
    }
}

const HELD: &str = "a guard holds its context until it is dropped";

impl<T: PooledContext> Drop for Pooled<T> {
    fn drop(&mut self) {
        let Some(mut context) = self.context.take() else {
            return;
        };
        let panicked = thread::panicking() && !self.panicking;
        if panicked || !context.recycle() {
            T::wrap(context).free();
            self.cache.ledger.discarded.fetch_add(1, Relaxed);
            return;
        }
        let idle = Idle::new(T::wrap(context), &self.cache.ledger);
        self.cache.put(idle);
        self.cache.ledger.keep_to_budget();
        self.cache.ledger.released();
    }
}

impl<T: PooledContext> std::fmt::Debug for Pooled<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pooled").finish_non_exhaustive()
    }
}
