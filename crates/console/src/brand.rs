//! How a tenant's payment pages look: logo, colour and contact, with a preview of the top of a page.

use askama::Template;
use domain::brand::{self, Brand, Colour, LOGO_MAX_BYTES, Logo, LogoKind};
use http::{HeaderValue, StatusCode, header};

use super::answer::{Answer, Stop, answer};
use super::layout::Frame;
use super::routes::Routes;
use super::view::{Field, FieldKind, FormView, Section, retried};
use super::visit::Visit;
use super::{encoded, html};

const SET: &str = "/console/t/{tenant}/brand/set";
/// A logo opened by itself runs nothing and loads nothing.
const ALONE: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/console/t/{tenant}/brand", show)
        .get("/console/t/{tenant}/brand/logo", logo)
        .get("/console/t/{tenant}/brand/preview.css", style)
        .post(SET, set)
        .post("/console/t/{tenant}/brand/upload", add_logo)
        .post("/console/t/{tenant}/brand/remove-logo", remove_logo)
}

impl BrandPage {
    fn is_primary(&self, form: &FormView) -> bool {
        form.id == "brand"
    }
}

#[derive(Template)]
#[template(path = "console/brand.html")]
struct BrandPage {
    frame: Frame,
    /// The style sheet that sets the shown colour.
    style: Option<String>,
    logo: Option<String>,
    name: String,
    contact: Option<String>,
    /// The shown colour, and what its contrast is.
    colour: Option<(String, String)>,
    /// Whether the colour is not saved.
    is_tried: bool,
    sections: Vec<Section>,
}

async fn current(visit: &Visit) -> Result<Brand, Stop> {
    Ok(visit.console().store().brand(visit.tenant_id()?).await?.unwrap_or_default())
}

/// A contrast such as `5.7 : 1`.
fn contrast(colour: Colour) -> String {
    let tenths = colour.contrast_tenths();
    format!(
        "White text has a contrast of {}.{} : 1 on it; 4.5 : 1 is required.",
        tenths / 10,
        tenths % 10
    )
}

fn colour(text: &str) -> Result<Colour, Stop> {
    Colour::parse(text).map_err(|rule| Stop::wrong("colour", format!("Colour: {rule}.")))
}

async fn show(visit: Visit) -> Answer {
    let brand = current(&visit).await?;
    let tried = visit.query().given("colour").map(colour).transpose()?;
    let shown = tried.or(brand.colour);
    let may = visit.may_use("POST", SET);
    let field = |name, label| Field::line(name, label).optional();
    let text = |colour: Option<Colour>| colour.map(|it| it.to_string()).unwrap_or_default();
    let mut forms = Vec::new();
    if may {
        let says = "A colour such as #0b6b3a, on which white text is readable. The contact stands on the payment page's help.";
        forms.push(
            FormView::new("brand", "Colour and contact", visit.href("/brand/set"), "Save")
                .says(says)
                .field(field("colour", "Colour").holding(text(shown)))
                .field(
                    field("contact", "Contact for senders")
                        .holding(brand.contact.clone().unwrap_or_default()),
                )
                .why(),
        );
        let says =
            format!("PNG or SVG, at most {} KiB, shown 32 pixels high.", LOGO_MAX_BYTES / 1024);
        forms.push(
            FormView::new("logo", "Logo", visit.href("/brand/upload"), "Save logo")
                .says(says)
                .field(Field::file("file", "File", ".png,.svg,image/png,image/svg+xml"))
                .why(),
        );
        if brand.logo.is_some() {
            let to = visit.href("/brand/remove-logo");
            forms.push(
                FormView::new("no-logo", "Remove the logo", to, "Remove logo").why().danger(),
            );
        }
    }
    let preview = FormView {
        button: "Preview",
        ..FormView::lookup(vec![
            Field::line("colour", "Preview another colour").holding(text(shown)),
        ])
    };
    let sections = vec![
        Section { filters: Some(preview), ..Section::default() },
        Section { title: "Change".to_owned(), forms, ..Section::default() },
    ];
    let style = shown
        .map(|it| visit.href(&format!("/brand/preview.css?colour={}", encoded(&it.to_string()))));
    // Another logo has another length.
    let logo =
        brand.logo.as_ref().map(|logo| visit.href(&format!("/brand/logo?v={}", logo.bytes.len())));
    let (frame, sections) = retried(&visit, "Brand", sections);
    html(&BrandPage {
        frame,
        style,
        logo,
        name: visit.tenant()?.name.clone(),
        contact: brand.contact,
        colour: shown.map(|it| (it.to_string(), contrast(it))),
        is_tried: tried.is_some() && tried != brand.colour,
        sections,
    })
}

/// The logo for the preview: the console may be served under a host of its own.
async fn logo(visit: Visit) -> Answer {
    let logo = current(&visit).await?.logo.ok_or(Stop::NotFound)?;
    let kind = match logo.kind {
        LogoKind::Png => "image/png",
        LogoKind::Svg => "image/svg+xml",
    };
    let mut response = answer(StatusCode::OK, kind, logo.bytes.into(), "no-store");
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, ALONE);
    Ok(response)
}

/// The colour of the preview as a style sheet: the page's policy allows no inline style.
async fn style(visit: Visit) -> Answer {
    let colour = Colour::parse(visit.query().text("colour")).map_err(Stop::Invalid)?;
    let style = format!(":root {{ --brand: {colour}; }}\n");
    Ok(answer(StatusCode::OK, "text/css; charset=utf-8", style.into(), "no-store"))
}

async fn saved(visit: &Visit, brand: Brand) -> Answer {
    let why = visit.why()?;
    visit.console().store().set_brand(visit.tenant_id()?, &brand, visit.deed(why)).await?;
    Ok(visit.done(&visit.href("/brand"), "Saved. Payment pages show it from now on."))
}

async fn set(visit: Visit) -> Answer {
    let contact = visit.form().given("contact").map(brand::contact).transpose();
    let contact = contact.map_err(|rule| Stop::wrong("contact", format!("Contact: {rule}.")))?;
    let colour = visit.form().given("colour").map(colour).transpose()?;
    let brand = Brand { colour, contact, ..current(&visit).await? };
    saved(&visit, brand).await
}

async fn add_logo(visit: Visit) -> Answer {
    let bytes = visit.form().file().map(|file| file.bytes.clone()).unwrap_or_default();
    let wrong = |rule| Stop::wrong("file", format!("Logo: {rule}."));
    let logo = Some(Logo::parse(bytes).map_err(wrong)?);
    let brand = Brand { logo, ..current(&visit).await? };
    saved(&visit, brand).await
}

async fn remove_logo(visit: Visit) -> Answer {
    let brand = Brand { logo: None, ..current(&visit).await? };
    saved(&visit, brand).await
}
