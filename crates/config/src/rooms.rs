//! Converts the configuration to the settings of the engine and the HTTP crate.

use std::net::SocketAddr;
use std::time::Duration;

use adapters::webhooks::Reach;
use domain::policy::Environment;
use domain::time::Span;
use engine::context::Tuning;
use http_api::auth::{Rules, Service};
use http_api::limits::{Rate, Rates};
use http_api::proxies::{ProxyHeader, TrustedProxies};
use http_api::server;
use http_api::server::body::BodyLimits;

use super::sections::Config;

impl Config {
    /// Limits of the engine.
    pub fn tuning(&self) -> Tuning {
        let engine = &self.engine;
        Tuning {
            batch_max: engine.batch_max,
            background_max: engine.background_max,
            background_lag_max: Span::secs(engine.background_lag_max_s.into()),
            queue_max: engine.queue_max,
            batches_in_flight: engine.batches_in_flight,
            lease_max: engine.lease_max,
            lease: Span::secs(engine.lease_s.into()),
            poll: Span::millis(engine.poll_interval_ms.into()),
            calls_in_flight: engine.calls_in_flight,
            relay_lag: Span::secs(engine.relay_lag_max_s.into()),
            statement_grace: Span::secs(self.payments.statement_grace_s.into()),
            ..Tuning::default()
        }
    }

    /// Requirements for tokens of the payment API.
    pub fn token_rules(&self) -> Rules {
        let max_lifetime_s = self.token_max_age_s().into();
        Rules { max_lifetime_s, ..Rules::new(self.environment, Service::Pay, self.public_url()) }
    }

    /// Requirements for tokens of the wallet API.
    pub fn wallet_token_rules(&self) -> Rules {
        let rules = Rules::new(self.environment, Service::Wallet, self.public_url());
        match self.environment {
            Environment::Production => {
                Rules { max_lifetime_s: self.wallets.token_max_age_s.into(), ..rules }
            }
            Environment::Test | Environment::Mock => rules,
        }
    }

    /// Request rates per access key.
    pub fn request_rates(&self) -> Rates {
        let limits = &self.limits;
        Rates {
            create_quote: Rate::new(limits.quote_per_s, limits.quote_burst),
            create_payment: Rate::new(limits.payment_per_s, limits.payment_burst),
            get_one: Rate::new(limits.get_per_s, limits.get_burst),
            list: Rate::new(limits.list_per_s, limits.list_burst),
            check_account: Rate::new(limits.account_check_per_s, limits.account_check_burst),
            off: !self.limits_on(),
        }
    }

    /// Limits of request bodies.
    pub fn body_limits(&self) -> BodyLimits {
        BodyLimits {
            max_bytes: self.http.max_body_bytes,
            read_timeout: Duration::from_secs(self.http.body_timeout_s),
        }
    }

    /// Permitted destinations of webhooks.
    pub fn receivers(&self) -> Reach {
        let inward = self.environment == Environment::Mock || self.webhooks.private_receivers;
        if inward { Reach::Sandbox } else { Reach::Internet }
    }

    /// The proxies in front of the service; `None` if there are none.
    pub fn trusted_proxies(&self) -> Option<TrustedProxies> {
        let networks: Vec<_> =
            self.http.trusted_proxies.iter().filter_map(|network| network.parse().ok()).collect();
        let header =
            ProxyHeader::ALL.into_iter().find(|header| header.name() == self.http.proxy_header)?;
        (!networks.is_empty()).then_some(TrustedProxies { networks, header })
    }

    /// Where health and metrics are served instead of `http.listen`.
    pub fn ops_listen(&self) -> Option<SocketAddr> {
        self.http.ops_listen.parse().ok()
    }

    /// Settings of the HTTP server; plain HTTP.
    pub fn server_settings(&self) -> server::Settings {
        server::Settings {
            tls: None,
            connections_max: self.http.max_connections,
            connections_per_address_max: self.http.max_connections_per_address,
            proxies: self.trusted_proxies().map(|it| it.networks).unwrap_or_default(),
            head_read_timeout: Duration::from_secs(self.http.header_timeout_s),
            idle_timeout: Duration::from_secs(self.http.idle_timeout_s),
            drain_timeout: Duration::from_secs(self.http.drain_timeout_s),
            ..server::Settings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sources;

    fn config(key: &str, value: &str) -> Config {
        let overrides = vec![(key.to_owned(), value.to_owned())];
        Config::load(&Sources { overrides, ..Sources::default() }).expect("valid")
    }

    #[test]
    fn the_reference_matches_the_crates_defaults() {
        let config = Config::load(&Sources::default()).expect("valid");
        assert_eq!(config.tuning(), Tuning::default());
        assert_eq!(config.request_rates(), Rates::default());
        assert_eq!(config.body_limits(), BodyLimits::default());
        let (ours, usual) = (config.server_settings(), server::Settings::default());
        assert_eq!(
            (ours.connections_max, ours.head_read_timeout, ours.idle_timeout, ours.drain_timeout),
            (
                usual.connections_max,
                usual.head_read_timeout,
                usual.idle_timeout,
                usual.drain_timeout
            )
        );
    }

    #[test]
    fn only_configured_proxies_are_trusted() {
        assert!(Config::load(&Sources::default()).expect("valid").trusted_proxies().is_none());
        let named =
            config("http.trusted_proxies", "[\"10.0.0.0/8\", \"192.0.2.7\"]").trusted_proxies();
        let named = named.expect("proxies");
        assert_eq!((named.networks.len(), named.header), (2, ProxyHeader::XForwardedFor));
        for (key, value) in
            [("http.trusted_proxies", "[\"10.0.0.0/33\"]"), ("http.proxy_header", "x-real-ip")]
        {
            let overrides = vec![(key.to_owned(), value.to_owned())];
            let refused = Config::load(&Sources { overrides, ..Sources::default() });
            assert!(refused.is_err_and(|error| error.to_string().contains(key)), "{key}");
        }
    }

    #[test]
    fn without_real_money_tokens_live_longer_and_mock_has_no_limits() {
        for (environment, max_lifetime_s, off) in
            [("production", 300, false), ("test", 3_600, false), ("mock", 3_600, true)]
        {
            let config = config("environment", environment);
            assert_eq!(config.token_rules().max_lifetime_s, max_lifetime_s, "{environment}");
            assert_eq!(config.request_rates().off, off, "{environment}");
        }
        assert_eq!(
            config("http.public_url", "https://pay.example/").token_rules().api_url,
            "https://pay.example"
        );
    }
}
