"""The test vectors of a C export: rows, the answers to them, and the function that checks them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn._text import count
from smallearn.export._c.code import function
from smallearn.export._c.model import CModel, count_type, real
from smallearn.export._c.readings import missing_reading, readings_type
from smallearn.export._c.table import element, table
from smallearn.export._fixed.float32 import certain, error_bound, exact_scores
from smallearn.export._fixed.numbers import read_inputs
from smallearn.export._fixed.quantise import IntegerModel


@dataclass(frozen=True)
class TestVectors:
    """Test vectors in the numbers of the device.

    ``rows`` is rows × inputs, ``answers`` has the position of each row's class, and ``undecided`` is how many rows were
    left out because rounding decides their class.
    """

    __test__ = False  # for pytest: this is no test class

    c: CModel
    rows: np.ndarray
    answers: np.ndarray
    undecided: int

    @classmethod
    def of(cls, c: CModel, X: Any) -> "TestVectors":
        """From X as `SMaLLModel.predict` takes it; values are rounded to the numbers of the device first."""
        target, flat = c.target, c.target.flat
        if isinstance(target, IntegerModel):
            codes = target.codes(X)
            rows = codes
            if target.readings == "float":
                with np.errstate(over="ignore"):
                    rows = read_inputs(target.model, flat, X).astype(np.float32).astype(np.float64)
            return cls(c=c, rows=rows, answers=target.predict(codes), undecided=0)
        rows = read_inputs(target.model, flat, X)
        if target.number == "float32":
            with np.errstate(over="ignore"):
                rows = rows.astype(np.float32).astype(np.float64)
        rows = rows[~np.isinf(rows).any(axis=1)]
        z = exact_scores(flat, rows)
        sure = certain(flat, z, error_bound(flat, rows, target.number), target.number)
        answers = target.model.decide(z[sure])
        return cls(c=c, rows=rows[sure], answers=answers, undecided=int((~sure).sum()))

    @property
    def types(self) -> list[str]:
        """The types of the numbers in the tables."""
        return [self._type, self.c.position_type]

    @property
    def _type(self) -> str:
        """The type of an input."""
        return readings_type(self.c)

    @property
    def head(self) -> str:
        """The head of the function."""
        return f"{count_type(len(self.rows))} {self.c.prefix}_test(void)"

    def function(self, public: str) -> str:
        """Tables, and a function that returns how many rows are predicted differently."""
        c, width = self.c, len(self.c.inputs)
        index, total = count_type(max(1, self.rows.size)), len(self.rows)
        left_out = (
            f" Left out: {self.undecided} so close to a boundary that rounding decides." if self.undecided else ""
        )
        note = f"/* {count(total, 'row')} and what the model predicts.{left_out} */"
        if not total:
            return f"{note}\n" + function(f"{public}{self.head}", ["return 0;"])
        parts = [note]
        if width:
            parts.append(table(c, "test_rows", self._type, [self._number(v) for v in self.rows.ravel()]))
        parts.append(table(c, "test_answers", c.position_type, [str(answer) for answer in self.answers]))
        loads = [f"    x[{i}] = {element(c, 'test_rows', self._type, f'i * {width} + {i}')};" for i in range(width)]
        passed = ", ".join(f"x[{i}]" for i in range(width)) if c.arguments else "x"
        called = "predict" if self._type == c.input_type else "predict_readings"
        answer = element(c, "test_answers", c.position_type, "i")
        body = [
            f"{count_type(total)} wrong = 0;",
            *([f"{self._type} x[{max(1, width)}] = {{0}};"] if width or not c.arguments else []),
            f"{index} i;",
            f"for (i = 0; i < {total}; i++) {{",
            *loads,
            f"    if ({c.prefix}_{called}({passed}) != {answer}) wrong++;",
            "}",
            "return wrong;",
        ]
        return "\n".join([*parts, function(f"{public}{self.head}", body)])

    def _number(self, value: float) -> str:
        if self._type in ("float", "double"):
            return (
                missing_reading(self.c)
                if np.isnan(value)
                else real(value, "float64" if self._type == "double" else "float32")
            )
        return str(int(value))
