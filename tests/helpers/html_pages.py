"""Reading a page of HTML: its form, its texts and its tables."""

from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "link", "input", "br", "img", "wbr"}
# Everything that the template and matplotlib write; text within an SVG is drawn, so that it has no <text>.
ELEMENTS = {
    *("html", "head", "meta", "link", "title", "style", "body", "a", "header", "h1", "p", "dl", "div", "dt", "dd"),
    *("details", "summary"),
    *("small", "nav", "ul", "li", "main", "section", "h2", "h3", "table", "caption", "thead", "tbody", "tfoot", "tr"),
    *("th", "td", "ol", "noscript", "form", "fieldset", "legend", "label", "input", "select", "option", "button"),
    *("output", "span", "figure", "figcaption", "pre", "footer", "script", "svg", "defs", "g", "path", "use", "image"),
    *("rect", "circle", "text", "title", "template", "code", "br", "wbr", "noscript", "polyline", "line"),
}


class Reader(HTMLParser):
    """Checks that tags are balanced, and keeps elements and texts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts, self.tables, self.comments, self.hidden = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(set(names)) == len(names), (tag, attributes)
        assert not any(name.startswith("on") for name in names), (tag, attributes)
        # A template is no part of the page until the script takes it.
        (self.hidden if "template" in self.open else self.elements).append((tag, dict(attributes)))
        if "template" in self.open:
            pass
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_comment(self, data):
        self.comments.append(data)

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script") and not {"svg", "template"} & set(self.open):
            self.texts.append(data)
        if {"th", "td"} & set(self.open) and "template" not in self.open:
            self.tables[-1][-1][-1] += data

    @property
    def words(self):
        return " ".join("".join(self.texts).split())

    def table(self, *head):
        """The lines of the table that begins with these headings."""
        (found,) = (table for table in self.tables if table[0][: len(head)] == list(head))
        return found[1:]


def check_form(text):
    """Well-formed, every name once, every reference to something that is there, nothing from elsewhere."""
    found = Reader(text)
    assert text.startswith("<!doctype html>")
    names = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(set(names)) == len(names)
    for tag, attributes in found.hidden:
        assert tag in ELEMENTS, tag
        assert "id" not in attributes, (tag, attributes)
        assert "style" not in attributes, (tag, attributes)
    for tag, attributes in found.elements:
        assert tag in ELEMENTS, tag
        assert "style" not in attributes, (tag, attributes)
        for key in ("for", "aria-labelledby", "aria-describedby"):
            assert set(attributes.get(key, "").split()) <= set(names), (tag, attributes)
        for key in ("href", "xlink:href", "src"):
            address = attributes.get(key, "data:")
            assert address.startswith("data:") or address.removeprefix("#") in names, (tag, attributes)
        if tag == "input":
            assert "aria-label" in attributes or any(
                one.get("for") == attributes["id"] for of, one in found.elements if of == "label"
            )
    headings = [int(tag[1]) for tag, _ in found.elements if tag in ("h1", "h2", "h3")]
    assert headings.count(1) == 1
    assert all(below - above <= 1 for above, below in pairwise(headings))
    assert len(text.encode()) < 1_000_000
    return found
