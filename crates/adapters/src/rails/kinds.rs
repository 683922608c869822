//! The kind of a message, by its namespace: the supported kinds, in every version. Pure functions.

/// A kind of message, and the element below `Document` that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// pain.002: the status of a pain.001.
    Pain002,
    /// pacs.002: the status of an interbank payment.
    Pacs002,
    /// pacs.004: the return of payments.
    Pacs004,
    /// camt.029: the outcome of an investigation or a cancellation request.
    Camt029,
    /// camt.056: a request to cancel or return a payment.
    Camt056,
    /// camt.052: the movements of the current day.
    Camt052,
    /// camt.053: an account statement.
    Camt053,
    /// camt.054: a notification of bookings.
    Camt054,
}

const KINDS: [(Kind, &str, &str); 8] = [
    (Kind::Pain002, "pain.002", "CstmrPmtStsRpt"),
    (Kind::Pacs002, "pacs.002", "FIToFIPmtStsRpt"),
    (Kind::Pacs004, "pacs.004", "PmtRtr"),
    (Kind::Camt029, "camt.029", "RsltnOfInvstgtn"),
    (Kind::Camt056, "camt.056", "FIToFIPmtCxlReq"),
    (Kind::Camt052, "camt.052", "BkToCstmrAcctRpt"),
    (Kind::Camt053, "camt.053", "BkToCstmrStmt"),
    (Kind::Camt054, "camt.054", "BkToCstmrDbtCdtNtfctn"),
];

/// Business areas of headers (`head.001`, `head.002`) and of the business message envelope.
const ENVELOPES: [&str; 2] = ["head.", "nvlp."];

impl Kind {
    /// The message's name, as in `pain.002`.
    pub(super) fn name(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// The message's element, as in `CstmrPmtStsRpt`.
    pub(super) fn element(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., element)| element)
    }

    /// Whether this is the name of the message's element. The first versions have their number in
    /// it, `BkToCstmrStmtV01`, or are the message's identifier, `pain.002.001.02`.
    pub(super) fn is_body(self, name: &str) -> bool {
        name == self.element() || self.is_first_version(name)
    }

    /// Whether it is the name of a first version.
    pub(super) fn is_first_version(self, name: &str) -> bool {
        let numbered = name.strip_prefix(self.element()).and_then(|rest| rest.strip_prefix('V'));
        numbered.is_some_and(is_number) || self.is_identifier(name)
    }

    /// Whether it is the message's identifier: the name of a first version, or of a wrapper.
    pub(super) fn is_identifier(self, name: &str) -> bool {
        let own = name.strip_prefix(self.name()).and_then(|rest| rest.strip_prefix(".001."));
        own.is_some_and(is_number)
    }
}

/// Whether it is the number of a version.
fn is_number(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|it| it.is_ascii_digit())
}

/// The kind of a message according to its namespace and first element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MessageName {
    Known(Kind),
    Other(String),
}

impl MessageName {
    /// The message that starts with an element; `None` if none does. Any element in the namespace of
    /// a message starts it, in an envelope of another namespace also without `Document`. National
    /// namespaces contain the name elsewhere
    /// (`http://www.six-interbank-clearing.com/de/pain.002.001.03.ch.02.xsd`, `…:pain.002.003.03`); a
    /// message without a namespace is recognised by its element.
    pub(super) fn of(namespace: &str, element: &str) -> Option<MessageName> {
        let by_element =
            KINDS.iter().find(|(kind, ..)| kind.is_body(element)).map(|(kind, ..)| *kind);
        let named = named(namespace).filter(|name| !is_envelope(name));
        match named {
            Some(name) => Some(KINDS.iter().find(|(_, kind, _)| name == *kind).map_or_else(
                || MessageName::Other(namespace.to_owned()),
                |(kind, ..)| MessageName::Known(*kind),
            )),
            None if namespace.is_empty() => by_element.map(MessageName::Known),
            None => None,
        }
    }
}

/// Whether a name is that of a header or an envelope, which contain messages.
fn is_envelope(name: &str) -> bool {
    ENVELOPES.iter().any(|area| name.starts_with(area))
}

/// The business area and number in a namespace (`pain.002`), if it contains a complete message
/// name.
fn named(namespace: &str) -> Option<String> {
    let parts: Vec<&str> = namespace.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let digits = |text: &str, count: usize| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    parts.windows(4).find_map(|name| match name {
        [area, number, variant, version]
            if area.len() == 4 && digits(number, 3) && digits(variant, 3) && digits(version, 2) =>
        {
            Some(format!("{area}.{number}"))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_recognised_by_the_namespace_of_any_authority() {
        for (namespace, element, kind) in [
            ("urn:iso:std:iso:20022:tech:xsd:pain.002.001.03", "Document", Kind::Pain002),
            ("urn:iso:std:iso:20022:tech:xsd:pain.002.001.99", "Document", Kind::Pain002),
            ("urn:iso:std:iso:20022:tech:xsd:pain.002.003.03", "Document", Kind::Pain002),
            ("urn:swift:xsd:$pain.002.001.02", "Document", Kind::Pain002),
            (
                "http://www.six-interbank-clearing.com/de/pain.002.001.03.ch.02.xsd",
                "Document",
                Kind::Pain002,
            ),
            ("urn:iso:std:iso:20022:tech:xsd:camt.053.001.02", "BkToCstmrStmt", Kind::Camt053),
            ("urn:iso:std:iso:20022:tech:xsd:camt.053.001.02", "Envelope", Kind::Camt053),
            ("", "BkToCstmrStmt", Kind::Camt053),
            ("", "BkToCstmrStmtV01", Kind::Camt053),
            ("", "pain.002.001.02", Kind::Pain002),
        ] {
            assert_eq!(
                MessageName::of(namespace, element),
                Some(MessageName::Known(kind)),
                "{namespace} {element}"
            );
        }
        let other = "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09";
        for element in ["Document", "CstmrCdtTrfInitn", "pain.001.001.09"] {
            let expected = Some(MessageName::Other(other.to_owned()));
            assert_eq!(MessageName::of(other, element), expected, "{element}");
        }
        for (namespace, element) in [
            ("urn:iso:std:iso:20022:tech:xsd:pain.0021.001.09", "Document"),
            ("urn:iso:std:iso:20022:tech:xsd:head.001.001.02", "AppHdr"),
            ("urn:iso:std:iso:20022:tech:xsd:head.002.001.01", "Xchg"),
            ("urn:iso:std:iso:20022:tech:xsd:nvlp.001.001.01", "BizMsgEnvlp"),
            ("", "BkToCstmrStmtV1"),
            ("", "BkToCstmrStmtVersion"),
            ("", "Document"),
            ("http://www.w3.org/1999/xhtml", "html"),
        ] {
            assert_eq!(MessageName::of(namespace, element), None, "{namespace} {element}");
        }
    }
}
