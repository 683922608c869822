//! All HTTP routes of a process: operations, API description, health, and in a sandbox the
//! simulated parties.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adapters::oidc;
use adapters::screening::ListBook;
use axum::Router;
use axum::extract::Request;
use axum::routing::get;
use domain::policy::Environment;
use domain::time::Span;
use engine::payments::Payments;
use engine::wallets::Wallets;
use engine::workers::Workers;
use http_api::address_windows::AddressWindows;
use http_api::auth::Rules;
use http_api::docs::Site;
use http_api::pay_page;
use http_api::payments_v2::{self, Api};
use http_api::problem::Problem;
use http_api::proxies;
use http_api::rail_callbacks::{self, Callbacks};
use http_api::request_id::RequestId;
use http_api::server::Refusals;
use http_api::wallet_groups::GroupLimits;
use http_api::wallet_v1;
use http_api::wallet_v1::render::Links;
use operator_console::Console;
use testkit::bank::SimulatedBank;
use tokio::sync::watch;

use super::Role;
use super::around::{self, Around};
use super::chain::ChainSide;
use super::chain_api;
use super::clock::BusinessClock;
use super::console_outside;
use super::sandbox_api::{self, SandboxApi};
use super::sandbox_chain_api::ChainApi;
use super::scenarios::Scenarios;
use super::world::FreshRates;
use config::Config;

/// The sources of the routes.
pub(super) struct Parts<'a> {
    pub config: &'a Config,
    pub data_dir: &'a Path,
    pub payments: Payments,
    /// They apply the callbacks of connectors.
    pub workers: Arc<Workers>,
    pub public_url: &'a str,
    pub role: Role,
    /// Health and metrics; empty if they have a listener of their own.
    pub ops: Router,
    pub lists: Arc<ListBook>,
    pub identity_provider: Option<Arc<oidc::Provider>>,
    pub bank: Option<Arc<SimulatedBank>>,
    pub clock: BusinessClock,
    pub rates: FreshRates,
    pub wallets: Wallets,
    pub chains: &'a [ChainSide],
    pub stopping: watch::Receiver<bool>,
    pub scenarios: Arc<dyn Scenarios>,
    pub docs: Arc<Site>,
}

pub(super) fn router(parts: &Parts<'_>) -> Router {
    let mut router = parts.ops.clone();
    if parts.role != Role::Worker {
        let api = Api::new(
            parts.payments.clone(),
            settings(parts.config, parts.public_url, parts.stopping.clone()),
        );
        let sandbox = sandbox(parts, &api);
        if let Some((bank, chain)) = sandbox.clone() {
            router = router.merge(sandbox_api::router(bank, chain));
        }
        if parts.config.console.enabled {
            router = router.merge(console_routes(parts, sandbox));
        }
        router = router
            .merge(payments_v2::router(api))
            .merge(http_api::openapi::router(&parts.config.exchange_to(), &chain_names(parts)));
        router = router.merge(http_api::docs::router(parts.docs.clone()));
        if parts.config.takes_callbacks() {
            router = router.merge(callback_routes(parts));
        }
        router = router.merge(match parts.config.wallets.enabled {
            true => wallet_routes(parts),
            false => wallet_v1::router_without_wallets(&parts.payments.world().wall_clock),
        });
        for side in parts.chains {
            if let Some(chain) = side.embedded.clone() {
                router = router.merge(chain_api::router(&side.path, chain));
            }
        }
    }
    if parts.role != Role::Worker {
        let no_such_route = |id: RequestId| async move { Problem::no_such_route().respond(&id) };
        let landing = get(http_api::docs::landing).fallback(no_such_route);
        router = router.route("/", landing.with_state(parts.docs.clone()));
    }
    let around = Around {
        refusals: refusals(&parts.payments, parts.config),
        answer_within: http_api::server::deadline::ANSWER_WITHIN,
    };
    let has_pages = parts.role != Role::Worker && parts.config.wallets.enabled;
    let router = router
        .fallback(move |id: RequestId, request: Request| async move {
            let page = has_pages.then(|| pay_page::astray(&request)).flatten();
            page.unwrap_or_else(|| Problem::no_such_route().respond(&id))
        })
        .method_not_allowed_fallback(|id: RequestId| async move {
            Problem::method_not_allowed().respond(&id)
        })
        .layer(axum::middleware::from_fn_with_state(around, around::layer))
        .layer(http_api::compressed::layer());
    match parts.config.trusted_proxies() {
        Some(proxies) => {
            router.layer(axum::middleware::from_fn_with_state(Arc::new(proxies), proxies::layer))
        }
        None => router,
    }
}

/// The errors of requests that no operation answers, with the rate limits.
pub(super) fn refusals(payments: &Payments, config: &Config) -> Refusals {
    Refusals::new(payments.world().wall_clock.clone())
        .with_limits(config.request_rates(), GroupLimits::default())
}

/// The API's names of the chains.
fn chain_names(parts: &Parts<'_>) -> Vec<String> {
    parts.chains.iter().map(|chain| chain.config.name.clone()).collect()
}

/// The simulated parties that may be controlled; `None` in production.
fn sandbox(parts: &Parts<'_>, api: &Arc<Api>) -> Option<(Arc<SandboxApi>, Option<Arc<ChainApi>>)> {
    if parts.config.environment == Environment::Production {
        return None;
    }
    let guard = (parts.config.environment == Environment::Test).then(|| api.clone());
    let chain = ChainApi::of(&parts.wallets, parts.chains);
    Some((SandboxApi::of(parts, guard), chain))
}

fn console_routes(
    parts: &Parts<'_>,
    sandbox: Option<(Arc<SandboxApi>, Option<Arc<ChainApi>>)>,
) -> Router {
    let settings = operator_console::Settings {
        base_url: parts.config.console_url(parts.public_url).to_owned(),
        environment: parts.config.environment,
        body: parts.config.body_limits(),
        idle: Span::mins(parts.config.console.idle_minutes.into()),
        absolute: Span::hours(parts.config.console.session_hours.into()),
        // A sandbox protects nothing real; any other environment requires a login.
        second_factor: parts.config.environment != Environment::Mock,
        sign_ins_per_minute: parts.config.console.sign_ins_per_minute,
    };
    let outside = console_outside::Server::of(parts, sandbox);
    operator_console::router(Console::new(
        parts.payments.clone(),
        parts.wallets.clone(),
        outside,
        settings,
    ))
}

/// Where connectors report to.
fn callback_routes(parts: &Parts<'_>) -> Router {
    rail_callbacks::router(Arc::new(Callbacks {
        rails: parts.payments.world().rails.clone(),
        taker: parts.workers.clone(),
        wall_clock: parts.payments.world().wall_clock.clone(),
        body: parts.config.body_limits(),
        refused: AddressWindows::default(),
    }))
}

/// Wallet Service v1 and the pages behind its payment links.
fn wallet_routes(parts: &Parts<'_>) -> Router {
    let (config, world) = (parts.config, parts.wallets.world());
    let store = parts.wallets.store();
    let sources =
        wallet_v1::Sources::of_store(store, world.clock.clone(), world.wall_clock.clone());
    let settings = wallet_v1::Settings {
        rules: Rules { api_url: parts.public_url.to_owned(), ..config.wallet_token_rules() },
        limits: GroupLimits::default(),
        body: config.body_limits(),
    };
    let links = Links { base_url: parts.public_url.to_owned() };
    let guard = wallet_v1::Guard::new(sources, settings);
    let api = wallet_v1::Api::new(guard, parts.wallets.clone(), links.clone());
    let sandbox = config.environment != Environment::Production;
    // A configured node's URL may contain a secret: visitors only see the built-in chain's.
    let embedded = parts.chains.iter().filter(|chain| chain.embedded.is_some());
    let chain_rpc_urls = embedded
        .map(|chain| (chain.config.chain_id, chain.rpc_url(config, parts.public_url)))
        .collect();
    let pages = pay_page::Settings {
        links,
        sandbox,
        body: config.body_limits(),
        chain_rpc_urls,
        stopping: parts.stopping.clone(),
    };
    wallet_v1::router(api).merge(pay_page::router(parts.wallets.clone(), pages))
}

fn settings(
    config: &Config,
    public_url: &str,
    stopping: watch::Receiver<bool>,
) -> payments_v2::Settings {
    payments_v2::Settings {
        // The system may have chosen the port: the URL is known only now.
        rules: Rules { api_url: public_url.to_owned(), ..config.token_rules() },
        rates: config.request_rates(),
        streams_per_key: config.limits.streams_per_key,
        heartbeat: Duration::from_secs(config.http.heartbeat_s),
        patience: payments_v2::PATIENCE,
        body: config.body_limits(),
        stopping,
    }
}
