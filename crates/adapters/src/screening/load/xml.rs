//! A small, strict XML reader that produces one element tree per list entry.
//!
//! It rejects DOCTYPE, entities other than XML's five predefined ones, deep nesting and large
//! texts, so that a hostile list can neither expand without bound nor reference files; it never
//! resolves anything outside the document.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::{Fault, MAX_FIELD_BYTES};
use crate::screening::entry::ListEntry;

/// Maximum nesting of elements.
const MAX_DEPTH: usize = 16;
/// Maximum number of elements within one entry.
const MAX_ENTRY_ELEMENTS: usize = 20_000;
/// Maximum number of attributes of one element, each of which is compared with the ones before it.
const MAX_ATTRIBUTES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
    attributes: Vec<(String, String)>,
    /// Line of the start tag.
    pub(super) line: u64,
}

impl Element {
    /// Trimmed text of the first child called `name`; empty if there is none.
    pub(super) fn text_of(&self, name: &str) -> &str {
        self.child(name).map_or("", |child| child.text.trim())
    }

    /// The value of an attribute; empty if there is none.
    pub(super) fn attribute(&self, name: &str) -> &str {
        self.attributes
            .iter()
            .find(|(known, _)| known == name)
            .map_or("", |(_, value)| value.trim())
    }

    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// An entry with the addresses that any text of its element names.
    pub(super) fn with_addresses(&self, mut entry: ListEntry) -> ListEntry {
        self.add_addresses(&mut entry);
        entry
    }

    fn add_addresses(&self, entry: &mut ListEntry) {
        entry.add_addresses_in(&self.text);
        self.attributes.iter().for_each(|(_, value)| entry.add_addresses_in(value));
        self.children.iter().for_each(|child| child.add_addresses(entry));
    }

    /// The children called `item` of the children called `list`.
    pub(super) fn listed<'a>(
        &'a self,
        list: &'a str,
        item: &'a str,
    ) -> impl Iterator<Item = &'a Element> {
        self.all(list).flat_map(move |child| child.all(item))
    }
}

/// The events of [`read`].
pub(super) enum Found {
    /// An attribute of the root.
    RootAttribute(String, String),
    /// A complete element with one of the wanted names.
    Element(Element),
}

/// Reads a document with the given root and emits every element whose name is in `wanted`.
pub(super) fn read(
    text: &str,
    root: &str,
    wanted: &[&str],
    mut found: impl FnMut(Found) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut walk = Walk { text, lines: (0, 1), depth: 0, building: Vec::new(), elements: 0 };
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut ended = false;
    loop {
        let position = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let event = reader.read_event().map_err(|error| {
            let at = usize::try_from(reader.error_position()).unwrap_or(usize::MAX);
            Fault::new(line_of(text.as_bytes(), at), format!("is not well-formed XML: {error}"))
        })?;
        let line = walk.line(position);
        match event {
            Event::Start(start) if walk.depth == 0 => {
                if ended || local(&start) != root {
                    return Err(Fault::new(line, format!("the root element is not <{root}>")));
                }
                for (name, value) in attributes(&start, line)? {
                    found(Found::RootAttribute(name, value))?;
                }
                walk.depth = 1;
            }
            Event::Start(start) => walk.start(&start, wanted, line)?,
            Event::End(_) => {
                ended = walk.depth == 1;
                if let Some(element) = walk.end() {
                    found(Found::Element(element))?;
                }
            }
            Event::Text(part) => walk.push_text(&part, line)?,
            Event::CData(part) => walk.push_text(&part, line)?,
            Event::GeneralRef(reference) => walk.push_text(&resolve(&reference, line)?, line)?,
            Event::DocType(_) => {
                return Err(Fault::new(line, "a document type declaration is not allowed"));
            }
            Event::Empty(_) => return Err(Fault::new(line, "an empty element was not expanded")),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof if ended => return Ok(()),
            Event::Eof => return Err(Fault::new(line, format!("ends before </{root}>"))),
        }
    }
}

fn local(start: &BytesStart<'_>) -> String {
    let name = start.local_name();
    let name: &str = name.as_ref();
    name.to_owned()
}

/// The attributes of an element by their local names; as in texts, only XML's own entities are
/// known.
fn attributes(start: &BytesStart<'_>, line: u64) -> Result<Vec<(String, String)>, Fault> {
    let mut all = Vec::new();
    for attribute in start.attributes() {
        if all.len() == MAX_ATTRIBUTES {
            let problem = format!("an element has more than {MAX_ATTRIBUTES} attributes");
            return Err(Fault::new(line, problem));
        }
        let attribute =
            attribute.map_err(|error| Fault::new(line, format!("bad attribute: {error}")))?;
        let key: &str = attribute.key.local_name().into_inner();
        let value = quick_xml::escape::unescape(&attribute.value)
            .map_err(|error| Fault::new(line, format!("bad attribute {key}: {error}")))?;
        if value.len() > MAX_FIELD_BYTES {
            return Err(Fault::new(
                line,
                format!("the attribute {key} has more than {MAX_FIELD_BYTES} bytes"),
            ));
        }
        all.push((key.to_owned(), value.into_owned()));
    }
    Ok(all)
}

fn resolve(reference: &BytesRef<'_>, line: u64) -> Result<String, Fault> {
    match reference.resolve_char_ref() {
        Ok(Some(letter)) => return Ok(letter.to_string()),
        Ok(None) => {}
        Err(error) => return Err(Fault::new(line, format!("bad character reference: {error}"))),
    }
    let letter = match &**reference {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        other => return Err(Fault::new(line, format!("the entity &{other}; is not allowed"))),
    };
    Ok(letter.to_owned())
}

fn line_of(bytes: &[u8], position: usize) -> u64 {
    let before = &bytes[..position.min(bytes.len())];
    before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1
}

struct Walk<'a> {
    text: &'a str,
    /// A position and its line, so that lines are counted only once.
    lines: (usize, u64),
    depth: usize,
    building: Vec<Element>,
    elements: usize,
}

impl Walk<'_> {
    fn line(&mut self, position: usize) -> u64 {
        let position = position.min(self.text.len());
        let passed = &self.text.as_bytes()[self.lines.0.min(position)..position];
        self.lines =
            (position, self.lines.1 + passed.iter().filter(|byte| **byte == b'\n').count() as u64);
        self.lines.1
    }

    fn start(&mut self, start: &BytesStart<'_>, wanted: &[&str], line: u64) -> Result<(), Fault> {
        let name = local(start);
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::new(line, format!("<{name}> is nested deeper than {MAX_DEPTH}")));
        }
        if self.building.is_empty() {
            if !wanted.contains(&name.as_str()) {
                return Ok(());
            }
            self.elements = 0;
        }
        self.elements += 1;
        if self.elements > MAX_ENTRY_ELEMENTS {
            return Err(Fault::new(
                line,
                format!("an entry has more than {MAX_ENTRY_ELEMENTS} elements"),
            ));
        }
        let attributes = attributes(start, line)?;
        self.building.push(Element { name, attributes, line, ..Element::default() });
        Ok(())
    }

    fn end(&mut self) -> Option<Element> {
        self.depth -= 1;
        let done = self.building.pop()?;
        match self.building.last_mut() {
            Some(parent) => {
                parent.children.push(done);
                None
            }
            None => Some(done),
        }
    }

    fn push_text(&mut self, text: &str, line: u64) -> Result<(), Fault> {
        let Some(element) = self.building.last_mut() else { return Ok(()) };
        if element.text.len() + text.len() > MAX_FIELD_BYTES {
            return Err(Fault::new(
                line,
                format!("<{}> has more than {MAX_FIELD_BYTES} bytes of text", element.name),
            ));
        }
        element.text.push_str(text);
        Ok(())
    }
}
