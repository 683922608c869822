//! How much of the event logs each relay has sent. A cursor moves only after the broker's
//! acknowledgement, one event after the other; pruning never passes it.

use domain::audit::{AuditContext, INSTALLATION, Note};
use domain::ids::{EventId, TenantId};
use domain::relay::EventLog;
use domain::time::{Span, Timestamp};

use crate::chain_view::HeldRole;
use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

// Both ways: a cursor beyond its log is an error that must be seen.
static BEHIND: Stmt = Stmt::written(
    "relay.behind",
    "SELECT t.id, t.tag, 'payment', h.payment_seq, c.seq FROM tenant t JOIN tenant_head h ON h.tenant = t.id \
     LEFT JOIN relay_cursor c ON c.tenant = t.id AND c.log = 'payment' AND c.relay = $1 \
     WHERE c.seq IS NULL OR c.seq <> h.payment_seq \
     UNION ALL SELECT t.id, t.tag, 'wallet', h.wallet_seq, c.seq FROM tenant t JOIN tenant_head h ON h.tenant = t.id \
     LEFT JOIN relay_cursor c ON c.tenant = t.id AND c.log = 'wallet' AND c.relay = $1 \
     WHERE c.seq IS NULL OR c.seq <> h.wallet_seq ORDER BY 2, 3",
);
static ALL: Stmt = Stmt::written(
    "relay.all",
    "SELECT c.relay, c.tenant, t.tag, c.log, c.seq, c.event, c.at, h.payment_seq, e.at FROM relay_cursor c \
     JOIN tenant t ON t.id = c.tenant JOIN tenant_head h ON h.tenant = c.tenant \
     LEFT JOIN event e ON e.tenant = c.tenant AND e.seq = c.seq + 1 WHERE c.log = 'payment' \
     UNION ALL SELECT c.relay, c.tenant, t.tag, c.log, c.seq, c.event, c.at, h.wallet_seq, e.at FROM relay_cursor c \
     JOIN tenant t ON t.id = c.tenant JOIN tenant_head h ON h.tenant = c.tenant \
     LEFT JOIN wallet_event e ON e.tenant = c.tenant AND e.seq = c.seq + 1 WHERE c.log = 'wallet' ORDER BY 1, 3, 4",
);
static BEGIN: Stmt = Stmt::written(
    "relay.begin",
    "INSERT INTO relay_cursor (tenant, log, relay, seq, at) VALUES ($2, $3, $4, $5, {{now}}) ON CONFLICT DO NOTHING",
);
static ADVANCE: Stmt = Stmt::written(
    "relay.advance",
    "UPDATE relay_cursor SET seq = $6, event = $7, at = {{now}} \
     WHERE tenant = $2 AND log = $3 AND relay = $4 AND seq = $5",
);
static FORGET: Stmt = Stmt::written("relay.forget", "DELETE FROM relay_cursor WHERE relay = $1");
static FORGET_TENANT: Stmt = Stmt::written(
    "relay.forget_tenant",
    "DELETE FROM relay_cursor WHERE tenant = $2 AND relay = $1",
);

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&BEHIND, &ALL, &BEGIN, &ADVANCE, &FORGET, &FORGET_TENANT];

/// A log that a relay has not sent completely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayBehind {
    pub tenant: TenantId,
    pub tag: String,
    pub log: EventLog,
    /// The number of the log's latest event.
    pub head: i64,
    /// The number of the last acknowledged event; `None` = the relay has not begun this log.
    pub seq: Option<i64>,
}

/// A relay's position in one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayCursor {
    pub relay: String,
    pub tenant: TenantId,
    pub tag: String,
    pub log: EventLog,
    /// The number of the last acknowledged event.
    pub seq: i64,
    /// Its id; `None` before the first acknowledgement.
    pub event: Option<EventId>,
    /// When it was acknowledged.
    pub moved_at: Timestamp,
    /// The number of the log's latest event.
    pub head: i64,
    /// The time of the oldest unsent event; `None` if all are sent, or if it is not in the log.
    pub next_at: Option<Timestamp>,
}

impl RelayCursor {
    /// Number of unsent events.
    pub const fn unsent(&self) -> i64 {
        self.head - self.seq
    }

    /// How long the oldest unsent event has been waiting.
    pub fn lag(&self, now: Timestamp) -> Span {
        match self.unsent() {
            0 => Span(0),
            _ => now - self.next_at.unwrap_or(self.moved_at),
        }
    }
}

impl Store {
    /// The logs that a relay has not sent completely or has not begun.
    pub async fn relay_behind(&self, relay: &str) -> Result<Vec<RelayBehind>, StoreError> {
        let rows: Vec<(TenantId, String, EventLog, i64, Option<i64>)> =
            self.many(&BEHIND, relay).await?;
        let behind = |(tenant, tag, log, head, seq)| RelayBehind { tenant, tag, log, head, seq };
        Ok(rows.into_iter().map(behind).collect())
    }

    /// The positions of all relays, by relay, tenant and log.
    pub async fn relay_cursors(&self) -> Result<Vec<RelayCursor>, StoreError> {
        type Log = (String, TenantId, String, EventLog);
        type Position = (i64, Option<EventId>, Timestamp, i64, Option<Timestamp>);
        let rows: Vec<(Log, Position)> = self.many(&ALL, ()).await?;
        let cursor = |((relay, tenant, tag, log), (seq, event, moved_at, head, next_at))| {
            RelayCursor { relay, tenant, tag, log, seq, event, moved_at, head, next_at }
        };
        Ok(rows.into_iter().map(cursor).collect())
    }

    /// Begins a log after `seq`, as the holder of the relay's role; one that has begun is left as it is.
    ///
    /// # Errors
    /// `Conflict` if another node holds the role.
    pub async fn begin_relay(
        &self,
        role: &HeldRole,
        relay: &str,
        (tenant, log): (TenantId, EventLog),
        seq: i64,
    ) -> Result<(), StoreError> {
        let params =
            vec![self.now_param(), tenant.0.into(), log.name().into(), relay.into(), seq.into()];
        self.write(vec![role.step(), Step::any(&BEGIN, params)]).await.map(drop)
    }

    /// Moves the cursor from `seq` to an acknowledged event, as the holder of the relay's role.
    ///
    /// # Errors
    /// `Conflict` if another node holds the role, or the cursor is not at `seq`.
    pub async fn advance_relay(
        &self,
        role: &HeldRole,
        relay: &str,
        (tenant, log): (TenantId, EventLog),
        seq: i64,
        (to, event): (i64, EventId),
    ) -> Result<(), StoreError> {
        let keys = self.id_keys().await?;
        let params = vec![
            self.now_param(),
            tenant.0.into(),
            log.name().into(),
            relay.into(),
            seq.into(),
            to.into(),
            keys.stored(event.0).into(),
        ];
        self.write(vec![role.step(), Step::one(&ADVANCE, params)]).await.map(drop)
    }

    /// Forgets a relay's positions, of one tenant or of all: the events that it has not sent may be
    /// pruned, and the relay begins again if it runs.
    pub async fn forget_relay(
        &self,
        relay: &str,
        tenant: Option<TenantId>,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let step = match tenant {
            None => Step::any(&FORGET, vec![relay.into()]),
            Some(tenant) => Step::any(&FORGET_TENANT, vec![relay.into(), tenant.0.into()]),
        };
        let note = Note::new("relay.forget", "relay", relay);
        self.noted(tenant.unwrap_or(INSTALLATION), by.into(), note, vec![step]).await
    }
}
