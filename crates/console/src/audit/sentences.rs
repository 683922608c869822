//! Audit entries as sentences: a table from the action to its text.

use domain::audit::Entry;
use domain::time::Timestamp;
use domain::wallet::WalletState;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{people, place};
use crate::parts::grouped;
use crate::view::{clock, day_words};

/// The text of each action. `{}` stands for the subject, `{name}` for the value of that name after
/// the action; if the action leaves no values, before it. A part in square brackets is left out if
/// its value is missing. The words after `|` replace it if the action removed its value.
const ACTIONS: &[(&str, &str)] = &[
    ("alert.close", "closed the alert “{what}”"),
    ("approval.again", "had {} executed again"),
    ("approval.approve", "approved {}: {kind}"),
    ("approval.done", "executed {}: {kind}"),
    ("approval.failed", "could not execute {}: {kind}[. {why_not}]"),
    ("approval.propose", "made {}: {kind}"),
    ("approval.reject", "rejected {}: {kind}"),
    ("approval.withdraw", "withdrew {}"),
    (
        "case.assign",
        "changed who decides {}[: {assignee}|: no one][, due {due}|, without a due time]",
    ),
    ("case.file", "added a file to {}"),
    ("case.note", "added a note to {}"),
    ("chain.rescan", "requested a rescan of {}"),
    ("controller.fund", "funded the controller with {paid_in} {coin}[, reference {reference}]"),
    (
        "controller.reverse_funding",
        "reversed the controller's funding of {paid_out} {coin}, reference {reference}",
    ),
    ("customer.set", "set the KYC level of customer {} to {kyc_level}"),
    ("export.case", "opened the case file of {}"),
    ("export.case_file", "downloaded a file of {}"),
    ("export.csv", "downloaded {}"),
    ("export.receipt", "opened the receipt of {}"),
    ("export.statement", "downloaded a statement of {}"),
    ("hold.lift", "lifted the legal hold on {}"),
    ("key.allow", "changed the networks of access key {}[ to {allowed_ips}| to any]"),
    ("key.create", "created access key {}"),
    ("key.resume", "resumed access key {}"),
    ("key.revoke", "revoked access key {}"),
    ("key.rotate", "rotated the secret of access key {}"),
    ("key.suspend", "suspended access key {}"),
    ("order.recredit", "returned the tokens of {} to its wallet"),
    ("order.resolve", "recorded the outcome of the payout of {}: {state}"),
    ("order.screened", "screened the account holder of {} again"),
    ("payment.cancel", "cancelled {}"),
    ("payment.recall", "requested a recall of {}: {recall_reason}"),
    ("payment.resolve", "recorded the outcome of {}: {state}"),
    ("payment.screened", "screened {} again"),
    ("prefund.top_up", "topped up the prefund by {paid_in} {coin}[, reference {reference}]"),
    ("prefund.withdrawal", "withdrew {paid_out} {coin} from the prefund[, reference {reference}]"),
    ("recall.close", "closed the recall of {}"),
    ("refund.address", "entered a refund address for {}"),
    ("refund.approve", "approved the refund of {} to {refund_to}"),
    ("refund.not_approved", "could not approve the refund of {}: its address is listed now"),
    ("refund.propose", "proposed to refund {} to {refund_to}"),
    ("refund.withdraw", "withdrew the proposed refund of {}"),
    ("relay.forget", "let the relay {} begin again"),
    ("request.cancel", "cancelled {}"),
    ("review.approve", "approved {} in review"),
    ("review.block", "rejected {} and blocked its wallet"),
    ("review.legal_hold", "put {} on legal hold"),
    ("review.other_match", "tried to approve {}, which now matches another list entry"),
    ("review.reject", "rejected {}"),
    ("sandbox.clock", "advanced the sandbox's clock"),
    ("sandbox.faucet", "sent test tokens to {}"),
    ("sandbox.pay", "paid {} as the simulated sender"),
    ("sandbox.steer", "chose the outcome of {}"),
    ("sandbox.trigger", "ran the scenario {}"),
    ("search.person", "searched payments by {by} “{}” and saw {found} results"),
    ("session.begin", "signed in"),
    ("session.end_all", "signed {} out everywhere"),
    ("session.refuse", "was refused: the sign-in of {} belongs to another account"),
    ("switch.off", "turned off {}"),
    ("switch.on", "turned on {}"),
    ("tenant.brand", "changed how the tenant’s payment pages look"),
    ("tenant.create", "created the tenant {name}"),
    ("tenant.set_policy", "changed the tenant’s policy"),
    ("token.accept_code", "accepted the contract code {}"),
    ("transfer.sponsor", "signed a sponsored transfer of {amount} {coin} for {}"),
    ("user.bind", "bound {} to an account of the identity provider"),
    ("user.create", "added the user {}"),
    ("user.disable", "disabled the user {}"),
    ("user.enable", "enabled the user {}"),
    ("user.enrol_totp", "set up one-time codes for {}"),
    ("user.forget_totp", "reset the one-time codes of {}"),
    ("user.leave_provider", "changed the sign-in of {} to a password"),
    ("user.set_access", "changed the access of {}"),
    ("user.set_password", "set a password for {}"),
    ("user.set_provider", "changed the sign-in of {} to the identity provider"),
    ("user.unbind", "released {} from an account of the identity provider"),
    ("wallet.blacklist", "blacklisted {} by order of {authority}"),
    ("wallet.block", "blocked {}"),
    ("wallet.unblock", "unblocked {}"),
    ("webhook.add", "set the first webhook endpoint[, {url}]"),
    ("webhook.disable", "turned webhooks off"),
    ("webhook.enable", "turned webhooks on"),
    ("webhook.example", "sent an example webhook"),
    ("webhook.make_up_for", "replayed missed events of {}"),
    ("webhook.redeliver", "resent {}"),
    ("webhook.rotate", "rotated the webhook secret"),
    ("webhook.set_payment_events", "changed whether payment events are sent as webhooks"),
    ("webhook.set_url", "changed the webhook address[ to {url}| to none]"),
    ("webhook.subscribe", "changed the optional events that webhooks are sent for"),
];

/// A regulator's order with a later date, which only blocks the wallet until then.
const BLACKLIST_LATER: &str =
    "recorded an order of {authority} to blacklist {} on {effective_date}";

/// What a proposal of this kind would do.
const PROPOSALS: &[(&str, &str)] = &[
    ("coin.accept_code", "accept a token’s new contract code"),
    ("deposit.lift_hold", "lift a legal hold"),
    ("deposit.release", "release a deposit in review"),
    ("order.release", "release an exchange order in review"),
    ("order.resolve", "record the outcome of a payout"),
    ("payment.release", "release a payment in review"),
    ("payment.resolve", "record the outcome of a payment"),
    ("policy.set", "change the tenant’s policy"),
    ("pricing.set", "change fee, margin or spread"),
    ("user.set_access", "change a user’s access"),
    ("wallet.blacklist", "blacklist a wallet"),
    ("wallet.unblock", "unblock a wallet"),
    ("webhook.set_payment_events", "send payment events as webhooks"),
    ("webhook.set_url", "change the webhook address"),
];

/// The words for kinds of subjects that have ids.
const SUBJECTS: &[(&str, &str)] = &[
    ("approval", "proposal"),
    ("event", "event"),
    ("order", "exchange order"),
    ("payment", "payment"),
    ("quote", "quote"),
    ("request", "payment request"),
    ("transaction", "deposit"),
    ("wallet", "wallet"),
];

/// Letters of an id that are shown.
const ID_CHARS: usize = 8;

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Plain(String),
    Value(String),
    Link { href: String, text: String },
}

impl Part {
    fn text(&self) -> &str {
        match self {
            Part::Plain(text) | Part::Value(text) | Part::Link { text, .. } => text,
        }
    }
}

fn text_for<'a>(table: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    table.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// A value among the recorded ones; `None` if it is missing or empty.
fn recorded(facts: Option<&str>, name: &str) -> Option<String> {
    let facts: Map<String, Value> = serde_json::from_str(facts?).ok()?;
    let found = facts.get(name)?;
    let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
    (!text.is_empty()).then_some(text)
}

/// Whether the action removed a value.
fn is_removed(entry: &Entry, name: &str) -> bool {
    let note = &entry.note;
    recorded(note.before.as_deref(), name).is_some()
        && recorded(note.after.as_deref(), name).is_none()
}

/// A value as recorded by the entry.
fn value(entry: &Entry, name: &str) -> Option<String> {
    let note = &entry.note;
    let found = recorded(note.after.as_deref().or(note.before.as_deref()), name)?;
    Some(match name {
        "kind" => text_for(PROPOSALS, &found).map_or(found, str::to_owned),
        "due" => found.parse::<jiff::Timestamp>().map_or(found, |at| {
            let at = Timestamp(at.as_microsecond());
            format!("{} at {} UTC", day_words(at), &clock(at)[..5])
        }),
        _ if name != "reference"
            && found.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') =>
        {
            grouped(&found)
        }
        _ => found,
    })
}

/// The subject: an id is shortened and has its kind before it.
fn subject(entry: &Entry, tag: Option<&str>) -> Part {
    let note = &entry.note;
    let is_id = Uuid::parse_str(&note.subject).is_ok();
    let text = match text_for(SUBJECTS, &note.kind).filter(|_| is_id) {
        Some(kind) => format!("{kind} {}", &note.subject[..ID_CHARS]),
        None => note.subject.clone(),
    };
    match tag.and_then(|tag| place(tag, &note.kind, &note.subject)) {
        Some(href) => Part::Link { href, text },
        None => Part::Value(text),
    }
}

/// The template of an entry.
fn template(entry: &Entry) -> Option<&'static str> {
    let action = entry.note.action.as_str();
    let is_later = action == "wallet.blacklist"
        && value(entry, "state").as_deref() == Some(WalletState::Blocked.name());
    if is_later { Some(BLACKLIST_LATER) } else { text_for(ACTIONS, action) }
}

/// A template with those of its optional parts that have a value.
fn whole(entry: &Entry, template: &str) -> String {
    let mut text = String::new();
    for (at, part) in template.split(['[', ']']).enumerate() {
        // Every second part stands in brackets.
        if at % 2 == 0 {
            text.push_str(part);
            continue;
        }
        let (with, without) =
            part.split_once('|').map_or((part, None), |(with, without)| (with, Some(without)));
        let name = with.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        let name = name.map_or("", |(name, _)| name);
        match without.filter(|_| is_removed(entry, name)) {
            Some(without) => text.push_str(without),
            None if value(entry, name).is_some() => text.push_str(with),
            None => {}
        }
    }
    text
}

/// What the entry's actor did, for the tenant with this tag.
pub fn sentence(entry: &Entry, tag: Option<&str>) -> Vec<Part> {
    let other = || format!("recorded “{}” about {{}}", entry.note.action);
    let template = template(entry).map_or_else(other, |it| whole(entry, it));
    let mut parts = Vec::new();
    let mut rest = template.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        parts.push(Part::Plain(before.to_owned()));
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        match name {
            "" => parts.push(subject(entry, tag)),
            name => parts.extend(value(entry, name).map(Part::Value)),
        }
        rest = after;
    }
    parts.push(Part::Plain(rest.to_owned()));
    parts.retain(|part| !part.text().is_empty());
    parts
}

/// The same as plain text with the actor in front.
pub fn plain_sentence(entry: &Entry) -> String {
    let parts = sentence(entry, None);
    let did: String = parts.iter().map(Part::text).collect();
    format!("{} {}", people(&entry.deed), did.trim_end())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use domain::audit::{AuditContext, Facts, Head, Note, Via};
    use domain::deposit::ReviewVerdict;
    use domain::ids::TenantId;

    use super::*;

    fn told(note: Note) -> String {
        let deed = AuditContext::new(Via::Console, "ayesha");
        let entry = Head::default().append(TenantId(Uuid::nil()), Timestamp(1), deed, note);
        plain_sentence(&entry)
    }

    #[test]
    fn entries_read_as_sentences() {
        let id = "6f0c0000-0000-4000-8000-000000000000";
        let up = Facts::new().text("coin", "USDT").text("paid_in", "50000.00");
        let order = |state: &str| {
            let facts = Facts::new().text("state", state).text("authority", "FIA");
            Note::new("wallet.blacklist", "wallet", id)
                .after(facts.text("effective_date", "2027-01-01"))
        };
        for (note, expected) in [
            (order("BLACKLISTED"), "ayesha blacklisted wallet 6f0c0000 by order of FIA"),
            (
                order("BLOCKED"),
                "ayesha recorded an order of FIA to blacklist wallet 6f0c0000 on 2027-01-01",
            ),
            (Note::new("wallet.block", "wallet", id), "ayesha blocked wallet 6f0c0000"),
            (
                Note::new("prefund.top_up", "tenant", id).after(up),
                "ayesha topped up the prefund by 50,000.00 USDT",
            ),
            (Note::new("user.disable", "user", "omar"), "ayesha disabled the user omar"),
            (
                Note::new("approval.propose", "approval", id)
                    .after(Facts::new().text("kind", "wallet.unblock")),
                "ayesha made proposal 6f0c0000: unblock a wallet",
            ),
            (
                Note::new("case.assign", "transaction", id)
                    .after(Facts::new().text("assignee", "omar")),
                "ayesha changed who decides deposit 6f0c0000: omar",
            ),
            (
                Note::new("case.assign", "order", id)
                    .after(Facts::new().text("due", "2026-11-27T08:09:37.939Z")),
                "ayesha changed who decides exchange order 6f0c0000, due 27 Nov 2026 at 08:09 UTC",
            ),
            (Note::new("thing.change", "thing", "one"), "ayesha recorded “thing.change” about one"),
        ] {
            assert_eq!(told(note), expected);
        }
    }

    #[test]
    fn a_sentence_states_the_values_after_the_action() {
        let facts = |pairs: &[(&str, &str)]| {
            pairs.iter().fold(Facts::new(), |facts, (name, value)| facts.text(name, value))
        };
        let (omar, due) = (("assignee", "omar"), ("due", "2026-11-27T08:09:37Z"));
        let on = "due 27 Nov 2026 at 08:09 UTC";
        let ip = ("allowed_ips", "192.0.2.0/24");
        let url = ("url", "https://a.example/x");
        let case = |what: &str| format!("changed who decides payment p{what}");
        let key = |what: &str| format!("changed the networks of access key p{what}");
        let address = |what: &str| format!("changed the webhook address{what}");
        for (action, before, after, expected) in [
            ("case.assign", vec![omar], vec![], case(": no one")),
            ("case.assign", vec![omar, due], vec![], case(": no one, without a due time")),
            ("case.assign", vec![omar, due], vec![due], case(&format!(": no one, {on}"))),
            ("case.assign", vec![omar, due], vec![omar], case(": omar, without a due time")),
            ("case.assign", vec![due], vec![], case(", without a due time")),
            ("case.assign", vec![], vec![due], case(&format!(", {on}"))),
            ("case.assign", vec![("assignee", "sara")], vec![omar], case(": omar")),
            ("case.assign", vec![], vec![], case("")),
            ("key.allow", vec![ip], vec![("allowed_ips", "")], key(" to any")),
            ("key.allow", vec![ip], vec![("use", "api")], key(" to any")),
            ("key.allow", vec![("allowed_ips", "")], vec![ip], key(" to 192.0.2.0/24")),
            ("webhook.set_url", vec![url], vec![("url", "")], address(" to none")),
            ("webhook.set_url", vec![], vec![url], address(" to https://a.example/x")),
            // Closed: nothing is left of it.
            ("alert.close", vec![("what", "late")], vec![], "closed the alert “late”".to_owned()),
            // A value that only was is not stated as if it were.
            (
                "prefund.top_up",
                vec![("coin", "USDT"), ("reference", "r")],
                vec![("coin", "USDT"), ("paid_in", "5.00")],
                "topped up the prefund by 5.00 USDT".to_owned(),
            ),
        ] {
            let kind = if action == "key.allow" { "access_key" } else { "payment" };
            let subject = if action == "case.assign" { "payment p" } else { "p" };
            let note = Note::new(action, kind, subject).before(facts(&before)).after(facts(&after));
            assert_eq!(told(note), format!("ayesha {expected}"), "{action} {before:?} {after:?}");
        }
    }

    #[test]
    fn a_subject_with_a_page_is_a_link() {
        let id = "6f0c0000-0000-4000-8000-000000000000";
        let deed = AuditContext::new(Via::Cli, "op");
        let note = Note::new("wallet.block", "wallet", id);
        let entry = Head::default().append(TenantId(Uuid::nil()), Timestamp(1), deed, note);
        let href = format!("/console/t/demobank/wallets/{id}");
        let link = Part::Link { href, text: "wallet 6f0c0000".to_owned() };
        assert_eq!(sentence(&entry, Some("demobank")), [Part::Plain("blocked ".to_owned()), link]);
    }

    #[test]
    fn the_tables_are_sorted_and_have_no_name_twice() {
        for table in [ACTIONS, PROPOSALS, SUBJECTS] {
            assert!(table.windows(2).all(|two| two[0].0 < two[1].0), "{table:?}");
        }
    }

    #[test]
    fn every_kind_of_proposal_has_words() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../domain/src/approval.rs");
        let source = std::fs::read_to_string(source).expect("a source");
        let kinds = source.split("fn kind(").nth(1).and_then(|rest| rest.split("/// ").next());
        let kinds: Vec<&str> = kinds.expect("the function").split('"').skip(1).step_by(2).collect();
        assert!(kinds.len() >= PROPOSALS.len(), "{kinds:?}");
        for kind in kinds {
            assert!(text_for(PROPOSALS, kind).is_some(), "{kind}");
        }
    }

    #[test]
    fn every_verdict_on_a_deposit_has_a_sentence() {
        for verdict in ReviewVerdict::ALL {
            let action = format!("review.{}", verdict.name());
            assert!(text_for(ACTIONS, &action).is_some(), "{action}");
        }
    }

    /// Sealed columns, which are named in the same files.
    const NO_ACTIONS: &[&str] =
        &["access_key.secrets", "deliveries.csv", "webhook_endpoint.secrets"];

    fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() && !["tests", "target"].contains(&name) {
                sources(&path, found);
            } else if name.ends_with(".rs") && name != "sentences.rs" {
                found.push(path);
            }
        }
    }

    /// Names such as `wallet.block` in files that write audit entries, without those of statements.
    fn names_in(text: &str) -> BTreeSet<String> {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        if !["Note::new(", ".note(", "note("].iter().any(|it| code.contains(it)) {
            return BTreeSet::new();
        }
        let mut pieces = code.split('"').peekable();
        let mut names = BTreeSet::new();
        while let (Some(before), Some(literal)) = (pieces.next(), pieces.next()) {
            let is_name = literal.split_once('.').is_some_and(|(kind, verb)| {
                let is_word = |text: &str| {
                    !text.is_empty()
                        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
                };
                is_word(kind) && is_word(verb)
            });
            let before = before.trim_end();
            let is_statement = ["written(", "insert(", "insert_if_absent(", "by_keys("]
                .iter()
                .any(|call| before.ends_with(call))
                || before.ends_with("&str =");
            if is_name && !is_statement {
                names.insert(literal.to_owned());
            }
        }
        names
    }

    #[test]
    fn every_action_of_the_program_has_a_sentence() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut files = Vec::new();
        for part in ["store", "engine", "console", "cli", "service", "http"] {
            sources(&crates.join(part).join("src"), &mut files);
        }
        let mut names = BTreeSet::new();
        for file in files {
            names.extend(names_in(&std::fs::read_to_string(file).expect("a source")));
        }
        assert!(names.len() > 60, "{names:?}");
        let missing: Vec<_> = names
            .iter()
            .filter(|name| {
                text_for(ACTIONS, name).is_none() && !NO_ACTIONS.contains(&name.as_str())
            })
            .collect();
        assert!(missing.is_empty(), "without a sentence: {missing:?}");
        let unused: Vec<_> = ACTIONS
            .iter()
            .filter(|(name, _)| !names.contains(*name) && !name.starts_with("review."))
            .collect();
        assert!(unused.is_empty(), "no longer written: {unused:?}");
    }

    /// The document of the log is a list of all actions: `a.b`, or `.b` after another of the same kind.
    #[test]
    fn every_action_is_documented() {
        let document = include_str!("../../../../docs/audit.md");
        let mut documented = BTreeSet::new();
        for row in document.lines().filter_map(|line| line.strip_prefix("| `")) {
            let mut kind = "";
            for name in row.split('|').next().unwrap_or_default().split(['`', ',', ' ']) {
                let action = match name.split_once('.') {
                    Some(("", rest)) => format!("{kind}.{rest}"),
                    Some((its, _)) => {
                        kind = its;
                        name.to_owned()
                    }
                    None => continue,
                };
                documented.insert(action);
            }
        }
        let missing: Vec<_> =
            ACTIONS.iter().filter(|(name, _)| !documented.contains(*name)).collect();
        assert!(missing.is_empty(), "docs/audit.md lacks {missing:?}");
    }
}
