//! The signing keys: the tenants' keys of the configuration, opened in their key store.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use adapters::evm::signers::{
    AwsCredentials, DigestSigner, Kms, KmsSettings, LocalKey, Pkcs11Settings, Pkcs11Token,
    TenantKeys,
};
use adapters::evm::{ControllerSource, EvmContracts, Owners};
use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::chain::{Address, KeyRole};
use domain::policy::Environment;
use domain::ports::Controller;
use secrecy::{ExposeSecret as _, SecretBox, SecretString};
use store::Tenant;

use super::chain::by_tag;
use config::{Config, KEK_BYTES, KeySource, TenantEntry, create_key_file};

/// How long a connection to AWS may take.
const KMS_CONNECT: Duration = Duration::from_secs(3);
const KMS_ANSWER: Duration = Duration::from_secs(10);

/// The seed of all keys of a test installation, created at the first start.
pub(super) fn seed(config: &Config, data_dir: &Path) -> anyhow::Result<SecretString> {
    anyhow::ensure!(
        config.environment != Environment::Production,
        "chain.keys.source: \"seed\" in production"
    );
    let key = create_key_file(&seed_path(data_dir))?;
    Ok(SecretString::from(STANDARD.encode(key)))
}

/// The same for commands, which create none: another seed means other tokens.
pub(super) fn kept_seed(config: &Config, data_dir: &Path) -> anyhow::Result<SecretString> {
    let path = seed_path(data_dir);
    anyhow::ensure!(
        path.exists(),
        "{} is missing: is --data-dir the service's data directory?",
        path.display()
    );
    seed(config, data_dir)
}

fn seed_path(data_dir: &Path) -> PathBuf {
    data_dir.join("keys").join("chain-seed")
}

/// An open key store.
enum KeyStore {
    Files(SecretString),
    Hsm(Arc<Pkcs11Token>),
    Kms(Arc<Kms>),
}

/// Keys and controllers of every tenant in the configuration.
pub(super) async fn configured(
    config: &Config,
    tenants: &[Tenant],
) -> anyhow::Result<(Arc<TenantKeys>, EvmContracts)> {
    let known = by_tag(tenants);
    let key_store = open(config).await?;
    let (mut keys, mut operators) = (Vec::new(), Vec::new());
    let mut controllers = HashMap::new();
    for entry in &config.chain.tenants {
        let tenant = *known
            .get(entry.tag.as_str())
            .with_context(|| format!("chain.tenants.{}: tenant not found", entry.tag))?;
        for (role, name) in named_keys(entry) {
            let key = key_store.key(name).await;
            let key =
                key.with_context(|| format!("chain.tenants.{}.{}", entry.tag, role.name()))?;
            keys.push((tenant, role, key));
        }
        for name in &entry.further_operators {
            let key = key_store.key(name).await;
            let key = key.with_context(|| {
                format!("chain.tenants.{}.further_operators: {name}", entry.tag)
            })?;
            operators.push((tenant, key));
        }
        controllers.insert(tenant, controller(entry)?);
    }
    let keys = TenantKeys::new(keys).and_then(|keys| keys.with_operators(operators));
    let keys = Arc::new(keys.context("chain.tenants")?);
    Ok((keys.clone(), EvmContracts::new(keys, controllers)?))
}

/// The address of each configured key, by its key in the configuration, or why it cannot be opened.
pub(super) async fn addresses(config: &Config) -> Vec<(String, anyhow::Result<Address>)> {
    let key_store = match open(config).await {
        Ok(key_store) => key_store,
        Err(error) => return vec![("chain.keys".to_owned(), Err(error))],
    };
    let mut found = Vec::new();
    for entry in &config.chain.tenants {
        let further =
            entry.further_operators.iter().map(|name| ("further_operators", name.as_str()));
        let named = named_keys(entry).map(|(role, name)| (role.name(), name)).chain(further);
        for (role, name) in named {
            let key = format!("chain.tenants.{}.{role}", entry.tag);
            let opened = key_store.key(name).await.map(|signer| signer.address());
            found.push((key.clone(), opened.with_context(|| key)));
        }
    }
    found
}

fn named_keys(entry: &TenantEntry) -> impl Iterator<Item = (KeyRole, &str)> {
    let all = [
        (KeyRole::Operator, entry.operator.as_str()),
        (KeyRole::Compliance, &entry.compliance),
        (KeyRole::Approver, &entry.approver),
        (KeyRole::Blacklister, &entry.blacklister),
    ];
    all.into_iter().filter(|(_, name)| !name.is_empty())
}

fn controller(entry: &TenantEntry) -> anyhow::Result<ControllerSource> {
    let address = |name: &str, text: &str| {
        Address::parse(text)
            .with_context(|| format!("chain.tenants.{}.{name}: no address", entry.tag))
    };
    if entry.controller.is_empty() {
        let owners = Owners {
            admin: address("admin", &entry.admin)?,
            treasury: address("treasury", &entry.treasury)?,
        };
        return Ok(ControllerSource::Computed(owners));
    }
    Ok(ControllerSource::Deployed(Controller {
        address: address("controller", &entry.controller)?,
        implementation: address("implementation", &entry.implementation)?,
        version: entry.version,
    }))
}

async fn open(config: &Config) -> anyhow::Result<KeyStore> {
    let keys = &config.chain.keys;
    Ok(match keys.source {
        KeySource::Seed | KeySource::Keystore => KeyStore::Files(secret(&keys.keystore_password)),
        KeySource::Pkcs11 => {
            let settings = Pkcs11Settings {
                module: keys.pkcs11_module.clone(),
                token: keys.pkcs11_token.clone(),
                pin: secret(&keys.pkcs11_pin),
                max_sessions: keys.pkcs11_sessions,
            };
            // The library blocks.
            let opened = tokio::task::spawn_blocking(move || Pkcs11Token::open(&settings)).await?;
            KeyStore::Hsm(opened.context("chain.keys")?)
        }
        KeySource::AwsKms => KeyStore::Kms(kms(config)?),
    })
}

fn secret(secret: &config::Secret) -> SecretString {
    SecretString::from(secret.expose().to_owned())
}

fn kms(config: &Config) -> anyhow::Result<Arc<Kms>> {
    let keys = &config.chain.keys;
    let settings = KmsSettings {
        region: keys.kms_region.clone(),
        endpoint: Some(keys.kms_endpoint.clone()).filter(|text| !text.is_empty()),
        credentials: AwsCredentials {
            access_key_id: keys.kms_access_key_id.clone(),
            secret_access_key: secret(&keys.kms_secret_access_key),
            session_token: (!keys.kms_session_token.is_empty())
                .then(|| secret(&keys.kms_session_token)),
        },
        connect_timeout: KMS_CONNECT,
        request_timeout: KMS_ANSWER,
    };
    Kms::new(&settings).context("chain.keys")
}

/// The key-encryption key, which KMS decrypts if it is configured in encrypted form.
pub(super) async fn key_encryption_key(
    config: &Config,
    data_dir: &Path,
) -> anyhow::Result<SecretBox<[u8; KEK_BYTES]>> {
    const NAME: &str = "security.key_encryption_key_by_kms";
    let encrypted = &config.security.key_encryption_key_by_kms;
    if encrypted.is_empty() {
        let key = config::key_encryption_key(config, data_dir)?;
        return Ok(SecretBox::new(Box::new(key)));
    }
    let plain = kms(config)?.decrypt(&STANDARD.decode(encrypted)?).await.context(NAME)?;
    let key = <[u8; KEK_BYTES]>::try_from(plain.expose_secret());
    Ok(SecretBox::new(Box::new(
        key.with_context(|| format!("{NAME}: not a key of {KEK_BYTES} bytes"))?,
    )))
}

impl KeyStore {
    /// The key with this name: a file, a label or a key id.
    async fn key(&self, name: &str) -> anyhow::Result<Arc<dyn DigestSigner>> {
        Ok(match self {
            KeyStore::Files(password) => {
                let (path, password) = (name.to_owned(), password.clone());
                // Deriving the file's key takes about a second of computation.
                let opened = tokio::task::spawn_blocking(move || -> anyhow::Result<LocalKey> {
                    let json =
                        std::fs::read(&path).with_context(|| format!("cannot read {path}"))?;
                    Ok(LocalKey::from_keystore(&json, &password)?)
                });
                Arc::new(opened.await??)
            }
            KeyStore::Hsm(token) => {
                let (token, label) = (token.clone(), name.to_owned());
                Arc::new(tokio::task::spawn_blocking(move || token.key(&label, None)).await??)
            }
            KeyStore::Kms(kms) => Arc::new(kms.key(name, None).await?),
        })
    }
}
