//! Tenants: identity and policy.

use std::collections::{BTreeMap, BTreeSet};

use domain::audit::{AuditContext, Facts, Note};
use domain::country::Country;
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::policy::TenantPolicy;
use serde::{Deserialize, Serialize};

use super::wallet_policy::WalletPolicyRow;
use crate::driver::Step;
use crate::error::StoreError;
use crate::rows::Keys;
use crate::rows::column::Get;
use crate::sql::{Fields, Stmt};
use crate::store::Store;

static INSERT: Stmt = Stmt::written(
    "tenant.insert",
    "INSERT INTO tenant (id, tag, name, policy, created_at) VALUES ($2, $3, $4, $5, {{now}})",
);
static INSERT_HEAD: Stmt = Stmt::written(
    "tenant.insert_head",
    "INSERT INTO tenant_head (tenant, payment_seq) VALUES ($1, 0)",
);
static SET_POLICY: Stmt =
    Stmt::written("tenant.set_policy", "UPDATE tenant SET policy = $2 WHERE id = $1");
static ALL: Stmt = Stmt::written("tenant.all", "SELECT {{tenant t}} FROM tenant t ORDER BY t.tag");
static ONE: Stmt = Stmt::written("tenant.one", "SELECT {{tenant t}} FROM tenant t WHERE t.id = $1");
static BY_TAG: Stmt =
    Stmt::written("tenant.by_tag", "SELECT {{tenant t}} FROM tenant t WHERE t.tag = $1");

pub(crate) static STATEMENTS: &[&Stmt] = &[&INSERT, &INSERT_HEAD, &SET_POLICY, &ALL, &ONE, &BY_TAG];

/// A bank or remittance company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    pub id: TenantId,
    /// Company tag: the first part of its access keys. Unique.
    pub tag: String,
    pub name: String,
    /// Its policy, as agreed with the operator.
    pub policy: TenantPolicy,
}

/// The policy as stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyRow {
    settlement_coin: String,
    premium_bps: u32,
    margin_bps: u32,
    margin_bps_by_country: BTreeMap<String, u32>,
    countries: BTreeSet<String>,
    require_hmac: bool,
    #[serde(default)]
    wallet: WalletPolicyRow,
}

impl PolicyRow {
    fn of(policy: &TenantPolicy) -> PolicyRow {
        let by_country = policy.margin_bps_by_country.iter();
        PolicyRow {
            settlement_coin: policy.settlement_coin.currency().code().to_owned(),
            premium_bps: policy.premium_bps,
            margin_bps: policy.margin_bps,
            margin_bps_by_country: by_country
                .map(|(country, bps)| (country.alpha3().to_owned(), *bps))
                .collect(),
            countries: policy.countries.iter().map(|country| country.alpha3().to_owned()).collect(),
            require_hmac: policy.require_hmac,
            wallet: WalletPolicyRow::of(&policy.wallet),
        }
    }

    fn policy(self) -> Result<TenantPolicy, StoreError> {
        let country = |code: &str| {
            Country::parse(code).ok_or_else(|| {
                StoreError::Corrupt(format!("tenant.policy: unknown country {code:?}"))
            })
        };
        let coin = StableCoin::parse(&self.settlement_coin);
        let by_country =
            self.margin_bps_by_country.iter().map(|(code, bps)| Ok((country(code)?, *bps)));
        Ok(TenantPolicy {
            settlement_coin: coin
                .ok_or_else(|| StoreError::Corrupt("tenant.policy: unknown coin".to_owned()))?,
            premium_bps: self.premium_bps,
            margin_bps: self.margin_bps,
            margin_bps_by_country: by_country.collect::<Result<_, StoreError>>()?,
            countries: self
                .countries
                .iter()
                .map(|code| country(code))
                .collect::<Result<_, StoreError>>()?,
            require_hmac: self.require_hmac,
            wallet: self.wallet.policy()?,
        })
    }
}

fn policy_text(policy: &TenantPolicy) -> Result<String, StoreError> {
    serde_json::to_string(&PolicyRow::of(policy))
        .map_err(|error| StoreError::Corrupt(format!("tenant.policy: {error}")))
}

/// The policy with its version, which follows that of `before`.
fn numbered(before: &TenantPolicy, policy: &TenantPolicy) -> TenantPolicy {
    let mut after = policy.clone();
    after.wallet.version = before.wallet.version;
    if after != *before {
        after.wallet.version += 1;
    }
    after
}

impl Get for Tenant {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<Tenant, StoreError> {
        let (id, tag, name, policy): (_, String, _, String) = Get::get(fields, keys)?;
        let row: PolicyRow = serde_json::from_str(&policy)
            .map_err(|error| StoreError::Corrupt(format!("tenant.policy of {tag}: {error}")))?;
        Ok(Tenant { id, tag, name, policy: row.policy()? })
    }
}

impl Store {
    /// Adds a tenant.
    ///
    /// # Errors
    /// `Conflict` if its id or tag exists already.
    pub async fn create_tenant(
        &self,
        tenant: &Tenant,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let policy = policy_text(&tenant.policy)?;
        let after =
            Facts::new().text("tag", &tenant.tag).text("name", &tenant.name).raw("policy", &policy);
        let note = Note::new("tenant.create", "tenant", tenant.id).after(after);
        let params = vec![
            self.now_param(),
            tenant.id.0.into(),
            (&*tenant.tag).into(),
            (&*tenant.name).into(),
            policy.into(),
        ];
        let steps =
            vec![Step::one(&INSERT, params), Step::one(&INSERT_HEAD, vec![tenant.id.0.into()])];
        self.noted(tenant.id, by.into(), note, steps).await
    }

    /// Every tenant, by tag.
    pub async fn tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        self.many(&ALL, ()).await
    }

    pub async fn tenant(&self, id: TenantId) -> Result<Option<Tenant>, StoreError> {
        self.one(&ONE, id).await
    }

    /// One tenant by its tag.
    pub async fn tenant_by_tag(&self, tag: &str) -> Result<Option<Tenant>, StoreError> {
        self.one(&BY_TAG, tag).await
    }

    /// Replaces a tenant's policy. The store assigns its version: the previous one plus one, if
    /// anything changes.
    ///
    /// # Errors
    /// `Conflict` if the tenant does not exist.
    pub async fn set_tenant_policy(
        &self,
        id: TenantId,
        policy: &TenantPolicy,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        self.change_policy(id, None, policy, by.into()).await
    }

    /// Same, provided that the policy is still the one that was reviewed. The audit chain
    /// serializes changes: after a concurrent one the policy is read again.
    ///
    /// # Errors
    /// `Conflict` if the tenant does not exist or its policy has changed.
    pub async fn set_tenant_policy_as_seen(
        &self,
        id: TenantId,
        seen: &TenantPolicy,
        policy: &TenantPolicy,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        self.change_policy(id, Some(seen), policy, by.into()).await
    }

    async fn change_policy(
        &self,
        id: TenantId,
        seen: Option<&TenantPolicy>,
        policy: &TenantPolicy,
        by: AuditContext,
    ) -> Result<(), StoreError> {
        let changed = async || {
            let found = self.tenant(id).await?;
            let tenant =
                found.ok_or_else(|| StoreError::Conflict(format!("tenant {id} does not exist")))?;
            if seen.is_some_and(|seen| *seen != tenant.policy) {
                return Err(StoreError::Conflict(
                    "the policy has changed since it was reviewed".to_owned(),
                ));
            }
            let after = numbered(&tenant.policy, policy);
            let [before, after] = [policy_text(&tenant.policy)?, policy_text(&after)?];
            let note = Note::new("tenant.set_policy", "tenant", id)
                .before(Facts::new().raw("policy", &before))
                .after(Facts::new().raw("policy", &after));
            Ok((note, vec![Step::one(&SET_POLICY, vec![id.0.into(), after.into()])]))
        };
        self.noted_as_read(id, by, changed).await
    }
}
