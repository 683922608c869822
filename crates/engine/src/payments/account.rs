//! Asks banks about beneficiaries' accounts: for clients, and before a payment is accepted. Stores
//! nothing.

use domain::account_check::{AccountAnswer, AccountChecked, AccountChecks, AccountQuestion};
use domain::country::Country;
use domain::fault::Fault;
use domain::money::Money;
use domain::order::{self, Order};
use domain::policy::RailConfig;
use domain::route;

use super::check::wanted;
use super::{Caller, Denied, Payments, allowed};

/// The parsed body of POST /v2/account-checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRequest {
    pub country: Country,
    pub account_number: String,
    pub branch_code: String,
    pub name: String,
}

impl Payments {
    /// Asks about an account (POST /v2/account-checks): the first suitable rail whose bank answers.
    pub async fn check_account(
        &self,
        caller: &Caller,
        request: AccountRequest,
    ) -> Result<AccountChecked, Denied> {
        let AccountRequest { country, account_number, branch_code, name } = &request;
        allowed(caller, *country)?;
        let world = &self.world;
        let given = (account_number.as_str(), branch_code.as_str());
        let question =
            order::account_question(*country, given, name, &world.directory, &world.corridors)
                .map_err(Denied::Invalid)?;
        self.open(*country)?;
        let resting = world.resting_rails(world.clock.now());
        let bank = question.bic.as_deref().and_then(|bic| bic.get(..4));
        let asked = world.corridors.rails_of(*country).filter(|rail| {
            rail.enabled
                && rail.verify_account != AccountChecks::Off
                && !resting.contains(&rail.id)
                && (rail.banks.is_empty() || bank.is_some_and(|bank| rail.banks.contains(bank)))
        });
        for rail in asked {
            match self.ask_bank(rail, &question).await {
                AccountAnswer::NotSupported => {}
                answer => return Ok(AccountChecked { rail: Some(rail.id.clone()), answer }),
            }
        }
        Ok(AccountChecked { rail: None, answer: AccountAnswer::NotSupported })
    }

    /// The fault of an order whose account cannot be credited, if the rail that it would take checks
    /// accounts first. No answer is no fault.
    pub(super) async fn account_fault(&self, order: &Order) -> Option<Fault> {
        let world = &self.world;
        let requires = |rail: &RailConfig| rail.verify_account == AccountChecks::Require;
        if !world.corridors.rails_of(order.country).any(requires) {
            return None;
        }
        let amount = Money::exact(order.amount, order.country.currency())?;
        let resting = world.resting_rails(world.clock.now());
        let wanted = wanted(order, amount, &world.corridors);
        let rail = route::candidates(&world.corridors, &wanted)
            .into_iter()
            .find(|rail| !resting.contains(&rail.id))
            .filter(|rail| requires(rail))?;
        let answer = self.ask_bank(rail, &AccountQuestion::of_order(order)).await;
        let (rule, message) = match answer {
            AccountAnswer::Closed => {
                ("account_closed", "The bank reports that this account is closed")
            }
            AccountAnswer::NotFound => ("account_not_found", "The bank has no such account"),
            _ => return None,
        };
        Some(Fault::new("beneficiary_account_number", rule, message))
    }

    async fn ask_bank(&self, rail: &RailConfig, question: &AccountQuestion) -> AccountAnswer {
        let answer = match self.world.rails.get(&rail.id) {
            Some(connected) => connected.verify_account(question).await,
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
