//! Lays the page out: its head, its colours, and the policy that lets it load and run nothing.

use crate::html::{Node, element, picture, text};
use sha2::{Digest, Sha256};

/// The page's style: light or dark as the reader's system says, narrow or wide, on paper black on white.
const STYLE: &str = include_str!("page.css");

/// The page.
pub(crate) fn page(title: &str, header: Node, contents: &[(&str, &str)], sections: Vec<Node>) -> String {
    let link = |(id, name): &(&str, &str)| {
        let place = format!("#{id}");
        element("li", &[], [element("a", &[("href", place.as_str())], [text(name)])])
    };
    let nav = element("nav", &[("aria-label", "Sections")], [element("ul", &[], contents.iter().map(link))]);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE)
    );
    let head = [
        element("meta", &[("charset", "utf-8")], []),
        element("meta", &[("http-equiv", "Content-Security-Policy"), ("content", policy.as_str())], []),
        element("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")], []),
        element("meta", &[("name", "color-scheme"), ("content", "light dark")], []),
        element("title", &[], [text(title)]),
        // Ours, and the same in every report: its hash is in the policy.
        element("style", &[], [picture(STYLE.to_owned())]),
    ];
    let body = [
        element("a", &[("class", "skip"), ("href", "#main")], [text("Skip to the results")]),
        header,
        nav,
        element("main", &[("id", "main")], sections),
    ];
    let page = element("html", &[("lang", "en")], [element("head", &[], head), element("body", &[], body)]);
    format!("<!doctype html>\n{}\n", page.into_text())
}

/// A section of the page.
pub(crate) fn section(id: &str, name: &str, content: Vec<Node>) -> Node {
    let heading = format!("{id}-heading");
    let attributes = [("id", id), ("aria-labelledby", heading.as_str())];
    let title = element("h2", &[("id", heading.as_str())], [text(name)]);
    element("section", &attributes, std::iter::once(title).chain(content))
}

/// SHA-256 in base 64.
fn hash(words: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(words.as_bytes());
    let mut out = String::new();
    for group in digest.chunks(3) {
        let bytes = [group[0], group.get(1).copied().unwrap_or(0), group.get(2).copied().unwrap_or(0)];
        let bits = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place)) & 63;
            let known = place <= group.len();
            out.push(if known { char::from(DIGITS[digit as usize]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn hashes_are_those_of_the_standard() {
        // SHA-256 of "abc" (FIPS 180-2), in base 64.
        assert_eq!(hash("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }
}
