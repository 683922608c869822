//! Shared code of the wallet commands: the default wallet, pages of lists, and printing of answers.

use clap::Args;
use domain::decimal::Decimal;
use serde_json::Value;
use serde_json::value::RawValue;

use super::api::{self, WalletApiArgs};
use super::failure::Failure;
use super::output::{self, Output};
use super::table::Column;
use super::{Context, document, ids};
use client::{Client, DataDir};

/// Entries per request, the API's maximum.
const PAGE: usize = 100;
/// Maximum number of pages that are searched for an object.
const PAGES_MAX: usize = 20;

/// Stands for the newest object of a wallet.
pub const LAST: &str = "last";

/// A list of a wallet's objects.
pub struct List {
    /// What an object is called.
    pub what: &'static str,
    /// The path below `/v1/sdk`.
    pub path: &'static str,
    /// The member with the objects.
    pub member: &'static str,
    /// The member of an object with its id.
    pub id: &'static str,
}

pub const REQUESTS: List = List {
    what: "payment request",
    path: "/payment-requests",
    member: "payment_requests",
    id: "payment_request_id",
};
pub const TRANSACTIONS: List = List {
    what: "transaction",
    path: "/transactions",
    member: "transactions",
    id: "transaction_id",
};
pub const ORDERS: List = List { what: "order", path: "/orders", member: "orders", id: "order_id" };

/// Where the beginning of an id is looked up.
#[derive(Args, Clone, Debug, Default)]
pub struct OfWallet {
    /// Wallet whose latest objects an id of 6 or more characters, or `last`, is looked up in
    /// [default: the running sandbox's wallet]
    #[arg(long, value_name = "ID")]
    pub wallet: Option<String>,
}

/// A client, the data directory and the output format.
pub struct Wire {
    pub client: Client,
    pub data_dir: DataDir,
    /// The value of `--output`.
    pub output: Output,
}

impl Wire {
    /// Connects with these options.
    pub fn open(args: &WalletApiArgs, context: &Context) -> Result<Wire, Failure> {
        let data_dir = context.data_dir()?;
        Ok(Wire { client: args.client(&data_dir)?, data_dir, output: context.output })
    }

    /// The named wallet, else the running sandbox's demo wallet, which its beginning names as well.
    pub fn wallet(&self, named: Option<&str>) -> Result<String, Failure> {
        let none = || {
            Failure::Usage("wallet id required (only a running sandbox has a default)".to_owned())
        };
        match named {
            // No list has the wallets of all customers.
            Some(text) if ids::is_start(text) => {
                ids::one_of(text, "wallet", self.sandbox_wallet()).map_err(|_| {
                    Failure::Usage(format!(
                        "{text} is the beginning of a wallet id: give the whole id (only that of the \
                         sandbox's own wallet may be shortened)"
                    ))
                })
            }
            Some(id) => Ok(id.to_owned()),
            None => self.sandbox_wallet().ok_or_else(none),
        }
    }

    fn sandbox_wallet(&self) -> Option<String> {
        let sandbox = self.data_dir.sandbox().ok().flatten()?;
        let ours = self.client.credentials().base_url
            == sandbox.others.get("wallet_base_url")?.as_str()?;
        sandbox.others.get("wallet_id").filter(|_| ours)?.as_str().map(str::to_owned)
    }

    /// POSTs a document to a path below `/v1/sdk` and returns the answer's body.
    pub fn post(&self, path: &str, body: &Value) -> Result<String, Failure> {
        let path = format!("/v1/sdk{path}");
        api::wait_for(async { Ok(self.client.post(&path, &body.to_string()).await?.body) })
    }

    /// GETs a path below `/v1/sdk`.
    pub fn get(&self, path: &str, query: &[(&str, String)]) -> Result<String, Failure> {
        let path = format!("/v1/sdk{path}");
        api::wait_for(async { Ok(self.client.get(&path, query).await?.body) })
    }

    /// Prints an object: as received, or as a table of the given members.
    pub fn show(&self, body: &str, members: &[(&str, &str)]) -> Result<(), Failure> {
        if self.output == Output::Json {
            return output::line(body);
        }
        let thing: Value = document::read(body)?;
        let shown: Vec<(&str, String)> =
            members.iter().map(|(name, path)| (*name, cell(&thing, path))).collect();
        output::members(&shown)
    }

    /// Prints a page of objects: as received, or as rows. `columns` are headings and their members;
    /// `none` is the remark about an empty page.
    pub fn show_page(
        &self,
        body: &str,
        list: &str,
        columns: &[(Column, &str)],
        none: &str,
    ) -> Result<(), Failure> {
        let entries = entries(body, list)?;
        if self.output == Output::Json {
            return entries.iter().try_for_each(|entry| output::line(entry.get()));
        }
        let mut rows = Vec::with_capacity(entries.len());
        for entry in &entries {
            let entry: Value = document::read(entry.get())?;
            rows.push(columns.iter().map(|(_, path)| cell(&entry, path)).collect());
        }
        let columns: Vec<Column> = columns.iter().map(|(column, _)| *column).collect();
        output::rows_or(&columns, rows, none)?;
        remark_pages(body)
    }

    /// The id that this text is, or is the beginning of among the latest objects of the wallet
    /// (`None`: the sandbox's); `last` is the newest.
    pub fn id(&self, list: &List, text: &str, wallet: Option<&str>) -> Result<String, Failure> {
        if !ids::is_start(text) && text != LAST {
            return Ok(text.to_owned());
        }
        let wallet = self.wallet(wallet)?;
        if text == LAST {
            let query = [("wallet_id", wallet.clone()), ("limit", "1".to_owned())];
            return newest(list, &self.get(list.path, &query)?, &wallet);
        }
        let known = self.latest(list, &wallet)?;
        let known = known.iter().map(|object| member(object, list.id));
        ids::one_of(text, list.what, known).map_err(|failure| match failure {
            Failure::Refused(why) => Failure::Refused(format!(
                "{why}{}these are of wallet {wallet}; --wallet names another one",
                ids::INDENT
            )),
            other => other,
        })
    }

    /// A wallet's latest objects, newest first.
    pub fn latest(&self, list: &List, wallet: &str) -> Result<Vec<Value>, Failure> {
        let mut found = Vec::new();
        for page in 0..PAGES_MAX {
            let query = [
                ("wallet_id", wallet.to_owned()),
                ("page", page.to_string()),
                ("limit", PAGE.to_string()),
            ];
            let entries = entries(&self.get(list.path, &query)?, list.member)?;
            let is_last = entries.len() < PAGE;
            for entry in entries {
                found.push(document::read(entry.get())?);
            }
            if is_last {
                break;
            }
        }
        Ok(found)
    }
}

/// The refusal of `last` for a wallet without objects.
pub fn none_yet(list: &List, wallet: &str) -> Failure {
    Failure::Refused(format!("last: wallet {wallet} has no {} yet", list.what))
}

/// The id of the newest object, which a page begins with.
fn newest(list: &List, body: &str, wallet: &str) -> Result<String, Failure> {
    let entries = entries(body, list.member)?;
    let first = entries.first().ok_or_else(|| none_yet(list, wallet))?;
    let newest: Value = document::read(first.get())?;
    Ok(member(&newest, list.id))
}

/// The objects of one page, as received.
pub fn entries(body: &str, list: &str) -> Result<Vec<Box<RawValue>>, Failure> {
    let page: document::Members = document::read(body)?;
    let missing = || Failure::Unavailable(format!("unexpected answer: {list} is missing"));
    document::read(page.get(list).ok_or_else(missing)?.get())
}

/// Prints a remark if there are more pages.
fn remark_pages(body: &str) -> Result<(), Failure> {
    let page: Value = document::read(body)?;
    let number = |name: &str| page.pointer(&format!("/pagination/{name}")).and_then(Value::as_u64);
    if let (Some(at), Some(of), Some(count)) =
        (number("page"), number("total_pages"), number("total_count"))
        && of > 1
    {
        output::remark(&position(at, of, count));
    }
    Ok(())
}

/// Which of several pages is shown. Their numbers start at 0.
fn position(at: u64, of: u64, count: u64) -> String {
    match at + 1 < of {
        true => {
            format!("Page {at}, the last is {}; {count} in all. More: --page {}", of - 1, at + 1)
        }
        false => format!("Page {at}, the last is {}; {count} in all.", of - 1),
    }
}

/// Several members of an answer in one cell, for example `amount.value amount.currency`.
///
/// A currency without the amount before it is left out: an order that failed has one of what it would
/// have paid.
fn cell(thing: &Value, paths: &str) -> String {
    let first = paths.split(' ').next().unwrap_or_default();
    let is_amount = first.ends_with("amount") || first.ends_with("amount.value");
    if is_amount && member(thing, first).is_empty() {
        return String::new();
    }
    let texts = paths.split(' ').map(|path| member(thing, path)).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join(" ")
}

fn member(thing: &Value, path: &str) -> String {
    match thing.pointer(&format!("/{}", path.replace('.', "/"))) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Options that select a page.
#[derive(Args, Clone, Copy, Debug)]
pub struct PageArgs {
    /// Page number, starting at 0
    #[arg(long, default_value_t = 0, value_name = "N")]
    page: u32,
    /// Results per page (1 to 100)
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
}

impl PageArgs {
    /// The page as query parameters.
    pub fn query(self) -> [(&'static str, String); 2] {
        [("page", self.page.to_string()), ("limit", self.limit.to_string())]
    }
}

/// Parses an amount of tokens or money: above 0, at most 6 decimals, as the API accepts it.
pub fn amount(text: &str) -> Result<String, String> {
    let value = Decimal::parse(text).map_err(|error| error.to_string())?;
    let fits = value > Decimal::ZERO && value.to_minor(6).is_some();
    if fits {
        Ok(value.to_string())
    } else {
        Err("must be above 0 with at most 6 decimals".to_owned())
    }
}

/// Parses a code in upper or lower case.
pub fn code(text: &str) -> Result<String, String> {
    let wrong = || "must be a code like USDC, PKR or SUSPICIOUS_ACTIVITY".to_owned();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.is_empty() || !text.chars().all(plain) {
        Err(wrong())
    } else {
        Ok(text.to_ascii_uppercase())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_show_members_and_omit_missing_ones() {
        let thing = json!({ "amount": { "value": "25.50", "currency": "USDC" }, "paid_at": null, "tries": 3 });
        assert_eq!(cell(&thing, "amount.value amount.currency"), "25.50 USDC");
        assert_eq!(cell(&thing, "paid_at tries nothing.here"), "3");
        assert_eq!(
            cell(&json!({ "amount": { "type": "flexible" } }), "amount.value amount.currency"),
            ""
        );
        let paths = "received_amount received_currency";
        for amount in [json!(null), json!("")] {
            let failed = json!({ "received_amount": amount, "received_currency": "PKR" });
            assert_eq!(cell(&failed, paths), "");
        }
        assert_eq!(cell(&json!({ "received_currency": "PKR" }), paths), "");
        let paid = json!({ "received_amount": "278.50", "received_currency": "PKR" });
        assert_eq!(cell(&paid, paths), "278.50 PKR");
    }

    #[test]
    fn last_is_the_newest_object_of_the_wallet() {
        let id = newest(&ORDERS, r#"{"orders":[{"order_id":"o2"},{"order_id":"o1"}]}"#, "w");
        assert_eq!(id.expect("the newest"), "o2");
        let none = newest(&REQUESTS, r#"{"payment_requests":[]}"#, "w").expect_err("none yet");
        assert_eq!(none.to_string(), "last: wallet w has no payment request yet");
    }

    #[test]
    fn a_page_names_the_next_one() {
        assert_eq!(position(0, 4, 7), "Page 0, the last is 3; 7 in all. More: --page 1");
        assert_eq!(position(3, 4, 7), "Page 3, the last is 3; 7 in all.");
    }

    #[test]
    fn amounts_follow_the_rules_of_the_api() {
        assert_eq!(amount("25.5"), Ok("25.5".to_owned()));
        for wrong in ["0", "-1", "1.0000001", "a", ""] {
            assert!(amount(wrong).is_err(), "{wrong}");
        }
        assert_eq!(code("usdc"), Ok("USDC".to_owned()));
        assert!(code("US DC").is_err() && code("").is_err());
    }
}
