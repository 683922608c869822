//! Rule `workspace-deps`: versions and features are chosen once, in the root manifest. A package that
//! is a workspace of its own has none.

use super::Finding;
use super::manifest::Manifest;
use super::tree::Tree;

const RULE: &str = "workspace-deps";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.manifests() {
        let Some(manifest) = Manifest::parse(text).filter(|it| !it.is_workspace) else { continue };
        for dependency in
            manifest.dependencies.iter().filter(|dependency| !dependency.from_workspace)
        {
            let message = format!(
                "write `{}.workspace = true`; the version goes into the root Cargo.toml",
                dependency.name
            );
            findings.push(Finding::new(path, dependency.line, RULE, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crates_own_version_is_a_finding() {
        let text = "[package]\nname = \"a\"\n[dependencies]\nb.workspace = true\nc = { workspace = true, features = [\"x\"] }\n\
                    d = \"1\"\ne = { path = \"../e\" }\n";
        let found = check(&Tree::of(&[
            ("crates/a/Cargo.toml", text),
            ("fuzz/Cargo.toml", &format!("[workspace]\n{text}")),
            ("Cargo.toml", "[workspace.dependencies]\nb = \"1\"\n"),
        ]));
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [6, 7]);
    }
}
