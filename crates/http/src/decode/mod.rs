//! The collecting decoder: takes typed values from a body, a query string or a path and collects
//! every error.
//!
//! A taker never stops at the first error, so callers see all of them at once, in field order. Rule
//! names follow pydantic v2 (`missing`, `string_too_long`, `enum` …). It checks structure only: the
//! meaning of a value (a known bank, an enabled corridor) belongs to the domain.

mod fields;
mod misspelt;
pub mod path;
pub mod query;
pub mod shape;
#[cfg(test)]
mod tests;

use domain::fault::Fault;

pub use fields::Fields;

use crate::json::JsonError;

/// The part of a request with an error: the first element of v2's `loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Body,
    Query,
    /// A segment of the path.
    Path,
    /// A header of the request.
    Header,
}

impl Place {
    /// The name in `loc`.
    pub const fn name(self) -> &'static str {
        match self {
            Place::Body => "body",
            Place::Query => "query",
            Place::Path => "path",
            Place::Header => "header",
        }
    }
}

/// A request with a wrong structure: v2 answers 422, v1 answers 400 INVALID_REQUEST.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The body is not valid JSON.
    #[error("malformed JSON: {0}")]
    Json(#[from] JsonError),
    /// The body is empty.
    #[error("the request has no body")]
    NoBody,
    /// The body is JSON but not an object.
    #[error("the body is not a JSON object")]
    NotAnObject,
    /// Invalid fields, in order; never empty.
    #[error("{} field(s) of the {} are wrong", .faults.len(), .place.name())]
    Faults {
        /// The part with the fields.
        place: Place,
        faults: Vec<Fault>,
    },
}

impl Rejection {
    /// Errors of the body, including those that the domain finds.
    pub fn body(faults: Vec<Fault>) -> Rejection {
        Rejection::Faults { place: Place::Body, faults }
    }
}

/// The error of a required field that is absent, null or blank.
pub fn missing(field: &'static str) -> Fault {
    Fault::new(field, MISSING, "Field required")
}

const MISSING: &str = "missing";
