//! The receipt of a payment as a printable page; `docs/statements.md` describes it.

use axum::body::Body;
use domain::audit::{Facts, Note};
use domain::ids::PaymentId;
use domain::payment::PaymentState;
use domain::policy::Environment;
use engine::payments::Record;
use http::StatusCode;

use crate::answer::answer;
use crate::assets::{ICON_PATH, RECEIPT_STYLE_PATH};
use crate::view::{Field, FormView, Section};
use crate::{Answer, Stop, Visit};
use http_api::receipt::{Lang, Receipt, Style, page};

/// The audience: value and label.
const READERS: [(&str, &str); 2] =
    [("bank", "the bank, with its debits"), ("customer", "its customer")];
/// Names of the languages, in the order of [`Lang::ALL`].
const LANGUAGES: [&str; Lang::ALL.len()] =
    ["English", "Urdu", "Arabic", "Hindi", "Bengali", "Nepali", "Vietnamese", "Filipino"];

pub(super) async fn show(visit: Visit) -> Answer {
    let (tenant, id) = (visit.tenant()?, visit.id(PaymentId::parse)?);
    let record =
        visit.console().store().payment_record(tenant.id, id).await?.ok_or(Stop::NotFound)?;
    let asked = visit.query();
    let with_charge = match asked.given("for") {
        None | Some("bank") => true,
        Some("customer") => false,
        Some(_) => {
            return Err(Stop::Invalid("A receipt is for the bank or its customer.".to_owned()));
        }
    };
    let lang = asked.given("lang").map_or(Some(Lang::default()), Lang::parse);
    let lang =
        lang.ok_or_else(|| Stop::Invalid("No receipt is available in this language.".to_owned()))?;
    let sandbox = visit.console().settings.environment != Environment::Production;
    let receipt = Receipt::of(&record, &tenant.name, sandbox, with_charge);
    let html = page(&receipt, lang, Style::Linked { style: RECEIPT_STYLE_PATH, icon: ICON_PATH })?;
    let facts = Facts::new()
        .text("for", if with_charge { "bank" } else { "customer" })
        .text("lang", lang.tag());
    visit.took(Note::new("export.receipt", "payment", id).after(facts)).await?;
    Ok(answer(StatusCode::OK, "text/html; charset=utf-8", Body::from(html), "no-store"))
}

/// The section of a payment's page with the receipt form.
pub(super) fn section(visit: &Visit, record: &Record) -> Section {
    let payment = &record.payment;
    let title = match payment.standing.state {
        PaymentState::Succeeded => "Receipt",
        // The title matches the payment's state.
        _ => "Confirmation",
    };
    let languages: Vec<(&str, &str)> =
        Lang::ALL.iter().zip(LANGUAGES).map(|(lang, name)| (lang.tag(), name)).collect();
    let fields =
        vec![Field::choice("for", "For", &READERS), Field::choice("lang", "Language", &languages)];
    let form = FormView {
        id: "receipt".to_owned(),
        action: visit.href(&format!("/payments/{}/receipt", payment.id)),
        button: "Open printable receipt",
        ..FormView::lookup(fields)
    };
    Section { title: title.to_owned(), filters: Some(form), ..Section::default() }
}
