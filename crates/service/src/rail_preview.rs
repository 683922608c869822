//! The message that an order would send over a rail, from the configuration alone: nothing is sent or
//! stored, and no server runs.

use std::path::{Path, PathBuf};

use adapters::rails::{Preview, connector, preview as preview_messages};
use anyhow::Context as _;
use domain::attempt::{Attempt, AttemptState};
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::order::{Order, UncheckedOrder};
use domain::policy::{Corridors, RailConfig};
use domain::rail::RailId;
use domain::route::{self, Unfit};
use domain::time::Timestamp;
use engine::payments::wanted;
use engine::workers::instruction;
use uuid::Uuid;

use super::world::{bank_directory, exchange_directory};
use config::{Config, RailEntry, Transport};

/// The sample's payment, which is the same in every preview.
const SAMPLE: Uuid = Uuid::from_u128(0x6f0c_8a52_5d7e_4c57_9d3e_0a4f_7f3f_9f10);

/// The message of one order.
#[derive(Clone, Debug)]
pub struct RailPreview {
    pub rail: RailId,
    /// Name of the message in ISO 20022: `pain.001.001.09`.
    pub version: &'static str,
    /// Where it would be sent.
    pub destination: String,
    /// Time zone of the execution date.
    pub time_zone: String,
    pub message: Preview,
    /// Why the rail would not take the order, though its message is shown.
    pub unfit: Option<String>,
}

/// The message of `order` over the rail, or over the one that the order would take.
///
/// # Errors
/// The rail or its configuration is unusable, the order violates a rule, or no rail takes it.
pub fn preview(
    config: &Config,
    data_dir: &Path,
    order: UncheckedOrder,
    rail: Option<&str>,
    now: Timestamp,
) -> anyhow::Result<RailPreview> {
    let corridors = config.to_corridors()?;
    let directory = bank_directory(config)?;
    let order = order.check(&directory, &corridors, now.date()).map_err(|faults| {
        let faults: Vec<String> =
            faults.into_iter().map(|fault| format!("{}: {}", fault.field, fault.message)).collect();
        anyhow::anyhow!("{}", faults.join("\n"))
    })?;
    let currency = order.country.currency();
    let amount = Money::exact(order.amount, currency).with_context(|| {
        format!(
            "amount: must have at most {} decimals ({})",
            currency.minor_units(),
            currency.code()
        )
    })?;
    let (rail, unfit) = choose(&corridors, &order, amount, rail)?;
    let entry = config
        .rails
        .iter()
        .find(|entry| entry.id == *rail.id.0)
        .context("a rail without its configuration")?;
    let instruction = instruction(&attempt(rail, amount, now), &order, &corridors);
    let ours = config.our_side(entry);
    if entry.transport == Transport::Connector {
        let message = connector::preview(ours.character_set, &instruction);
        return Ok(RailPreview {
            rail: rail.id.clone(),
            version: "connector payment",
            destination: destination(entry, None, &message),
            time_zone: "UTC".to_owned(),
            message,
            unfit: unfit.map(|unfit| unfit.words().to_owned()),
        });
    }
    let files = files(entry, data_dir);
    let mut messages =
        preview_messages(&rail.id, &ours, files.as_deref(), std::slice::from_ref(&instruction))
            .with_context(|| format!("rails.{}.directory", rail.id))?;
    let message = messages.pop().context("a batch without a message")?;
    Ok(RailPreview {
        rail: rail.id.clone(),
        version: ours.profile.version.name(),
        destination: destination(entry, files.as_deref(), &message),
        time_zone: ours.profile.calendar.zone.iana_name().unwrap_or("UTC").to_owned(),
        message,
        unfit: unfit.map(|unfit| unfit.words().to_owned()),
    })
}

fn choose<'a>(
    corridors: &'a Corridors,
    order: &Order,
    amount: Money,
    rail: Option<&str>,
) -> anyhow::Result<(&'a RailConfig, Option<Unfit>)> {
    let wanted = wanted(order, amount, corridors);
    if let Some(id) = rail {
        let rail = corridors.rail(&RailId::new(id)).context("--rail: is not configured")?;
        anyhow::ensure!(
            rail.country == order.country,
            "--rail: {id} pays to {}, the order to {}",
            rail.country.alpha3(),
            order.country.alpha3()
        );
        return Ok((rail, rail.unfit(&wanted)));
    }
    let first = route::candidates(corridors, &wanted).first().copied();
    let against = || {
        let rails = corridors
            .rails_of(order.country)
            .filter_map(|rail| Some(format!("{}: {}", rail.id, rail.unfit(&wanted)?.words())));
        rails.collect::<Vec<_>>().join("\n")
    };
    Ok((first.with_context(|| format!("no rail takes the order\n{}", against()))?, None))
}

/// The attempt that would be saved before the message is sent.
fn attempt(rail: &RailConfig, amount: Money, now: Timestamp) -> Attempt {
    Attempt {
        id: AttemptId(SAMPLE),
        tenant: TenantId(Uuid::nil()),
        payment: PaymentId(SAMPLE),
        number: 1,
        rail: rail.id.clone(),
        state: AttemptState::Sending,
        amount,
        charges: 0,
        sender: None,
        created_at: now,
        state_at: now,
        reason: None,
        info: None,
        bank_reference: None,
        source: None,
        booking: None,
        sent_again: false,
    }
}

/// The rail's directory, if it has one.
fn files(entry: &RailEntry, data_dir: &Path) -> Option<PathBuf> {
    match entry.transport {
        Transport::Directory | Transport::Sftp => Some(entry.directory.clone()),
        Transport::Simulated => exchange_directory(entry, data_dir),
        Transport::Https | Transport::Connector => None,
    }
}

fn destination(entry: &RailEntry, files: Option<&Path>, message: &Preview) -> String {
    let sealed = |name: &str| match entry.pgp.is_set() {
        true => format!("{name}{}", entry.pgp.suffix),
        false => name.to_owned(),
    };
    match (entry.transport, files, &message.file_name) {
        (Transport::Sftp, _, Some(name)) => {
            let (server, file) = (&entry.sftp, entry.sftp.out.join(sealed(name)));
            format!("sftp://{}@{}:{}/{}", server.user, server.host, server.port, file.display())
        }
        (_, Some(dir), Some(name)) => dir.join("out").join(sealed(name)).display().to_string(),
        (Transport::Https | Transport::Connector, _, _) => {
            format!("{}/payments", entry.url.trim_end_matches('/'))
        }
        _ => "the simulated bank of this program".to_owned(),
    }
}
