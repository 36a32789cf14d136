//! The connections of a session: from a Logon to a Logout, or to the next Logon.

use super::event::{Event, Kind};
use super::rows::{Connection, Spot};

/// A connection that has not ended.
#[derive(Debug)]
struct Open {
    row: Connection,
    /// Who began it: the direction of the Logon; `None` if it began before the log.
    by: Option<usize>,
    is_established: bool,
    /// The direction of the first Logout.
    logout: Option<usize>,
}

/// The connections of a session, of which one is open at most.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Option<Open>,
    /// When the last one ended.
    ended_ns: Option<i64>,
    /// HeartBtInt (108) of the last Logon.
    pub(super) heartbeat_s: Option<u64>,
}

impl Connections {
    /// Adds a message of a direction. Returns a connection that has ended before it, or with it.
    pub(super) fn message(
        &mut self,
        event: &Event,
        way: usize,
        spot: &Spot,
        text: &[u8],
    ) -> Option<Connection> {
        if let Kind::Logon(heartbeat_s, _) = event.kind
            && !event.is_resent
        {
            self.heartbeat_s = heartbeat_s.or(self.heartbeat_s);
            if let Some(open) = &mut self.open
                && !open.is_established
                && open.logout.is_none()
                && open.by.is_some_and(|by| by != way)
            {
                open.is_established = true;
                open.row.answered_ns = event.sent_ns;
                open.add(event);
                return None;
            }
            let ended = self.end();
            self.begin(event, Some(way), spot);
            return ended;
        }
        if self.open.is_none() {
            self.begin(event, None, spot);
        } else if let Some(open) = &mut self.open {
            open.add(event);
        }
        let open = self.open.as_mut()?;
        if event.kind != Kind::Logout || event.is_resent {
            // A log of one side alone has no answer.
            open.is_established |= open.logout.is_none() && event.kind != Kind::Logout;
            return None;
        }
        match open.logout {
            None => {
                open.logout = Some(way);
                open.row.by.clone_from(&spot.session[0]);
                open.row.text = text.to_vec();
                open.row.how = "logout not confirmed";
                if !open.is_established && open.by.is_some_and(|by| by != way) {
                    open.row.how = "logon refused";
                    return self.close();
                }
                None
            }
            Some(by) if by != way => {
                open.row.how = "logout";
                self.close()
            }
            Some(_) => None,
        }
    }

    fn begin(&mut self, event: &Event, by: Option<usize>, spot: &Spot) {
        let down = event.sent_ns.zip(self.ended_ns);
        let down = down.and_then(|(start, end)| u64::try_from(start - end).ok());
        let mut open = Open {
            row: Connection {
                spot: spot.clone(),
                start_ns: event.sent_ns,
                down_ns: down.filter(|_| by.is_some()),
                ..Connection::default()
            },
            by,
            is_established: by.is_none(),
            logout: None,
        };
        open.add(event);
        self.open = Some(open);
    }

    /// Ends the open connection because of a Logon without a Logout before it.
    fn end(&mut self) -> Option<Connection> {
        let open = self.open.as_mut()?;
        if open.logout.is_none() {
            open.row.how = match open.is_established {
                true => "no logout",
                false => "logon not answered",
            };
        }
        self.close()
    }

    fn close(&mut self) -> Option<Connection> {
        let row = self.open.take()?.row;
        self.ended_ns = row.end_ns;
        Some(row)
    }

    /// The log has ended.
    pub(super) fn finish(&mut self) -> Option<Connection> {
        let open = self.open.as_mut()?;
        if open.logout.is_none() {
            open.row.how = match open.is_established {
                true => "end of log",
                false => "logon not answered",
            };
        }
        self.close()
    }
}

impl Open {
    fn add(&mut self, event: &Event) {
        self.row.messages += 1;
        self.row.end_ns = self.row.end_ns.max(event.sent_ns);
    }
}
