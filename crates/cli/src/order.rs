//! The payment order that `corridor pay` sends: example values, overlaid by file, flags and quote.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use domain::country::Country;
use domain::iban::Iban;
use domain::order::{FIELDS, Field, example, member_names};

use super::document::{self, Members};
use super::failure::Failure;
use client::{LastQuote, Quote};

/// Maximum size of an order file in bytes: the body limit of the API.
const MAX_ORDER_FILE_BYTES: u64 = 65_536;

/// The order's own options.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Order (a test key fills in a made-up example)")]
pub struct OrderArgs {
    /// JSON file with the order's fields; quote, country, currency and amount come from the quote
    #[arg(long, value_name = "FILE")]
    order: Option<PathBuf>,
    #[command(flatten)]
    given: FieldOptions,
    /// Last four digits of the example account, which select a sandbox outcome: 0001 failed, 0003
    /// reversed, 0004 unknown
    #[arg(long, value_name = "DIGITS", conflicts_with = "beneficiary_account_number", value_parser = four_digits)]
    account_ending: Option<String>,
    /// Any other field of the order, repeatable; `null` omits it
    #[arg(long = "field", value_name = "NAME=VALUE", value_parser = super::pair)]
    fields: Vec<(String, String)>,
}

/// The fields of the order that have an option of their own: those with one in the table of order
/// fields.
#[derive(Clone, Debug, Default)]
struct FieldOptions(Vec<(&'static str, String)>);

/// The option's name of each field that has one.
static OPTION_NAMES: LazyLock<Vec<(&Field, String)>> = LazyLock::new(|| {
    let fields = FIELDS.iter().filter(|field| field.option.is_some());
    fields.map(|field| (field, field.name.replace('_', "-"))).collect()
});

impl Args for FieldOptions {
    fn augment_args(command: Command) -> Command {
        OPTION_NAMES.iter().fold(command, |command, (field, name)| {
            let (placeholder, help) = field.option.unwrap_or_default();
            let option = Arg::new(field.name).long(name.as_str());
            command.arg(option.value_name(placeholder).help(help))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        FieldOptions::augment_args(command)
    }
}

impl FromArgMatches for FieldOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<FieldOptions, clap::Error> {
        let given = |(field, _): &(&'static Field, String)| {
            Some((field.name, matches.get_one::<String>(field.name)?.clone()))
        };
        Ok(FieldOptions(OPTION_NAMES.iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = FieldOptions::from_arg_matches(matches)?;
        Ok(())
    }
}

fn four_digits(text: &str) -> Result<String, String> {
    let right = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    right.then(|| text.to_owned()).ok_or_else(|| "must be four digits".to_owned())
}

impl OrderArgs {
    /// The example account with the given ending.
    pub fn ending(digits: &str) -> OrderArgs {
        OrderArgs { account_ending: Some(digits.to_owned()), ..OrderArgs::default() }
    }

    /// The example with the given beneficiary name.
    pub fn to(name: &str) -> OrderArgs {
        let given = FieldOptions(vec![("beneficiary_name", name.to_owned())]);
        OrderArgs { given, ..OrderArgs::default() }
    }

    /// Whether an option chooses the beneficiary's account.
    pub fn has_account(&self) -> bool {
        const NAME: &str = "beneficiary_account_number";
        self.account_ending.is_some()
            || self.given.0.iter().any(|(name, _)| *name == NAME)
            || self.fields.iter().any(|(name, _)| name == NAME)
    }

    /// Refuses options that no quote can make valid. `example` as in [`OrderArgs::document`].
    pub fn check(&self, example: bool) -> Result<(), Failure> {
        if self.account_ending.is_some() && !example {
            return Err(Failure::Usage("--account-ending: allowed with test keys only".to_owned()));
        }
        for (name, value) in &self.fields {
            if member_names().all(|member| member != name) {
                let known = member_names().collect::<Vec<_>>().join(", ");
                return Err(Failure::Usage(format!(
                    "--field {name}: unknown field; known fields: {known}"
                )));
            }
            if name == "amount" && value != "null" && value.parse::<serde_json::Number>().is_err() {
                return Err(Failure::Usage("--field amount: must be a number".to_owned()));
            }
        }
        // Not read yet: what comes through a pipe is read once.
        let Some(path) = &self.order else { return Ok(()) };
        let found = std::fs::metadata(path).map(drop);
        found.map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
    }

    /// The order as JSON. `example` allows example values for missing fields: only for keys that
    /// move no real money.
    pub fn document(
        &self,
        last: &LastQuote,
        quote: &Quote,
        example: bool,
    ) -> Result<String, Failure> {
        self.check(example)?;
        let mut members = if example { self.example(last, quote)? } else { Members::new() };
        members.append(&mut read_order_file(self.order.as_ref())?);
        for (name, value) in
            [("beneficiary_account_number", &last.account), ("bank_branch_code", &last.branch)]
        {
            if let Some(value) = value {
                members.insert(name.to_owned(), document::text(value)?);
            }
        }
        for (name, value) in &self.given.0 {
            members.insert((*name).to_owned(), document::text(value)?);
        }
        for (name, value) in
            [("quote", &quote.id), ("country", &quote.country), ("currency", &quote.currency)]
        {
            members.insert(name.to_owned(), document::text(value)?);
        }
        members.insert("amount".to_owned(), document::raw(quote.amount_destination.to_string())?);
        for (name, value) in &self.fields {
            match (name.as_str(), value.as_str()) {
                (_, "null") => drop(members.remove(name)),
                ("amount", number) => {
                    drop(members.insert(name.clone(), document::raw(number.to_owned())?))
                }
                (_, text) => drop(members.insert(name.clone(), document::text(text)?)),
            }
        }
        document::object(&members)
    }

    fn example(&self, last: &LastQuote, quote: &Quote) -> Result<Members, Failure> {
        let unknown = || {
            Failure::Unavailable(format!(
                "the quote's country {:?} is unknown to this version",
                quote.country
            ))
        };
        let country = Country::parse(&quote.country).ok_or_else(unknown)?;
        let mut members = Members::new();
        for field in FIELDS {
            let value = match (&self.account_ending, field.name) {
                (Some(ending), "beneficiary_account_number") => {
                    Some(example::account_ending(country, ending))
                }
                _ => field.example_for(country),
            };
            if let Some(value) = value {
                members.insert(field.name.to_owned(), document::text(&value)?);
            }
        }
        // An account of another bank than the example's has another branch code.
        let bank = |account: &str| Iban::parse(country, account).ok();
        let own = last.account.as_deref().and_then(bank);
        let usual = bank(&example::account_ending(country, example::NEUTRAL_ENDING));
        if let Some((own, usual)) = own.zip(usual)
            && own.bank() != usual.bank()
        {
            members.insert("bank_branch_code".to_owned(), document::text(own.branch())?);
        }
        Ok(members)
    }
}

/// The members of an order's JSON file; none without a file.
pub fn read_order_file(path: Option<&PathBuf>) -> Result<Members, Failure> {
    let Some(path) = path else { return Ok(Members::new()) };
    let failed = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if size > MAX_ORDER_FILE_BYTES {
        return Err(failed(format!("is larger than {MAX_ORDER_FILE_BYTES} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| failed(format!("not a JSON object: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const QUOTE: &str = r#"{"id":"6f0c","country":"PAK","currency":"AED","amount":500,"amount_destination":37912.05,
        "rate":75.8241,"timestamp":"t","expires":"t","wallet_rate":278.75}"#;

    fn order(
        args: &OrderArgs,
        account: Option<&str>,
        example: bool,
    ) -> Result<(String, Value), Failure> {
        let last = LastQuote {
            base_url: "http://x".to_owned(),
            quote: document::raw(QUOTE.to_owned()).expect("JSON"),
            account: account.map(str::to_owned),
            branch: None,
        };
        let text = args.document(&last, &document::read(QUOTE).expect("a quote"), example)?;
        let value = serde_json::from_str(&text).expect("JSON");
        Ok((text, value))
    }

    #[test]
    fn with_a_test_key_the_example_completes_the_order() {
        let (text, order) = order(&OrderArgs::default(), None, true).expect("an order");
        assert!(
            text.contains(r#""amount":37912.05"#),
            "the amount is the quote's own text: {text}"
        );
        assert_eq!(order["quote"], "6f0c");
        assert_eq!(order["beneficiary_account_number"], "PK36SCBL0000001123456702");
        assert_eq!(order["sender_birthdate"], "1988-04-12");
        assert_eq!(order["external_id"], Value::Null);
    }

    #[test]
    fn an_account_at_another_bank_has_the_branch_code_of_its_iban() {
        for (account, code) in [
            (None, "the example's"),
            (Some("PK36SCBL0000001123456702"), "the example's"),
            (Some("PK91MEZN0001090101234567"), "MEZN"),
            (Some("not an IBAN"), "the example's"),
        ] {
            let (_, usual) = order(&OrderArgs::default(), None, true).expect("an order");
            let (_, order) = order(&OrderArgs::default(), account, true).expect("an order");
            let usual = usual["bank_branch_code"].as_str().expect("a code");
            let code = if code == "MEZN" { code } else { usual };
            assert_eq!(order["bank_branch_code"], code, "{account:?}");
        }
        let live = order(&OrderArgs::default(), Some("PK91MEZN0001090101234567"), false);
        assert_eq!(live.expect("an order").1.get("bank_branch_code"), None);
    }

    #[test]
    fn an_option_for_the_account_is_noticed() {
        let field = |name: &str| OrderArgs {
            fields: vec![(name.to_owned(), "1".to_owned())],
            ..OrderArgs::default()
        };
        assert!(OrderArgs::ending("0001").has_account());
        assert!(field("beneficiary_account_number").has_account());
        assert!(!field("sender_city").has_account() && !OrderArgs::to("A").has_account());
    }

    #[test]
    fn with_a_live_key_nothing_is_made_up() {
        let (_, order) = order(&OrderArgs::default(), None, false).expect("an order");
        assert_eq!(order.as_object().expect("an object").len(), 4, "{order}");
        let ending = OrderArgs { account_ending: Some("0001".to_owned()), ..OrderArgs::default() };
        assert!(self::order(&ending, None, false).is_err());
    }

    #[test]
    fn flags_win_over_the_file_and_the_quote_over_both() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let text = r#"{"quote":"old","amount":1,"remarks":"from file","sender_name":"From File","odd":1.100000000001}"#;
        std::io::Write::write_all(&mut file, text.as_bytes()).expect("written");
        let args = OrderArgs {
            order: Some(file.path().to_owned()),
            given: FieldOptions(vec![
                ("sender_name", "From Flag".to_owned()),
                ("external_id", "mine-1".to_owned()),
            ]),
            fields: vec![
                ("beneficiary_email".to_owned(), "null".to_owned()),
                ("sender_city".to_owned(), "Muscat".to_owned()),
            ],
            ..OrderArgs::default()
        };
        let (text, order) = order(&args, Some("ACCOUNT"), true).expect("an order");
        assert_eq!(
            (order["quote"].as_str(), order["remarks"].as_str()),
            (Some("6f0c"), Some("from file"))
        );
        assert_eq!(
            (order["sender_name"].as_str(), order["external_id"].as_str()),
            (Some("From Flag"), Some("mine-1"))
        );
        assert_eq!(order["beneficiary_account_number"], "ACCOUNT");
        assert_eq!(
            (order["sender_city"].as_str(), order.get("beneficiary_email")),
            (Some("Muscat"), None)
        );
        assert!(text.contains("1.100000000001") && text.contains("37912.05"), "{text}");
    }

    #[test]
    fn options_are_checked_before_anything_is_asked_for() {
        let fields = |name: &str, value: &str| OrderArgs {
            fields: vec![(name.to_owned(), value.to_owned())],
            ..OrderArgs::default()
        };
        assert!(fields("sender_city", "Muscat").check(true).is_ok());
        assert!(fields("amount", "1.50").check(true).is_ok());
        for (wrong, named) in [
            (fields("nosuch", "1"), "--field nosuch"),
            (fields("amount", "much"), "--field amount"),
            (
                OrderArgs { order: Some("/nowhere/at/all".into()), ..OrderArgs::default() },
                "/nowhere",
            ),
        ] {
            let message = wrong.check(true).expect_err(named).to_string();
            assert!(message.contains(named), "{message}");
        }
        assert!(OrderArgs::ending("0001").check(false).is_err());
    }

    #[test]
    fn an_ending_chooses_the_sandbox_outcome() {
        let args = OrderArgs { account_ending: Some("0004".to_owned()), ..OrderArgs::default() };
        let (_, order) = order(&args, None, true).expect("an order");
        assert!(
            order["beneficiary_account_number"].as_str().is_some_and(|iban| iban.ends_with("0004")),
            "{order}"
        );
        assert!(four_digits("12a4").is_err());
    }
}
