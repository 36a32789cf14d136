//! Hands messages to the application, and answers what it refuses.

use fixcore::Message;

use crate::application::{Application, Received, Refusal};
use crate::event::Event;
use crate::reject::{Why, business_body, business_text, session_text};
use crate::session::core::{Context, Core, Flow, is_admin, is_set};
use crate::store::Store;
use crate::writer::push_field;

impl<S: Store> Core<S> {
    /// Calls the application.
    pub(super) fn deliver<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Result<(), Refusal> {
        let received = Received {
            message,
            number,
            poss_dup: is_set(message, 43),
            poss_resend: is_set(message, 97),
            dictionary: Self::body_dictionary(&self.dictionaries, self.link.version, message),
            preserves_order: self.options.preserve_message_fields_order,
        };
        let (id, out) = (&self.options.id, &mut self.outbox);
        match is_admin(message.msg_type()) {
            true => cx.app.from_admin(id, &received, out),
            false => cx.app.from_app(id, &received, out),
        }
    }

    /// Handles a message with the expected number: a Heartbeat, a TestRequest or an application message.
    pub(super) fn accept<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        self.ensure_room(cx)?;
        let expected = self.store.next_target();
        let next = match self.options.validate_sequence_numbers {
            true => number,
            false => expected,
        };
        let answer = self.deliver(message, number, cx);
        // From here on one of the answers carries the number that they answer.
        self.commit = Some(next.saturating_add(1));
        if let Err(refusal) = answer {
            self.flush_outbox(false, cx)?;
            self.refused(message, refusal, cx)?;
            return self.settle(cx);
        }
        let is_test = message.msg_type() == b"1";
        self.flush_outbox(!is_test, cx)?;
        if is_test {
            self.body.clear();
            if let Some(id) = message.get(112) {
                push_field(&mut self.body, 112, id);
            }
            self.send_admin(b"0", cx)?;
        }
        self.settle(cx)
    }

    /// Answers a message that the application does not take.
    pub(super) fn refused<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        refusal: Refusal,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        match refusal {
            Refusal::Reject { reason, tag, text } => {
                let why = Why {
                    reason: Some(reason),
                    tag: tag.map(i64::from),
                    text: text.as_deref().unwrap_or(session_text(reason)),
                };
                self.send_reject(message, &why, cx)
            }
            Refusal::Business {
                reason,
                text,
                reference,
            } => {
                let text = text.as_deref().unwrap_or(business_text(reason));
                self.send_business(message, (reason, text, reference.as_deref()), cx)
            }
            Refusal::UnsupportedType if self.protocol.has_business_reject() => {
                self.send_business(message, (3, business_text(3), None), cx)
            }
            Refusal::UnsupportedType => {
                let why = Why {
                    reason: Some(11),
                    tag: None,
                    text: "Unsupported message type",
                };
                self.send_reject(message, &why, cx)
            }
            Refusal::Logon(text) => {
                self.event(Event::Text(&text), cx);
                self.send_logout_once(&text, cx)
            }
            Refusal::Failed(text) if self.options.reject_message_on_unhandled_exception => {
                self.event(Event::Text(&text), cx);
                match is_admin(message.msg_type()) {
                    true => self.send_reject(message, &Why::of(99, None), cx),
                    false => self.send_business(message, (4, business_text(4), None), cx),
                }
            }
            Refusal::Failed(text) => {
                self.event(Event::Text(&text), cx);
                Ok(())
            }
        }
    }

    fn send_reject<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        why: &Why<'_>,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let number = message.get(34).unwrap_or(&[]);
        self.event(
            Event::Rejected {
                number,
                text: why.text,
                tag: why.tag,
            },
            cx,
        );
        self.body.clear();
        crate::reject::session_body(message, why, self.protocol, &mut self.body);
        self.send_admin(b"3", cx)
    }

    /// Sends a BusinessMessageReject, or before FIX 4.2 a Reject.
    fn send_business<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        what: (u32, &str, Option<&str>),
        cx: &mut Context<'_, A>,
    ) -> Flow {
        if !self.protocol.has_business_reject() {
            let why = Why {
                reason: None,
                tag: None,
                text: what.1,
            };
            return self.send_reject(message, &why, cx);
        }
        let number = message.get(34).unwrap_or(&[]);
        let rejected = Event::Rejected {
            number,
            text: what.1,
            tag: None,
        };
        self.event(rejected, cx);
        let version = self.own_version();
        let version = self.protocol.is_fixt().then_some(version.as_bytes());
        self.body.clear();
        business_body(message, what, (self.protocol, version), &mut self.body);
        // It is an application message, but not one that the application could hold back.
        self.send_admin(b"j", cx)
    }
}
