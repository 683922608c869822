//! The requirements for a webhook endpoint, one check each, as seen from outside. A check sends
//! fictitious events and judges the answers; it stores nothing.

use adapters::webhooks::{self, Post, Sender, WebhookSecret};
use domain::time::{Span, Timestamp};
use domain::wallet_event::WalletEventKind;
use domain::webhook::{DeliveryAnswer, DeliveryResult};
use futures_util::future::join_all;
use serde::Deserialize;
use uuid::Uuid;

use service::samples::{self, Sample, Subjects};

/// Timestamp offset that must be refused, in seconds (the tolerance is 300 s).
const STALE_S: i64 = 600;
/// Number of identical webhooks sent at once.
const BURST: usize = 5;
/// Response time that counts as slow; after 15 s an attempt is aborted.
const SLOW: Span = Span::secs(3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Each of the six events is accepted.
    Event(WalletEventKind),
    /// The answer has the specification's shape.
    AnswerShape,
    /// A signature made with another secret is refused.
    SignatureForged,
    /// No signature is refused.
    SignatureMissing,
    /// A signature of another body is refused.
    SignatureOfOtherBody,
    /// A signature of another id is refused.
    SignatureOfOtherId,
    /// Two signatures, one with an unknown secret.
    SignatureRotation,
    /// A signature of an unknown version beside a valid one.
    SignatureOtherKind,
    /// Signed ten minutes ago.
    TimestampOld,
    /// Signed ten minutes in the future.
    TimestampFuture,
    /// The same event again, as after a lost answer.
    Retried,
    /// The same event several times at once.
    Burst,
    /// A later event of a payment request before its first.
    Disorder,
    /// An unknown event type.
    UnknownType,
    UnknownMember,
    /// Answers arrive well within 15 seconds.
    Speed,
}

impl Check {
    /// Every check, in order: later ones build on earlier ones.
    pub fn all() -> Vec<Check> {
        let mut all: Vec<Check> =
            WalletEventKind::SPECIFIED.into_iter().map(Check::Event).collect();
        all.extend([
            Check::AnswerShape,
            Check::SignatureForged,
            Check::SignatureMissing,
            Check::SignatureOfOtherBody,
            Check::SignatureOfOtherId,
            Check::SignatureRotation,
            Check::SignatureOtherKind,
            Check::TimestampOld,
            Check::TimestampFuture,
            Check::Retried,
            Check::Burst,
            Check::Disorder,
            Check::UnknownType,
            Check::UnknownMember,
            Check::Speed,
        ]);
        all
    }

    pub const fn name(self) -> &'static str {
        match self {
            Check::Event(kind) => kind.name(),
            Check::AnswerShape => "answer.shape",
            Check::SignatureForged => "signature.forged",
            Check::SignatureMissing => "signature.missing",
            Check::SignatureOfOtherBody => "signature.other_body",
            Check::SignatureOfOtherId => "signature.other_id",
            Check::SignatureRotation => "signature.rotation",
            Check::SignatureOtherKind => "signature.other_kind",
            Check::TimestampOld => "timestamp.old",
            Check::TimestampFuture => "timestamp.future",
            Check::Retried => "repeat.retried",
            Check::Burst => "repeat.at_once",
            Check::Disorder => "order.reversed",
            Check::UnknownType => "unknown.event_type",
            Check::UnknownMember => "unknown.member",
            Check::Speed => "answer.speed",
        }
    }

    /// The requirement, for reading.
    pub const fn rule(self) -> &'static str {
        match self {
            Check::Event(_) => "a valid event is accepted",
            Check::AnswerShape => "the answer has received: true and processed_at",
            Check::SignatureForged => "a signature with a different secret is refused",
            Check::SignatureMissing => "an event without a signature is refused",
            Check::SignatureOfOtherBody => "a signature of a different body is refused",
            Check::SignatureOfOtherId => "a signature of a different webhook-id is refused",
            Check::SignatureRotation => "one valid signature of two is enough",
            Check::SignatureOtherKind => "signatures of unknown versions are ignored",
            Check::TimestampOld => "a timestamp ten minutes in the past is refused",
            Check::TimestampFuture => "a timestamp ten minutes in the future is refused",
            Check::Retried => "a repeated event is accepted and not processed again",
            Check::Burst => "the same event five times at once is accepted",
            Check::Disorder => "events are accepted out of order",
            Check::UnknownType => "an unknown event type is accepted",
            Check::UnknownMember => "an unknown member is ignored",
            Check::Speed => "answers arrive well within 15 seconds",
        }
    }
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// Passed with a reservation.
    Warned(String),
    Failed(String),
}

/// How a webhook deviates from a valid one.
#[derive(Clone, Copy, Debug, Default)]
struct Twist {
    /// Signed with a secret that the endpoint does not know.
    forged: bool,
    /// No signature at all.
    unsigned: bool,
    /// Timestamp offset in seconds.
    timestamp_s: i64,
    /// Additional signatures beside the valid one.
    also: Option<Beside>,
}

#[derive(Clone, Copy, Debug)]
enum Beside {
    /// Signed with a different secret.
    Stranger,
    /// Of a different version.
    OtherKind,
}

/// The endpoint under test, and the findings so far.
pub struct Probe {
    sender: Sender,
    base: String,
    secret: WebhookSecret,
    stranger: WebhookSecret,
    subjects: Subjects,
    /// The longest response time.
    now: fn() -> Timestamp,
    /// The first accepted event and the answer to it.
    first: Option<(Sample, DeliveryAnswer)>,
    /// Whether the endpoint ever answered.
    heard: bool,
    /// Why an event got no answer.
    silence: Option<String>,
    slowest: Span,
}

impl Probe {
    /// For the endpoint at `base`, which knows the first of the secrets and not the second.
    pub fn new(
        sender: Sender,
        base: &str,
        [secret, stranger]: [WebhookSecret; 2],
        subjects: Subjects,
        now: fn() -> Timestamp,
    ) -> Probe {
        Probe {
            sender,
            base: base.to_owned(),
            secret,
            stranger,
            subjects,
            now,
            first: None,
            heard: false,
            silence: None,
            slowest: Span(0),
        }
    }

    pub async fn run(&mut self, check: Check) -> Outcome {
        let judged = match check {
            Check::Event(kind) => self.event(kind).await,
            Check::AnswerShape => self.answer_shape(),
            Check::Retried => self.retried().await,
            Check::Burst => self.burst().await,
            Check::Disorder => self.disorder().await,
            Check::UnknownType => self
                .taken(&samples::event_of_later(&self.subjects, (self.now)()), Twist::default())
                .await
                .map(drop),
            Check::UnknownMember => self.unknown_member().await,
            Check::Speed => return self.speed(),
            Check::SignatureRotation => self.taken_with(Beside::Stranger).await,
            Check::SignatureOtherKind => self.taken_with(Beside::OtherKind).await,
            Check::SignatureForged => {
                self.refused(Twist { forged: true, ..Twist::default() }).await
            }
            Check::SignatureMissing => {
                self.refused(Twist { unsigned: true, ..Twist::default() }).await
            }
            Check::TimestampOld => {
                self.refused(Twist { timestamp_s: -STALE_S, ..Twist::default() }).await
            }
            Check::TimestampFuture => {
                self.refused(Twist { timestamp_s: STALE_S, ..Twist::default() }).await
            }
            Check::SignatureOfOtherBody => self.refused_after(|post| post.body.push(b' ')).await,
            Check::SignatureOfOtherId => {
                self.refused_after(|post| post.id = Uuid::new_v4().to_string()).await
            }
        };
        judged.map_or_else(|outcome| outcome, |()| Outcome::Passed)
    }

    /// Why the endpoint is unreachable, if it never answered.
    pub fn unreachable(&self) -> Option<String> {
        self.silence.clone().filter(|_| !self.heard)
    }

    fn post(&self, sample: &Sample, twist: Twist) -> Post {
        let timestamp = (self.now)().unix_seconds() + twist.timestamp_s;
        let sign = |secret: &WebhookSecret| {
            webhooks::sign(std::slice::from_ref(secret), &sample.id, timestamp, &sample.body)
        };
        let own = if twist.forged { sign(&self.stranger) } else { sign(&self.secret) };
        let signature = match twist.also {
            _ if twist.unsigned => String::new(),
            None => own,
            Some(Beside::Stranger) => format!("{} {own}", sign(&self.stranger)),
            Some(Beside::OtherKind) => {
                format!("{} {own}", sign(&self.stranger).replacen("v1,", "v1a,", 1))
            }
        };
        Post {
            id: sample.id.clone(),
            timestamp: timestamp.to_string(),
            signature,
            traceparent: None,
            body: sample.body.clone(),
        }
    }

    async fn send(&self, path: &str, post: Post) -> DeliveryAnswer {
        self.sender.post(&self.base, path, post, (self.now)()).await
    }

    async fn taken(&mut self, sample: &Sample, twist: Twist) -> Result<DeliveryAnswer, Outcome> {
        let answer = self.send(&sample.path, self.post(sample, twist)).await;
        self.slowest = self.slowest.max(answer.took);
        self.heard |= answer.status.is_some();
        match require_taken(&answer) {
            Ok(()) => Ok(answer),
            Err(why) => {
                self.silence.get_or_insert_with(|| why.clone());
                Err(Outcome::Failed(why))
            }
        }
    }

    async fn taken_with(&mut self, also: Beside) -> Result<(), Outcome> {
        let sample = self.sample(WalletEventKind::WalletBlocked);
        self.taken(&sample, Twist { also: Some(also), ..Twist::default() }).await.map(drop)
    }

    async fn refused(&mut self, twist: Twist) -> Result<(), Outcome> {
        let sample = self.sample(WalletEventKind::WalletBlocked);
        require_refused(&self.send(&sample.path, self.post(&sample, twist)).await)
    }

    /// Sends a webhook altered after signing; it must be refused.
    async fn refused_after(&mut self, change: impl FnOnce(&mut Post)) -> Result<(), Outcome> {
        let sample = self.sample(WalletEventKind::WalletBlocked);
        let mut post = self.post(&sample, Twist::default());
        change(&mut post);
        require_refused(&self.send(&sample.path, post).await)
    }

    fn sample(&self, kind: WalletEventKind) -> Sample {
        samples::event(kind, &self.subjects, (self.now)())
    }

    async fn event(&mut self, kind: WalletEventKind) -> Result<(), Outcome> {
        let mut subjects = self.subjects.clone();
        if kind == WalletEventKind::TransactionFailed {
            // Of a different payment whose event comes first, so nothing completed fails.
            subjects = self.subjects.elsewhere();
            let before = samples::event(WalletEventKind::PaymentReceived, &subjects, (self.now)());
            self.taken(&before, Twist::default()).await?;
        }
        let sample = samples::event(kind, &subjects, (self.now)());
        let answer = self.taken(&sample, Twist::default()).await?;
        self.first.get_or_insert((sample, answer));
        Ok(())
    }

    fn answer_shape(&self) -> Result<(), Outcome> {
        let (_, answer) = self.first.as_ref().ok_or_else(none_taken)?;
        processed_at(answer).map(drop).map_err(Outcome::Failed)
    }

    async fn retried(&mut self) -> Result<(), Outcome> {
        let (sample, before) = self.first.clone().ok_or_else(none_taken)?;
        let after = self.taken(&sample, Twist::default()).await?;
        match (processed_at(&before), processed_at(&after)) {
            (Ok(before), Ok(after)) if before != after => Err(Outcome::Warned(format!(
                "processed_at was {before} and is now {after}: was the event processed twice?"
            ))),
            _ => Ok(()),
        }
    }

    async fn burst(&mut self) -> Result<(), Outcome> {
        let sample = self.sample(WalletEventKind::WalletBlocked);
        let tries =
            (0..BURST).map(|_| self.send(&sample.path, self.post(&sample, Twist::default())));
        for answer in join_all(tries).await {
            require_taken(&answer).map_err(Outcome::Failed)?;
        }
        Ok(())
    }

    async fn disorder(&mut self) -> Result<(), Outcome> {
        let subjects = self.subjects.elsewhere();
        for kind in [
            WalletEventKind::TransferComplete,
            WalletEventKind::RiskCheckComplete,
            WalletEventKind::PaymentReceived,
        ] {
            let sample = samples::event(kind, &subjects, (self.now)());
            let taken = self.taken(&sample, Twist::default()).await;
            taken.map_err(|outcome| match outcome {
                Outcome::Failed(why) => Outcome::Failed(format!("{}: {why}", kind.name())),
                other => other,
            })?;
        }
        Ok(())
    }

    async fn unknown_member(&mut self) -> Result<(), Outcome> {
        let sample = samples::event(
            WalletEventKind::PaymentReceived,
            &self.subjects.elsewhere(),
            (self.now)(),
        );
        self.taken(&samples::with_member_of_later(sample), Twist::default()).await.map(drop)
    }

    fn speed(&self) -> Outcome {
        let told = format!("the slowest answer took {} ms", self.slowest.0 / 1_000);
        if self.slowest > SLOW { Outcome::Warned(told) } else { Outcome::Passed }
    }
}

fn none_taken() -> Outcome {
    Outcome::Failed("no event was accepted, so there is no answer to check".to_owned())
}

fn require_taken(answer: &DeliveryAnswer) -> Result<(), String> {
    match &answer.result {
        DeliveryResult::Received => Ok(()),
        DeliveryResult::NotReceived(why) => Err(with_words(why, answer)),
        DeliveryResult::Gone => Err("HTTP 410: the endpoint refuses all webhooks".to_owned()),
    }
}

fn require_refused(answer: &DeliveryAnswer) -> Result<(), Outcome> {
    const EXPECTED: [u16; 4] = [401, 400, 403, 422];
    match (&answer.result, answer.status) {
        (DeliveryResult::Received, _) => Err(Outcome::Failed("it was accepted".to_owned())),
        (DeliveryResult::Gone, _) => {
            Err(Outcome::Failed("HTTP 410 ends all deliveries; return 401 or 400".to_owned()))
        }
        // "received": false
        (DeliveryResult::NotReceived(_), Some(200..=299)) => Ok(()),
        (DeliveryResult::NotReceived(why), status) => refusal(status, &EXPECTED, || why.clone()),
    }
}

/// Whether an answer refuses by a status that means it: any other failure is no proof that a wrong
/// request is refused. `why` is what happened instead.
pub(super) fn refusal(
    status: Option<u16>,
    expected: &[u16],
    why: impl FnOnce() -> String,
) -> Result<(), Outcome> {
    match status {
        Some(status) if expected.contains(&status) => Ok(()),
        Some(200..=299) => Err(Outcome::Failed("it was accepted".to_owned())),
        _ => {
            let best = expected.first().map_or_else(String::new, u16::to_string);
            Err(Outcome::Failed(format!("{}, which is not a refusal: return {best}", why())))
        }
    }
}

/// The reason, with the endpoint's own message.
fn with_words(why: &str, answer: &DeliveryAnswer) -> String {
    const SHOWN_CHARS: usize = 200;
    let said: String = answer.body.chars().take(SHOWN_CHARS).collect();
    if said.trim().is_empty() { why.to_owned() } else { format!("{why}: {}", said.trim()) }
}

#[derive(Deserialize)]
struct Said {
    received: bool,
    processed_at: String,
}

/// The processing time that the endpoint reports.
fn processed_at(answer: &DeliveryAnswer) -> Result<String, String> {
    let said: Said = serde_json::from_str(&answer.body)
        .map_err(|error| format!("not {{\"received\": …, \"processed_at\": …}}: {error}"))?;
    let is_time = said.processed_at.parse::<jiff::Timestamp>().is_ok()
        || said.processed_at.parse::<jiff::civil::DateTime>().is_ok();
    match (said.received, is_time) {
        (true, true) => Ok(said.processed_at),
        (true, false) => Err(format!("processed_at {:?} is not ISO 8601", said.processed_at)),
        (false, _) => Err("received is false".to_owned()),
    }
}
