//! Where senders want money back that is not accepted, as they have said on the page behind their link. It binds nobody.

use domain::deposit::{Deposit, DepositState};
use domain::payment_request::{Named, RefundTo, SenderInfo};

use super::view::Section;
use crate::{Cell, Stop, Table, Tone, Visit};

/// What is said where nobody has answered.
const NOTHING: &str = "No sender has said where it should go back to.";

/// Where the senders of a deposit want it back; no section for one that nothing is given back of.
pub(super) async fn section(visit: &Visit, deposit: &Deposit, named: &Named) -> Result<Option<Section>, Stop> {
    let may_go_back = matches!(deposit.state, DepositState::Rejected | DepositState::LegalHold | DepositState::Failed);
    let Some(request) = deposit.request.filter(|_| may_go_back || *named != Named::Nothing) else { return Ok(None) };
    let senders = visit.console().store().sender_infos(visit.tenant_id()?, request).await?;
    let says = match named {
        Named::Nothing => String::new(),
        Named::One(answer) => format!("The sender asks for the refund to go to {}.", answer.to),
        Named::Several(_) => {
            "Different senders name different addresses. A link can be opened by more than its sender: \
             find out whose the money is before a refund is proposed."
                .to_owned()
        }
    };
    let given = visit.console().store().refund_addresses(visit.tenant_id()?, request).await?;
    let is_silent = Named::is_somebody_silent(deposit, &senders, &given);
    let others = "Others had opened the link and said who they are before it came, and have not answered: the address may \
         not be that of whoever paid.";
    let others = (is_silent && *named != Named::Nothing).then(|| others.to_owned());
    let says = Some(says).filter(|says| !says.is_empty()).into_iter().chain(others).collect();
    let table = Some(table(named.answers(), &senders));
    Ok(Some(Section { title: "Where the sender wants it back".to_owned(), says, table, ..Section::default() }))
}

/// Answers with who gave them, and what screening found then.
pub(super) fn table(answers: &[RefundTo], senders: &[SenderInfo]) -> Table {
    let row = |answer: &RefundTo| {
        let said = senders.iter().find(|sender| sender.id == answer.sender).map(|sender| &sender.details);
        let names = said.map(|said| [said.first_name.as_deref(), said.last_name.as_deref()]).into_iter().flatten();
        let name = names.flatten().collect::<Vec<_>>().join(" ");
        let tone = if answer.screened.is_match() { Tone::Warn } else { Tone::Plain };
        vec![
            Cell::When(answer.at),
            Cell::id(answer.to),
            Cell::maybe(Some(name).filter(|name| !name.is_empty())),
            Cell::maybe(said.and_then(|said| said.phone_number.clone())),
            Cell::state(answer.screened.verdict().name(), tone),
            Cell::text(answer.screened.list_version.as_str()),
            Cell::maybe(answer.screened.evidence.clone()),
        ]
    };
    let head = ["Given at", "Address", "Sender", "Telephone", "Screened", "List version", "Evidence"];
    Table::new("Addresses that senders named", &head, answers.iter().map(row).collect()).or(NOTHING)
}
