//! The usual forms of given names: short forms, nicknames, and those of other languages (`Bill`,
//! `Wm.`, `Guillermo`). It works on words, and scores nothing.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::normal::canonical;

/// One name a row; `data/given_names.txt` says what is in it.
const NAMES: &str = include_str!("../../data/given_names.txt");

/// The forms of each name, and the names of each form.
struct Table {
    names: Vec<Vec<Box<[char]>>>,
    of_forms: HashMap<Box<[char]>, Vec<u16>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { names: Vec::new(), of_forms: HashMap::new() };
    let rows = NAMES.lines().filter(|row| !row.starts_with('#'));
    for (at, row) in (0_u16..).zip(rows) {
        let forms = row.split(' ').map(|form| canonical(form).chars().collect::<Box<[char]>>());
        let mut forms: Vec<Box<[char]>> = forms.collect();
        forms.sort_unstable();
        forms.dedup();
        for form in &forms {
            table.of_forms.entry(form.clone()).or_default().push(at);
        }
        table.names.push(forms);
    }
    table
});

/// The names of which a word is a form, by their rows.
pub(super) fn names(word: &[char]) -> &'static [u16] {
    TABLE.of_forms.get(word).map_or(&[], Vec::as_slice)
}

/// The other forms of a word's names.
pub(super) fn others(names: &'static [u16]) -> impl Iterator<Item = &'static [char]> {
    names
        .iter()
        .filter_map(|name| TABLE.names.get(usize::from(*name)))
        .flatten()
        .map(|form| &**form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_words_without_diacritics() {
        for row in NAMES.lines().filter(|row| !row.starts_with('#')) {
            let forms: Vec<&str> = row.split(' ').collect();
            assert!(forms.len() >= 2, "{row}");
            for form in forms {
                let is_plain = form.len() >= 2 && form.bytes().all(|it| it.is_ascii_lowercase());
                assert!(is_plain, "{form:?} in {row}");
            }
        }
    }

    #[test]
    fn a_form_may_be_that_of_several_names() {
        let are_one = |x: &str, y: &str| {
            let of = |word: &str| names(&word.chars().collect::<Vec<_>>());
            of(x).iter().any(|name| of(y).contains(name))
        };
        for (x, y) in [("sandy", "alexander"), ("sandy", "sandra"), ("ted", "edward")] {
            assert!(are_one(x, y) && are_one(y, x), "{x} {y}");
        }
        for (x, y) in [("alexander", "sandra"), ("jim", "john"), ("bob", "bill"), ("", "")] {
            assert!(!are_one(x, y), "{x} {y}");
        }
        assert!(
            others(names(&['b', 'o', 'b'])).any(|form| "robert".chars().eq(form.iter().copied()))
        );
    }
}
