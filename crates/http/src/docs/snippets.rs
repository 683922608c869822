//! The code samples that sign requests and verify webhooks, from the repository, where tests run
//! them.

/// The samples of one language.
#[derive(Clone, Copy, Debug)]
pub struct Snippet {
    /// Its directory in `docs/snippets`, also the anchor of its section.
    pub id: &'static str,
    pub language: &'static str,
    /// Signs a call to each service: file name and text.
    pub sign: (&'static str, &'static str),
    /// Verifies a webhook: file name and text.
    pub verify: (&'static str, &'static str),
}

macro_rules! snippet {
    ($id:literal, $language:literal, $sign:literal, $verify:literal) => {
        Snippet {
            id: $id,
            language: $language,
            sign: ($sign, include_str!(concat!("../../../../docs/snippets/", $id, "/", $sign))),
            verify: (
                $verify,
                include_str!(concat!("../../../../docs/snippets/", $id, "/", $verify)),
            ),
        }
    };
}

pub const SNIPPETS: [Snippet; 7] = [
    snippet!("shell", "Shell (curl, OpenSSL)", "sign.sh", "verify.sh"),
    snippet!("python", "Python", "sign.py", "verify.py"),
    snippet!("typescript", "TypeScript (Node)", "sign.mjs", "verify.mjs"),
    snippet!("java", "Java", "Sign.java", "Verify.java"),
    snippet!("csharp", "C#", "Sign.cs", "Verify.cs"),
    snippet!("go", "Go", "sign.go", "verify.go"),
    snippet!("php", "PHP", "sign.php", "verify.php"),
];
