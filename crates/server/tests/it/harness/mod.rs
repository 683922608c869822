//! The test harness: a runtime, services, clients, and a macro that runs each test on both stores.

pub mod client;
pub mod connector;
#[path = "../../../../http/tests/hostile/mod.rs"]
pub mod hostile;
pub mod json;
pub mod order;
pub mod own_node;
pub mod service;
pub mod wallet_bank;
pub mod xmllint;

use std::sync::OnceLock;

use tokio::runtime::Runtime;

pub use self::client::{Answer, Bank, Quote};
pub use self::service::{On, Setup, brisk, shared};
pub use json::Json;
pub use order::Order;
pub use wallet_bank::WalletBank;

/// A single runtime for the services and clients of the process: a shared service outlives the test
/// that started it.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        // Every caller installs the same provider, so an earlier one is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()
            .expect("a runtime")
    })
}

/// Runs a test on a store, if this run includes the store.
pub fn run<F: Future<Output = ()>>(on: On, test: impl FnOnce(On) -> F) {
    if on == On::Postgres && service::cluster().is_none() {
        return;
    }
    // Boxed, so that the runtime's code is compiled once and not for each test.
    service::counted(on, Box::pin(test(on)));
}

/// Generates two tests from each `async fn name(on: On)`: one per store.
macro_rules! on_both_stores {
    ($($name:ident)+) => {
        mod sqlite {
            $(#[test] fn $name() { $crate::harness::run($crate::harness::On::Sqlite, super::$name); })+
        }
        mod postgres {
            $(#[test] fn $name() { $crate::harness::run($crate::harness::On::Postgres, super::$name); })+
        }
    };
}
pub(crate) use on_both_stores;
