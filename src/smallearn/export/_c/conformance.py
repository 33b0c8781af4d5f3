"""The conformance test of a C export: rows and the answers to them, in C."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import count
from smallearn.export._c.code import function
from smallearn.export._c.identifiers import Words, count_type
from smallearn.export._c.table import element, table
from smallearn.export._fixed.float32 import certain, error_bound, exact_scores
from smallearn.export._fixed.numbers import read_inputs
from smallearn.export._fixed.quantise import IntegerModel, decide


@dataclass(frozen=True)
class Conformance:
    """Rows × inputs in the numbers of the device, the position of the class of each, and how many rows were left out
    because rounding decides them."""

    words: Words
    rows: np.ndarray
    answers: np.ndarray
    undecided: int

    @classmethod
    def of(cls, words: Words, X: Any) -> "Conformance":
        """From rows as `SMaLLModel` takes them; floats are rounded to those of the device first."""
        target, flat = words.target, words.target.flat
        if isinstance(target, IntegerModel):
            codes = target.codes(X)
            return cls(words, codes, target.predict(codes), 0)
        rows = read_inputs(target.model, flat, X)
        if target.number == "float32":
            with np.errstate(over="ignore"):
                rows = rows.astype(np.float32).astype(np.float64)
        rows = rows[~np.isinf(rows).any(axis=1)]
        z = exact_scores(flat, rows)
        sure = certain(flat, z, error_bound(flat, rows, target.number))
        return cls(words, rows[sure], decide(flat, z[sure]), int((~sure).sum()))

    @property
    def types(self) -> list[str]:
        """Of the numbers in the tables."""
        return [self.words.input_type, self.words.position_type]

    @property
    def head(self) -> str:
        return f"{count_type(len(self.rows))} {self.words.prefix}_test(void)"

    def function(self, public: str) -> str:
        """Tables, and a function that returns the number of rows whose answer differs."""
        words, width = self.words, len(self.words.inputs)
        index, total = count_type(max(1, self.rows.size)), len(self.rows)
        note = f"/* {count(total, 'row')} and what the model answers."
        note += f" {self.undecided} more: so close to a boundary that rounding decides. */" if self.undecided else " */"
        if not total:
            return f"{note}\n" + function(f"{public}{self.head}", ["return 0;"])
        parts = [note]
        if width:
            parts.append(table(words, "test_rows", words.input_type, [self._number(v) for v in self.rows.ravel()]))
        parts.append(table(words, "test_answers", words.position_type, [str(answer) for answer in self.answers]))
        loads = [
            f"    x[{i}] = {element(words, 'test_rows', words.input_type, f'i * {width} + {i}')};" for i in range(width)
        ]
        passed = ", ".join(f"x[{i}]" for i in range(width)) if words.arguments else "x"
        answer = element(words, "test_answers", words.position_type, "i")
        body = [
            f"{count_type(total)} wrong = 0;",
            *([f"{words.input_type} x[{max(1, width)}] = {{0}};"] if width or not words.arguments else []),
            f"{index} i;",
            f"for (i = 0; i < {total}; i++) {{",
            *loads,
            f"    if ({words.prefix}_predict({passed}) != {answer}) wrong++;",
            "}",
            "return wrong;",
        ]
        return "\n".join([*parts, function(f"{public}{self.head}", body)])

    def _number(self, value: float) -> str:
        if self.words.is_float:
            return f"{self.words.upper}_MISSING" if np.isnan(value) else self.words.number(value)
        return str(int(value))
