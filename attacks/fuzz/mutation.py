"""Damage to a model's file: to its tree of fields, where most of it still makes sense, and to its bytes."""

import copy
import json
import math
import random
import struct
from collections.abc import Callable
from typing import Any

from attacks.fuzz.seeds import drawn, seeds, trees

NUMBERS = (0, -0.0, 1, -1, 2, 3, 0.5, 1.5, 1e-9, 1e6, 1e15, 1e16, 1e17, 5e-324, 2.3e-308, 1e-150, 1e150, 1e300, 1e308)
NUMBERS = (*NUMBERS, -1e308, 1.7976931348623157e308, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**18, 10**30)
HUGE = (10**308, 10**309, -(10**400), 10**4299)  # beyond doubles; Python reads up to 4,300 digits
TEXTS = (
    "",
    " ",
    "\x00",
    "\n",
    "\r\n",
    "\u2028",
    "\x85",
    "\ud800",
    "\udfff\ud800",
    "\U0010ffff",
    "é",
    "e\u0301",
    "名前",
    "\u202eabc",
    "'",
    '"',
    "\\",
    "*/",
    "<!--",
    "</script><script>alert(1)</script>",
    "{{ 7*7 }}",
    "${7*7}",
    "%s %n",
    "; DROP TABLE data; --",
    "__proto__",
    "constructor",
    "nan",
    "inf",
    "-0",
    "1e309",
    "True",
    "None",
    "class",
    "int",
    "x" * 300,
    "a\tb",
    "??/",
    "=1+1",
    "\ufeff",
)
OTHER = (None, True, False, [], {}, [[]], [None], {"a": 1}, [0] * 50)
KINDS = ("raw", "at_most", "above", "equals", "missing", "between", "")
DTYPES = ("<i8", "|O", "|b1", "<f8", "<U3", "<U1", "<U999999", ">f4", "<f2", "|u1", "|i1", "<M8[s]", "V8", "i", "<c16")
VERSIONS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 99, 2**40, -1, 10.0, "10", True, None)
WHERE = {"kind": KINDS, "class_dtype": DTYPES, "version": VERSIONS, "budget": ("prototype", "total", "shared", "")}
TOKENS = (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"1e-999", b"null", b"\\ud800", b"\\u0000", b"\x00")
TOKENS = (
    *TOKENS,
    b"9" * 400,
    b"[" * 200,
    b'{"a":' * 200,
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"//",
)


def mutant(dice: random.Random) -> bytes:
    """A damaged model file."""
    way = dice.random()
    if way < 0.15:
        return broken_bytes(dice, drawn(dice, seeds()).encode("utf-8", "surrogatepass"))
    tree = copy.deepcopy(drawn(dice, trees()))
    gentle = way < 0.6
    for _ in range(1 + int(dice.expovariate(0.9))):
        tree = (nudged if gentle else damaged)(dice, tree)
    text = written(dice, tree)
    return broken_bytes(dice, text) if way > 0.97 else text


def written(dice: random.Random, tree: Any) -> bytes:
    """As JSON, in one of the ways in which it can be written."""
    escaped, indent = dice.random() < 0.5, 1 if dice.random() < 0.02 else None
    text = json.dumps(tree, ensure_ascii=escaped, indent=indent)
    if dice.random() < 0.02 and '"n_features":' in text:  # the same field twice
        text = text.replace('"n_features":', '"n_features": 3, "n_features":', 1)
    return text.encode("utf-8", "surrogatepass")


# --- trees -----------------------------------------------------------------------------------------------------------


def places(node: Any, parent: Any = None, key: Any = None) -> list[tuple[Any, Any]]:
    """Every node below this one, as what holds it and the key."""
    found = [] if parent is None else [(parent, key)]
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, child in children:
        found += places(child, node, name)
    return found


def a_place(dice: random.Random, tree: Any) -> tuple[Any, Any] | None:
    """Any node, as what holds it and the key: by steps from the root, so that long lists do not get them all."""
    node, found = tree, None
    while isinstance(node, dict | list) and node:
        key = dice.choice(list(node)) if isinstance(node, dict) else dice.randrange(len(node))
        found, node = (node, key), node[key]
        if isinstance(node, dict | list) and dice.random() < 0.15:
            break
    return found


def nudged(dice: random.Random, tree: Any) -> Any:
    """A value in place of one of the same type: most such files still load."""
    leaves = [(node, key) for node, key in places(tree) if not isinstance(node[key], dict | list)]
    if not leaves:
        return tree
    node, key = dice.choice(leaves)
    node[key] = like(dice, key, node[key])
    if key == "name" and dice.random() < 0.7:  # one name everywhere, or the file says that it has two
        for other, place in leaves:
            if place == "name" and other.get("feature") == node.get("feature"):
                other[place] = node[key]
    return tree


def like(dice: random.Random, key: Any, value: Any) -> Any:
    """A value of the same type."""
    if key in WHERE and dice.random() < 0.8:
        return dice.choice(WHERE[key])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return dice.choice((value + 1, value - 1, -value, 0, 1, 2, value * 10, dice.choice(HUGE + NUMBERS)))
    if isinstance(value, float):
        return number_like(dice, value)
    if isinstance(value, str):
        position = dice.randint(0, len(value))
        return dice.choice(
            (
                dice.choice(TEXTS),
                value[:position] + dice.choice(TEXTS) + value[position:],
                value + chr(dice.choice((dice.randint(0, 255), dice.randint(0, 0xFFFF), dice.randint(0, 0x10FFFF)))),
                value.upper(),
                value[:position],
            )
        )
    return dice.choice((0.5, 1.0, "text", 3, True, *NUMBERS))


def number_like(dice: random.Random, value: float) -> float:
    """A number: near, of another size, or any of all doubles."""
    way = dice.randrange(6)
    if way == 0:
        return math.nextafter(value, dice.choice((-math.inf, math.inf)))
    if way == 1:
        return -value
    if way == 2:
        return value * 10.0 ** dice.randint(-20, 20)
    if way == 3:
        return float(dice.choice(NUMBERS))
    if way == 4:
        return dice.gauss(0.0, 10.0)
    return struct.unpack("<d", dice.randbytes(8))[0]


def damaged(dice: random.Random, tree: Any) -> Any:
    """A change of the tree's shape, or a value of any type."""
    place = a_place(dice, tree)
    if place is None:
        return tree
    node, key = place
    DAMAGES[dice.randrange(len(DAMAGES))](dice, node, key)
    return tree


def _any_value(dice: random.Random, node: Any, key: Any) -> None:
    if key in WHERE and dice.random() < 0.5:
        node[key] = dice.choice(WHERE[key])
    else:
        node[key] = copy.deepcopy(dice.choice((*NUMBERS, *HUGE, *TEXTS, *OTHER)))


def _gone(dice: random.Random, node: Any, key: Any) -> None:
    del node[key]


def _twice(dice: random.Random, node: Any, key: Any) -> None:
    if isinstance(node, list):
        node.insert(dice.randint(0, len(node)), copy.deepcopy(node[key]))
    else:
        node[str(key) + dice.choice(("", "_", " ", "\u200b"))] = copy.deepcopy(node[key])


def _shuffled(dice: random.Random, node: Any, key: Any) -> None:
    if isinstance(node, list):
        dice.shuffle(node)
    else:
        other = dice.choice(list(node))
        node[key], node[other] = node[other], node[key]


def _from_another(dice: random.Random, node: Any, key: Any) -> None:
    """The value that another file has under this key."""
    other = drawn(dice, trees())
    same = [(holder, name) for holder, name in places(other) if name == key]
    if same:
        holder, name = dice.choice(same)
        node[key] = copy.deepcopy(holder[name])


def _deeper(dice: random.Random, node: Any, key: Any) -> None:
    value = node[key]
    for _ in range(dice.choice((1, 1, 2, 2, 3, 5, 50, 200))):
        value = [value] if dice.random() < 0.5 else {"value": value}
    node[key] = value


def _longer(dice: random.Random, node: Any, key: Any) -> None:
    value = node[key]
    if isinstance(value, list) and value:
        node[key] = value * dice.choice((2, 2, 2, 3, 3, 60))
    elif isinstance(value, str):
        node[key] = value * dice.choice((2, 100, 3000))


def _renamed(dice: random.Random, node: Any, key: Any) -> None:
    if isinstance(node, dict):
        node[dice.choice((*TEXTS, str(key).upper()))] = node.pop(key)


Damage = Callable[[random.Random, Any, Any], None]
DAMAGES: tuple[Damage, ...] = (
    _any_value,
    _any_value,
    _gone,
    _twice,
    _shuffled,
    _from_another,
    _deeper,
    _longer,
    _renamed,
)


# --- bytes -----------------------------------------------------------------------------------------------------------


def broken_bytes(dice: random.Random, text: bytes) -> bytes:
    """Bytes changed, removed, inserted, moved or cut off."""
    data = bytearray(text)
    for _ in range(dice.choice((1, 1, 2, 8))):
        a, b = sorted((dice.randint(0, len(data)), dice.randint(0, len(data))))
        b = min(b, a + dice.choice((1, 4, 40, 4000)))
        way = dice.randrange(7)
        if way == 0 and data:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        elif way == 1:
            del data[a:b]
        elif way == 2:
            data[a:a] = dice.choice(TOKENS)
        elif way == 3:
            data[a:a] = data[a:b]
        elif way == 4:
            del data[a:]
        elif way == 5:
            data[a:a] = dice.choice(b'0123456789eE+-.,:"[]{}\\ntf').to_bytes()
        else:
            digits = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
            if digits:
                data[dice.choice(digits)] = dice.choice(b"0123456789.e-")
    return bytes(data)
