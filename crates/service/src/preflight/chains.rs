//! The installation's chains: those that no node has named yet, those that are no longer configured
//! and what waits for them, and owners of controllers that do not exist on a chain.

use std::collections::BTreeMap;

use domain::chain::Address;
use domain::currency::StableCoin;
use domain::job::JobKind;
use domain::sweep;
use store::{KnownChain, Store, StoreError};

use super::outside::has_code;
use super::{Finding, Level};
use crate::{chain, world};
use config::Config;

/// Looks the chains up; never names one.
pub(super) async fn chains(config: &Config, store: Option<&Store>) -> Vec<Finding> {
    const NAME: &str = "chains";
    let Some(store) = store.filter(|_| config.wallets.enabled) else { return Vec::new() };
    let numbered = match world::numbered_chains(config, Some(store)).await {
        Ok(numbered) => numbered,
        Err(error) => return vec![Finding::new(NAME, Level::Wrong, format!("{error:#}"))],
    };
    let mut findings: Vec<Finding> = numbered
        .iter()
        .map(|(of, number)| {
            let (name, id) = (&of.config.chain.name, of.config.chain.chain_id);
            match number {
                Some(number) => {
                    let detail = format!("{name}: chain {id}, number {}", number.0);
                    Finding::new(NAME, Level::Ok, detail)
                }
                None => {
                    let detail = format!(
                        "{name}: not in use yet: the service begins to use it when one of its nodes answers as chain {id}"
                    );
                    Finding::new(NAME, Level::Warning, detail)
                }
            }
        })
        .collect();
    let retired = match store.known_chains().await {
        Ok(known) => known
            .into_iter()
            .filter(|known| numbered.iter().all(|(_, number)| *number != Some(known.number))),
        Err(error) => return vec![Finding::new(NAME, Level::Wrong, error.to_string())],
    };
    for chain in retired {
        findings.push(match waiting(store, &chain).await {
            Ok(jobs) => {
                let level = if jobs == 0 { Level::Ok } else { Level::Warning };
                let KnownChain { name, chain_id, .. } = chain;
                let detail = format!(
                    "{name}: chain {chain_id} is no longer configured, {jobs} jobs wait for it"
                );
                Finding::new(NAME, level, detail)
            }
            Err(error) => Finding::new(NAME, Level::Wrong, error.to_string()),
        });
    }
    findings
}

/// The number of jobs about a chain.
async fn waiting(store: &Store, chain: &KnownChain) -> Result<i64, StoreError> {
    let counts = store.job_counts_by_chain().await?;
    let of_chain = counts.into_iter().find(|(number, _)| *number == chain.number);
    let mut jobs = of_chain.map_or(0, |(_, count)| count);
    for tenant in store.tenants().await? {
        for coin in StableCoin::ALL {
            let subject = sweep::lane(tenant.id, chain.number, coin);
            jobs += i64::from(store.has_job((tenant.id, subject), JobKind::Sweep).await?);
        }
    }
    Ok(jobs)
}

/// Whether the owners of the tenants' controllers have code on each chain. A Safe exists only where
/// it was deployed: what is sent to its address elsewhere is lost.
pub(super) async fn owners(config: &Config) -> Vec<Finding> {
    const NAME: &str = "owners";
    let mut places: BTreeMap<Address, Vec<(String, bool)>> = BTreeMap::new();
    let mut findings = Vec::new();
    for of in config.by_chain() {
        let owners: BTreeMap<String, Address> = of
            .config
            .chain
            .tenants
            .iter()
            .flat_map(|tenant| {
                let key = |name: &str| format!("{}.tenants.{}.{name}", of.section, tenant.tag);
                [(key("admin"), &tenant.admin), (key("treasury"), &tenant.treasury)]
            })
            .filter_map(|(key, text)| Some((key, Address::parse(text)?)))
            .collect();
        if !config.wallets.enabled || of.config.chain_is_embedded() || owners.is_empty() {
            continue;
        }
        for (key, address) in owners {
            match exists(&of.config, address).await {
                Ok(exists) => places.entry(address).or_default().push((key, exists)),
                Err(why) => {
                    findings.push(Finding::new(NAME, Level::Skipped, format!("{key}: {why}")));
                }
            }
        }
    }
    for (address, keys) in places {
        let (there, missing): (Vec<_>, Vec<_>) = keys.into_iter().partition(|(_, exists)| *exists);
        let keys: Vec<String> = missing.into_iter().map(|(key, _)| key).collect();
        let (level, why) = match (keys.is_empty(), there.is_empty()) {
            (true, _) => (Level::Ok, "has a contract on every chain that names it"),
            (false, false) => (
                Level::Wrong,
                "has no contract there, but has one on another chain: deploy it, or what is sent to it is lost",
            ),
            (false, true) => (
                Level::Warning,
                "has no contract there: right for a key's address, wrong for a Safe",
            ),
        };
        let keys = if keys.is_empty() { String::new() } else { format!("{}: ", keys.join(", ")) };
        findings.push(Finding::new(NAME, level, format!("{keys}{address} {why}")));
    }
    findings
}

/// As the first node says that answers.
async fn exists(config: &Config, address: Address) -> anyhow::Result<bool> {
    let mut last = anyhow::anyhow!("no node is configured");
    for settings in config.nodes() {
        let asked = match chain::node(&settings) {
            Ok(node) => has_code(node.as_ref(), address).await,
            Err(error) => Err(error),
        };
        match asked {
            Ok(exists) => return Ok(exists),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::post;

    use super::*;
    use crate::preflight::tests::config;

    const SAFE: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    const KEY: &str = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";

    /// A node of a chain that has a contract at these addresses only.
    async fn node(contracts: &'static [&'static str]) -> String {
        let answer = move |body: String| async move {
            let has = contracts.iter().any(|it| body.to_lowercase().contains(&it.to_lowercase()));
            let code = if has { "0x60" } else { "0x" };
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{code}"}}"#)
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let router = Router::new().route("/", post(answer));
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    #[tokio::test]
    async fn owners_without_a_contract_on_a_chain_are_found() {
        let tenants = format!(
            r#"[{{ tag = "demobank", operator = "o", compliance = "c", approver = "a", admin = "{KEY}", treasury = "{SAFE}" }}]"#
        );
        let (here, there) = (node(&[SAFE]).await, node(&[]).await);
        let config = config(&[
            ("wallets.enabled", "true"),
            ("chain.node_url", &here),
            ("chain.plain_http_nodes", "true"),
            ("chain.keys.source", "keystore"),
            ("chain.keys.keystore_password", "a password"),
            ("chain.tenants", &tenants),
            ("chains.base.chain_id", "8453"),
            ("chains.base.node_url", &there),
            ("chains.base.plain_http_nodes", "true"),
            ("chains.base.tenants", &tenants),
        ]);
        let found = owners(&config).await;
        let of = |address: &str| {
            let mut found = found.iter().filter(|it| it.detail.contains(address));
            let one = found.next().expect("found");
            (one.level, one.detail.as_str())
        };
        let (level, detail) = of(SAFE);
        assert_eq!(level, Level::Wrong, "{detail}");
        assert!(detail.starts_with("chains.base.tenants.demobank.treasury: "), "{detail}");
        assert!(detail.contains("has one on another chain"), "{detail}");
        let (level, detail) = of(KEY);
        assert_eq!(level, Level::Warning, "{detail}");
        assert!(
            detail.starts_with("chain.tenants.demobank.admin, chains.base.tenants."),
            "{detail}"
        );
    }
}
