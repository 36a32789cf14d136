//! What a session logs, and where.

use std::path::PathBuf;

use super::reader::{Reader, takes};

/// The logs of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogOptions {
    /// `FileLogPath`: the directory of message and event logs. Default: none are written.
    pub path: Option<PathBuf>,
    /// `FileLogBackupPath`: where logs go that are put away. Default: `path`.
    pub backup_path: Option<PathBuf>,
    /// `FileLogFormat`. Default: that of QuickFIX for C++.
    pub format: LogFormat,
    /// `FileLogHeartbeats`: heartbeats are logged, too. Default: yes.
    pub heartbeats: bool,
    /// `FileIncludeMilliseconds`, of QuickFIX/J's form only. Default: no.
    pub milliseconds: bool,
    /// `FileIncludeTimeStampForMessages`, of QuickFIX/J's form only. Default: no.
    pub message_times: bool,
    /// `ScreenLogShow…`: what a program writes to its screen.
    pub screen: ScreenOptions,
}

/// What a program writes to its screen. The library writes nothing there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScreenOptions {
    /// `ScreenLogShowIncoming`: received messages. Default: no.
    pub incoming: bool,
    /// `ScreenLogShowOutgoing`: sent messages. Default: no.
    pub outgoing: bool,
    /// `ScreenLogShowEvents`: all events, or none. Default: what the program shows anyway.
    pub events: Option<bool>,
    /// `ScreenLogShowHeartBeats`: heartbeats are among the messages. Default: no.
    pub heartbeats: bool,
}

/// Whose logs they look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// QuickFIX for C++: `NAME.messages.current.log`, `20260102-03:04:05.123456789 : 8=FIX…`.
    #[default]
    QuickFix,
    /// QuickFIX/J: `NAME.messages.log`, `20260102-03:04:05: text`.
    QuickFixJ,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            path: None,
            backup_path: None,
            format: LogFormat::default(),
            heartbeats: true,
            milliseconds: false,
            message_times: false,
            screen: ScreenOptions::default(),
        }
    }
}

pub(super) fn log(reader: &Reader<'_>) -> LogOptions {
    let flag = |name, default| reader.flag(name).unwrap_or(default);
    let name = "FileLogFormat";
    let format = match reader.stated(name) {
        None => LogFormat::QuickFix,
        Some(stated) => match stated.value.to_ascii_uppercase().as_str() {
            "QUICKFIX" => LogFormat::QuickFix,
            "QUICKFIXJ" | "QUICKFIX/J" => LogFormat::QuickFixJ,
            _ => {
                reader.wrong(&stated, takes(name));
                LogFormat::QuickFix
            }
        },
    };
    LogOptions {
        path: reader.path("FileLogPath"),
        backup_path: reader.path("FileLogBackupPath"),
        format,
        heartbeats: flag("FileLogHeartbeats", true),
        milliseconds: flag("FileIncludeMilliseconds", false),
        message_times: flag("FileIncludeTimeStampForMessages", false),
        screen: ScreenOptions {
            incoming: flag("ScreenLogShowIncoming", false),
            outgoing: flag("ScreenLogShowOutgoing", false),
            events: reader.flag("ScreenLogShowEvents"),
            heartbeats: flag("ScreenLogShowHeartBeats", false),
        },
    }
}
