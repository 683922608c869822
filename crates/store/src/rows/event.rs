//! Events as rows: the payment's state at the event has columns, the rest is joined on reading.

use domain::event::{Event, EventKind};
use domain::ids::{EventId, TenantId};
use domain::payment::{PaymentSnapshot, PaymentState};
use domain::recall::RecallState;
use domain::time::Timestamp;
use uuid::Uuid;

use super::record::record;
use crate::error::StoreError;

record! {
    EVENT = "event" of it: Event {
        Key { tenant: TenantId, seq: i64 }
        Kept {
            id: EventId, kind: EventKind, subject: Uuid, version: i64, at: Timestamp,
            state: Option<PaymentState> = it.standing.as_ref().map(|standing| standing.state),
            state_at: Option<Timestamp> = it.standing.as_ref().map(|standing| standing.state_at),
            msg: Option<String> = it.standing.as_ref().and_then(|standing| standing.msg.as_ref()),
            bank_reference: Option<String> =
                it.standing.as_ref().and_then(|standing| standing.bank_reference.as_ref()),
            recall_state: Option<RecallState> =
                it.standing.as_ref().and_then(|standing| standing.recall),
        }
    } => {
        let standing = match (state, state_at) {
            (None, None) => None,
            (Some(state), Some(state_at)) => {
                Some(PaymentSnapshot { state, state_at, msg, bank_reference, recall: recall_state })
            }
            _ => return Err(StoreError::Corrupt("an event's state is incomplete".to_owned())),
        };
        Event { id, tenant, seq, kind, subject, version, at, standing }
    }
}
