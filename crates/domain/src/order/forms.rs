//! The fields whose form depends on the destination country, as the OpenAPI document describes
//! them.

use crate::country::Country;

use super::{FIELDS, Field};

/// The form of one field in orders to one country.
#[derive(Clone, Debug)]
pub struct CountryForm {
    /// The field as [`FIELDS`] declares it for all countries.
    pub field: &'static Field,
    /// Regular expression of its texts.
    pub pattern: String,
    /// Description of the form: a sentence.
    pub description: String,
}

/// The fields of orders to `country` that have a form of their own there, in order.
pub fn country_forms(country: Country) -> impl Iterator<Item = CountryForm> {
    FIELDS.iter().filter_map(move |field| {
        let (pattern, description) = form(field.name, country)?;
        Some(CountryForm { field, pattern: format!("^{pattern}$"), description })
    })
}

fn form(field: &str, country: Country) -> Option<(String, String)> {
    let (rules, name) = (country.rules(), country.name());
    match field {
        "bank_branch_code" => {
            let bic = format!("[A-Z]{{4}}{}[A-Z0-9]{{2}}([A-Z0-9]{{3}})?", country.alpha2());
            let description = format!("BIC of a branch in {name}");
            Some(match &rules.local_code {
                Some(local) => (
                    format!("({bic}|{})", local.pattern),
                    format!("{description} or {}.", local.form),
                ),
                None => (bic, format!("{description}.")),
            })
        }
        "beneficiary_account_number" => {
            let checked = if rules.account.iban { "; check digits are verified" } else { "" };
            let description = format!("Must be {}{checked}.", rules.account.form);
            Some((rules.account.pattern.to_owned(), description))
        }
        "beneficiary_mobile" => Some((
            format!(r"\{}{}", rules.mobile.prefix, rules.mobile.pattern),
            format!("Mobile number of {name} in E.164: {}.", rules.mobile.form),
        )),
        _ => None,
    }
}
