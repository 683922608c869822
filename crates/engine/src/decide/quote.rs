//! Commands about quotes.

use domain::decision::Cx;
use domain::event::EventKind;
use domain::ids::{QuoteId, TenantId};
use domain::payment::NewEvent;
use domain::quote::{Offer, Quote, QuoteState};
use domain::time::Span;
use store::working_set::{IdempotencyRecord, Made, WorkingSet};

use super::effects;
use crate::command::{Idempotency, Outcome, Refused};

pub(super) struct Asked<'a> {
    pub(super) id: QuoteId,
    pub(super) offer: &'a Offer,
    pub(super) ttl: Span,
    pub(super) cap: Option<u32>,
}

pub(super) fn create(
    ws: &mut WorkingSet,
    tenant: TenantId,
    asked: Asked<'_>,
    idempotency: Option<&Idempotency>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    if let Some(made) = replayed(ws, tenant, idempotency, cx)? {
        return Ok(Outcome::Replayed(made));
    }
    let country = asked.offer.country;
    let open = ws.open_quotes.get(&(tenant, country)).copied().unwrap_or(0);
    if let Some(limit) = asked.cap.filter(|limit| open >= i64::from(*limit)) {
        return Err(Refused::OpenQuoteLimit { limit, country });
    }
    let quote = Quote {
        id: asked.id,
        tenant,
        offer: asked.offer.clone(),
        created_at: cx.now,
        expires_at: cx.now + asked.ttl,
        state: QuoteState::Active,
        payment: None,
    };
    ws.open_quotes.put((tenant, country), open + 1);
    ws.quotes.put((tenant, quote.id), quote.clone());
    effects::tell(ws, tenant, vec![event(&quote, EventKind::QuoteCreated, 1)]);
    remember(ws, tenant, idempotency, Made::Quote(quote.id), cx);
    Ok(Outcome::Quoted(Box::new(quote)))
}

/// Expires those of `quotes` that are open and past their expiry.
pub(super) fn expire(
    ws: &mut WorkingSet,
    tenant: TenantId,
    quotes: &[QuoteId],
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    for id in quotes {
        let Some(mut quote) = ws.quotes.get(&(tenant, *id)).cloned() else { continue };
        if quote.state != QuoteState::Active || !quote.is_past(cx.now) {
            continue;
        }
        quote.state = QuoteState::Expired;
        close(ws, &quote);
        effects::tell(ws, tenant, vec![event(&quote, EventKind::QuoteExpired, 2)]);
        ws.quotes.put((tenant, *id), quote);
    }
    Ok(Outcome::Done)
}

/// Removes a quote from the count of open quotes.
pub(super) fn close(ws: &mut WorkingSet, quote: &Quote) {
    let key = (quote.tenant, quote.offer.country);
    let open = ws.open_quotes.get(&key).copied().unwrap_or(0);
    ws.open_quotes.put(key, (open - 1).max(0));
}

fn event(quote: &Quote, kind: EventKind, version: i64) -> NewEvent {
    NewEvent { kind, subject: quote.id.0, version, standing: None }
}

/// What the same request created before, if it was answered before.
pub(super) fn replayed(
    ws: &WorkingSet,
    tenant: TenantId,
    idempotency: Option<&Idempotency>,
    cx: &Cx<'_>,
) -> Result<Option<IdempotencyRecord>, Refused> {
    let Some(asked) = idempotency else { return Ok(None) };
    asked.made_before(ws.idempotency.get(&(tenant, asked.key.clone())), cx.now)
}

/// Stores what a request created, in the commit that creates it.
pub(super) fn remember(
    ws: &mut WorkingSet,
    tenant: TenantId,
    idempotency: Option<&Idempotency>,
    made: Made,
    cx: &Cx<'_>,
) {
    if let Some(asked) = idempotency {
        let record = IdempotencyRecord { body_hash: asked.body_hash, made, at: cx.now };
        ws.idempotency.put((tenant, asked.key.clone()), record);
    }
}
