//! A tenant's look on its pages: the files of logo and colour, whose names contain their version, and
//! the contact for senders.

use axum::response::Response;
use domain::brand::{Brand, LogoKind};
use engine::wallets::BrandHead;
use http::{HeaderValue, StatusCode, header};

use super::answers::{FOR_GOOD, answer};

/// A logo opened by itself runs nothing and loads nothing.
const ALONE: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");

/// What a page says of its tenant's brand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Path of the style sheet that sets the colour.
    pub style: Option<String>,
    /// Path of the logo.
    pub logo: Option<String>,
    pub contact: Option<String>,
}

impl Look {
    pub fn of(head: &BrandHead) -> Look {
        let path = |extension: &str| format!("/pay/brand/{}.{extension}", head.version);
        Look {
            style: head.has_colour.then(|| path("css")),
            logo: head.logo.map(|kind| path(kind.name())),
            contact: head.contact.clone(),
        }
    }
}

/// The file of a brand with this extension.
pub fn file(brand: Brand, extension: &str) -> Option<Response> {
    if extension == "css" {
        let style = format!(":root {{ --brand: {}; }}\n", brand.colour?);
        return Some(answer(StatusCode::OK, "text/css; charset=utf-8", style, FOR_GOOD));
    }
    let logo = brand.logo.filter(|logo| logo.kind.name() == extension)?;
    let content_type = match logo.kind {
        LogoKind::Png => "image/png",
        LogoKind::Svg => "image/svg+xml",
    };
    let mut response = answer(StatusCode::OK, content_type, logo.bytes, FOR_GOOD);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, ALONE);
    Some(response)
}
