//! What a page answers, and the headers that every answer carries.

use askama::Template;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use engine::payments::StoreError;
use http::{HeaderName, HeaderValue, StatusCode, header};

/// Nothing from elsewhere, nothing inline, no frame around it.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What handlers return.
pub type Answer = Result<Response, Stop>;

/// Why there is no page. The gate writes it as a page in the console's frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// There is no such thing, or it is another tenant's: the same answer.
    NotFound,
    /// None of the person's roles allows it.
    Forbidden,
    /// What was sent is not usable, in words for the person (422).
    Invalid(String),
    /// The rules or the present state speak against it, in words for the person (409).
    Refused(String),
    /// Too often (429).
    TooMany,
    /// The database or a port did not answer; it is logged where it happened (503).
    Unavailable,
}

impl Stop {
    /// The status that it is answered with.
    pub const fn status(&self) -> StatusCode {
        match self {
            Stop::NotFound => StatusCode::NOT_FOUND,
            Stop::Forbidden => StatusCode::FORBIDDEN,
            Stop::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Stop::Refused(_) => StatusCode::CONFLICT,
            Stop::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Stop::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The same in words.
    pub fn words(&self) -> &str {
        match self {
            Stop::NotFound => "There is no such page, or nothing of that id.",
            Stop::Forbidden => "None of your roles allows this.",
            Stop::Invalid(words) | Stop::Refused(words) => words,
            Stop::TooMany => "Too many tries. Please wait a moment.",
            Stop::Unavailable => "This cannot be done right now. Please try again in a moment.",
        }
    }

    /// Logs a failure that is nobody's fault and hides it from the reader.
    pub fn failed(error: &dyn std::fmt::Display) -> Stop {
        tracing::error!(%error, "a console page could not be served");
        Stop::Unavailable
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Stop {
        match error {
            StoreError::NotFound(_) => Stop::NotFound,
            StoreError::Conflict(_) => Stop::Refused("Somebody else has changed this meanwhile.".to_owned()),
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
            Denied::NotFound(_) | Denied::NotOffered | Denied::Refused(Refused::NotFound) => Stop::NotFound,
            Denied::Store(error) => error.into(),
            Denied::Engine(error) => Stop::failed(&error),
            Denied::Keys(error) => Stop::failed(&error),
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

/// Words of a refusal as a sentence.
pub(super) fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).chain(['.']).collect())
}

/// Carries the reason to the gate, which knows what the page around it must show.
impl IntoResponse for Stop {
    fn into_response(self) -> Response {
        let mut response = plain(self.status(), self.words());
        response.extensions_mut().insert(self);
        response
    }
}

/// A page.
///
/// # Errors
/// The template could not be written.
pub fn html(page: &impl Template) -> Answer {
    page_with(StatusCode::OK, page)
}

/// A page with another status than 200.
///
/// # Errors
/// As [`html`].
pub fn page_with(status: StatusCode, page: &impl Template) -> Answer {
    Ok(answer(status, "text/html; charset=utf-8", page.render()?.into(), "no-store"))
}

/// 303: what comes next is read with GET, so that reloading it sends nothing twice. A path only: never leads elsewhere.
pub fn see_other(path: &str) -> Response {
    let mut response = plain(StatusCode::SEE_OTHER, "");
    let path = if path.starts_with('/') && !path.starts_with("//") { path } else { "/console" };
    let path = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/console"));
    response.headers_mut().insert(header::LOCATION, path);
    response
}

/// The same to the identity provider: an address that its description names, of a scheme that was looked at there.
///
/// # Errors
/// It is no header value.
pub(super) fn leave_for(url: &str) -> Answer {
    let mut response = plain(StatusCode::SEE_OTHER, "");
    let url = HeaderValue::from_str(url).map_err(|error| Stop::failed(&error))?;
    response.headers_mut().insert(header::LOCATION, url);
    Ok(response)
}

/// A file to be kept, such as a CSV export. `name` is one of ours: no quotes, no control characters.
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

/// An answer with all headers that every one of the console's answers carries.
pub(super) fn answer(status: StatusCode, content_type: &'static str, body: Body, caching: &'static str) -> Response {
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
