"""Rows to train on that do not fit in memory: a table is read in chunks, and converted once to mapped files.

The file is read three times, for the labels, for how each column is read, and to convert it. The rows are those that
`training.convert_for_training` would make, and so is the model.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from smallearn._learn.data.table import Table
from smallearn._version import __version__
from smallearn.cli.console import Console
from smallearn.cli.errors import CommandError
from smallearn.cli.io.feature_columns import FeatureReader, Reading
from smallearn.cli.io.files import as_text, shown, signals_as_exits, size_text
from smallearn.cli.io.labels import LabelReader
from smallearn.cli.io.rules import TrainingRules, weights_in
from smallearn.cli.io.tables import ReadOptions, TableFile, open_table
from smallearn.cli.io.training import confusion_of, decide_features
from smallearn.model import HeldOut, SMaLLModel
from smallearn.tables._cache import cache_folder, kept
from smallearn.tables._convert import content_key, convert

LARGE = 1e9  # bytes of a table as float64, from which on it is converted, if memory does not say so earlier
MEMORY_SHARE = 0.25  # of the free memory: reading and training hold some copies
READING = "reading.json"  # beside the mapped files: the notes of the conversion, and what else is known of the columns
RECORD = 2  # the number of its format


@dataclass(frozen=True)
class StoredTable:
    """Rows to train on in mapped files; the same questions as to a `TrainingTable`.

    Parameters
    ----------
    table : Table
        The rows.
    ignored : dict from str to str
        The columns of the file that are not used, each with the reason.
    held_out : HeldOut or None
        How many rows of the file are held out.
    missing : dict from str to tuple of str
        The texts that are read as missing values, by column, as in `FeatureReader`.
    """

    table: Table
    ignored: dict[str, str]
    held_out: HeldOut | None = None
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        return [str(name) for name in self.table.feature_names]

    @property
    def categorical(self) -> list[str]:
        """The names of the categorical features."""
        return [str(self.table.feature_names[l]) for l in self.table.categories or {}]

    @property
    def classes(self) -> list[Any]:
        """The different labels, sorted."""
        return self.table.classes.tolist()

    @property
    def class_counts(self) -> tuple[int, ...]:
        """The number of rows of each class."""
        return tuple(np.bincount(self.table.code, minlength=len(self.table.classes)).tolist())

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.table.shape[0]

    def fitted(self, selector: Any) -> Any:
        """Train a `SMaLLClassifierCV` on the rows."""
        return selector.fit(self.table)

    def confusion(self, model: SMaLLModel) -> np.ndarray | None:
        """The confusion matrix of a model on the rows."""
        return confusion_of(model, self.table, np.asarray(self.table.code, dtype=np.int64))

    def remembered_by(self, model: SMaLLModel, target: str, source: str) -> SMaLLModel:
        """The model with what it has to know of the rows to recognise them."""
        return model._trained_on_codes(self.table, self.table.code, target=target, source=source)


def is_large(file: TableFile) -> bool:
    """Whether the table in a file had better not be read into memory as a whole."""
    return bytes_in_memory(file) > min(LARGE, MEMORY_SHARE * _free_memory())


def bytes_in_memory(file: TableFile) -> float:
    """About what the table takes as float64."""
    return 8.0 * file.about_rows() * len(file.names)


def _free_memory() -> float:
    """In bytes, where the system says it (Linux); elsewhere infinity, so that the size of the table decides alone."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return inf
    return next((1024.0 * float(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), inf)


def store_for_training(
    path: Path | Sequence[Path],
    target: str,
    *,
    rules: TrainingRules | None = None,
    dtype: str = "float64",
    options: ReadOptions | None = None,
    console: Console,
) -> StoredTable:
    """Convert a table, or open what an earlier conversion made of it."""
    options, rules = options or ReadOptions(), rules or TrainingRules()
    file = open_table(path, options)
    rules.check(file, target)
    folder = cache_folder()
    choices = {"target": target, **rules.options, "dtype": dtype}
    with _writing(folder):
        endings = file.path.suffixes
        made_by = {"smallearn": __version__, "record": RECORD}
        key = content_key(file.files, {**choices, "options": options, "endings": endings, **made_by})
        made = (folder / key).exists()
        console.note(_announcement(file, folder, made))
        make = partial(_convert, file=file, target=target, rules=rules, dtype=dtype, console=console)
        table = kept(folder, key, make)
        record = json.loads((folder / key / READING).read_text(encoding="utf-8"))
    for text in record["notes"] if made else ():
        console.note(text)
    held = record["held_out"]
    return StoredTable(
        table=replace(table, classes=np.array(table.classes.tolist())),
        ignored={**record["ignored"], **rules.others},
        held_out=None if held is None or rules.share is None else HeldOut(rules.share.seed, tuple(held)),
        missing={name: tuple(texts) for name, texts in record["missing"].items()},
    )


def _announcement(file: TableFile, folder: Path, made: bool) -> str:
    size = f"{'' if file.unit == 'rows' else 'about '}{file.about_rows():,} rows × {len(file.names):,} columns"
    if made:
        return f"{file.shown}, {size}, is read from files that were made of it earlier, in {shown(folder)}."
    return (
        f"{file.shown}, {size}, would take {size_text(bytes_in_memory(file))} or more in memory: converting it once to "
        f"files in {shown(folder)} (smallearn cache lists and removes them)."
    )


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Errors of writing in one sentence; a signal to end removes what is unfinished."""
    try:
        with signals_as_exits():
            yield
    except OSError as error:
        raise CommandError(
            f"the table cannot be converted in {shown(folder)}: {error.strerror or error}; the environment variable "
            "SMALLEARN_CACHE names another folder"
        ) from None
    except ValueError as error:
        raise CommandError(str(error)) from None


@dataclass(frozen=True)
class _Recorder(Console):
    """A console that keeps the notes, for the next time that the files are used."""

    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.notes.append(text)
        super().note(text)


def _convert(
    folder: Path,
    *,
    file: TableFile,
    target: str,
    rules: TrainingRules,
    dtype: str,
    console: Console,
) -> dict[str, Any]:
    """Write the files of a table into a folder; returns the facts about it."""
    recorder = _Recorder(quiet=console.quiet)
    labels = LabelReader(file, target, recorder, rules)
    for chunk in file.chunks(recorder, columns=[target]):
        labels.look(chunk.column(target))
    classes = labels.decide()
    names = rules.features(file, target)
    reader = FeatureReader(file, names, rules.keep, recorder)
    for chunk, rows, _ in labelled(file, labels, target, names, console):
        reader.look(chunk, rows)
    readings, ignored = decide_features(reader, rules)
    columns = [*readings, *([] if rules.weights is None else [rules.weights])]
    chunks = labelled(file, labels, target, columns, console)
    batches = _batches(chunks, reader, readings, target, classes, rules.weights)
    about = as_text(str(file.path.absolute()))
    facts = convert(folder, batches=batches, about=about, target=target, weight=rules.weights, ignore=(), dtype=dtype)
    held = None if labels.held_out is None else labels.held_out.class_counts
    record = {"ignored": ignored, "notes": recorder.notes, "held_out": held, "missing": reader.missing}
    (folder / READING).write_text(json.dumps(record), encoding="utf-8")
    return facts


def labelled(
    file: TableFile, labels: LabelReader, target: str, names: Sequence[str], console: Console
) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """Chunks of the rows to learn from, those that have a class and are not held out: the columns, the numbers of the
    rows in the file, the classes."""
    begin, split = file.begin, labels.split()
    for chunk in file.chunks(console, columns=[*names, target]):
        codes = labels.codes(chunk.column(target))
        rows = np.flatnonzero(codes >= 0 if split is None else (codes >= 0) & ~split.holds_out(codes))
        yield (chunk if len(rows) == len(codes) else chunk.take(rows)), begin + rows, codes[rows]
        begin += len(codes)


def _batches(
    chunks: Iterator[tuple[Any, np.ndarray, np.ndarray]],
    reader: FeatureReader,
    readings: dict[str, Reading],
    target: str,
    classes: np.ndarray,
    weights: str | None,
) -> Iterator[Any]:
    """The rows as batches of pyarrow's: numbers, booleans and text, the classes, and the weights if there are any."""
    import pyarrow as pa

    types = {"numbers": pa.float64(), "booleans": pa.bool_(), "text": pa.large_string()}
    labels = pa.array(classes.tolist())
    for chunk, rows, codes in chunks:
        columns = {
            name: pa.array(reader.convert(chunk.column(name), reading), types[reading.kind], from_pandas=True)
            for name, reading in readings.items()
        }
        if weights is not None:
            columns[weights] = pa.array(weights_in(reader.file, weights, chunk.column(weights), rows))
        yield pa.RecordBatch.from_pydict({**columns, target: labels.take(pa.array(codes))})
