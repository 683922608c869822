//! For tests: what a client signs with at a scripted server.

use client::Credentials;
use config::Secret;
use http_api::auth::Service;
use testkit::scripted::{ACCESS_KEY, SECRET_KEY, Scripted};

/// A key of the payment API of `server`. Installs the TLS provider that every client needs.
pub fn credentials(server: &Scripted) -> Credentials {
    // Another test may have installed it before.
    drop(rustls::crypto::ring::default_provider().install_default());
    Credentials {
        service: Service::Pay,
        base_url: server.base_url.clone(),
        access_key: ACCESS_KEY.to_owned(),
        secret_key: Secret::new(SECRET_KEY),
        audience: None,
    }
}
