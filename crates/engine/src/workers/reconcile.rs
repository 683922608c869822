//! Compares the ledger with the chain, with rails' reports and with bank statements (I14). One node
//! at a time, periodically and on request. Nothing is corrected: a discrepancy raises an operator
//! alert.
//!
//! Books and chain are read one after the other while funds move. In-flight amounts are allowed
//! for, and a difference must persist in a second read, made once the watcher has ingested
//! everything that was on the chain at the first one.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::Arc;

use domain::chain::{Address, ChainFault, ChainNumber, SignFault};
use domain::currency::StableCoin;
use domain::deposit::Watched;
use domain::ids::TenantId;
use domain::ledger::{Account, AccountCode};
use domain::time::{Span, Timestamp};
use domain::wallet_effects::{Alert, AlertKind};
use store::{Moving, MovingKind, StoreError};
use uuid::Uuid;

use super::{Stop, Workers};
use crate::alerts;
use crate::context::{ChainContext, ChainContexts};
use crate::reconcile::{self, Break, NAMED_MAX, Report, Side};
use crate::rescan;

mod statements;

const ROLE: &str = "reconcile";
/// Interval between full comparisons.
const EVERY: Span = Span::mins(10);
/// Poll interval for requests.
const LOOK_EVERY: Span = Span::secs(1);
/// Longest pause after comparisons that failed; it doubles with each.
const RETRY_MAX: Span = Span::secs(60);
/// The role's lease, released when a comparison ends. If one takes longer, another node joins,
/// which does no harm; if a node crashes, it delays others no longer than this.
const LEASE: Span = Span::mins(1);
/// How long the second read waits for the watcher.
const WATCHER_WITHIN: Span = Span::secs(60);
/// Vaults read at once.
const PAGE: usize = 1_000;
/// Balances requested at once.
const ASKED_AT_ONCE: usize = 500;
/// Vaults without bookings that one comparison checks; the next one continues after them.
const UNBOOKED_MAX: usize = 500;
/// Maximum number of vaults that one comparison has rescanned.
const LOOKED_THROUGH_MAX: usize = 64;
/// A tenant's newest open alerts that one comparison looks through.
const ALERTS_MAX: usize = 10_000;
/// Times that differences are read again while their accounts move.
const READS_MAX: usize = 4;
/// Store key of the vault after which a chain's the next comparison continues.
const COMPARED_TO: &str = "reconciliation.compared_to";

/// Why no report was made.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Chain(#[from] ChainFault),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Key(#[from] SignFault),
    #[error("the watcher is behind the chain")]
    Watcher,
}

/// What comparing a chain found. It is kept while other chains cannot be compared, so that retries
/// repeat only those.
struct Compared {
    at: Timestamp,
    /// The request that it fulfils.
    wanted: Option<Uuid>,
    vaults: usize,
    breaks: Vec<Break>,
}

impl Compared {
    fn is_fresh(&self, wanted: Option<Uuid>, now: Timestamp) -> bool {
        self.wanted == wanted && now - self.at < EVERY
    }
}

/// The booked amount of one address and coin.
struct Held {
    tenant: TenantId,
    account: AccountCode,
    address: Address,
    /// The escrows of a request's submissions, covered by the same account.
    others: Vec<Address>,
    coin: StableCoin,
    least: i64,
    most: i64,
    /// The sum of the watcher's logs, if it watches the address.
    logged: Option<i64>,
    /// For a treasury: the amount that the watcher saw go there. Its on-chain balance is not read.
    swept: Option<i64>,
}

impl Held {
    /// Every vault that the account covers.
    fn vaults(&self) -> impl Iterator<Item = Address> + '_ {
        iter::once(self.address).chain(self.others.iter().copied())
    }
}

pub(super) async fn reconcile(workers: Arc<Workers>, mut stop: Stop) {
    // This node's metric shows only its own observations.
    let mut has_looked = false;
    // The latest report read; it is read again if it does not suffice.
    let mut known = None;
    let mut wait = LOOK_EVERY;
    let mut compared = BTreeMap::new();
    while !*stop.borrow() {
        workers.pause(wait, &mut stop).await;
        let wanted = match workers.reconciliation_due(has_looked, &mut known).await {
            Ok(Some(wanted)) if !*stop.borrow() => wanted,
            Ok(_) => continue,
            Err(error) if workers.outage.counts(&error, ROLE) => continue,
            Err(error) => {
                tracing::warn!(%error, "reconciliation schedule read failed, will retry");
                continue;
            }
        };
        let done = tokio::select! {
            biased;
            done = workers.reconcile_once(wanted, &mut compared) => done,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        match done {
            // Another node is comparing: if it crashes, the requested report will not appear.
            Ok(_) => {
                compared.clear();
                (has_looked, known, wait) = (true, None, LOOK_EVERY);
            }
            Err(trouble) => {
                // It begins at the first vault of a chain again: its nodes are spared.
                wait = Span(wait.0.saturating_mul(2)).min(RETRY_MAX);
                tracing::warn!(%trouble, "ledger reconciliation failed, will retry");
            }
        }
        workers.hand_on(ROLE).await;
    }
    workers.hand_on(ROLE).await;
}

impl Workers {
    /// Whether a comparison is due, and which request it fulfils; `None` = not yet.
    async fn reconciliation_due(
        &self,
        has_looked: bool,
        known: &mut Option<Report>,
    ) -> Result<Option<Option<Uuid>>, StoreError> {
        let wanted = reconcile::wanted(&self.store).await?;
        let is_fresh = |last: &Report| {
            let fulfilled = last.wanted >= wanted;
            fulfilled && self.clock().now() - last.at < EVERY
        };
        if !known.as_ref().is_some_and(is_fresh) {
            *known = reconcile::last(&self.store).await?;
        }
        let is_fresh = known.as_ref().is_some_and(is_fresh);
        Ok((!is_fresh || !has_looked).then_some(wanted))
    }

    /// Compares everything if this node holds the role; alerts on discrepancies and stores the
    /// report.
    async fn reconcile_once(
        &self,
        wanted: Option<Uuid>,
        compared: &mut BTreeMap<ChainNumber, Compared>,
    ) -> Result<Option<Report>, Trouble> {
        if self.store.lease_role(ROLE, &self.owner, LEASE).await?.is_none() {
            return Ok(None);
        }
        // First: it needs no chain, and chain discrepancies must not hide those of the banks.
        self.compare_statements().await?;
        let mut not_compared = None;
        compared.retain(|_, it| it.is_fresh(wanted, self.clock().now()));
        for world in self.world.wallet.iter().flat_map(ChainContexts::all) {
            if compared.contains_key(&world.config.number) {
                continue;
            }
            match self.compare_chain(world).await {
                Ok((vaults, breaks)) => {
                    let found = Compared { at: self.clock().now(), wanted, vaults, breaks };
                    compared.insert(world.config.number, found);
                }
                // Another chain's discrepancies are named all the same.
                Err(trouble) => not_compared = not_compared.or(Some(trouble)),
            }
        }
        let vaults = compared.values().map(|it| it.vaults).sum();
        let mut breaks: Vec<Break> =
            compared.values().flat_map(|it| it.breaks.iter().cloned()).collect();
        let (rails, more) = self.compare_rails().await?;
        breaks.extend(more);
        for it in breaks.iter().take(NAMED_MAX) {
            self.raise(
                it.tenant,
                Alert { kind: kind(it), subject: subject(it), what: it.to_string() },
            )
            .await;
        }
        if let Some(trouble) = not_compared {
            return Err(trouble);
        }
        let found = breaks.len();
        breaks.truncate(NAMED_MAX);
        let report = Report { at: self.clock().now(), wanted, vaults, rails, found, breaks };
        reconcile::keep(&self.store, &report).await?;
        Ok(Some(report))
    }

    async fn compare_chain(&self, wallets: &ChainContext) -> Result<(usize, Vec<Break>), Trouble> {
        let (held, next) = self.held(wallets).await?;
        let first = differing(wallets, &held).await?;
        if first.is_empty() {
            self.end_changed(&held, &first).await?;
            self.go_on_after(wallets, next).await?;
            return Ok((held.len(), first));
        }
        let mut breaks = first;
        for _ in 0..READS_MAX {
            // Read last: no balance of the read before is of a later block. With an earlier head, a
            // movement between head and balance would differ in both reads.
            let head = wallets.chain.heads().await?.latest.number;
            self.watcher_reaches(wallets, head).await?;
            let again = differing(wallets, &self.held(wallets).await?.0).await?;
            let before = |it: &Break| {
                let is_it = |at: &&Break| {
                    (&at.account, at.tenant, at.side) == (&it.account, it.tenant, it.side)
                };
                breaks.iter().find(is_it).map(|at| at.said)
            };
            // What moves between the reads is read once more: it may be a movement, or differ by more.
            let has_moved = again.iter().any(|it| before(it).is_some_and(|said| said != it.said));
            breaks = again.iter().filter(|it| before(it).is_some()).cloned().collect();
            if !has_moved {
                break;
            }
        }
        self.end_changed(&held, &breaks).await?;
        self.look_through(wallets, &held, &breaks).await?;
        self.go_on_after(wallets, next).await?;
        Ok((held.len(), breaks))
    }

    /// Ends the alerts about compared accounts that differ by another amount now, or agree: each
    /// difference has one.
    async fn end_changed(&self, held: &[Held], breaks: &[Break]) -> Result<(), Trouble> {
        let tenants: BTreeSet<TenantId> = held.iter().map(|it| it.tenant).collect();
        for tenant in tenants {
            for (_, alert) in self.store.alerts(tenant, ALERTS_MAX).await? {
                if is_changed(tenant, &alert, held, breaks) {
                    alerts::end(&self.store, tenant, &alert).await;
                }
            }
        }
        Ok(())
    }

    /// Vaults that hold more than is booked are rescanned by the watcher, which then books what a
    /// node omitted.
    async fn look_through(
        &self,
        wallets: &ChainContext,
        held: &[Held],
        breaks: &[Break],
    ) -> Result<(), Trouble> {
        let more = |it: &&Break| match it.side {
            Side::Chain => it.said > it.most,
            Side::Watcher => it.said < it.least,
            Side::Rail => false,
        };
        let of_a_break = |of: &&Held| {
            let is_it = |it: &Break| of.tenant == it.tenant && of.account == it.account;
            of.logged.is_some() && breaks.iter().filter(more).any(is_it)
        };
        let vaults = held.iter().filter(of_a_break).flat_map(Held::vaults);
        for vault in vaults.take(LOOKED_THROUGH_MAX) {
            let chain = wallets.config.number;
            rescan::want_if_new(&self.store, chain, rescan::Target::Vault(vault)).await?;
        }
        Ok(())
    }

    async fn go_on_after(
        &self,
        wallets: &ChainContext,
        vault: Option<Address>,
    ) -> Result<(), Trouble> {
        let text = vault.map_or_else(String::new, |vault| vault.to_string());
        Ok(self.store.set_meta(&wallets.config.number.key(COMPARED_TO), &text).await?)
    }

    /// Vaults without bookings, a part of them in each comparison, by address: anyone can pay an
    /// address, and a payment that no node showed is not booked. Also returns where the next part
    /// begins.
    async fn unbooked(
        &self,
        wallets: &ChainContext,
        booked: &BTreeSet<(Address, StableCoin)>,
        moving: &BTreeMap<TenantId, Vec<Moving>>,
    ) -> Result<(Vec<Held>, Option<Address>), Trouble> {
        let chain = wallets.config.number;
        let after = self.store.meta(&chain.key(COMPARED_TO)).await?;
        let after = after.and_then(|text| Address::parse(&text));
        let page = self.store.vaults_after(chain, after, UNBOOKED_MAX).await?;
        let next = page.last().filter(|_| page.len() == UNBOOKED_MAX).map(|vault| vault.address);
        let coins = wallets.config.tokens.iter().map(|token| token.coin);
        let pairs: Vec<(Watched, StableCoin)> = page
            .iter()
            .flat_map(|vault| coins.clone().map(move |coin| (*vault, coin)))
            .filter(|(vault, coin)| !booked.contains(&(vault.address, *coin)))
            .collect();
        let wanted: Vec<(Address, StableCoin)> =
            pairs.iter().map(|(vault, coin)| (vault.address, *coin)).collect();
        let logged = self.store.logged_of(chain, &wanted).await?;
        let held = pairs.into_iter().map(|(vault, coin)| {
            let account = match vault.request {
                Some(request) => AccountCode::Escrow(request, coin),
                None => AccountCode::Wallet(vault.wallet, coin),
            };
            let none = Vec::new();
            let (least, most) = bounds(
                &Account::empty(vault.tenant, account.clone()),
                moving.get(&vault.tenant).unwrap_or(&none),
            );
            let logged = Some(logged.get(&(vault.address, coin)).copied().unwrap_or(0));
            let (address, others) = (vault.address, Vec::new());
            Held {
                tenant: vault.tenant,
                account,
                address,
                others,
                coin,
                least,
                most,
                logged,
                swept: None,
            }
        });
        Ok((held.collect(), next))
    }

    async fn watcher_reaches(&self, wallets: &ChainContext, head: u64) -> Result<(), Trouble> {
        let until = self.clock().now() + WATCHER_WITHIN;
        loop {
            let tip = self.store.chain_headers(wallets.config.number, 1).await?;
            if tip.first().is_some_and(|tip| tip.number >= head) {
                return Ok(());
            }
            let now = self.clock().now();
            if now >= until {
                return Err(Trouble::Watcher);
            }
            self.clock().sleep_until(now + LOOK_EVERY).await;
        }
    }

    /// The booked amounts of all tenants on a chain. A tenant without keys there has none.
    async fn held(&self, wallets: &ChainContext) -> Result<(Vec<Held>, Option<Address>), Trouble> {
        let mut all = Vec::new();
        let mut all_moving = BTreeMap::new();
        for tenant in self.store.tenants().await? {
            let mut moving = self.store.moving(tenant.id).await?;
            moving.retain(|it| it.chain == wallets.config.number);
            let mut after = None;
            loop {
                let page = self.store.vault_books(tenant.id, after.as_ref(), PAGE).await?;
                let Some(last) = page.last() else { break };
                after = Some(last.account.code.clone());
                let of_chain =
                    page.into_iter().filter(|vault| vault.chain == wallets.config.number);
                all.extend(of_chain.map(|vault| {
                    let (least, most) = bounds(&vault.account, &moving);
                    let (account, address, coin) = (vault.account.code, vault.address, vault.coin);
                    let others = vault.others;
                    Held {
                        tenant: tenant.id,
                        account,
                        address,
                        others,
                        coin,
                        least,
                        most,
                        logged: Some(vault.logged),
                        swept: None,
                    }
                }));
            }
            match wallets.contracts.controller(tenant.id) {
                Ok(controller) => {
                    for coin in StableCoin::ALL {
                        let of = (wallets.config.number, coin);
                        all.extend(
                            self.collected(tenant.id, controller.address, of, &moving).await?,
                        );
                    }
                }
                Err(SignFault::NoKey(_)) => {}
                Err(fault) => return Err(fault.into()),
            }
            all_moving.insert(tenant.id, moving);
        }
        let booked: BTreeSet<(Address, StableCoin)> =
            all.iter().flat_map(|it: &Held| it.vaults().map(|vault| (vault, it.coin))).collect();
        let (unbooked, next) = self.unbooked(wallets, &booked, &all_moving).await?;
        all.extend(unbooked);
        Ok((all, next))
    }

    /// The controller's balance, and the amount swept from it to the treasury. Receipts of the
    /// controller are not watched.
    async fn collected(
        &self,
        tenant: TenantId,
        address: Address,
        (chain, coin): (ChainNumber, StableCoin),
        moving: &[Moving],
    ) -> Result<[Held; 2], Trouble> {
        let accounts = self.store.accounts(tenant).await?;
        let of = |code: AccountCode| {
            let known = accounts.iter().find(|it| it.code == code).cloned();
            known.unwrap_or_else(|| Account::empty(tenant, code))
        };
        let unswept = of(AccountCode::Unswept(chain, coin));
        let treasury = of(AccountCode::Treasury(chain, coin));
        let back = |it: &&Moving| {
            it.kind == MovingKind::Returning && it.account.currency() == coin.currency()
        };
        let returning: i64 = moving.iter().filter(back).map(|it| it.minor).sum();
        let (least, most) = bounds(&unswept, &[]);
        let least = least.saturating_sub(returning);
        let (account, others) = (unswept.code, Vec::new());
        let holds =
            Held { tenant, account, address, others, coin, least, most, logged: None, swept: None };
        // The treasury belongs to the bank, which spends from it: its receipts are compared.
        let got = treasury.credits_posted;
        let swept = Some(self.store.logged(chain, address, coin).await?.saturating_neg());
        let (account, most) = (treasury.code, got.saturating_add(treasury.credits_pending));
        let others = Vec::new();
        Ok([
            holds,
            Held { tenant, account, address, others, coin, least: got, most, logged: None, swept },
        ])
    }

    async fn compare_rails(&self) -> Result<(usize, Vec<Break>), Trouble> {
        let mut compared = 0;
        let mut breaks = Vec::new();
        for tenant in self.store.tenants().await? {
            // Both sides of one read are of one instant, written in one commit.
            for books in self.store.rail_books(tenant.id).await? {
                compared += 1;
                let paid = books.account.balance().minor.saturating_neg();
                if paid != books.settled {
                    breaks.push(Break {
                        tenant: tenant.id,
                        account: books.account.code,
                        side: Side::Rail,
                        said: books.settled,
                        least: paid,
                        most: paid,
                    });
                }
            }
        }
        Ok((compared, breaks))
    }
}

/// The balances of a vault that agree with its account.
fn bounds(account: &Account, moving: &[Moving]) -> (i64, i64) {
    let balance = account.balance().minor;
    let mut least = balance.saturating_sub(account.debits_pending);
    let mut most = balance.saturating_add(account.credits_pending);
    for it in moving.iter().filter(|it| it.account == account.code) {
        match it.kind {
            MovingKind::Beside => {
                (least, most) = (least.saturating_add(it.minor), most.saturating_add(it.minor))
            }
            MovingKind::Arriving | MovingKind::Returning => most = most.saturating_add(it.minor),
            MovingKind::Refunding => least = least.saturating_sub(it.minor),
        }
    }
    (least, most)
}

/// Those that differ from the chain or from the watcher's logs.
async fn differing(wallets: &ChainContext, held: &[Held]) -> Result<Vec<Break>, Trouble> {
    let tokens: BTreeMap<StableCoin, Address> =
        wallets.config.tokens.iter().map(|token| (token.coin, token.address)).collect();
    let (swept, asked): (Vec<&Held>, Vec<&Held>) = held.iter().partition(|it| it.swept.is_some());
    let mut breaks: Vec<Break> = swept.into_iter().filter_map(judged_swept).collect();
    for (coin, token) in tokens {
        let of_coin: Vec<&Held> = asked.iter().filter(|held| held.coin == coin).copied().collect();
        let addresses: Vec<Address> = of_coin.iter().flat_map(|held| held.vaults()).collect();
        let mut said = Vec::with_capacity(addresses.len());
        for some in addresses.chunks(ASKED_AT_ONCE) {
            said.extend(wallets.chain.token_balances(token, some).await?);
        }
        let mut said = said.into_iter();
        for held in of_coin {
            let sum = said.by_ref().take(1 + held.others.len()).fold(0, u64::saturating_add);
            breaks.extend(judged(held, i64::try_from(sum).unwrap_or(i64::MAX)));
        }
    }
    Ok(breaks)
}

fn judged_swept(held: &Held) -> Option<Break> {
    let said = held.swept.filter(|said| !(held.least..=held.most).contains(said))?;
    let (tenant, account, side) = (held.tenant, held.account.clone(), Side::Watcher);
    Some(Break { tenant, account, side, said, least: held.least, most: held.most })
}

fn judged(held: &Held, said: i64) -> Option<Break> {
    let at = |side, said, least, most| {
        Some(Break { tenant: held.tenant, account: held.account.clone(), side, said, least, most })
    };
    if said < held.least || said > held.most {
        return at(Side::Chain, said, held.least, held.most);
    }
    match held.logged {
        Some(logged) if logged != said => at(Side::Watcher, logged, said, said),
        _ => None,
    }
}

/// Whether an open alert is about an account that was compared, and describes none of its differences.
fn is_changed(tenant: TenantId, alert: &Alert, held: &[Held], breaks: &[Break]) -> bool {
    if alert.kind != AlertKind::ChainMismatch {
        return false;
    }
    let Some(account) = reconcile::account_named(&alert.what) else { return false };
    let is_compared = |of: &Held| of.tenant == tenant && of.account == account;
    let is_current = |it: &Break| it.tenant == tenant && it.to_string() == alert.what;
    held.iter().any(is_compared) && !breaks.iter().any(is_current)
}

const fn kind(it: &Break) -> AlertKind {
    match it.side {
        Side::Chain | Side::Watcher => AlertKind::ChainMismatch,
        Side::Rail => AlertKind::Payout,
    }
}

fn subject(it: &Break) -> Uuid {
    match &it.account {
        AccountCode::Escrow(request, _) => request.0,
        AccountCode::Wallet(wallet, _) => wallet.0,
        _ => it.tenant.0,
    }
}

#[cfg(test)]
mod tests {
    use domain::ids::WalletId;

    use super::*;

    const TENANT: TenantId = TenantId(Uuid::nil());

    fn code() -> AccountCode {
        AccountCode::Wallet(WalletId(Uuid::from_u128(1)), StableCoin::Usdc)
    }

    fn account(credits_posted: i64, debits_pending: i64, credits_pending: i64) -> Account {
        Account {
            credits_posted,
            debits_pending,
            credits_pending,
            ..Account::empty(TENANT, code())
        }
    }

    fn moving(kind: MovingKind, minor: i64) -> Moving {
        Moving { chain: ChainNumber::FIRST, account: code(), kind, minor }
    }

    #[test]
    fn a_comparison_serves_the_request_that_it_was_made_for_until_the_next_is_due() {
        let at = Timestamp(0);
        let wanted = Some(Uuid::from_u128(1));
        let compared = Compared { at, wanted, vaults: 1, breaks: Vec::new() };
        assert!(compared.is_fresh(wanted, at + Span::mins(9)));
        assert!(!compared.is_fresh(wanted, at + EVERY));
        assert!(!compared.is_fresh(Some(Uuid::from_u128(2)), at), "a later request");
    }

    #[test]
    fn in_flight_amounts_may_be_on_either_side() {
        assert_eq!(bounds(&account(100, 0, 0), &[]), (100, 100));
        assert_eq!(
            bounds(&account(100, 30, 7), &[]),
            (70, 107),
            "reserved: moved on the chain already, or not yet"
        );
        assert_eq!(
            bounds(&account(100, 0, 0), &[moving(MovingKind::Beside, 5)]),
            (105, 105),
            "kept in suspense"
        );
        assert_eq!(bounds(&account(100, 0, 0), &[moving(MovingKind::Arriving, 5)]), (100, 105));
        assert_eq!(bounds(&account(100, 0, 0), &[moving(MovingKind::Returning, 5)]), (100, 105));
        assert_eq!(bounds(&account(100, 0, 0), &[moving(MovingKind::Refunding, 5)]), (95, 100));
        let other = Moving {
            account: AccountCode::Wallet(WalletId(Uuid::nil()), StableCoin::Usdc),
            ..moving(MovingKind::Beside, 9)
        };
        assert_eq!(bounds(&account(100, 0, 0), &[other]), (100, 100), "of another wallet");
    }

    #[test]
    fn chain_and_watcher_are_compared_separately() {
        let held = |logged| Held {
            tenant: TENANT,
            account: code(),
            address: Address([1; 20]),
            others: Vec::new(),
            coin: StableCoin::Usdc,
            least: 90,
            most: 100,
            logged,
            swept: None,
        };
        assert_eq!(judged(&held(Some(95)), 95), None);
        assert_eq!(judged(&held(None), 90), None);
        let said = |it: Option<Break>| it.map(|it| (it.side, it.said, it.least, it.most));
        assert_eq!(said(judged(&held(Some(101)), 101)), Some((Side::Chain, 101, 90, 100)));
        assert_eq!(said(judged(&held(Some(89)), 89)), Some((Side::Chain, 89, 90, 100)));
        assert_eq!(
            said(judged(&held(Some(94)), 95)),
            Some((Side::Watcher, 94, 95, 95)),
            "a log was missed"
        );
    }

    #[test]
    fn an_alert_ends_once_its_account_differs_otherwise_or_agrees() {
        let held = [Held {
            tenant: TENANT,
            account: code(),
            address: Address([1; 20]),
            others: Vec::new(),
            coin: StableCoin::Usdc,
            least: 90,
            most: 90,
            logged: None,
            swept: None,
        }];
        let by = |said| judged(&held[0], said).expect("they differ");
        let alert =
            |it: &Break| Alert { kind: kind(it), subject: subject(it), what: it.to_string() };
        let open = alert(&by(100));
        for (breaks, ends) in [(vec![by(100)], false), (vec![by(101)], true), (Vec::new(), true)] {
            assert_eq!(is_changed(TENANT, &open, &held, &breaks), ends, "{breaks:?}");
        }
        assert!(!is_changed(TENANT, &open, &[], &[]), "its account was not compared");
        let other = TenantId(Uuid::from_u128(9));
        assert!(!is_changed(other, &open, &held, &[]), "another tenant's account was compared");
        let others = Alert { what: "two nodes disagree".to_owned(), ..open };
        assert!(!is_changed(TENANT, &others, &held, &[]));
    }

    #[test]
    fn observed_sweeps_to_a_treasury_equal_the_booked_ones() {
        let held = |swept| Held {
            tenant: TENANT,
            account: AccountCode::Treasury(ChainNumber::FIRST, StableCoin::Usdc),
            address: Address([1; 20]),
            others: Vec::new(),
            coin: StableCoin::Usdc,
            least: 90,
            most: 100,
            logged: None,
            swept,
        };
        for (swept, breaks) in
            [(Some(89), true), (Some(90), false), (Some(100), false), (Some(101), true)]
        {
            assert_eq!(judged_swept(&held(swept)).is_some(), breaks, "{swept:?}");
        }
    }
}
