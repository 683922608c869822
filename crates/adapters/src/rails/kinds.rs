//! Which message a namespace names: the kinds that are read here, in every version. Pure functions.

/// A kind of message, and the element below `Document` that it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// pain.002: what became of a pain.001.
    Pain002,
    /// pacs.002: the same of a payment between banks.
    Pacs002,
    /// pacs.004: payments that come back.
    Pacs004,
    /// camt.029: how an investigation or a request to cancel ended.
    Camt029,
    /// camt.052: the movements of a day that is not over.
    Camt052,
    /// camt.053: the statement of an account.
    Camt053,
    /// camt.054: a notice of bookings.
    Camt054,
}

const KINDS: [(Kind, &str, &str); 7] = [
    (Kind::Pain002, "pain.002", "CstmrPmtStsRpt"),
    (Kind::Pacs002, "pacs.002", "FIToFIPmtStsRpt"),
    (Kind::Pacs004, "pacs.004", "PmtRtr"),
    (Kind::Camt029, "camt.029", "RsltnOfInvstgtn"),
    (Kind::Camt052, "camt.052", "BkToCstmrAcctRpt"),
    (Kind::Camt053, "camt.053", "BkToCstmrStmt"),
    (Kind::Camt054, "camt.054", "BkToCstmrDbtCdtNtfctn"),
];

impl Kind {
    /// `pain.002`
    pub(super) fn name(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// `CstmrPmtStsRpt`
    pub(super) fn element(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., element)| element)
    }
}

/// What a namespace and its first element say that a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MessageName {
    /// One that is read here.
    Known(Kind),
    /// Another one.
    Other(String),
}

impl MessageName {
    /// The message that begins with an element; `None` where none does. National namespaces carry the same name in another
    /// place (`http://www.six-interbank-clearing.com/de/pain.002.001.03.ch.02.xsd`, `…:pain.002.003.03`); a message without
    /// a namespace is known by its element.
    pub(super) fn of(namespace: &str, element: &str) -> Option<MessageName> {
        let by_element = KINDS.iter().find(|(.., name)| *name == element).map(|(kind, ..)| *kind);
        if element != "Document" && by_element.is_none() {
            return None;
        }
        match named(namespace) {
            Some(name) => Some(
                KINDS
                    .iter()
                    .find(|(_, kind, _)| name == *kind)
                    .map_or_else(|| MessageName::Other(namespace.to_owned()), |(kind, ..)| MessageName::Known(*kind)),
            ),
            None if namespace.is_empty() => by_element.map(MessageName::Known),
            None => None,
        }
    }
}

/// The business area and number in a namespace (`pain.002`), where a whole message name stands in it.
fn named(namespace: &str) -> Option<String> {
    let parts: Vec<&str> = namespace.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
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
    fn a_message_is_known_by_its_namespace_whichever_authority_gave_it() {
        for (namespace, element, kind) in [
            ("urn:iso:std:iso:20022:tech:xsd:pain.002.001.03", "Document", Kind::Pain002),
            ("urn:iso:std:iso:20022:tech:xsd:pain.002.001.99", "Document", Kind::Pain002),
            ("urn:iso:std:iso:20022:tech:xsd:pain.002.003.03", "Document", Kind::Pain002),
            ("urn:swift:xsd:$pain.002.001.02", "Document", Kind::Pain002),
            ("http://www.six-interbank-clearing.com/de/pain.002.001.03.ch.02.xsd", "Document", Kind::Pain002),
            ("urn:iso:std:iso:20022:tech:xsd:camt.053.001.02", "BkToCstmrStmt", Kind::Camt053),
            ("", "BkToCstmrStmt", Kind::Camt053),
        ] {
            assert_eq!(MessageName::of(namespace, element), Some(MessageName::Known(kind)), "{namespace} {element}");
        }
        let other = "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09";
        assert_eq!(MessageName::of(other, "Document"), Some(MessageName::Other(other.to_owned())));
        for (namespace, element) in [
            ("urn:iso:std:iso:20022:tech:xsd:pain.0021.001.09", "Document"),
            ("urn:iso:std:iso:20022:tech:xsd:head.001.001.02", "AppHdr"),
            ("", "Document"),
            ("http://www.w3.org/1999/xhtml", "html"),
        ] {
            assert_eq!(MessageName::of(namespace, element), None, "{namespace} {element}");
        }
    }
}
