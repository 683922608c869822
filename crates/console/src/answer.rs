//! Responses of the console, and the headers that every one carries.

use askama::Template;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use engine::payments::StoreError;
use http::{HeaderName, HeaderValue, StatusCode, header};

/// Nothing from other origins, nothing inline, no framing.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub type Answer = Result<Response, Stop>;

/// Why a page is not served. The guard renders it inside the console's layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Not found, or another tenant's: the same response.
    NotFound,
    /// None of the user's roles allows it.
    Forbidden,
    /// Invalid input, with a message for the user (422).
    Invalid(String),
    /// The same for one field of a form, by its name.
    Wrong(&'static str, String),
    /// Refused by a rule or the current state, with a message for the user (409).
    Refused(String),
    /// Too many requests of this kind (429).
    TooMany,
    /// The database or a port failed; logged where it happened (503).
    Unavailable,
}

impl Stop {
    /// The status of the response.
    pub const fn status(&self) -> StatusCode {
        match self {
            Stop::NotFound => StatusCode::NOT_FOUND,
            Stop::Forbidden => StatusCode::FORBIDDEN,
            Stop::Invalid(_) | Stop::Wrong(..) => StatusCode::UNPROCESSABLE_ENTITY,
            Stop::Refused(_) => StatusCode::CONFLICT,
            Stop::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Stop::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub fn words(&self) -> &str {
        match self {
            Stop::NotFound => "Page or record not found.",
            Stop::Forbidden => "Your roles do not allow this.",
            Stop::Invalid(words) | Stop::Wrong(_, words) | Stop::Refused(words) => words,
            Stop::TooMany => "Too many attempts. Please wait a moment.",
            Stop::Unavailable => "This is not available right now. Please try again in a moment.",
        }
    }

    /// A wrong value in the field of this name.
    pub fn wrong(field: &'static str, words: impl Into<String>) -> Stop {
        Stop::Wrong(field, words.into())
    }

    /// Logs an internal failure and hides its details from the user.
    pub fn failed(error: &dyn std::fmt::Display) -> Stop {
        tracing::error!(%error, "serving a console page failed");
        Stop::Unavailable
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Stop {
        match error {
            StoreError::NotFound(_) => Stop::NotFound,
            StoreError::Conflict(_) => Stop::Refused(
                "Another user changed this in the meantime. Please reload the page.".to_owned(),
            ),
            StoreError::Rejected(_) => Stop::Refused(
                "The database does not accept a value of this change. Nothing was changed."
                    .to_owned(),
            ),
            error => Stop::failed(&error),
        }
    }
}

impl From<askama::Error> for Stop {
    fn from(error: askama::Error) -> Stop {
        Stop::failed(&error)
    }
}

impl From<engine::payments::Denied> for Stop {
    fn from(denied: engine::payments::Denied) -> Stop {
        use engine::command::Refused;
        use engine::payments::Denied;
        match denied {
            Denied::Refused(Refused::NotFound) => Stop::NotFound,
            Denied::Store(error) => error.into(),
            Denied::Engine(error) => Stop::failed(&error),
            denied => Stop::Refused(sentence(&denied.to_string())),
        }
    }
}

impl From<engine::wallets::Denied> for Stop {
    fn from(denied: engine::wallets::Denied) -> Stop {
        use engine::command::Refused;
        use engine::wallets::Denied;
        match denied {
            Denied::NotFound(_) | Denied::NotOffered | Denied::Refused(Refused::NotFound) => {
                Stop::NotFound
            }
            Denied::Store(error) => error.into(),
            Denied::Engine(error) => Stop::failed(&error),
            Denied::Keys(error) => Stop::failed(&error),
            Denied::Chain(fault) => Stop::failed(&fault),
            denied => Stop::Refused(sentence(&denied.to_string())),
        }
    }
}

impl From<engine::console::Denied> for Stop {
    fn from(denied: engine::console::Denied) -> Stop {
        use engine::console::Denied;
        match denied {
            Denied::NotFound => Stop::NotFound,
            Denied::NotAllowed => Stop::Forbidden,
            Denied::Payments(denied) => denied.into(),
            Denied::Wallets(denied) => denied.into(),
            Denied::Store(error) => error.into(),
            denied => Stop::Refused(sentence(&denied.to_string())),
        }
    }
}

/// Formats a refusal's message as a sentence.
pub(super) fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).chain(['.']).collect()
    })
}

/// Carries the reason to the guard, which renders the page.
impl IntoResponse for Stop {
    fn into_response(self) -> Response {
        let mut response = plain(self.status(), self.words());
        response.extensions_mut().insert(self);
        response
    }
}

pub fn html(page: &impl Template) -> Answer {
    page_with(StatusCode::OK, page)
}

/// A page with another status than 200.
pub fn page_with(status: StatusCode, page: &impl Template) -> Answer {
    Ok(answer(status, "text/html; charset=utf-8", page.render()?.into(), "no-store"))
}

/// 303 See Other: the browser continues with GET, so a reload resubmits nothing. Local paths only.
pub fn see_other(path: &str) -> Response {
    let mut response = plain(StatusCode::SEE_OTHER, "");
    let path = if path.starts_with('/') && !path.starts_with("//") { path } else { "/console" };
    let path = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/console"));
    response.headers_mut().insert(header::LOCATION, path);
    response
}

/// A redirect to the identity provider: a URL from its discovery document, whose scheme was
/// checked.
///
/// # Errors
/// The URL is not a valid header value.
pub(super) fn leave_for(url: &str) -> Answer {
    let mut response = plain(StatusCode::SEE_OTHER, "");
    let url = HeaderValue::from_str(url).map_err(|error| Stop::failed(&error))?;
    response.headers_mut().insert(header::LOCATION, url);
    Ok(response)
}

/// A download, such as a CSV export. `name` is chosen by the console: no quotes, no control
/// characters.
pub fn download(name: &str, content_type: &'static str, body: Body) -> Response {
    let mut response = answer(StatusCode::OK, content_type, body, "no-store");
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

fn plain(status: StatusCode, text: &str) -> Response {
    answer(status, "text/plain; charset=utf-8", format!("{text}\n").into(), "no-store")
}

/// A response with the headers that every console response carries.
pub(super) fn answer(
    status: StatusCode,
    content_type: &'static str,
    body: Body,
    caching: &'static str,
) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, caching),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
