//! What dictionaries find wrong in a message that came.

use fixcore::Message;

use crate::reject::Why;
use crate::session::core::{Core, is_admin};
use crate::store::Store;
use crate::version::Protocol;

impl<S: Store> Core<S> {
    /// What the dictionary, or the rules that hold without one, find wrong.
    pub(super) fn dictionary_fault(
        &mut self,
        message: &Message<'_, '_>,
        invalid_tag: Option<i64>,
    ) -> Option<Why<'static>> {
        if let Some(tag) = invalid_tag {
            return Some(Why::of(0, Some(tag)));
        }
        if !self.options.validate_incoming_message {
            return None;
        }
        let transport = self.dictionaries.transport();
        let Some(transport) = transport.filter(|_| self.options.use_data_dictionary) else {
            let mut fields = message.fields();
            let empty = fields.find(|field| field.value.is_empty())?;
            let is_fault = self.options.validate_fields_have_values;
            return is_fault.then(|| Why::of(4, Some(i64::from(empty.tag))));
        };
        let mut application = None;
        if self.protocol.is_fixt()
            && !is_admin(message.msg_type())
            && self.dictionaries.has_applications()
        {
            let version = Self::application_version(self.link.version, message);
            application = version.and_then(|version| self.dictionaries.application(version));
            if application.is_none() {
                let tag = message.get(1128).map(|_| 1128);
                return Some(Why::of(18, tag));
            }
        }
        let valid = self
            .validator
            .validate(transport, application, self.rules, message);
        let mut fault = valid.err()?;
        // Before FIX 4.3 there is no Username and no Password, but counterparties log on with them all the same.
        let is_credential = matches!(fault.reason, 0 | 2) && matches!(fault.tag, Some(553 | 554));
        if is_credential && self.protocol <= Protocol::Fix42 && message.msg_type() == b"A" {
            let rules = self.rules.unexpected(false);
            let valid = self
                .validator
                .validate(transport, application, rules, message);
            fault = valid.err()?;
        }
        Some(Why::of(fault.reason, fault.tag.map(i64::from)))
    }
}
