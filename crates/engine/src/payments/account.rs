//! Asks banks about beneficiaries' accounts: for clients, and before a payment is accepted. Stores
//! nothing.

use domain::account_check::{AccountAnswer, AccountChecked, AccountChecks, AccountQuestion};
use domain::country::Country;
use domain::currency::StableCoin;
use domain::decision::Cx;
use domain::fault::Fault;
use domain::ids::TenantId;
use domain::ledger::{Account, AccountCode};
use domain::money::Money;
use domain::order;
use domain::payment::accept::{Submission, accept};
use domain::policy::RailConfig;
use domain::route;
use domain::time::{Span, Timestamp};

use super::check::wanted;
use super::price::merge_faults;
use super::{Caller, Denied, Payments, allowed};
use crate::decide::payment::bound_faults;

/// A client waits for a check: of all rails that are asked, with their logins.
pub const CHECK_AT_MOST: Span = Span::secs(5);
/// Same with a quote and before a payment: its client has the answer of the store to wait for as
/// well.
pub const CHECK_BESIDE_AT_MOST: Span = Span::secs(3);

/// The parsed body of POST /v2/account-checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRequest {
    pub country: Country,
    pub account_number: String,
    pub branch_code: String,
    pub name: String,
}

impl Payments {
    /// Asks about an account (POST /v2/account-checks, POST /v2/quote): the first suitable rail whose
    /// bank answers, for `at_most` this long. `shape` lists the faults of its fields found so far; a
    /// field with one has a placeholder.
    pub async fn check_account(
        &self,
        caller: &Caller,
        request: AccountRequest,
        shape: Vec<Fault>,
        at_most: Span,
    ) -> Result<AccountChecked, Denied> {
        let AccountRequest { country, account_number, branch_code, name } = &request;
        allowed(caller, *country)?;
        let world = &self.world;
        let given = (account_number.as_str(), branch_code.as_str());
        let question =
            order::account_question(*country, given, name, &world.directory, &world.corridors);
        let question = match question {
            Ok(question) if shape.is_empty() => question,
            question => {
                let rules = question.err().unwrap_or_default();
                return Err(Denied::Invalid(merge_faults(shape, rules)));
            }
        };
        self.open(*country)?;
        let resting = world.resting_rails(world.clock.now());
        let bank = question.bic.as_deref().and_then(|bic| bic.get(..4));
        let asked = world.corridors.rails_of(*country).filter(|rail| {
            rail.enabled
                && rail.verify_account != AccountChecks::Off
                && !resting.contains(&rail.id)
                && (rail.banks.is_empty() || bank.is_some_and(|bank| rail.banks.contains(bank)))
        });
        let until = self.world.wall_clock.now() + at_most;
        for rail in asked {
            match self.ask_bank(rail, &question, until).await {
                AccountAnswer::NotSupported => {}
                answer => return Ok(AccountChecked { rail: Some(rail.id.clone()), answer }),
            }
        }
        Ok(AccountChecked { rail: None, answer: AccountAnswer::NotSupported })
    }

    /// The fault of an order whose account cannot be credited, if the rail that it would take checks
    /// accounts first. No answer is no fault. The bank is asked last: never about an order that is
    /// refused anyway.
    pub(super) async fn account_fault(
        &self,
        tenant: TenantId,
        submission: &Submission,
    ) -> Result<Option<Fault>, Denied> {
        let (world, order) = (&self.world, &submission.order);
        let requires = |rail: &RailConfig| rail.verify_account == AccountChecks::Require;
        if !world.corridors.rails_of(order.country).any(requires) {
            return Ok(None);
        }
        let Some(amount) = Money::exact(order.amount, order.country.currency()) else {
            return Ok(None);
        };
        let resting = world.resting_rails(world.clock.now());
        let wanted = wanted(order, amount, &world.corridors);
        let rail = route::candidates(&world.corridors, &wanted)
            .into_iter()
            .find(|rail| !resting.contains(&rail.id))
            .filter(|rail| requires(rail));
        let Some(rail) = rail else { return Ok(None) };
        if !self.is_acceptable(tenant, submission).await? {
            return Ok(None);
        }
        let until = self.world.wall_clock.now() + CHECK_BESIDE_AT_MOST;
        let answer = self.ask_bank(rail, &AccountQuestion::of_order(order), until).await;
        let field = "beneficiary_account_number";
        Ok(match answer {
            AccountAnswer::Closed => {
                let message = "The bank reports that this account is closed";
                Some(Fault::new(field, "account_closed", message))
            }
            AccountAnswer::NotFound => {
                Some(Fault::new(field, "account_not_found", "The bank has no such account"))
            }
            _ => None,
        })
    }

    /// Whether the command would be accepted now: a look without effect, which the command repeats.
    async fn is_acceptable(
        &self,
        tenant: TenantId,
        submission: &Submission,
    ) -> Result<bool, Denied> {
        let order = &submission.order;
        let taken = match &order.external_id {
            Some(id) => self.store.payment_id_by_external(tenant, id).await?,
            None => None,
        };
        let mut quote = self.store.quote(tenant, order.quote).await?;
        let coin = quote.as_ref().map_or(StableCoin::Usdt, |quote| quote.offer.coin);
        let bound = quote
            .as_ref()
            .map_or_else(Vec::new, |quote| bound_faults(quote, order, &self.world.directory));
        let code = AccountCode::Prefund(coin);
        let prefund = self.store.account(tenant, &code).await?;
        let prefund = prefund.unwrap_or_else(|| Account::empty(tenant, code));
        let mut ids = self.store.ids();
        let mut cx = Cx { now: self.world.clock.now(), ids: ids.as_mut() };
        Ok(accept(quote.as_mut(), submission, taken, &bound, &prefund, &mut cx).is_ok())
    }

    async fn ask_bank(
        &self,
        rail: &RailConfig,
        question: &AccountQuestion,
        until: Timestamp,
    ) -> AccountAnswer {
        let answer = match self.world.rails.get(&rail.id) {
            Some(connected) => {
                tokio::select! {
                    biased;
                    answer = connected.verify_account(question) => answer,
                    () = self.world.wall_clock.sleep_until(until) => {
                        AccountAnswer::Unavailable("no answer in time".to_owned())
                    }
                }
            }
            None => AccountAnswer::Unavailable("the rail is not connected".to_owned()),
        };
        if let AccountAnswer::Unavailable(why) = &answer {
            tracing::warn!(rail = %rail.id, why, "account check failed, the payment is not held back");
        }
        metrics::counter!("corridor_account_checks_total", "rail" => rail.id.to_string(), "result" => answer.name())
            .increment(1);
        answer
    }
}
