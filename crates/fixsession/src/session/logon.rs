//! Logon, of both sides and inside a session. The counterparty is known and allowed before anything is
//! reset or stored.

use std::time::Duration;

use fixcore::Message;

use crate::application::{Application, Refusal};
use crate::dictionaries::appl_ver_id;
use crate::event::Event;
use crate::gap::Asked;
use crate::options::Role;
use crate::session::core::{Context, Core, Flow, is_set};
use crate::store::Store;
use crate::writer::push_field;

impl<S: Store> Core<S> {
    /// Sends the Logon of an initiator.
    pub(super) fn send_logon<A: Application>(&mut self, cx: &mut Context<'_, A>) -> Flow {
        if self.options.refresh_on_logon
            && let Err(failure) = self.store.refresh()
        {
            return Err(self.failed(&failure, cx));
        }
        if self.options.reset_on_logon {
            self.reset_or_stop(cx)?;
        }
        let resets = self.options.reset_on_logon
            || self.options.reset_on_logout
            || self.options.reset_on_disconnect;
        let is_new = self.store.next_sender() == 1 && self.store.next_target() == 1;
        self.link.sent_reset = resets && is_new && self.protocol.has_reset();
        self.set_interval(self.options.heart_bt_int);
        let seconds = self.options.heart_bt_int.as_secs().to_string();
        let next = self.store.next_target();
        self.logon_body(&seconds, self.link.sent_reset, next, true);
        self.link.sent_logon = true;
        self.event(Event::LogonSent, cx);
        self.send_admin(b"A", cx)
    }

    /// Writes the body of a Logon.
    fn logon_body(&mut self, seconds: &str, resets: bool, next: u64, is_first: bool) {
        let options = &self.options;
        let mut fields: Vec<(u32, String)> = vec![(98, "0".to_owned()), (108, seconds.to_owned())];
        if resets {
            fields.push((141, "Y".to_owned()));
        }
        if let Some(bytes) = options
            .max_message_size
            .filter(|_| self.protocol.has_sizes())
        {
            fields.push((383, bytes.to_string()));
        }
        if let Some(is_test) = options
            .test_message_indicator
            .filter(|_| self.protocol.has_test_indicator())
        {
            fields.push((464, if is_test { "Y" } else { "N" }.to_owned()));
        }
        if self.states_next() {
            fields.push((789, next.to_string()));
        }
        if self.protocol.is_fixt() {
            fields.push((1137, self.own_version().to_owned()));
        }
        if is_first {
            fields.extend(options.logon_tags.iter().cloned());
        }
        fields.sort_by_key(|field| field.0);
        self.body.clear();
        for (tag, value) in fields {
            push_field(&mut self.body, tag, value.as_bytes());
        }
    }

    /// Whether our Logons have a NextExpectedMsgSeqNum (789).
    fn states_next(&self) -> bool {
        self.options.send_next_expected_msg_seq_num && self.protocol.has_next_expected()
    }

    /// Notes the version of the counterparty's messages. Returns whether a Logon has one where it must.
    pub(super) fn take_version<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        cx: &mut Context<'_, A>,
    ) -> Flow<bool> {
        if !self.protocol.is_fixt() {
            return Ok(true);
        }
        let Some(stated) = message.get(1137).filter(|stated| !stated.is_empty()) else {
            return Ok(false);
        };
        let known = std::str::from_utf8(stated).ok().and_then(appl_ver_id);
        let known = known.filter(|known| known.as_bytes() == stated);
        let is_served = known.is_some_and(|known| {
            !self.dictionaries.has_applications()
                || self.dictionaries.application(known.as_bytes()).is_some()
        });
        match is_served {
            true => self.link.version = known,
            false if self.link.received_logon => {}
            false => return Err(self.refuse("DefaultApplVerID (1137) is not served", cx)),
        }
        Ok(true)
    }

    /// A Logon came whose time and names are right.
    pub(super) fn logon<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let resets = self.protocol.has_reset() && is_set(message, 141);
        let is_inside = self.link.received_logon;
        if is_inside && is_set(message, 43) && number < self.store.next_target() {
            return Ok(());
        }
        if is_inside && !(resets && self.protocol.resets_in_session()) {
            let text = "Logon received in an established session";
            return Err(self.logout_and_close(text, cx));
        }
        if resets && number != 1 {
            let text = format!("MsgSeqNum must be 1 with ResetSeqNumFlag=Y, received {number}");
            return Err(self.logout_and_close(&text, cx));
        }
        let seconds = self.examine(message, number, cx)?;
        self.apply_reset(resets, number, cx)?;
        let expected = self.store.next_target();
        if self.options.validate_sequence_numbers && number < expected {
            let text = format!("MsgSeqNum too low, expecting {expected} but received {number}");
            return Err(self.logout_and_close(&text, cx));
        }
        let next_out = self.store.next_sender();
        let wanted = message.get_u64(789).ok().flatten();
        let wanted = wanted.filter(|_| self.protocol.has_next_expected() && !resets);
        if let Some(wanted) = wanted.filter(|wanted| *wanted > next_out) {
            let text = format!(
                "NextExpectedMsgSeqNum too high, expecting at most {next_out} but received {wanted}"
            );
            return Err(self.logout_and_close(&text, cx));
        }
        self.link.received_logon = true;
        self.link.logon_due = None;
        let is_in_order = number <= expected || !self.options.validate_sequence_numbers;
        if is_in_order {
            // Our answer carries it.
            self.commit = Some(expected.saturating_add(1));
        }
        let is_asked = self.options.role == Role::Acceptor || is_inside;
        let answers = is_asked || (resets && !self.link.sent_reset);
        if answers {
            let next = expected.saturating_add(u64::from(is_in_order));
            self.logon_body(&seconds, resets, next, false);
            self.link.sent_logon = true;
            self.send_admin(b"A", cx)?;
        } else {
            self.event(Event::LogonAnswered, cx);
        }
        self.link.sent_reset = false;
        self.begin_session(message.bytes(), (number, is_in_order), is_inside, cx)?;
        match wanted.filter(|wanted| *wanted < next_out) {
            Some(wanted) => self.resend(wanted, next_out.saturating_sub(1), cx),
            None => Ok(()),
        }
    }

    /// Asks the application, and reads what a Logon states. Returns HeartBtInt (108) as text.
    fn examine<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow<String> {
        self.event(Event::LogonReceived, cx);
        if let Err(refusal) = self.deliver(message, number, cx) {
            let text = match refusal {
                Refusal::Logon(text) | Refusal::Failed(text) => text,
                Refusal::Reject { text, .. } | Refusal::Business { text, .. } => {
                    text.unwrap_or_else(|| "Logon rejected".to_owned())
                }
                Refusal::UnsupportedType => "Logon rejected".to_owned(),
            };
            return Err(self.logout_and_close(&text, cx));
        }
        if let Some(is_test) = self.options.test_message_indicator
            && is_test != is_set(message, 464)
        {
            let text = match is_test {
                true => "This is a test session, TestMessageIndicator (464) must be Y",
                false => "This is a production session, TestMessageIndicator (464) must not be Y",
            };
            return Err(self.logout_and_close(text, cx));
        }
        let stated = message.get(108).unwrap_or(&[]);
        let seconds = fixcore::value::unsigned(stated);
        // What an initiator asked for holds, whatever the answer says.
        if self.options.role == Role::Acceptor {
            let Some(seconds) = seconds.filter(|seconds| *seconds <= u64::from(u32::MAX)) else {
                let text = "HeartBtInt (108) must be a number of seconds, 0 or more";
                return Err(self.logout_and_close(text, cx));
            };
            self.set_interval(Duration::from_secs(seconds));
        }
        self.link.size_max = message.get_u64(383).ok().flatten().filter(|max| *max > 0);
        Ok(String::from_utf8_lossy(stated).into_owned())
    }

    /// Does the reset that a Logon, or this side's settings, ask for: once.
    fn apply_reset<A: Application>(
        &mut self,
        resets: bool,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let is_acceptor = self.options.role == Role::Acceptor;
        if self.options.refresh_on_logon
            && is_acceptor
            && let Err(failure) = self.store.refresh()
        {
            return Err(self.failed(&failure, cx));
        }
        if resets {
            return match self.link.sent_reset {
                true => Ok(()),
                false => self.reset_or_stop(cx),
            };
        }
        if self.link.sent_reset && number != 1 {
            let text = format!(
                "Our Logon reset the numbers, but the answer has MsgSeqNum {number} and no ResetSeqNumFlag"
            );
            return Err(self.logout_and_close(&text, cx));
        }
        match is_acceptor && self.options.reset_on_logon {
            true => self.reset_or_stop(cx),
            false => Ok(()),
        }
    }

    /// The Logons are exchanged: the number of the one that came counts, or shows a gap.
    fn begin_session<A: Application>(
        &mut self,
        bytes: &[u8],
        (number, is_in_order): (u64, bool),
        is_inside: bool,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let expected = self.store.next_target();
        if is_in_order {
            self.settle(cx)?;
        } else {
            self.queue.handled(number);
            if self.states_next() {
                // The 789 of our Logon asked for it.
                self.asked = Some(Asked {
                    begin: expected,
                    end: number.saturating_sub(1),
                    chunk_end: u64::MAX,
                    is_implied: true,
                    repeats: 0,
                    since: cx.now.monotonic,
                });
            } else {
                self.too_high(number, false, bytes, cx)?;
            }
        }
        if !is_inside {
            let (id, out) = (&self.options.id, &mut self.outbox);
            cx.app.on_logon(id, out);
        }
        self.flush_outbox(true, cx)
    }
}
