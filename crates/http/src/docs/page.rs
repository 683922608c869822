//! The sections of an API page, in the document's order.

use super::Described;
use super::document::{Document, items, last_name, member, members, reference, text};
use super::html::{Html, code, escape, inline, pretty};
use super::layout::{end, top};
use super::schema::{described, fields, form, is_object, link};
use crate::json::{self, JsonError, Value};

/// The page of an OpenAPI document.
///
/// # Errors
/// The text is not valid JSON.
pub fn page(service: &Described) -> Result<String, JsonError> {
    let document = read(service)?;
    let mut html = Html::default();
    head(&mut html, &document, service);
    html.raw("<main id=\"main\">\n");
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
    end(&mut html);
    Ok(html.0)
}

pub(super) fn read(service: &Described) -> Result<Document<'static>, JsonError> {
    Ok(Document { root: json::parse(service.document.as_bytes())? })
}

fn head(html: &mut Html, document: &Document<'_>, service: &Described) {
    let info = member(&document.root, "info").unwrap_or(&Value::Null);
    let (title, version) = (escape(text(info, "title")), escape(text(info, "version")));
    top(html, &format!("{} {}", text(info, "title"), text(info, "version")));
    html.raw(&format!("<header>\n<h1>{title} <small>{version}</small></h1>\n"));
    html.prose(text(info, "description"));
    let path = service.document_path;
    html.raw(&format!(
        "<p>As <a href=\"{path}\">OpenAPI document</a>. <a href=\"/docs\">All services</a>.</p>\n"
    ));
    html.raw("</header>\n<nav aria-label=\"Contents\">\n");
    contents(html, document, "");
    html.raw("</nav>\n");
}

/// Links to the sections of the page at `page`.
pub(super) fn contents(html: &mut Html, document: &Document<'_>, page: &str) {
    html.raw(&format!("<ul>\n<li><a href=\"{page}#signing\">Signing requests</a></li>\n"));
    for (path, item) in document.members(&["paths"]) {
        for (method, operation) in members(item) {
            let (id, name) = (escape(text(operation, "operationId")), signature(method, path));
            html.raw(&format!("<li><a href=\"{page}#{id}\">{name}</a></li>\n"));
        }
    }
    html.raw(&format!("<li><a href=\"{page}#errors\">Errors</a></li>\n"));
    html.raw(&format!("<li><a href=\"{page}#webhooks\">Webhooks</a></li>\n</ul>\n"));
}

fn signature(method: &str, path: &str) -> String {
    format!("<code><b>{}</b> {}</code>", escape(&method.to_uppercase()), escape(path))
}

fn signing(html: &mut Html, document: &Document<'_>) {
    html.raw("<section id=\"signing\">\n").element("h2", "Signing requests");
    for (_, scheme) in document.members(&["components", "securitySchemes"]) {
        html.prose(text(scheme, "description"));
        html.raw("<pre tabindex=\"0\"><code>")
            .raw(&escape(text(scheme, "x-sample")))
            .raw("</code></pre>\n");
    }
    html.raw("</section>\n");
}

fn section(
    html: &mut Html,
    document: &Document<'_>,
    method: &str,
    path: &str,
    operation: &Value<'_>,
) {
    html.raw(&format!("<section id=\"{}\">\n", escape(text(operation, "operationId"))));
    html.raw("<h2>")
        .raw(&signature(method, path))
        .raw("</h2>\n")
        .element("h3", text(operation, "summary"));
    html.prose(text(operation, "description"));
    let parameters: Vec<Vec<String>> = items(operation, "parameters")
        .iter()
        .map(|given| parameter(document, document.resolve(given)))
        .collect();
    html.element("h3", "Parameters")
        .table(&["Name", "In", "Required", "Form", "Meaning"], &parameters);
    if let Some(body) = member(operation, "requestBody") {
        html.element("h3", "Body");
        content(html, document, body);
    }
    html.element("h3", "Answers");
    let answers = member(operation, "responses").map(members).unwrap_or_default();
    let rows: Vec<Vec<String>> =
        answers.iter().map(|(status, answer)| row_of(document, status, answer)).collect();
    html.table(&["Status", "Body", "Meaning"], &rows);
    for (_, answer) in answers {
        examples(html, document, document.resolve(answer));
    }
    html.raw("</section>\n");
}

fn parameter(document: &Document<'_>, given: &Value<'_>) -> Vec<String> {
    let required =
        if matches!(member(given, "required"), Some(Value::Bool(true))) { "yes" } else { "" };
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

/// A response: status, body and condition.
fn row_of(document: &Document<'_>, status: &str, answer: &Value<'_>) -> Vec<String> {
    let resolved = document.resolve(answer);
    let body = body_of(document, answer);
    let own = text(answer, "description");
    let meaning = if own.is_empty() { text(resolved, "description") } else { own };
    vec![escape(status), body, inline(meaning)]
}

/// A request body: its schema and examples.
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
        .map(|(name, answer)| {
            vec![code(name), body_of(document, answer), inline(text(answer, "description"))]
        })
        .collect();
    html.table(&["Answer", "Body", "Meaning"], &rows).raw("</section>\n");
}

/// The content of a request's or response's body.
fn body_of(document: &Document<'_>, of: &Value<'_>) -> String {
    let media = member(document.resolve(of), "content").map(members).unwrap_or_default();
    let schema = media.first().and_then(|(_, media)| member(media, "schema"));
    schema.map(|schema| form(document, schema)).unwrap_or_default()
}

fn webhooks(html: &mut Html, document: &Document<'_>) {
    html.raw("<section id=\"webhooks\">\n").element("h2", "Webhooks");
    let hooks = document.members(&["webhooks"]);
    if let Some((_, hook)) = hooks.first().and_then(|(_, item)| members(item).into_iter().next()) {
        let headers: Vec<Vec<String>> = items(hook, "parameters")
            .iter()
            .map(|given| parameter(document, document.resolve(given)))
            .collect();
        html.table(&["Header", "In", "Required", "Form", "Meaning"], &headers);
    }
    let posts = hooks
        .iter()
        .flat_map(|(name, item)| members(item).into_iter().map(move |(_, post)| (*name, post)));
    let rows: Vec<Vec<String>> = posts
        .map(|(name, post)| {
            let body =
                member(post, "requestBody").map(|body| body_of(document, body)).unwrap_or_default();
            vec![code(name), inline(text(post, "summary")), body, inline(text(post, "description"))]
        })
        .collect();
    html.table(&["Event", "When", "Body", "How"], &rows);
    for (_, item) in hooks {
        for (_, post) in members(item) {
            member(post, "requestBody")
                .into_iter()
                .for_each(|body| examples(html, document, document.resolve(body)));
        }
    }
    html.raw("</section>\n");
}

fn object(html: &mut Html, document: &Document<'_>, name: &str, schema: &Value<'_>) {
    html.raw(&format!("<section id=\"{0}\">\n<h2>{0}</h2>\n", escape(name)))
        .prose(described(document, schema));
    let choices = items(schema, "oneOf");
    if !choices.is_empty() {
        let names = choices.iter().filter_map(reference).map(|pointer| link(last_name(pointer)));
        html.raw("<p>One of ")
            .raw(&names.collect::<Vec<_>>().join(", "))
            .raw(".</p>\n</section>\n");
        return;
    }
    let base = items(schema, "allOf").first().and_then(reference);
    if let Some(base) = base {
        html.raw(&format!("<p>All of {}, and:</p>\n", link(last_name(base))));
    }
    html.table(&["Field", "Required", "Form", "Meaning"], &fields(document, schema))
        .raw("</section>\n");
}
