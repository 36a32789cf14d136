//! The order in which events name their attributes: most programs write them always in the same.

/// No attribute.
const NONE: u16 = u16::MAX;

/// For each attribute the one that followed it last.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    /// By the number of the attribute before, plus one; empty where nothing is learned.
    next: Vec<u16>,
    /// The number of the last attribute, plus one.
    at: usize,
}

/// An order is a hint, and no value of an event.
impl PartialEq for Order {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Order {
    /// Begins with the next event of this many attributes.
    pub(super) fn restart(&mut self, attributes: usize) {
        self.next.resize(attributes + 1, NONE);
        self.at = 0;
    }

    /// The attributes that probably come next: the one that did last, and the next of the domain.
    #[inline]
    pub(super) fn expected(&self) -> [u16; 2] {
        let learned = self.next.get(self.at).copied().unwrap_or(NONE);
        [learned, self.at as u16]
    }

    /// Notes the attribute that came.
    #[inline]
    pub(super) fn note(&mut self, attribute: u16) {
        if let Some(next) = self.next.get_mut(self.at) {
            *next = attribute;
        }
        self.at = usize::from(attribute) + 1;
    }
}
