//! Patterns of `*` and `?` for the names of a bank's files, case-insensitive.

/// The patterns of a rail.
pub(super) struct Patterns(Vec<Vec<char>>);

impl Patterns {
    pub(super) fn new(patterns: &[String]) -> Patterns {
        Patterns(patterns.iter().map(|pattern| lower(pattern)).collect())
    }

    /// Whether a name matches any of them.
    pub(super) fn matches_name(&self, name: &str) -> bool {
        let name = lower(name);
        self.0.iter().any(|pattern| fits(pattern, &name))
    }
}

fn lower(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Each `*` first matches as little as possible; only the last one is ever extended.
fn fits(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut in_name, mut star) = (0, 0, None);
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, in_name));
                at += 1;
            }
            Some(one) if *one == '?' || name.get(in_name) == Some(one) => {
                at += 1;
                in_name += 1;
            }
            _ => match star {
                Some((behind, from)) => {
                    star = Some((behind, from + 1));
                    (at, in_name) = (behind, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|one| *one == '*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_patterns_case_insensitively() {
        for (pattern, name, expected) in [
            ("*.xml", "a.xml", true),
            ("*.xml", "A.XML", true),
            ("*.XML", ".xml", true),
            ("*.xml", "a.xml.part", false),
            ("*camt.05?*", "EBICS_CAMT.053_20261125", true),
            ("*camt.05?*", "camt.05", false),
            ("RPT-????????.*", "rpt-20261125.txt", true),
            ("RPT-????????.*", "rpt-2026112.txt", false),
            ("*a*b*c", "xaxbxxbc", true),
            ("*a*b*c", "xaxcxxb", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("größe*", "GRÖSSE.xml", false),
            ("größe*", "GRÖßE.xml", true),
        ] {
            assert_eq!(
                Patterns::new(&[pattern.to_owned()]).matches_name(name),
                expected,
                "{pattern} {name}"
            );
        }
        assert!(!Patterns::new(&[]).matches_name("a.xml"));
    }
}
