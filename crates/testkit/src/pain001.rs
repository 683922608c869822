//! Reads a pain.001 of any version to its facts, for tests. Shares no code with the writer: what both
//! misunderstand in the same way is found by the structures beside the server's tests.

use quick_xml::Reader;
use quick_xml::events::Event;

/// Every leaf of a message: the names on its path from the message's own element, and its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaves(pub Vec<(String, String)>);

/// The facts of one payment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payment {
    pub instruction_id: String,
    pub end_to_end_id: String,
    pub uetr: Option<String>,
    pub amount: String,
    pub currency: String,
    pub debtor: String,
    pub creditor: String,
    /// `IBAN` or `Othr`, and the number.
    pub account: (String, String),
    pub bic: Option<String>,
    /// Clearing system and code.
    pub member: (Option<String>, Option<String>),
    pub bank: Option<String>,
    pub purpose: Option<String>,
}

/// The facts of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Name of its namespace.
    pub name: String,
    pub id: String,
    pub block: String,
    /// Number and sum of the payments in both headers.
    pub totals: [(String, String); 2],
    pub execution_date: String,
    pub debtor: String,
    pub payments: Vec<Payment>,
    pub leaves: Leaves,
}

impl Leaves {
    /// The text of the leaf whose path ends with `path`.
    pub fn get(&self, path: &str) -> Option<String> {
        let ending = format!("/{path}");
        let found = self.0.iter().find(|(known, _)| format!("/{known}").ends_with(&ending));
        found.map(|(_, text)| text.clone())
    }

    fn text(&self, path: &str) -> String {
        self.get(path).unwrap_or_default()
    }

    /// Texts below an element that may have one of two names.
    fn either(&self, paths: [&str; 2]) -> Option<String> {
        paths.into_iter().find_map(|path| self.get(path))
    }
}

/// Reads one message.
///
/// # Panics
/// It is not well-formed, or not a pain.001.
pub fn read(xml: &str) -> Message {
    let mut reader = Reader::from_str(xml);
    let (mut path, mut text, mut message) = (Vec::new(), String::new(), Message::default());
    let (mut payment, mut is_leaf): (Option<(Payment, Leaves)>, bool) = (None, false);
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(start) => {
                let name = start.local_name().as_ref().to_owned();
                for attribute in start.attributes() {
                    let attribute = attribute.expect("an attribute");
                    match (name.as_str(), &mut payment) {
                        ("Document", _) => {
                            let name = attribute.value.rsplit(':').next().expect("a name");
                            message.name = name.to_owned();
                        }
                        ("InstdAmt", Some((payment, _))) => {
                            payment.currency = attribute.value.clone().into_owned();
                        }
                        _ => {}
                    }
                }
                if name == "CdtTrfTxInf" {
                    payment = Some(Default::default());
                }
                path.push(name);
                text.clear();
                is_leaf = true;
            }
            Event::Text(part) => text.push_str(&part),
            Event::GeneralRef(entity) => text.push(match &*entity {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "apos" => '\'',
                other => panic!("an entity {other}"),
            }),
            Event::End(_) => {
                if is_leaf {
                    let leaf = (path[2.min(path.len())..].join("/"), text.clone());
                    if let Some((_, leaves)) = &mut payment {
                        leaves.0.push(leaf.clone());
                    }
                    message.leaves.0.push(leaf);
                }
                is_leaf = false;
                if path.pop().as_deref() == Some("CdtTrfTxInf")
                    && let Some((payment, leaves)) = payment.take()
                {
                    message.payments.push(payment.filled(&leaves));
                }
            }
            Event::Eof => return message.filled(),
            _ => {}
        }
    }
}

impl Payment {
    fn filled(self, of: &Leaves) -> Payment {
        let account = ["IBAN", "Othr/Id"].into_iter().find_map(|kind| {
            let number = of.get(&format!("CdtrAcct/Id/{kind}"))?;
            Some((kind.split('/').next().unwrap_or(kind).to_owned(), number))
        });
        Payment {
            instruction_id: of.text("PmtId/InstrId"),
            end_to_end_id: of.text("PmtId/EndToEndId"),
            uetr: of.get("PmtId/UETR"),
            amount: of.text("Amt/InstdAmt"),
            debtor: of.text("UltmtDbtr/Nm"),
            creditor: of.text("Cdtr/Nm"),
            account: account.unwrap_or_default(),
            bic: of.either(["CdtrAgt/FinInstnId/BICFI", "CdtrAgt/FinInstnId/BIC"]),
            member: (
                of.either([
                    "CdtrAgt/FinInstnId/ClrSysMmbId/ClrSysId/Cd",
                    "CdtrAgt/FinInstnId/ClrSysMmbId/ClrSysId/Prtry",
                ]),
                of.get("CdtrAgt/FinInstnId/ClrSysMmbId/MmbId"),
            ),
            bank: of.get("CdtrAgt/FinInstnId/Nm"),
            purpose: of.either(["Purp/Cd", "Purp/Prtry"]),
            ..self
        }
    }
}

impl Message {
    fn filled(self) -> Message {
        let of = &self.leaves;
        let totals = ["GrpHdr", "PmtInf"].map(|header| {
            (of.text(&format!("{header}/NbOfTxs")), of.text(&format!("{header}/CtrlSum")))
        });
        Message {
            id: of.text("GrpHdr/MsgId"),
            block: of.text("PmtInf/PmtInfId"),
            totals,
            execution_date: of
                .either(["PmtInf/ReqdExctnDt/Dt", "PmtInf/ReqdExctnDt"])
                .unwrap_or_default(),
            debtor: of.text("PmtInf/Dbtr/Nm"),
            ..self
        }
    }
}
