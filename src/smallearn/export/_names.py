"""Names that come from users, made harmless: identifiers from any text, and comments that nothing can break out of."""

import re
import unicodedata
from collections.abc import Sequence

from smallearn._text import show

LONGEST = 40  # of an identifier made from a user's name: C compilers may tell no more than 63 signs apart


def identifier(text: str, fallback: str = "value") -> str:
    """Lower-case ASCII letters, digits and single underscores, never empty. It may be a reserved word or begin with a
    digit: a target puts something before it, as in ``X_CLASS``."""
    plain = unicodedata.normalize("NFKD", text[: 8 * LONGEST]).encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")[:LONGEST].strip("_")
    return name or fallback


def unique_names(labels: Sequence[str], fallback: str = "value") -> list[str]:
    """An identifier for each label, all different, in order."""
    taken: set[str] = set()
    names = []
    for label in labels:
        base = name = identifier(label, fallback)
        number = 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name)
        names.append(name)
    return names


def remark(text: object) -> str:
    """For a comment in any language: printable ASCII on one line, without the signs that open, end or continue one."""
    shown = show(text, quote=False)
    shown = "".join(sign if " " <= sign <= "~" and sign != "\\" else f"<U+{ord(sign):04X}>" for sign in shown)
    for sign in ("*/", "/*", "//", "--", "<!", "</", "?>", "??"):
        first, second = map(re.escape, sign)
        shown = re.sub(f"(?<={first})(?={second})", " ", shown)  # replacing would leave ??? with two side by side
    return shown
