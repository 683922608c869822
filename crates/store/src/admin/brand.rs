//! How tenants' payment pages look.

use domain::audit::{AuditContext, Facts, Note};
use domain::brand::{Brand, Colour, Logo, LogoKind};
use domain::hex::hex;
use domain::ids::TenantId;
use sha2::{Digest as _, Sha256};

use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

/// Bytes of the hash that form a version.
const VERSION_BYTES: usize = 10;

static SET: Stmt = Stmt::written(
    "tenant_brand.set",
    "INSERT INTO tenant_brand (tenant, version, logo_kind, logo, colour, contact) VALUES ($1, $2, $3, $4, $5, $6) \
     ON CONFLICT (tenant) DO UPDATE SET version = excluded.version, logo_kind = excluded.logo_kind, \
     logo = excluded.logo, colour = excluded.colour, contact = excluded.contact",
);
static HEAD: Stmt = Stmt::written(
    "tenant_brand.head",
    "SELECT version, logo_kind, colour, contact FROM tenant_brand WHERE tenant = $1",
);
static CONTENT: Stmt = Stmt::written(
    "tenant_brand.content",
    "SELECT logo_kind, logo, colour, contact FROM tenant_brand WHERE version = $1",
);
static OF_TENANT: Stmt = Stmt::written(
    "tenant_brand.of_tenant",
    "SELECT logo_kind, logo, colour, contact FROM tenant_brand WHERE tenant = $1",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&SET, &HEAD, &CONTENT, &OF_TENANT];

/// What a page says of its tenant's brand, without the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrandHead {
    /// Names the content: another logo or colour has another version.
    pub version: String,
    /// Format of the logo; `None` = the name alone.
    pub logo: Option<LogoKind>,
    pub has_colour: bool,
    pub contact: Option<String>,
}

type Row = (Option<String>, Vec<u8>, Option<String>, Option<String>);

impl Store {
    /// Sets how a tenant's payment pages look.
    pub async fn set_brand(
        &self,
        tenant: TenantId,
        brand: &Brand,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let version = version(tenant, brand);
        let changed = async || {
            let before = self.brand(tenant).await?;
            let note = Note::new("tenant.brand", "tenant", tenant.to_string())
                .before(facts(&before.unwrap_or_default()))
                .after(facts(brand));
            let logo = brand.logo.as_ref();
            let params = vec![
                tenant.0.into(),
                version.as_str().into(),
                logo.map(|logo| logo.kind.name().to_owned()).into(),
                logo.map(|logo| logo.bytes.clone()).unwrap_or_default().into(),
                brand.colour.map(|colour| colour.to_string()).into(),
                brand.contact.clone().into(),
            ];
            Ok((note, vec![Step::one(&SET, params)]))
        };
        self.noted_as_read(tenant, by.into(), changed).await
    }

    /// The whole brand of a tenant; `None` = none was set.
    pub async fn brand(&self, tenant: TenantId) -> Result<Option<Brand>, StoreError> {
        self.one(&OF_TENANT, tenant).await?.map(read).transpose()
    }

    /// What a page says of a tenant's brand.
    pub async fn brand_head(&self, tenant: TenantId) -> Result<Option<BrandHead>, StoreError> {
        type Head = (String, Option<String>, Option<String>, Option<String>);
        let head: Option<Head> = self.one(&HEAD, tenant).await?;
        head.map(|(version, kind, colour, contact)| {
            let logo = kind.as_deref().map(logo_kind).transpose()?;
            Ok(BrandHead { version, logo, has_colour: colour.is_some(), contact })
        })
        .transpose()
    }

    /// The brand of a version, of any tenant.
    pub async fn brand_of_version(&self, version: &str) -> Result<Option<Brand>, StoreError> {
        self.one(&CONTENT, version).await?.map(read).transpose()
    }
}

fn read((kind, bytes, colour, contact): Row) -> Result<Brand, StoreError> {
    let logo = kind.as_deref().map(logo_kind).transpose()?.map(|kind| Logo { kind, bytes });
    let colour = colour.as_deref().map(Colour::parse).transpose();
    let colour =
        colour.map_err(|rule| StoreError::Corrupt(format!("tenant_brand.colour: {rule}")))?;
    Ok(Brand { logo, colour, contact })
}

fn logo_kind(name: &str) -> Result<LogoKind, StoreError> {
    let unknown = || StoreError::Corrupt(format!("tenant_brand.logo_kind: unknown kind {name:?}"));
    LogoKind::parse(name).ok_or_else(unknown)
}

fn facts(brand: &Brand) -> Facts {
    let logo =
        brand.logo.as_ref().map(|logo| format!("{}, {} bytes", logo.kind.name(), logo.bytes.len()));
    let colour = brand.colour.map(|colour| colour.to_string());
    let facts = [("logo", logo), ("colour", colour), ("contact", brand.contact.clone())];
    facts.into_iter().fold(Facts::new(), |facts, (name, value)| match value {
        Some(value) => facts.text(name, value),
        None => facts,
    })
}

/// Two tenants with one logo have two versions, and one may change.
fn version(tenant: TenantId, brand: &Brand) -> String {
    let mut digest = Sha256::new();
    digest.update(tenant.to_string());
    if let Some(logo) = &brand.logo {
        digest.update(&logo.bytes);
    }
    digest.update(brand.colour.map(|colour| colour.to_string()).unwrap_or_default());
    hex(&digest.finalize()[..VERSION_BYTES])
}
