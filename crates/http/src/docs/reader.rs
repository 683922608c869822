//! Reads the pages' own HTML: what search and Markdown are made from, so that neither describes
//! anything a second time.

/// A piece of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'h> {
    /// Name and attributes of a start tag.
    Open(&'h str, &'h str),
    Close(&'h str),
    /// Text with its character references.
    Text(&'h str),
}

/// Void elements: they have no end tag.
const VOID: [&str; 8] = ["br", "circle", "hr", "input", "link", "meta", "path", "rect"];

/// The content of `<main>`, without elements that are hidden or only for the eye.
pub(super) fn content(page: &str) -> Vec<Token<'_>> {
    let main = page.split_once("<main id=\"main\">").map_or("", |(_, rest)| rest);
    let main = main.split_once("</main>").map_or(main, |(main, _)| main);
    let mut found = Vec::new();
    let mut skipped = 0_u32;
    for token in tokens(main) {
        match token {
            Token::Open(name, attributes) => {
                let is_void = VOID.contains(&name);
                let is_left_out = ["button", "header", "label", "nav", "noscript", "svg"]
                    .contains(&name)
                    || attributes.split(' ').any(|attribute| attribute == "hidden");
                if (skipped > 0 || is_left_out) && !is_void {
                    skipped += 1;
                } else if skipped == 0 && !is_void {
                    found.push(token);
                }
            }
            Token::Close(_) if skipped > 0 => skipped -= 1,
            _ if skipped == 0 => found.push(token),
            _ => {}
        }
    }
    found
}

fn tokens(html: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = html;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(tag) = rest.strip_prefix('<') else {
            let (text, after) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
            rest = after;
            return Some(Token::Text(text));
        };
        let (inside, after) = tag.split_once('>').unwrap_or((tag, ""));
        rest = after;
        Some(match inside.strip_prefix('/') {
            Some(name) => Token::Close(name),
            None => {
                let (name, attributes) = inside.split_once(' ').unwrap_or((inside, ""));
                Token::Open(name, attributes.trim_end_matches('/'))
            }
        })
    })
}

/// The value of an attribute.
pub(super) fn attribute<'h>(attributes: &'h str, name: &str) -> Option<&'h str> {
    let (_, rest) = attributes.split_once(&format!("{name}=\""))?;
    rest.split('"').next()
}

/// Text as the reader sees it.
pub(super) fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#39;", "'").replace("&amp;", "&")
}
