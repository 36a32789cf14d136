//! What a session does and checks: the keys of QuickFIX's settings that a session itself obeys.

use std::time::Duration;

use crate::id::SessionId;

/// Who opens the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// The other side connects and sends the first Logon.
    #[default]
    Acceptor,
    /// This side connects and sends the first Logon.
    Initiator,
}

/// Digits of the fraction of a second in SendingTime: 0 to 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimePrecision(pub u8);

/// What a session does and checks. Each field is named after the key of QuickFIX's settings, and
/// `new` gives their defaults.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of the settings"
)]
pub struct SessionOptions {
    /// Which session this is.
    pub id: SessionId,
    /// Who connects. Default: acceptor.
    pub role: Role,
    /// `DefaultApplVerID` (1137) as sent: `7` (FIX 5.0), `8`, `9`. FIXT only.
    pub default_appl_ver_id: Option<String>,
    /// `HeartBtInt`: what an initiator asks for. An acceptor takes what the Logon states. Default: 30 s.
    pub heart_bt_int: Duration,
    /// `LogonTag`: further fields of the Logon, in this order.
    pub logon_tags: Vec<(u32, String)>,
    /// `ResetOnLogon`. Default: no.
    pub reset_on_logon: bool,
    /// `ResetOnLogout`. Default: no.
    pub reset_on_logout: bool,
    /// `ResetOnDisconnect`. Default: no.
    pub reset_on_disconnect: bool,
    /// `ResetOnError`. Default: no.
    pub reset_on_error: bool,
    /// `DisconnectOnError`. Default: no.
    pub disconnect_on_error: bool,
    /// `RefreshOnLogon`: reads the store again before a Logon. Default: no.
    pub refresh_on_logon: bool,
    /// `SendRedundantResendRequests`. Default: no.
    pub send_redundant_resend_requests: bool,
    /// `ClosedResendInterval`: a ResendRequest names the last number of the gap. Default: no.
    pub closed_resend_interval: bool,
    /// `SendNextExpectedMsgSeqNum` or `EnableNextExpectedMsgSeqNum` (789). Default: no.
    pub send_next_expected_msg_seq_num: bool,
    /// `EnableLastMsgSeqNumProcessed` (369). Default: no.
    pub enable_last_msg_seq_num_processed: bool,
    /// `DisableHeartBeatCheck`. Default: no.
    pub disable_heart_beat_check: bool,
    /// `RejectGarbledMessage`. Default: no.
    pub reject_garbled_message: bool,
    /// `RejectMessageOnUnhandledException`. Default: no.
    pub reject_message_on_unhandled_exception: bool,
    /// `ForceResendWhenCorruptedStore`. Default: no.
    pub force_resend_when_corrupted_store: bool,
    /// `AllowUnknownMsgFields`. Default: no.
    pub allow_unknown_msg_fields: bool,
    /// `PersistMessages`. Default: yes.
    pub persist_messages: bool,
    /// `CheckCompID`. Default: yes.
    pub check_comp_id: bool,
    /// `CheckLatency`. Default: yes.
    pub check_latency: bool,
    /// `MaxLatency`. Default: 120 s.
    pub max_latency: Duration,
    /// `ValidateSequenceNumbers`. Default: yes.
    pub validate_sequence_numbers: bool,
    /// `ValidateIncomingMessage`. Default: yes.
    pub validate_incoming_message: bool,
    /// `RejectInvalidMessage`. Default: yes.
    pub reject_invalid_message: bool,
    /// `RequiresOrigSendingTime`. Default: yes.
    pub requires_orig_sending_time: bool,
    /// `UseDataDictionary`. Default: yes.
    pub use_data_dictionary: bool,
    /// `ValidateLengthAndChecksum`. Default: yes.
    pub validate_length_and_checksum: bool,
    /// `ValidateFieldsOutOfOrder`. Default: yes.
    pub validate_fields_out_of_order: bool,
    /// `ValidateFieldsHaveValues`. Default: yes.
    pub validate_fields_have_values: bool,
    /// `ValidateUserDefinedFields`. Default: yes.
    pub validate_user_defined_fields: bool,
    /// `ValidateUnorderedGroupFields`: the fields of a group's entry have to be in the dictionary's order. Default: no,
    /// as QuickFIX for C++, which does not have this key.
    pub validate_unordered_group_fields: bool,
    /// `PreserveMessageFieldsOrder`: what an application returns keeps the order in which it came. Default: no.
    pub preserve_message_fields_order: bool,
    /// `LogonTimeout`. Default: 10 s.
    pub logon_timeout: Duration,
    /// `LogoutTimeout`. Default: 2 s.
    pub logout_timeout: Duration,
    /// `TestRequestDelayMultiplier`. `None`: a TestRequest after 1.2 intervals, as QuickFIX for C++.
    pub test_request_delay_multiplier: Option<f64>,
    /// `HeartBeatTimeoutMultiplier`. `None`: dead after 2.4 intervals.
    pub heart_beat_timeout_multiplier: Option<f64>,
    /// `ResendRequestChunkSize`; 0 asks for everything at once. Default: 0.
    pub resend_request_chunk_size: u64,
    /// `TimestampPrecision`. Default: 3 digits.
    pub timestamp_precision: TimePrecision,
    /// `TestMessageIndicator` (464): refuses a peer that states the other value. Default: not checked.
    pub test_message_indicator: Option<bool>,
    /// `MaxMessageSize` (383) of this side, announced in the Logon and held. Default: not announced.
    pub max_message_size: Option<u32>,
    /// Bytes of messages that wait behind a gap; more are dropped, for all will be resent. Default: 64 MiB.
    pub queue_bytes_max: usize,
}

impl SessionOptions {
    /// QuickFIX's defaults for this session.
    #[must_use]
    pub fn new(id: SessionId) -> Self {
        Self {
            id,
            role: Role::Acceptor,
            default_appl_ver_id: None,
            heart_bt_int: Duration::from_secs(30),
            logon_tags: Vec::new(),
            reset_on_logon: false,
            reset_on_logout: false,
            reset_on_disconnect: false,
            reset_on_error: false,
            disconnect_on_error: false,
            refresh_on_logon: false,
            send_redundant_resend_requests: false,
            closed_resend_interval: false,
            send_next_expected_msg_seq_num: false,
            enable_last_msg_seq_num_processed: false,
            disable_heart_beat_check: false,
            reject_garbled_message: false,
            reject_message_on_unhandled_exception: false,
            force_resend_when_corrupted_store: false,
            allow_unknown_msg_fields: false,
            persist_messages: true,
            check_comp_id: true,
            check_latency: true,
            max_latency: Duration::from_secs(120),
            validate_sequence_numbers: true,
            validate_incoming_message: true,
            reject_invalid_message: true,
            requires_orig_sending_time: true,
            use_data_dictionary: true,
            validate_length_and_checksum: true,
            validate_fields_out_of_order: true,
            validate_fields_have_values: true,
            validate_user_defined_fields: true,
            validate_unordered_group_fields: false,
            preserve_message_fields_order: false,
            logon_timeout: Duration::from_secs(10),
            logout_timeout: Duration::from_secs(2),
            test_request_delay_multiplier: None,
            heart_beat_timeout_multiplier: None,
            resend_request_chunk_size: 0,
            timestamp_precision: TimePrecision(3),
            test_message_indicator: None,
            max_message_size: None,
            queue_bytes_max: 64 << 20,
        }
    }
}
