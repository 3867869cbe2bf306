//! A figure as an element of a page of HTML, with a title that screen readers read.

use std::path::Path;

use super::{figure::Figure, svg::PANEL_ON_PAGE};
use crate::{error::Result, io::files::write_text};

/// The namespace in the SVG of a file, which an element within HTML does not need.
const NAMESPACE: &str = " xmlns=\"http://www.w3.org/2000/svg\"";

impl Figure {
    /// The figure as an `svg` element of a page, with the accessible name `label`. `id` must be unique on the page and
    /// consist of letters, digits and hyphens. The element loads nothing, and the same figure gives the same bytes.
    pub fn svg_element(&self, id: &str, label: &str) -> Result<String> {
        let svg = self.svg_of(PANEL_ON_PAGE)?.replacen(NAMESPACE, "", 1);
        let named = format!("<svg role=\"img\" aria-labelledby=\"{id}\" ");
        let (head, body) = svg.split_once('>').unwrap_or((&svg, ""));
        let head = head.replacen("<svg ", &named, 1);
        Ok(format!("{head}>\n<title id=\"{id}\">{}</title>{body}", escaped(label)))
    }
}

/// Writes a page, whole or not at all; missing folders are created.
pub fn write_page(path: &Path, html: &str) -> Result<()> {
    write_text(path, html)
}

/// Text escaped for an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use crate::chart::curves;

    #[test]
    fn an_element_has_a_title_and_no_address() {
        let figure = curves::tradeoff("a < b & <script>", vec![(0.0, 1.0), (0.5, 0.2), (1.0, 0.0)]);
        let svg = figure.svg_element("chart-1", "R&D <b>").unwrap();
        assert!(svg.starts_with("<svg role=\"img\" aria-labelledby=\"chart-1\" width="), "{svg}");
        assert!(svg.contains("<title id=\"chart-1\">R&amp;D &lt;b&gt;</title>"));
        assert!(!svg.contains("http") && !svg.contains("<script>") && svg.contains("viewBox="));
        assert!(svg.trim_end().ends_with("</svg>"));
    }
}
