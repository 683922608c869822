//! Exchange rates and orders: checks and lookups before the engine decides.

use domain::attempt::UnresolvedAttempt;
use domain::audit::AuditContext;
use domain::bank::BankDirectory;
use domain::country::Country;
use domain::currency::StableCoin;
use domain::exchange::{
    BankAccount, ExchangeOrder, Fate, NewOrder, OrderRefusal, Price, RateQuote, sandbox_fate,
};
use domain::fault::Fault;
use domain::holder_name::LETTERS_MIN;
use domain::ids::{ExchangeId, TransferId, WalletId};
use domain::money::Money;
use domain::order;
use domain::policy::{Need, RailKind};
use domain::rail::Finding;
use domain::route::{self, Unfit, Wanted};
use domain::screening::Verdict;
use domain::sender_limit::{Sender, UsageByRail};
use domain::time::Span;
use domain::wallet::Wallet;
use store::working_set::{IdempotencyRecord, Made};

use super::{
    Caller, Denied, Listed, Page, Reply, Wallets, not_executed, not_found_as, require_unfrozen,
};
use crate::command::exchange::{ExchangeAction, OrderKey};
use crate::command::{Action, Idempotency, Outcome, Refused};
use crate::context::NoRate;
use crate::error::EngineError;
use crate::workers::headroom::usage_by_rail;
use crate::workers::payout::payee;

const FIELD: &str = "order_id";
/// Message for an account holder's name that no rail can transmit.
const NO_HOLDER: &str =
    "Input should be the name of the account's holder as the bank has it, in Latin letters";
const SHORT_HOLDER: &str =
    "Input should be the name of the account's holder as the bank has it: at least two letters";
/// Message for a bank whose local code is unknown.
const NO_CODE: &str = "The rail needs the branch's local code; the bank directory does not know it";
/// Typical duration of an exchange's on-chain debit, and of a rail of each kind without history.
const DEBIT_EXPECTED: Span = Span::mins(5);
const INSTANT_EXPECTED: Span = Span::mins(5);
const BATCH_EXPECTED: Span = Span::hours(24);

/// A requested order (POST orders); the account's format and check digits are valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOrderAsked {
    /// The wallet that the coins are debited from.
    pub wallet: WalletId,
    /// `from_currency` of the request.
    pub coin: StableCoin,
    /// `amount` in minor units.
    pub minor: i64,
    /// The country of the request's `to_currency`, one of [`Wallets::exchange_to`].
    pub to: Country,
    /// `lock_rate` of the request.
    pub lock: bool,
    /// `bank_account.iban` of the request.
    pub iban: Option<String>,
    /// `bank_account.account_number` of the request.
    pub account_number: Option<String>,
    /// `bank_account.bank_code` of the request.
    pub bank_code: Option<String>,
    /// `bank_account.account_holder_name` of the request.
    pub holder: String,
}

impl Wallets {
    /// Destinations that an exchange may pay out to; empty if wallets are not offered.
    pub fn exchange_to(&self) -> &[Country] {
        self.world.wallet.as_ref().map_or(&[], |wallets| &wallets.first().exchange_to)
    }

    /// The current rate, for an amount or for one coin (GET exchange-rate).
    ///
    /// # Errors
    /// [`Denied::RateUnavailable`]; for an amount that no rail pays out, the refusal of an order.
    pub fn exchange_rate(
        &self,
        caller: &Caller,
        coin: StableCoin,
        to: Country,
        minor: Option<i64>,
    ) -> Result<RateQuote, Denied> {
        self.offered()?;
        let price = self.price(caller, coin, to)?;
        let quote = price.quote(minor, self.world.clock.now().to_millis()).filter(|quote| {
            minor.is_none() || route::pays(&self.world.corridors, to, quote.estimated)
        });
        // Same error as for an order of that amount.
        quote.ok_or_else(|| self.unpayable(&price, coin, to))
    }

    /// The refusal of an amount that no rail pays out, with the bounds of amounts at this price.
    fn unpayable(&self, price: &Price, coin: StableCoin, to: Country) -> Denied {
        let limits = route::limits(&self.world.corridors, to);
        match limits.and_then(|limits| price.amounts_within(limits)) {
            Some((min, max)) => {
                let of = |minor| Money::new(minor, coin.currency());
                Denied::Unpayable { min: of(min), max: of(max) }
            }
            None => Denied::Refused(Refused::Exchange(OrderRefusal::Amount)),
        }
    }

    /// Creates an order (POST orders).
    ///
    /// # Errors
    /// [`Denied::RateUnavailable`], [`Denied::ListsStale`], [`Denied::NotFound`],
    /// [`Denied::ChainNotInUse`]; refusals as in `domain::exchange::create`. A screening hit on the account holder is not a refusal: the
    /// order is created and never started.
    pub async fn create_order(
        &self,
        caller: &Caller,
        asked: NewOrderAsked,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<ExchangeOrder>, Denied> {
        let prepared = self.new_order(caller, asked, idempotency.clone()).await;
        let outcome = self.run_or_replay(caller.tenant, prepared, idempotency).await;
        self.changed_order(caller, outcome, "wallet_id").await
    }

    async fn new_order(
        &self,
        caller: &Caller,
        asked: NewOrderAsked,
        idempotency: Option<Idempotency>,
    ) -> Result<Action, Denied> {
        self.offered()?;
        let wallet = self.own_wallet(caller, asked.wallet).await;
        if let Ok(wallet) = &wallet
            && self.offered_on(wallet.chain)?.config.token(asked.coin).is_none()
        {
            return Err(Denied::Invalid(asked.coin.not_on_chain("from_currency")));
        }
        let new = match self.prepared(caller, &asked, wallet.as_ref().ok()).await {
            // What the request itself lacks is reported first, then the wallet's state.
            Err(Denied::Invalid(fault)) => return Err(Denied::Invalid(fault)),
            new => {
                let wallet = wallet?;
                require_unfrozen(&wallet)?;
                new?
            }
        };
        let key = OrderKey {
            order: new.id,
            wallet: asked.wallet,
            chain: None,
            coin: asked.coin,
            intents: Vec::new(),
        };
        let action = ExchangeAction::Create { order: Box::new(new), idempotency };
        Ok(Action::Exchange(key, action))
    }

    /// The order from a wallet, if it is the caller's.
    async fn prepared(
        &self,
        caller: &Caller,
        asked: &NewOrderAsked,
        wallet: Option<&Wallet>,
    ) -> Result<NewOrder, Denied> {
        let sandbox = self.offered()?.first().sandbox;
        let price = self.price(caller, asked.coin, asked.to)?;
        let bank = self.bank_account(asked);
        let screened = self.world.screened_holder(&bank.holder, asked.to, self.world.clock.now());
        if screened.stale && !screened.is_match() {
            return Err(Denied::ListsStale);
        }
        let spent = match wallet {
            Some(wallet) => {
                let (tenant, to) = (caller.tenant, asked.to);
                let sender = Sender::of_customer(tenant, &wallet.customer_id);
                Some(usage_by_rail(&self.store, &self.world, tenant, to, sender).await?)
            }
            None => None,
        };
        let mut ids = self.store.ids();
        Ok(NewOrder {
            id: ExchangeId(ids.next()),
            hold: TransferId(ids.next()),
            coin: asked.coin,
            minor: asked.minor,
            price,
            lock: asked.lock,
            expected: self.expected(asked, &price, &bank, spent.as_ref())?,
            bank,
            fate: if sandbox { sandbox_fate(asked.minor) } else { Fate::Open },
            screened,
        })
    }

    /// Cancels an order (POST orders/{order_id}/cancel).
    ///
    /// # Errors
    /// [`Denied::NotFound`]; 409 if its coins are already moving.
    pub async fn cancel_order(
        &self,
        caller: &Caller,
        id: ExchangeId,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<ExchangeOrder>, Denied> {
        let order = self.find_order(caller, id).await?;
        self.act_on(caller, &order, ExchangeAction::Cancel { idempotency }).await
    }

    /// Releases or rejects an order that screening withholds. A release screens the account holder
    /// again, on the current lists; a match that the reviewers have not seen is recorded and refuses
    /// it. Older lists than those of the last screening decide nothing. `seen` is the version of the
    /// order that the reviewers looked at; `None` = any.
    ///
    /// # Errors
    /// [`Denied::NotFound`]; [`Denied::ChainNotInUse`]; 409 if no decision is pending; to a release also
    /// [`Denied::ListsStale`], and 422 for a frozen wallet.
    pub async fn review_order(
        &self,
        caller: &Caller,
        id: ExchangeId,
        approve: bool,
        seen: Option<i64>,
        by: impl Into<AuditContext>,
    ) -> Result<Reply<ExchangeOrder>, Denied> {
        let by = Box::new(by.into());
        let order = self.find_order(caller, id).await?;
        self.offered_on(order.chain)?;
        let now = self.world.clock.now();
        let release =
            approve.then(|| self.world.screened_holder(&order.bank.holder, order.country, now));
        if let (Some(screened), Some(known)) = (&release, &order.screened)
            && self.world.is_behind(screened, &known.list_version, id.0)
        {
            return Err(Denied::Refused(Refused::Exchange(OrderRefusal::OlderLists)));
        }
        match release {
            Some(screened) if order.is_news(&screened) => {
                let refusal = match screened.verdict() {
                    Verdict::Hit => OrderRefusal::Listed,
                    _ => OrderRefusal::OtherMatch,
                };
                self.act_on(
                    caller,
                    &order,
                    ExchangeAction::FoundMatch { screened, by: not_executed(*by) },
                )
                .await?;
                Err(Denied::Refused(Refused::Exchange(refusal)))
            }
            Some(screened) if screened.stale => Err(Denied::ListsStale),
            release => {
                let action = ExchangeAction::Review { release, seen, by };
                self.act_on(caller, &order, action).await
            }
        }
    }

    /// Records the outcome of a payout that was unknown, or the return of a settled one, for the
    /// attempt that the reviewers examined. The caller enforces four eyes.
    ///
    /// # Errors
    /// [`Denied::NotFound`]; 409 if no outcome is to be recorded, or another attempt is open.
    pub async fn resolve_order(
        &self,
        caller: &Caller,
        id: ExchangeId,
        seen: UnresolvedAttempt,
        finding: impl Into<Finding>,
        evidence: String,
        by: impl Into<AuditContext>,
    ) -> Result<Reply<ExchangeOrder>, Denied> {
        let (finding, by) = (finding.into(), Box::new(by.into()));
        let order = self.find_order(caller, id).await?;
        if order.attempt.is_none() {
            return Err(Denied::Refused(Refused::Exchange(OrderRefusal::Conflict(order.state))));
        }
        self.act_on(caller, &order, ExchangeAction::Resolve { seen, finding, evidence, by }).await
    }

    /// Recredits the coins of a settled order whose payout was returned.
    ///
    /// # Errors
    /// [`Denied::NotFound`]; 409 if no payout was returned or its coins are recredited already;
    /// 422 for a blacklisted wallet.
    pub async fn recredit_order(
        &self,
        caller: &Caller,
        id: ExchangeId,
        by: impl Into<AuditContext>,
    ) -> Result<Reply<ExchangeOrder>, Denied> {
        let by = Box::new(by.into());
        let order = self.find_order(caller, id).await?;
        self.act_on(caller, &order, ExchangeAction::Recredit { by }).await
    }

    /// One order.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn find_order(
        &self,
        caller: &Caller,
        id: ExchangeId,
    ) -> Result<ExchangeOrder, Denied> {
        self.store.exchange(caller.tenant, id).await?.ok_or(Denied::NotFound(FIELD))
    }

    /// A page of a wallet's orders (GET orders).
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn list_orders(
        &self,
        caller: &Caller,
        wallet: WalletId,
        page: Page,
    ) -> Result<Listed<ExchangeOrder>, Denied> {
        self.own_wallet(caller, wallet).await?;
        Ok(self.store.list_exchanges(caller.tenant, wallet, page).await?)
    }

    async fn act_on(
        &self,
        caller: &Caller,
        order: &ExchangeOrder,
        action: ExchangeAction,
    ) -> Result<Reply<ExchangeOrder>, Denied> {
        let action = Action::Exchange(OrderKey::of(order), action);
        self.changed_order(caller, self.run(caller.tenant, action).await, FIELD).await
    }

    async fn changed_order(
        &self,
        caller: &Caller,
        outcome: Result<Outcome, Denied>,
        field: &'static str,
    ) -> Result<Reply<ExchangeOrder>, Denied> {
        match outcome.map_err(not_found_as(field))? {
            Outcome::Exchange(order) => Ok(Reply { made: *order, replayed: false }),
            Outcome::Replayed(IdempotencyRecord { made: Made::Exchange(id), .. }) => {
                Ok(Reply { made: self.find_order(caller, id).await?, replayed: true })
            }
            _ => Err(Denied::Engine(EngineError::Internal)),
        }
    }

    /// The price for a caller, from a rate recent enough to pay out at.
    fn price(&self, caller: &Caller, coin: StableCoin, to: Country) -> Result<Price, Denied> {
        let world = &self.world;
        let (base, currency) = (coin.currency(), to.currency());
        let corridor = world
            .corridors
            .corridors
            .get(&to)
            .filter(|corridor| corridor.open && !world.switches.is_closed(to));
        let corridor = corridor.ok_or(NoRate::Missing(base, currency))?;
        let mid = world.bid(base, currency, corridor)?;
        Ok(Price::new(currency, mid, caller.policy.wallet.spread_bps))
    }

    fn bank_account(&self, asked: &NewOrderAsked) -> BankAccount {
        let corridor = self.world.corridors.corridors.get(&asked.to);
        let default = corridor.and_then(|corridor| corridor.default_local_code.as_deref());
        bank_account(asked, &self.world.directory, default)
    }

    /// Typical duration of the payout over the rail that would be selected.
    fn expected(
        &self,
        asked: &NewOrderAsked,
        price: &Price,
        bank: &BankAccount,
        spent: Option<&UsageByRail>,
    ) -> Result<Span, Denied> {
        let to = asked.to;
        let refused = || self.unpayable(price, asked.coin, to);
        let wanted = Wanted {
            country: to,
            amount: price.payout(asked.minor).ok_or_else(refused)?,
            bank: bank.bic.as_deref().and_then(|bic| bic.get(..4)),
            order: None,
            default_local_code: false,
            payee: Some(payee(to, bank)),
            spent,
        };
        match route::lacking(&self.world.corridors, &wanted) {
            Some(Unfit::Name(_)) => {
                let field = "bank_account.account_holder_name";
                let letters = bank.holder.chars().filter(|sign| sign.is_alphabetic()).count();
                let rule = if letters < LETTERS_MIN { SHORT_HOLDER } else { NO_HOLDER };
                return Err(Denied::Invalid(Fault::new(field, "unsupported_characters", rule)));
            }
            Some(Unfit::Needs(Need::LocalCode)) => {
                let field = "bank_account.bank_code";
                return Err(Denied::Invalid(Fault::new(field, "branch_code_required", NO_CODE)));
            }
            _ => {}
        }
        let rails = route::candidates(&self.world.corridors, &wanted);
        if rails.is_empty()
            && let Some((_, exceeded)) = route::exhausted(&self.world.corridors, &wanted)
        {
            return Err(Denied::Refused(Refused::Exchange(OrderRefusal::CustomerLimit(exceeded))));
        }
        let rail = rails.first().ok_or_else(|| match refused() {
            // Something else than the amount keeps every rail from it.
            Denied::Unpayable { min, max } if (min.minor..=max.minor).contains(&asked.minor) => {
                Denied::Refused(Refused::Exchange(OrderRefusal::Amount))
            }
            denied => denied,
        })?;
        let usual = if rail.kind == RailKind::Instant { INSTANT_EXPECTED } else { BATCH_EXPECTED };
        let paid = self.world.pace.median(&rail.id).unwrap_or(usual);
        Ok(Span(DEBIT_EXPECTED.0 + paid.0))
    }
}

/// The account with the directory's data about its bank. `default` is the corridor's local code for
/// banks without one.
fn bank_account(
    asked: &NewOrderAsked,
    directory: &BankDirectory,
    default: Option<&str>,
) -> BankAccount {
    let code = asked.bank_code.as_deref();
    let bank = order::payee_bank(asked.to, asked.iban.as_deref(), code, directory, default);
    BankAccount {
        iban: asked.iban.clone(),
        account_number: asked.account_number.clone(),
        bank_code: code.map(|code| bank.local_code.unwrap_or_else(|| code.to_ascii_uppercase())),
        holder: asked.holder.clone(),
        bic: bank.bic,
        bank_name: bank.name,
    }
}

#[cfg(test)]
mod tests {
    use domain::bank::Branch;
    use domain::bic::Bic;

    use super::*;

    fn directory() -> BankDirectory {
        let branch = Branch {
            country: Country::Pak,
            bic: Bic::parse("SCBLPKKX"),
            local_code: None,
            bank_name: "Standard Chartered Bank (Pakistan)".to_owned(),
            branch_name: None,
        };
        BankDirectory::from_branches([branch]).expect("valid branches")
    }

    fn account(
        iban: Option<&str>,
        account_number: Option<&str>,
        bank_code: Option<&str>,
    ) -> BankAccount {
        let asked = NewOrderAsked {
            wallet: WalletId(uuid::Uuid::nil()),
            coin: StableCoin::Usdc,
            minor: 1,
            to: Country::Pak,
            lock: false,
            iban: iban.map(str::to_owned),
            account_number: account_number.map(str::to_owned),
            bank_code: bank_code.map(str::to_owned),
            holder: "Asha Khan".to_owned(),
        };
        bank_account(&asked, &directory(), None)
    }

    #[test]
    fn the_bank_of_an_account_is_found_by_its_iban_its_bic_or_its_letters() {
        for found in [
            account(Some("PK36SCBL0000001123456702"), None, None),
            account(None, Some("1123456702"), Some("scbl")),
            account(None, Some("1123456702"), Some("SCBLPKKXXXX")),
        ] {
            assert_eq!(
                found.bank_name.as_deref(),
                Some("Standard Chartered Bank (Pakistan)"),
                "{found:?}"
            );
            assert!(
                found.bic.as_deref().is_some_and(|bic| bic.starts_with("SCBLPKKX")),
                "{found:?}"
            );
        }
        // A rail receives the four letters, which are the local code, even if the bank was named by
        // its BIC.
        let by_bic = account(None, Some("1123456702"), Some("SCBLPKKXXXX"));
        assert_eq!((by_bic.bank_code.as_deref(), by_bic.iban), (Some("SCBL"), None));
        let unknown = account(Some("PK24MEZN0000001123456702"), None, None);
        assert_eq!((unknown.bic, unknown.bank_name, unknown.bank_code), (None, None, None));
    }
}
