//! Events on their way to a broker: the log that they come from, their subject there, the message.

use std::fmt;

use crate::ids::EventId;

names! {
    /// An event log of a tenant.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum EventLog: "Name in the store, in subjects and in the configuration." {
        /// The log of the payment service (`GET /v2/events`).
        Payment = "payment",
        /// The log of the wallet service (`GET /v1/sdk/events`).
        Wallet = "wallet",
    }
}

/// An event as sent to a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventMessage {
    /// The event's id, by which the broker recognises a repetition.
    pub id: EventId,
    /// Its subject, see [`SubjectTemplate`].
    pub subject: String,
    /// The event as JSON, as in the event API.
    pub body: Vec<u8>,
}

/// Why a broker did not store a message, or may not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SinkFault(pub String);

/// The form of the subjects of a relay's messages, for example
/// `corridor.{service}.{tenant}.{type}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectTemplate(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Service,
    Tenant,
    Type,
}

/// Why a text is not the form of a subject.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubjectFault {
    /// A token is empty, or has a character that subjects do not have.
    #[error(
        "the token {0:?} must be letters, digits, `_` and `-`, or {{service}}, {{tenant}} or {{type}}"
    )]
    Token(String),
    /// It begins with a placeholder: the relay would send to any subject.
    #[error("the first token must be fixed")]
    NotFixed,
}

impl SubjectTemplate {
    /// Parses tokens separated by dots.
    ///
    /// # Errors
    /// The token that is not one.
    pub fn parse(text: &str) -> Result<SubjectTemplate, SubjectFault> {
        let part = |token: &str| match token {
            "{service}" => Ok(Part::Service),
            "{tenant}" => Ok(Part::Tenant),
            "{type}" => Ok(Part::Type),
            text if !text.is_empty() && text.chars().all(is_safe) => {
                Ok(Part::Text(text.to_owned()))
            }
            other => Err(SubjectFault::Token(other.to_owned())),
        };
        let parts = text.split('.').map(part).collect::<Result<Vec<_>, _>>()?;
        match parts.first() {
            Some(Part::Text(_)) => Ok(SubjectTemplate(parts)),
            _ => Err(SubjectFault::NotFixed),
        }
    }

    /// The subject of an event: of its type, each word is a token.
    pub fn subject(&self, log: EventLog, tenant: &str, kind: &str) -> String {
        self.tokens(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Service => log.name().to_owned(),
            Part::Tenant => safe(tenant),
            Part::Type => kind.split('.').map(safe).collect::<Vec<_>>().join("."),
        })
    }

    /// The subjects of all events, with a `*` for each token that differs. Every type has two words.
    pub fn wildcard(&self) -> String {
        self.tokens(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Service | Part::Tenant => "*".to_owned(),
            Part::Type => "*.*".to_owned(),
        })
    }

    fn tokens(&self, token: impl Fn(&Part) -> String) -> String {
        self.0.iter().map(token).collect::<Vec<_>>().join(".")
    }
}

impl fmt::Display for SubjectTemplate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.tokens(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Service => "{service}".to_owned(),
            Part::Tenant => "{tenant}".to_owned(),
            Part::Type => "{type}".to_owned(),
        }))
    }
}

const fn is_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// A token without characters that have a meaning in subjects.
fn safe(text: &str) -> String {
    text.chars().map(|c| if is_safe(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventKind;
    use crate::wallet_event::WalletEventKind;

    const USUAL: &str = "corridor.{service}.{tenant}.{type}";

    #[test]
    fn subjects_have_only_safe_tokens() {
        let usual = SubjectTemplate::parse(USUAL).expect("valid");
        assert_eq!(usual.to_string(), USUAL);
        assert_eq!(usual.wildcard(), "corridor.*.*.*.*");
        for (tenant, kind, subject) in [
            ("demobank", "payment.queued", "corridor.payment.demobank.payment.queued"),
            ("a.b>*c d", "x y.z", "corridor.payment.a_b__c_d.x_y.z"),
        ] {
            assert_eq!(usual.subject(EventLog::Payment, tenant, kind), subject);
        }
        let plain = SubjectTemplate::parse("bank-1.events").expect("valid");
        assert_eq!(plain.subject(EventLog::Wallet, "a", "wallet.blocked"), "bank-1.events");
        assert_eq!(plain.wildcard(), "bank-1.events");
    }

    #[test]
    fn every_type_has_two_words() {
        let payments = EventKind::ALL.into_iter().map(EventKind::name);
        for kind in payments.chain(WalletEventKind::ALL.into_iter().map(WalletEventKind::name)) {
            assert_eq!(kind.split('.').count(), 2, "{kind}");
        }
    }

    #[test]
    fn anything_else_is_no_form_of_a_subject() {
        for (text, fault) in [
            ("", SubjectFault::Token(String::new())),
            ("corridor..x", SubjectFault::Token(String::new())),
            ("corridor.>", SubjectFault::Token(">".to_owned())),
            ("corridor.a b", SubjectFault::Token("a b".to_owned())),
            ("corridor.{kind}", SubjectFault::Token("{kind}".to_owned())),
            ("corridor.x-{type}", SubjectFault::Token("x-{type}".to_owned())),
            ("{tenant}.x", SubjectFault::NotFixed),
        ] {
            assert_eq!(SubjectTemplate::parse(text), Err(fault), "{text}");
        }
    }
}
