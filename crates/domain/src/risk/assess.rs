//! The risk assessment: each finding has a score, a result and a code; the most severe one decides.

use super::proximity::{self, Nearness, Proximity, ProximityTerms};
use super::{Assessment, Check, Hold, ReasonCode, RiskResult, sandbox};
use crate::e164::is_e164;
use crate::email::is_email;
use crate::payment_request::SenderDetails;
use crate::screening::{Screened, Verdict};
use crate::time::Timestamp;
use crate::wallet::KycLevel;
use crate::wallet_policy::WalletPolicy;

/// Score added by each further finding.
const EACH_FURTHER: u8 = 5;
/// Score of a deposit without findings whose sender details are incomplete.
const UNKNOWN_SENDER: u8 = 15;

/// Begins the evidence of repeated payments under listed names.
const LISTED_NAMES: &str = "LISTED_NAMES";

/// Input of the assessment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject<'a> {
    /// Amount in minor units (10^-6).
    pub minor: i64,
    /// Details of the escrow's submission; empty if the sender is unknown.
    pub sender: &'a SenderDetails,
    /// The customer's KYC level.
    pub kyc: KycLevel,
    /// Result selected by a sandbox; `None` in production.
    pub sandbox: Option<RiskResult>,
}

/// The wallet's recent receipts and rejections, without this deposit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Velocity {
    /// Number of counted deposits within 24 hours.
    pub day_count: u32,
    /// Their sum in minor units (10^-6).
    pub day_minor: i64,
    /// Sum of the deposits within 30 days.
    pub month_minor: i64,
    /// Number of rejections by screening within 30 days for more than the name that the sender
    /// entered.
    pub month_rejections: u32,
    /// Number of rejections within 30 days for that name alone.
    pub month_names: u32,
}

/// Results of screening and the wallet's history, to be weighed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// Screening result of the sender's name; `None` if none was given.
    pub name: Option<Screened>,
    /// Screening result of the payer's address.
    pub payer: Screened,
    /// Whether a token contract has blacklisted the payer.
    pub payer_flagged: bool,
    /// Proximity of the payer to listed addresses.
    pub proximity: Proximity,
    /// Proximity that requires a review.
    pub proximity_terms: ProximityTerms,
    /// The wallet's recent deposits.
    pub velocity: Velocity,
    /// Reason of the request for a mandatory review.
    pub concern: Option<ReasonCode>,
    /// Whether it caused a block of the wallet that the bank has lifted.
    pub blocked_before: bool,
}

struct Finding {
    code: ReasonCode,
    result: RiskResult,
    score: u8,
    hold: Option<Hold>,
    evidence: String,
}

impl Finding {
    const fn refused(code: ReasonCode, score: u8, evidence: String) -> Finding {
        Finding { code, result: RiskResult::Rejected, score, hold: Some(Hold::Legal), evidence }
    }

    const fn review(code: ReasonCode, score: u8, evidence: String) -> Finding {
        Finding { code, result: RiskResult::ManualReview, score, hold: None, evidence }
    }
}

/// Assesses an incoming payment. A sandbox result takes precedence over velocity, limits and sender
/// details, but not over the lists, the chain and the request.
pub fn assess(
    subject: &Subject<'_>,
    found: &Findings,
    policy: &WalletPolicy,
    now: Timestamp,
) -> Assessment {
    let mut findings = listed(found);
    findings.extend(repeated(&findings, found, policy));
    let listed_names = names_repeat(&findings, found, policy);
    match subject.sandbox {
        Some(RiskResult::Blocked) if found.blocked_before => {}
        Some(RiskResult::Approved) => {}
        Some(result) => {
            let (score, hold) = sandbox::score(result);
            let evidence = "cents of the amount".to_owned();
            findings.push(Finding {
                code: ReasonCode::SandboxValue,
                result,
                score,
                hold,
                evidence,
            });
        }
        None => findings.extend(unusual(subject, found, policy)),
    }
    findings.extend(doubtful(found));
    findings.sort_by_key(|finding| finding.code);
    let evidence =
        findings.iter().map(|finding| format!("{}: {}", finding.code.name(), finding.evidence));
    let evidence = evidence.chain(listed_names).chain(analysed(found)).collect();
    let further = u8::try_from(findings.len().saturating_sub(1))
        .unwrap_or(u8::MAX)
        .saturating_mul(EACH_FURTHER);
    let unknown_sender = if sender_is_complete(subject.sender) { 0 } else { UNKNOWN_SENDER };
    let gravest = findings.iter().map(|finding| finding.score).max().unwrap_or(unknown_sender);
    let first = findings.first();
    let result = first.map_or(RiskResult::Approved, |finding| finding.result);
    Assessment {
        result,
        score: gravest.saturating_add(further).min(100),
        checks: Check::ALL.to_vec(),
        reason: first.map_or(ReasonCode::ChecksPassed, |finding| finding.code),
        // A non-refundable finding stays so, whichever is reported first.
        hold: match findings.iter().find(|finding| finding.hold == Some(Hold::Legal)) {
            Some(_) => Some(Hold::Legal),
            None => first.and_then(|finding| finding.hold),
        },
        list_version: found.payer.list_version.clone(),
        policy_version: policy.version.to_string(),
        evidence,
        decided_by: None,
        at: now,
    }
}

impl Assessment {
    /// Whether a user has to decide about the wallet: payments under listed names are repeated.
    pub fn names_repeat(&self) -> bool {
        self.evidence.iter().any(|line| line.starts_with(LISTED_NAMES))
    }

    /// Whether it was rejected for the name that its sender entered, and for nothing else.
    pub fn is_for_a_name(&self) -> bool {
        let also = [ReasonCode::SanctionedAddress, ReasonCode::FlaggedAddress];
        let has =
            |code: &ReasonCode| self.evidence.iter().any(|line| line.starts_with(code.name()));
        self.reason == ReasonCode::SanctionedName && !also.iter().any(has)
    }
}

/// Definite findings of the lists and the chain.
fn listed(found: &Findings) -> Vec<Finding> {
    let mut findings = Vec::new();
    let entry = |screened: &Screened| {
        screened.evidence.clone().unwrap_or_else(|| "unnamed entry".to_owned())
    };
    if found.payer.verdict() == Verdict::Hit {
        findings.push(Finding::refused(
            ReasonCode::SanctionedAddress,
            found.payer.score,
            entry(&found.payer),
        ));
    }
    if let Some(name) = found.name.as_ref().filter(|name| name.verdict() == Verdict::Hit) {
        findings.push(Finding::refused(ReasonCode::SanctionedName, name.score, entry(name)));
    }
    if let Proximity::Answered(answer) = &found.proximity
        && answer.nearness(found.proximity_terms) == Nearness::Listed
    {
        let evidence = answer.evidence();
        findings.push(Finding::refused(ReasonCode::SanctionedAddress, proximity::LISTED, evidence));
    }
    if found.payer_flagged {
        let evidence = "the payer is on the token's blacklist".to_owned();
        findings.push(Finding::refused(ReasonCode::FlaggedAddress, 90, evidence));
    }
    findings
}

/// One rejection too many blocks the wallet. A name that the sender entered does not count: anyone
/// with a link could block it.
fn repeated(findings: &[Finding], found: &Findings, policy: &WalletPolicy) -> Option<Finding> {
    let most = policy.block_after_rejections?;
    let rejections = found.velocity.month_rejections;
    if is_entered(findings) || found.blocked_before || rejections.saturating_add(1) < most {
        return None;
    }
    Some(Finding {
        code: ReasonCode::RepeatedRejections,
        result: RiskResult::Blocked,
        score: 95,
        hold: Some(Hold::Legal),
        evidence: format!("{rejections} rejected within the previous 30 days"),
    })
}

/// Whether nothing but the name that the sender entered, or nothing at all, is listed.
fn is_entered(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.code == ReasonCode::SanctionedName)
}

/// As many rejections for entered names as would block the wallet: evidence for a user's decision.
fn names_repeat(findings: &[Finding], found: &Findings, policy: &WalletPolicy) -> Option<String> {
    let most = policy.block_after_rejections?;
    let names = found.velocity.month_names.saturating_add(1);
    let is_one = !findings.is_empty() && is_entered(findings);
    (is_one && names >= most)
        .then(|| format!("{LISTED_NAMES}: {names} under listed names within 30 days, not blocked"))
}

/// Findings that require a review at any amount.
fn doubtful(found: &Findings) -> Vec<Finding> {
    let mut findings = Vec::new();
    for screened in [Some(&found.payer), found.name.as_ref()].into_iter().flatten() {
        if screened.score >= crate::screening::REVIEW_FROM && screened.verdict() != Verdict::Hit {
            let evidence = screened.evidence.clone().unwrap_or_default();
            findings.push(Finding::review(ReasonCode::PossibleMatch, screened.score, evidence));
        }
    }
    findings.extend(nearby(found));
    if found.payer.stale || found.name.as_ref().is_some_and(|name| name.stale) {
        let evidence = format!("lists {}", found.payer.list_version);
        findings.push(Finding::review(ReasonCode::ListsOutdated, 40, evidence));
    }
    if let Some(concern) = found.concern {
        findings.push(Finding::review(concern, 30, "reported by the payment request".to_owned()));
    }
    if found.blocked_before {
        let evidence = "it caused a wallet block that was lifted".to_owned();
        findings.push(Finding::review(ReasonCode::BlockedBefore, 60, evidence));
    }
    findings
}

/// Findings of a chain analysis provider about the payer. Nothing is approved if the provider does
/// not answer.
fn nearby(found: &Findings) -> Option<Finding> {
    match &found.proximity {
        Proximity::NotAsked => None,
        Proximity::Answered(answer) => match answer.nearness(found.proximity_terms) {
            Nearness::Near(score) => {
                Some(Finding::review(ReasonCode::ListedAddressNearby, score, answer.evidence()))
            }
            Nearness::Clean | Nearness::Listed => None,
        },
        Proximity::Unanswered(why) => Some(Finding::review(
            ReasonCode::AnalysisUnavailable,
            proximity::NOBODY_ASKED,
            why.clone(),
        )),
    }
}

/// The provider's answer without consequences, kept with the decision.
fn analysed(found: &Findings) -> Option<String> {
    let Proximity::Answered(answer) = &found.proximity else { return None };
    let clean = answer.nearness(found.proximity_terms) == Nearness::Clean;
    clean.then(|| format!("{}: {}", Check::OnChainAnalysis.name(), answer.evidence()))
}

/// Velocity, limits and the sender's details.
fn unusual(subject: &Subject<'_>, found: &Findings, policy: &WalletPolicy) -> Vec<Finding> {
    let mut findings = Vec::new();
    let velocity = &found.velocity;
    let (count, sum) =
        (velocity.day_count.saturating_add(1), velocity.day_minor.saturating_add(subject.minor));
    if policy.velocity.is_some_and(|limit| count > limit.count || sum > limit.minor) {
        let evidence = format!("{count} deposits, {sum} minor units in 24 hours");
        findings.push(Finding::review(ReasonCode::VelocityExceeded, 50, evidence));
    }
    let month = velocity.month_minor.saturating_add(subject.minor);
    if policy
        .kyc_limits
        .get(&subject.kyc)
        .is_some_and(|limit| subject.minor > limit.single || month > limit.month)
    {
        let evidence =
            format!("{} with {} now, {month} in 30 days", subject.kyc.name(), subject.minor);
        findings.push(Finding::review(ReasonCode::KycLimitExceeded, 50, evidence));
    }
    if policy.auto_approve_max.is_some_and(|most| subject.minor > most) {
        let evidence = format!("{} minor units", subject.minor);
        findings.push(Finding::review(ReasonCode::AmountAboveLimit, 45, evidence));
    }
    if subject.minor >= policy.sender_details_from && !sender_is_complete(subject.sender) {
        let evidence = "missing or implausible details".to_owned();
        findings.push(Finding::review(ReasonCode::SenderUnverified, 40, evidence));
    }
    findings
}

/// Whether all sender details that the form requires are present and all given ones plausible. The
/// e-mail address is optional there and here.
pub fn sender_is_complete(sender: &SenderDetails) -> bool {
    let plausible = |name: &Option<String>| {
        name.as_deref().is_some_and(|name| {
            name.chars().any(char::is_alphabetic)
                && !name.chars().any(|letter| letter.is_ascii_digit())
        })
    };
    plausible(&sender.first_name)
        // A person may have one name only.
        && (sender.last_name.is_none() || plausible(&sender.last_name))
        && sender.email.as_deref().is_none_or(is_email)
        && sender.phone_number.as_deref().is_some_and(is_e164)
        && sender.custodial_provider.as_deref().is_some_and(|provider| !provider.trim().is_empty())
}
