//! Creates tenants and their keys, for the command line and the sandbox.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::audit::AuditContext;
use domain::characters::entered;
use domain::country::Country;
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::policy::{Environment, TenantPolicy};
use domain::ports::Clock as _;
use domain::time::Span;
use secrecy::SecretString;
use store::{KeyRow, KeySecret, Store, Tenant};

use super::clock::WallClock;

/// Random bytes of an access key (`decisions.md`: at least 24).
const ACCESS_KEY_RANDOM_BYTES: usize = 24;
/// Random bytes of a secret key.
const SECRET_KEY_BYTES: usize = 32;
/// How long the old secret of a rotated key stays valid beside the new one.
pub const ROTATION_OVERLAP: Span = Span::days(7);
/// Maximum length of a company tag.
pub const TAG_MAX_CHARS: usize = 32;
/// Maximum length of a tenant's name.
const NAME_MAX_CHARS: usize = 80;

/// The API of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum KeyService {
    /// Payment Service v2, the payment API.
    Pay,
    /// Wallet Service v1, the wallet API.
    Wallet,
}

impl KeyService {
    const fn name(self) -> &'static str {
        match self {
            KeyService::Pay => "pay",
            KeyService::Wallet => "wallet",
        }
    }
}

/// A new key, which is shown only once.
#[derive(Clone)]
pub struct IssuedKey {
    pub access_key: String,
    /// SECRET KEY: its text's own bytes are the HS256 key.
    pub secret_key: String,
}

/// Default terms of a new tenant: 25 basis points premium, no margin, every country.
pub fn default_policy(settlement_coin: StableCoin) -> TenantPolicy {
    TenantPolicy {
        settlement_coin,
        premium_bps: 25,
        margin_bps: 0,
        margin_bps_by_country: BTreeMap::new(),
        countries: BTreeSet::from(Country::ALL),
        require_hmac: false,
        wallet: domain::wallet_policy::WalletPolicy::default(),
    }
}

/// Default for whether a tenant's tokens need the roles of their operations (`decisions.md`,
/// "Roles").
pub const fn strict_roles(environment: Environment) -> bool {
    matches!(environment, Environment::Production)
}

/// Creates a tenant. `tag` becomes the first part of its access keys.
pub async fn create_tenant(
    store: &Store,
    tag: &str,
    name: &str,
    policy: TenantPolicy,
    by: impl Into<AuditContext>,
) -> anyhow::Result<Tenant> {
    let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    anyhow::ensure!(
        (1..=TAG_MAX_CHARS).contains(&tag.len()) && tag.bytes().all(word),
        "tag: must be 1 to {TAG_MAX_CHARS} of a-z, 0-9 and _"
    );
    let name = entered(name, NAME_MAX_CHARS)
        .with_context(|| format!("name: must be 1 to {NAME_MAX_CHARS} printable characters"))?;
    let id = TenantId(engine::batcher::fresh_id(store));
    let tenant = Tenant { id, tag: tag.to_owned(), name: name.to_owned(), policy };
    store.create_tenant(&tenant, by).await.with_context(|| format!("tenant {tag}"))?;
    Ok(tenant)
}

/// The use of a service's keys in an environment: `test_wallet`.
pub fn usage(environment: Environment, service: KeyService) -> String {
    format!("{}_{}", environment.key_prefix(), service.name())
}

/// Creates a tenant's key for one service in one environment.
pub async fn create_key(
    store: &Store,
    tenant: &Tenant,
    environment: Environment,
    service: KeyService,
    by: impl Into<AuditContext>,
) -> anyhow::Result<IssuedKey> {
    let usage = usage(environment, service);
    let issued = IssuedKey {
        access_key: format!("{}-{usage}-{}", tenant.tag, random::<ACCESS_KEY_RANDOM_BYTES>()?),
        secret_key: random::<SECRET_KEY_BYTES>()?,
    };
    let created_at = WallClock.now();
    let secret = SecretString::from(issued.secret_key.clone());
    let key = KeyRow {
        access_key: issued.access_key.clone(),
        tenant: tenant.id,
        use_name: usage,
        secrets: vec![KeySecret { secret, created_at, valid_until: None }],
        created_at,
        revoked_at: None,
        suspended: false,
        allowed_ips: Vec::new(),
    };
    store.insert_key(&key, by).await.context("the key was not stored")?;
    Ok(issued)
}

/// A new secret for rotation.
pub fn fresh_secret() -> anyhow::Result<String> {
    random::<SECRET_KEY_BYTES>()
}

fn random<const BYTES: usize>() -> anyhow::Result<String> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("random numbers: {error}"))?;
    Ok(STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_secrets_are_random_and_long_enough() {
        let drawn = [random::<ACCESS_KEY_RANDOM_BYTES>(), fresh_secret(), fresh_secret()]
            .map(|it| it.expect("random numbers"));
        let bytes = drawn.each_ref().map(|text| STANDARD.decode(text).expect("base64").len());
        assert_eq!(bytes, [24, 32, 32]);
        assert_ne!(drawn[1], drawn[2]);
    }
}
