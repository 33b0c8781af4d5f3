"""A model as C code sees it: identifiers, types, numbers and conditions.

Labels of users become identifiers and comments here and nowhere else, so that none of them can inject code.
"""

import math
import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from smallearn._errors import Parameter, ParameterError
from smallearn.export._c import float_bits
from smallearn.export._fixed.numbers import TargetModel, TargetTerm
from smallearn.export._fixed.quantise import IntegerModel, bits_for
from smallearn.export._names import comment_text, unique_names

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")


@dataclass(frozen=True)
class CModel:
    """A model in the numbers of its device, and its names in C.

    ``prefix`` begins every identifier. ``arguments``: functions take the inputs one by one, not as an array.
    ``takes_floats``: inputs are float readings, whose bits whole-number code looks at where it needs them.
    ``probabilities``, ``class_names``: whether there are functions for these.
    """

    prefix: str
    target: TargetModel
    arguments: bool
    takes_floats: bool = False
    probabilities: bool = False
    class_names: bool = False

    def __post_init__(self):
        if not isinstance(self.prefix, str) or not NAME.fullmatch(self.prefix):
            raise ParameterError(
                Parameter("name", self.prefix),
                " is not a C name: a letter, then at most 39 letters, digits or underscores.",
            )

    @property
    def upper(self) -> str:
        return self.prefix.upper()

    # --- identifiers -------------------------------------------------------------------------------------------------

    @cached_property
    def inputs(self) -> list[str]:
        return [input_.name for input_ in self.target.flat.inputs]

    @cached_property
    def classes(self) -> list[str]:
        return [
            f"{self.upper}_CLASS_{name.upper()}"
            for name in unique_names([_label_text(c) for c in self.target.flat.classes])
        ]

    @cached_property
    def categories(self) -> list[tuple[int, int, str, object]]:
        """Input, code, identifier and value of every category that text is compared with."""
        entries = [
            (i, code, category)
            for i, input_ in enumerate(self.target.flat.inputs)
            for code, category in enumerate(input_.categories, start=1)
        ]
        names = unique_names([f"{self.inputs[i]} {_label_text(category)}" for i, _, category in entries])
        return [
            (i, code, f"{self.upper}_CATEGORY_{name.upper()}", category)
            for (i, code, category), name in zip(entries, names, strict=True)
        ]

    def x(self, position: int) -> str:
        """The value of an input, as an expression."""
        name = self.inputs[position]
        return f"{self.argument}_{name}" if self.arguments else f"x[{self.upper}_X_{name.upper()}]"

    @property
    def argument(self) -> str:
        """What the names of arguments begin with: never the prefix of functions."""
        return "in" if self.prefix == "x" else "x"

    @cached_property
    def parameters(self) -> str:
        """The parameters of a function of the inputs."""
        if not self.arguments:
            return f"const {self.input_type} *x"
        return ", ".join(f"{self.input_type} {self.argument}_{name}" for name in self.inputs) or "void"

    def with_output(self, name: str, kind: str | None = None) -> str:
        """The same, and where the answer is written: ``scores``, ``reason``, or an array of this kind of numbers."""
        kind = kind or (self.score_type if name == "scores" else f"{self.prefix}_reason_t")
        return f"{kind} *{name}" if self.parameters == "void" else f"{self.parameters}, {kind} *{name}"

    @cached_property
    def passed(self) -> str:
        """The inputs as arguments of another function."""
        return ", ".join(f"{self.argument}_{name}" for name in self.inputs) if self.arguments else "x"

    def unused(self, read: set[int]) -> list[str]:
        """Statements that keep compilers from warning about inputs that are not among those read."""
        if not self.arguments:
            return [] if read else ["(void)x;"]
        return [f"(void){self.argument}_{name};" for position, name in enumerate(self.inputs) if position not in read]

    # --- types and numbers -------------------------------------------------------------------------------------------

    @property
    def is_float(self) -> bool:
        return not isinstance(self.target, IntegerModel)

    @property
    def _real(self) -> str:
        return "float" if self.target.number == "float32" else "double"

    @property
    def input_type(self) -> str:
        if isinstance(self.target, IntegerModel):
            return "float" if self.takes_floats else self.code_type
        return self._real

    @property
    def code_type(self) -> str:
        """The type of a code of a model in whole numbers."""
        assert isinstance(self.target, IntegerModel)
        return f"{'u' if self.target.unsigned else ''}int{self.target.input_bits}_t"

    @property
    def score_type(self) -> str:
        return f"int{self.target.sum_bits}_t" if isinstance(self.target, IntegerModel) else self._real

    def sum_type(self, prototype: int | None = None) -> str:
        """The type of the sum of one prototype, or of all: the fastest that is wide enough."""
        if not isinstance(self.target, IntegerModel):
            return self._real
        return self.fast_type(self.target.sum_bits if prototype is None else bits_for(self.target.intervals[prototype]))

    @staticmethod
    def fast_type(bits: int) -> str:
        """The fastest type of at least this width."""
        return "int64_t" if bits == 64 else f"int_fast{bits}_t"

    @property
    def position_type(self) -> str:
        """The type of positions of classes and prototypes."""
        return count_type(max(len(self.target.flat.classes), len(self.target.flat.owners)))

    def number(self, number: float) -> str:
        """A constant of the sum's or the input's type."""
        if self.is_float:
            return real(number, self.target.number)
        return str(number)

    # --- terms -------------------------------------------------------------------------------------------------------

    def holds(self, term: TargetTerm) -> str:
        """The condition of a literal."""
        x, value = self.x(term.input), term.value
        if term.kind == "missing":
            return self.is_missing(term.input)
        if self.takes_floats:
            return float_bits.holds(self, term)
        if term.kind == "between":
            assert isinstance(self.target, IntegerModel)
            assert value is not None
            low = f"> {self.upper}_MISSING" if value == self.target.missing else f">= {value + 1}"
            return f"{x} {low} && {x} <= {term.high}"
        sign = {"at_most": "<=", "above": ">", "equals": "=="}[term.kind]
        return f"{x} {sign} {self._code(term, value)}"

    def _code(self, term: TargetTerm, value: float | None) -> str:
        if isinstance(self.target, IntegerModel) and value == self.target.missing:
            return f"{self.upper}_MISSING"
        for position, code, name, _ in self.categories:
            if position == term.input and code == value:
                return name
        assert value is not None
        return self.number(value)

    def product(self, term: TargetTerm, weight: float) -> str:
        """What a raw term adds, in a type that can hold it."""
        product = self.times(term.input, weight, self.sum_type(term.prototype))
        if term.instead is None:
            return product
        instead = self.number(term.instead if weight == term.weight else -term.instead)
        return f"({self.is_missing(term.input)} ? {instead} : {product})"

    def times(self, position: int, weight: float, kind: str) -> str:
        """A weight times an input, in a type that can hold it."""
        cast = f"({kind})" if kind in ("int_fast32_t", "int64_t") else ""
        x = float_bits.fixed(self, position) if self.takes_floats else self.x(position)
        right = getattr(self.target.coders[position], "right", 0) if isinstance(self.target, IntegerModel) else 0
        x = f"(int8_t)({x} >> {right})" if right else x
        return f"{cast}{self.number(weight)} * {x}"

    def is_missing(self, position: int) -> str:
        """The condition that an input is missing."""
        x = self.x(position)
        if self.takes_floats:
            return float_bits.is_missing(self, position)
        return f"{x} != {x}" if self.is_float else f"{x} == {self.upper}_MISSING"

    def term_comment(self, term: TargetTerm) -> str:
        """A term for a comment."""
        return comment_text(term.text.replace("≤", "<="))


def count_type(most: int) -> str:
    """The smallest unsigned type for 0 … most."""
    return next(f"uint{bits}_t" for bits in (8, 16, 32) if most < 2**bits)


def real(number: float, kind: str) -> str:
    """A floating-point constant: the fewest digits that are read back as the same number."""
    suffix = "f" if kind == "float32" else ""
    if math.isinf(number):
        return f"({'-' if number < 0 else ''}1.0{suffix} / 0.0{suffix})"
    text = str(np.float32(number)) if kind == "float32" else repr(float(number))
    return (text if set(text) & set(".e") else text + ".0") + suffix


def _label_text(label: object) -> str:
    """A label as text for an identifier, which has no minus sign: -1 and 1 must differ."""
    text = str(label)
    return f"minus {text[1:]}" if text.startswith("-") and not isinstance(label, str) else text
