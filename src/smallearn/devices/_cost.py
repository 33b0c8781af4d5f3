"""`cost`: bytes and time of a model on a chip."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from smallearn._errors import check_choice
from smallearn._text import count
from smallearn.devices._chips import CHIPS, Chip, architecture_of, find_chip
from smallearn.devices._estimate import estimate, has_estimate
from smallearn.devices._measure import available, bound, measure
from smallearn.devices._rows import encode
from smallearn.devices._toolchain import Program, TooLargeError, ToolchainError
from smallearn.export._c.model import CModel
from smallearn.export._c.writer import c_text
from smallearn.export._fixed.numbers import TargetModel
from smallearn.export._fixed.quantise import IntegerModel, target_of
from smallearn.export._fixed.typical import typical_rows
from smallearn.model._arguments import as_model

NUMBERS = ("float32", "int8", "int8x16", "int16", "int32")
METHODS = ("auto", "measure", "estimate")
LAYOUTS = ("code", "table", "best")
READ = {"float": "floats", "counts": "counts", "codes": "codes"}


class Asked(NamedTuple):
    """What a program asks a model for, besides the class."""

    probabilities: bool = False
    class_names: bool = False

    @property
    def variables(self) -> str:
        """Where the program keeps it."""
        lines = ["static volatile model_probability_t smallearn_chance;"] * self.probabilities
        lines += ["static volatile model_text_t smallearn_name;"] * self.class_names
        return "".join(f"\n{line}" for line in lines)

    def body(self, target: TargetModel) -> str:
        """The statements that return the class of ``x``."""
        suffix = "" if readings_of(target) == "codes" else "_readings"
        lines = []
        if self.probabilities and len(target.flat.classes) == 2:
            lines = [f"smallearn_chance = model_predict_proba{suffix}(x);"]
        elif self.probabilities:
            lines = [
                "model_probability_t chances[MODEL_CLASSES];",
                f"model_predict_proba{suffix}(x, chances);",
                "smallearn_chance = chances[0];",
            ]
        if not self.class_names:
            return "\n    ".join([*lines, f"return model_predict{suffix}(x);"])
        lines += [f"uint8_t found = model_predict{suffix}(x);", "smallearn_name = model_class_name(found);"]
        return "\n    ".join([*lines, "return found;"])


@dataclass(frozen=True)
class Cost:
    """What a model's ``predict`` costs on a chip.

    Parameters
    ----------
    chip : str
        The name of the chip.
    number : str
        The type of the weights.
    layout : {"code", "table"}
        Whether the weights are in the code or in tables.
    readings : {"float", "counts", "codes"}
        What the function takes: readings as floats or as whole numbers, the whole way from reading to decision; or
        codes, without what it takes to make codes of readings.
    flash : int
        Bytes of code and constants, with the functions of the compiler's library that the program would otherwise not
        need (floating point, for example).
    ram : int
        Bytes of variables and of the deepest stack; the input belongs to the caller.
    cycles, instructions : int or None
        The most that a row takes, from the call to the return: cycles on AVR chips, instructions on Cortex-M and
        RISC-V; the other is None.
    mean : float
        The mean of these over the rows.
    time_us : float
        The greatest time in microseconds at the chip's clock; where instructions are counted an estimate from them,
        words read and written, and jumps, for code and data in fast memory or in the cache.
    bound : bool
        Whether no row can take more: ``ram``, ``cycles`` or ``instructions``, and ``time_us`` are those of the longest
        path through the machine code. Otherwise they are the greatest of the rows that were run, or an estimate.
    rows : str
        The rows that were run: "200 typical rows"; empty for an estimate.
    measured : bool
        Whether the code was compiled and run; otherwise it is an estimate.
    how : str
        How the numbers were found, in a sentence.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.devices import cost
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> found = cost(clf, "cortex-m0", "int8", method="estimate")
    >>> found.chip, found.cycles, found.measured
    ('cortex-m0', None, False)
    """

    chip: str
    number: str
    layout: str
    readings: str
    flash: int
    ram: int
    cycles: int | None
    instructions: int | None
    mean: float
    time_us: float
    bound: bool
    rows: str
    measured: bool
    how: str

    @property
    def count(self) -> int:
        """Cycles or instructions, whichever the chip's simulator counts."""
        return self.instructions if self.cycles is None else self.cycles  # type: ignore[return-value]

    @property
    def summary(self) -> str:
        """The numbers in one line, without how they were found.

        Returns
        -------
        str
            ``ATmega328P, int8 from codes: 186 bytes of flash, 12 of RAM, at most 301 cycles on any row (288 on average
            over 200 typical rows), 18.8 µs``. Without a bound: ``up to 301 cycles on these 200 typical rows (288 on
            average)``.
        """
        about = "" if self.measured else "about "
        return (
            f"{CHIPS[self.chip].title if self.chip in CHIPS else self.chip}, {self.number} from {READ[self.readings]}: "
            f"{about}{self.flash} bytes of flash, {self.ram} of RAM, {self.work}, {self.time_us:.3g} µs"
        )

    @property
    def work(self) -> str:
        """Cycles or instructions, and of which rows they are the most.

        Returns
        -------
        str
            ``at most 301 cycles on any row (288 on average over 200 typical rows)``.
        """
        most, mean = (
            f"{self.count} {'instructions' if self.cycles is None else 'cycles'}",
            f"{self.mean:.0f} on average",
        )
        if not self.measured:
            return f"about {most} ({mean})"
        if self.bound:
            return f"at most {most} on any row ({mean} over {self.rows})"
        return f"up to {most} on these {self.rows} ({mean})"

    def __str__(self) -> str:
        return f"{self.summary}\n({self.how})"


def cost(
    model: Any,
    chip: str | Chip = "atmega328p",
    number: str = "int8",
    rows: Any = None,
    method: str = "auto",
    layout: str = "code",
    *,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    counts: Mapping[str, tuple[float, float, int, int]] | None = None,
    readings: str = "float",
    probabilities: bool = False,
    class_names: bool = False,
) -> Cost:
    """Measure or estimate flash, RAM and time of a model on a chip.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    chip : str or Chip, default="atmega328p"
        The chip, or its name in `CHIPS`.
    number : {"float32", "int8", "int8x16", "int16", "int32"}, default="int8"
        The type of the weights, as in `to_c`.
    rows : array or table, rows × features, default=None
        What the mean is taken over; without a bound that holds for any row (see `Cost`), also what time and stack are
        measured on. None: 200 rows over the range of each input.
    method : {"auto", "measure", "estimate"}, default="auto"
        Compile and simulate, which needs the chip's compiler and simulator (see `available`), or estimate from the
        number of terms. "auto" measures if that is possible: if the tools are there and the program fits the chip.
    layout : {"code", "table", "best"}, default="code"
        As in `to_c`. "best": the one with less flash, or the faster of two that are equal.
    ranges, counts : mapping, default=None
        As in `to_c`: how features become whole numbers.
    readings : {"float", "counts", "codes"}, default="float"
        What the device passes, as in `to_c`. Costs are those of the whole way from there to the decision; with "codes"
        they leave out how codes are made of readings.
    probabilities, class_names : bool, default=False
        Whether the program asks for the probability and the name of each class that it predicts, too: flash, RAM and
        time are then those of all that it asks for. They can be measured alone.

    Returns
    -------
    Cost

    Raises
    ------
    ToolchainError
        If the compiler or the simulator is missing or the program does not fit the chip, and there is no estimate:
        ``method`` is "measure", or probabilities or names are asked for.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.devices import cost
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> cost(clf, "atmega328p", "int8", method="estimate").flash < 200
    True
    """
    model, chip = as_model(model), find_chip(chip)
    check_choice("number", number, NUMBERS)
    check_choice("method", method, METHODS)
    check_choice("layout", layout, LAYOUTS)
    asked = Asked(bool(probabilities), bool(class_names))
    if any(asked) and method == "auto":
        method = "measure"
    if any(asked) and method == "estimate":
        raise ValueError('Probabilities and class names have no estimate: set method="measure".')
    missing = None if method == "estimate" else available(chip)
    if method == "measure" and missing is not None:
        raise ToolchainError(f"The cost cannot be measured: {missing}")
    check_choice("readings", readings, tuple(READ))
    target = target_of(model, number, ranges=ranges, counts=counts, readings=readings)
    layouts = LAYOUTS[:2] if layout == "best" else (layout,)
    if method == "estimate" or missing is not None:
        costs = [_estimated(target, chip, one, missing) for one in layouts]
    else:
        kind = "row" if rows is not None else "typical row"
        X = typical_rows(target.flat, ranges, counts) if rows is None else rows
        costs = [_measured_if_it_fits(target, chip, one, X, kind, method, asked) for one in layouts]
    return min(costs, key=lambda found: (found.flash, found.count))


def _measured_if_it_fits(
    target: TargetModel, chip: Chip, layout: str, X: Any, kind: str, method: str, asked: "Asked"
) -> Cost:
    """The cost on the rows of X; of a program that does not fit the chip an estimate, which does not fit either."""
    try:
        return _measured(target, chip, layout, X, kind, asked)
    except TooLargeError as error:
        if method == "measure" or not has_estimate(chip):
            raise
        guess = _estimated(target, chip, layout, str(error))
        return replace(guess, flash=max(guess.flash, chip.flash + 1))


def _measured(target: TargetModel, chip: Chip, layout: str, X: Any, kind: str, asked: "Asked") -> Cost:
    """The cost on the rows of X, which are called ``kind``."""
    inputs, input_type = encode(target, X)
    c = CModel(prefix="model", target=target, arguments=False, **asked._asdict())
    source = c_text(c, "header", layout, None) + asked.variables
    program = Program(source=source, body=asked.body(target), number=input_type, n_inputs=inputs.shape[1])
    measured, proven = measure(program, chip, inputs), bound(program, chip)
    is_bound, rows = proven.missing is None, count(len(inputs), kind)
    simulator = architecture_of(chip).simulator
    worst = (
        "the most is that of the longest path through the machine code" if is_bound else f"no bound: {proven.missing}"
    )
    encoding = "; without the conversion of readings to codes" if readings_of(target) == "codes" else ""
    return Cost(
        chip=chip.name,
        number=target.number,
        layout=layout,
        readings=readings_of(target),
        flash=measured.flash,
        ram=proven.ram if is_bound else measured.ram,
        **_counted(chip, proven.count if is_bound else max(measured.counts)),
        mean=float(np.mean(measured.counts)),
        time_us=(proven.cycles if is_bound else max(measured.cycles)) / chip.clock * 1e6,
        bound=is_bound,
        rows=rows,
        measured=True,
        how=f"measured: {layout} compiled with {chip.prefix}gcc -Os, {rows} run on {simulator}; {worst}{encoding}",
    )


def readings_of(target: TargetModel) -> str:
    """What the function of a model takes."""
    return target.readings if isinstance(target, IntegerModel) else "float"


def _estimated(target: TargetModel, chip: Chip, layout: str, missing: str | None) -> Cost:
    """The estimated cost; ``missing`` is why it was not measured."""
    guess = estimate(target, chip, layout)
    errors = ", ".join(
        f"{name} within {100 * guess.errors[key]:.0f}%" for name, key in (("flash", "flash"), (chip.counts, "count"))
    )
    reason = "" if missing is None else f"; {missing}"
    return Cost(
        chip=chip.name,
        number=target.number,
        layout=layout,
        readings=readings_of(target),
        flash=guess.flash,
        ram=guess.ram,
        **_counted(chip, guess.count),
        mean=guess.mean,
        time_us=guess.cycles / chip.clock * 1e6,
        bound=False,
        rows="",
        measured=False,
        how=f"estimated from the number of terms, not measured; nine in ten random models had {errors}{reason}",
    )


def _counted(chip: Chip, number: int) -> dict[str, int | None]:
    """The number as cycles or as instructions, whichever the chip's simulator counts."""
    return {name: number if name == chip.counts else None for name in ("cycles", "instructions")}
