//! The console's routes: a router that records its routes, so that a test can compare them with the
//! access table.

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodRouter, any, get, post};

use super::answer::see_other;
use super::state::Console;
use super::{account, again, approvals, assets, audit, guard, login, provider, users};

/// Routes of a part of the console.
#[derive(Default)]
pub struct Routes {
    router: Router<Arc<Console>>,
    listed: Vec<(&'static str, &'static str)>,
}

impl Routes {
    pub fn new() -> Routes {
        Routes::default()
    }

    /// Adds a page at `path`.
    #[must_use]
    pub fn get<H, T>(self, path: &'static str, handler: H) -> Routes
    where
        H: Handler<T, Arc<Console>>,
        T: 'static,
    {
        self.with("GET", path, get(handler))
    }

    /// An action of a page's form.
    #[must_use]
    pub fn post<H, T>(self, path: &'static str, handler: H) -> Routes
    where
        H: Handler<T, Arc<Console>>,
        T: 'static,
    {
        self.with("POST", path, post(handler))
    }

    fn with(
        mut self,
        method: &'static str,
        path: &'static str,
        handler: MethodRouter<Arc<Console>>,
    ) -> Routes {
        self.router = self.router.route(path, handler);
        self.listed.push((method, path));
        self
    }

    /// Adds the routes of `other`.
    #[must_use]
    pub fn merge(mut self, other: Routes) -> Routes {
        self.router = self.router.merge(other.router);
        self.listed.extend(other.listed);
        self
    }
}

/// Every page of the console.
fn pages() -> Routes {
    let signing_in = login::routes().merge(provider::routes());
    let foundation =
        [signing_in, account::routes(), approvals::routes(), users::routes(), audit::routes()];
    let pages = [
        super::inbox::routes(),
        super::cases::routes(),
        super::case_files::routes(),
        super::saved_views::routes(),
        super::brand::routes(),
        super::setup::routes(),
        super::wallets::routes(),
        super::payments::routes(),
    ];
    foundation.into_iter().chain(pages).fold(Routes::new(), Routes::merge)
}

/// The routes of the console. All are guarded except the assets. A refused form comes back on the
/// page that it was sent from. Unknown paths below `/console` get the console's own error page.
pub fn router(console: Arc<Console>) -> Router {
    let gated = pages()
        .router
        .route_layer(axum::middleware::from_fn_with_state(Arc::clone(&console), guard::layer));
    let again = gated.clone().with_state(Arc::clone(&console));
    let gated = gated.route_layer(axum::middleware::from_fn_with_state(again, again::layer));
    let lost = Router::new().route("/console/", get(|| async { see_other("/console") }));
    let lost = lost.route("/console/{*rest}", any(guard::lost));
    let all = gated.merge(lost).method_not_allowed_fallback(guard::lost);
    all.with_state(console).merge(assets::router())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::access;
    use super::*;

    #[test]
    fn every_route_has_a_row_in_the_table_and_every_row_a_route() {
        let routes: BTreeSet<(&str, &str)> = pages().listed.into_iter().collect();
        let rows: BTreeSet<(&str, &str)> =
            access::rows().map(|row| (row.method, row.path)).collect();
        let missing: Vec<_> = routes.symmetric_difference(&rows).collect();
        assert!(missing.is_empty(), "only in one of routes and table: {missing:?}");
    }

    #[test]
    fn lists_are_downloaded_by_the_same_users() {
        let list = access::row("GET", "/console/t/{tenant}/payments/export.csv").expect("a row");
        let exports = access::rows().filter(|row| row.path.ends_with("/export.csv"));
        let exports = exports.filter(|row| row.path.starts_with("/console/t/{tenant}/"));
        let other: Vec<_> = exports.filter(|row| row.who != list.who).map(|row| row.path).collect();
        assert!(other.is_empty(), "{other:?}");
    }
}
