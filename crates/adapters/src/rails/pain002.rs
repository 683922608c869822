//! Parses pain.002, the status report, in every version: one report for each listed transaction,
//! and one for the rest of a message or block with an overall status. pacs.002 is the interbank
//! equivalent. A status of a cancellation request or of an inquiry is never taken for that of its
//! payment, whatever name the bank gives the message.

use domain::money::Money;
use domain::rail::{self, About, BankReport, RailStatus, RecallAnswer, ReportContent, Totals};
use domain::rail_ids::{self, ReportIds};

use super::iso;
use super::reports::Statement;
use super::xml_read::Element;

/// Overall statuses that neither promise nor reject anything.
const QUIET: [&str; 3] = ["RCVD", "PDNG", "PATC"];
/// Reasons in a protocol of the transmission (EBICS HAC) that say that a step went well: signatures
/// are correct, the order is forwarded, handed over for further signatures or executed, its transmission
/// succeeded, or there was nothing to fetch.
const WENT_WELL: [&str; 6] = ["DS01", "DS05", "DS06", "DS07", "TS01", "TD01"];
/// Some of the transactions are rejected: the list names them.
const PARTLY: &str = "PART";
/// The bank never received what it was asked about, which proves as little as its not being found.
const NEVER_RECEIVED: &str = "NOOR";
/// Stands for a duplicate that a bank only describes.
const DUPLICATE: &str = "DUPL";

pub(super) fn read(body: &Element, statement: &mut Statement) {
    if let Some(what) = contradiction(body) {
        return statement.take("group", 1, Err(what));
    }
    let group = body.child("OrgnlGrpInfAndSts");
    let mut of_group = Status::of(group, "GrpSts");
    // Reasons of blocks that state neither a status nor a transaction.
    let (mut reasons, mut info) = (Vec::new(), None);
    let message = group.and_then(|group| iso::id(group, &["OrgnlMsgId"]));
    let mut listed = Listed::default();
    let (mut blocks_speak, mut is_counted) = (false, true);
    let blocks: Vec<&Element> = body.all("OrgnlPmtInfAndSts").collect();
    for &block in &blocks {
        let whole = ReportIds {
            message: message.clone(),
            block: iso::id(block, &["OrgnlPmtInfId"]),
            ..ReportIds::default()
        };
        let own = Status::of(Some(block), "PmtInfSts");
        let speaks = own.code.is_some();
        let silent = own.clone();
        let of_block = own.within_group(&of_group);
        let of_this = transactions(block, &whole, &of_block, statement);
        // The report does not state how many transactions a rejected block has.
        is_counted &= !of_block.code.as_deref().is_some_and(is_rejected);
        if speaks {
            blocks_speak = true;
            let fits = of_block.check_count(block, &whole, of_this.rejected, statement);
            // Our messages have one block: of several, each has to be named by one of our ids.
            let is_one = blocks.len() == 1 || whole.block.is_none();
            let message = whole.message.clone().filter(|_| is_one);
            of_block.rest(ReportIds { message, ..whole }, &of_this, fits, "PmtInfSts", statement);
        } else {
            let counts = Status { code: None, ..of_block };
            counts.check_count(block, &whole, of_this.rejected, statement);
            if of_this.all.is_empty() && of_group.code.is_some() {
                inherit((&mut reasons, &mut info), &silent);
            } else if of_group.code.is_none() {
                silent.rest(whole, &of_this, true, "PmtInfSts", statement);
            }
        }
        listed.add(of_this);
    }
    let whole = ReportIds { message, ..ReportIds::default() };
    listed.add(transactions(body, &whole, &of_group, statement));
    let fits = group
        .filter(|_| is_counted)
        .is_none_or(|group| of_group.check_count(group, &whole, listed.rejected, statement));
    // Each outgoing message is one block, so a block's status is the more specific one.
    if !blocks_speak {
        inherit(
            (&mut of_group.reasons, &mut of_group.info),
            &Status { reasons, info, ..Status::of(None, "GrpSts") },
        );
        of_group.rest(whole, &listed, fits, "GrpSts", statement);
    }
}

/// Parses a pacs.002: its transactions only. The message whose overall status it reports is not one
/// that Corridor sent.
pub(super) fn read_interbank(body: &Element, statement: &mut Statement) {
    if let Some(what) = contradiction(body) {
        return statement.take("group", 1, Err(what));
    }
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
        let fits =
            only.is_none() || status.check_count(group, &whole(only), listed.rejected, statement);
        status.rest(whole(Some(group)), &listed, fits, "GrpSts", statement);
    }
}

/// Statuses of one report that exclude each other: a message's and that of its only block, or a
/// rejection and what it counts as accepted. That report proves nothing. What it lists is an
/// exception.
fn contradiction(body: &Element) -> Option<String> {
    let blocks: Vec<_> = body.all("OrgnlPmtInfAndSts").map(|it| (it, "PmtInfSts")).collect();
    let only = Some(&blocks).filter(|blocks| blocks.len() == 1).and_then(|it| it.first().copied());
    let groups = body.all("OrgnlGrpInfAndSts").map(|it| (it, "GrpSts"));
    groups.chain(blocks.iter().copied()).find_map(|(level, name)| {
        let own = level.text_at(&[name])?;
        let block = only.filter(|_| name == "GrpSts").and_then(|(block, name)| {
            let code = block.text_at(&[name])?;
            // What is only accepted may be rejected later on.
            let is_settled = iso::status(own) == RailStatus::Settled;
            let is_excluded = is_rejected(own) && is_paid(code) || is_settled && is_rejected(code);
            is_excluded.then_some((name, code))
        });
        let is_none = |it: &Element| {
            let number = it.text_at(&["DtldNbOfTxs"]);
            number.is_some_and(|number| number.bytes().all(|digit| digit == b'0'))
        };
        let counts = level.all("NbOfTxsPerSts").filter(|it| is_rejected(own) && !is_none(it));
        let mut codes = counts.filter_map(|it| it.text_at(&["DtldSts"]));
        let counted = || codes.find(|code| is_paid(code)).map(|code| ("DtldSts", code));
        let (place, code) = block.or_else(counted)?;
        Some(format!("{name} {} excludes {place} {}", iso::quoted(own), iso::quoted(code)))
    })
}

/// Whether a payment is accepted or paid.
fn is_paid(code: &str) -> bool {
    matches!(iso::status(code), RailStatus::Accepted | RailStatus::Settled)
}

/// What a status is about, by the name of the original message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Payment,
    /// A request to cancel it.
    Recall,
    /// A question about its status.
    Inquiry,
    /// A message that is not named, and has an id of a form that only inquiries and recalls have.
    Unnamed,
}

/// Names of the messages that are about a payment, without punctuation: banks write `OrgnlMsgNmId`
/// with and without it, in either case, and as the whole namespace.
const ABOUT_PAYMENTS: [(&str, Subject); 9] = [
    // The bank's own message to the next bank, with an id of its own.
    ("pacs008", Subject::Payment),
    ("pacs009", Subject::Payment),
    ("camt055", Subject::Recall),
    ("camt056", Subject::Recall),
    ("pmtcxlreq", Subject::Recall),
    ("paymentcancellationrequest", Subject::Recall),
    ("pacs028", Subject::Inquiry),
    ("pmtstsreq", Subject::Inquiry),
    ("paymentstatusrequest", Subject::Inquiry),
];

impl Subject {
    fn of(element: &Element) -> Subject {
        let name = element.text_at(&["OrgnlMsgNmId"]).unwrap_or_default();
        let name: String = name
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|sign| sign.to_ascii_lowercase())
            .collect();
        let known = ABOUT_PAYMENTS.iter().find(|(known, _)| name.contains(known));
        // An outgoing payment message has a shorter id; banks write pain.001 for any of them.
        let is_unnamed =
            || element.text_at(&["OrgnlMsgId"]).is_some_and(|id| rail_ids::whole(id).is_some());
        match known {
            Some((_, subject)) => *subject,
            None if is_unnamed() => Subject::Unnamed,
            None => Subject::Payment,
        }
    }

    /// Of a transaction: some banks repeat an id of the payment in place of the message's.
    fn of_transaction(self, ids: &ReportIds) -> Subject {
        let message = ids.message.as_deref().unwrap_or_default();
        let repeats = ids.strong().any(|id| rail_ids::is_same(id, message));
        if self == Subject::Unnamed && repeats { Subject::Payment } else { self }
    }

    /// What a code means for the payment, with the reasons of a rejection.
    fn status(self, code: &str, reasons: &[String]) -> RailStatus {
        let status = iso::status(code);
        match (self, status) {
            (Subject::Recall, RailStatus::Rejected) => RailStatus::Recall(RecallAnswer::Refused),
            (Subject::Recall, unknown @ RailStatus::Unrecognised(_)) => unknown,
            (Subject::Recall, _) => RailStatus::Recall(RecallAnswer::Pending),
            (Subject::Unnamed, RailStatus::Rejected | RailStatus::Cancelled) => {
                RailStatus::Unrecognised(format!("{code}{}", rail::CARRIED_NO_PAYMENT))
            }
            (_, RailStatus::Rejected) if reasons.iter().any(|it| it == NEVER_RECEIVED) => {
                RailStatus::Unknown
            }
            // The question is rejected, which says nothing about the payment, unless the reason is one
            // that only a payment can have: banks name the question in their answer to it.
            (Subject::Inquiry, RailStatus::Rejected)
                if !reasons.iter().any(|it| is_of_payment(it)) =>
            {
                RailStatus::Received
            }
            (_, status) => status,
        }
    }
}

/// The status of a message or block, which its transactions inherit.
#[derive(Clone)]
struct Status {
    code: Option<String>,
    reasons: Vec<String>,
    info: Option<String>,
    subject: Subject,
    stated: Totals,
}

impl Status {
    fn of(element: Option<&Element>, name: &str) -> Status {
        let code = element.and_then(|element| element.text_at(&[name])).map(str::to_owned);
        let (reasons, info) =
            iso::reasons(element.into_iter().flat_map(|element| element.all("StsRsnInf")));
        let text = |name: &str| element.and_then(|element| element.text_at(&[name]));
        let stated = Totals {
            count: text("OrgnlNbOfTxs").and_then(|count| count.parse().ok()),
            sum: text("OrgnlCtrlSum").and_then(iso::decimal),
        };
        let subject = element.map_or(Subject::Payment, Subject::of);
        Status { code, reasons, info, subject, stated }
    }

    /// The status of a block within its message.
    fn within_group(mut self, group: &Status) -> Status {
        let is_own = self.code.is_some();
        self.code = self.code.or_else(|| group.code.clone());
        if !is_own || self.code.as_deref().is_some_and(is_rejected) {
            inherit((&mut self.reasons, &mut self.info), group);
        }
        Status { subject: group.subject, ..self }
    }

    /// Compares the number of rejections that the bank counts (`NbOfTxsPerSts`) with those that it lists. With
    /// another number, a rejection is missing, or a listed one is not the bank's last word. A status of
    /// `RJCT` rejects the transactions that are not listed, too. Returns whether they fit.
    fn check_count(
        &self,
        element: &Element,
        of: &ReportIds,
        listed: usize,
        statement: &mut Statement,
    ) -> bool {
        if self.code.as_deref().is_some_and(is_rejected) {
            return true;
        }
        let mut counts = element
            .all("NbOfTxsPerSts")
            .filter(|it| it.text_at(&["DtldSts"]).is_some_and(is_rejected))
            .map(|it| it.text_at(&["DtldNbOfTxs"]).unwrap_or(""))
            .peekable();
        if counts.peek().is_none() {
            return true;
        }
        let (mut counted, mut stated) = (Some(0_usize), Vec::new());
        for count in counts {
            counted = counted.and_then(|sum| sum.checked_add(count.parse().ok()?));
            stated.push(iso::quoted(count));
        }
        let fits = counted == Some(listed);
        if !fits {
            let stated = stated.join(" and ");
            let reason =
                format!("{stated} rejections are counted, {listed} are listed for {}", of.told());
            statement.take("NbOfTxsPerSts", 1, Err(reason));
        }
        fits
    }

    /// Reports the status for all transactions that are not listed. A status that ends payments is
    /// left to a person where the report leaves open which ones it ends.
    fn rest(
        self,
        of: ReportIds,
        listed: &Listed,
        fits: bool,
        name: &str,
        statement: &mut Statement,
    ) {
        let Some(code) = self.code else {
            let is_quiet = self.reasons.iter().all(|code| WENT_WELL.contains(&code.as_str()));
            let is_noted = !self.reasons.is_empty() && is_quiet;
            let reasons = iso::unanswered(&self.reasons, self.info.as_deref());
            if let Some(reasons) = reasons.filter(|_| listed.all.is_empty() && !is_noted) {
                let reason = format!("{reasons} of {} without a status", of.told());
                statement.take("group", 1, Err(reason));
            }
            return;
        };
        if QUIET.contains(&code.as_str()) {
            return;
        }
        if code == PARTLY && !listed.all.is_empty() {
            tracing::info!(
                source = statement.source,
                listed = listed.all.len(),
                "a message is accepted in part"
            );
            return;
        }
        let status = self.subject.status(&code, &self.reasons);
        if self.subject == Subject::Inquiry && status == RailStatus::Received {
            // It names none of our payments, and decides nothing about them.
            return statement.leave("the refusal of an inquiry");
        }
        // One of a message that is not named may be about a recall, which its id tells.
        if matches!(status, RailStatus::Unrecognised(_)) && self.subject != Subject::Unnamed {
            let reason = format!(
                "{name} {} of {}, which lists no transaction",
                iso::quoted(&code),
                of.told()
            );
            statement.take("group", 1, Err(reason));
            return;
        }
        // A bank that has one of them may have them all.
        let mut reasons = self.reasons;
        reasons.extend(listed.duplicate.clone().filter(|_| status == RailStatus::Rejected));
        // Reported already: the counts do not fit.
        if ends(&status) && !fits {
            return;
        }
        let listed = listed.beside(&status);
        let stated = if ends(&status) { self.stated } else { Totals::default() };
        let said = ReportContent {
            status,
            reasons,
            info: self.info,
            bank_reference: None,
            return_id: None,
            account: None,
            amount: None,
            other_amounts: Vec::new(),
            charges: None,
            source: statement.source.clone(),
        };
        statement.take(
            "group",
            1,
            Ok(BankReport { about: About::Rest { of, listed, stated }, said }),
        );
    }
}

/// Whether a reason is about an account, a bank, an amount, a party or a country's rule.
fn is_of_payment(code: &str) -> bool {
    const FAMILIES: [&str; 6] = ["AC", "AG", "AM", "BE", "RC", "RR"];
    let is_family = FAMILIES.iter().any(|family| code.starts_with(family));
    code.len() == 4 && is_family && !rail::is_duplicate(code, None)
}

/// Adds the reasons and the text of the level above.
fn inherit((reasons, info): (&mut Vec<String>, &mut Option<String>), above: &Status) {
    let new = above.reasons.iter().filter(|code| !reasons.contains(code)).cloned();
    let new: Vec<String> = new.collect();
    reasons.extend(new);
    *info = match (info.take(), &above.info) {
        (Some(own), Some(above)) if own != *above => iso::free_text(&format!("{own} {above}")),
        (own, above) => own.or_else(|| above.clone()),
    };
}

/// Whether a status decides about the money.
const fn ends(status: &RailStatus) -> bool {
    matches!(
        status,
        RailStatus::Settled | RailStatus::Rejected | RailStatus::Cancelled | RailStatus::Returned
    )
}

fn is_rejected(code: &str) -> bool {
    iso::status(code) == RailStatus::Rejected
}

/// The transactions that a report lists.
#[derive(Default)]
struct Listed {
    /// Their ids, amounts and statuses; `None` for a status that cannot be read.
    all: Vec<(ReportIds, Option<Money>, Option<RailStatus>)>,
    rejected: usize,
    /// The code of one that is rejected as a duplicate.
    duplicate: Option<String>,
}

impl Listed {
    fn add(&mut self, other: Listed) {
        self.all.extend(other.all);
        self.rejected += other.rejected;
        self.duplicate = self.duplicate.take().or(other.duplicate);
    }

    /// The transactions beside a rest of this status.
    fn beside(&self, rest: &RailStatus) -> Vec<rail_ids::Listed> {
        let listed = |(ids, amount, status): &(ReportIds, Option<Money>, Option<RailStatus>)| {
            let may_be_rest = status.as_ref() == Some(rest) || !ends(rest);
            rail_ids::Listed { ids: ids.clone(), amount: *amount, may_be_rest }
        };
        self.all.iter().map(listed).collect()
    }
}

/// Parses the transactions below an element.
fn transactions(
    parent: &Element,
    whole: &ReportIds,
    inherited: &Status,
    statement: &mut Statement,
) -> Listed {
    let all: Vec<&Element> = parent.all("TxInfAndSts").collect();
    let mut listed = Listed::default();
    for (index, transaction) in all.iter().enumerate() {
        let ids = ids(transaction, whole, Some((index + 1, all.len())));
        let code = transaction.text_at(&["TxSts"]).or(inherited.code.as_deref());
        listed.rejected += usize::from(code.is_some_and(is_rejected));
        let outcome = report(transaction, ids.clone(), inherited, &statement.source);
        let said = outcome.as_ref().ok().map(|report| &report.said);
        if listed.duplicate.is_none() {
            listed.duplicate = said.and_then(duplicate);
        }
        let status = said.map(|said| said.status.clone());
        listed.all.push((ids, said.and_then(|said| said.amount), status));
        statement.take("TxInfAndSts", index + 1, outcome);
    }
    listed
}

/// The code of a rejection as a duplicate.
fn duplicate(said: &ReportContent) -> Option<String> {
    let codes = said.reasons.iter();
    let is_one = said.status == RailStatus::Rejected
        && rail::proves_possession(codes.clone(), said.info.as_deref(), None);
    let code = codes.clone().find(|code| rail::is_duplicate(code, None)).cloned();
    is_one.then(|| code.unwrap_or_else(|| DUPLICATE.to_owned()))
}

fn ids(transaction: &Element, whole: &ReportIds, place: Option<(usize, usize)>) -> ReportIds {
    let named = |name: &str| iso::id(transaction, &[name]);
    let original = || iso::id(transaction, &["OrgnlGrpInf", "OrgnlMsgId"]);
    ReportIds {
        uetr: named("OrgnlUETR"),
        instruction: named("OrgnlInstrId").or_else(|| named("OrgnlTxId")),
        end_to_end: named("OrgnlEndToEndId"),
        message: original().or_else(|| whole.message.clone()),
        block: whole.block.clone().or_else(|| named("OrgnlPmtInfId")),
        reference: named("AcctSvcrRef"),
        place,
        may_be_anothers: false,
    }
}

fn report(
    transaction: &Element,
    ids: ReportIds,
    inherited: &Status,
    source: &str,
) -> Result<BankReport, String> {
    iso::once(
        transaction,
        &["TxSts", "OrgnlInstrId", "OrgnlEndToEndId", "OrgnlTxId", "OrgnlUETR"],
    )?;
    let (mut reasons, mut info) = iso::reasons(transaction.all("StsRsnInf"));
    let own = transaction.text_at(&["TxSts"]);
    // A transaction without its own status inherits that of its block or message.
    let code = own.or(inherited.code.as_deref()).ok_or("it has no TxSts")?;
    // Any of a rejection's reasons may prove that the bank has the instruction, at whatever level.
    if own.is_none() || is_rejected(code) {
        inherit((&mut reasons, &mut info), inherited);
    }
    let subject = transaction.child("OrgnlGrpInf").map_or(Subject::Payment, Subject::of);
    let subject = if subject == Subject::Payment { inherited.subject } else { subject };
    let subject = subject.of_transaction(&ids);
    let said = ReportContent {
        status: subject.status(code, &reasons),
        reasons,
        info,
        bank_reference: ids.reference.clone(),
        return_id: None,
        account: None,
        amount: amount(transaction)?,
        other_amounts: Vec::new(),
        charges: None,
        source: source.to_owned(),
    };
    Ok(BankReport { about: About::One(ids), said })
}

/// The amount of the original transaction; between banks it may be the settled one alone.
fn amount(transaction: &Element) -> Result<Option<Money>, String> {
    let original = transaction.child("OrgnlTxRef");
    let place = |path: &[&str]| original.and_then(|it| it.at(path));
    iso::amount(place(&["Amt", "InstdAmt"]).or_else(|| place(&["IntrBkSttlmAmt"])))
}
