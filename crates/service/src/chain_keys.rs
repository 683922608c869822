//! The signing keys: the tenants' keys of the configuration, opened in their key store.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adapters::evm::signers::{
    AwsCredentials, DigestSigner, KeyError, Kms, KmsSettings, LocalKey, Pkcs11Settings,
    Pkcs11Token, RemoteSettings, RemoteSigner, TenantKeys,
};
use adapters::evm::{ControllerSource, EvmContracts, Owners};
use anyhow::{Context as _, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::chain::{Address, KeyRole};
use domain::ids::TenantId;
use domain::policy::Environment;
use domain::ports::Controller;
use secrecy::{ExposeSecret as _, SecretBox, SecretString};
use uuid::Uuid;

use super::BadConfiguration;
use config::{Config, KEK_BYTES, KeySource, TenantEntry, create_key_file};

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
    Remote(Arc<RemoteSigner>),
}

/// A key of the configuration.
struct OpenKey<'a> {
    tag: &'a str,
    /// `None`: a further operator.
    role: Option<KeyRole>,
    key: Arc<dyn DigestSigner>,
}

/// Keys and controllers of every tenant in the configuration.
pub(super) async fn configured(
    config: &Config,
    known: &HashMap<&str, TenantId>,
) -> anyhow::Result<(Arc<TenantKeys>, EvmContracts)> {
    // An HSM or KMS may answer later.
    let is_file = matches!(config.chain.keys.source, KeySource::Seed | KeySource::Keystore);
    let mut keys = Vec::new();
    for (path, key) in open_keys(config).await? {
        let key = key.context(path);
        keys.push(if is_file { key.context(BadConfiguration)? } else { key? });
    }
    assemble(config, known, keys).context(BadConfiguration)
}

fn assemble(
    config: &Config,
    known: &HashMap<&str, TenantId>,
    opened: Vec<OpenKey<'_>>,
) -> anyhow::Result<(Arc<TenantKeys>, EvmContracts)> {
    let tenant = |tag: &str| {
        known.get(tag).copied().with_context(|| format!("chain.tenants.{tag}: tenant not found"))
    };
    let mut controllers = HashMap::new();
    for entry in &config.chain.tenants {
        let source = controller(entry)?;
        if let ControllerSource::Computed(owners) = &source
            && is_own_key(&opened, &entry.tag, owners.admin)
        {
            // The contract's constructor refuses it.
            bail!("chain.tenants.{}.admin: {OWN_KEY}", entry.tag);
        }
        controllers.insert(tenant(&entry.tag)?, source);
    }
    let (mut keys, mut operators) = (Vec::new(), Vec::new());
    for OpenKey { tag, role, key } in opened {
        match role {
            Some(role) => keys.push((tenant(tag)?, role, key)),
            None => operators.push((tenant(tag)?, key)),
        }
    }
    let keys = TenantKeys::new(keys).and_then(|keys| keys.with_operators(operators));
    let keys = Arc::new(keys.context("chain.tenants")?);
    Ok((keys.clone(), EvmContracts::new(keys, controllers)?))
}

const OWN_KEY: &str =
    "is the address of one of the tenant's own keys: name a Safe, or a key that is kept offline";

fn is_own_key(opened: &[OpenKey<'_>], tag: &str, address: Address) -> bool {
    opened.iter().any(|key| key.tag == tag && key.key.address() == address)
}

/// Opens every key; each comes with its key in the configuration.
async fn open_keys(config: &Config) -> anyhow::Result<Vec<(String, anyhow::Result<OpenKey<'_>>)>> {
    let key_store = open(config).await?;
    let mut opened = Vec::new();
    for entry in &config.chain.tenants {
        let further = entry.further_operators.iter().map(|name| (None, name.as_str()));
        let named = named_keys(entry).map(|(role, name)| (Some(role), name));
        for (role, name) in named.chain(further) {
            let key = key_store.key(name).await.with_context(|| name.to_owned());
            let key = key.map(|key| OpenKey { tag: &entry.tag, role, key });
            let role = role.map_or("further_operators", KeyRole::name);
            opened.push((format!("chain.tenants.{}.{role}", entry.tag), key));
        }
    }
    Ok(opened)
}

/// What a start makes of the keys: the address of each, by its key in the configuration, or why it
/// cannot be opened; and why all of them together are refused. Without the tenants of a database,
/// every tag is taken for one.
pub(super) async fn check(
    config: &Config,
    known: Option<HashMap<&str, TenantId>>,
) -> Vec<(String, anyhow::Result<Address>)> {
    let opened = match open_keys(config).await {
        Ok(opened) => opened,
        Err(error) => return vec![("chain.keys".to_owned(), Err(error))],
    };
    let (mut found, mut usable) = (Vec::new(), Vec::new());
    for (path, key) in opened {
        match key {
            Ok(key) => {
                found.push((path, Ok(key.key.address())));
                usable.push(key);
            }
            Err(error) => found.push((path.clone(), Err(error.context(path)))),
        }
    }
    for entry in config.chain.tenants.iter().filter(|entry| entry.controller.is_empty()) {
        if Address::parse(&entry.treasury).is_some_and(|at| is_own_key(&usable, &entry.tag, at)) {
            let path = format!("chain.tenants.{}.treasury", entry.tag);
            found.push((path.clone(), Err(anyhow!("{path}: {OWN_KEY}"))));
        }
    }
    let tags = config.chain.tenants.iter().map(|entry| entry.tag.as_str());
    let known = known.unwrap_or_else(|| tags.map(|tag| (tag, TenantId(Uuid::new_v4()))).collect());
    if let Err(error) = assemble(config, &known, usable) {
        found.push(("chain.tenants".to_owned(), Err(error)));
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
            let of_configuration = opened.as_ref().err().is_some_and(KeyError::is_of_configuration);
            let opened = opened.context("chain.keys");
            KeyStore::Hsm(if of_configuration {
                opened.context(BadConfiguration)?
            } else {
                opened?
            })
        }
        KeySource::AwsKms => KeyStore::Kms(kms(config)?),
        KeySource::Remote => {
            let (url, outbound) = (keys.remote_url.clone(), config.remote_signer_outbound());
            let signer = RemoteSigner::new(&RemoteSettings { url, outbound });
            KeyStore::Remote(signer.context("chain.keys")?)
        }
    })
}

fn secret(secret: &config::Secret) -> SecretString {
    SecretString::from(secret.expose().to_owned())
}

fn kms(config: &Config) -> anyhow::Result<Arc<Kms>> {
    let keys = &config.chain.keys;
    let credentials = if keys.kms_access_key_id.is_empty() {
        AwsCredentials::of_this_process()
    } else {
        AwsCredentials::Keys {
            access_key_id: keys.kms_access_key_id.clone(),
            secret_access_key: secret(&keys.kms_secret_access_key),
            session_token: (!keys.kms_session_token.is_empty())
                .then(|| secret(&keys.kms_session_token)),
        }
    };
    let settings = KmsSettings {
        region: keys.kms_region.clone(),
        endpoint: Some(keys.kms_endpoint.clone()).filter(|text| !text.is_empty()),
        credentials,
        outbound: config.kms_outbound(),
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
                    let json = std::fs::read(&path).context("cannot be read")?;
                    Ok(LocalKey::from_keystore(&json, &password)?)
                });
                Arc::new(opened.await??)
            }
            KeyStore::Hsm(token) => {
                let (token, label) = (token.clone(), name.to_owned());
                Arc::new(tokio::task::spawn_blocking(move || token.key(&label, None)).await??)
            }
            KeyStore::Kms(kms) => Arc::new(kms.key(name, None).await?),
            KeyStore::Remote(signer) => Arc::new(signer.key(name, None).await?),
        })
    }
}
