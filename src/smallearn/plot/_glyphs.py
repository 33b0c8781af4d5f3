"""Names in any script: a font that has their signs, or the signs escaped, so that nothing is an empty box."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NO_FONT = "Last Resort"  # the beginning of the names of fonts whose signs are all boxes


def readable(text: str) -> str:
    """The text, in which signs that no installed font has are escaped, as `unicode_escape` does."""
    signs = _lacking(text)
    if not signs:
        return text
    shown = {sign: sign if _font_with(sign) else sign.encode("unicode_escape").decode() for sign in signs}
    return "".join(shown.get(sign, sign) for sign in text)


def families(texts: Iterable[str]) -> dict[str, Any]:
    """The property of a text that names the fonts for these texts; nothing if the usual font has all signs."""
    found = [font for sign in sorted({sign for text in texts for sign in _lacking(text)}) if (font := _font_with(sign))]
    if not found:
        return {}
    from matplotlib import rcParams

    return {"fontfamily": [*rcParams["font.family"], *dict.fromkeys(found)]}


def make_readable(ax: "Axes") -> None:
    """Make all texts of the Axes readable, but for those of ticks, which are made so as they are set."""
    from matplotlib.text import Text

    ticks = {id(label) for axis in (ax.xaxis, ax.yaxis) for label in axis.get_ticklabels()}
    for text in ax.findobj(Text):
        content = text.get_text()
        if id(text) not in ticks and _lacking(content):
            text.set(text=readable(content), **families([content]))


def _lacking(text: str) -> set[str]:
    """The signs that the usual font has not."""
    if text.isascii():
        return set()
    from matplotlib.font_manager import FontProperties, findfont

    return {sign for sign in text if sign.isprintable() and ord(sign) not in _signs_of(findfont(FontProperties()))}


@cache
def _signs_of(path: str) -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(path).get_charmap())


@cache
def _font_with(sign: str) -> str | None:
    """The first installed font, by name, that has a sign."""
    from matplotlib.font_manager import fontManager

    for entry in sorted(fontManager.ttflist, key=lambda entry: (entry.name, entry.fname)):
        if not entry.name.startswith(NO_FONT) and ord(sign) in _read(entry.fname):
            return str(entry.name)
    return None


def _read(path: str) -> frozenset[int]:
    try:
        return _signs_of(path)
    except (OSError, RuntimeError):  # a font that cannot be read has no signs
        return frozenset()
