//! Identifiers in a path: `loc` is `["path","id"]`.

use domain::fault::Fault;
use domain::order::EXTERNAL_ID_MAX_CHARS;
use uuid::Uuid;

use super::shape::{AnyUuid, text_between};
use super::{Place, Rejection};

/// The id of one of the service's resources.
///
/// # Errors
/// `uuid_parsing`
pub fn uuid(id: &str) -> Result<Uuid, Rejection> {
    AnyUuid.read_str("id", id).map_err(of_path)
}

/// The external id of a payment.
///
/// # Errors
/// `string_too_short`, `string_too_long`, `control_character`
pub fn external_id(id: &str) -> Result<String, Rejection> {
    text_between(1, EXTERNAL_ID_MAX_CHARS).read_str("id", id).map_err(of_path)
}

/// A segment of percent-encoded UTF-8; `None` if it is invalid.
///
/// # Errors
/// `url_encoding`
pub fn text(segment: Option<&str>) -> Result<&str, Rejection> {
    segment.ok_or_else(|| {
        of_path(Fault::new("id", "url_encoding", "Parameter should be percent-encoded UTF-8"))
    })
}

fn of_path(fault: Fault) -> Rejection {
    Rejection::Faults { place: Place::Path, faults: vec![fault] }
}
