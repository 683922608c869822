//! The inputs of the fuzz targets that are kept in `fuzz/corpus`.

use std::path::Path;

/// Runs a target on every input of its corpus, which must have some.
///
/// # Panics
/// The corpus is missing or empty, or the target rejects an input.
pub fn replay(name: &str, target: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let files = std::fs::read_dir(&corpus).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut count = 0;
    for file in files {
        let path = file.expect("a file of the corpus").path();
        let input = std::fs::read(&path).expect("a readable input");
        let passed = std::panic::catch_unwind(|| target(&input)).is_ok();
        assert!(passed, "{}: see above", path.display());
        count += 1;
    }
    assert!(count > 0, "{name} has no inputs");
}
