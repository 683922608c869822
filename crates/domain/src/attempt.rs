//! One attempt to pay a payment out over one rail, and how the rail's reports change it.
//!
//! `sending → accepted → settled | failed | returned | cancelled`, `sending → refused`,
//! `sending → indeterminate → …`. A payment has at most one attempt that is not `refused`: only a
//! definite refusal permits an attempt over another rail.

use crate::characters::one_line;
use crate::decision::Cx;
use crate::ids::{AttemptId, PaymentId, TenantId};
use crate::ledger::{AccountCode, Transfer, TransferKind};
use crate::money::Money;
use crate::payment::Trigger;
use crate::policy::RailConfig;
use crate::rail::{self, Finding, RailId, RailReport, RailStatus};
use crate::sender_limit::Sender;
use crate::time::Timestamp;

/// Reason code of an attempt whose message certainly never left this machine.
pub const NOT_SENT: &str = "NOT_SENT";
/// Reason code of an attempt that its rail reported and these books have not begun: it was sent
/// before the database was restored.
pub const NOT_RECORDED: &str = "NOT_RECORDED";

/// Beginning of the explanation of an attempt that stands for the payout of a debit that the chain has.
pub const DEBITED_BEFORE: &str =
    "the chain has the debit of the order, which these books have not sent";

/// Rail of such an attempt if the country has none: the one that paid is not configured any more.
pub const NO_RAIL: &str = "unconfigured";

names! {
    /// State of an attempt.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum AttemptState: "Stored name." {
        /// Saved; about to be sent, or sent and not answered yet.
        Sending = "sending",
        /// Outcome unknown: the message may or may not have arrived.
        Indeterminate = "indeterminate",
        /// The rail accepted it.
        Accepted = "accepted",
        /// The rail refused it before acceptance: certainly not paid.
        Refused = "refused",
        /// The rail reported it as paid; a return may still follow.
        Settled = "settled",
        /// Accepted, then definitely not paid.
        Failed = "failed",
        /// Paid, then returned by the beneficiary's bank.
        Returned = "returned",
        /// Cancelled and refunded at the rail.
        Cancelled = "cancelled",
    }
}

/// One attempt to pay out a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Id, sent as InstrId and UETR. A payment's first attempt has the payment's UUID.
    pub id: AttemptId,
    /// Tenant of the payment.
    pub tenant: TenantId,
    /// Payment to pay out.
    pub payment: PaymentId,
    /// Sequence number within the payment, from 1.
    pub number: i32,
    /// Rail that the attempt uses.
    pub rail: RailId,
    /// State that follows from the rail's reports so far.
    pub state: AttemptState,
    /// Amount to pay out.
    pub amount: Money,
    /// Fees of the rail's bank beyond the rail's price, booked as rail cost: minor units of
    /// `amount`'s currency.
    pub charges: i64,
    /// Sender whose limits the attempt counts against; `None` where the rail has none.
    pub sender: Option<Sender>,
    /// Time at which it was saved, before anything was sent.
    pub created_at: Timestamp,
    /// Time of the last state change.
    pub state_at: Timestamp,
    /// The rail's reason code.
    pub reason: Option<String>,
    /// The rail's free-text explanation.
    pub info: Option<String>,
    /// The bank's booking reference; `None` until the bank reports one.
    pub bank_reference: Option<String>,
    /// Message that caused the current state.
    pub source: Option<String>,
    /// The bank's first booking of the payout in each kind of message: lines of a kind and a booking
    /// reference; one of what it deducted from the return; and one of a [`ReportedPayout`].
    pub booking: Option<String>,
    /// Whether its message was sent more than once and the bank has not named one of them a
    /// duplicate: a refusal proves nothing about the others.
    pub sent_again: bool,
}

/// Amount of a payout that a rail reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedAmount {
    /// The amount, as reported.
    pub amount: Money,
    /// Whether charges that the report names may be part of it.
    pub may_have_charges: bool,
}

/// A payout that a bank reported although these books have not sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedPayout {
    /// Rail that reported it.
    pub rail: RailId,
    /// Sender whose limits it counts against; `None` where the rail has none.
    pub sender: Option<Sender>,
    /// Its amount, if the report names one.
    pub paid: Option<ReportedAmount>,
    /// The report, for users.
    pub why: String,
}

/// Precedes the evidence in the source of an outcome that users recorded.
const RECORDED: &str = "operator: ";
const FOUND_BY: &str = " (found by ";
const CHECKED_BY: &str = ", checked by ";

/// An outcome that users recorded in the rail's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded<'a> {
    /// Their evidence, without the names in [`people`](Self::people).
    pub why: &'a str,
    /// Who established it and who approved it, where the evidence names them.
    pub people: Option<(&'a str, &'a str)>,
}

/// First words of the sources of a connector's reports (`callback MSG-1`, `connector answer`).
const CONNECTOR: [&str; 2] = ["callback", "connector"];
/// End of the kinds of bookings of a return.
const OF_RETURN: &str = "-return";
/// Kind of the line that holds what the bank deducted from a return, beside the bookings.
const RETURN_CHARGES: &str = "return-charges";
/// Kind of the line that holds a payout that was reported beside this attempt: rail, sender, minor
/// units, whether charges may be among them, the report.
const REPORTED: &str = "reported";
/// What this line has in place of an unknown sender or amount.
const NONE: &str = "-";
const CHARGED: &str = "charged";
const REPORT_MAX_CHARS: usize = 500;

/// The known booking in messages of the kind that reports this one.
fn of_its_kind<'a>(known: &'a str, booking: &str) -> Option<&'a str> {
    let kind = booking.split(' ').next();
    known.lines().find(|known| known.split(' ').next() == kind)
}

/// The evidence for an outcome, with the two users who established and approved it.
pub fn evidence_of(why: &str, maker: &str, checker: &str) -> String {
    format!("{why}{FOUND_BY}{maker}{CHECKED_BY}{checker})")
}

/// An attempt with an unknown outcome, as a reviewer sees it. One attempt may become unresolved
/// more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnresolvedAttempt {
    /// Newest attempt of the payment or exchange order.
    pub attempt: AttemptId,
    /// Start of the unresolved period.
    pub since: Timestamp,
}

/// Effect of a rail's status on an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The attempt changes state, and its payment receives the trigger.
    Moves(AttemptState, Trigger),
    /// The status repeats what is known.
    Known,
    /// The status contradicts what is known: nothing changes, and a reviewer decides.
    Contradicts,
}

impl AttemptState {
    /// The matrix attempt state × rail status.
    pub fn on(self, status: &RailStatus) -> Outcome {
        use AttemptState::{
            Accepted, Cancelled, Failed, Indeterminate, Refused, Returned, Sending, Settled,
        };
        use Outcome::{Contradicts, Known, Moves};
        match (self, status) {
            // An answer to a recall that is not open; others never reach the attempt.
            (_, RailStatus::Unrecognised(_) | RailStatus::Recall(_)) => Contradicts,
            (_, RailStatus::Received) => Known,

            (Sending | Indeterminate, RailStatus::Accepted) => Moves(Accepted, Trigger::Accepted),
            (Accepted | Settled | Returned | Cancelled, RailStatus::Accepted) => Known,
            (Refused | Failed, RailStatus::Accepted) => Contradicts,

            (Sending | Indeterminate | Accepted, RailStatus::Settled) => {
                Moves(Settled, Trigger::Settled)
            }
            (Settled | Returned, RailStatus::Settled) => Known,
            (Refused | Failed | Cancelled, RailStatus::Settled) => Contradicts,

            (Sending | Indeterminate, RailStatus::Rejected) => Moves(Refused, Trigger::Refused),
            (Accepted, RailStatus::Rejected) => Moves(Failed, Trigger::Failed),
            (Refused | Failed, RailStatus::Rejected) => Known,
            (Settled | Returned | Cancelled, RailStatus::Rejected) => Contradicts,

            (Sending | Indeterminate | Accepted, RailStatus::Cancelled) => {
                Moves(Cancelled, Trigger::Cancelled)
            }
            (Cancelled, RailStatus::Cancelled) => Known,
            (Refused | Settled | Failed | Returned, RailStatus::Cancelled) => Contradicts,

            (Sending | Indeterminate | Accepted | Settled, RailStatus::Returned) => {
                Moves(Returned, Trigger::Returned)
            }
            (Returned, RailStatus::Returned) => Known,
            (Refused | Failed | Cancelled, RailStatus::Returned) => Contradicts,

            (Sending | Indeterminate | Accepted, RailStatus::Unknown) => {
                Moves(Indeterminate, Trigger::RailUnknown)
            }
            (Refused | Settled | Failed | Returned | Cancelled, RailStatus::Unknown) => Contradicts,
        }
    }

    /// Effect of a refusal as a duplicate: the bank has the instruction, but its outcome is
    /// unknown.
    pub const fn on_duplicate(self) -> Outcome {
        use AttemptState::{
            Accepted, Cancelled, Failed, Indeterminate, Refused, Returned, Sending, Settled,
        };
        match self {
            Sending | Indeterminate | Accepted => {
                Outcome::Moves(Indeterminate, Trigger::RailUnknown)
            }
            Settled | Returned | Cancelled => Outcome::Known,
            Refused | Failed => Outcome::Contradicts,
        }
    }

    /// Whether the attempt certainly paid nothing and never will, so that another may follow.
    pub const fn is_refused(self) -> bool {
        matches!(self, AttemptState::Refused)
    }
}

/// Effect of the answer that a message was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The attempt is refused.
    Refused,
    /// Another outcome is known.
    Known,
    /// The bank has reported the attempt: the answer proves nothing.
    Contradicts(String),
}

/// Effect of a report on an attempt, before anything changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The attempt changes state, and its payment receives the trigger, with the bank's fee if it
    /// took one.
    Moves(AttemptState, Trigger, Option<Money>),
    /// The status repeats what is known. Carries the bank's fee if it is new.
    Known(Option<Money>),
    /// The report cannot be correct: nothing changes, and a reviewer decides.
    Contradicts(String),
}

impl Attempt {
    /// Begins an attempt to pay out `amount` over a rail, counted towards the sender's limits if
    /// any. It is saved as `sending` before a byte leaves.
    ///
    /// # Errors
    /// The attempt that may have paid and therefore prevents another.
    pub fn begin(
        tenant: TenantId,
        payment: PaymentId,
        amount: Money,
        last: Option<&Attempt>,
        (rail, sender): (&RailId, Option<Sender>),
        cx: &mut Cx<'_>,
    ) -> Result<Attempt, AttemptId> {
        if let Some(last) = last.filter(|attempt| !attempt.state.is_refused()) {
            return Err(last.id);
        }
        Ok(Attempt {
            id: last.map_or(AttemptId(payment.0), |_| AttemptId(cx.ids.next())),
            tenant,
            payment,
            number: last.map_or(1, |attempt| attempt.number + 1),
            rail: rail.clone(),
            state: AttemptState::Sending,
            amount,
            charges: 0,
            sender,
            created_at: cx.now,
            state_at: cx.now,
            reason: None,
            info: None,
            bank_reference: None,
            source: None,
            booking: None,
            sent_again: false,
        })
    }

    /// Evaluates a report. An amount that differs from the attempt's, and that no charges explain,
    /// is a contradiction. A refusal decides nothing while another copy of the message may be paid.
    pub fn hear(&self, report: &RailReport, rail: Option<&RailConfig>) -> Heard {
        if self.is_unrecorded() && !report.source.starts_with(RECORDED) {
            let RailReport { source, status, .. } = report;
            return Heard::Contradicts(format!(
                "{source} reports {status} for a payout that these books have not sent: record its outcome"
            ));
        }
        let charge = match self.charge(report) {
            Ok(charge) => charge,
            Err(what) => return Heard::Contradicts(what),
        };
        if let Some(again) = self.booked_again(report) {
            return Heard::Contradicts(again);
        }
        if self.was_not_sent() && report.status == RailStatus::Received {
            let source = &report.source;
            return Heard::Contradicts(format!("{source} reports that it has what was not sent"));
        }
        let is_refusal = report.status == RailStatus::Rejected;
        let repeats = is_refusal && report.proves_possession(rail);
        // Once no copy can be paid, another refusal says nothing new.
        let is_of_one_copy = is_refusal
            && self.sent_again
            && !matches!(self.state, AttemptState::Refused | AttemptState::Failed)
            && !report.source.starts_with(RECORDED);
        let outcome = match repeats || is_of_one_copy {
            true => self.state.on_duplicate(),
            false => self.state.on(&report.status),
        };
        match outcome {
            Outcome::Moves(state, trigger) => Heard::Moves(state, trigger, charge),
            Outcome::Known => {
                // The status arrived first; the booking with the charges follows. Where charges are
                // booked, these may be the same ones: statements tell what is missing then.
                let is_final = matches!(self.state, AttemptState::Settled | AttemptState::Returned);
                Heard::Known(charge.filter(|_| is_final && self.charges == 0))
            }
            Outcome::Contradicts => {
                let code = report.reason.as_ref().filter(|_| repeats);
                let code = code
                    .map_or_else(String::new, |code| format!(" ({code}: the bank already has it)"));
                let (source, status, state) = (&report.source, &report.status, self.state.name());
                Heard::Contradicts(format!(
                    "{source} reports {status}{code} for an attempt in state {state}"
                ))
            }
        }
    }

    /// A booking of a payout, or of its return: in a notification or report of an account (`camt.054`,
    /// `camt.052`), in a connector's report, whichever way it came, or a return with an id of its own
    /// (`pacs.004`). A connector may name the payout by its reference where it reports the return.
    fn booking_of(&self, report: &RailReport) -> Option<String> {
        let first = report.source.split(' ').next()?;
        let is_connectors = CONNECTOR.contains(&first);
        let message = if is_connectors { "connector" } else { first };
        let kind = match report.status {
            RailStatus::Settled => message.to_owned(),
            RailStatus::Returned => format!("{message}{OF_RETURN}"),
            _ => return None,
        };
        let has_bookings = is_connectors || message.starts_with("camt.05");
        let booked = report.bank_reference.as_ref().filter(|_| has_bookings);
        let reference = report.return_id.as_ref().or(booked)?;
        let names_payout = is_connectors
            && report.status == RailStatus::Returned
            && self.bank_reference.as_ref().is_some_and(|own| own.trim() == reference.trim());
        let reference = Some(reference).filter(|_| !names_payout)?.split_whitespace();
        Some([kind.as_str()].into_iter().chain(reference).collect::<Vec<_>>().join(" "))
    }

    /// What to say about a report that books the payout a second time: messages of one kind name one
    /// booking by one reference.
    fn booked_again(&self, report: &RailReport) -> Option<String> {
        let again = self.booking_of(report)?;
        let first = of_its_kind(self.booking.as_ref()?, &again).filter(|first| *first != again)?;
        let source = &report.source;
        let reference = report.return_id.as_ref().or(report.bank_reference.as_ref());
        let reference = reference.map_or("", String::as_str);
        let (does, was) = match report.status {
            RailStatus::Returned => ("returns", "returned"),
            _ => ("books", "booked"),
        };
        Some(format!("{source} {does} the payout as {reference}, and it was {was} before: {first}"))
    }

    /// A report that changes no state: the bank has the instruction all the same.
    pub fn note_heard(&mut self, report: &RailReport) {
        if self.state == AttemptState::Sending {
            self.source.get_or_insert_with(|| report.source.clone());
        }
    }

    /// Remembers the bank's first booking of the payout in this kind of message.
    pub fn note_booking(&mut self, report: &RailReport) {
        if let Some(booking) = self.booking_of(report) {
            self.note_line(booking);
        }
    }

    fn note_line(&mut self, line: String) {
        match &mut self.booking {
            Some(known) if of_its_kind(known, &line).is_some() => {}
            Some(known) => *known = format!("{known}\n{line}"),
            None => self.booking = Some(line),
        }
    }

    /// A bank reports a payout that these books have not sent, while this attempt may still be paid or
    /// refused: once it is refused, that one is not sent again. The latest report stays, with the
    /// amount of an earlier one over the same rail if it has none.
    pub fn note_reported(&mut self, payout: &ReportedPayout) {
        let ReportedPayout { rail, sender, paid, why } = payout;
        let sender = sender.map_or_else(|| NONE.to_owned(), |sender| sender.0.to_string());
        let known = || self.reported().filter(|known| known.rail == *rail)?.paid;
        let paid = paid.filter(|paid| paid.amount.currency == self.amount.currency).or_else(known);
        let minor = paid.map_or_else(|| NONE.to_owned(), |paid| paid.amount.minor.to_string());
        let charged = if paid.is_some_and(|paid| paid.may_have_charges) { CHARGED } else { NONE };
        let why = one_line(why, REPORT_MAX_CHARS);
        let line = format!("{REPORTED} {rail} {sender} {minor} {charged} {why}");
        let known = self.booking.take().unwrap_or_default();
        let others = known.lines().filter(|line| of_its_kind(line, REPORTED).is_none());
        self.booking = Some(others.chain([line.as_str()]).collect::<Vec<_>>().join("\n"));
    }

    /// The payout that was reported beside this attempt, if any.
    pub fn reported(&self) -> Option<ReportedPayout> {
        let line = of_its_kind(self.booking.as_ref()?, REPORTED)?;
        let mut words = line.splitn(6, ' ').skip(1);
        let (rail, sender, minor) = (words.next()?, words.next()?, words.next()?);
        let may_have_charges = words.next()? == CHARGED;
        let amount = minor.parse().ok().map(|minor| Money::new(minor, self.amount.currency));
        Some(ReportedPayout {
            rail: RailId::new(rail),
            sender: sender.parse().ok().map(Sender),
            paid: amount.map(|amount| ReportedAmount { amount, may_have_charges }),
            why: words.next()?.to_owned(),
        })
    }

    /// Whether its rail may still refuse it, which would permit another attempt: also one that the
    /// rail has accepted, by way of an unclear outcome.
    pub fn may_be_refused(&self) -> bool {
        use AttemptState::{Accepted, Indeterminate, Sending};
        matches!(self.state, Sending | Accepted | Indeterminate) && !self.is_unrecorded()
    }

    /// The bank's references of the return, as it was booked, that differ from the payout's own and
    /// from each other.
    pub fn return_references(&self) -> Vec<&str> {
        let lines = self.booking.iter().flat_map(|known| known.lines());
        let booked = lines.filter_map(|line| line.split_once(' '));
        let returned = booked.filter(|(kind, _)| kind.ends_with(OF_RETURN));
        let mut found: Vec<&str> = Vec::new();
        for (_, reference) in returned {
            let own = self.bank_reference.as_deref().map(str::trim);
            let mut known = found.iter().copied().chain(own);
            if !known.any(|known| known.eq_ignore_ascii_case(reference)) {
                found.push(reference);
            }
        }
        found
    }

    /// What the bank deducted from the return, in minor units, if it is noted.
    fn return_charges(&self) -> Option<i64> {
        let line = of_its_kind(self.booking.as_ref()?, RETURN_CHARGES)?;
        line.split(' ').nth(1)?.parse().ok()
    }

    /// Compares another report of a return with what is booked of it: `None` if that is not noted.
    fn compare_return(&self, amount: Money) -> Option<Result<(), String>> {
        let is_return = |charges: i64| self.amount.minor.checked_sub(charges) == Some(amount.minor);
        match self.return_charges() {
            Some(charges) if is_return(charges) => Some(Ok(())),
            Some(charges) => {
                let charges = Money::new(charges, self.amount.currency);
                Some(Err(format!("; charges of {charges} are booked for its return")))
            }
            // Charges may be those of the payout, or of both.
            None => (self.charges > 0 && is_return(self.charges)).then_some(Ok(())),
        }
    }

    /// Fee that the bank added to a payout or deducted from a return: the difference between the
    /// reported amount and the attempt's, if it equals the reported charges. A bank's is half of the
    /// attempt's amount at most; one that two users established is less than all of it.
    fn charge(&self, report: &RailReport) -> Result<Option<Money>, String> {
        let Some(amount) = report.amount else { return Ok(None) };
        let wrong = |why: &str| {
            Err(format!(
                "{} reports {amount}, the attempt's amount is {}{why}",
                report.source, self.amount
            ))
        };
        let is_return = report.status == RailStatus::Returned;
        if is_return
            && self.state == AttemptState::Returned
            && amount.currency == self.amount.currency
        {
            match self.compare_return(amount) {
                Some(Ok(())) => return Ok(None),
                Some(Err(why)) => return wrong(&why),
                None => {}
            }
        }
        if amount == self.amount {
            return Ok(None);
        }
        if amount.currency != self.amount.currency {
            return wrong("");
        }
        let difference = match report.status {
            RailStatus::Settled => amount.minor.checked_sub(self.amount.minor),
            RailStatus::Returned => self.amount.minor.checked_sub(amount.minor),
            _ => None,
        };
        match (difference.filter(|minor| *minor > 0), report.charges) {
            (Some(minor), Some(charges)) if charges == Money::new(minor, amount.currency) => {
                let is_established = report.source.starts_with(RECORDED);
                let most =
                    if is_established { self.amount.minor - 1 } else { self.amount.minor / 2 };
                if minor <= most {
                    Ok(Some(charges))
                } else {
                    wrong(&format!("; charges of {charges} are too many for it"))
                }
            }
            (_, Some(charges)) => {
                wrong(&format!("; its charges of {charges} do not explain the difference"))
            }
            (_, None) => wrong(""),
        }
    }

    /// The report that states what two users established about this attempt. Charges that leave
    /// nothing of the amount are ignored.
    pub fn report_of(&self, finding: &Finding, evidence: &str) -> RailReport {
        let charges = Money::new(finding.charges, self.amount.currency);
        let came_back = self
            .amount
            .minor
            .checked_sub(charges.minor)
            .filter(|minor| *minor > 0 && charges.minor > 0);
        RailReport {
            attempt: self.id,
            status: finding.status.clone(),
            reason: None,
            further_reasons: Vec::new(),
            // The evidence belongs in the attempt's record, not in the client's `msg`.
            info: None,
            bank_reference: finding.reference.clone(),
            return_id: None,
            amount: came_back.map(|minor| Money::new(minor, charges.currency)),
            charges: came_back.map(|_| charges),
            source: format!("{RECORDED}{evidence}"),
        }
    }

    /// What two users recorded in the rail's place, if the current state follows from it.
    pub fn recorded(&self) -> Option<Recorded<'_>> {
        let evidence = self.source.as_deref()?.strip_prefix(RECORDED)?;
        let people = evidence.rsplit_once(FOUND_BY).and_then(|(why, people)| {
            let (maker, checker) = people.strip_suffix(')')?.split_once(CHECKED_BY)?;
            Some(Recorded { why, people: Some((maker, checker)) })
        });
        Some(people.unwrap_or(Recorded { why: evidence, people: None }))
    }

    /// Whether the identical message is sent again once its rail answered an inquiry with "not
    /// found". That does not prove that nothing was sent: it is, to the same rail, only if that rail
    /// is enabled and declares duplicate detection, and not if the bank has reported anything and the
    /// message was repeated, or that it already has the instruction, or if another payout was reported.
    pub fn is_to_be_sent_again(&self, rail: Option<&RailConfig>) -> bool {
        matches!(self.state, AttemptState::Sending | AttemptState::Indeterminate)
            && !self.is_unrecorded()
            && self.reported().is_none()
            && rail.is_some_and(|rail| rail.enabled && rail.duplicate_detection)
            && !(self.sent_again && self.source.is_some())
            && !self.is_at_the_bank(rail)
    }

    /// Whether the bank last reported that it already has the instruction, so that sending it again
    /// is useless.
    fn is_at_the_bank(&self, rail: Option<&RailConfig>) -> bool {
        // Without a source, the text is why a submission was unclear.
        let info = self.info.as_deref().filter(|_| self.source.is_some());
        self.state == AttemptState::Indeterminate
            && rail::proves_possession(self.reason.iter(), info, rail)
    }

    /// The newest report replaces the details of earlier ones, so that no payment ends with the
    /// explanation of a timeout that it survived. Only a known reference stays.
    pub fn note(
        &mut self,
        state: AttemptState,
        report: &RailReport,
        rail: Option<&RailConfig>,
        now: Timestamp,
    ) {
        // A bank that recognises a repetition pays once: what it says later is about that one.
        let recognised =
            report.status == RailStatus::Rejected && report.names_repeated_message(rail);
        self.sent_again &= !recognised;
        self.note_booking(report);
        self.state = state;
        self.state_at = now;
        self.source = Some(report.source.clone());
        // The deciding code stands for all; where the text decides, one that leaves it to the text.
        let codes = report.reason.iter().chain(&report.further_reasons);
        let is_by_text = report.status == RailStatus::Rejected && report.proves_possession(rail);
        let decides = codes
            .clone()
            .find(|code| rail::is_duplicate(code, None))
            .or_else(|| codes.clone().find(|code| is_by_text && rail::is_narrative(code)));
        self.reason = decides.or(report.reason.as_ref()).cloned();
        self.info.clone_from(&report.info);
        // That of a return names the return, not the payout.
        let (known, reported) = (self.bank_reference.take(), report.bank_reference.clone());
        self.bank_reference = match report.status {
            RailStatus::Returned => known.or(reported),
            _ => reported.or(known),
        };
    }

    /// Books the bank's fee, which has left our account there, as a report of its payout or of the return
    /// states it.
    pub fn book_charges(
        &mut self,
        charge: Money,
        report: &RailReport,
        cx: &mut Cx<'_>,
    ) -> Transfer {
        if report.status == RailStatus::Returned {
            self.note_line(format!("{RETURN_CHARGES} {}", charge.minor));
        }
        self.charges = self.charges.saturating_add(charge.minor);
        let id = cx.transfer_id();
        Transfer {
            id,
            tenant: self.tenant,
            debit: AccountCode::Nostro(self.rail.clone(), charge.currency),
            credit: AccountCode::RailCharges(charge.currency),
            amount: charge,
            kind: TransferKind::Posted,
            pending: None,
            set: id,
            reason: "rail.charges",
            subject: Some(self.payment.0),
            at: cx.now,
        }
    }

    /// The submission's answer is unclear, so an inquiry follows. `false` means that the outcome is
    /// already known.
    pub fn unclear(&mut self, why: &str, now: Timestamp) -> bool {
        let sending = self.state == AttemptState::Sending;
        if sending {
            self.state = AttemptState::Indeterminate;
            self.state_at = now;
            self.info = Some(why.to_owned());
        }
        sending
    }

    /// A rail reported it although it was not sent from here: the outcome is unknown, and only users
    /// establish it.
    pub fn not_recorded(&mut self, why: &str, now: Timestamp) {
        self.state = AttemptState::Indeterminate;
        self.state_at = now;
        self.info = Some(why.to_owned());
        self.reason = Some(NOT_RECORDED.to_owned());
    }

    /// Whether its rail reported it although these books had not sent it, and its outcome is not
    /// established.
    pub fn is_unrecorded(&self) -> bool {
        self.state == AttemptState::Indeterminate && self.reason.as_deref() == Some(NOT_RECORDED)
    }

    /// Whether it stands for a payout that no bank has reported with its amount: its rail and amount are
    /// those that come first.
    pub fn is_assumed(&self) -> bool {
        let is_of_debit = |info: &str| info.starts_with(DEBITED_BEFORE);
        self.is_unrecorded() && self.info.as_deref().is_some_and(is_of_debit)
    }

    /// Whether a bank's report gives the amount of its payout, which is only assumed.
    pub(crate) fn gives_amount(&self, report: &RailReport) -> bool {
        // One that only has the instruction may refuse it.
        let pays = matches!(report.status, RailStatus::Accepted | RailStatus::Settled);
        let is_banks = pays && !report.source.starts_with(RECORDED);
        is_banks && self.is_assumed() && report.amount.is_some()
    }

    /// The message certainly never left, so the attempt is refused, unless another outcome is known.
    pub fn not_sent(&mut self, why: &str, now: Timestamp) -> NotSent {
        use AttemptState::{Cancelled, Failed, Refused};
        let is_settled_otherwise = matches!(self.state, Refused | Failed | Cancelled);
        // Of a repetition it says nothing about the first message.
        if let Some(source) =
            self.source.as_ref().filter(|_| !is_settled_otherwise && !self.sent_again)
        {
            return NotSent::Contradicts(format!(
                "{source} reports it, and the answer to its submission says that it was not sent: {why}"
            ));
        }
        if self.state != AttemptState::Sending {
            return NotSent::Known;
        }
        self.state = AttemptState::Refused;
        self.state_at = now;
        self.reason = Some(NOT_SENT.to_owned());
        self.info = Some(why.to_owned());
        NotSent::Refused
    }

    /// An inquiry brought no news: from now on the message may have been sent. Returns the start of
    /// the unknown outcome: the first unanswered inquiry if the rail had accepted, else the
    /// attempt's creation.
    pub fn asked_in_vain(
        &mut self,
        unclear_since: &mut Option<Timestamp>,
        now: Timestamp,
    ) -> Timestamp {
        let silent_since = if self.state == AttemptState::Accepted { now } else { self.created_at };
        if self.state == AttemptState::Sending {
            self.state = AttemptState::Indeterminate;
            self.state_at = now;
        }
        *unclear_since.get_or_insert(silent_since)
    }

    /// Whether it was refused because its message certainly never left.
    pub fn was_not_sent(&self) -> bool {
        self.state == AttemptState::Refused && self.reason.as_deref() == Some(NOT_SENT)
    }

    /// Whether a report shows that its rail has what was not sent, according to these books: a restored
    /// database knows of the failed attempt, and not of the one that followed.
    pub(crate) fn has_left(&self, report: &RailReport) -> bool {
        use RailStatus::{Accepted, Received, Returned, Settled};
        self.was_not_sent() && matches!(report.status, Received | Accepted | Settled | Returned)
    }

    /// Whether the reason of the refusal permits another rail.
    pub fn is_retryable(&self, rail: Option<&RailConfig>) -> bool {
        let allows =
            |reason: &str| rail.is_some_and(|rail| rail.retryable_reasons.contains(reason));
        self.was_not_sent() || self.reason.as_deref().is_some_and(allows)
    }

    /// The payout that was reported beside it, once its rail has refused it: that payout may not be sent
    /// again. What users record is about all of them.
    pub(crate) fn reported_beside_refusal(&self) -> Option<ReportedPayout> {
        self.reported().filter(|_| self.state.is_refused() && self.recorded().is_none())
    }

    /// The rail's reason code and explanation, if any.
    pub fn explanation(&self) -> Option<String> {
        match (&self.reason, &self.info) {
            (Some(reason), Some(info)) => Some(format!("{reason}: {info}")),
            (Some(one), None) | (None, Some(one)) => Some(one.clone()),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests;
