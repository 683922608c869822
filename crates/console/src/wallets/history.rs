//! What a person did before: a sender's earlier payments, the earlier deposits to a wallet.

use domain::deposit::{Deposit, DepositState};
use domain::name_words::plain_words;
use domain::payment::ReviewState;
use domain::payment_search::Reading;
use domain::screening::matches_of;
use engine::backoffice::PaymentSearch;
use engine::payments::Record;

use super::{deposit_people, deposit_tone};
use crate::parts::when;
use crate::payments::search::FIND_PEOPLE;
use crate::payments::{masked, people_state};
use crate::view::{Section, coins_text};
use crate::{Cell, Stop, Table, Tone, Visit};

/// Maximum number of payments or deposits that are shown.
const SHOWN_MAX: usize = 20;
/// Deposits that are read, of which those of negligible value are not shown.
const READ_MAX: usize = 200;

/// Earlier payments of a payment's sender, found by the name; none for roles that may not search by
/// a person.
pub(super) async fn of_sender(visit: &Visit, record: &Record) -> Result<Option<Section>, Stop> {
    if !visit.may(&FIND_PEOPLE) {
        return Ok(None);
    }
    let name = plain_words(&record.order.sender_name);
    let known = name.iter().map(|word| vec![Reading::Word(word.clone())]).collect();
    let end = Some(record.payment.accepted_at);
    let search = PaymentSearch { known, start: None, end, sender: Some(name) };
    let found =
        visit.console().store().find_payments(visit.tenant_id()?, &search, SHOWN_MAX).await?;
    let earlier = &found.records;
    let row = |earlier: &Record| {
        let payment = &earlier.payment;
        let (word, tone) = people_state(payment);
        vec![
            Cell::link(
                visit.href(&format!("/payments/{}", payment.id)),
                crate::parts::grouped(&payment.amount.to_string()),
            ),
            Cell::state(word, tone),
            Cell::When(payment.accepted_at),
            Cell::text(masked::name(&earlier.order.beneficiary_name)),
            Cell::text(remark(earlier, record)),
        ]
    };
    let rows: Vec<_> = earlier.iter().map(row).collect();
    let count = rows.len();
    let paid = earlier.iter().filter(|it| people_state(&it.payment).1 == Tone::Good).count();
    let mut says = Vec::new();
    if count > 0 {
        let latest = if count == SHOWN_MAX { "The latest " } else { "" };
        says.push(format!("{latest}{count} payments under this name, {paid} of them paid."));
    }
    let none = match found.searched_since {
        Some(since) if count < SHOWN_MAX => {
            says.push(format!("Payments before {} UTC were not searched.", when(since)));
            "No payments under this name since then."
        }
        _ => "No earlier payments under this name.",
    };
    let head = ["Beneficiary receives", "State", "Accepted", "Beneficiary", "Remark"];
    let table = Table::new("Earlier payments of the sender", &head, rows).or(none);
    let title = "Earlier payments of the sender".to_owned();
    Ok(Some(Section { title, says, table: Some(table), ..Section::default() }))
}

/// What connects an earlier payment with this one.
fn remark(earlier: &Record, record: &Record) -> String {
    let (before, now) = (&earlier.order, &record.order);
    let is_same_document = before.sender_identity_doc_type == now.sender_identity_doc_type
        && before.sender_identity_doc == now.sender_identity_doc;
    let document = if is_same_document { "same document" } else { "another document" };
    let entries = |record: &Record| -> Vec<String> {
        let evidence = record.payment.screened.evidence.as_deref();
        let matches = evidence.into_iter().flat_map(matches_of);
        matches.map(|(entry, _)| entry.to_owned()).collect()
    };
    let known = entries(earlier);
    let is_same_entry = entries(record).iter().any(|entry| known.contains(entry));
    match (is_same_entry, earlier.payment.review) {
        (true, ReviewState::Approved) => format!("{document}; same list entry, approved"),
        (true, ReviewState::Refused) => format!("{document}; same list entry, rejected"),
        (true, _) => format!("{document}; same list entry"),
        (false, _) => document.to_owned(),
    }
}

/// Earlier deposits to a deposit's wallet.
pub(super) async fn of_wallet(visit: &Visit, deposit: &Deposit) -> Result<Section, Stop> {
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let found = store.deposits_of_wallet(tenant, deposit.wallet, deposit.seen_at, READ_MAX).await?;
    let is_earlier = |it: &&Deposit| it.id != deposit.id && !it.is_dust;
    let mut earlier: Vec<&Deposit> = found.iter().filter(is_earlier).collect();
    let is_whole = found.len() < READ_MAX && earlier.len() <= SHOWN_MAX;
    earlier.truncate(SHOWN_MAX);
    let sender = deposit.sender.name().map(|name| plain_words(&name));
    let row = |earlier: &&Deposit| {
        let name = earlier.sender.name();
        let is_same = sender.is_some() && name.as_deref().map(plain_words) == sender;
        let decided = earlier.decision.as_ref().map(|decision| {
            format!("{} by {}", crate::view::words(decision.verdict.name()), decision.by)
        });
        let remarks: Vec<String> =
            is_same.then(|| "same sender".to_owned()).into_iter().chain(decided).collect();
        vec![
            Cell::link(
                visit.href(&format!("/deposits/{}", earlier.id)),
                coins_text(earlier.minor, earlier.coin),
            ),
            Cell::state(deposit_people(earlier.state), deposit_tone(earlier.state)),
            Cell::When(earlier.seen_at),
            Cell::maybe(name.map(|name| masked::name(&name))),
            Cell::maybe((!remarks.is_empty()).then(|| remarks.join("; "))),
        ]
    };
    let rows: Vec<_> = earlier.iter().map(row).collect();
    let mut says = Vec::new();
    if !rows.is_empty() {
        let accepted = earlier.iter().filter(|it| it.state == DepositState::Completed).count();
        let latest = if is_whole { "" } else { "The latest " };
        let count = rows.len();
        says.push(format!("{latest}{count} deposits to this wallet, {accepted} of them accepted."));
    }
    let none = match is_whole {
        true => "No earlier deposits to this wallet.",
        false => "Nothing but dust among the latest deposits to this wallet.",
    };
    let head = ["Amount", "State", "First seen", "Sender", "Remark"];
    let table = Table::new("Earlier deposits to the wallet", &head, rows).or(none);
    let title = "Earlier deposits to the wallet".to_owned();
    Ok(Section { title, says, table: Some(table), ..Section::default() })
}
