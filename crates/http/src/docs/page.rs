//! The sections of the page, in the order of the document.

use super::STYLE_PATH;
use super::document::{Document, items, last_name, member, members, reference, text};
use super::html::{Html, code, escape, inline, pretty};
use super::schema::{described, fields, form, is_object, link};
use crate::json::{self, JsonError, Value};

/// The page of an OpenAPI document.
///
/// # Errors
/// Text that is not JSON.
pub fn page(document: &str) -> Result<String, JsonError> {
    let document = Document { root: json::parse(document.as_bytes())? };
    let mut html = Html::default();
    head(&mut html, &document);
    html.raw("<main>\n");
    signing(&mut html, &document);
    for (path, item) in document.members(&["paths"]) {
        for (method, operation) in members(item) {
            section(&mut html, &document, method, path, operation);
        }
    }
    errors(&mut html, &document);
    webhooks(&mut html, &document);
    for (name, schema) in document.members(&["components", "schemas"]) {
        if is_object(schema) {
            object(&mut html, &document, name, schema);
        }
    }
    html.raw("</main>\n</body>\n</html>\n");
    Ok(html.0)
}

fn head(html: &mut Html, document: &Document<'_>) {
    let info = member(&document.root, "info").unwrap_or(&Value::Null);
    let (title, version) = (escape(text(info, "title")), escape(text(info, "version")));
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw(&format!("<title>{title} {version}</title>\n<link rel=\"stylesheet\" href=\"{STYLE_PATH}\">\n"));
    html.raw(&format!("</head>\n<body>\n<header>\n<h1>{title} <small>{version}</small></h1>\n"));
    html.prose(text(info, "description"));
    html.raw("<p>As <a href=\"/openapi/payment.json\">OpenAPI document</a>.</p>\n</header>\n<nav aria-label=\"Contents\">\n<ul>\n");
    html.raw("<li><a href=\"#signing\">Signing requests</a></li>\n");
    for (path, item) in document.members(&["paths"]) {
        for (method, operation) in members(item) {
            let (id, name) = (escape(text(operation, "operationId")), signature(method, path));
            html.raw(&format!("<li><a href=\"#{id}\">{name}</a></li>\n"));
        }
    }
    html.raw("<li><a href=\"#errors\">Errors</a></li>\n<li><a href=\"#webhooks\">Webhooks</a></li>\n</ul>\n</nav>\n");
}

fn signature(method: &str, path: &str) -> String {
    format!("<code><b>{}</b> {}</code>", escape(&method.to_uppercase()), escape(path))
}

fn signing(html: &mut Html, document: &Document<'_>) {
    html.raw("<section id=\"signing\">\n").element("h2", "Signing requests");
    for (_, scheme) in document.members(&["components", "securitySchemes"]) {
        html.prose(text(scheme, "description"));
        html.raw("<pre><code>").raw(&escape(text(scheme, "x-sample"))).raw("</code></pre>\n");
    }
    html.raw("</section>\n");
}

fn section(html: &mut Html, document: &Document<'_>, method: &str, path: &str, operation: &Value<'_>) {
    html.raw(&format!("<section id=\"{}\">\n", escape(text(operation, "operationId"))));
    html.raw("<h2>").raw(&signature(method, path)).raw("</h2>\n").element("h3", text(operation, "summary"));
    html.prose(text(operation, "description"));
    let parameters: Vec<Vec<String>> =
        items(operation, "parameters").iter().map(|given| parameter(document, document.resolve(given))).collect();
    html.element("h3", "Parameters").table(&["Name", "In", "Required", "Form", "Meaning"], &parameters);
    if let Some(body) = member(operation, "requestBody") {
        html.element("h3", "Body");
        content(html, document, body);
    }
    html.element("h3", "Answers");
    let answers = member(operation, "responses").map(members).unwrap_or_default();
    let rows: Vec<Vec<String>> = answers.iter().map(|(status, answer)| row_of(document, status, answer)).collect();
    html.table(&["Status", "Body", "Meaning"], &rows);
    for (_, answer) in answers {
        examples(html, document, document.resolve(answer));
    }
    html.raw("</section>\n");
}

fn parameter(document: &Document<'_>, given: &Value<'_>) -> Vec<String> {
    let required = if matches!(member(given, "required"), Some(Value::Bool(true))) { "yes" } else { "" };
    let schema = member(given, "schema").unwrap_or(&Value::Null);
    let form = form(document, schema);
    vec![
        code(text(given, "name")),
        escape(text(given, "in")),
        required.to_owned(),
        form,
        inline(text(given, "description")),
    ]
}

/// One answer: status, what its body is, when it is given.
fn row_of(document: &Document<'_>, status: &str, answer: &Value<'_>) -> Vec<String> {
    let resolved = document.resolve(answer);
    let media = member(resolved, "content").map(members).unwrap_or_default();
    let schema = media.first().and_then(|(_, media)| member(media, "schema"));
    let body = schema.map(|schema| form(document, schema)).unwrap_or_default();
    let own = text(answer, "description");
    let meaning = if own.is_empty() { text(resolved, "description") } else { own };
    vec![escape(status), body, inline(meaning)]
}

/// A request body: its schema and its examples.
fn content(html: &mut Html, document: &Document<'_>, body: &Value<'_>) {
    for (media_type, media) in member(body, "content").map(members).unwrap_or_default() {
        let form = member(media, "schema").map(|schema| form(document, schema)).unwrap_or_default();
        html.raw(&format!("<p>{}: {form}</p>\n", code(media_type)));
    }
    examples(html, document, body);
}

fn examples(html: &mut Html, document: &Document<'_>, of: &Value<'_>) {
    for (_, media) in member(of, "content").map(members).unwrap_or_default() {
        for (_, example) in member(media, "examples").map(members).unwrap_or_default() {
            let example = document.resolve(example);
            let mut json = String::new();
            pretty(member(example, "value").unwrap_or(&Value::Null), 0, &mut json);
            html.folded(&format!("Example: {}", text(example, "summary")), &json);
        }
    }
}

fn errors(html: &mut Html, document: &Document<'_>) {
    html.raw("<section id=\"errors\">\n").element("h2", "Errors");
    let rows: Vec<Vec<String>> = document
        .members(&["components", "responses"])
        .into_iter()
        .map(|(name, answer)| vec![link(name), inline(text(answer, "description"))])
        .collect();
    html.table(&["Body", "Meaning"], &rows).raw("</section>\n");
}

fn webhooks(html: &mut Html, document: &Document<'_>) {
    html.raw("<section id=\"webhooks\">\n").element("h2", "Webhooks");
    let hooks = document.members(&["webhooks"]);
    if let Some((_, hook)) = hooks.first().and_then(|(_, item)| members(item).into_iter().next()) {
        let headers: Vec<Vec<String>> =
            items(hook, "parameters").iter().map(|given| parameter(document, document.resolve(given))).collect();
        html.table(&["Header", "In", "Required", "Form", "Meaning"], &headers);
    }
    let posts = hooks.iter().flat_map(|(name, item)| members(item).into_iter().map(move |(_, post)| (*name, post)));
    let rows: Vec<Vec<String>> = posts
        .map(|(name, post)| vec![code(name), inline(text(post, "summary")), inline(text(post, "description"))])
        .collect();
    html.table(&["Event", "When", "How"], &rows).raw("</section>\n");
}

fn object(html: &mut Html, document: &Document<'_>, name: &str, schema: &Value<'_>) {
    html.raw(&format!("<section id=\"{0}\">\n<h2>{0}</h2>\n", escape(name))).prose(described(document, schema));
    let choices = items(schema, "oneOf");
    if !choices.is_empty() {
        let names = choices.iter().filter_map(reference).map(|pointer| link(last_name(pointer)));
        html.raw("<p>One of ").raw(&names.collect::<Vec<_>>().join(", ")).raw(".</p>\n</section>\n");
        return;
    }
    let base = items(schema, "allOf").first().and_then(reference);
    if let Some(base) = base {
        html.raw(&format!("<p>All of {}, and:</p>\n", link(last_name(base))));
    }
    html.table(&["Field", "Required", "Form", "Meaning"], &fields(document, schema)).raw("</section>\n");
}
