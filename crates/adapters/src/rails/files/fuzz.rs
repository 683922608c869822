//! Fuzz targets of the files in a bank's directory: archives, acknowledgements, names.

use super::pattern::Patterns;
use super::refusal;
use super::unpack::unpack;
use crate::fuzz::{assert_clean, text};
use crate::rails::MAX_MESSAGE_BYTES;

/// An archive of any format gives bounded files; each is also read as an acknowledgement.
pub(in crate::rails) fn archive(bytes: &[u8]) {
    let parts = unpack(bytes.to_vec()).unwrap_or_default();
    for file in parts.into_iter().filter_map(|part| part.content.ok()) {
        assert!(file.len() <= (MAX_MESSAGE_BYTES + 1).max(bytes.len()));
        if let Some(refusal) = refusal::read(file, "M-1", false, &[]) {
            assert_clean(&refusal.text, 200);
        }
    }
}

/// A pattern on the first line, a name on the second: a name matches itself and what begins it.
pub(in crate::rails) fn file_name(bytes: &[u8]) {
    let Some((pattern, name)) = text(bytes).and_then(|text| text.split_once('\n')) else { return };
    Patterns::new(&[pattern.to_owned()]).matches_name(name);
    assert!(Patterns::new(&["*".to_owned()]).matches_name(name));
    let question_marks = "?".repeat(name.chars().flat_map(char::to_lowercase).count());
    assert!(Patterns::new(&[question_marks]).matches_name(name));
    if !name.contains(['*', '?']) {
        assert!(Patterns::new(&[name.to_owned()]).matches_name(name));
        assert!(Patterns::new(&[format!("{name}*")]).matches_name(&format!("{name}.xml")));
    }
}
