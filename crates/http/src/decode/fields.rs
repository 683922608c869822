//! [`Fields`]: an object whose members are taken out one by one while faults gather.

use domain::fault::Fault;

use super::shape::Shape;
use super::{Rejection, missing};
use crate::json::{self, Object, Value};

/// The members of a JSON object and the faults found in them so far.
///
/// Takers are called in field order and answer `None` for what is absent or wrong; [`Fields::finish`] lets the value
/// be built only if nothing was wrong:
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
    /// No body, malformed JSON, or JSON that is no object.
    pub fn of_body(body: &'a [u8]) -> Result<Fields<'a>, Rejection> {
        if body.trim_ascii().is_empty() {
            return Err(Rejection::NoBody);
        }
        let object = json::parse(body)?.into_object().ok_or(Rejection::NotAnObject)?;
        Ok(Fields { object, faults: Vec::new() })
    }

    /// The value of a field that must be there; null and blank text count as absent.
    pub fn required<S: Shape>(&mut self, field: &'static str, shape: S) -> Option<S::Out> {
        match present(&self.object, field) {
            Some(value) if !is_blank(value) => read(value, field, &shape, &mut self.faults),
            _ => {
                self.faults.push(missing(field));
                None
            }
        }
    }

    /// The value of a field that may be absent, null or blank. A blank text breaks a shape that has a minimum length.
    pub fn optional<S: Shape>(&mut self, field: &'static str, shape: S) -> Option<S::Out> {
        let value = present(&self.object, field).filter(|value| shape.judges_blank() || !is_blank(value))?;
        read(value, field, &shape, &mut self.faults)
    }

    /// The fields of the object in the required field `field`. Its own fields are named with their whole path
    /// (`"amount.value"`), and its faults come back through [`Fields::absorb`].
    pub fn object(&mut self, field: &'static str) -> Option<Fields<'a>> {
        match present(&self.object, field) {
            Some(Value::Object(object)) => Some(Fields { object: object.clone(), faults: Vec::new() }),
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

    /// Takes over the faults of a nested object.
    pub fn absorb(&mut self, nested: Fields<'_>) {
        self.faults.extend(nested.faults);
    }

    /// Notes a fault that the caller found.
    pub fn refuse(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// Whether anything was wrong so far.
    pub fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Every fault, in the order in which the fields were taken.
    pub fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    /// The value that `build` makes of what was taken.
    ///
    /// # Errors
    /// Every fault, if there is one; `build` is not called then.
    pub fn finish<T>(self, build: impl FnOnce() -> Option<T>) -> Result<T, Rejection> {
        if self.faults.is_empty() {
            // A taker that answers `None` without a fault belongs to an optional field, which `build` must not unwrap.
            return build().ok_or(Rejection::NotAnObject);
        }
        Err(Rejection::body(self.faults))
    }
}

/// The member that `field` names by the last part of its path, unless it is null.
fn present<'o, 'a>(object: &'o Object<'a>, field: &str) -> Option<&'o Value<'a>> {
    let name = field.rsplit('.').next().unwrap_or(field);
    object.get(name).filter(|value| **value != Value::Null)
}

fn is_blank(value: &Value<'_>) -> bool {
    value.as_str().is_some_and(domain::characters::is_blank)
}

fn read<S: Shape>(value: &Value<'_>, field: &'static str, shape: &S, faults: &mut Vec<Fault>) -> Option<S::Out> {
    match shape.read(field, value) {
        Ok(out) => Some(out),
        Err(fault) => {
            faults.push(fault);
            None
        }
    }
}
