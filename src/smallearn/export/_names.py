"""Text from users made safe for source code: identifiers from any label, comments that nothing can break out of."""

import re
import unicodedata
from collections.abc import Sequence

from smallearn._text import show

LONGEST = 40  # characters of an identifier made from a label: C compilers may compare only the first 63


def identifier(text: str, fallback: str = "value") -> str:
    """Lower-case ASCII letters, digits and single underscores, never empty.

    It may be a reserved word or begin with a digit: a target puts a prefix before it, as in ``X_CLASS``.
    """
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


def comment_text(value: object) -> str:
    """A value for a comment in any language: printable ASCII on one line, with nothing that opens or ends a comment."""
    text = show(value, quote=False)
    text = "".join(sign if " " <= sign <= "~" and sign != "\\" else f"<U+{ord(sign):04X}>" for sign in text)
    for sign in ("*/", "/*", "//", "--", "<!", "</", "?>", "??"):
        first, second = map(re.escape, sign)
        text = re.sub(f"(?<={first})(?={second})", " ", text)  # replacing the pair would leave one in "???"
    return text
