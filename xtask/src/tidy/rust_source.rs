//! One Rust file, prepared for the rules: code separated from comments and literals, test code from
//! the rest, functions with their extent.

use super::rust_lexer::{self, Piece};

/// Files and directories with these names contain test code only. `conformance` is the stores'
/// suite.
const TEST_DIRS: [&str; 3] = ["tests", "benches", "conformance"];

/// A function's name and the lines from `fn` to its closing brace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub first: usize,
    pub last: usize,
}

impl Function {
    pub fn lines(&self) -> usize {
        self.last - self.first + 1
    }
}

/// A prepared file. Lines count from 1.
#[derive(Debug)]
pub struct RustSource {
    /// From the root, with `/`.
    pub path: String,
    /// Comments and the inside of literals blanked out, by line.
    pub code: Vec<String>,
    pub comments: Vec<Piece>,
    pub strings: Vec<Piece>,
    /// The text's unchanged lines.
    pub lines: Vec<String>,
    pub functions: Vec<Function>,
    is_test: Vec<bool>,
    test_modules: Vec<String>,
}

impl RustSource {
    pub fn new(path: &str, text: &str) -> RustSource {
        let lexed = rust_lexer::lex(text);
        let code: Vec<char> = lexed.code.chars().collect();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut source = RustSource {
            path: path.to_owned(),
            code: lexed.code.lines().map(str::to_owned).collect(),
            comments: lexed.comments,
            strings: lexed.strings,
            functions: functions(&code),
            is_test: vec![is_test_path(path); lines.len()],
            test_modules: Vec::new(),
            lines,
        };
        source.mark_test_items(&code);
        source
    }

    /// `crates/domain` → `domain`, `xtask` → `xtask`: the crate that contains the file.
    pub fn room(&self) -> &str {
        let path = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        path.split('/').next().unwrap_or_default()
    }

    pub fn is_test_line(&self, line: usize) -> bool {
        line.checked_sub(1).and_then(|index| self.is_test.get(index)).copied().unwrap_or(false)
    }

    /// Number of lines outside test code.
    pub fn own_lines(&self) -> usize {
        self.is_test.iter().filter(|test| !**test).count()
    }

    pub fn mark_as_test(&mut self) {
        self.is_test.fill(true);
    }

    /// Code lines with their numbers.
    pub fn numbered_code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.iter().enumerate().map(|(index, line)| (index + 1, line.as_str()))
    }

    /// Paths, without `.rs`, of the modules that this file declares for tests only.
    pub fn test_module_paths(&self) -> Vec<String> {
        let (dir, file) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let base = match file {
            "lib.rs" | "main.rs" | "mod.rs" => dir.to_owned(),
            _ => format!("{dir}/{}", file.trim_end_matches(".rs")),
        };
        self.test_modules.iter().map(|name| format!("{base}/{name}")).collect()
    }

    /// Items under `#[cfg(test)]` or `#[test]`.
    fn mark_test_items(&mut self, code: &[char]) {
        let mut at = 0;
        while let Some((start, end)) = next_attribute(code, at) {
            at = end;
            let attribute: String = code[start..end].iter().collect();
            if !is_test_attribute(&attribute) {
                continue;
            }
            let item_end = end_of_item(code, end);
            let (first, last) = (line_of(code, start), line_of(code, item_end));
            for test in self.is_test.iter_mut().take(last).skip(first - 1) {
                *test = true;
            }
            let item: String = code[end..=item_end.min(code.len() - 1)].iter().collect();
            self.test_modules.extend(declared_module(&item));
            at = item_end;
        }
    }
}

fn is_test_path(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let file = parts.next().unwrap_or_default().trim_end_matches(".rs");
    file == "tests"
        || file.ends_with("_tests")
        || file == "conformance"
        || parts.any(|dir| TEST_DIRS.contains(&dir))
}

fn is_test_attribute(attribute: &str) -> bool {
    let compact: String = attribute.chars().filter(|c| !c.is_whitespace()).collect();
    let condition = compact.strip_prefix("#[cfg(");
    condition
        .is_some_and(|rest| words(rest).any(|word| word == "test") && !rest.contains("not(test)"))
        || compact == "#[test]"
        || compact.starts_with("#[tokio::test")
}

/// `mod name;` after any visibility and attributes.
fn declared_module(item: &str) -> Option<String> {
    let declaration = item.trim_end().strip_suffix(';')?;
    let name = declaration.rsplit_once("mod ")?.1.trim();
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| name.to_owned())
}

/// Identifiers of a text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

fn line_of(code: &[char], at: usize) -> usize {
    1 + code[..at.min(code.len())].iter().filter(|c| **c == '\n').count()
}

/// Start and end of the next outer attribute `#[…]`.
fn next_attribute(code: &[char], from: usize) -> Option<(usize, usize)> {
    let start =
        (from..code.len().saturating_sub(1)).find(|at| code[*at] == '#' && code[at + 1] == '[')?;
    Some((start, matching(code, start + 1)? + 1))
}

/// Index of the bracket that closes the one at `open`.
fn matching(code: &[char], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in code.iter().enumerate().skip(open) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The last character of the item that starts at `from`: its `;`, or the closing brace of its body.
fn end_of_item(code: &[char], from: usize) -> usize {
    let mut at = from;
    while at < code.len() {
        match code[at] {
            ';' => return at,
            '{' => return matching(code, at).unwrap_or(code.len()),
            '(' | '[' => at = matching(code, at).unwrap_or(code.len()),
            _ => {}
        }
        at += 1;
    }
    code.len()
}

/// Every `fn name` that has a body.
fn functions(code: &[char]) -> Vec<Function> {
    let mut found = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for at in 0..code.len().saturating_sub(3) {
        let starts = at == 0 || !is_word(code[at - 1]);
        if !(starts && code[at] == 'f' && code[at + 1] == 'n' && code[at + 2].is_whitespace()) {
            continue;
        }
        let name: String = code[at + 3..]
            .iter()
            .skip_while(|c| c.is_whitespace())
            .take_while(|c| is_word(**c))
            .collect();
        let end = end_of_item(code, at);
        if !name.is_empty() && code.get(end) == Some(&'}') {
            found.push(Function { name, first: line_of(code, at), last: line_of(code, end) });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_an_extent() {
        let text = "fn a() {\n  let x = [0; { 3 }];\n}\ntrait T {\n  fn only();\n  fn given(x: fn(u8)) -> [u8; 2]\n  {\n  }\n}\n";
        let source = RustSource::new("crates/a/src/lib.rs", text);
        let found: Vec<_> =
            source.functions.iter().map(|f| (f.name.as_str(), f.first, f.lines())).collect();
        assert_eq!(found, [("a", 1, 3), ("given", 6, 3)]);
    }

    #[test]
    fn test_items_are_apart() {
        for (text, tests) in [
            ("fn a() {}\n#[cfg(test)]\nmod tests {\n}\nfn b() {}\n", vec![2, 3, 4]),
            ("#[cfg(all(test, unix))]\nuse x::{y, z};\nfn b() {}\n", vec![1, 2]),
            ("#[cfg(not(test))]\nfn b() {}\n", vec![]),
            ("#[cfg(test)]\n#[derive(Debug)]\nstruct A(\nu8);\nfn b() {}\n", vec![1, 2, 3, 4]),
            ("#[test]\nfn a() {\n}\nfn b() {}\n", vec![1, 2, 3]),
            ("#[derive(Debug)]\nstruct A;\n", vec![]),
        ] {
            let source = RustSource::new("crates/a/src/lib.rs", text);
            let found: Vec<usize> =
                (1..=source.lines.len()).filter(|line| source.is_test_line(*line)).collect();
            assert_eq!(found, tests, "{text}");
        }
    }

    #[test]
    fn test_files_are_recognised_by_path() {
        for (path, is_test) in [
            ("crates/a/tests/it/main.rs", true),
            ("crates/a/src/x/tests.rs", true),
            ("crates/store/src/conformance/mod.rs", true),
            ("crates/testkit/src/lib.rs", false),
            ("crates/a/src/contests.rs", false),
        ] {
            assert_eq!(RustSource::new(path, "fn a() {}\n").is_test_line(1), is_test, "{path}");
        }
    }

    #[test]
    fn a_declared_test_module_is_named_by_its_path() {
        let text = "#[cfg(test)]\npub(crate) mod checks;\nmod other;\n";
        for (path, module) in [
            ("crates/a/src/lib.rs", "crates/a/src/checks"),
            ("crates/a/src/x/mod.rs", "crates/a/src/x/checks"),
            ("crates/a/src/x.rs", "crates/a/src/x/checks"),
        ] {
            assert_eq!(RustSource::new(path, text).test_module_paths(), [module]);
        }
    }

    #[test]
    fn a_file_belongs_to_a_crate() {
        assert_eq!(RustSource::new("crates/http/src/lib.rs", "").room(), "http");
        assert_eq!(RustSource::new("xtask/src/main.rs", "").room(), "xtask");
    }
}
