//! Keys of stores and logs.

use super::key::Group::{Logs, Storage};
use super::key::Key;
use super::keys_session::FLAG;

const DIRECTORY: &str = "a directory";
const DATABASE: &str = "databases are not used: state FileStorePath and FileLogPath; a file store moves over by perfkit \
                        fix store import";
const SLF4J: &str = "there is no SLF4J: messages and events are in FileLogPath";

const SCREEN: &str = "times on the screen have milliseconds, and nothing else can be chosen";

pub(super) static KEYS: &[Key] = &[
    Key::new("FileStorePath", Storage, DIRECTORY)
        .default("memory")
        .what("where numbers and sent messages are kept, a directory for each session; not stated: in memory only"),
    Key::new("FileStoreSync", Storage, FLAG)
        .default("N")
        .what("each message is on the disk before it is sent"),
    Key::no_effect("FileStoreMaxCachedMsgs", Storage, "the store's index is part of its files"),
    Key::refused("Jdbc*", Storage, DATABASE),
    Key::refused("MySQL*", Storage, DATABASE),
    Key::refused("PostgreSQL*", Storage, DATABASE),
    Key::refused("Odbc*", Storage, DATABASE),
    Key::refused("Sleepycat*", Storage, DATABASE),
    Key::refused("Mongo*", Storage, DATABASE),
    Key::refused("SQL*", Storage, DATABASE),
    Key::new("FileLogPath", Logs, DIRECTORY)
        .default("no files")
        .what("where messages and events are logged"),
    Key::new("FileLogBackupPath", Logs, DIRECTORY)
        .default("FileLogPath")
        .what("where logs go that a program puts away"),
    Key::new("FileLogFormat", Logs, "QUICKFIX or QUICKFIXJ")
        .default("QUICKFIX")
        .what("names and lines as QuickFIX for C++ or QuickFIX/J writes them; perfkit's own key"),
    Key::new("FileLogHeartbeats", Logs, FLAG)
        .default("Y")
        .what("heartbeats are logged to files, too; QuickFIX/J's own default is N"),
    Key::new("FileIncludeMilliseconds", Logs, FLAG)
        .default("N")
        .what("milliseconds in times of QUICKFIXJ logs"),
    Key::new("FileIncludeTimeStampForMessages", Logs, FLAG)
        .default("N")
        .what("a time before each message of QUICKFIXJ logs"),
    Key::new("ScreenLogShowIncoming", Logs, FLAG)
        .default("N")
        .what("the commands write received messages to standard error; QuickFIX's own default is Y"),
    Key::new("ScreenLogShowOutgoing", Logs, FLAG)
        .default("N")
        .what("the commands write sent messages to standard error; QuickFIX's own default is Y"),
    Key::new("ScreenLogShowEvents", Logs, FLAG)
        .what("Y: the commands write all events to standard error, N: none; not stated: only trouble"),
    Key::new("ScreenLogShowHeartBeats", Logs, FLAG)
        .default("N")
        .what("heartbeats are among the messages on the screen"),
    Key::no_effect("Screen*", Logs, SCREEN),
    Key::no_effect("SLF4J*", Logs, SLF4J),
];
