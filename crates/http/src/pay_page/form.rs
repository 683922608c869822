//! The sender's details form (`docs/pay-page.md`): all errors at once, each beside its
//! field.

use domain::characters::{is_blank, is_unshowable};
use domain::email::{EMAIL_MAX_BYTES, is_email};
use domain::payment_request::SenderDetails;
use domain::phone::{self, DialCountry};

use crate::decode::query::Query;

const NAME_MAX_CHARS: usize = 70;
const PHONE_MAX_CHARS: usize = 32;
const PROVIDER_MAX_CHARS: usize = 100;
const COUNTRY_CHARS: usize = 2;

/// A form field with its input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The text that the visitor entered.
    pub value: String,
    /// The error, as a message key of the pages.
    pub fault: Option<&'static str>,
}

impl Field {
    /// Whether the field has an error.
    pub const fn is_wrong(&self) -> bool {
        self.fault.is_some()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    pub first_name: Field,
    pub last_name: Field,
    /// The member `email`, which is optional.
    pub email: Field,
    /// The country chosen for the phone number, if any.
    pub phone_country: String,
    pub phone_number: Field,
    pub custodial_provider: Field,
}

impl Form {
    /// Parses the body of a POST.
    ///
    /// # Errors
    /// The form with its errors.
    pub fn read(body: &[u8]) -> Result<SenderDetails, Box<Form>> {
        let text = std::str::from_utf8(body).unwrap_or_default();
        let mut query = Query::of(Some(text));
        let mut field = |name, max, check: fn(&str) -> Option<&'static str>| {
            let value =
                query.optional(name, |_, given| Ok(given.trim().to_owned())).unwrap_or_default();
            let value = if is_blank(&value) { String::new() } else { value };
            let fault = if value.chars().any(is_unshowable) {
                Some("fault-characters")
            } else if value.chars().count() > max {
                Some("fault-long")
            } else {
                check(&value)
            };
            Field { value, fault }
        };
        let phone_country = field("phone_country", COUNTRY_CHARS, |_| None).value;
        let country = DialCountry::parse(&phone_country);
        let mut phone_number = field("phone_number", PHONE_MAX_CHARS, |_| None);
        match phone::international(&phone_number.value, country) {
            Some(value) => phone_number = Field { value, fault: None },
            None if phone_number.is_wrong() => {}
            None if country.is_some() || phone::has_calling_code(&phone_number.value) => {
                phone_number.fault = Some("fault-phone-number");
            }
            None => phone_number.fault = Some("fault-phone"),
        }
        // A name typed beside the choices goes before a choice.
        let other = field("custodial_other", PROVIDER_MAX_CHARS, |_| None);
        let chosen = field("custodial_provider", PROVIDER_MAX_CHARS, |_| None);
        let mut provider = if other.value.is_empty() { chosen } else { other };
        provider.fault = provider.fault.or(missing(&provider.value, "fault-provider"));
        let form = Form {
            first_name: field("first_name", NAME_MAX_CHARS, |text| {
                (!has_letter(text)).then_some("fault-first-name")
            }),
            last_name: field("last_name", NAME_MAX_CHARS, |text| {
                (!text.is_empty() && !has_letter(text)).then_some("fault-last-name")
            }),
            email: field("email", EMAIL_MAX_BYTES, email_fault),
            phone_country,
            phone_number,
            custodial_provider: provider,
        };
        if form.has_faults() { Err(Box::new(form)) } else { Ok(form.details()) }
    }

    /// Whether any field has an error.
    pub fn has_faults(&self) -> bool {
        [
            &self.first_name,
            &self.last_name,
            &self.email,
            &self.phone_number,
            &self.custodial_provider,
        ]
        .into_iter()
        .any(Field::is_wrong)
    }

    fn details(self) -> SenderDetails {
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        SenderDetails {
            first_name: some(self.first_name.value),
            last_name: some(self.last_name.value),
            email: some(self.email.value),
            phone_number: some(self.phone_number.value),
            custodial_provider: some(self.custodial_provider.value),
        }
    }
}

/// Whether a name has a letter of any script.
fn has_letter(name: &str) -> bool {
    name.chars().any(char::is_alphabetic)
}

fn missing(text: &str, fault: &'static str) -> Option<&'static str> {
    text.is_empty().then_some(fault)
}

fn email_fault(text: &str) -> Option<&'static str> {
    let right = text.is_empty() || is_email(text);
    (!right).then_some("fault-email")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = "first_name=+Asha+&last_name=Khan&email=asha%40example.com&phone_number=0092+300-1234567&custodial_provider=Binance";

    #[test]
    fn a_form_is_read_as_users_fill_it_in() {
        let details = Form::read(FULL.as_bytes()).expect("valid");
        assert_eq!(
            details,
            SenderDetails {
                first_name: Some("Asha".to_owned()),
                last_name: Some("Khan".to_owned()),
                email: Some("asha@example.com".to_owned()),
                phone_number: Some("+923001234567".to_owned()),
                custodial_provider: Some("Binance".to_owned()),
            }
        );
        let without = FULL.replace("asha%40example.com", "");
        assert_eq!(Form::read(without.as_bytes()).expect("valid").email, None);
        let single = FULL.replace("last_name=Khan", "last_name=");
        assert_eq!(Form::read(single.as_bytes()).expect("one name is enough").last_name, None);
        let local = FULL.replace("0092+300-1234567", "0501234567&phone_country=AE");
        let number = Form::read(local.as_bytes()).expect("a national number").phone_number;
        assert_eq!(number.as_deref(), Some("+971501234567"));
        for (given, provider) in [
            ("custodial_provider=OKX&custodial_other=", "OKX"),
            ("custodial_other=+Exampex+", "Exampex"),
            ("custodial_provider=OKX&custodial_other=Exampex", "Exampex"),
        ] {
            let body = FULL.replace("custodial_provider=Binance", given);
            let details = Form::read(body.as_bytes()).expect("valid");
            assert_eq!(details.custodial_provider.as_deref(), Some(provider), "{given}");
        }
    }

    #[test]
    fn every_error_is_shown_beside_its_field_and_the_input_is_kept() {
        let form = Form::read(b"").expect_err("everything is missing");
        let wrong = |form: &Form| {
            [
                &form.first_name,
                &form.last_name,
                &form.email,
                &form.phone_number,
                &form.custodial_provider,
            ]
            .map(Field::is_wrong)
        };
        assert_eq!(wrong(&form), [true, false, false, true, true]);
        for (from, to, at) in [
            ("first_name=+Asha+", "first_name=%20", 0),
            ("last_name=Khan", "last_name=a%0Ab", 1),
            // Invisible input counts as empty; characters that reorder or hide text are rejected.
            ("first_name=+Asha+", "first_name=%E2%80%8B%E3%85%A4", 0),
            ("last_name=Khan", "last_name=%E2%80%AEnahK", 1),
            ("Binance", "%EE%80%80", 4),
            ("asha%40example.com", "asha", 2),
            ("0092+300-1234567", "0300+1234567", 3),
            ("Binance", &"x".repeat(101), 4),
        ] {
            let form = Form::read(FULL.replace(from, to).as_bytes()).expect_err("wrong");
            assert_eq!(wrong(&form).iter().position(|wrong| *wrong), Some(at));
            assert_eq!(wrong(&form).iter().filter(|wrong| **wrong).count(), 1);
        }
        let form =
            Form::read(FULL.replace("asha%40example.com", "asha").as_bytes()).expect_err("wrong");
        assert_eq!((form.email.value.as_str(), form.first_name.value.as_str()), ("asha", "Asha"));
    }

    #[test]
    fn a_name_has_a_letter_of_some_script() {
        for name in ["Asha", "U", "李", "محمد", "नीला", "O’Brien", "3M", "X Æ A-12", "e\u{301}"]
        {
            for (field, was) in [("first_name", "+Asha+"), ("last_name", "Khan")] {
                let body = FULL.replace(&format!("{field}={was}"), &format!("{field}={name}"));
                assert!(Form::read(body.as_bytes()).is_ok(), "{field} {name}");
            }
        }
        for name in ["😀", ".", "-", "12345", "१२३", "٣", "—", "_", "🇦🇪", "’"] {
            let read = |field, was| {
                let body = FULL.replace(&format!("{field}={was}"), &format!("{field}={name}"));
                Form::read(body.as_bytes()).expect_err(name)
            };
            let (first, last) = (read("first_name", "+Asha+"), read("last_name", "Khan"));
            assert_eq!(first.first_name.fault, Some("fault-first-name"), "{name}");
            assert_eq!(last.last_name.fault, Some("fault-last-name"), "{name}");
            assert_eq!(last.last_name.value, name);
        }
    }

    #[test]
    fn a_wrong_phone_number_is_not_called_one_without_a_country() {
        for (number, country, fault) in [
            ("0501234567", "", "fault-phone"),
            ("123", "AE", "fault-phone-number"),
            ("", "AE", "fault-phone-number"),
            ("%2B97", "", "fault-phone-number"),
            ("0501234567+ext+5", "AE", "fault-phone-number"),
        ] {
            let given = format!("phone_number={number}&phone_country={country}");
            let body = FULL.replace("phone_number=0092+300-1234567", &given);
            let form = Form::read(body.as_bytes()).expect_err("wrong");
            assert_eq!(form.phone_number.fault, Some(fault), "{given}");
        }
        let given = "phone_country=AE&phone_number=%E2%80%AA%D9%A0%D9%A5%D9%A0%D9%A1%D9%A2%D9%A3%D9%A4%D9%A5%D9%A6%D9%A7%E2%80%AC";
        let body = FULL.replace("phone_number=0092+300-1234567", given);
        let number = Form::read(body.as_bytes()).expect("in Arabic digits").phone_number;
        assert_eq!(number.as_deref(), Some("+971501234567"));
    }

    #[test]
    fn a_body_that_is_no_form_is_an_empty_one() {
        for body in [&b"\xff\xfe"[..], b"{}", b"first_name=%FF", b"first_name=a&first_name=b"] {
            assert!(Form::read(body).expect_err("wrong").first_name.is_wrong());
        }
    }
}
