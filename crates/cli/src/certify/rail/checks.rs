//! The requirements for a connector, one check each, as Corridor sees them: by the adapter that pays
//! over it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use adapters::rails::connector::ConnectorRail;
use domain::account_check::{AccountAnswer, AccountQuestion};
use domain::country::Country;
use domain::iban;
use domain::ids::{AttemptId, PaymentId, RecallId, TenantId};
use domain::money::Money;
use domain::names::words;
use domain::ports::Rail as _;
use domain::rail::{
    BankReport, Inquiry, InquiryAnswer, Instruction, InstructionParty, NameForm, RailReport,
    RailStatus, RecallRequest, Submission,
};
use domain::rail_ids::whole;
use domain::recall::RecallReason;
use futures_util::future::join_all;
use uuid::Uuid;

use super::super::checks::{Outcome, refusal};
use super::super::now;
use super::inbox::Inbox;

/// Number of identical payments sent at once.
const BURST: usize = 5;
/// Pause between two questions about a payment.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long a refused callback may take to come again.
const AGAIN_WITHIN: Duration = Duration::from_secs(60);
/// An answer that takes longer is slow; after 20 s Corridor counts it as lost.
const SLOW: Duration = Duration::from_secs(5);

/// The payments of the checks.
#[derive(Clone, Debug)]
pub struct Subject {
    pub country: Country,
    pub amount: Money,
    pub account: String,
    pub unknown_account: Option<String>,
    pub bic: Option<String>,
    pub holder: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RailCheck {
    Health,
    WithoutToken,
    WrongToken,
    UnknownInquiry,
    Payment,
    Repeated,
    AtOnce,
    KnownInquiry,
    Final,
    UnknownAccount,
    CallbackSigned,
    CallbackRepeated,
    CallbackOwn,
    Recall,
    AccountKnown,
    AccountUnknown,
    Speed,
}

impl RailCheck {
    /// Every check, in order: later ones build on earlier ones.
    pub const ALL: [RailCheck; 17] = [
        RailCheck::Health,
        RailCheck::WithoutToken,
        RailCheck::WrongToken,
        RailCheck::UnknownInquiry,
        RailCheck::Payment,
        RailCheck::Repeated,
        RailCheck::AtOnce,
        RailCheck::KnownInquiry,
        RailCheck::Final,
        RailCheck::UnknownAccount,
        RailCheck::CallbackSigned,
        RailCheck::CallbackRepeated,
        RailCheck::CallbackOwn,
        RailCheck::Recall,
        RailCheck::AccountKnown,
        RailCheck::AccountUnknown,
        RailCheck::Speed,
    ];

    const fn described(self) -> (&'static str, &'static str) {
        match self {
            RailCheck::Health => ("health", "GET /health answers"),
            RailCheck::WithoutToken => ("auth.missing", "a request without a token is refused"),
            RailCheck::WrongToken => ("auth.wrong", "a request with a wrong token is refused"),
            RailCheck::UnknownInquiry => {
                ("inquiry.unknown", "a payment that was never sent is not found")
            }
            RailCheck::Payment => ("payment.accepted", "a good payment is accepted"),
            RailCheck::Repeated => ("payment.repeated", "the same payment again is not paid again"),
            RailCheck::AtOnce => {
                ("payment.at_once", "the same payment five times at once is paid once")
            }
            RailCheck::KnownInquiry => ("inquiry.known", "a payment that was sent is found"),
            RailCheck::Final => ("payment.final", "the payment is paid in time"),
            RailCheck::UnknownAccount => {
                ("payment.unknown_account", "an unknown account is rejected with a reason")
            }
            RailCheck::CallbackSigned => {
                ("callback.signed", "callbacks arrive, signed and readable")
            }
            RailCheck::CallbackRepeated => {
                ("callback.repeated", "a callback that was not stored comes again, under its id")
            }
            RailCheck::CallbackOwn => {
                ("callback.own", "callbacks are about payments that were sent")
            }
            RailCheck::Recall => ("recall", "a recall is answered"),
            RailCheck::AccountKnown => ("account.known", "an account is checked"),
            RailCheck::AccountUnknown => ("account.unknown", "an unknown account is not found"),
            RailCheck::Speed => ("answer.speed", "answers arrive well within 20 seconds"),
        }
    }

    pub const fn name(self) -> &'static str {
        self.described().0
    }

    /// The requirement, for reading.
    pub const fn rule(self) -> &'static str {
        self.described().1
    }
}

/// The connector under test, and the findings so far.
pub struct Probe {
    rail: Arc<ConnectorRail>,
    /// The same connector without a token, and with a wrong one.
    strangers: [Arc<ConnectorRail>; 2],
    subject: Subject,
    inbox: Option<Inbox>,
    wait: Duration,
    /// The first payment that was accepted, and its reference at the bank.
    first: Option<(Instruction, Option<String>)>,
    sent: Vec<AttemptId>,
    slowest: Duration,
}

type Judged = Result<(), Outcome>;

impl Probe {
    pub fn new(
        rail: Arc<ConnectorRail>,
        strangers: [Arc<ConnectorRail>; 2],
        subject: Subject,
        inbox: Option<Inbox>,
        wait: Duration,
    ) -> Probe {
        let (first, sent, slowest) = (None, Vec::new(), Duration::ZERO);
        Probe { rail, strangers, subject, inbox, wait, first, sent, slowest }
    }

    /// The outcome of a check; `None` if the options leave it out.
    pub async fn run(&mut self, check: RailCheck) -> Option<Outcome> {
        let unknown = self.subject.unknown_account.clone();
        let judged = match check {
            RailCheck::Health => self.rail.probe().await.map_err(Outcome::Failed),
            RailCheck::WithoutToken => refused(&self.strangers[0], self.strange_inquiry()).await,
            RailCheck::WrongToken => refused(&self.strangers[1], self.strange_inquiry()).await,
            RailCheck::UnknownInquiry => self.unknown_inquiry().await,
            RailCheck::Payment => self.payment().await,
            RailCheck::Repeated => self.repeated().await,
            RailCheck::AtOnce => self.at_once().await,
            RailCheck::KnownInquiry => self.known_inquiry().await,
            RailCheck::Final => self.becomes_final().await,
            RailCheck::UnknownAccount => self.unknown_account(unknown?).await,
            RailCheck::CallbackSigned => self.callback_signed(self.inbox.as_ref()?).await,
            RailCheck::CallbackRepeated => callback_repeated(self.inbox.as_ref()?).await,
            RailCheck::CallbackOwn => self.callback_own(self.inbox.as_ref()?),
            RailCheck::Recall => self.recall().await,
            RailCheck::AccountKnown => self.account_known().await,
            RailCheck::AccountUnknown => self.account_unknown(unknown?).await,
            RailCheck::Speed => self.speed(),
        };
        Some(judged.err().unwrap_or(Outcome::Passed))
    }

    fn instruction(&mut self, account: &str) -> Instruction {
        let attempt = AttemptId(Uuid::new_v4());
        self.sent.push(attempt);
        let party = |name: &str, country: &str| InstructionParty {
            name: name.to_owned(),
            country: country.to_owned(),
            ..InstructionParty::default()
        };
        let country = self.subject.country;
        Instruction {
            rail: self.rail.id().clone(),
            tenant: TenantId(Uuid::nil()),
            payment: PaymentId(attempt.0),
            attempt,
            amount: self.subject.amount,
            created_at: now(),
            debtor: party("Corridor Certify", "ARE"),
            creditor: party(&self.subject.holder, country.alpha3()),
            creditor_account: account.to_owned(),
            creditor_account_is_iban: is_iban(country, account),
            creditor_account_type: "CACC",
            creditor_bic: self.subject.bic.clone(),
            creditor_local_code: None,
            creditor_bank: String::new(),
            purpose: "FAMI".to_owned(),
            names: NameForm::Whole,
            source_of_funds: None,
            remittance: "corridor certify".to_owned(),
        }
    }

    async fn submit(&mut self, instruction: &Instruction) -> Submission {
        let began = Instant::now();
        let mut answers = self.rail.submit(std::slice::from_ref(instruction)).await;
        self.slowest = self.slowest.max(began.elapsed());
        answers.pop().unwrap_or_else(|| Submission::Indeterminate("no answer".to_owned()))
    }

    async fn inquire(&mut self, inquiry: Inquiry) -> InquiryAnswer {
        let began = Instant::now();
        let mut answers = self.rail.inquire(&[inquiry]).await;
        self.slowest = self.slowest.max(began.elapsed());
        answers.pop().unwrap_or_else(|| InquiryAnswer::NoAnswer("no answer".to_owned()))
    }

    fn strange_inquiry(&self) -> Inquiry {
        let id = Uuid::new_v4();
        Inquiry {
            payment: PaymentId(id),
            attempt: AttemptId(id),
            created_at: now(),
            recalls: Vec::new(),
        }
    }

    async fn unknown_inquiry(&mut self) -> Judged {
        match self.inquire(self.strange_inquiry()).await {
            InquiryAnswer::NotFound => Ok(()),
            InquiryAnswer::Asked => warned("the answer will come as a callback"),
            InquiryAnswer::NoAnswer(why) => failed(why),
            InquiryAnswer::WithRecall(_) => failed("it answers about a recall that was never sent"),
            InquiryAnswer::Reported(report) => {
                failed(format!("it reports {} of a payment that was never sent", report.status))
            }
        }
    }

    async fn payment(&mut self) -> Judged {
        let account = self.subject.account.clone();
        let instruction = self.instruction(&account);
        let answer = self.submit(&instruction).await;
        let reference = accepted(&answer)?;
        self.first = Some((instruction, reference));
        Ok(())
    }

    fn first(&self) -> Result<(Instruction, Option<String>), Outcome> {
        self.first.clone().ok_or_else(|| Outcome::Failed("no payment was accepted".to_owned()))
    }

    async fn repeated(&mut self) -> Judged {
        let (instruction, before) = self.first()?;
        let answer = self.submit(&instruction).await;
        match (&answer, before) {
            (Submission::Reported(report), _) if report.proves_possession(None) => Ok(()),
            (Submission::Indeterminate(why), _) => {
                warned(format!("no statement, so Corridor inquires: {why}"))
            }
            (_, before) => same_reference(before.into_iter().chain(accepted(&answer)?)),
        }
    }

    async fn at_once(&mut self) -> Judged {
        let account = self.subject.account.clone();
        let instruction = self.instruction(&account);
        let rail = self.rail.clone();
        let batch = std::slice::from_ref(&instruction);
        let answers = join_all((0..BURST).map(|_| rail.submit(batch))).await;
        let answers: Vec<Submission> = answers.into_iter().flatten().collect();
        let mut references = Vec::new();
        let mut taken = 0;
        for answer in &answers {
            match answer {
                // It may wait for the first one.
                Submission::Indeterminate(_) => {}
                Submission::Reported(report) if report.proves_possession(None) => {}
                answer => {
                    references.extend(accepted(answer)?);
                    taken += 1;
                }
            }
        }
        if taken == 0 {
            return failed("none of them was accepted");
        }
        same_reference(references.into_iter())
    }

    async fn known_inquiry(&mut self) -> Judged {
        let (instruction, reference) = self.first()?;
        match self.inquire(inquiry_of(&instruction)).await {
            InquiryAnswer::Reported(report) => {
                same_reference(reference.into_iter().chain(report.bank_reference))
            }
            InquiryAnswer::Asked => Ok(()),
            InquiryAnswer::NotFound => failed("it is not found"),
            InquiryAnswer::NoAnswer(why) => failed(why),
            InquiryAnswer::WithRecall(_) => failed("it answers about a recall that was never sent"),
        }
    }

    /// The status that ends a payment, by callback or inquiry, whichever comes first.
    async fn end_of(&mut self, instruction: &Instruction) -> Option<RailReport> {
        let ends = |status: &RailStatus| {
            matches!(status, RailStatus::Settled | RailStatus::Rejected | RailStatus::Cancelled)
        };
        let until = Instant::now() + self.wait;
        loop {
            let reports = self.inbox.as_ref().map(Inbox::reports).unwrap_or_default();
            let own =
                reports.iter().filter(|report| attempt_of(report) == Some(instruction.attempt));
            if let Some(report) =
                own.map(|it| it.said.of(instruction.attempt)).find(|it| ends(&it.status))
            {
                return Some(report);
            }
            if let InquiryAnswer::Reported(report) = self.inquire(inquiry_of(instruction)).await
                && ends(&report.status)
            {
                return Some(report);
            }
            if Instant::now() >= until {
                return None;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn becomes_final(&mut self) -> Judged {
        let (instruction, _) = self.first()?;
        match self.end_of(&instruction).await {
            Some(report) if report.status == RailStatus::Settled => match report.amount {
                Some(amount) if amount != instruction.amount && report.charges.is_none() => {
                    failed(format!("{amount} of {} is paid, without charges", instruction.amount))
                }
                _ => Ok(()),
            },
            Some(report) => failed(told(&report)),
            None => warned(format!("it is not final after {} s", self.wait.as_secs())),
        }
    }

    async fn unknown_account(&mut self, account: String) -> Judged {
        let instruction = self.instruction(&account);
        let answer = self.submit(&instruction).await;
        let report = match answer {
            Submission::Reported(report) if report.status == RailStatus::Rejected => Some(report),
            Submission::NotSent(why) => return failed(format!("it was not sent: {why}")),
            _ => self.end_of(&instruction).await,
        };
        match report {
            Some(report) if report.status != RailStatus::Rejected => failed(told(&report)),
            Some(report) if report.proves_possession(None) => {
                failed("its reason states a duplicate, which leaves the payment unresolved")
            }
            Some(report) if report.reason.is_none() => warned("no reason is given"),
            Some(_) => Ok(()),
            None => failed("it was not rejected in time"),
        }
    }

    async fn callback_signed(&self, inbox: &Inbox) -> Judged {
        wait(self.wait, || !inbox.reports().is_empty() || !inbox.refused().is_empty()).await;
        match (inbox.refused().first(), inbox.reports().is_empty()) {
            (Some(why), _) => failed(why.clone()),
            (None, true) => failed(format!("none arrived within {} s", self.wait.as_secs())),
            (None, false) => Ok(()),
        }
    }

    fn callback_own(&self, inbox: &Inbox) -> Judged {
        let reports = inbox.reports();
        let of_none = reports
            .iter()
            .find(|report| !attempt_of(report).is_some_and(|attempt| self.sent.contains(&attempt)));
        match (of_none, reports.iter().find_map(unrecognised)) {
            (Some(report), _) => {
                let ids: Vec<String> = report.ids().map(|ids| ids.told()).collect();
                failed(format!("one is about {}", ids.join(", ")))
            }
            (None, Some(status)) => failed(format!("one has the unknown status {status:?}")),
            (None, None) => Ok(()),
        }
    }

    async fn recall(&mut self) -> Judged {
        let (instruction, _) = self.first()?;
        let request = RecallRequest {
            recall: RecallId(Uuid::new_v4()),
            created_at: now(),
            tenant: instruction.tenant,
            payment: instruction.payment,
            attempt: instruction.attempt,
            message: None,
            amount: instruction.amount,
            reason: RecallReason::Customer,
            text: None,
            format: "connector".to_owned(),
        };
        match self.rail.recall(&request).await {
            Submission::Reported(report) if !matches!(report.status, RailStatus::Recall(_)) => {
                warned(format!("its answer has the status of a payment: {}", report.status))
            }
            Submission::Reported(_) | Submission::Taken => Ok(()),
            Submission::Indeterminate(why) | Submission::NotSent(why) => {
                warned(format!("{why}; leave recalls = \"\" if the bank takes none"))
            }
        }
    }

    async fn account(&mut self, account: &str) -> AccountAnswer {
        let country = self.subject.country;
        let question = AccountQuestion {
            country,
            account: account.to_owned(),
            is_iban: is_iban(country, account),
            bic: self.subject.bic.clone(),
            local_code: None,
            name: self.subject.holder.clone(),
        };
        self.rail.verify_account(&question).await
    }

    async fn account_known(&mut self) -> Judged {
        match self.account(&self.subject.account.clone()).await {
            AccountAnswer::Match => Ok(()),
            AccountAnswer::CloseMatch(_) | AccountAnswer::NoMatch => {
                warned("the name is not the holder's: give --holder")
            }
            AccountAnswer::NotSupported => warned("not supported: leave verify_account = \"off\""),
            AccountAnswer::Unavailable(why) => failed(why),
            AccountAnswer::Closed => failed("it is closed"),
            AccountAnswer::NotFound => failed("it is not found"),
        }
    }

    async fn account_unknown(&mut self, account: String) -> Judged {
        match self.account(&account).await {
            AccountAnswer::NotFound => Ok(()),
            AccountAnswer::NotSupported => warned("not supported: leave verify_account = \"off\""),
            AccountAnswer::Unavailable(why) => failed(why),
            other => failed(format!("its result is \"{}\"", words(other.name()))),
        }
    }

    fn speed(&self) -> Judged {
        let took = self.slowest.as_millis();
        if self.slowest > SLOW {
            warned(format!("the slowest answer took {took} ms"))
        } else {
            Ok(())
        }
    }
}

fn failed(why: impl Into<String>) -> Judged {
    Err(Outcome::Failed(why.into()))
}

fn warned(why: impl Into<String>) -> Judged {
    Err(Outcome::Warned(why.into()))
}

fn told(report: &RailReport) -> String {
    let reason = report.reason.as_deref().unwrap_or("no reason");
    format!("it is reported as {} ({reason})", report.status)
}

/// Waits until it is so, or the time is over.
async fn wait(at_most: Duration, is_so: impl Fn() -> bool) {
    let until = Instant::now() + at_most;
    while !is_so() && Instant::now() < until {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The reference of a payment that the connector has accepted.
fn accepted(answer: &Submission) -> Result<Option<String>, Outcome> {
    match answer {
        Submission::Taken => Ok(None),
        Submission::Reported(report) => match report.status {
            RailStatus::Received | RailStatus::Accepted | RailStatus::Settled => {
                Ok(report.bank_reference.clone())
            }
            _ => Err(Outcome::Failed(told(report))),
        },
        Submission::NotSent(why) => Err(Outcome::Failed(format!("it was not sent: {why}"))),
        Submission::Indeterminate(why) => Err(Outcome::Failed(why.clone())),
    }
}

fn same_reference(references: impl Iterator<Item = String>) -> Judged {
    let references: Vec<String> = references.collect();
    let differs = references.windows(2).find(|pair| pair[0] != pair[1]);
    match differs {
        Some(pair) => failed(format!("bank_reference was {} and is now {}", pair[0], pair[1])),
        None => Ok(()),
    }
}

async fn refused(stranger: &ConnectorRail, inquiry: Inquiry) -> Judged {
    match stranger.inquiry_status(&inquiry).await {
        Ok(status) => refusal(Some(status.as_u16()), &[401, 403], || format!("HTTP {status}")),
        Err(why) => refusal(None, &[401, 403], || why),
    }
}

async fn callback_repeated(inbox: &Inbox) -> Judged {
    let Some(first) = inbox.reports().into_iter().next() else {
        return failed("no callback arrived");
    };
    let count = || inbox.reports().iter().filter(|it| it.said.source == first.said.source).count();
    wait(AGAIN_WITHIN, || count() >= 2).await;
    let again: Vec<BankReport> =
        inbox.reports().into_iter().filter(|it| it.said.source == first.said.source).collect();
    match again.as_slice() {
        [_] => failed(format!("{} did not come again within 60 s", first.said.source)),
        all if all.iter().any(|it| *it != first) => failed("its content changed"),
        _ => Ok(()),
    }
}

fn inquiry_of(instruction: &Instruction) -> Inquiry {
    let Instruction { payment, attempt, created_at, .. } = *instruction;
    Inquiry { payment, attempt, created_at, recalls: Vec::new() }
}

fn attempt_of(report: &BankReport) -> Option<AttemptId> {
    report.ids().flat_map(|ids| ids.strong().collect::<Vec<_>>()).find_map(whole).map(AttemptId)
}

fn unrecognised(report: &BankReport) -> Option<String> {
    match &report.said.status {
        RailStatus::Unrecognised(status) => Some(status.clone()),
        _ => None,
    }
}

fn is_iban(country: Country, account: &str) -> bool {
    iban::Iban::parse(country, account).is_ok()
}
