//! A tenant's policy and limits, and proposals to change them. Prices are on the rates page, where
//! treasury proposes them.

use std::collections::BTreeMap;

use domain::policy::fields::{self, Field as Setting};
use domain::wallet::KycLevel;
use engine::console::ProposedAction;

use super::{SEEN, as_shown, waiting_words};
use crate::parts::grouped;
use crate::view::{Field, FormView, Section, page};
use crate::{Answer, Cell, Stop, Visit};

/// The route for proposals.
const PROPOSE: &str = "/console/t/{tenant}/policy/propose";
/// The subject of policy proposals.
const SUBJECT: &str = "policy";

fn settings() -> impl Iterator<Item = Setting> {
    Setting::all().into_iter().filter(|setting| !setting.is_price())
}

fn field(setting: Setting) -> Field {
    let (name, label) = (setting.name(), setting.words());
    match setting {
        Setting::RequireHmac | Setting::StrictRoles => {
            Field::choice(name, label, &[("true", "true"), ("false", "false")])
        }
        Setting::SettlementCoin => {
            Field::choice(name, label, &[("USDT", "USDT"), ("USDC", "USDC")])
        }
        Setting::MinimumKyc => {
            Field::choice(name, label, &KycLevel::ALL.map(|level| (level.name(), level.name())))
        }
        _ => Field::line(name, label),
    }
}

/// A setting's value with its amounts grouped: `1,000.00/5,000.00`.
pub(crate) fn people(value: &str) -> String {
    value.split('/').map(grouped).collect::<Vec<_>>().join("/")
}

pub(super) async fn show(visit: Visit) -> Answer {
    page(&visit, "Policy", sections(&visit).await?)
}

/// The policy, with the form to propose a change.
pub(crate) async fn sections(visit: &Visit) -> Result<Vec<Section>, Stop> {
    let policy = &visit.tenant()?.policy;
    let mut facts = vec![("Policy version", Cell::number(policy.wallet.version))];
    facts.extend(
        settings().map(|setting| (setting.words(), Cell::text(people(&setting.shown(policy))))),
    );
    let says = "Each change creates a new version of the policy. Decisions on deposits record the version that they applied.";
    let prices = (visit.href("/rates"), "Fee, margins and spread are on the rates page".to_owned());
    let links =
        if visit.may_use("GET", "/console/t/{tenant}/rates") { vec![prices] } else { Vec::new() };
    let first = Section { says: vec![says.to_owned()], facts, links, ..Section::default() };
    let mut proposed = waiting_words(visit, SUBJECT).await?;
    if proposed.links.is_empty() && visit.may_use("POST", PROPOSE) {
        let mut form = FormView::new("policy", "Propose a policy change", visit.href("/policy/propose"), "Propose")
            .says(
                "Another user has to approve it. Amounts are in stablecoins with at most 6 decimals; none means no limit, or \
                 not available. Separate countries with commas.",
            )
            .field(Field::hidden(SEEN, policy.wallet.version));
        for setting in settings() {
            form = form.field(field(setting).holding(people(&setting.shown(policy))));
        }
        proposed = Section { title: "Change".to_owned(), forms: vec![form.why()], ..proposed };
    }
    Ok(vec![first, proposed])
}

pub(super) async fn propose(visit: Visit) -> Answer {
    let policy = &visit.tenant()?.policy;
    let version = policy.wallet.version;
    as_shown(&visit, version).await?;
    let given = settings()
        .filter_map(|setting| Some((setting.name(), visit.form().given(setting.name())?)));
    let told = |faults: Vec<fields::FieldFault>| {
        Stop::Invalid(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    };
    let mut values: BTreeMap<Setting, String> = fields::read(given, policy).map_err(told)?;
    values.retain(|setting, value| *value != setting.shown(policy));
    let why = visit.why()?;
    visit.propose(ProposedAction::SetPolicy { version, values }, why).await
}
