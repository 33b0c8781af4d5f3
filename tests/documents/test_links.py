"""Links between the pages as they lie in the repository, where people read them too, and the check of the site."""

import re
import sys

import pytest

from tests.helpers import pages
from tests.helpers.pages import ROOT

sys.path.insert(0, str(ROOT / "docs"))
import links

sys.path.pop(0)

LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")
INCLUDED = re.compile(r"^```\{include\} (\S+)$", re.MULTILINE)


def text_of(page):
    """A page without its blocks of code, with what it includes."""
    text = (ROOT / page).read_text(encoding="utf-8")
    included = [(ROOT / page).parent.joinpath(name).read_text(encoding="utf-8") for name in INCLUDED.findall(text)]
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), "\n".join([text, *included])


def places(page):
    """What the titles of a page are called in links."""
    titles = re.findall(r"^#+ (.+)$", text_of(page)[1], flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links_of(page):
    return [link for link in LINK.findall(text_of(page)[0]) if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", pages.pages())
def test_links_lead_to_what_is_there(page):
    for link in links_of(page):
        name, _, place = link.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        built = path.resolve() == ROOT / "docs" / "api" / "index.md"
        assert path.exists() or built, f"{page}: {link}"
        if place and path.suffix == ".md":
            assert place in places(path.resolve().relative_to(ROOT).as_posix()), f"{page}: {link}"


def test_there_are_links_to_check():
    assert len([link for page in pages.pages() for link in links_of(page)]) > 100


def test_the_check_of_the_site_finds_what_is_broken(tmp_path, capsys):
    (tmp_path / "a.html").write_text('<h1 id="one">1</h1><a href="b.html#two">2</a><a href="https://example.org">3</a>')
    (tmp_path / "b.html").write_text('<h1 id="two">2</h1><a href="a.html#one">1</a><img src="x%20y.png">')
    (tmp_path / "x y.png").write_bytes(b"")
    assert links.main(str(tmp_path)) == 0
    (tmp_path / "b.html").write_text('<h1 id="2">2</h1><a href="a.html#one">1</a><a href="c.html">c</a>')
    capsys.readouterr()
    assert links.main(str(tmp_path)) == 1
    assert capsys.readouterr().out.splitlines() == [
        "a.html: b.html#two: that page has no such place",
        "b.html: c.html: there is no such file",
    ]


def test_a_folder_without_pages_is_no_site(tmp_path, capsys):
    assert links.main(str(tmp_path)) == 1
    assert "make docs" in capsys.readouterr().out
