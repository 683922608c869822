//! Checks after the server has stopped: was every deposit credited and released once, and do
//! ledger, chain and books agree?

use anyhow::Context as _;
use domain::currency::StableCoin;
use domain::deposit::DepositState;
use engine::reconcile;
use store::{Page, Store, Tenant, Transaction};

use super::super::inside::{AMOUNT_MINOR, COIN, Link};
use super::super::installation::Installation;
use super::Watched;
use service::books;

/// Maximum number of differences that are listed.
const NAMED_MAX: usize = 10;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checks {
    /// Links that were paid.
    pub(super) links: u64,
    /// Links with exactly one deposit, which is completed, and with its amount in the wallet.
    pub(super) whole: u64,
    /// The other links, some of them.
    pub(super) wrong: Vec<String>,
    /// On-chain balances compared with the ledger.
    pub(super) vaults: u64,
    pub(super) breaks: Vec<String>,
    pub(super) broken: u64,
    /// Inconsistencies of the books.
    pub(super) book_faults: Vec<String>,
}

impl Checks {
    pub(super) async fn make(
        installation: &Installation,
        links: &[Link],
        watched: &Watched,
        compared: &reconcile::Report,
    ) -> anyhow::Result<Checks> {
        let store = &installation.store;
        let owner =
            &installation.tenants.first().context("an installation without a tenant")?.tenant;
        let mut checks = Checks {
            links: links.len() as u64,
            wrong: watched.strange.iter().take(NAMED_MAX).cloned().collect(),
            vaults: compared.vaults as u64,
            breaks: compared.breaks.iter().take(NAMED_MAX).map(ToString::to_string).collect(),
            broken: compared.found as u64,
            ..Checks::default()
        };
        for link in links {
            match fault(store, owner, link).await? {
                None => checks.whole += 1,
                Some(fault) if checks.wrong.len() < NAMED_MAX => checks.wrong.push(fault),
                Some(_) => {}
            }
        }
        let report = books::verify_some(store, std::slice::from_ref(owner))
            .await
            .context("verifying the books")?;
        checks.book_faults = report.findings;
        Ok(checks)
    }

    /// Whether each deposit was completed, once.
    pub(super) const fn once(&self) -> bool {
        self.whole == self.links && self.wrong.is_empty()
    }

    /// Whether ledger and chain agree on every escrow and wallet with funds.
    pub(super) const fn is_chain(&self) -> bool {
        self.broken == 0 && self.vaults >= self.links
    }

    /// Whether the books are consistent.
    pub(super) const fn balanced(&self) -> bool {
        self.book_faults.is_empty()
    }

    /// The failure, if any.
    pub(super) fn failure(&self) -> Option<String> {
        if !self.once() {
            let (whole, links, wrong) = (self.whole, self.links, self.wrong.join("; "));
            return Some(format!("{whole} of {links} deposits were completed once: {wrong}"));
        }
        if !self.is_chain() {
            let (broken, vaults, named) = (self.broken, self.vaults, self.breaks.join("; "));
            return Some(format!(
                "ledger and chain differ in {broken} of {vaults} balances: {named}"
            ));
        }
        (!self.balanced())
            .then(|| format!("the ledger does not balance: {}", self.book_faults.join("; ")))
    }
}

/// The fault of a link's deposit, if any.
async fn fault(store: &Store, owner: &Tenant, link: &Link) -> anyhow::Result<Option<String>> {
    let page = Page { page: 0, limit: 2 };
    let listed =
        store.transactions(owner.id, link.wallet, None, page).await.context("reading a wallet")?;
    let [Transaction::Deposit(deposit)] = listed.rows.as_slice() else {
        return Ok(Some(format!("wallet {} has {} transactions", link.wallet, listed.total)));
    };
    let state = deposit.state;
    if deposit.request != Some(link.request)
        || deposit.minor != AMOUNT_MINOR
        || state != DepositState::Completed
    {
        return Ok(Some(format!("deposit {} is {}", deposit.id, state.name())));
    }
    let accounts =
        store.wallet_accounts(owner.id, link.wallet).await.context("reading a balance")?;
    let held = StableCoin::ALL.into_iter().zip(&accounts).find(|(coin, _)| *coin == COIN);
    let held = held.map_or(0, |(_, account)| account.balance().minor);
    Ok((held != AMOUNT_MINOR).then(|| format!("wallet {} holds {held} minor units", link.wallet)))
}
