"""Tables for a model: the columns that it reads, as it reads them, and the classes where there are some.

`read_for` is for commands that need all rows at once, `ModelReader.pieces` for those that do not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smallearn._text import count, listed, show
from smallearn.cli.common import CommandError, tell
from smallearn.cli.io import cells
from smallearn.cli.io.sources import Source, open_source
from smallearn.model import SMaLLModel


def read_for(
    model: SMaLLModel,
    path: Path,
    *,
    target: str | None = None,
    labels: bool | None = False,
    unknown: str = "leave out",
    encoding: str = "utf-8",
    missing: Sequence[str] = (),
) -> tuple[Any, np.ndarray | None]:
    """The rows of a file as ``model`` reads them, and their classes: ``(X, y)``.

    ``X`` is a pandas table that `SMaLLModel` takes: the columns in use, numbers as float64 and text as objects, None or
    NaN where a value is missing; its index is the number of each row in the file, from 0. A model without feature names
    gets all its columns, in order, those not in use empty.

    ``labels``: False: ``y`` is None. True: ``y`` has the class of each row, with the types of ``model.classes``, from
    the column ``target`` (None: the model's own, ``model.data.target``), which has to be there. None: the same if it is
    there and has any, else ``y`` is None; a ``target`` that was named has to be there. Rows without a class are left
    out and told of. Those of a class that the model does not know are too, with a line where there is one, or refused
    if ``unknown`` is "refuse". ``missing`` are further texts that mean a missing value.

    Raises `CommandError` with a sentence for the user: a column is missing, or a cell (by line and column) is not what
    the model needs.
    """
    import pandas as pd

    source = open_source(path, encoding, missing)
    named = target_of(model, target)
    if labels and named is None:
        raise CommandError("the model does not know which column has the classes: name it with --target")
    wanted = labels is not False and named is not None
    if wanted and named not in source.names:
        if labels or target is not None:
            source.lacks([str(named)], "this command")
        wanted = False
    reader = ModelReader(model, source)
    tables, codes, begin = [], [], 0
    for chunk in source.shown_chunks(columns=[*reader.columns, *([str(named)] if wanted else [])]):
        tables.append(reader.convert(chunk, begin))
        if wanted:
            codes.append(_codes(chunk.column(named), model.classes, source.missing))
        begin += len(chunk)
    if begin == 0:
        raise CommandError(f"{source.shown} has no rows")
    X = pd.concat(tables) if len(tables) > 1 else tables[0]
    if not wanted:
        return X, None
    code = np.concatenate([found for found, _ in codes])
    if labels is None and (code == -1).all():
        return X, None
    strange = [label for _, labels_found in codes for label in labels_found]
    kept = _known_rows(source, str(named), model, code, strange, unknown)
    return X[kept], model.labels(code[kept])


def target_of(model: SMaLLModel, given: str | None = None) -> str | None:
    """The column of classes: the one that the user named, or the one that the model was trained on; None if unknown."""
    return given if given is not None or model.data is None else model.data.target


# --- columns in use --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Need:
    """What a model reads of a column: numbers, booleans ("truths"), text, or only whether a value is there ("any"); if
    one has to be; and the categories it knows."""

    label: str
    column: str
    kind: str
    complete: bool
    categories: tuple[str, ...]


class ModelReader:
    """Turns pieces of a file into what a model reads; ``columns`` are those of the file that it needs."""

    def __init__(self, model: SMaLLModel, source: Source):
        self.model, self.source = model, source
        self._needs = _needs(model, source)
        self.columns = [need.column for need in self._needs]
        self._grouped: dict[str, bool] = {}

    def pieces(self, chunk_rows: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Piece by piece, as the file has it with all columns, and as the model reads it."""
        begin = 0
        for chunk in self.source.shown_chunks(chunk_rows):
            yield chunk, self.convert(chunk, begin)
            begin += len(chunk)

    def convert(self, chunk: Any, begin: int) -> Any:
        """A piece that begins at row ``begin`` of the file, as the model reads it: a pandas table."""
        import pandas as pd

        index = pd.RangeIndex(begin, begin + len(chunk))
        found = {need.label: self._column(chunk.column(need.column), need, begin) for need in self._needs}
        columns = {label: pd.Series(values, index, values.dtype) for label, values in found.items()}
        if not any(term.name is None for term in self.model.features):
            return pd.DataFrame(columns, index=index)
        return pd.DataFrame(columns, index=index, columns=[f"x{l}" for l in range(self.model.n_features)])

    def _column(self, column: Any, need: _Need, begin: int) -> np.ndarray:
        import pyarrow as pa

        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        text = is_text(kind)
        if not text and not is_number(kind) and not pa.types.is_null(kind):
            raise CommandError(
                f"{self.source.shown}: column {show(need.column)} holds values of type {kind}, which no model can read"
            )
        if need.kind == "any" and not text:
            values = numbers_in(column)
            return cells.truths_in(values) if pa.types.is_boolean(kind) else values
        if need.kind in ("text", "any"):
            found = cells.trimmed(column if text else _whole(column), need.categories, self.source.missing)
            inner = cells.without(found, cells.NO_NUMBER)
            if need.kind == "any" and self.source.is_text and cells.are_truths(inner):
                return cells.truths_of(inner)
            return cells.objects_of(found)
        if not text:
            values = numbers_in(column)
            bad = np.isinf(values)
        else:
            found = cells.without(cells.trimmed(column, missing=self.source.missing), cells.NO_NUMBER)
            values, bad = cells.numbers_of(found, self.source.comma, self._is_grouped(need.column, found))
        values = self.source.without_missing(values)
        if bad.any():
            row = int(bad.argmax())
            what = show(column[row].as_py())
            self.source.refuse(begin + row, need.column, f"{what} is no number, and the model reads this column as one")
        if need.kind == "truths":
            bad = ~np.isnan(values) & (values != 0.0) & (values != 1.0)
            if bad.any():
                row = int(bad.argmax())
                self.source.refuse(begin + row, need.column, f"{show(column[row].as_py())} is neither true nor false")
            return cells.truths_in(values)
        if need.complete and np.isnan(values).any():
            row = int(np.isnan(values).argmax())
            self.source.refuse(begin + row, need.column, "there is no value, and the model needs one here")
        return values

    def _is_grouped(self, name: str, text: Any) -> bool:
        """Whether thousands are set off in a column; where this piece leaves it open, the rest of the file decides."""
        if not cells.have_groups(text, self.source.comma):
            return False
        if name not in self._grouped:
            found = cells.are_grouped(text, self.source.comma)
            self._grouped[name] = self._grouped_elsewhere(name) if found is None else found
        return self._grouped[name]

    def _grouped_elsewhere(self, name: str) -> bool:
        done = self.source.done  # for the bar of progress
        pieces = self.source.chunks(columns=[name])
        verdicts = (cells.are_grouped(cells.trimmed(piece.column(name)), self.source.comma) for piece in pieces)
        found = next((verdict for verdict in verdicts if verdict is not None), self.source.has_commas)
        self.source.done = done
        return found


def _needs(model: SMaLLModel, source: Source) -> list[_Need]:
    position = _positions(model, source)
    lacking = [term.label for term in model.features if position.get(term.feature) is None]
    if lacking:
        source.lacks(lacking, "the model")
    needs = []
    for feature in model.features:
        mine = [term for term in model.terms if term.feature == feature.feature]
        values = [term.value for term in mine if term.kind == "equals"]
        ordered = any(term.kind in ("raw", "at_most", "above") for term in mine)
        ordered = ordered or any(extent.feature == feature.feature for extent in model.ranges)
        needs.append(
            _Need(
                feature.label,
                str(position[feature.feature]),
                "numbers" if ordered else _kind_of(values),
                any(term.kind == "raw" and term.mean is None for term in mine),
                tuple(value for value in values if isinstance(value, str)),
            )
        )
    return needs


def _kind_of(categories: Sequence[Any]) -> str:
    if any(isinstance(value, str) for value in categories):
        return "text"
    if categories:
        return "truths" if all(isinstance(value, bool) for value in categories) else "numbers"
    return "any"


def _positions(model: SMaLLModel, source: Source) -> dict[int, str | None]:
    """The file's column for each feature in use: by name, or by place if the model knows no names."""
    names = set(source.names)
    found = {term.feature: term.label if term.label in names else None for term in model.features}
    nameless = any(term.name is None for term in model.features)
    known = [name for name in source.names if name != target_of(model)]
    if nameless and None in found.values() and len(known) == model.n_features:
        return {term.feature: known[term.feature] for term in model.features}
    return found


def numbers_in(column: Any) -> np.ndarray:
    """A column of numbers or booleans as float64, NaN where a value is missing."""
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    column = column.cast(pa.uint8()) if pa.types.is_boolean(column.type) else column
    return column.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy(zero_copy_only=False)


def _whole(column: Any) -> Any:
    """Numbers as text, whole ones without a point, as a category would be written."""
    import pyarrow as pa

    def written(value: Any) -> str | None:
        if value is None or value != value:
            return None
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

    return pa.array([written(value) for value in column.to_pylist()], pa.large_string())


def is_text(kind: Any) -> bool:
    """Whether a type of pyarrow's is text."""
    return str(kind) in ("string", "large_string", "string_view")


def is_number(kind: Any) -> bool:
    """Whether a type of pyarrow's is a number or a boolean."""
    import pyarrow as pa

    types = pa.types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)


# --- classes ---------------------------------------------------------------------------------------------------------


def _codes(column: Any, classes: tuple[Any, ...], missing: tuple[str, ...]) -> tuple[np.ndarray, list[Any]]:
    """The number of each cell's class, -1 without one, -2 if the model knows it not; and the unknown labels, by row."""
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    found = np.array([*(_class_of(value, classes, missing) for value in values), -1])
    index = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    code = found[index]
    return code, [values[at] for at in index[code == -2]]


def _class_of(value: Any, classes: tuple[Any, ...], missing: tuple[str, ...]) -> int:
    """The number of the class that a cell names: as it stands, without spaces, or by its value as a number or truth."""
    if value is None or value != value:
        return -1
    text = value if isinstance(value, str) else str(value)
    if text.strip() in missing:
        return -1
    for candidate in (text, text.strip()):
        for position, label in enumerate(classes):
            if isinstance(label, str) and label == candidate:
                return position
    number = _number(value)
    for position, label in enumerate(classes):
        if number is not None and number == _number(label):
            return position
    return -1 if text.strip() in cells.MISSING else -2


def _number(value: Any) -> float | int | None:
    """The number that a cell of a class column stands for; true and false are 1 and 0."""
    if not isinstance(value, str):
        return value
    word = value.strip().lower()
    if word in cells.TRUTH:
        return cells.TRUTH[word]
    try:
        return int(word)
    except ValueError:
        pass
    try:
        return float(word)
    except ValueError:
        return None


def _known_rows(
    source: Source, target: str, model: SMaLLModel, code: np.ndarray, strange: list[Any], unknown: str
) -> np.ndarray:
    """Which rows have a class that the model knows; a word or an error about the others."""
    gaps, rows = int((code == -1).sum()), np.flatnonzero(code == -2)
    if len(rows):
        words = f"class {show(strange[0])} is none of the model's ({listed(model.classes)})"
        if unknown == "refuse" or not (code >= 0).any():
            source.refuse(int(rows[0]), target, words)
        others = sorted({show(label) for label in strange})
        which = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
        tell(
            f"{count(len(rows), 'row')} of a class that the model does not know ({which}; first in "
            f"{source.place(int(rows[0]))}) left out."
        )
    if gaps:
        tell(f"{count(gaps, 'row')} without a class left out.")
    if not (code >= 0).any():
        raise CommandError(f"{source.shown}: no row has a class in column {show(target)}")
    return code >= 0
