//! [`Fields`]: an object whose members are taken one by one while errors are collected.

use domain::fault::Fault;

use super::shape::Shape;
use super::{MISSING, Rejection, missing};
use crate::json::{self, Object, Value};

/// The members of a JSON object and the errors found so far.
///
/// Takers are called in field order and return `None` for absent or invalid members;
/// [`Fields::finish`] builds the value only if there was no error:
///
/// ```
/// use http_api::decode::{Fields, shape};
/// let mut fields = Fields::of_body(br#"{"name":"Asha","note":null}"#)?;
/// let (name, note) = (fields.required("name", shape::text(70)), fields.optional("note", shape::text(70)));
/// let (name, note) = fields.finish(|| Some((name?, note)))?;
/// assert_eq!((name.as_str(), note), ("Asha", None));
/// # Ok::<(), http_api::decode::Rejection>(())
/// ```
#[derive(Debug)]
pub struct Fields<'a> {
    object: Object<'a>,
    faults: Vec<Fault>,
}

impl<'a> Fields<'a> {
    /// The fields of a request body.
    ///
    /// # Errors
    /// No body, malformed JSON, or JSON that is not an object.
    pub fn of_body(body: &'a [u8]) -> Result<Fields<'a>, Rejection> {
        if body.trim_ascii().is_empty() {
            return Err(Rejection::NoBody);
        }
        let object = json::parse(body)?.into_object().ok_or(Rejection::NotAnObject)?;
        Ok(Fields { object, faults: Vec::new() })
    }

    /// The value of a required field; null and blank text count as absent.
    pub fn required<S: Shape>(&mut self, field: &'static str, shape: S) -> Option<S::Out> {
        match present(&self.object, field) {
            Some(value) if !is_blank(value) => read(value, field, &shape, &mut self.faults),
            _ => {
                self.faults.push(missing(field));
                None
            }
        }
    }

    /// The value of an optional field: absent, null or blank is `None`. Blank text violates a shape
    /// with a minimum length.
    pub fn optional<S: Shape>(&mut self, field: &'static str, shape: S) -> Option<S::Out> {
        let value = present(&self.object, field)
            .filter(|value| shape.judges_blank() || !is_blank(value))?;
        read(value, field, &shape, &mut self.faults)
    }

    /// The fields of the object in the required field `field`. Its fields are named with their full
    /// path (`"amount.value"`); [`Fields::absorb`] collects its errors.
    pub fn object(&mut self, field: &'static str) -> Option<Fields<'a>> {
        match present(&self.object, field) {
            Some(Value::Object(object)) => {
                Some(Fields { object: object.clone(), faults: Vec::new() })
            }
            Some(_) => {
                self.faults.push(Fault::new(field, "dict_type", "Input should be an object"));
                None
            }
            None => {
                self.faults.push(missing(field));
                None
            }
        }
    }

    /// Takes over the errors of a nested object.
    pub fn absorb(&mut self, nested: Fields<'_>) {
        self.faults.extend(nested.faults);
    }

    /// Adds an error that the caller found. A field whose value is invalid is not missing as well.
    pub fn refuse(&mut self, fault: Fault) {
        let is_known = || self.faults.iter().any(|known| known.field == fault.field);
        if fault.rule != MISSING || !is_known() {
            self.faults.push(fault);
        }
    }

    /// Whether there was an error so far.
    pub fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Every error, in the order in which fields were taken.
    pub fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    /// The value that `build` creates.
    ///
    /// # Errors
    /// Every error, if there is one; `build` is not called then.
    pub fn finish<T>(self, build: impl FnOnce() -> Option<T>) -> Result<T, Rejection> {
        if self.faults.is_empty() {
            // A taker that returns `None` without an error belongs to an optional field, which
            // `build` must not unwrap.
            return build().ok_or(Rejection::NotAnObject);
        }
        Err(Rejection::body(self.faults))
    }
}

/// The member named by the last part of `field`'s path, unless it is null.
fn present<'o, 'a>(object: &'o Object<'a>, field: &str) -> Option<&'o Value<'a>> {
    let name = field.rsplit('.').next().unwrap_or(field);
    object.get(name).filter(|value| **value != Value::Null)
}

fn is_blank(value: &Value<'_>) -> bool {
    value.as_str().is_some_and(domain::characters::is_blank)
}

fn read<S: Shape>(
    value: &Value<'_>,
    field: &'static str,
    shape: &S,
    faults: &mut Vec<Fault>,
) -> Option<S::Out> {
    match shape.read(field, value) {
        Ok(out) => Some(out),
        Err(fault) => {
            faults.push(fault);
            None
        }
    }
}
