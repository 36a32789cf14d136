//! Keys of what a session is and does.

use super::key::Group::{Dictionaries, Identity, Recovery, Schedule, Times, Validation};
use super::key::Key;

/// What a flag takes.
pub(super) const FLAG: &str = "Y or N";
/// What a text takes.
pub(super) const TEXT: &str = "text";
const ID: &str = "text without control characters";
const SECONDS: &str = "a whole number of seconds, 1 or more";
const TIME: &str = "a time HH:MM:SS, or HH:MM:SS ZONE";
const DAY: &str = "a day of the week";
const FILE: &str = "a file";

pub(super) static KEYS: &[Key] = &[
    Key::new("ConnectionType", Identity, "acceptor or initiator")
        .what("who connects: acceptor waits for the other side"),
    Key::new("BeginString", Identity, "FIX.4.0 to FIX.4.4, or FIXT.1.1")
        .what("version of FIX of the session (8)"),
    Key::new("SenderCompID", Identity, ID).what("name of this side (49 of what it sends)"),
    Key::new("SenderSubID", Identity, ID).what("sub-name of this side (50)"),
    Key::new("SenderLocationID", Identity, ID).what("location of this side (142)"),
    Key::new("TargetCompID", Identity, ID).what("name of the other side (56 of what this side sends)"),
    Key::new("TargetSubID", Identity, ID).what("sub-name of the other side (57)"),
    Key::new("TargetLocationID", Identity, ID).what("location of the other side (143)"),
    Key::new("SessionQualifier", Identity, ID)
        .what("tells sessions of equal names apart; initiators only, never sent"),
    Key::new("DefaultApplVerID", Identity, "FIX.4.0 to FIX.5.0SP2, or 2 to 9")
        .what("version of application messages (1137); required for FIXT.1.1"),
    Key::new("AcceptorTemplate", Identity, FLAG)
        .default("N")
        .what("the session is a template: * in its names stands for any name that logs on"),
    Key::new("StartTime", Schedule, TIME)
        .what("when the session opens and its numbers begin; required unless NonStopSession=Y"),
    Key::new("EndTime", Schedule, TIME)
        .what("when it closes: the first such time after the start; equal to StartTime: 24 hours"),
    Key::new("StartDay", Schedule, DAY).what("sessions of a week open on this day; with EndDay only"),
    Key::new("EndDay", Schedule, DAY).what("sessions of a week close on this day; with StartDay only"),
    Key::new("Weekdays", Schedule, "days of the week, with commas between")
        .what("daily sessions open on these days; one that closes after midnight runs into the next day"),
    Key::new("TimeZone", Schedule, "a time zone, such as America/New_York")
        .default("UTC")
        .what("zone of times that state none themselves"),
    Key::new("UseLocalTime", Schedule, FLAG)
        .default("N")
        .what("times are in the zone of this system"),
    Key::new("NonStopSession", Schedule, FLAG)
        .default("N")
        .what("always open, never reset by time"),
    Key::new("LogonTime", Schedule, TIME)
        .default("StartTime")
        .what("logged on only from then: the session's numbers stay"),
    Key::new("LogoutTime", Schedule, TIME)
        .default("EndTime")
        .what("logged out then, without a reset"),
    Key::new("LogonDay", Schedule, DAY).default("StartDay").what("day of LogonTime"),
    Key::new("LogoutDay", Schedule, DAY).default("EndDay").what("day of LogoutTime"),
    Key::new("ResetOnLogon", Recovery, FLAG)
        .default("N")
        .what("numbers begin at 1 with each Logon"),
    Key::new("ResetOnLogout", Recovery, FLAG)
        .default("N")
        .what("numbers begin at 1 after a Logout"),
    Key::new("ResetOnDisconnect", Recovery, FLAG)
        .default("N")
        .what("numbers begin at 1 after a lost connection"),
    Key::new("ResetOnError", Recovery, FLAG)
        .default("N")
        .what("an error disconnects, and numbers begin at 1"),
    Key::new("DisconnectOnError", Recovery, FLAG).default("N").what("an error disconnects"),
    Key::new("RefreshOnLogon", Recovery, FLAG)
        .default("N")
        .what("reads the store again before a Logon, for fail-over"),
    Key::new("PersistMessages", Recovery, FLAG)
        .default("Y")
        .what("sent messages are kept; otherwise resends are gap fills"),
    Key::new("ForceResendWhenCorruptedStore", Recovery, FLAG)
        .default("N")
        .what("a damaged message of the store becomes part of a gap fill in a resend"),
    Key::new("SendRedundantResendRequests", Recovery, FLAG)
        .default("N")
        .what("asks again for a gap that is already asked for"),
    Key::new("ClosedResendInterval", Recovery, FLAG)
        .default("N")
        .what("a ResendRequest states the last number of the gap in place of 0"),
    Key::new("ResendRequestChunkSize", Recovery, "a whole number, 0 or more")
        .default("0")
        .what("the number of messages to ask for at a time; 0: the whole gap"),
    Key::new("SendNextExpectedMsgSeqNum", Recovery, FLAG)
        .aliases(&["EnableNextExpectedMsgSeqNum"])
        .default("N")
        .what("the Logon states the next number expected (789)"),
    Key::new("EnableLastMsgSeqNumProcessed", Recovery, FLAG)
        .default("N")
        .what("messages state the last number processed (369)"),
    Key::no_effect("SendResetSeqNumFlag", Recovery, "ResetOnLogon has replaced it"),
    Key::new("CheckCompID", Validation, FLAG)
        .default("Y")
        .what("messages must have the session's names (49, 56)"),
    Key::new("CheckLatency", Validation, FLAG)
        .default("Y")
        .what("SendingTime (52) must be within MaxLatency"),
    Key::new("MaxLatency", Validation, SECONDS)
        .default("120")
        .what("how far SendingTime may be off"),
    Key::new("ValidateSequenceNumbers", Validation, FLAG)
        .default("Y")
        .what("numbers (34) must be in order"),
    Key::new("ValidateIncomingMessage", Validation, FLAG)
        .default("Y")
        .what("checks messages by the dictionary"),
    Key::new("RejectInvalidMessage", Validation, FLAG)
        .default("Y")
        .what("a message that fails the dictionary is rejected; otherwise it is logged and delivered"),
    Key::new("RejectGarbledMessage", Validation, FLAG)
        .default("N")
        .what("a garbled message gets a Reject; otherwise it is ignored, and the gap is asked for"),
    Key::new("RejectMessageOnUnhandledException", Validation, FLAG)
        .default("N")
        .what("an error of the application rejects the message, and its number is used"),
    Key::new("RequiresOrigSendingTime", Validation, FLAG)
        .default("Y")
        .what("a message with PossDupFlag (43) needs OrigSendingTime (122)"),
    Key::new("ValidateLengthAndChecksum", Validation, FLAG)
        .aliases(&["ValidateChecksum"])
        .default("Y")
        .what("BodyLength (9) and CheckSum (10) must be right"),
    Key::new("ValidateFieldsOutOfOrder", Validation, FLAG)
        .default("Y")
        .what("header fields must come before the body"),
    Key::new("ValidateFieldsHaveValues", Validation, FLAG)
        .default("Y")
        .what("empty fields are rejected"),
    Key::new("ValidateUserDefinedFields", Validation, FLAG)
        .default("Y")
        .what("fields from 5000 on must be in the dictionary"),
    Key::new("ValidateUnorderedGroupFields", Validation, FLAG)
        .default("N")
        .what("fields of a group's entry must be in the dictionary's order; QuickFIX/J's own default is Y"),
    Key::new("AllowUnknownMsgFields", Validation, FLAG)
        .default("N")
        .what("fields that the message's type does not have are accepted"),
    Key::new("TestMessageIndicator", Validation, FLAG)
        .what("refuses a Logon whose TestMessageIndicator (464) differs; perfkit's own key"),
    Key::new("MaxMessageSize", Validation, "a whole number of bytes, 1 or more")
        .what("announced in the Logon (383): a longer message ends in Logout; perfkit's own key"),
    Key::no_effect(
        "AllowPosDup",
        Validation,
        "PossDupFlag (43) is always removed from what an application sends",
    ),
    Key::new("HeartBtInt", Times, SECONDS)
        .what("interval of heartbeats that an initiator asks for; required for initiators"),
    Key::new("LogonTimeout", Times, SECONDS).default("10").what("how long a Logon may take"),
    Key::new("LogoutTimeout", Times, SECONDS)
        .default("2")
        .what("how long to wait for the answer to a Logout"),
    Key::new("TestRequestDelayMultiplier", Times, "a number from 0 to 100")
        .what("TestRequest after 1 + this of the interval without a message; not stated: 1.2"),
    Key::new("HeartBeatTimeoutMultiplier", Times, "a number from 0 to 100")
        .what("disconnects after 1 + this of the interval without a message; not stated: 2.4"),
    Key::new("DisableHeartBeatCheck", Times, FLAG)
        .default("N")
        .what("silence never disconnects"),
    Key::new("TimestampPrecision", Times, "0 to 9, SECONDS, MILLIS, MICROS or NANOS")
        .default("3")
        .what("digits of the second's fraction in SendingTime"),
    Key::new("MillisecondsInTimeStamp", Times, FLAG)
        .default("Y")
        .what("SendingTime in milliseconds, otherwise in seconds; TimestampPrecision counts more"),
    Key::new("LogonTag", Times, "tag=value").what("a further field of the Logon; LogonTag1, LogonTag2 … too"),
    Key::new("UseDataDictionary", Dictionaries, FLAG)
        .default("Y")
        .what("messages are checked by a dictionary"),
    Key::new("DataDictionary", Dictionaries, FILE)
        .default("built in")
        .what("QuickFIX XML for FIX.4.0 to FIX.4.4"),
    Key::new("TransportDataDictionary", Dictionaries, FILE)
        .default("built in")
        .what("QuickFIX XML for session messages of FIXT.1.1"),
    Key::new("AppDataDictionary", Dictionaries, FILE)
        .default("built in")
        .what("QuickFIX XML for application messages over FIXT.1.1; AppDataDictionary.FIX.4.4 for that version"),
    Key::new("PreserveMessageFieldsOrder", Dictionaries, FLAG)
        .default("N")
        .what("messages that --app echo returns keep the order of their fields; otherwise tags ascend"),
];
