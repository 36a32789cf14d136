//! The source of a feeder: blocks of one file or pipe, on a subject of their own, each stored once.
//!
//! Each block is published with the sequence of the one before it on that subject. The server refuses it if another one
//! has come meanwhile, so that neither a repetition nor a second feeder can add a block twice, however long ago the first
//! one was. A feeder that starts again finds out from the last block where to go on.

use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::publish::PublishAck;
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use bytes::Bytes;

use crate::block::{Block, BlockId, Labels, token};
use crate::cutter::Cut;
use crate::engine::Published;
use crate::error::{Error, Result};
use crate::known::Known;
use crate::nats::connect::{Connection, code, reasons};
use crate::nats::headers::{headers, headers_len, labels};
use crate::nats::streams::Facts;
use crate::settings::check_blocks;

/// Publishes the blocks of a source in order.
#[derive(Debug)]
pub struct Feeder {
    connection: Connection,
    stream: String,
    subject: String,
    source: String,
    /// The longest message that the stream takes; none if the server alone says.
    message_max: Option<usize>,
    /// The sequence of the last block of the source, 0 if the stream has none.
    last: u64,
    /// The byte of the source at which the block starts that was sent last.
    sent: Option<u64>,
}

impl Feeder {
    /// A feeder of the source of that name, and the last block of it that the stream has.
    ///
    /// # Errors
    ///
    /// If the stream does not keep blocks, so that nobody can say which it had, or if the server does not answer.
    pub async fn open(
        connection: &Connection,
        facts: &Facts,
        source: &str,
    ) -> Result<(Self, Option<Known>)> {
        if !facts.keeps {
            return Err(Error::Settings {
                what: format!("stream {}", facts.answers.name),
                reason: "it removes blocks once they are acknowledged (retention workqueue or interest), so that a \
                         feeder that starts again cannot see what it has fed"
                    .to_owned(),
                help: "use a stream with retention limits, and bound it by max_age or max_bytes".to_owned(),
            });
        }
        check_blocks(&facts.answers)?;
        let subject = facts.subjects.own(&[&token(source)], None);
        let subject = subject.ok_or_else(|| facts.subjects.too_few("source", ""))?;
        let mut feeder = Self {
            connection: connection.clone(),
            stream: facts.answers.name.clone(),
            subject,
            source: source.to_owned(),
            message_max: facts.message_max,
            last: 0,
            sent: None,
        };
        let known = feeder.look().await?;
        Ok((feeder, known))
    }

    /// The longest block that fits in with its labels.
    #[must_use]
    pub fn block_bytes_max(&self) -> usize {
        let cut = Cut {
            offset: u64::MAX,
            line: u64::MAX,
            bytes: Bytes::new(),
        };
        let (block, id) = self.block(&cut);
        self.message_max
            .unwrap_or(usize::MAX)
            .min(self.connection.payload_max())
            .saturating_sub(headers_len(&block, &id))
    }

    /// Publishes a block, once. To be repeated with the same block until it succeeds.
    ///
    /// # Errors
    ///
    /// If the server did not answer, another feeder has fed this source meanwhile, or the stream has removed this block
    /// and would refuse it for as long as it remembers it.
    pub async fn publish(&mut self, cut: &Cut) -> Result<Published> {
        let was_sent = self.sent.replace(cut.offset) == Some(cut.offset);
        loop {
            let expected = self.last;
            let error = match self.send(cut).await {
                Ok(stored) if stored.duplicate && !was_sent => {
                    return self.known_before(cut).await;
                }
                Ok(stored) => {
                    self.last = stored.sequence;
                    return Ok(match stored.duplicate {
                        true => Published::Duplicate,
                        false => Published::Stored,
                    });
                }
                Err(error) => error,
            };
            if error.kind() == PublishErrorKind::MaxPayloadExceeded {
                return Err(Error::TooLong {
                    bytes: cut.bytes.len(),
                    bytes_max: self.block_bytes_max(),
                });
            }
            let is_not_last = error.kind() == PublishErrorKind::WrongLastSequence;
            // Perhaps it was stored, and only that was not heard.
            return match self.look().await? {
                Some(known) if known.offset == cut.offset && known.bytes == cut.bytes => {
                    Ok(Published::Duplicate)
                }
                Some(known) if known.offset >= cut.offset => Err(self.fed_by_another(cut, &known)),
                // The stream has removed all blocks of the source since the last one was stored: by their age, to make
                // room, or by a purge.
                None if is_not_last && expected > 0 => continue,
                _ if code(&error).is_some() && !is_not_last => Err(Error::Later(format!(
                    "the stream refuses: {}",
                    reasons(&error)
                ))),
                _ => Err(self.connection.later(&error)),
            };
        }
    }

    async fn send(&self, cut: &Cut) -> std::result::Result<PublishAck, PublishError> {
        let (block, id) = self.block(cut);
        let message = PublishMessage::build()
            .payload(cut.bytes.clone())
            .headers(headers(&block, &id))
            .expected_last_subject_sequence(self.last);
        let context = &self.connection.context;
        let sent = context.send_publish(self.subject.clone(), message).await?;
        sent.await
    }

    /// What it means that the stream had a block before this feeder sent it: the last one, or one that it has removed.
    async fn known_before(&mut self, cut: &Cut) -> Result<Published> {
        match self.look().await? {
            Some(known) if known.offset == cut.offset => Ok(Published::Duplicate),
            Some(known) if known.offset > cut.offset => Err(self.fed_by_another(cut, &known)),
            _ => Err(Error::refused(
                format!(
                    "the stream {} had the block of {} at byte {}, has removed it since, and refuses it as long as it \
                     remembers it (duplicate_window)",
                    self.stream, self.source, cut.offset
                ),
                "to have it once more, wait for the end of that window, or give the source another name: --source",
            )),
        }
    }

    fn fed_by_another(&self, cut: &Cut, known: &Known) -> Error {
        Error::refused(
            format!(
                "another feeder has fed {} meanwhile: the stream has byte {}, and this one is at {}",
                self.source, known.offset, cut.offset
            ),
            "let one feeder feed a source; start this one again to go on where the stream ends",
        )
    }

    fn block(&self, cut: &Cut) -> (Block, BlockId) {
        let labels = Labels {
            source: Some(self.source.clone()),
            offset: Some(cut.offset),
            line: Some(cut.line),
            ..Labels::default()
        };
        let block = Block {
            labels,
            bytes: cut.bytes.clone(),
        };
        (
            block,
            BlockId::of_source(&self.source, cut.offset, &cut.bytes),
        )
    }

    /// Finds the last block of this source.
    async fn look(&mut self) -> Result<Option<Known>> {
        let stream = self
            .connection
            .context
            .get_stream_no_info(&self.stream)
            .await;
        let stream = stream.map_err(|error| self.connection.later(&error))?;
        let message = match stream.get_last_raw_message_by_subject(&self.subject).await {
            Ok(message) => message,
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
                self.last = 0;
                return Ok(None);
            }
            Err(error) => return Err(self.connection.later(&error)),
        };
        self.last = message.sequence;
        let labels = labels(Some(&message.headers));
        let (Some(offset), Some(line)) = (labels.offset, labels.line) else {
            return Err(Error::refused(
                format!(
                    "message {} on {} is no block of a feeder",
                    message.sequence, self.subject
                ),
                "give the source another name: --source",
            ));
        };
        Ok(Some(Known {
            offset,
            line,
            bytes: message.payload,
        }))
    }
}
