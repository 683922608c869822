//! Tokens that a reorganization took from a wallet that had reserved or spent them.

use std::collections::BTreeSet;

use domain::chain_tx::Intent;
use domain::decision::Cx;
use domain::ids::TenantId;
use domain::ledger::{AccountCode, cover_shortfall};
use domain::time::Span;
use store::working_set::WorkingSet;

use crate::command::Refused;
use crate::command::exchange::OrderKey;

/// How long a debit waits for the tokens that its wallet lacks: until the deposit is back, or certainly
/// does not return.
const AWAITED: Span = Span::hours(2);

/// Covers the shortfalls of the wallets whose balances the command has changed, before another command
/// can spend what became available.
pub(super) fn cover(ws: &mut WorkingSet, cx: &mut Cx<'_>) -> Result<(), Refused> {
    let moved = ws
        .transfers
        .draft()
        .iter()
        .flat_map(|it| [(it.tenant, &it.debit), (it.tenant, &it.credit)]);
    let wallets: BTreeSet<_> = moved
        .filter_map(|(tenant, code)| match code {
            AccountCode::Wallet(wallet, coin) => Some((tenant, *wallet, *coin)),
            _ => None,
        })
        .collect();
    for (tenant, wallet, coin) in wallets {
        let has = ws.account(tenant, &AccountCode::Wallet(wallet, coin));
        let lacks = ws.account(tenant, &AccountCode::Shortfall(wallet, coin));
        let covered = cover_shortfall(&has, &lacks, cx);
        ws.book(covered.into_iter().collect())
            .map_err(|refusal| Refused::Ledger(refusal.to_string()))?;
    }
    Ok(())
}

/// Whether the wallet of an order lacks tokens that may yet return, so that its debit, which failed, is
/// tried again and does not count as failed. What it waited for before does not shorten the wait.
pub(super) fn is_awaited(
    ws: &WorkingSet,
    tenant: TenantId,
    of: &OrderKey,
    debit: &mut Intent,
    cx: &Cx<'_>,
) -> bool {
    let lacks = ws.account(tenant, &AccountCode::Shortfall(of.wallet, of.coin));
    if lacks.balance().minor >= 0 {
        debit.short_since = None;
        return false;
    }
    cx.now - debit.lacks_tokens(cx.now) < AWAITED
}
