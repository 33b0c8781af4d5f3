"""Check the links inside the built documentation: every file and every place on a page that a link names is there.

``python docs/links.py docs/_build/html``; part of ``make docs``. Links to other sites are for ``make docs-links``.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src", "srcset") and value is not None:
                self.links.append(value.split(" ")[0] if name == "srcset" else value)
            elif name == "id" and value:
                self.places.add(value)


def broken(folder: Path) -> list[str]:
    """A line for each link that leads nowhere."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in _pages(folder)}
    lines = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            where = f"{path.relative_to(folder.resolve())}: {link}"
            if not target.exists():
                lines.append(f"{where}: there is no such file")
            elif target in pages and place not in pages[target].places:
                lines.append(f"{where}: that page has no such place")
    return lines


def _pages(folder: Path) -> list[Path]:
    """Not the templates among the files of the theme."""
    return [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]


def main(folder: str) -> int:
    """Print the broken links; 1 if there are any."""
    pages = len(_pages(Path(folder)))
    if not pages:
        print(f"links: {folder} has no pages. Build them first: make docs")
        return 1
    lines = broken(Path(folder))
    print("\n".join(lines) if lines else f"links: {pages} pages, none of their links is broken")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
