//! The sealed part of a proposal: action, changes and reason. Separate row types, so that a change
//! of the domain's types requires a decision here.

use std::collections::BTreeMap;

use domain::approval::{Change, Pricing, ProposedAction};
use domain::attempt::UnresolvedAttempt;
use domain::chain::ChainNumber;
use domain::country::Country;
use domain::currency::StableCoin;
use domain::ids::{AttemptId, DepositId, ExchangeId, PaymentId, TenantId, UserId, WalletId};
use domain::policy::fields::Field;
use domain::rail::{Finding, RailStatus};
use domain::time::Timestamp;
use domain::user::{Role, Scope};
use domain::wallet::BlacklistOrder;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::StoreError;

/// The sealed part of a proposal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentRow {
    deed: DeedRow,
    changes: Vec<(String, String, String)>,
    why: String,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum DeedRow {
    UnblockWallet {
        wallet: Uuid,
        blocked_at: i64,
        reason: Option<String>,
    },
    BlacklistWallet {
        wallet: Uuid,
        authority: String,
        reference: String,
        reason: String,
        effective_date: String,
    },
    ReleaseDeposit {
        deposit: Uuid,
        waits_since: i64,
    },
    ReleaseOrder {
        order: Uuid,
        #[serde(default)]
        version: Option<i64>,
    },
    ReleasePayment {
        payment: Uuid,
        version: i64,
    },
    LiftHold {
        deposit: Uuid,
        held_since: i64,
    },
    ResolvePayment {
        payment: Uuid,
        attempt: Uuid,
        since: i64,
        became: String,
        #[serde(default)]
        never_accepted: bool,
        #[serde(default)]
        reference: Option<String>,
        #[serde(default)]
        charges: i64,
    },
    ResolveOrder {
        order: Uuid,
        attempt: Uuid,
        since: i64,
        became: String,
        // Left out where they say nothing: nodes of 0.1.0 read no order's proposal that has them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        never_accepted: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
        #[serde(default, skip_serializing_if = "is_zero")]
        charges: i64,
    },
    SetPricing {
        premium_bps: u32,
        margin_bps: u32,
        margin_bps_by_country: BTreeMap<String, u32>,
        spread_bps: u32,
    },
    SetPolicy {
        version: u32,
        values: BTreeMap<String, String>,
    },
    SetWebhookUrl {
        url: String,
    },
    SetPaymentWebhooks {
        on: bool,
    },
    AcceptCoinCode {
        // Left out for the first chain: older nodes and proposals know no other.
        #[serde(default = "first_chain", skip_serializing_if = "is_first_chain")]
        chain: u16,
        coin: String,
        at_block: u64,
    },
    SetUserAccess {
        user: Uuid,
        roles: Vec<String>,
        scope: Option<Uuid>,
    },
}

/// The outcomes that reviewers may record; other rail statuses are never stored.
const BECAME: [(RailStatus, &str); 6] = [
    (RailStatus::Received, "received"),
    (RailStatus::Accepted, "accepted"),
    (RailStatus::Settled, "settled"),
    (RailStatus::Rejected, "rejected"),
    (RailStatus::Cancelled, "cancelled"),
    (RailStatus::Returned, "returned"),
];

const fn first_chain() -> u16 {
    ChainNumber::FIRST.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_first_chain(chain: &u16) -> bool {
    *chain == ChainNumber::FIRST.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(charges: &i64) -> bool {
    *charges == 0
}

fn became_name(status: &RailStatus) -> Result<String, StoreError> {
    let known = BECAME.iter().find(|(known, _)| known == status);
    let name = known.map(|(_, name)| (*name).to_owned());
    name.ok_or_else(|| {
        StoreError::Config(format!("outcome {status:?} cannot be recorded manually"))
    })
}

fn unknown(what: &str, text: &str) -> StoreError {
    StoreError::Corrupt(format!("approval.document: unknown {what} {text:?}"))
}

fn became(text: &str) -> Result<RailStatus, StoreError> {
    let known = BECAME.iter().find(|(_, name)| *name == text);
    known.map(|(status, _)| status.clone()).ok_or_else(|| unknown("end", text))
}

const fn doubt(attempt: Uuid, since: i64) -> UnresolvedAttempt {
    UnresolvedAttempt { attempt: AttemptId(attempt), since: Timestamp(since) }
}

impl DocumentRow {
    pub(super) fn of(
        deed: &ProposedAction,
        changes: &[Change],
        why: &str,
    ) -> Result<DocumentRow, StoreError> {
        let change =
            |change: &Change| (change.what.clone(), change.before.clone(), change.after.clone());
        Ok(DocumentRow {
            deed: DeedRow::of(deed)?,
            changes: changes.iter().map(change).collect(),
            why: why.to_owned(),
        })
    }

    /// Splits into action, changes and reason.
    pub(super) fn parts(self) -> Result<(ProposedAction, Vec<Change>, String), StoreError> {
        let change = |(what, before, after)| Change { what, before, after };
        Ok((self.deed.deed()?, self.changes.into_iter().map(change).collect(), self.why))
    }
}

impl DeedRow {
    fn of(deed: &ProposedAction) -> Result<DeedRow, StoreError> {
        Ok(match deed {
            ProposedAction::UnblockWallet { wallet, blocked_at, reason } => {
                DeedRow::UnblockWallet {
                    wallet: wallet.0,
                    blocked_at: blocked_at.0,
                    reason: reason.clone(),
                }
            }
            ProposedAction::BlacklistWallet { wallet, order } => DeedRow::BlacklistWallet {
                wallet: wallet.0,
                authority: order.authority.clone(),
                reference: order.reference.clone(),
                reason: order.reason.clone(),
                effective_date: order.effective_date.to_string(),
            },
            ProposedAction::ReleaseDeposit { deposit, waits_since } => {
                DeedRow::ReleaseDeposit { deposit: deposit.0, waits_since: waits_since.0 }
            }
            ProposedAction::ReleaseOrder { order, version } => {
                DeedRow::ReleaseOrder { order: order.0, version: *version }
            }
            ProposedAction::ReleasePayment { payment, version } => {
                DeedRow::ReleasePayment { payment: payment.0, version: *version }
            }
            ProposedAction::LiftHold { deposit, held_since } => {
                DeedRow::LiftHold { deposit: deposit.0, held_since: held_since.0 }
            }
            ProposedAction::ResolvePayment { payment, doubt, became } => DeedRow::ResolvePayment {
                payment: payment.0,
                attempt: doubt.attempt.0,
                since: doubt.since.0,
                became: became_name(&became.status)?,
                never_accepted: became.never_accepted,
                reference: became.reference.clone(),
                charges: became.charges,
            },
            ProposedAction::ResolveOrder { order, doubt, became } => DeedRow::ResolveOrder {
                order: order.0,
                attempt: doubt.attempt.0,
                since: doubt.since.0,
                became: became_name(&became.status)?,
                never_accepted: became.never_accepted,
                reference: became.reference.clone(),
                charges: became.charges,
            },
            ProposedAction::SetPricing(pricing) => DeedRow::SetPricing {
                premium_bps: pricing.premium_bps,
                margin_bps: pricing.margin_bps,
                margin_bps_by_country: {
                    let by_country = pricing.margin_bps_by_country.iter();
                    by_country.map(|(country, bps)| (country.alpha3().to_owned(), *bps)).collect()
                },
                spread_bps: pricing.spread_bps,
            },
            ProposedAction::SetPolicy { version, values } => {
                let values = values
                    .iter()
                    .map(|(field, value)| (field.name().to_owned(), value.clone()))
                    .collect();
                DeedRow::SetPolicy { version: *version, values }
            }
            ProposedAction::SetWebhookUrl { url } => DeedRow::SetWebhookUrl { url: url.clone() },
            ProposedAction::SetPaymentWebhooks { on } => DeedRow::SetPaymentWebhooks { on: *on },
            ProposedAction::AcceptCoinCode { chain, coin, at_block } => DeedRow::AcceptCoinCode {
                chain: chain.0,
                coin: coin.currency().code().to_owned(),
                at_block: *at_block,
            },
            ProposedAction::SetUserAccess { user, roles, scope } => DeedRow::SetUserAccess {
                user: user.0,
                roles: roles.iter().map(|role| role.name().to_owned()).collect(),
                scope: match scope {
                    Scope::All => None,
                    Scope::Tenant(tenant) => Some(tenant.0),
                },
            },
        })
    }

    fn deed(self) -> Result<ProposedAction, StoreError> {
        Ok(match self {
            DeedRow::UnblockWallet { wallet, blocked_at, reason } => {
                ProposedAction::UnblockWallet {
                    wallet: WalletId(wallet),
                    blocked_at: Timestamp(blocked_at),
                    reason,
                }
            }
            DeedRow::BlacklistWallet { wallet, authority, reference, reason, effective_date } => {
                let effective_date =
                    effective_date.parse().map_err(|_| unknown("date", &effective_date))?;
                let order = BlacklistOrder { authority, reference, reason, effective_date };
                ProposedAction::BlacklistWallet { wallet: WalletId(wallet), order }
            }
            DeedRow::ReleaseDeposit { deposit, waits_since } => ProposedAction::ReleaseDeposit {
                deposit: DepositId(deposit),
                waits_since: Timestamp(waits_since),
            },
            DeedRow::ReleaseOrder { order, version } => {
                ProposedAction::ReleaseOrder { order: ExchangeId(order), version }
            }
            DeedRow::ReleasePayment { payment, version } => {
                ProposedAction::ReleasePayment { payment: PaymentId(payment), version }
            }
            DeedRow::LiftHold { deposit, held_since } => ProposedAction::LiftHold {
                deposit: DepositId(deposit),
                held_since: Timestamp(held_since),
            },
            DeedRow::ResolvePayment {
                payment,
                attempt,
                since,
                became: end,
                never_accepted,
                reference,
                charges,
            } => {
                let became = Finding { status: became(&end)?, never_accepted, reference, charges };
                ProposedAction::ResolvePayment {
                    payment: PaymentId(payment),
                    doubt: doubt(attempt, since),
                    became,
                }
            }
            DeedRow::ResolveOrder {
                order,
                attempt,
                since,
                became: end,
                never_accepted,
                reference,
                charges,
            } => {
                let became = Finding { status: became(&end)?, never_accepted, reference, charges };
                ProposedAction::ResolveOrder {
                    order: ExchangeId(order),
                    doubt: doubt(attempt, since),
                    became,
                }
            }
            DeedRow::SetPricing { premium_bps, margin_bps, margin_bps_by_country, spread_bps } => {
                let country =
                    |code: &str| Country::parse(code).ok_or_else(|| unknown("country", code));
                let by_country =
                    margin_bps_by_country.into_iter().map(|(code, bps)| Ok((country(&code)?, bps)));
                let margin_bps_by_country = by_country.collect::<Result<_, StoreError>>()?;
                ProposedAction::SetPricing(Pricing {
                    premium_bps,
                    margin_bps,
                    margin_bps_by_country,
                    spread_bps,
                })
            }
            DeedRow::SetPolicy { version, values } => {
                let field = |name: &str| Field::parse(name).ok_or_else(|| unknown("field", name));
                let values = values.into_iter().map(|(name, value)| Ok((field(&name)?, value)));
                ProposedAction::SetPolicy {
                    version,
                    values: values.collect::<Result<_, StoreError>>()?,
                }
            }
            DeedRow::SetWebhookUrl { url } => ProposedAction::SetWebhookUrl { url },
            DeedRow::SetPaymentWebhooks { on } => ProposedAction::SetPaymentWebhooks { on },
            DeedRow::AcceptCoinCode { chain, coin, at_block } => ProposedAction::AcceptCoinCode {
                chain: ChainNumber(chain),
                coin: StableCoin::parse(&coin).ok_or_else(|| unknown("coin", &coin))?,
                at_block,
            },
            DeedRow::SetUserAccess { user, roles, scope } => {
                let role = |name: &String| Role::parse(name).ok_or_else(|| unknown("role", name));
                ProposedAction::SetUserAccess {
                    user: UserId(user),
                    roles: roles.iter().map(role).collect::<Result<_, _>>()?,
                    scope: scope.map_or(Scope::All, |tenant| Scope::Tenant(TenantId(tenant))),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deeds() -> Vec<ProposedAction> {
        let id = Uuid::from_u128(7);
        let order = BlacklistOrder {
            authority: "FIA".to_owned(),
            reference: "17/2026".to_owned(),
            reason: "order".to_owned(),
            effective_date: jiff::civil::date(2026, 11, 22),
        };
        let pricing = Pricing {
            premium_bps: 25,
            margin_bps: 10,
            margin_bps_by_country: [(Country::Pak, 30)].into(),
            spread_bps: 50,
        };
        vec![
            ProposedAction::UnblockWallet {
                wallet: WalletId(id),
                blocked_at: Timestamp(5),
                reason: Some("r".to_owned()),
            },
            ProposedAction::BlacklistWallet { wallet: WalletId(id), order },
            ProposedAction::ReleaseDeposit { deposit: DepositId(id), waits_since: Timestamp(6) },
            ProposedAction::ReleaseOrder { order: ExchangeId(id), version: Some(2) },
            ProposedAction::ReleasePayment { payment: PaymentId(id), version: 2 },
            ProposedAction::LiftHold { deposit: DepositId(id), held_since: Timestamp(6) },
            ProposedAction::ResolvePayment {
                payment: PaymentId(id),
                doubt: doubt(id, 7),
                became: RailStatus::Settled.into(),
            },
            ProposedAction::ResolvePayment {
                payment: PaymentId(id),
                doubt: doubt(id, 7),
                became: Finding {
                    status: RailStatus::Returned,
                    never_accepted: true,
                    reference: Some("FT-1".to_owned()),
                    charges: 100,
                },
            },
            ProposedAction::ResolveOrder {
                order: ExchangeId(id),
                doubt: doubt(id, 8),
                became: RailStatus::Returned.into(),
            },
            ProposedAction::ResolveOrder {
                order: ExchangeId(id),
                doubt: doubt(id, 8),
                became: Finding {
                    status: RailStatus::Settled,
                    never_accepted: true,
                    reference: Some("FT-2".to_owned()),
                    charges: 100,
                },
            },
            ProposedAction::SetPricing(pricing),
            ProposedAction::SetPolicy {
                version: 3,
                values: [(Field::MinimumKyc, "ENHANCED".to_owned())].into(),
            },
            ProposedAction::SetWebhookUrl { url: "https://hooks.example".to_owned() },
            ProposedAction::SetPaymentWebhooks { on: true },
            ProposedAction::AcceptCoinCode {
                chain: ChainNumber::FIRST,
                coin: StableCoin::Usdc,
                at_block: 9,
            },
            ProposedAction::AcceptCoinCode {
                chain: ChainNumber(2),
                coin: StableCoin::Usdt,
                at_block: 9,
            },
            ProposedAction::SetUserAccess {
                user: UserId(id),
                roles: vec![Role::Viewer],
                scope: Scope::Tenant(TenantId(id)),
            },
            ProposedAction::SetUserAccess {
                user: UserId(id),
                roles: Vec::new(),
                scope: Scope::All,
            },
        ]
    }

    #[test]
    fn every_action_round_trips() {
        for deed in deeds() {
            let changes =
                [Change { what: "w".to_owned(), before: String::new(), after: "a".to_owned() }];
            let row = DocumentRow::of(&deed, &changes, "why").expect("written");
            let text = serde_json::to_string(&row).expect("json");
            let read: DocumentRow = serde_json::from_str(&text).expect("read");
            assert_eq!(read.parts(), Ok((deed, changes.to_vec(), "why".to_owned())), "{text}");
        }
    }

    #[test]
    fn a_proposal_about_an_order_without_reference_and_charges_is_readable() {
        let id = Uuid::from_u128(7);
        let text = format!(
            r#"{{"deed":{{"kind":"resolve_order","order":"{id}","attempt":"{id}","since":8,"became":"settled"}},"changes":[],"why":"w"}}"#
        );
        let read: DocumentRow = serde_json::from_str(&text).expect("read");
        let deed = ProposedAction::ResolveOrder {
            order: ExchangeId(id),
            doubt: doubt(id, 8),
            became: RailStatus::Settled.into(),
        };
        assert_eq!(read.parts(), Ok((deed, Vec::new(), "w".to_owned())));
    }

    #[test]
    fn outcomes_reserved_for_rails_are_not_stored() {
        for status in [RailStatus::Unknown, RailStatus::Unrecognised("X".to_owned())] {
            assert!(became_name(&status).is_err(), "{status:?}");
        }
    }
}
