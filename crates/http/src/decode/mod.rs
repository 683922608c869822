//! The collecting decoder: takes typed values out of a body, a query string or a path and notes every fault.
//!
//! A taker never stops at the first fault, so a caller learns all of them at once, in the order of the fields. Rule
//! names are those of pydantic v2 (`missing`, `string_too_long`, `enum` …). It judges shape only: what a value means
//! (a known bank, an enabled corridor) is for the domain.

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

/// Which part of a request a fault is in: the first element of v2's `loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The JSON body.
    Body,
    /// The query string.
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

/// A request whose shape is wrong: v2 answers 422, v1 answers 400 INVALID_REQUEST.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The body is no JSON text.
    #[error("malformed JSON: {0}")]
    Json(#[from] JsonError),
    /// There is no body.
    #[error("the request has no body")]
    NoBody,
    /// The body is JSON, but no object.
    #[error("the body is not a JSON object")]
    NotAnObject,
    /// Fields that are wrong, in their order; never empty.
    #[error("{} field(s) of the {} are wrong", .faults.len(), .place.name())]
    Faults {
        /// Where the fields stand.
        place: Place,
        /// What is wrong with them.
        faults: Vec<Fault>,
    },
}

impl Rejection {
    /// Faults of the body: also for those that the domain finds.
    pub fn body(faults: Vec<Fault>) -> Rejection {
        Rejection::Faults { place: Place::Body, faults }
    }
}

/// The fault of a field that is required and absent, null or blank.
pub fn missing(field: &'static str) -> Fault {
    Fault::new(field, "missing", "Field required")
}
