//! Whose keys are in a thief's hands, and what the thief can get with them. `docs/threat-model.md`
//! states the same in words.

use super::book::{Checked, Lost};
use super::run::refuse_loss;
use super::stage::Role::{self, Admin, Approver, Compliance, Operator};

/// When something can be stolen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theft {
    Never,
    /// Not within two days of the first call.
    AfterTwoDays,
    AtOnce,
}

use Theft::{AfterTwoDays, AtOnce, Never};

impl Theft {
    /// In the first two days, and later.
    const fn periods(self) -> [bool; 2] {
        match self {
            Theft::Never => [false, false],
            Theft::AfterTwoDays => [false, true],
            Theft::AtOnce => [true, true],
        }
    }
}

pub struct Scenario {
    pub name: &'static str,
    /// The roles whose keys are stolen.
    pub hostile: &'static [Role],
    /// Out of escrows.
    pub escrows: Theft,
    /// Out of wallets, by way of the controller.
    pub wallets: Theft,
}

const fn scenario(
    name: &'static str,
    hostile: &'static [Role],
    escrows: Theft,
    wallets: Theft,
) -> Scenario {
    Scenario { name, hostile, escrows, wallets }
}

pub static SCENARIOS: [Scenario; 14] = [
    scenario("no key stolen", &[], Never, Never),
    scenario("operator", &[Operator], Never, Never),
    scenario("compliance", &[Compliance], Never, Never),
    scenario("approver", &[Approver], Never, Never),
    scenario("operator and compliance", &[Operator, Compliance], Never, Never),
    scenario("operator and approver", &[Operator, Approver], Never, Never),
    scenario("compliance and approver", &[Compliance, Approver], AtOnce, Never),
    scenario("all but the admin", &[Operator, Compliance, Approver], AtOnce, Never),
    scenario("admin", &[Admin], AfterTwoDays, AfterTwoDays),
    scenario("admin and operator", &[Admin, Operator], AfterTwoDays, AfterTwoDays),
    scenario("all but the operator", &[Admin, Compliance, Approver], AtOnce, AfterTwoDays),
    scenario("all but compliance", &[Admin, Operator, Approver], AfterTwoDays, AfterTwoDays),
    scenario("all but the approver", &[Admin, Operator, Compliance], AfterTwoDays, AfterTwoDays),
    scenario("every key", &Role::ALL, AtOnce, AfterTwoDays),
];

impl Scenario {
    pub fn permits(&self, lost: &Lost) -> Checked {
        refuse_loss("escrows", lost.escrows, self.escrows.periods())?;
        refuse_loss("wallets", lost.wallets, self.wallets.periods())
    }

    /// Whether what the scenario allows did happen: else it allows too much, or the calls are too
    /// tame.
    pub fn is_tight(&self, lost: &Lost) -> bool {
        let seen = |allowed: Theft, lost: [u64; 2]| match allowed {
            Theft::Never => true,
            Theft::AfterTwoDays => lost[1] > 0,
            Theft::AtOnce => lost[0] > 0,
        };
        seen(self.escrows, lost.escrows) && seen(self.wallets, lost.wallets)
    }
}
