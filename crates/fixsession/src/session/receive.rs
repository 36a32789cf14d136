//! Checks a message that came, in the order in which a session has to: frame, BeginString, type, CompIDs
//! present, dictionary, state, SendingTime, CompIDs, number. Only then is it handled.

use fixcore::{Decoder, Error, ErrorKind, Message};

use crate::application::Application;
use crate::event::Event;
use crate::reject::{Why, session_body};
use crate::session::core::{Context, Core, Flow, is_set};
use crate::store::Store;
use crate::times;

impl<S: Store> Core<S> {
    /// A frame came.
    pub(super) fn frame<A: Application>(
        &mut self,
        decoder: &mut Decoder,
        bytes: &[u8],
        cx: &mut Context<'_, A>,
    ) -> Flow {
        cx.app.incoming(&self.options.id, bytes);
        self.is_queued = false;
        self.parse(decoder, bytes, cx)
    }

    /// Handles a message that waited behind a gap. Its time was checked when it came.
    pub(super) fn queued<A: Application>(
        &mut self,
        decoder: &mut Decoder,
        bytes: &[u8],
        cx: &mut Context<'_, A>,
    ) -> Flow {
        self.is_queued = true;
        self.parse(decoder, bytes, cx)
    }

    fn parse<A: Application>(
        &mut self,
        decoder: &mut Decoder,
        bytes: &[u8],
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let error = match decoder.parse(bytes) {
            Ok(message) => return self.check(&message, None, cx),
            Err(error) => error,
        };
        let checks_frame = self.options.validate_length_and_checksum;
        let is_lenient = match error.kind() {
            ErrorKind::EmptyValue | ErrorKind::Tag | ErrorKind::DataPair => true,
            ErrorKind::CheckSum | ErrorKind::BodyLength => !checks_frame,
            _ => false,
        };
        if !is_lenient {
            return self.garbled(decoder, bytes, &error, cx);
        }
        match decoder.parse_lenient(bytes, checks_frame) {
            Ok(lenient) => self.check(&lenient.message, lenient.invalid_tag, cx),
            Err(error) => self.garbled(decoder, bytes, &error, cx),
        }
    }

    /// A garbled message is ignored; its number is found missing later.
    fn garbled<A: Application>(
        &mut self,
        decoder: &mut Decoder,
        bytes: &[u8],
        error: &Error,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        self.event(Event::Garbled(error), cx);
        if !self.link.received_logon {
            return Err(self.refuse("the message is garbled", cx));
        }
        if self.options.disconnect_on_error {
            return Err(self.close("the message is garbled", cx));
        }
        if self.options.reject_garbled_message
            && let Ok(lenient) = decoder.parse_lenient(bytes, false)
            && let Ok(Some(number)) = lenient.message.get_u64(34)
        {
            let why = Why {
                reason: Some(99),
                tag: None,
                text: "Message failed basic validity check",
            };
            return self.reject(&lenient.message, number, &why, cx);
        }
        Ok(())
    }

    fn check<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        invalid_tag: Option<i64>,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        if !self.is_queued {
            self.link.last_received = cx.now.monotonic;
            self.link.tests = 0;
        }
        let is_logon = message.msg_type() == b"A";
        if message.begin_string() != self.options.id.begin_string.as_bytes() {
            return self.wrong_begin_string(message, cx);
        }
        if !self.link.received_logon && !is_logon {
            return Err(self.not_logged_on(message, cx));
        }
        for tag in [49_u32, 56] {
            if message.get(tag).is_none() {
                return self.fault(message, &Why::of(1, Some(i64::from(tag))), cx);
            }
        }
        if is_logon && !self.take_version(message, cx)? {
            return self.fault(message, &Why::of(1, Some(1137)), cx);
        }
        if let Some(why) = self.dictionary_fault(message, invalid_tag) {
            match self.options.reject_invalid_message {
                true => return self.fault(message, &why, cx),
                false => self.event(Event::Text(why.text), cx),
            }
        }
        self.check_sender(message, cx)
    }

    /// Time, names and number of a message that its dictionary allows.
    fn check_sender<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let Some(time) = message.get(52) else {
            return self.fault(message, &Why::of(1, Some(52)), cx);
        };
        let Some(apart) = self.reader.distance_ns(time, cx.now.utc) else {
            return self.fault(message, &Why::of(6, Some(52)), cx);
        };
        let is_late = u128::from(apart) > self.options.max_latency.as_nanos();
        if self.options.check_latency && is_late && !self.is_queued {
            return self.fault_and_logout(message, &Why::of(10, None), cx);
        }
        let id = &self.options.id;
        let is_ours = message.get(49) == Some(id.target.as_bytes())
            && message.get(56) == Some(id.sender.as_bytes());
        if self.options.check_comp_id && !is_ours {
            return self.fault_and_logout(message, &Why::of(9, None), cx);
        }
        match message.get_u64(34) {
            Ok(Some(number)) => self.dispatch(message, number, cx),
            Ok(None) if !self.link.received_logon => {
                Err(self.refuse("MsgSeqNum (34) is missing", cx))
            }
            Ok(None) => Err(self.logout_and_close("Received message without MsgSeqNum", cx)),
            Err(_) => self.fault(message, &Why::of(6, Some(34)), cx),
        }
    }

    fn dispatch<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        match message.msg_type() {
            b"A" => self.logon(message, number, cx),
            b"2" => self.resend_request(message, number, cx),
            b"3" => self.peer_reject(message, number, cx),
            b"4" => self.sequence_reset(message, number, cx),
            b"5" => self.peer_logout(message, number, cx),
            _ if self.is_next(message, number, cx)? => self.accept(message, number, cx),
            _ => Ok(()),
        }
    }

    /// Whether the number of a message is the expected one, and the message may be handled.
    pub(super) fn is_next<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow<bool> {
        let expected = self.store.next_target();
        let is_duplicate = is_set(message, 43);
        if !self.options.validate_sequence_numbers {
            return Ok(true);
        }
        if number > expected {
            self.too_high(number, is_duplicate, message.bytes(), cx)?;
            return Ok(false);
        }
        self.is_not_low(message, number, cx)
    }

    /// The same for a message whose number may be too high.
    pub(super) fn is_not_low<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow<bool> {
        let expected = self.store.next_target();
        if !self.options.validate_sequence_numbers {
            return Ok(true);
        }
        if is_set(message, 43) {
            let is_valid = self.is_valid_duplicate(message, number, cx)?;
            return Ok(is_valid && number >= expected);
        }
        if number < expected {
            let received = number;
            self.event(Event::TooLow { expected, received }, cx);
            let text = format!("MsgSeqNum too low, expecting {expected} but received {received}");
            return Err(self.logout_and_close(&text, cx));
        }
        Ok(true)
    }

    /// Whether a message with PossDupFlag has the OrigSendingTime that it must have.
    fn is_valid_duplicate<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow<bool> {
        if message.msg_type() == b"4" {
            return Ok(true);
        }
        let (Some(first), Some(time)) = (message.get(122), message.get(52)) else {
            if !self.options.requires_orig_sending_time {
                return Ok(true);
            }
            self.reject(message, number, &Why::of(1, Some(122)), cx)?;
            return Ok(false);
        };
        match times::is_later(first, time) {
            Some(false) => Ok(true),
            Some(true) => {
                self.reject(message, number, &Why::of(10, None), cx)?;
                self.send_logout_once("", cx)?;
                Ok(false)
            }
            None => {
                self.reject(message, number, &Why::of(6, Some(122)), cx)?;
                Ok(false)
            }
        }
    }

    /// Answers a fault: a Reject, or nothing but the end of the connection before the Logon.
    pub(super) fn fault<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        why: &Why<'_>,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        if !self.link.received_logon {
            let why = match why.tag {
                Some(tag) => format!("{} ({tag})", why.text),
                None => why.text.to_owned(),
            };
            return Err(self.refuse(&why, cx));
        }
        match message.get_u64(34) {
            Ok(Some(number)) => self.reject(message, number, why, cx),
            // 0 is no number: nothing advances.
            _ => self.reject(message, 0, why, cx),
        }
    }

    fn fault_and_logout<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        why: &Why<'_>,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        self.fault(message, why, cx)?;
        self.send_logout_once("", cx)
    }

    pub(super) fn send_logout_once<A: Application>(
        &mut self,
        text: &str,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        match self.link.sent_logout {
            true => Ok(()),
            false => self.send_logout(text, cx),
        }
    }

    /// Sends a Reject. The number advances if it was the expected one.
    pub(super) fn reject<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        why: &Why<'_>,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let stated = message.get(34).unwrap_or(&[]);
        self.event(
            Event::Rejected {
                number: stated,
                text: why.text,
                tag: why.tag,
            },
            cx,
        );
        self.body.clear();
        session_body(message, why, self.protocol, &mut self.body);
        let counts = !matches!(message.msg_type(), b"A" | b"4");
        if counts && number == self.store.next_target() {
            self.commit = Some(number.saturating_add(1));
        }
        self.send_admin(b"3", cx)?;
        self.settle(cx)
    }

    fn wrong_begin_string<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        if !self.link.received_logon {
            return Err(self.refuse("BeginString (8) is not that of the session", cx));
        }
        let number = message.get_u64(34).ok().flatten().unwrap_or(0);
        if message.msg_type() == b"5" {
            return self.peer_logout(message, number, cx);
        }
        if number == self.store.next_target() {
            self.commit = Some(number.saturating_add(1));
        }
        self.send_logout_once("Incorrect BeginString", cx)?;
        self.settle(cx)
    }

    /// Something else than a Logon came first. The counterparty may have refused our Logon.
    fn not_logged_on<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        cx: &mut Context<'_, A>,
    ) -> crate::session::core::Stop {
        let text = String::from_utf8_lossy(message.get(58).unwrap_or(&[])).into_owned();
        match message.msg_type() {
            b"5" if self.link.sent_logon => {
                self.event(Event::LogoutReceived(&text), cx);
                self.close("the counterparty refused the Logon", cx)
            }
            b"3" if self.link.sent_logon => {
                self.event(Event::Text(&text), cx);
                self.close("the counterparty rejected the Logon", cx)
            }
            _ => self.refuse("the first message is not a Logon", cx),
        }
    }
}
