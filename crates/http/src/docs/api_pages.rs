//! The pages of a service besides its operations: overview, webhooks, objects.

use super::document::{Document, items, last_name, member, members, reference, text};
use super::html::{Html, Parameter, code, escape, inline};
use super::layout::{Frame, end, top};
use super::nav::operation_path;
use super::operation::{Surroundings, body_form, object, parameter, verb, webhook_examples};
use super::schema::{described, is_object, link};
use super::{Described, SIGNING_PATH};

/// Title, version, how to sign, every operation, and the errors.
pub(super) fn overview(around: Surroundings<'_>, described: &Described) -> String {
    let document = around.document;
    let title = format!("{} {}", document.info("title"), document.info("version"));
    let sections =
        [("signing", "Signing requests"), ("operations", "Operations"), ("errors", "Errors")];
    let frame = Frame {
        title: &title,
        path: document.page_path,
        nav: Some(around.nav),
        sections: &sections,
        has_markdown: true,
        ..Frame::default()
    };
    let mut html = Html::default();
    top(&mut html, &frame);
    html.raw("<article class=\"text\">\n");
    let (name, version) = (escape(document.info("title")), escape(document.info("version")));
    html.raw(&format!("<h1>{name} <small>{version}</small></h1>\n"));
    html.prose(document.info("description"));
    let path = described.document_path;
    html.raw(&format!(
        "<p>As OpenAPI 3.1 document: <a href=\"{path}\"><code>{path}</code></a>.</p>\n"
    ));
    signing(&mut html, document);
    operations(&mut html, document);
    errors(&mut html, document);
    html.raw("</article>\n");
    end(&mut html, &frame);
    html.0
}

fn signing(html: &mut Html, document: &Document<'_>) {
    html.raw("<h2 id=\"signing\">Signing requests</h2>\n");
    for (_, scheme) in document.members(&["components", "securitySchemes"]) {
        html.prose(text(scheme, "description"));
    }
    html.raw(&format!(
        "<p><a href=\"{SIGNING_PATH}\">Signing</a> shows each step, and programs in seven languages.</p>\n"
    ));
}

fn operations(html: &mut Html, document: &Document<'_>) {
    html.raw("<h2 id=\"operations\">Operations</h2>\n");
    for (tag, operations) in document.by_tag() {
        html.element("h3", tag).raw("<ul class=\"operations\">\n");
        for operation in operations {
            let (id, path) = (operation.id(), operation_path(document.page_path, operation.id()));
            // The id keeps links to the section that an operation once had.
            html.raw(&format!("<li id=\"{}\"><a href=\"{}\">", escape(id), escape(&path)));
            html.raw(&verb(&operation)).raw(&escape(operation.summary())).raw("</a> ");
            html.raw(&code(operation.path)).raw("</li>\n");
        }
        html.raw("</ul>\n");
    }
}

fn errors(html: &mut Html, document: &Document<'_>) {
    html.raw("<h2 id=\"errors\">Errors</h2>\n");
    html.raw("<p>Every code and rule: <a href=\"/docs/reference/errors\">errors</a>.</p>\n");
    let responses = document.members(&["components", "responses"]);
    let rows: Vec<Parameter> = responses
        .into_iter()
        .map(|(name, answer)| Parameter {
            name: escape(name),
            form: body_form(document, answer),
            required: false,
            meaning: inline(text(answer, "description")),
        })
        .collect();
    html.parameters(&rows);
}

/// Every event that is sent to an endpoint.
pub(super) fn webhooks(around: Surroundings<'_>) -> String {
    let document = around.document;
    let path = format!("{}/webhooks", document.page_path);
    let title = format!("Webhooks of the {}", document.info("title"));
    let hooks = document.members(&["webhooks"]);
    let names: Vec<(&str, &str)> = hooks.iter().map(|(name, _)| (*name, *name)).collect();
    let frame = Frame {
        title: &title,
        path: &path,
        nav: Some(around.nav),
        sections: &names,
        has_markdown: true,
        ..Frame::default()
    };
    let mut html = Html::default();
    top(&mut html, &frame);
    html.raw("<article class=\"text\">\n").element("h1", &title);
    html.raw("<p><a href=\"/docs/guides/receiving-webhooks\">Receiving webhooks</a> explains how to verify and answer them.</p>\n");
    let posts = hooks
        .iter()
        .flat_map(|(name, item)| members(item).into_iter().map(move |(_, post)| (*name, post)));
    for (at, (name, post)) in posts.enumerate() {
        if at == 0 {
            html.raw("<h2 id=\"webhooks\">Headers</h2>\n");
            let headers = items(post, "parameters").iter();
            let rows: Vec<Parameter> =
                headers.map(|given| parameter(document, document.resolve(given))).collect();
            html.parameters(&rows);
        }
        html.raw(&format!("<h2 id=\"{0}\">{0}</h2>\n", escape(name)));
        html.raw("<p><b>").raw(&inline(text(post, "summary"))).raw(".</b></p>\n");
        html.prose(text(post, "description"));
        if let Some(body) = member(post, "requestBody") {
            html.raw("<p>Body: ").raw(&body_form(document, body)).raw("</p>\n");
            webhook_examples(&mut html, document, body);
        }
    }
    html.raw("</article>\n");
    end(&mut html, &frame);
    html.0
}

/// Every object of requests and answers.
pub(super) fn objects(around: Surroundings<'_>) -> String {
    let document = around.document;
    let path = format!("{}/objects", document.page_path);
    let title = format!("Objects of the {}", document.info("title"));
    let schemas = document.members(&["components", "schemas"]);
    let schemas: Vec<_> = schemas.into_iter().filter(|(_, schema)| is_object(schema)).collect();
    let names: Vec<(&str, &str)> = schemas.iter().map(|(name, _)| (*name, *name)).collect();
    let frame = Frame {
        title: &title,
        path: &path,
        nav: Some(around.nav),
        sections: &names,
        has_markdown: true,
        ..Frame::default()
    };
    let mut html = Html::default();
    top(&mut html, &frame);
    html.raw("<article class=\"text\">\n").element("h1", &title);
    for (name, schema) in schemas {
        html.raw(&format!("<h2 id=\"{0}\">{0}</h2>\n", escape(name)));
        html.prose(described(document, schema));
        let choices = items(schema, "oneOf");
        if choices.is_empty() {
            object(&mut html, document, schema);
        } else {
            let names = choices.iter().filter_map(reference);
            let links = names.map(|pointer| link(document, last_name(pointer)));
            html.raw("<p>One of ").raw(&links.collect::<Vec<_>>().join(", ")).raw(".</p>\n");
        }
    }
    html.raw("</article>\n");
    end(&mut html, &frame);
    html.0
}
