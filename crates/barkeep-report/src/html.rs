//! Builds HTML out of nodes: words are escaped where they become a node, and there is no other way in.

/// A piece of the page.
pub(crate) struct Node(String);

impl Node {
    /// The page's text.
    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

/// Words, whatever they hold.
pub(crate) fn text(words: impl AsRef<str>) -> Node {
    Node(escaped(words.as_ref()))
}

/// An SVG of `barkeep-plot`, which escapes the words in it.
pub(crate) fn picture(svg: String) -> Node {
    Node(svg)
}

/// An element.
pub(crate) fn element(
    tag: &'static str,
    attributes: &[(&'static str, &str)],
    children: impl IntoIterator<Item = Node>,
) -> Node {
    let mut out = format!("<{tag}");
    for (name, value) in attributes {
        out.push_str(&format!(" {name}=\"{}\"", escaped(value)));
    }
    out.push('>');
    for child in children {
        out.push_str(&child.0);
    }
    if !VOID.contains(&tag) {
        out.push_str(&format!("</{tag}>"));
    }
    if BLOCKS.contains(&tag) {
        out.push('\n');
    }
    Node(out)
}

/// Elements without an end.
const VOID: [&str; 2] = ["meta", "br"];
/// Elements after which a line ends.
const BLOCKS: [&str; 14] =
    ["section", "p", "h1", "h2", "h3", "ul", "li", "table", "tr", "div", "figure", "header", "nav", "pre"];

/// A paragraph.
pub(crate) fn p(words: impl AsRef<str>) -> Node {
    element("p", &[], [text(words)])
}

/// A heading within a section.
pub(crate) fn h3(words: &str) -> Node {
    element("h3", &[], [text(words)])
}

/// A list of sentences.
pub(crate) fn list(items: impl IntoIterator<Item = String>) -> Node {
    element("ul", &[], items.into_iter().map(|item| element("li", &[], [text(item)])))
}

/// Words to be copied, line by line.
pub(crate) fn code(label: &str, words: &str) -> Node {
    let attributes = [("tabindex", "0"), ("role", "region"), ("aria-label", label)];
    element("pre", &attributes, [element("code", &[], [text(words)])])
}

/// A table: its caption, the names of its columns, its rows. The first cell of a row names it.
pub(crate) fn table(caption: &str, head: &[&str], rows: Vec<Vec<String>>) -> Node {
    let head = head.iter().map(|name| element("th", &[("scope", "col")], [text(name)]));
    let row = |cells: Vec<String>| {
        let cell = |(place, cell): (usize, String)| match place {
            0 => element("th", &[("scope", "row")], [text(cell)]),
            // Numbers and intervals stay on one line.
            _ if cell.starts_with(|first: char| first.is_ascii_digit() || first == '-')
                && cell.len() < 48 =>
            {
                element("td", &[("class", "number")], [text(cell)])
            }
            _ if cell.len() > 24 => element("td", &[("class", "words")], [text(cell)]),
            _ => element("td", &[], [text(cell)]),
        };
        element("tr", &[], cells.into_iter().enumerate().map(cell))
    };
    let parts = [
        element("caption", &[], [text(caption)]),
        element("thead", &[], [element("tr", &[], head)]),
        element("tbody", &[], rows.into_iter().map(row)),
    ];
    // Wide tables scroll, by keyboard too.
    let attributes = [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", caption)];
    element("div", &attributes, [element("table", &[], parts)])
}

/// A picture with words below.
pub(crate) fn figure(svg: String, caption: &str) -> Node {
    let caption = (!caption.is_empty()).then(|| element("figcaption", &[], [text(caption)]));
    element("figure", &[], std::iter::once(picture(svg)).chain(caption))
}

/// Words as HTML shows them, between tags and in attributes. Control characters, which HTML forbids, become blanks.
fn escaped(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for letter in words.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
