//! Assets of the pages: a style sheet, a script, an icon. Each is embedded, and its path contains
//! its version, so browsers cache it for a year.

use std::sync::LazyLock;

use domain::hex::hex;
use sha2::{Digest as _, Sha256};

/// Bytes of the hash that form the version.
const VERSION_BYTES: usize = 6;

/// A file that a page loads.
#[derive(Debug, PartialEq, Eq)]
pub struct Asset {
    pub path: String,
    pub content_type: &'static str,
    pub body: &'static str,
}

/// The assets of the pages.
pub struct Assets {
    pub style: Asset,
    pub script: Asset,
    pub icon: Asset,
}

pub static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    style: asset("css", "text/css; charset=utf-8", include_str!("assets/pay.css")),
    script: asset("js", "text/javascript; charset=utf-8", include_str!("assets/pay.js")),
    icon: asset("svg", "image/svg+xml", include_str!("assets/pay.svg")),
});

fn asset(extension: &str, content_type: &'static str, body: &'static str) -> Asset {
    let version = hex(&Sha256::digest(body.as_bytes())[..VERSION_BYTES]);
    Asset { path: format!("/pay/assets/{version}.{extension}"), content_type, body }
}

impl Assets {
    /// The asset with this file name, and whether the version matches. During a rolling upgrade a
    /// page from another node may request another version.
    pub fn find(&self, name: &str) -> Option<(&Asset, bool)> {
        let (_, extension) = name.split_once('.')?;
        let all = [&self.style, &self.script, &self.icon];
        let asset = all
            .into_iter()
            .find(|asset| asset.path.rsplit_once('.').is_some_and(|(_, it)| it == extension))?;
        Some((asset, asset.path.ends_with(&format!("/{name}"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asset_is_found_by_its_version_and_distinguished_from_others() {
        for asset in [&ASSETS.style, &ASSETS.script, &ASSETS.icon] {
            let name = asset.path.strip_prefix("/pay/assets/").expect("a path");
            assert_eq!(ASSETS.find(name), Some((asset, true)));
            assert_eq!(ASSETS.find(&format!("0{name}")), Some((asset, false)));
        }
        assert_eq!(ASSETS.find("css"), None);
        assert_eq!(ASSETS.find("x.html"), None);
    }

    #[test]
    fn assets_lead_nowhere() {
        for asset in [&ASSETS.style, &ASSETS.script] {
            for forbidden in
                ["http:", "https:", "@import", "url(", "eval(", "new Function", "document.write"]
            {
                assert!(!asset.body.contains(forbidden), "{forbidden}");
            }
        }
    }
}
