//! Reads a small, bounded XML tree from untrusted bytes: UTF-8 only, no DOCTYPE, no entities but the predefined
//! ones, one namespace. Elements of other namespaces (extensions) are skipped. It knows nothing of any message.

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::MAX_MESSAGE_BYTES;

/// Deepest nesting that is followed; the deepest path of the messages read here has 12 elements.
pub(super) const MAX_DEPTH_ELEMENTS: usize = 32;
/// Most elements of one document: 1,000 reports of some 50 elements, four times over.
const MAX_ELEMENTS: usize = 200_000;
/// Most attributes of one element; checking for duplicates is quadratic.
const MAX_ATTRIBUTES: usize = 16;

/// Why bytes are no readable document.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum XmlError {
    /// Too large.
    #[error("is larger than {MAX_MESSAGE_BYTES} bytes")]
    TooLarge,
    /// Not UTF-8, or declared to be something else.
    #[error("is not UTF-8")]
    Encoding,
    /// A document type, which could define entities.
    #[error("has a DOCTYPE")]
    Doctype,
    /// Too deep.
    #[error("is nested deeper than {MAX_DEPTH_ELEMENTS} elements")]
    TooDeep,
    /// Too many elements.
    #[error("has more than {MAX_ELEMENTS} elements")]
    TooManyElements,
    /// Too many attributes.
    #[error("has an element with more than {MAX_ATTRIBUTES} attributes")]
    TooManyAttributes,
    /// An entity that is not predefined.
    #[error("has an undefined entity")]
    Entity,
    /// Not well-formed.
    #[error("is not well-formed XML: {0}")]
    Malformed(String),
}

impl XmlError {
    fn malformed(cause: impl ToString) -> XmlError {
        XmlError::Malformed(cause.to_string().chars().take(120).collect())
    }
}

/// One element. Names are local names; text is trimmed, and kept only where there are no child elements.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) text: String,
    /// The attribute `Ccy`.
    pub(super) currency: Option<String>,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// The first child of that name.
    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// Every child of that name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The element at the end of a path of first children.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Element> {
        path.iter().try_fold(self, |element, name| element.child(name))
    }

    /// The text at the end of a path of first children; an empty one counts as missing.
    pub(super) fn text_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path).map(|element| element.text.as_str()).filter(|text| !text.is_empty())
    }
}

/// A document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Document {
    /// The namespace of the root element, empty where it has none.
    pub(super) namespace: String,
    /// The root element.
    pub(super) root: Element,
}

/// Reads a whole document.
pub(super) fn read(bytes: &[u8]) -> Result<Document, XmlError> {
    if bytes.len() > MAX_MESSAGE_BYTES {
        return Err(XmlError::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| XmlError::Encoding)?;
    let mut reader = Reader::from_str(text.strip_prefix('\u{FEFF}').unwrap_or(text));
    let mut builder = Builder::default();
    loop {
        match reader.read_event().map_err(XmlError::malformed)? {
            Event::Start(start) => builder.open(&start)?,
            Event::Empty(start) => {
                builder.open(&start)?;
                builder.close()?;
            }
            Event::End(_) => builder.close()?,
            Event::Text(text) => builder.text(&text.xml10_content())?,
            Event::CData(text) => builder.text(&text.xml10_content())?,
            Event::GeneralRef(reference) => builder.text(&resolve(&reference)?)?,
            Event::Decl(decl) => match decl.encoding() {
                Some(Ok(name)) if !name.eq_ignore_ascii_case("utf-8") => return Err(XmlError::Encoding),
                Some(Err(error)) => return Err(XmlError::malformed(error)),
                Some(Ok(_)) | None => {}
            },
            Event::DocType(_) => return Err(XmlError::Doctype),
            Event::Comment(_) | Event::PI(_) => {}
            Event::Eof => return builder.finish(),
        }
    }
}

fn resolve(reference: &BytesRef<'_>) -> Result<String, XmlError> {
    match reference.resolve_char_ref().map_err(|_| XmlError::Entity)? {
        Some(character) if character.is_control() && !character.is_whitespace() => Err(XmlError::Entity),
        Some(character) => Ok(character.to_string()),
        None => resolve_predefined_entity(&reference.xml10_content()).map(str::to_owned).ok_or(XmlError::Entity),
    }
}

#[derive(Default)]
struct Builder {
    /// The elements that are open. `None`: of a foreign namespace, as is everything in it.
    stack: Vec<Option<Element>>,
    elements: usize,
    prefix: String,
    namespace: String,
    root: Option<Element>,
}

impl Builder {
    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), XmlError> {
        self.elements += 1;
        if self.stack.len() == MAX_DEPTH_ELEMENTS {
            return Err(XmlError::TooDeep);
        }
        if self.elements > MAX_ELEMENTS {
            return Err(XmlError::TooManyElements);
        }
        let qualified = start.name();
        let (prefix, name) = qualified.0.split_once(':').unwrap_or(("", qualified.0));
        let is_root = self.stack.is_empty();
        if is_root && self.root.is_some() {
            return Err(XmlError::malformed("a second root element"));
        }
        if is_root {
            self.prefix = prefix.to_owned();
        }
        let (currency, namespace) = self.attributes(start)?;
        if is_root {
            self.namespace = namespace.unwrap_or_default();
            self.stack.push(Some(Element { name: name.to_owned(), currency, ..Element::default() }));
            return Ok(());
        }
        let redefined = namespace.is_some_and(|namespace| namespace != self.namespace);
        let foreign = redefined || prefix != self.prefix || matches!(self.stack.last(), Some(None));
        let element = Element { name: name.to_owned(), currency, ..Element::default() };
        self.stack.push((!foreign).then_some(element));
        Ok(())
    }

    /// The currency, and the namespace that the element binds to the document's prefix.
    fn attributes(&self, start: &BytesStart<'_>) -> Result<(Option<String>, Option<String>), XmlError> {
        let (mut currency, mut namespace) = (None, None);
        for (count, attribute) in start.attributes().with_checks(false).enumerate() {
            if count == MAX_ATTRIBUTES {
                return Err(XmlError::TooManyAttributes);
            }
            let attribute = attribute.map_err(XmlError::malformed)?;
            let key = attribute.key.0;
            let binds = match key.strip_prefix("xmlns") {
                Some("") => self.prefix.is_empty(),
                Some(prefix) => !self.prefix.is_empty() && prefix.strip_prefix(':') == Some(&self.prefix),
                None => false,
            };
            let slot = match key {
                "Ccy" => &mut currency,
                _ if binds => &mut namespace,
                _ => continue,
            };
            let value = attribute.normalized_value(XmlVersion::Explicit1_0).map_err(|_| XmlError::Entity)?;
            if slot.replace(value.into_owned()).is_some() {
                return Err(XmlError::malformed("a duplicate attribute"));
            }
        }
        Ok((currency, namespace))
    }

    fn close(&mut self) -> Result<(), XmlError> {
        let Some(closed) = self.stack.pop() else {
            return Err(XmlError::malformed("an end without a start"));
        };
        let Some(mut element) = closed else {
            return Ok(());
        };
        if element.children.is_empty() {
            element.text = element.text.trim().to_owned();
        } else {
            element.text = String::new();
        }
        match self.stack.last_mut() {
            Some(Some(parent)) => parent.children.push(element),
            // Cannot be: what is inside a foreign element is foreign too.
            Some(None) => {}
            None => self.root = Some(element),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), XmlError> {
        match self.stack.last_mut() {
            Some(Some(element)) => element.text.push_str(text),
            Some(None) => {}
            None if text.trim().is_empty() => {}
            None => return Err(XmlError::malformed("text outside the root element")),
        }
        Ok(())
    }

    fn finish(self) -> Result<Document, XmlError> {
        match self.root {
            Some(root) if self.stack.is_empty() => Ok(Document { namespace: self.namespace, root }),
            _ => Err(XmlError::malformed("it ends before its root element does")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_reads_into_its_tree() {
        let text = "\u{FEFF}<?xml version='1.0' encoding='utf-8'?><!-- c --><p:Document xmlns:p='urn:x'>
            <p:A Ccy='P&#75;R'> 1<![CDATA[<2>]]>&amp;&#x33; </p:A>
            <q:A xmlns:q='urn:y'><A>foreign</A></q:A>
            <p:B xmlns:p='urn:z'><p:A>foreign</p:A></p:B><p:B/></p:Document>\n";
        let document = read(text.as_bytes()).expect("well-formed");
        assert_eq!(document.namespace, "urn:x");
        assert_eq!(document.root.name, "Document");
        assert_eq!(document.root.children.len(), 2);
        assert_eq!(document.root.text_at(&["A"]), Some("1<2>&3"));
        assert_eq!(document.root.child("A").and_then(|a| a.currency.as_deref()), Some("PKR"));
        assert_eq!(document.root.text_at(&["B"]), None);
    }

    #[test]
    fn hostile_documents_are_refused() {
        let deep = format!("{}{}", "<a>".repeat(33), "</a>".repeat(33));
        let wide = format!("<a>{}</a>", "<b/>".repeat(MAX_ELEMENTS));
        let many: String = (0..=MAX_ATTRIBUTES).map(|n| format!(" a{n}='1'")).collect();
        let bomb = "<!DOCTYPE a [<!ENTITY b 'bbbbbbbb'>]><a>&b;</a>";
        for (text, error) in [
            (bomb.to_owned(), XmlError::Doctype),
            ("<a>&b;</a>".to_owned(), XmlError::Entity),
            ("<a>&#0;</a>".to_owned(), XmlError::Entity),
            ("<a>&#x110000;</a>".to_owned(), XmlError::Entity),
            ("<a Ccy='&b;'/>".to_owned(), XmlError::Entity),
            (deep, XmlError::TooDeep),
            (wide, XmlError::TooManyElements),
            (format!("<a{many}/>"), XmlError::TooManyAttributes),
            ("<?xml version='1.0' encoding='UTF-16'?><a/>".to_owned(), XmlError::Encoding),
            ("x".repeat(MAX_MESSAGE_BYTES + 1), XmlError::TooLarge),
        ] {
            let start: String = text.chars().take(60).collect();
            assert_eq!(read(text.as_bytes()), Err(error), "{start}");
        }
        for text in ["", "x", "<a>", "<a><b></a>", "</a>", "<a/><a/>", "<a/>x", "<a Ccy='1' Ccy='2'/>", "<a", "{}"] {
            assert!(
                matches!(read(text.as_bytes()), Err(XmlError::Malformed(_))),
                "{text}: {:?}",
                read(text.as_bytes())
            );
        }
        assert_eq!(read(b"<a>\xff</a>"), Err(XmlError::Encoding));
    }
}
