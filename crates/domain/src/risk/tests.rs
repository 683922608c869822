//! Risk rules, one test per rule.

use super::proximity::{NearestListed, Proximity, ProximityAnswer, ProximityTerms};
use super::*;
use crate::currency::{Currency, StableCoin};
use crate::payment_request::{Asked, SenderDetails};
use crate::screening::Screened;
use crate::test_values::monday;
use crate::wallet::KycLevel;
use crate::wallet_policy::{KycLimit, VelocityLimit, WalletPolicy};
use proptest::prelude::*;

const COIN: i64 = 1_000_000;

fn clean() -> Screened {
    Screened { score: 0, evidence: None, list_version: "L-1".to_owned(), stale: false }
}

fn match_of(score: u8) -> Screened {
    Screened { score, evidence: Some("OFAC 7 JOHN DOE".to_owned()), ..clean() }
}

fn nothing() -> Findings {
    Findings {
        name: Some(clean()),
        payer: clean(),
        payer_flagged: false,
        proximity: Proximity::NotAsked,
        proximity_terms: ProximityTerms { review_hops: 3 },
        velocity: Velocity::default(),
        concern: None,
        blocked_before: false,
    }
}

fn sender() -> SenderDetails {
    SenderDetails {
        first_name: Some("Ayesha".to_owned()),
        last_name: Some("Khan".to_owned()),
        email: Some("ayesha@example.com".to_owned()),
        phone_number: Some("+971501234567".to_owned()),
        custodial_provider: Some("Binance".to_owned()),
    }
}

fn policy() -> WalletPolicy {
    WalletPolicy { version: 7, ..WalletPolicy::default() }
}

fn of(minor: i64, found: &Findings, sandbox: Option<RiskResult>) -> Assessment {
    let subject = Subject { minor, sender: &sender(), kyc: KycLevel::Basic, sandbox };
    assess(&subject, found, &policy(), monday())
}

fn told(assessment: &Assessment) -> (RiskResult, ReasonCode, Option<Hold>) {
    (assessment.result, assessment.reason, assessment.hold)
}

#[test]
fn a_deposit_without_findings_is_approved_with_its_basis() {
    let assessment = of(25 * COIN, &nothing(), None);
    assert_eq!(told(&assessment), (RiskResult::Approved, ReasonCode::ChecksPassed, None));
    assert_eq!((assessment.score, assessment.level()), (0, RiskLevel::Low));
    assert_eq!(assessment.checks, Check::ALL);
    assert_eq!((&*assessment.list_version, &*assessment.policy_version), ("L-1", "7"));
    assert_eq!((assessment.evidence, assessment.decided_by), (Vec::new(), None));
}

#[test]
fn levels_are_those_of_the_decisions() {
    for (score, level) in [
        (0, RiskLevel::Low),
        (29, RiskLevel::Low),
        (30, RiskLevel::Medium),
        (59, RiskLevel::Medium),
        (60, RiskLevel::High),
        (84, RiskLevel::High),
        (85, RiskLevel::Critical),
        (100, RiskLevel::Critical),
    ] {
        assert_eq!(RiskLevel::of(score), level, "{score}");
    }
}

#[test]
fn each_result_has_its_next_action() {
    let pairs = RiskResult::ALL.map(|result| (result.name(), result.next_action().name()));
    assert_eq!(
        pairs,
        [
            ("APPROVED", "TRANSFER_TO_WALLET"),
            ("REJECTED", "HOLD_IN_ESCROW"),
            ("MANUAL_REVIEW_REQUIRED", "AWAIT_MANUAL_REVIEW"),
            ("BLOCKED", "WALLET_BLOCKED"),
        ]
    );
}

#[test]
fn a_sanctions_hit_is_rejected_and_never_refunded() {
    let hit = Findings { name: Some(match_of(95)), ..nothing() };
    assert_eq!(
        told(&of(COIN, &hit, None)),
        (RiskResult::Rejected, ReasonCode::SanctionedName, Some(Hold::Legal))
    );
    let hit = Findings { payer: match_of(100), ..nothing() };
    let assessment = of(COIN, &hit, None);
    assert_eq!(
        told(&assessment),
        (RiskResult::Rejected, ReasonCode::SanctionedAddress, Some(Hold::Legal))
    );
    assert_eq!((assessment.score, assessment.level()), (100, RiskLevel::Critical));
    assert_eq!(assessment.evidence, ["SANCTIONED_ADDRESS: OFAC 7 JOHN DOE"]);
    let flagged = Findings { payer_flagged: true, ..nothing() };
    assert_eq!(
        told(&of(COIN, &flagged, None)),
        (RiskResult::Rejected, ReasonCode::FlaggedAddress, Some(Hold::Legal))
    );
}

#[test]
fn scores_of_85_to_95_need_review() {
    for score in [85, 94] {
        let near = Findings { name: Some(match_of(score)), ..nothing() };
        assert_eq!(
            told(&of(COIN, &near, None)),
            (RiskResult::ManualReview, ReasonCode::PossibleMatch, None)
        );
        let near = Findings { payer: match_of(score), ..nothing() };
        assert_eq!(
            told(&of(COIN, &near, None)),
            (RiskResult::ManualReview, ReasonCode::PossibleMatch, None)
        );
    }
    let far = Findings { name: Some(match_of(84)), ..nothing() };
    assert_eq!(of(COIN, &far, None).result, RiskResult::Approved);
}

/// A provider's answer: hops to the nearest listed address, and the provider's own score.
fn answered(hops: Option<u8>, risk_score: Option<u8>) -> Findings {
    let nearest = hops.map(|hops| NearestListed {
        hops,
        category: "sanctions".to_owned(),
        source: "OFAC SDN".to_owned(),
        reference: "case-7".to_owned(),
    });
    let answer = ProximityAnswer { provider_version: "acme 9".to_owned(), nearest, risk_score };
    Findings { proximity: Proximity::Answered(answer), ..nothing() }
}

#[test]
fn a_nearer_listed_address_is_more_severe() {
    use ReasonCode::{ChecksPassed, ListedAddressNearby, SanctionedAddress};
    use RiskLevel::{Critical, High, Low, Medium};
    use RiskResult::{Approved, ManualReview, Rejected};
    for (hops, provider, result, reason, score, level) in [
        (None, None, Approved, ChecksPassed, 0, Low),
        (Some(0), None, Rejected, SanctionedAddress, 100, Critical),
        (Some(0), Some(1), Rejected, SanctionedAddress, 100, Critical),
        (Some(1), None, ManualReview, ListedAddressNearby, 75, High),
        (Some(2), None, ManualReview, ListedAddressNearby, 45, Medium),
        (Some(3), None, ManualReview, ListedAddressNearby, 45, Medium),
        (Some(4), None, Approved, ChecksPassed, 0, Low),
        (Some(255), None, Approved, ChecksPassed, 0, Low),
        // The provider's own score only increases the severity.
        (Some(1), Some(10), ManualReview, ListedAddressNearby, 75, High),
        (Some(2), Some(70), ManualReview, ListedAddressNearby, 70, High),
        (None, Some(29), Approved, ChecksPassed, 0, Low),
        (None, Some(30), ManualReview, ListedAddressNearby, 30, Medium),
        (None, Some(100), ManualReview, ListedAddressNearby, 100, Critical),
    ] {
        let assessment = of(COIN, &answered(hops, provider), None);
        let got = (assessment.result, assessment.reason, assessment.score, assessment.level());
        assert_eq!(got, (result, reason, score, level), "{hops:?} {provider:?}");
        assert_eq!(assessment.hold, (result == Rejected).then_some(Hold::Legal));
        assert!(assessment.evidence[0].contains("provider acme 9"), "{:?}", assessment.evidence);
        let forced = of(COIN, &answered(hops, provider), Some(Approved));
        assert_eq!(forced.result, result, "a sandbox value never clears a finding");
    }
    let none =
        Findings { proximity_terms: ProximityTerms { review_hops: 0 }, ..answered(Some(1), None) };
    assert_eq!(of(COIN, &none, None).result, Approved, "beyond the review distance");
}

#[test]
fn a_providers_answer_is_always_kept() {
    let evidence = |found: &Findings| of(COIN, found, None).evidence;
    let clean = "ON_CHAIN_ANALYSIS: no listed address nearby, provider's score 4, provider acme 9";
    assert_eq!(evidence(&answered(None, Some(4))), [clean]);
    let near =
        "LISTED_ADDRESS_NEARBY: sanctions (OFAC SDN) 1 hop away, evidence case-7, provider acme 9";
    assert_eq!(evidence(&answered(Some(1), None)), [near]);
    let hit = "SANCTIONED_ADDRESS: sanctions (OFAC SDN) the payer itself, evidence case-7, provider acme 9";
    assert_eq!(evidence(&answered(Some(0), None)), [hit]);
    assert_eq!(evidence(&nothing()), Vec::<String>::new());
}

#[test]
fn a_silent_provider_prevents_approval() {
    let silent = Findings { proximity: Proximity::Unanswered("no answer".to_owned()), ..nothing() };
    for sandbox in [None, Some(RiskResult::Approved)] {
        let assessment = of(COIN, &silent, sandbox);
        assert_eq!(
            told(&assessment),
            (RiskResult::ManualReview, ReasonCode::AnalysisUnavailable, None)
        );
        assert_eq!(
            (assessment.level(), &*assessment.evidence[0]),
            (RiskLevel::Medium, "ANALYSIS_UNAVAILABLE: no answer")
        );
    }
}

#[test]
fn outdated_lists_never_approve_even_in_a_sandbox() {
    for found in [
        Findings { payer: Screened { stale: true, ..clean() }, name: None, ..nothing() },
        Findings { name: Some(Screened { stale: true, ..clean() }), ..nothing() },
    ] {
        for sandbox in [None, Some(RiskResult::Approved)] {
            let told = told(&of(COIN, &found, sandbox));
            assert_eq!(told, (RiskResult::ManualReview, ReasonCode::ListsOutdated, None));
        }
    }
}

#[test]
fn exceeded_velocity_and_kyc_limits_need_review() {
    let kyc_limits = [(KycLevel::Basic, KycLimit { single: 100 * COIN, month: 300 * COIN })].into();
    let velocity = Some(VelocityLimit { count: 3, minor: 250 * COIN });
    let policy =
        WalletPolicy { kyc_limits, velocity, auto_approve_max: Some(90 * COIN), ..policy() };
    let check = |minor, velocity, kyc| {
        let subject = Subject { minor, sender: &sender(), kyc, sandbox: None };
        let assessment = assess(&subject, &Findings { velocity, ..nothing() }, &policy, monday());
        (assessment.result, assessment.reason)
    };
    let lately = |day_count, day_minor, month_minor| Velocity {
        day_count,
        day_minor,
        month_minor,
        ..Velocity::default()
    };
    let review = |code| (RiskResult::ManualReview, code);
    let approved = (RiskResult::Approved, ReasonCode::ChecksPassed);
    let basic = KycLevel::Basic;
    assert_eq!(
        check(90 * COIN, lately(2, 160 * COIN, 210 * COIN), basic),
        approved,
        "exactly at every limit"
    );
    assert_eq!(check(COIN, lately(3, 0, 0), basic), review(ReasonCode::VelocityExceeded));
    assert_eq!(
        check(90 * COIN, lately(1, 160 * COIN + 1, 0), basic),
        review(ReasonCode::VelocityExceeded)
    );
    assert_eq!(check(100 * COIN + 1, lately(0, 0, 0), basic), review(ReasonCode::KycLimitExceeded));
    assert_eq!(
        check(90 * COIN, lately(0, 0, 210 * COIN + 1), basic),
        review(ReasonCode::KycLimitExceeded)
    );
    assert_eq!(check(90 * COIN + 1, lately(0, 0, 0), basic), review(ReasonCode::AmountAboveLimit));
    assert_eq!(
        check(90 * COIN, lately(0, 0, 900 * COIN), KycLevel::Comprehensive),
        approved,
        "no limit of its own"
    );
}

#[test]
fn large_amounts_need_complete_sender_details() {
    let from = policy().sender_details_from;
    let check = |minor, sender: &SenderDetails| {
        let subject = Subject { minor, sender, kyc: KycLevel::Comprehensive, sandbox: None };
        assess(&subject, &nothing(), &policy(), monday())
    };
    assert_eq!(check(from, &sender()).result, RiskResult::Approved);
    let single = SenderDetails { last_name: None, ..sender() };
    assert_eq!(check(from, &single).result, RiskResult::Approved, "one name");
    let silent = SenderDetails::default();
    let small = check(from - 1, &silent);
    assert_eq!((small.result, small.level()), (RiskResult::Approved, RiskLevel::Low));
    assert_eq!(check(from, &silent).reason, ReasonCode::SenderUnverified);
    let text = |text: &str| Some(text.to_owned());
    for wrong in [
        SenderDetails { first_name: text("X Æ A-12"), ..sender() },
        SenderDetails { last_name: text("…"), ..sender() },
        SenderDetails { email: text("invalid"), ..sender() },
        SenderDetails { phone_number: text("0501234567"), ..sender() },
        SenderDetails { custodial_provider: text(" "), ..sender() },
        SenderDetails { custodial_provider: None, ..sender() },
    ] {
        assert_eq!(check(from, &wrong).reason, ReasonCode::SenderUnverified, "{wrong:?}");
    }
}

#[test]
fn the_other_token_and_late_payments_need_review() {
    for code in [ReasonCode::WrongAsset, ReasonCode::TooLate] {
        for sandbox in [None, Some(RiskResult::Approved)] {
            let found = Findings { concern: Some(code), ..nothing() };
            assert_eq!(told(&of(COIN, &found, sandbox)), (RiskResult::ManualReview, code, None));
        }
    }
}

#[test]
fn repeated_rejections_block_the_wallet_once_per_deposit() {
    let lately = |month_rejections| Velocity { month_rejections, ..Velocity::default() };
    let hit = |count| Findings { payer: match_of(99), velocity: lately(count), ..nothing() };
    assert_eq!(of(COIN, &hit(1), None).result, RiskResult::Rejected);
    let blocked = of(COIN, &hit(2), None);
    assert_eq!(
        told(&blocked),
        (RiskResult::Blocked, ReasonCode::RepeatedRejections, Some(Hold::Legal))
    );
    let unblocked = Findings { blocked_before: true, ..hit(2) };
    assert_eq!(
        told(&of(COIN, &unblocked, None)),
        (RiskResult::Rejected, ReasonCode::SanctionedAddress, Some(Hold::Legal))
    );
    let clean = Findings { velocity: lately(50), ..nothing() };
    assert_eq!(
        of(COIN, &clean, None).result,
        RiskResult::Approved,
        "earlier rejections do not affect a clean deposit"
    );
}

#[test]
fn entered_names_block_no_wallet_and_are_reported() {
    let refused = (RiskResult::Rejected, ReasonCode::SanctionedName, Some(Hold::Legal));
    let named = |month_rejections, month_names| {
        let velocity = Velocity { month_rejections, month_names, ..Velocity::default() };
        let found = Findings { name: Some(match_of(99)), velocity, ..nothing() };
        of(COIN, &found, None)
    };
    for (rejections, names, is_reported) in
        [(0, 0, false), (0, 1, false), (0, 2, true), (0, 50, true), (50, 0, false)]
    {
        let assessment = named(rejections, names);
        assert_eq!(told(&assessment), refused, "{rejections} {names}");
        assert_eq!(assessment.names_repeat(), is_reported, "{rejections} {names}");
        assert!(assessment.is_for_a_name());
    }
    // A finding that no stranger can invent counts, beside whatever name.
    let velocity = Velocity { month_rejections: 2, ..Velocity::default() };
    let both = Findings { name: Some(match_of(99)), payer_flagged: true, velocity, ..nothing() };
    assert_eq!(of(COIN, &both, None).reason, ReasonCode::RepeatedRejections);
    let first = of(COIN, &Findings { velocity: Velocity::default(), ..both }, None);
    assert_eq!((first.reason, first.is_for_a_name()), (ReasonCode::SanctionedName, false));
    let clean = Velocity { month_names: 50, ..Velocity::default() };
    let clean = of(COIN, &Findings { velocity: clean, ..nothing() }, None);
    assert_eq!((clean.result, clean.names_repeat()), (RiskResult::Approved, false));
}

#[test]
fn sandbox_cents_choose_the_result() {
    let usdc = |minor| Some(Asked::Crypto { coin: StableCoin::Usdc, minor });
    for (text, result) in [
        ("25.00", RiskResult::Approved),
        ("25.01", RiskResult::Rejected),
        ("25.02", RiskResult::ManualReview),
        ("25.03", RiskResult::Blocked),
        ("25.04", RiskResult::Approved),
        ("25.08", RiskResult::Approved),
        ("25.99", RiskResult::Approved),
    ] {
        let minor = crate::coin_amount::parse(text).expect(text);
        // Of the requested amount, whatever was paid; of the paid amount if none was requested.
        assert_eq!(
            sandbox::result(sandbox::cents(usdc(minor).as_ref(), 1_020_000)),
            Some(result),
            "{text}"
        );
        assert_eq!(
            sandbox::result(sandbox::cents(Some(&Asked::Flexible), minor)),
            Some(result),
            "{text}"
        );
        assert_eq!(sandbox::result(sandbox::cents(None, minor)), Some(result), "{text}");
    }
    let fiat = Asked::Fiat { currency: Currency::Pkr, micros: 1_010_000, usdc: 1, usdt: 1 };
    assert_eq!(sandbox::result(sandbox::cents(Some(&fiat), 1_010_000)), None, "fiat: none");
}

#[test]
fn sandbox_values_override_velocity_and_kyc_checks_but_never_a_list_hit() {
    let velocity = Velocity {
        day_count: 1_000,
        day_minor: i64::MAX,
        month_minor: i64::MAX,
        ..Velocity::default()
    };
    let busy = Findings { velocity, ..nothing() };
    assert_eq!(of(i64::MAX, &busy, Some(RiskResult::Approved)).result, RiskResult::Approved);
    for (result, hold) in [
        (RiskResult::Rejected, Some(Hold::Refundable)),
        (RiskResult::ManualReview, None),
        (RiskResult::Blocked, None),
    ] {
        assert_eq!(told(&of(COIN, &busy, Some(result))), (result, ReasonCode::SandboxValue, hold));
    }
    for result in RiskResult::ALL {
        let hit = Findings { payer: match_of(100), ..nothing() };
        let told = told(&of(COIN, &hit, Some(result)));
        assert_eq!(told, (RiskResult::Rejected, ReasonCode::SanctionedAddress, Some(Hold::Legal)));
        let near = Findings { name: Some(match_of(90)), ..nothing() };
        assert_ne!(of(COIN, &near, Some(result)).result, RiskResult::Approved);
    }
}

#[test]
fn the_cause_of_a_lifted_block_needs_review() {
    let found = Findings { blocked_before: true, ..nothing() };
    let told = told(&of(COIN, &found, Some(RiskResult::Blocked)));
    assert_eq!(told, (RiskResult::ManualReview, ReasonCode::BlockedBefore, None));
}

#[test]
fn reasons_are_stable_codes_with_a_neutral_text() {
    for code in ReasonCode::ALL {
        let text = code.decision_reason();
        let (name, words) = text.split_once(": ").expect("code: words");
        assert_eq!(ReasonCode::parse(name), Some(code));
        for telling in ["sanction", "list", "fraud", "terror", "block", "freez"] {
            assert!(!words.to_lowercase().contains(telling), "{words}");
        }
    }
}

#[test]
fn only_known_names_parse() {
    for result in RiskResult::ALL {
        assert_eq!(RiskResult::parse(result.name()), Some(result));
    }
    for level in RiskLevel::ALL {
        assert_eq!(RiskLevel::parse(level.name()), Some(level));
    }
    for check in Check::ALL {
        assert_eq!(Check::parse(check.name()), Some(check));
    }
    for action in NextAction::ALL {
        assert_eq!(NextAction::parse(action.name()), Some(action));
    }
    for hold in Hold::ALL {
        assert_eq!(Hold::parse(hold.name()), Some(hold));
    }
    assert_eq!(
        (RiskResult::parse("approved"), RiskLevel::parse(""), Check::parse("")),
        (None, None, None)
    );
    assert_eq!((NextAction::parse(""), Hold::parse(""), ReasonCode::parse("")), (None, None, None));
}

fn screened() -> impl Strategy<Value = Screened> {
    (0_u8..=100, any::<bool>()).prop_map(|(score, stale)| Screened { stale, ..match_of(score) })
}

proptest! {
    /// Under any findings: approved only on fresh lists without a near match or concern; a hit is
    /// never approved and never refundable; the score stays within its bounds.
    #[test]
    fn no_doubtful_payment_is_approved(
        name in proptest::option::of(screened()),
        payer in screened(),
        flags in any::<(bool, bool, bool)>(),
        minor in 1_i64..i64::MAX,
        velocity in (0_u32..40, 0_i64..i64::MAX, 0_i64..i64::MAX, 0_u32..5),
        sandbox in proptest::option::of(proptest::sample::select(RiskResult::ALL.to_vec())),
        nearby in proptest::option::of((proptest::option::of(0_u8..8), proptest::option::of(0_u8..=100))),
        silent in prop::bool::weighted(0.2),
    ) {
        let (payer_flagged, blocked_before, concerned) = flags;
        let velocity = Velocity {
            day_count: velocity.0, day_minor: velocity.1, month_minor: velocity.2, month_rejections: velocity.3,
            month_names: velocity.3,
        };
        let concern = concerned.then_some(ReasonCode::WrongAsset);
        let asked = nearby.map_or_else(nothing, |(hops, score)| answered(hops, score));
        let proximity = if silent { Proximity::Unanswered(String::new()) } else { asked.proximity };
        let terms = asked.proximity_terms;
        let found = Findings {
            name, payer, payer_flagged, proximity, proximity_terms: terms, velocity, concern, blocked_before,
        };
        let near = |(hops, score): (Option<u8>, Option<u8>)| {
            hops.is_some_and(|hops| hops <= terms.review_hops) || score.is_some_and(|score| score >= MEDIUM_FROM)
        };
        let listed = !silent && nearby.is_some_and(|(hops, _)| hops == Some(0));
        let assessment = of(minor, &found, sandbox);
        let all: Vec<&Screened> = found.name.iter().chain([&found.payer]).collect();
        let hit = listed || payer_flagged || all.iter().any(|screened| screened.score >= 95);
        let doubt = silent || nearby.is_some_and(near) || concerned || blocked_before || all.iter().any(|screened| screened.score >= 85 || screened.stale);
        prop_assert!(assessment.score <= 100);
        prop_assert!(!(hit || doubt) || assessment.result != RiskResult::Approved);
        prop_assert!(!hit || (assessment.hold == Some(Hold::Legal) && matches!(assessment.result, RiskResult::Rejected | RiskResult::Blocked)));
        prop_assert!(assessment.result != RiskResult::Approved || assessment.hold.is_none());
        prop_assert!(assessment.result != RiskResult::ManualReview || assessment.hold.is_none());
        let against = assessment.evidence.iter().any(|it| !it.starts_with(Check::OnChainAnalysis.name()));
        prop_assert!((assessment.result == RiskResult::Approved) != against);
    }
}
