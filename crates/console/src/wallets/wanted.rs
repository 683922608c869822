//! Refund addresses that senders entered on the payment page. They are not binding.

use domain::deposit::{Deposit, DepositState};
use domain::payment_request::{Named, RefundTo, SenderDetails, SenderInfo};

use crate::view::Section;
use crate::{Cell, Stop, Table, Tone, Visit};

/// Shown where no sender has answered.
const NOTHING: &str = "No sender has entered a refund address.";

/// The refund addresses of a deposit's senders; no section for a deposit that cannot be refunded.
pub(super) async fn section(
    visit: &Visit,
    deposit: &Deposit,
    named: &Named,
) -> Result<Option<Section>, Stop> {
    let may_go_back = matches!(
        deposit.state,
        DepositState::Rejected | DepositState::LegalHold | DepositState::Failed
    );
    let Some(request) = deposit.request.filter(|_| may_go_back || *named != Named::Nothing) else {
        return Ok(None);
    };
    let senders = visit.console().store().sender_infos(visit.tenant_id()?, request).await?;
    let says = match named {
        Named::Nothing => String::new(),
        Named::One(answer) => format!("The sender asks for a refund to {}.", answer.to),
        Named::Several(_) => {
            "Senders entered different addresses. A link can be opened by others than its sender: find out \
             who paid before you propose a refund."
                .to_owned()
        }
    };
    let given = visit.console().store().refund_addresses(visit.tenant_id()?, request).await?;
    let is_silent = Named::is_somebody_silent(deposit, &senders, &given);
    let others = "Other possible senders submitted their details before the deposit arrived and have not answered: the \
         address may not belong to the payer.";
    let others = (is_silent && *named != Named::Nothing).then(|| others.to_owned());
    let says = Some(says).filter(|says| !says.is_empty()).into_iter().chain(others).collect();
    let table = Some(table(named.answers(), &senders));
    Ok(Some(Section {
        title: "Sender's refund address".to_owned(),
        says,
        table,
        ..Section::default()
    }))
}

/// The answers with their senders and screening results.
pub(super) fn table(answers: &[RefundTo], senders: &[SenderInfo]) -> Table {
    let row = |answer: &RefundTo| {
        let said =
            senders.iter().find(|sender| sender.id == answer.sender).map(|sender| &sender.details);
        let tone = if answer.screened.is_match() { Tone::Warn } else { Tone::Plain };
        vec![
            Cell::When(answer.at),
            Cell::id(answer.to),
            Cell::maybe(said.and_then(SenderDetails::name)),
            Cell::maybe(said.and_then(|said| said.phone_number.clone())),
            Cell::state(answer.screened.verdict().name(), tone),
            Cell::text(answer.screened.list_version.as_str()),
            Cell::maybe(answer.screened.evidence.clone()),
        ]
    };
    let head = ["Submitted", "Address", "Sender", "Phone", "Screened", "List version", "Evidence"];
    Table::new("Refund addresses of senders", &head, answers.iter().map(row).collect()).or(NOTHING)
}
