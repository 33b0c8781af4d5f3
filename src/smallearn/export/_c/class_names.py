"""``NAME_class_name``: the labels of the classes as text.

On AVR text is in flash, where ``const char *`` cannot be read as elsewhere; Arduino has a type for such text, so that
``Serial.print`` prints it.
"""

import re

from smallearn.export._c.code import function
from smallearn.export._c.model import CModel

LONGEST = 4000  # bytes of a label: C99 promises string literals of 4095


def text_type(c: CModel) -> str:
    """The definition of the type of a label."""
    name = f"{c.prefix}_text_t;"
    return f"""\
#if defined(__AVR__) && defined(ARDUINO) && defined(__cplusplus)
class __FlashStringHelper; /* text in flash, which Serial.print takes */
typedef const __FlashStringHelper *{name}
#else
typedef const char *{name}
#endif
"""


def head(c: CModel) -> str:
    """The head of the function."""
    return f"{c.prefix}_text_t {c.prefix}_class_name({c.position_type} position)"


def functions(c: CModel, public: str) -> str:
    """The labels, and the function that finds one; no position is too large."""
    labels = c.target.flat.classes
    names = [f"{c.prefix}_class_name_{position}" for position in range(len(labels))]
    lines = [
        f"static const char {name}[] {c.upper}_FLASH = {literal(str(label))};"
        for name, label in zip(names, labels, strict=True)
    ]
    pointers = f"{c.prefix}_class_names"
    lines.append(
        f"static const char *const {pointers}[] {c.upper}_FLASH = {{\n    {f',{chr(10)}    '.join(names)}\n}};"
    )
    body = [
        f"if (position >= {c.upper}_CLASSES) position = {c.upper}_CLASSES - 1;",
        "#ifdef __AVR__ /* in flash: copy it with strcpy_P */",
        f"return ({c.prefix}_text_t)pgm_read_word(&{pointers}[position]);",
        "#else",
        f"return {pointers}[position];",
        "#endif",
    ]
    text = function(f"{public}{head(c)}", body)
    return "\n".join([*lines, re.sub(r"^ +#", "#", text, flags=re.MULTILINE)])


def literal(text: str) -> str:
    """Text as a C string in ASCII that nothing in it can end; a NUL, which would end the text, becomes ``<U+0000>``."""
    plain = text.replace("\x00", "<U+0000>").encode("utf-8", "backslashreplace")[:LONGEST]
    return '"' + "".join(_sign(byte) for byte in plain) + '"'


def _sign(byte: int) -> str:
    """A byte of a string; a question mark is escaped because of trigraphs."""
    sign = chr(byte)
    return sign if " " <= sign <= "~" and sign not in '"\\?' else f"\\{byte:03o}"
