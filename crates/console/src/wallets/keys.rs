//! A tenant's access keys: create, rotate, restrict, revoke. A secret is shown once, to the user
//! who created it.

use engine::payments::KeyRow;
use secrecy::ExposeSecret as _;

use crate::outside::{KeyUse, ShownKey};
use crate::view::{Field, FormView, Section, instant, page};
use crate::{Answer, Cell, Stop, Table, Tone, Visit, encoded};
use http_api::auth::Network;

/// Maximum number of addresses and networks of a key.
const NETWORKS_MAX: usize = 64;

async fn all(visit: &Visit) -> Result<Vec<KeyRow>, Stop> {
    Ok(visit.console().store().keys(visit.tenant_id()?).await?)
}

/// The tenant's key in a query or a form; another tenant's key is not found.
async fn named(visit: &Visit, name: &str) -> Result<KeyRow, Stop> {
    all(visit).await?.into_iter().find(|key| key.access_key == name).ok_or(Stop::NotFound)
}

fn state(key: &KeyRow) -> Cell {
    match (key.revoked_at, key.suspended) {
        (Some(_), _) => Cell::state("revoked", Tone::Bad),
        (None, true) => Cell::state("suspended", Tone::Warn),
        (None, false) => Cell::state("active", Tone::Good),
    }
}

pub(super) async fn list(visit: Visit) -> Answer {
    page(&visit, "Keys", sections(&visit).await?)
}

/// The keys, with the form to make one.
pub(crate) async fn sections(visit: &Visit) -> Result<Vec<Section>, Stop> {
    let (keys, now) = (all(visit).await?, visit.console().wall_now());
    let may = visit.may_use("POST", "/console/t/{tenant}/keys/rotate");
    let row = |key: &KeyRow| {
        let mut row = vec![
            Cell::id(&key.access_key),
            Cell::text(key.use_name.as_str()),
            state(key),
            Cell::number(key.valid_secrets(now).count()),
            Cell::maybe(Some(key.allowed_ips.join(" ")).filter(|ips| !ips.is_empty())),
            Cell::When(key.created_at),
            instant(key.revoked_at),
        ];
        if may && key.revoked_at.is_none() {
            let asked = encoded(&key.access_key);
            row.push(Cell::link(visit.href(&format!("/keys?key={asked}")), "Change …"));
        } else if may {
            row.push(Cell::Empty);
        }
        row
    };
    let mut head =
        vec!["Access key", "Use", "State", "Secrets", "Allowed networks", "Created", "Revoked"];
    head.extend(may.then_some("Change"));
    let table =
        Table::new("Access keys", &head, keys.iter().map(row).collect()).or("No access keys yet.");
    let mut sections = Vec::new();
    let chosen =
        visit.query().given("key").and_then(|name| keys.iter().find(|key| key.access_key == name));
    sections
        .extend(chosen.filter(|key| may && key.revoked_at.is_none()).map(|key| change(visit, key)));
    sections.push(Section { table: Some(table), ..Section::default() });
    if visit.may_use("POST", "/console/t/{tenant}/keys/create") {
        let form =
            FormView::new("create", "New access key", visit.href("/keys/create"), "Create key")
                .says("The secret is shown only once.")
                .field(
                    Field::choice(
                        "use",
                        "For",
                        &[("pay", "Payment Service v2"), ("wallet", "Wallet Service v1")],
                    )
                    .unchosen(),
                );
        sections.push(Section { forms: vec![form], ..Section::default() });
    }
    Ok(sections)
}

fn change(visit: &Visit, key: &KeyRow) -> Section {
    let form = |id, title: &str, deed: &str, button| {
        let form = FormView::new(id, title, visit.href(&format!("/keys/{deed}")), button);
        form.field(Field::hidden("key", &key.access_key))
    };
    let (suspend, words) =
        if key.suspended { ("resume", "Resume key") } else { ("suspend", "Suspend key") };
    let forms = vec![
        form("rotate", "Rotate secret", "rotate", "Rotate secret").says(
            "The new secret is shown only once. The old one stays valid for some days, so that the client can switch.",
        ),
        form("networks", "Allowed networks", "networks", "Save networks")
            .says("Addresses and networks (CIDR), separated by spaces. Leave empty to allow all.")
            .field(Field::line("networks", "Addresses").optional().holding(key.allowed_ips.join(" "))),
        form("suspend", if key.suspended { "Resume" } else { "Suspend" }, suspend, words)
            .says("Takes effect on every node within seconds."),
        form("revoke", "Revoke", "revoke", "Revoke permanently").says("This cannot be undone.").danger(),
    ];
    Section {
        title: "Change a key".to_owned(),
        facts: vec![("Access key", Cell::id(&key.access_key))],
        forms,
        ..Section::default()
    }
}

/// Shows a key with its secret, once.
fn shown_once(visit: &Visit, key: &ShownKey, more: &str) -> Answer {
    let says = vec![format!(
        "The secret key is shown only once. Share it through a secure channel.{more}"
    )];
    let facts = vec![
        ("Access key", Cell::id(&key.access_key)),
        ("Secret key", Cell::id(key.secret_key.expose_secret())),
    ];
    let links = vec![visit.back("/keys", "Back to the keys")];
    page(visit, "New secret key", vec![Section { says, facts, links, ..Section::default() }])
}

pub(super) async fn create(visit: Visit) -> Answer {
    let usage = match visit.form().text("use") {
        "pay" => KeyUse::Pay,
        "wallet" => KeyUse::Wallet,
        _ => return Err(Stop::wrong("use", "Please choose what the key is for.")),
    };
    let made = visit
        .console()
        .outside
        .create_key(visit.tenant()?, usage, visit.deed(visit.form().text("why")))
        .await;
    shown_once(&visit, &made.map_err(|error| Stop::failed(&error))?, "")
}

async fn usable(visit: &Visit) -> Result<KeyRow, Stop> {
    let key = named(visit, visit.form().text("key")).await?;
    if key.revoked_at.is_some() {
        Err(Stop::Refused("The key is revoked.".to_owned()))
    } else {
        Ok(key)
    }
}

pub(super) async fn rotate(visit: Visit) -> Answer {
    let key = usable(&visit).await?;
    let deed = visit.deed(visit.form().text("why"));
    let (shown, overlap) = visit.console().outside.rotate_key(&key.access_key, deed).await?;
    let days = overlap.0 / 86_400_000_000;
    shown_once(&visit, &shown, &format!(" The old one stays valid for {days} days."))
}

pub(super) async fn networks(visit: Visit) -> Answer {
    let key = usable(&visit).await?;
    let networks: Vec<String> =
        visit.form().text("networks").split_whitespace().map(str::to_owned).collect();
    if networks.len() > NETWORKS_MAX {
        let words = format!("At most {NETWORKS_MAX} addresses and networks.");
        return Err(Stop::Wrong("networks", words));
    }
    if let Some(wrong) = networks.iter().find(|text| text.parse::<Network>().is_err()) {
        let words = format!("{wrong} is neither an address nor a network.");
        return Err(Stop::Wrong("networks", words));
    }
    visit
        .console()
        .store()
        .set_key_ips(&key.access_key, &networks, visit.deed(visit.form().text("why")))
        .await?;
    Ok(visit.done(&visit.href("/keys"), "The allowed networks were saved."))
}

pub(super) async fn suspend(visit: Visit) -> Answer {
    let key = usable(&visit).await?;
    visit
        .console()
        .store()
        .suspend_key(&key.access_key, true, visit.deed(visit.form().text("why")))
        .await?;
    Ok(visit.done(&visit.href("/keys"), "The key is suspended."))
}

pub(super) async fn resume(visit: Visit) -> Answer {
    let key = usable(&visit).await?;
    visit
        .console()
        .store()
        .suspend_key(&key.access_key, false, visit.deed(visit.form().text("why")))
        .await?;
    Ok(visit.done(&visit.href("/keys"), "The key is active again."))
}

pub(super) async fn revoke(visit: Visit) -> Answer {
    let key = usable(&visit).await?;
    visit
        .console()
        .store()
        .revoke_key(&key.access_key, visit.deed(visit.form().text("why")))
        .await?;
    Ok(visit.done(&visit.href("/keys"), "The key is permanently revoked."))
}
