//! Parses small, bounded XML trees from untrusted bytes: every message of a file, at any position.
//! No DOCTYPE, only predefined entities. Namespaces are compared by their URIs; inside a message,
//! elements of other namespaces (extensions) are skipped, those without one belong to it. It
//! recognises a message by its namespace, also in the text of an envelope, and is independent of its
//! content.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use quick_xml::errors::IllFormedError;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::{NsReader, XmlVersion};

use super::MAX_MESSAGE_BYTES;
use super::kinds::{Kind, MessageName};
use super::reports;

/// Maximum nesting; the deepest path of the supported messages has 12 elements, envelopes some
/// more.
pub(super) const MAX_DEPTH_ELEMENTS: usize = 32;
/// Maximum number of elements of one file: a day's statement of some 15,000 bookings.
const MAX_ELEMENTS: usize = 800_000;
/// Maximum number of attributes of one element; an envelope may declare all its namespaces in one.
const MAX_ATTRIBUTES: usize = 64;
/// The root element of messages.
const DOCUMENT: &str = "Document";
/// The business area of administrative messages, which quote the messages that they reject.
const REJECTIONS: &str = "admi.";
/// Maximum length of an XML declaration.
const MAX_DECLARATION_BYTES: usize = 256;

/// Why a document cannot be parsed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum XmlError {
    #[error("is larger than {MAX_MESSAGE_BYTES} bytes")]
    TooLarge,
    /// A document type, which could define entities.
    #[error("has a DOCTYPE")]
    Doctype,
    #[error("is nested deeper than {MAX_DEPTH_ELEMENTS} elements")]
    TooDeep,
    #[error("has more than {MAX_ELEMENTS} elements")]
    TooManyElements,
    #[error("has an element with more than {MAX_ATTRIBUTES} attributes")]
    TooManyAttributes,
    /// An entity that is not predefined.
    #[error("has an undefined entity")]
    Entity,
    /// It may be the beginning of a document.
    #[error("is not well-formed XML: {0}")]
    Cut(String),
    /// Not well-formed XML, with the parser's error.
    #[error("is not well-formed XML: {0}")]
    Malformed(String),
}

impl XmlError {
    fn malformed(cause: impl ToString) -> XmlError {
        XmlError::Malformed(cause.to_string().chars().take(120).collect())
    }

    fn of_parser(error: quick_xml::Error) -> XmlError {
        match (&error, XmlError::malformed(&error)) {
            // Markup or a reference that is open at the end.
            (
                quick_xml::Error::Syntax(_)
                | quick_xml::Error::IllFormed(IllFormedError::UnclosedReference),
                XmlError::Malformed(what),
            ) => XmlError::Cut(what),
            (_, malformed) => malformed,
        }
    }
}

/// One element. Names are local names; text is trimmed, and kept only in elements without children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) text: String,
    /// The attribute `Ccy` of an amount.
    pub(super) currency: Option<String>,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// The first child with this name.
    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All children with this name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The element at the end of a path of first children.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Element> {
        path.iter().try_fold(self, |element, name| element.child(name))
    }

    /// Whether an element with this name lies below it.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.children.iter().any(|child| child.name == name || child.contains(name))
    }

    /// The first text at the end of a path below any element.
    pub(super) fn find(&self, path: &[&str]) -> Option<&str> {
        self.text_at(path).or_else(|| self.children.iter().find_map(|child| child.find(path)))
    }

    /// The text at the end of a path of first children; an empty text counts as missing.
    pub(super) fn text_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path).map(|element| element.text.as_str()).filter(|text| !text.is_empty())
    }
}

/// A message and its kind.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Document {
    /// Its kind according to its namespace.
    pub(super) name: MessageName,
    /// Its root element: `Document`, or the message's own element if it has no `Document`.
    pub(super) root: Element,
}

/// The content of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Documents {
    /// Its complete messages, in order.
    pub(super) all: Vec<Document>,
    /// The namespace of its first element, for a file without a message.
    pub(super) outermost: String,
    /// Why the rest of the file cannot be parsed.
    pub(super) broken: Option<XmlError>,
}

/// Parses every message of a file. A truncated file keeps its complete messages.
pub(super) fn read(bytes: &[u8]) -> Result<Documents, XmlError> {
    if bytes.len() > MAX_MESSAGE_BYTES {
        return Err(XmlError::TooLarge);
    }
    let text = decode(bytes);
    let mut builder = Builder::default();
    match events(&text, &mut builder) {
        Ok(()) => Ok(builder.found),
        Err(error) if builder.found.all.is_empty() => Err(error),
        Err(error) => Ok(Documents { broken: Some(error), ..builder.found }),
    }
}

fn events(text: &str, builder: &mut Builder) -> Result<(), XmlError> {
    let mut reader = NsReader::from_str(text);
    loop {
        let (namespace, event) = reader.read_resolved_event().map_err(XmlError::of_parser)?;
        match event {
            Event::Start(start) => builder.open(&namespace, &start)?,
            Event::Empty(start) => {
                builder.open(&namespace, &start)?;
                builder.close()?;
            }
            Event::End(_) => builder.close()?,
            Event::Text(text) => builder.text(&text.xml10_content())?,
            Event::CData(text) => builder.text(&text.xml10_content())?,
            Event::GeneralRef(reference) => builder.text(&resolve(&reference)?)?,
            // Concatenated messages each have their own declaration.
            Event::Decl(_) if builder.depth == 0 => {}
            Event::Decl(_) => return Err(XmlError::malformed("a declaration inside an element")),
            Event::DocType(_) => return Err(XmlError::Doctype),
            Event::Comment(_) | Event::PI(_) => {}
            Event::Eof => return builder.end(),
        }
    }
}

/// The text of a file: in the encoding of its byte order mark, else of its declaration, else UTF-8.
/// An invalid byte becomes U+FFFD, which makes the text that contains it invalid as an id or an
/// amount.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let (encoding, text) = encoding_of(bytes);
    encoding.decode_without_bom_handling(text).0
}

/// The encoding of a file, and the file without its byte order mark.
pub(super) fn encoding_of(bytes: &[u8]) -> (&'static Encoding, &[u8]) {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return (encoding, bytes.get(mark..).unwrap_or_default());
    }
    let encoding = match bytes {
        [b'<', 0, ..] => UTF_16LE,
        [0, b'<', ..] => UTF_16BE,
        // A declaration that is readable here contradicts these encodings. One with an unknown name
        // is of an extension of ASCII, in which ids and amounts are written.
        _ => declared(bytes)
            .and_then(|label| Encoding::for_label_no_replacement(label.as_bytes()))
            .filter(|encoding| ![UTF_16LE, UTF_16BE].contains(encoding))
            .unwrap_or(UTF_8),
    };
    (encoding, bytes)
}

/// The encoding named in an ASCII XML declaration.
pub(crate) fn declared(bytes: &[u8]) -> Option<String> {
    let start = bytes.get(..bytes.len().min(MAX_DECLARATION_BYTES))?.trim_ascii_start();
    let end = start.windows(2).position(|two| two == b"?>")?;
    let declaration =
        std::str::from_utf8(start.get(..end)?).ok().filter(|text| text.starts_with("<?xml"))?;
    let (_, value) = declaration.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value.get(1..)?.split(quote).next().map(str::to_owned)
}

fn resolve(reference: &BytesRef<'_>) -> Result<String, XmlError> {
    match reference.resolve_char_ref().map_err(|_| XmlError::Entity)? {
        Some(character) if character.is_control() && !character.is_whitespace() => {
            Err(XmlError::Entity)
        }
        Some(character) => Ok(character.to_string()),
        None => resolve_predefined_entity(&reference.xml10_content())
            .map(str::to_owned)
            .ok_or(XmlError::Entity),
    }
}

#[derive(Default)]
struct Builder {
    /// Number of open elements, in and outside messages.
    depth: usize,
    elements: usize,
    /// The message that is being read.
    open: Option<Open>,
    /// The elements around it that seem to be messages by their namespace.
    around: Vec<Open>,
    /// The text of the current element outside messages.
    outside: String,
    /// Whether it reads the text of an envelope.
    is_enclosed: bool,
    found: Documents,
}

/// A message under construction.
struct Open {
    name: MessageName,
    namespace: String,
    /// Its open elements. `None`: of a foreign namespace, like everything below it.
    stack: Vec<Option<Element>>,
    /// Whether it contained a message of its own, and may only be a wrapper.
    wraps: bool,
}

impl Open {
    fn new(name: MessageName, namespace: &str, root: Element) -> Open {
        Open { name, namespace: namespace.to_owned(), stack: vec![Some(root)], wraps: false }
    }

    /// Whether a `Document` in it may be a message of its own: it is neither within another `Document` nor
    /// within a message's element, and not in a rejection of a message.
    fn may_wrap(&self) -> bool {
        let is_body = |name: &str| match self.name {
            MessageName::Known(kind) => kind.is_body(name),
            MessageName::Other(_) => false,
        };
        let is_within = |it: &Element| it.name == DOCUMENT || is_body(&it.name);
        !self.namespace.contains(REJECTIONS) && !self.stack.iter().flatten().any(is_within)
    }

    /// Whether it contained a message and has no content of its own.
    fn is_wrapper(&self, root: &Element) -> bool {
        let has_body = |kind: &Kind| {
            let mut bodies = Vec::new();
            reports::collect_bodies(root, *kind, &mut bodies);
            !bodies.is_empty()
        };
        self.wraps && !matches!(&self.name, MessageName::Known(kind) if has_body(kind))
    }
}

impl Builder {
    fn open(
        &mut self,
        namespace: &ResolveResult<'_>,
        start: &BytesStart<'_>,
    ) -> Result<(), XmlError> {
        self.elements += 1;
        if self.depth == MAX_DEPTH_ELEMENTS {
            return Err(XmlError::TooDeep);
        }
        if self.elements > MAX_ELEMENTS {
            return Err(XmlError::TooManyElements);
        }
        self.depth += 1;
        self.outside.clear();
        let currency = currency(start)?;
        let name = start.local_name().as_ref().to_owned();
        let namespace = match namespace {
            ResolveResult::Bound(namespace) => namespace.0,
            ResolveResult::Unbound => "",
            // An unbound prefix: not a known namespace.
            ResolveResult::Unknown(_) => "?",
        };
        if self.elements == 1 {
            namespace.clone_into(&mut self.found.outermost);
        }
        let element = Element { name, currency, ..Element::default() };
        if let Some(mut wrapper) = self.open.take_if(|open| open.may_wrap()) {
            match MessageName::of(namespace, &element.name) {
                Some(known @ MessageName::Known(_)) if element.name == DOCUMENT => {
                    wrapper.wraps = true;
                    self.around.push(wrapper);
                    self.open = Some(Open::new(known, namespace, element));
                    return Ok(());
                }
                _ => self.open = Some(wrapper),
            }
        }
        match &mut self.open {
            Some(open) => {
                // Some banks' software writes the namespace of the message's root alone.
                let is_other = namespace != open.namespace && !namespace.is_empty();
                let foreign = is_other || matches!(open.stack.last(), Some(None));
                open.stack.push((!foreign).then_some(element));
            }
            None => {
                if let Some(message) = MessageName::of(namespace, &element.name) {
                    self.open = Some(Open::new(message, namespace, element));
                }
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), XmlError> {
        self.depth = self
            .depth
            .checked_sub(1)
            .ok_or_else(|| XmlError::malformed("an end without a start"))?;
        let Some(mut open) = self.open.take() else {
            return self.read_enclosed();
        };
        let closed = open.stack.pop().flatten().map(|mut element| {
            // Text between elements is only layout.
            let text = if element.children.is_empty() {
                element.text.trim().to_owned()
            } else {
                String::new()
            };
            element.text = text;
            element
        });
        match (closed, open.stack.last_mut()) {
            (Some(element), Some(Some(parent))) => parent.children.push(element),
            (Some(root), None) => {
                if !open.is_wrapper(&root) {
                    self.found.all.push(Document { name: open.name, root });
                }
                self.open = self.around.pop();
                return Ok(());
            }
            _ => {}
        }
        self.open = Some(open);
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), XmlError> {
        match &mut self.open {
            Some(open) => {
                if let Some(Some(element)) = open.stack.last_mut() {
                    element.text.push_str(text);
                }
            }
            None if self.depth == 0
                && !text
                    .trim_matches(|c: char| c.is_whitespace() || c.is_control() || c == '\u{FEFF}')
                    .is_empty() =>
            {
                return Err(XmlError::malformed("text outside the root element"));
            }
            None => self.outside.push_str(text),
        }
        Ok(())
    }

    /// Messages in the text of an envelope's element: escaped, or in a CDATA section. An envelope in
    /// such text holds no further ones.
    fn read_enclosed(&mut self) -> Result<(), XmlError> {
        let text = std::mem::take(&mut self.outside);
        let text = text.trim();
        if self.is_enclosed || !text.starts_with('<') {
            return Ok(());
        }
        let mut inner =
            Builder { elements: self.elements, is_enclosed: true, ..Builder::default() };
        let read = events(text, &mut inner);
        self.elements = inner.elements;
        let begins = ["<?xml", "<!DOCTYPE"].iter().any(|start| text.starts_with(start));
        let is_document = begins || inner.open.is_some() || !inner.found.all.is_empty();
        self.found.all.extend(inner.found.all);
        match read {
            Err(XmlError::TooManyElements) => Err(XmlError::TooManyElements),
            // Other text may begin like this.
            Err(error) if is_document => {
                self.found.broken.get_or_insert(error);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn end(&self) -> Result<(), XmlError> {
        match self.depth {
            0 if self.elements > 0 => Ok(()),
            _ => Err(XmlError::Cut("it ends before its root element does".to_owned())),
        }
    }
}

fn currency(start: &BytesStart<'_>) -> Result<Option<String>, XmlError> {
    let mut currency = None;
    for (count, attribute) in start.attributes().with_checks(false).enumerate() {
        if count == MAX_ATTRIBUTES {
            return Err(XmlError::TooManyAttributes);
        }
        let attribute = attribute.map_err(XmlError::malformed)?;
        if attribute.key.0 != "Ccy" {
            continue;
        }
        let value =
            attribute.normalized_value(XmlVersion::Explicit1_0).map_err(|_| XmlError::Entity)?;
        if currency.replace(value.into_owned()).is_some() {
            return Err(XmlError::malformed("a duplicate attribute"));
        }
    }
    Ok(currency)
}

#[cfg(test)]
#[path = "xml_read_tests.rs"]
mod tests;
