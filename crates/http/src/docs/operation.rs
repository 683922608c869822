//! The page of an operation: what it takes and answers, and beside it samples in seven languages.

use super::SIGNING_PATH;
use super::document::{
    Document, Operation, examples, items, last_name, member, members, reference, text,
};
use super::highlight::{Syntax, highlight};
use super::html::{Html, Parameter, code, copy_button, escape, inline, pretty};
use super::icons;
use super::layout::{Frame, end, top};
use super::nav::{Nav, operation_path};
use super::samples::{Sample, samples, wallet_of};
use super::schema::{fields, form};
use super::{SandboxKeys, Service, assets};
use crate::json::Value;

/// What the pages of a service have in common.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) service: Service,
    pub(super) document: &'a Document<'static>,
    pub(super) nav: &'a Nav,
    pub(super) keys: Option<&'a SandboxKeys>,
}

/// The page, and the samples on it.
pub(super) fn page(
    around: Surroundings<'_>,
    operation: &Operation<'_, '_>,
) -> (String, Vec<Sample>) {
    let Surroundings { service, document, nav, keys } = around;
    let path = operation_path(document.page_path, operation.id());
    let scripts: &[&str] =
        if keys.is_some() { &[assets::TOKENS_PATH, assets::TRY_PATH] } else { &[] };
    let frame = Frame {
        title: operation.summary(),
        path: &path,
        nav: Some(nav),
        scripts,
        has_markdown: true,
        ..Frame::default()
    };
    let samples = samples(document, service, operation, keys);
    let mut html = Html::default();
    top(&mut html, &frame);
    html.raw("<article class=\"op\">\n<div>\n");
    description(&mut html, document, operation, keys.is_some());
    html.raw("</div>\n<div class=\"samples\" id=\"samples\">\n");
    calls(&mut html, &path, &samples);
    if let Some(keys) = keys {
        try_it(&mut html, document, operation, service, keys);
    }
    answer_sample(&mut html, document, operation);
    html.raw("</div>\n</article>\n");
    end(&mut html, &frame);
    (html.0, samples)
}

fn description(
    html: &mut Html,
    document: &Document<'_>,
    operation: &Operation<'_, '_>,
    has_keys: bool,
) {
    html.element("h1", operation.summary());
    html.raw("<p class=\"path\">").raw(&verb(operation)).raw(&code(operation.path)).raw("</p>\n");
    html.prose(text(operation.value, "description"));
    // Where the samples stand below the text.
    html.raw("<nav class=\"jump\" aria-label=\"Page\"><a href=\"#samples\">Go to the samples</a></nav>\n");
    if has_keys {
        html.raw(&format!("<p class=\"note\">{}<span><b>The keys of this sandbox are filled in</b> in every sample. They are worth nothing outside of it.</span></p>\n", icons::KEY));
    }
    let (headers, parameters): (Vec<_>, Vec<_>) =
        operation.parameters(document).into_iter().partition(|given| text(given, "in") == "header");
    let list = |html: &mut Html, title: &str, given: &[&Value<'_>]| {
        if !given.is_empty() {
            let rows: Vec<Parameter> =
                given.iter().map(|given| parameter(document, given)).collect();
            html.element("h2", title).parameters(&rows);
        }
    };
    list(html, "Parameters", &parameters);
    if let Some(body) = member(operation.value, "requestBody") {
        html.element("h2", "Body");
        request_body(html, document, body);
        for (summary, value) in operation.bodies(document).into_iter().skip(1) {
            html.raw("<details><summary>").raw("Example: ").raw(&escape(summary));
            html.raw("</summary>\n").sample("JSON", &json(value), Syntax::Json);
            html.raw("</details>\n");
        }
    }
    list(html, "Headers", &headers);
    html.element("h2", "Answers").parameters(&answers(document, operation));
}

/// The method as a mark.
pub(super) fn verb(operation: &Operation<'_, '_>) -> String {
    let (class, verb) = (escape(operation.method), escape(&operation.verb()));
    format!("<span class=\"verb {class}\">{verb}</span> ")
}

pub(super) fn parameter(document: &Document<'_>, given: &Value<'_>) -> Parameter {
    let schema = member(given, "schema").unwrap_or(&Value::Null);
    let form = form(document, schema);
    let place = text(given, "in");
    Parameter {
        name: escape(text(given, "name")),
        form: if place == "header" { form } else { format!("{} · {form}", escape(place)) },
        required: matches!(member(given, "required"), Some(Value::Bool(true))),
        meaning: inline(text(given, "description")),
    }
}

fn request_body(html: &mut Html, document: &Document<'_>, body: &Value<'_>) {
    let media = member(body, "content").map(members).unwrap_or_default();
    let schemas = media.iter().filter_map(|(_, media)| member(media, "schema"));
    for schema in schemas {
        object(html, document, document.resolve(schema));
    }
}

/// The fields of an object. Of one with variants, those that all of them share, and then those of
/// each.
pub(super) fn object(html: &mut Html, document: &Document<'_>, schema: &Value<'_>) {
    let own = |schema| {
        let bases = items(schema, "allOf").iter().map(|base| document.resolve(base));
        bases.chain([schema]).flat_map(|schema| fields(document, schema)).collect::<Vec<_>>()
    };
    let choices = items(schema, "oneOf");
    let variants: Vec<&Value<'_>> = choices.iter().map(|choice| document.resolve(choice)).collect();
    let shared = variants.first().map_or(&[][..], |first| items(first, "allOf"));
    let is_shared = variants.iter().all(|variant| items(variant, "allOf") == shared);
    if variants.is_empty() {
        html.parameters(&narrowed(own(schema)));
        return;
    }
    if is_shared && !shared.is_empty() {
        let bases = shared.iter().map(|base| document.resolve(base));
        html.parameters(&bases.flat_map(|base| fields(document, base)).collect::<Vec<_>>());
    }
    if let Some(discriminator) = member(schema, "discriminator") {
        html.raw("<h3>By ").raw(&code(text(discriminator, "propertyName"))).raw("</h3>\n");
    }
    for (choice, variant) in choices.iter().zip(variants) {
        let name = reference(choice).map(last_name).unwrap_or_default();
        let title = text(variant, "title");
        let title = if title.is_empty() { name } else { title };
        html.raw("<details><summary>").raw(&escape(title)).raw("</summary>\n");
        let rows = if is_shared { fields(document, variant) } else { narrowed(own(variant)) };
        html.parameters(&rows).raw("</details>\n");
    }
}

/// A later field of the same name narrows an earlier one.
fn narrowed(rows: Vec<Parameter>) -> Vec<Parameter> {
    let mut kept: Vec<Parameter> = Vec::new();
    for row in rows {
        match kept.iter_mut().find(|known| known.name == row.name) {
            Some(known) => *known = row,
            None => kept.push(row),
        }
    }
    kept
}

/// Its answers: success first, then the errors.
fn answers(document: &Document<'_>, operation: &Operation<'_, '_>) -> Vec<Parameter> {
    let answers = member(operation.value, "responses").map(members).unwrap_or_default();
    answers
        .into_iter()
        .map(|(status, answer)| {
            let resolved = document.resolve(answer);
            let own = text(answer, "description");
            let meaning = if own.is_empty() { text(resolved, "description") } else { own };
            Parameter {
                name: escape(status),
                form: body_form(document, answer),
                required: false,
                meaning: inline(meaning),
            }
        })
        .collect()
}

/// The content of a request's or answer's body.
pub(super) fn body_form(document: &Document<'_>, of: &Value<'_>) -> String {
    let media = member(document.resolve(of), "content").map(members).unwrap_or_default();
    let schema = media.first().and_then(|(_, media)| member(media, "schema"));
    schema.map(|schema| form(document, schema)).unwrap_or_default()
}

/// The samples, one of them in view: radio buttons choose it without a script.
fn calls(html: &mut Html, path: &str, samples: &[Sample]) {
    let path = escape(path);
    html.raw("<figure class=\"sample many\"><header>");
    tabs(html, samples.iter().map(|sample| (sample.id, sample.label)));
    html.raw(&copy_button()).raw("</header>\n");
    for sample in samples {
        let Sample { id, label, extension, .. } = sample;
        let call = sample.markup(|marked| highlight(marked, Syntax::of(id)));
        html.raw(&format!("<div data-l=\"{id}\"><pre tabindex=\"0\"><code>{call}</code></pre>\n"));
        html.raw(&format!("<p class=\"more\"><a href=\"{path}.{extension}\">The whole program<span class=\"unseen\"> in {label}</span></a>"));
        html.raw(&format!(" <a href=\"{SIGNING_PATH}#{id}\">How it signs</a></p></div>\n"));
    }
    html.raw("</figure>\n");
}

/// The languages of a sample; the first one is chosen.
fn tabs<'s>(html: &mut Html, languages: impl Iterator<Item = (&'s str, &'s str)>) {
    html.raw("<div class=\"tabs\" role=\"radiogroup\" aria-label=\"Language\">");
    for (at, (id, label)) in languages.enumerate() {
        let checked = if at == 0 { " checked" } else { "" };
        html.raw(&format!(
            "<label><input type=\"radio\" name=\"language\" value=\"{id}\"{checked}>{}</label>",
            escape(label)
        ));
    }
    html.raw("</div>");
}

/// A form that the script sends; without it, it is hidden.
fn try_it(
    html: &mut Html,
    document: &Document<'_>,
    operation: &Operation<'_, '_>,
    service: Service,
    keys: &SandboxKeys,
) {
    let (prefix, roles) = match service {
        Service::Payment => ("", ""),
        Service::Wallet => ("WALLET_", "wallet_manager"),
    };
    let key = |name: &str| keys.of(&format!("{prefix}{name}"));
    html.raw("<section class=\"sample try\" id=\"try\" aria-labelledby=\"try-title\" hidden");
    for (name, value) in [
        ("operation", operation.id()),
        ("method", operation.verb().as_str()),
        ("url", key("BASE_URL")),
        ("access", key("ACCESS_KEY")),
        ("secret", key("SECRET_KEY")),
        ("roles", roles),
        ("wallet", wallet_of(operation, keys)),
    ] {
        html.raw(&format!(" data-{name}=\"{}\"", escape(value)));
    }
    html.raw("><header><h2 id=\"try-title\">Try it</h2></header>\n<div class=\"fields\">\n");
    let target = operation.example_target(document);
    html.raw("<p><label for=\"try-path\">Path</label>");
    html.raw(&format!("<input id=\"try-path\" type=\"text\" autocomplete=\"off\" spellcheck=\"false\" value=\"{}\"></p>\n", escape(&target)));
    if operation.method == "post" {
        let body = operation.bodies(document).first().map(|(_, body)| json(body));
        let body = escape(body.as_deref().unwrap_or("{}"));
        html.raw("<p><label for=\"try-body\">Body</label><textarea id=\"try-body\" rows=\"6\" spellcheck=\"false\">");
        html.raw(&body).raw("</textarea></p>\n");
    }
    html.raw(
        "<p class=\"send\"><button type=\"button\" id=\"try-send\">Try it in the sandbox</button>",
    );
    html.raw("<span role=\"status\" id=\"try-status\">No real money moves.</span></p>\n</div>\n");
    html.raw("<pre tabindex=\"0\" id=\"try-answer\" hidden></pre>\n</section>\n");
}

fn answer_sample(html: &mut Html, document: &Document<'_>, operation: &Operation<'_, '_>) {
    if let Some((status, Some(example))) = operation.success(document) {
        html.sample(&format!("{status} OK"), &json(example), Syntax::Json);
    }
}

pub(super) fn json(value: &Value<'_>) -> String {
    let mut out = String::new();
    pretty(value, 0, &mut out);
    out
}

/// The examples of a webhook's body.
pub(super) fn webhook_examples(html: &mut Html, document: &Document<'_>, body: &Value<'_>) {
    for (summary, value) in examples(document, document.resolve(body)) {
        html.raw("<details><summary>Example: ").raw(&escape(summary)).raw("</summary>\n");
        html.sample("JSON", &json(value), Syntax::Json).raw("</details>\n");
    }
}
