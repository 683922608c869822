//! Fuzz targets of the console's forms.
//!
//! Compiled for `cargo xtask fuzz` and for tests; never part of the program.

use axum::body::Bytes;
use futures_util::FutureExt as _;

use crate::form::Form;
use crate::upload;

/// The name of a target, which is also that of its corpus, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets of this crate.
pub const TARGETS: [Target; 2] = [("console_form", form), ("console_upload", upload)];

/// A form with a file, of the boundary of the seeds: nothing is read that did not arrive.
fn upload(bytes: &[u8]) {
    let read = upload::parse("multipart/form-data; boundary=----x7", Bytes::copy_from_slice(bytes));
    let Some(Some(form)) = read.now_or_never() else { return };
    let file = form.file().map_or(0, |file| file.bytes.len());
    let fields: usize = form.pairs().map(|(name, value)| name.len() + value.len()).sum();
    assert!(file + fields <= bytes.len());
}

/// A form without a file: a pair that is kept means the same when it is written and read again.
fn form(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let form = Form::of(text);
    let again = Form::of(&form.without(&[]));
    let kept = form.pairs().filter(|(_, value)| !value.trim().is_empty());
    let kept: Vec<_> = kept.map(|(name, value)| (name, value.trim())).collect();
    assert_eq!(again.pairs().collect::<Vec<_>>(), kept);
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_corpus_of_every_target_is_read() {
        for (name, target) in super::TARGETS {
            testkit::corpus::replay(name, target);
        }
    }
}
