//! Numbers, stores and writes messages.

use crate::application::{Application, Outgoing};
use crate::event::Event;
use crate::session::api::{SendError, Sent};
use crate::session::core::{Context, Core, Flow};
use crate::store::Store;
use crate::writer::{BadField, Head, push_field};

impl<S: Store> Core<S> {
    /// Writes the time of now as SendingTime.
    pub(super) fn stamp<A>(&mut self, cx: &Context<'_, A>) {
        let digits = match self.protocol.has_fractions() {
            true => self.options.timestamp_precision.0,
            false => 0,
        };
        self.time.set(cx.now.utc, digits);
    }

    /// Sends an administrative message with the body that is in `self.body`.
    pub(super) fn send_admin<A: Application>(
        &mut self,
        msg_type: &[u8],
        cx: &mut Context<'_, A>,
    ) -> Flow {
        if msg_type != b"5" {
            self.ensure_room(cx)?;
        }
        let mut body = std::mem::take(&mut self.body);
        let number = self.store.next_sender();
        let mut outgoing = Outgoing {
            msg_type,
            number,
            resend: false,
            body: &mut body,
        };
        cx.app.to_admin(&self.options.id, &mut outgoing);
        let sent = self.number_and_write(msg_type, &body, cx);
        self.body = body;
        match sent {
            Ok(_) => Ok(()),
            Err(SendError::Store(failure)) => Err(self.failed(&failure, cx)),
            Err(error) => {
                self.event(Event::NotSent(&error.to_string()), cx);
                Ok(())
            }
        }
    }

    /// Sends an application message with the body that is in `self.body`.
    pub(super) fn send_app<A: Application>(
        &mut self,
        msg_type: &[u8],
        cx: &mut Context<'_, A>,
    ) -> Result<Sent, SendError> {
        let is_cleared = self.options.reset_on_logon
            || self.options.reset_on_logout
            || self.options.reset_on_disconnect;
        if !self.is_logged_on() && is_cleared {
            return Err(SendError::LoggedOut);
        }
        let mut body = std::mem::take(&mut self.body);
        let number = self.store.next_sender();
        let mut outgoing = Outgoing {
            msg_type,
            number,
            resend: false,
            body: &mut body,
        };
        let sent = match cx.app.to_app(&self.options.id, &mut outgoing) {
            Ok(()) => self.number_and_write(msg_type, &body, cx),
            Err(_) => Err(SendError::Declined),
        };
        self.body = body;
        sent
    }

    fn number_and_write<A: Application>(
        &mut self,
        msg_type: &[u8],
        body: &[u8],
        cx: &mut Context<'_, A>,
    ) -> Result<Sent, SendError> {
        let number = self.store.next_sender();
        self.stamp(cx);
        let processed = self.processed();
        let head = Head {
            msg_type,
            number,
            time: self.time.text(),
            first_time: None,
            processed,
        };
        let written = self.writer.write(&head, body, &mut self.message);
        written.map_err(|BadField { offset }| SendError::Field { offset })?;
        let bytes = self.message.len() as u64;
        if let Some(limit) = self.link.size_max.filter(|limit| bytes > *limit) {
            return Err(SendError::TooLarge { bytes, limit });
        }
        self.keep(number).map_err(SendError::Store)?;
        let is_always = matches!(msg_type, b"A" | b"5" | b"2" | b"4");
        let may = self.link.connected && !self.link.closing && (is_always || self.is_logged_on());
        if may && msg_type == b"5" {
            // The counterparty leaves, or we do: it asks for the rest when it comes back.
            self.resending = None;
        }
        let on_wire = may && self.resending.is_none();
        if on_wire {
            self.transmit(cx);
        }
        Ok(Sent { number, on_wire })
    }

    /// LastMsgSeqNumProcessed (369), if it is sent.
    pub(super) fn processed(&self) -> Option<u64> {
        let is_sent = self.options.enable_last_msg_seq_num_processed && self.protocol.has_sizes();
        let next = self.commit.unwrap_or_else(|| self.store.next_target());
        is_sent.then(|| next.saturating_sub(1))
    }

    /// Stores the message that was written, and with it the number that it answers.
    fn keep(&mut self, number: u64) -> Result<(), crate::store::StoreFailure> {
        let commit = self.commit;
        match (self.options.persist_messages, commit) {
            (true, Some(next)) => {
                self.store.append_and_receive(number, &self.message, next)?;
            }
            (true, None) => self.store.append(number, &self.message)?,
            (false, _) => {
                self.store.set_next_sender(number.saturating_add(1))?;
                if let Some(next) = commit {
                    self.store.set_next_target(next)?;
                }
            }
        }
        self.commit = None;
        Ok(())
    }

    /// Hands the message that was written to the connection.
    pub(super) fn transmit<A: Application>(&mut self, cx: &mut Context<'_, A>) {
        cx.app.outgoing(&self.options.id, &self.message);
        self.output.push(&self.message);
        self.link.last_sent = cx.now.monotonic;
    }

    /// Sends a Logout and waits for the answer.
    pub(super) fn send_logout<A: Application>(
        &mut self,
        text: &str,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        self.body.clear();
        if !text.is_empty() {
            push_field(&mut self.body, 58, text.as_bytes());
        }
        self.event(Event::LogoutSent(text), cx);
        self.link.sent_logout = true;
        let timeout = self.options.logout_timeout;
        self.link
            .logout_due
            .get_or_insert(cx.now.monotonic.saturating_add(timeout));
        self.send_admin(b"5", cx)
    }

    /// Sends a Logout with what room the store has left. The connection ends anyway.
    pub(super) fn last_logout<A: Application>(&mut self, text: &str, cx: &mut Context<'_, A>) {
        self.body.clear();
        push_field(&mut self.body, 58, text.as_bytes());
        let mut body = std::mem::take(&mut self.body);
        let mut outgoing = Outgoing {
            msg_type: b"5",
            number: self.store.next_sender(),
            resend: false,
            body: &mut body,
        };
        cx.app.to_admin(&self.options.id, &mut outgoing);
        if self.number_and_write(b"5", &body, cx).is_ok() {
            self.link.sent_logout = true;
            self.event(Event::LogoutSent(text), cx);
        }
        self.body = body;
    }

    /// Sends a Logout and ends the connection.
    pub(super) fn logout_and_close<A: Application>(
        &mut self,
        text: &str,
        cx: &mut Context<'_, A>,
    ) -> crate::session::core::Stop {
        // Whether the Logout could be sent does not matter: the connection ends.
        let _ = self.send_logout(text, cx);
        self.close(text, cx)
    }

    /// Sends what the application put out in a call-back. `is_last` says that the session itself sends
    /// nothing more for the current message.
    pub(super) fn flush_outbox<A: Application>(
        &mut self,
        is_last: bool,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        if self.outbox.len() == 0 && self.outbox.logout.is_none() {
            return Ok(());
        }
        let mut outbox = std::mem::take(&mut self.outbox);
        let done = self.send_outbox(&outbox, is_last, cx);
        let logout = outbox.logout.take();
        outbox.clear();
        self.outbox = outbox;
        done?;
        match logout {
            Some(text) if !self.link.sent_logout => self.send_logout(&text, cx),
            _ => Ok(()),
        }
    }

    fn send_outbox<A: Application>(
        &mut self,
        outbox: &crate::application::Outbox,
        is_last: bool,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        for at in 0..outbox.len() {
            let Some((msg_type, body)) = outbox.get(at) else {
                break;
            };
            self.body.clear();
            self.body.extend_from_slice(body);
            // Only the last message may carry the number that it answers.
            let carries = is_last && at + 1 == outbox.len() && outbox.logout.is_none();
            let commit = match carries {
                true => None,
                false => self.commit.take(),
            };
            let sent = self.send_app(msg_type, cx);
            if commit.is_some() {
                self.commit = commit;
            }
            match sent {
                Ok(_) | Err(SendError::Declined) => {}
                Err(SendError::Store(failure)) => return Err(self.failed(&failure, cx)),
                Err(error) => self.event(Event::NotSent(&error.to_string()), cx),
            }
        }
        Ok(())
    }
}
