//! Checks an order as far as possible without the database: its country's rules, the rails'
//! requirements, the names.

use domain::fault::Fault;
use domain::money::Money;
use domain::order::{Order, UncheckedOrder, merge_faults};
use domain::policy::Need;
use domain::route::{self, Unfit, Wanted};

use super::{Denied, Payments};

/// Message for a name that no rail can transmit.
pub(crate) const UNSPOKEN: &str =
    "The rail has no characters for this name: write it in Latin letters";

impl Payments {
    /// Returns the order if it meets every rule of its country and some rail can accept it.
    pub(super) fn checked(
        &self,
        order: UncheckedOrder,
        shape: Vec<Fault>,
    ) -> Result<Order, Denied> {
        let world = &self.world;
        let today = world.clock.now().date();
        let order = match order.check(&world.directory, &world.corridors, today) {
            Ok(order) if shape.is_empty() => order,
            Ok(_) => return Err(Denied::Invalid(shape)),
            Err(rules) => return Err(Denied::Invalid(merge_faults(shape, rules))),
        };
        match self.missing(&order) {
            Some(fault) => Err(Denied::Invalid(vec![fault])),
            None => Ok(order),
        }
    }

    fn missing(&self, order: &Order) -> Option<Fault> {
        let corridors = &self.world.corridors;
        // An amount with too many decimals cannot match its quote, and is reported as such there.
        let amount = Money::exact(order.amount, order.country.currency())?;
        Some(match route::lacking(corridors, &wanted(order, amount, corridors))? {
            Unfit::Needs(Need::LocalCode) => Fault::new(
                "bank_branch_code",
                "branch_code_required",
                "The rail needs the branch's local code; the bank directory does not know it",
            ),
            Unfit::Needs(Need::SenderBirthdate) => {
                Fault::new("sender_birthdate", "missing", "The rail needs the date of birth")
            }
            Unfit::Needs(Need::SenderDocExpiry) => Fault::new(
                "sender_identity_doc_exp",
                "missing",
                "The rail needs the document's expiry date",
            ),
            Unfit::Name(field) => Fault::new(field, "unsupported_characters", UNSPOKEN),
            _ => return None,
        })
    }
}

/// What an order requires of a rail.
pub fn wanted<'a>(
    order: &'a Order,
    amount: Money,
    corridors: &domain::policy::Corridors,
) -> Wanted<'a> {
    let default = corridors
        .corridors
        .get(&order.country)
        .and_then(|corridor| corridor.default_local_code.as_ref());
    Wanted {
        country: order.country,
        amount,
        bank: order.branch_bic.as_deref().and_then(|bic| bic.get(..4)),
        order: Some(order),
        default_local_code: default.is_some(),
        payee: None,
        spent: None,
    }
}
