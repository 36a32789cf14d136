//! One tree that any number of threads search while one at a time changes it.

use std::ffi::CString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use betree::{
    Attribute, AttributeType, BeTree, Buffers, Constants, Domain, Event, Expression, Snapshot,
    SubscriptionId, Undefined,
};

use crate::failure::{Failure, Result};

/// The outcome of tests of undefined attributes, which is that of the C library.
const UNDEFINED: Undefined = Undefined::False;
/// The most sets of buffers that a tree keeps for the next searches.
const KEPT_MAX: usize = 64;
/// The tree that checks expressions is made anew after this many, for it keeps their words.
const CHECKS_MAX: u64 = 1_024;

/// A subscription that was made and checked, to be inserted. It belongs to its tree.
#[derive(Debug)]
pub struct betree_sub {
    pub(crate) id: SubscriptionId,
    pub(crate) constants: Constants,
    pub(crate) expression: Box<str>,
}

/// What is behind a `struct betree`.
#[derive(Debug)]
pub struct betree_state {
    writer: Mutex<Writer>,
    /// The snapshot of the current state, once a search asked for it.
    current: RwLock<Option<Snapshot>>,
    /// How many attributes there are, for events that are made while the writer is busy.
    attributes: AtomicUsize,
    pool: Arc<Pool>,
}

/// What changes.
#[derive(Debug)]
pub(crate) struct Writer {
    /// The attributes, until there is a tree.
    domain: Domain,
    tree: Option<BeTree>,
    /// The names of attributes, as users are given them.
    names: Vec<CString>,
    /// The subscriptions that users have pointers to.
    made: Vec<Arc<betree_sub>>,
    checker: Option<BeTree>,
    checks: u64,
}

impl betree_state {
    pub(crate) fn new(domain: Domain, tree: Option<BeTree>) -> Self {
        let attributes = domain.attributes().iter();
        let names = attributes.map(|attribute| c_name(attribute.name()));
        Self {
            attributes: AtomicUsize::new(domain.attributes().len()),
            writer: Mutex::new(Writer {
                names: names.collect(),
                domain,
                tree,
                made: Vec::new(),
                checker: None,
                checks: 0,
            }),
            current: RwLock::new(None),
            pool: Arc::default(),
        }
    }

    /// Reads under the lock of the writer, or changes what searches do not see.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        work(&mut *self.writer.lock().map_err(|_| Failure::Poisoned)?)
    }

    /// Changes the tree. The next search makes a new snapshot, if the change was made.
    pub(crate) fn change<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        self.read(|writer| {
            let done = work(writer)?;
            *self.current.write().map_err(|_| Failure::Poisoned)? = None;
            Ok(done)
        })
    }

    /// The current state, to be searched.
    pub(crate) fn snapshot(&self) -> Result<Snapshot> {
        let known = || match self.current.read() {
            Ok(current) => Ok(current.clone()),
            Err(_) => Err(Failure::Poisoned),
        };
        if let Some(snapshot) = known()? {
            return Ok(snapshot);
        }
        self.read(|writer| {
            // Another thread may have made it meanwhile.
            if let Some(snapshot) = known()? {
                return Ok(snapshot);
            }
            let snapshot = writer.snapshot();
            let mut current = self.current.write().map_err(|_| Failure::Poisoned)?;
            *current = Some(snapshot.clone());
            Ok(snapshot)
        })
    }

    /// Adds an attribute.
    pub(crate) fn add(&self, name: &str, kind: AttributeType, undefined: bool) -> Result<()> {
        let count = self.change(|writer| {
            writer.add(name, kind, undefined)?;
            Ok(writer.domain.attributes().len())
        })?;
        self.attributes.store(count, Ordering::Release);
        Ok(())
    }

    pub(crate) fn attribute_count(&self) -> usize {
        self.attributes.load(Ordering::Acquire)
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

impl Writer {
    fn domain(&self) -> &Domain {
        self.tree.as_ref().map_or(&self.domain, BeTree::domain)
    }

    /// The tree. From now on attributes cannot be added.
    pub(crate) fn tree(&mut self) -> &mut BeTree {
        let domain = &self.domain;
        self.tree
            .get_or_insert_with(|| BeTree::new(domain.clone(), UNDEFINED))
    }

    fn snapshot(&mut self) -> Snapshot {
        match &mut self.tree {
            Some(tree) => tree.snapshot(),
            None => BeTree::new(self.domain.clone(), UNDEFINED).snapshot(),
        }
    }

    fn add(&mut self, name: &str, kind: AttributeType, undefined: bool) -> Result<()> {
        if self.tree.is_some() {
            return Err(Failure::Closed(name.to_owned()));
        }
        self.domain.add(name, kind, undefined)?;
        self.names.push(c_name(name));
        self.checker = None;
        Ok(())
    }

    /// Widens the bounds of attributes so that they hold the values of an expression.
    pub(crate) fn widen(&mut self, expression: &Expression<'_>) -> Result<()> {
        match &mut self.tree {
            Some(tree) => tree.widen(expression)?,
            None => self.domain.widen(expression)?,
        }
        self.checker = None;
        Ok(())
    }

    /// An attribute with its name for users.
    pub(crate) fn attribute(&self, index: usize) -> Result<(&Attribute, &CString)> {
        let attributes = self.domain().attributes();
        let count = attributes.len();
        let found = attributes.get(index).zip(self.names.get(index));
        found.ok_or(Failure::Index { index, count })
    }

    /// Checks that an expression could be inserted.
    pub(crate) fn check(
        &mut self,
        expression: &Expression<'_>,
        constants: &Constants,
    ) -> Result<()> {
        if self.checks.is_multiple_of(CHECKS_MAX) {
            self.checker = None;
        }
        // Not `domain()`, which would borrow the checker too.
        let domain = self.tree.as_ref().map_or(&self.domain, BeTree::domain);
        let fresh = || BeTree::new(domain.clone(), UNDEFINED);
        let checker = self.checker.get_or_insert_with(fresh);
        checker.insert(SubscriptionId(self.checks), expression, constants)?;
        self.checks += 1;
        Ok(())
    }

    /// Keeps a subscription as long as the tree, for the user has a pointer to it.
    pub(crate) fn keep(&mut self, subscription: Arc<betree_sub>) {
        self.made.push(subscription);
    }
}

fn c_name(name: &str) -> CString {
    // A name of a domain has no 0.
    CString::new(name).unwrap_or_default()
}

/// Memory of searches that ended, for the next ones.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    kept: Mutex<Vec<Scratch>>,
}

/// The memory of one search.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) buffers: Buffers,
    pub(crate) event: Option<Event>,
    /// The text of an event that was made of variables.
    pub(crate) json: String,
}

impl Pool {
    pub(crate) fn take(&self) -> Scratch {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = kept.pop();
        drop(kept);
        scratch.unwrap_or_default()
    }

    pub(crate) fn put(&self, scratch: Scratch) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT_MAX {
            kept.push(scratch);
        }
    }
}
