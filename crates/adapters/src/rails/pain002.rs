//! Parses pain.002, the status report, in every version: one report for each listed transaction,
//! and one for the rest of a message or block with an overall status. pacs.002 is the interbank
//! equivalent. A status of a cancellation request is never taken for that of its payment.

use domain::rail::{About, BankReport, RailStatus, RecallAnswer, Said};
use domain::rail_ids::ReportIds;

use super::iso;
use super::reports::Statement;
use super::xml_read::Element;

/// Overall statuses that neither promise nor reject anything.
const QUIET: [&str; 3] = ["RCVD", "PDNG", "PATC"];
/// Some of the transactions are rejected: the list names them.
const PARTLY: &str = "PART";

pub(super) fn read(body: &Element, statement: &mut Statement) {
    let group = body.child("OrgnlGrpInfAndSts");
    let of_group = Status::of(group, "GrpSts");
    let message = group.and_then(|group| iso::id(group, &["OrgnlMsgId"]));
    let (mut listed, mut rejected) = (Vec::new(), 0);
    let (mut blocks_speak, mut is_counted) = (false, true);
    for block in body.all("OrgnlPmtInfAndSts") {
        let of_block = Status::of(Some(block), "PmtInfSts");
        let whole = ReportIds {
            message: message.clone(),
            block: iso::id(block, &["OrgnlPmtInfId"]),
            ..ReportIds::default()
        };
        let of_block = Status { of_recall: of_group.of_recall, ..of_block };
        let inherited = if of_block.code.is_some() { &of_block } else { &of_group };
        let of_this = transactions(block, &whole, inherited, statement);
        of_block.check_count(block, &whole, of_this.rejected, statement);
        if of_block.code.is_some() {
            blocks_speak = true;
            of_block.clone().rest(whole, of_this.ids.clone(), "PmtInfSts", statement);
        }
        rejected += of_this.rejected;
        listed.extend(of_this.ids);
        // The report does not state how many transactions a rejected block has.
        is_counted &= !inherited.code.as_deref().is_some_and(is_rejected);
    }
    let whole = ReportIds { message, ..ReportIds::default() };
    let of_none = transactions(body, &whole, &of_group, statement);
    rejected += of_none.rejected;
    listed.extend(of_none.ids);
    if let Some(group) = group.filter(|_| is_counted) {
        of_group.check_count(group, &whole, rejected, statement);
    }
    // Each outgoing message is one block, so a block's status is the more specific one.
    if !blocks_speak {
        of_group.rest(whole, listed, "GrpSts", statement);
    }
}

/// Parses a pacs.002: its transactions only. The message whose overall status it reports is not one
/// that Corridor sent.
pub(super) fn read_interbank(body: &Element, statement: &mut Statement) {
    let groups: Vec<&Element> = body.all("OrgnlGrpInfAndSts").collect();
    let whole = |group: Option<&Element>| {
        let message = group.and_then(|group| iso::id(group, &["OrgnlMsgId"]));
        ReportIds { message, ..ReportIds::default() }
    };
    // Of several messages, a transaction names its own.
    let only = Some(&groups).filter(|groups| groups.len() == 1).and_then(|it| it.first().copied());
    let listed = transactions(body, &whole(only), &Status::of(only, "GrpSts"), statement);
    for group in groups {
        let status = Status::of(Some(group), "GrpSts");
        if only.is_some() {
            status.check_count(group, &whole(only), listed.rejected, statement);
        }
        status.rest(whole(Some(group)), listed.ids.clone(), "GrpSts", statement);
    }
}

/// The status of a message or block, which its transactions inherit.
#[derive(Clone)]
struct Status {
    code: Option<String>,
    reasons: Vec<String>,
    info: Option<String>,
    /// Whether it is about a message that requests a cancellation.
    of_recall: bool,
}

/// Names of the messages that request a cancellation (`OrgnlMsgNmId`).
const CANCELLATIONS: [&str; 2] = ["camt.055", "camt.056"];

fn is_cancellation(element: &Element) -> bool {
    let name = element.text_at(&["OrgnlMsgNmId"]).unwrap_or_default();
    CANCELLATIONS.iter().any(|known| name.starts_with(known))
}

/// The status of a cancellation request: rejected, or received.
fn of_recall(status: &RailStatus) -> RailStatus {
    match status {
        RailStatus::Rejected => RailStatus::Recall(RecallAnswer::Refused),
        RailStatus::Unrecognised(code) => RailStatus::Unrecognised(code.clone()),
        _ => RailStatus::Recall(RecallAnswer::Pending),
    }
}

impl Status {
    fn of(element: Option<&Element>, name: &str) -> Status {
        let code = element.and_then(|element| element.text_at(&[name])).map(str::to_owned);
        let (reasons, info) =
            iso::reasons(element.into_iter().flat_map(|element| element.all("StsRsnInf")));
        Status { code, reasons, info, of_recall: element.is_some_and(is_cancellation) }
    }

    /// Compares the number of rejections that the bank counts (`NbOfTxsPerSts`) with those that it lists. With
    /// another number, a rejection is missing, or a listed one is not the bank's last word. A status of
    /// `RJCT` rejects the transactions that are not listed, too.
    fn check_count(
        &self,
        element: &Element,
        of: &ReportIds,
        listed: usize,
        statement: &mut Statement,
    ) {
        if self.code.as_deref().is_some_and(is_rejected) {
            return;
        }
        let mut counts = element
            .all("NbOfTxsPerSts")
            .filter(|it| it.text_at(&["DtldSts"]).is_some_and(is_rejected))
            .map(|it| it.text_at(&["DtldNbOfTxs"]).unwrap_or(""))
            .peekable();
        if counts.peek().is_none() {
            return;
        }
        let (mut counted, mut stated) = (Some(0_usize), Vec::new());
        for count in counts {
            counted = counted.and_then(|sum| sum.checked_add(count.parse().ok()?));
            stated.push(iso::quoted(count));
        }
        if counted != Some(listed) {
            let stated = stated.join(" and ");
            let reason =
                format!("{stated} rejections are counted, {listed} are listed for {}", of.told());
            statement.take("NbOfTxsPerSts", 1, Err(reason));
        }
    }

    /// Reports the status for all transactions that are not listed.
    fn rest(self, of: ReportIds, listed: Vec<ReportIds>, name: &str, statement: &mut Statement) {
        let Some(code) = self.code.filter(|code| !QUIET.contains(&code.as_str())) else { return };
        if code == PARTLY && !listed.is_empty() {
            tracing::info!(
                source = statement.source,
                listed = listed.len(),
                "a message is accepted in part"
            );
            return;
        }
        let status = iso::status(&code);
        let status = if self.of_recall { of_recall(&status) } else { status };
        if matches!(status, RailStatus::Unrecognised(_)) {
            let reason = format!(
                "{name} {} of {}, which lists no transaction",
                iso::quoted(&code),
                of.told()
            );
            statement.take("group", 1, Err(reason));
            return;
        }
        let said = Said {
            status,
            reasons: self.reasons,
            info: self.info,
            bank_reference: None,
            amount: None,
            charges: None,
            source: statement.source.clone(),
        };
        statement.take("group", 1, Ok(BankReport { about: About::Rest { of, listed }, said }));
    }
}

/// The transactions that a report lists.
struct Listed {
    ids: Vec<ReportIds>,
    rejected: usize,
}

/// Parses the transactions below an element.
fn transactions(
    parent: &Element,
    whole: &ReportIds,
    inherited: &Status,
    statement: &mut Statement,
) -> Listed {
    let all: Vec<&Element> = parent.all("TxInfAndSts").collect();
    let mut listed = Listed { ids: Vec::with_capacity(all.len()), rejected: 0 };
    for (index, transaction) in all.iter().enumerate() {
        let ids = ids(transaction, whole, Some((index + 1, all.len())));
        listed.ids.push(ids.clone());
        let code = transaction.text_at(&["TxSts"]).or(inherited.code.as_deref());
        listed.rejected += usize::from(code.is_some_and(is_rejected));
        let outcome = report(transaction, ids, inherited, &statement.source);
        statement.take("TxInfAndSts", index + 1, outcome);
    }
    listed
}

fn is_rejected(code: &str) -> bool {
    iso::status(code) == RailStatus::Rejected
}

fn ids(transaction: &Element, whole: &ReportIds, place: Option<(usize, usize)>) -> ReportIds {
    let original = || iso::id(transaction, &["OrgnlGrpInf", "OrgnlMsgId"]);
    ReportIds {
        uetr: iso::id(transaction, &["OrgnlUETR"]),
        instruction: iso::id(transaction, &["OrgnlInstrId"]),
        end_to_end: iso::id(transaction, &["OrgnlEndToEndId"]),
        message: original().or_else(|| whole.message.clone()),
        block: whole.block.clone(),
        reference: iso::id(transaction, &["AcctSvcrRef"]),
        place,
    }
}

fn report(
    transaction: &Element,
    ids: ReportIds,
    inherited: &Status,
    source: &str,
) -> Result<BankReport, String> {
    let (mut reasons, mut info) = iso::reasons(transaction.all("StsRsnInf"));
    let code = match (transaction.text_at(&["TxSts"]), &inherited.code) {
        (Some(code), _) => code,
        // A transaction without its own status inherits that of its block or message.
        (None, Some(code)) => {
            if reasons.is_empty() {
                reasons.clone_from(&inherited.reasons);
                info = info.or_else(|| inherited.info.clone());
            }
            code
        }
        (None, None) => return Err("it has no TxSts".to_owned()),
    };
    let status = iso::status(code);
    let own = transaction.child("OrgnlGrpInf").is_some_and(is_cancellation);
    let said = Said {
        status: if own || inherited.of_recall { of_recall(&status) } else { status },
        reasons,
        info,
        bank_reference: ids.reference.clone(),
        amount: iso::amount(transaction.at(&["OrgnlTxRef", "Amt", "InstdAmt"]))?,
        charges: None,
        source: source.to_owned(),
    };
    Ok(BankReport { about: About::One(ids), said })
}
