//! Access to the pages of the payment side: the rows of their routes.

use domain::user::Role::{Admin, Approver, Auditor, Compliance, Operator, Treasury};

use crate::access::{AccessRow, LOOK, TAKE, WORK, Who, all_tenants, get, post};

/// Roles that look after money.
const BOOKS: Who = Who::Roles(&[Operator, Approver, Compliance, Treasury, Admin, Auditor]);
/// Roles that may start a reconciliation.
const COMPARE: Who = Who::Roles(&[Operator, Treasury]);
/// Roles that propose prices.
const PRICE: Who = Who::Roles(&[Treasury]);
/// Roles that turn corridors and rails on and off, for every tenant.
const SWITCH: Who = Who::Roles(&[Treasury, Operator]);

/// One row per route.
pub(crate) const ACCESS: &[AccessRow] = &[
    get("/console/t/{tenant}/overview", LOOK),
    get("/console/t/{tenant}/search", LOOK),
    get("/console/t/{tenant}/payments", LOOK),
    get("/console/t/{tenant}/payments/export.csv", TAKE),
    get("/console/t/{tenant}/payments/{id}", LOOK),
    get("/console/t/{tenant}/payments/{id}/receipt", LOOK),
    get("/console/t/{tenant}/payments/{id}/cancel", WORK),
    post("/console/t/{tenant}/payments/{id}/cancel", WORK),
    get("/console/t/{tenant}/payments/{id}/recall", WORK),
    post("/console/t/{tenant}/payments/{id}/recall", WORK),
    post("/console/t/{tenant}/payments/{id}/recall/close", WORK),
    get("/console/t/{tenant}/quotes", LOOK),
    get("/console/t/{tenant}/quotes/export.csv", TAKE),
    get("/console/t/{tenant}/quotes/{id}", LOOK),
    get("/console/t/{tenant}/ledger", BOOKS),
    get("/console/t/{tenant}/ledger/account", BOOKS),
    get("/console/t/{tenant}/ledger/transfers/{id}", BOOKS),
    get("/console/t/{tenant}/statements", TAKE),
    get("/console/t/{tenant}/statements/file", TAKE),
    get("/console/t/{tenant}/reconciliation", BOOKS),
    post("/console/t/{tenant}/reconciliation/compare", COMPARE),
    get("/console/t/{tenant}/rates", LOOK),
    post("/console/t/{tenant}/rates/pricing", PRICE),
    get("/console/t/{tenant}/corridors", LOOK),
    all_tenants(get("/console/t/{tenant}/corridors/switch", SWITCH)),
    all_tenants(post("/console/t/{tenant}/corridors/switch", SWITCH)),
];
