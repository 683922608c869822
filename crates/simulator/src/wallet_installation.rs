//! The wallet service's part of the simulated installation: a chain with the two coins, tenants with receivers, a policy.
//! The same for every seed but for depths, batches and limits that the seed draws.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use domain::chain::{Address, ChainConfig, ChainNumber, Depth, ReleaseMin, SweepTerms, Token};
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::policy::TenantPolicy;
use domain::time::Span;
use domain::wallet_event::{Subscriptions, WalletEventKind};
use domain::wallet_policy::WalletPolicy;
use engine::wallets::Caller;
use futures_util::FutureExt;
use store::{Store, Tenant};

use crate::actors::{Blocks, Constitution, Keys, State, Wishes};
use crate::installation::START;
use crate::random::Random;

/// EIP-155 id of the chain.
pub const CHAIN_ID: u64 = 31_337;
/// Our share of an exchange, in basis points.
pub const SPREAD_BPS: u32 = 50;
/// In schedules with crowds, deposits below this are not worth a release: in minor units.
pub const DUST_BELOW: i64 = 3 * COIN;
/// A token that the service does not support.
pub const STRANGE_TOKEN: Address = Address([0xee; 20]);
/// Fees are never raised above this.
const FEE_CAP: u128 = 200_000_000_000;
const COIN: i64 = 1_000_000;

/// The contract of a coin.
pub const fn token(coin: StableCoin) -> Address {
    match coin {
        StableCoin::Usdc => Address([0x0c; 20]),
        StableCoin::Usdt => Address([0x07; 20]),
    }
}

/// What is configured about the chain in a seed.
pub fn config(random: &mut Random, wishes: &Wishes) -> ChainConfig {
    ChainConfig {
        number: ChainNumber::FIRST,
        name: "ethereum".to_owned(),
        chain_id: CHAIN_ID,
        tokens: StableCoin::ALL.map(|coin| Token { coin, address: token(coin) }).to_vec(),
        release_min: ReleaseMin::Fixed(if wishes.crowded { DUST_BELOW } else { 0 }),
        small_below: 1_000 * COIN,
        small_depth: Depth::Blocks(random.pick(&[1, 1, 2, 3, 6, 12])),
        medium_below: 2_000 * COIN,
        medium_depth: Depth::Safe,
        large_depth: Depth::Finalized,
        settled_depth: Depth::Blocks(random.pick(&[1, 1, 2, 3, 6])),
        explorer_tx_url: "https://explorer.example/tx/".to_owned(),
        batch_max: random.pick(&[1, 2, 20, 20]),
        replace_after_s: random.pick(&[3, 10, 60]),
        max_fee_cap: FEE_CAP,
        max_tip_cap: FEE_CAP,
        min_tip: 1,
        gas_coin: "ETH".to_owned(),
        sponsor: None,
        block_age_max: None,
        sweep: SweepTerms {
            at_minor: random.pick(&[1, 100 * COIN, 10_000 * COIN]),
            every: random.pick(&[Span::secs(10), Span::mins(5), Span::hours(2)]),
        },
    }
}

/// A chain on which nothing has happened but, perhaps, the tenants' controllers.
pub fn chain(wishes: &Wishes, seed: u64) -> Blocks {
    let mut law = Constitution::default();
    law.coins.extend(StableCoin::ALL.map(|coin| (token(coin), coin)));
    Keys::enact(&mut law, &wishes.tenants, wishes.blacklists);
    let mut genesis = State::default();
    if wishes.deployed {
        genesis
            .controllers
            .extend(law.offices.keys().map(|address| (*address, Default::default())));
    }
    Blocks::new(law, genesis, START, seed)
}

fn wallet_policy() -> WalletPolicy {
    WalletPolicy {
        accept_late: Some(Span::mins(30)),
        spread_bps: SPREAD_BPS,
        ..WalletPolicy::default()
    }
}

/// What a tenant of the wallet service has agreed.
pub fn policy() -> TenantPolicy {
    TenantPolicy {
        settlement_coin: StableCoin::Usdt,
        premium_bps: 0,
        margin_bps: 0,
        margin_bps_by_country: BTreeMap::new(),
        countries: BTreeSet::new(),
        require_hmac: false,
        wallet: wallet_policy(),
    }
}

pub fn caller(tenant: TenantId) -> Caller {
    Caller { tenant, policy: Arc::new(policy()) }
}

/// Writes the tenants and their receivers down.
pub fn enrol(store: &Store, wishes: &Wishes) -> anyhow::Result<()> {
    let at_once = || anyhow!("the store in memory does not work at once");
    for (number, id) in wishes.tenants.iter().enumerate() {
        let tag = format!("bank{number}");
        let tenant = Tenant { id: *id, tag: tag.clone(), name: tag.clone(), policy: policy() };
        let made =
            store.create_tenant(&tenant, "installation").now_or_never().ok_or_else(at_once)?;
        made.context("making a tenant")?;
        let secret = "whsec_c2ltdWxhdGVkLXNlY3JldC1vZi1hLWJhbms=".to_owned().into();
        let url = format!("https://{tag}.example");
        let added = store
            .add_webhook(*id, &url, secret, "installation")
            .now_or_never()
            .ok_or_else(at_once)?;
        added.context("adding a receiver")?;
        // Every other bank wants all that there is.
        if number % 2 == 0 {
            let all: Subscriptions = WalletEventKind::optional().collect();
            let done = store
                .subscribe_webhook(*id, &all, "installation")
                .now_or_never()
                .ok_or_else(at_once)?;
            done.context("subscribing to events")?;
        }
    }
    Ok(())
}
