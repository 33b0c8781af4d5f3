"""The second process: reads tables, fits, shapes and compares models. What it answers is plain data for the page.

Every job is a method of `Workshop` and has in its request all that it needs. What was read is kept only to be quick: a
process that was ended, because a job was cancelled, is replaced by a new one.
"""

import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from smallearn._run.processes import begin_spawned_worker
from smallearn._run.progress import Progress, watched
from smallearn._text import percent, show
from smallearn.cli.app.columns import facts_of_columns, facts_of_features
from smallearn.cli.app.setup import Changes, Setup, TableFacts
from smallearn.cli.console import Console
from smallearn.cli.errors import LIBRARY_ERRORS, OUT_OF_MEMORY, CommandError, library_errors, message_of
from smallearn.cli.io.special_codes import CodesHint
from smallearn.cli.rare_classes import found_of, rare_class
from smallearn.model import HeldOut, SMaLLModel
from smallearn.model import TableFacts as Told

TOLD_SECONDS = 0.2  # at least between two messages about progress
UNEXPECTED = "something unexpected happened; the terminal in which smallearn app runs shows the details"


@dataclass(frozen=True)
class Notes(Console):
    """A console that keeps notes for the page."""

    quiet: bool = True
    texts: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Keep a note, once."""
        if text not in self.texts:
            self.texts.append(text)

    def note_ignored(self, column: str, reason: str, may_keep: bool) -> None:
        """Keep nothing: the page has a table of the columns that are ignored."""

    def note_codes(self, hint: CodesHint) -> None:
        """Keep the codes too, for a button of the page."""
        self.note(hint.fact)
        self.codes.extend(str(code) for code in hint.codes if str(code) not in self.codes)


class Workshop:
    """Does the jobs, one after the other; ``tell`` sends what is said about the progress of one."""

    def __init__(self, tell: Callable[[dict[str, Any]], None]):
        self._tell = tell
        self._told = 0.0
        self._tables: dict[TableFacts, Any] = {}
        self._training: dict[tuple, Any] = {}

    # --- jobs ------------------------------------------------------------------------------------------------------

    def read(self, table: TableFacts) -> dict[str, Any]:
        """The columns of a table, its first rows, and which columns may be classes."""
        self._stage(f"Reading {table.name}")
        return facts_of_columns(self._table(table))

    def choose(self, setup: Setup) -> dict[str, Any]:
        """What is learned from with this target: classes, features, and which columns are ignored and why."""
        self._stage("Looking at the columns")
        rows, notes = self._rows(setup)
        return {**facts_of_features(rows), "notes": notes.texts, "codes": notes.codes}

    def fit(self, setup: Setup) -> dict[str, Any]:
        """A model, how good it is, and its page."""
        from smallearn import SMaLLClassifierCV
        from smallearn.cli.selection import selection_parameters

        self._stage("Looking at the columns")
        arguments, notes = setup.arguments(), Notes()
        table, _ = self._rows(setup)
        train, test, held_out = _split(table, setup)
        parameters = selection_parameters(arguments, table, notes)
        selector = SMaLLClassifierCV(arguments.max_terms or 10, min_terms=1, **parameters)
        self._stage("Comparing models by cross-validation")
        with library_errors(arguments), notes.warnings_as_notes(), watched(self._progress):
            selector.fit(train.X, train.y)
        words = tuple(table.missing.items())
        missing, positive = setup.table.options.missing, arguments.positive_class
        told = Told(held_out=held_out, missing=missing, missing_by_column=words, positive=positive)
        model = replace(train.remembered_by(selector.model_, setup.target, setup.table.name), table=told)
        return self._finished(model, setup, test, notes)

    def shape(self, model: str, changes: Changes, setup: Setup) -> dict[str, Any]:
        """A model that a person changed, its other weights fitted again to the rows that it was trained on."""
        from smallearn import refit

        self._stage("Changing the model")
        train, test, _ = _split(self._rows(setup)[0], setup)
        notes = Notes()
        with library_errors(setup.arguments()), notes.warnings_as_notes():
            before = SMaLLModel.from_json(model)
            editor = before.edit([str(name) for name in train.X.columns])
            for term in changes.drop:
                editor = editor.drop(term)
            for feature in changes.forbid:
                editor = editor.forbid(feature)
            for feature, old, new in changes.cuts:
                editor = editor.change_cut(feature, old, new)
            changed = refit(editor, train.X, train.y, replace_terms=changes.replaces)
        by_hand = [edit.text for edit in editor.model.edits[len(before.edits) :]]
        told = {"changed": by_hand, "before": {"n_terms": before.n_terms, "figures": _figures(before, test)}}
        return {**self._finished(changed, setup, test, notes), **told}

    def compare(self, first: str, second: str, setup: Setup) -> dict[str, Any]:
        """Two models on the rows that were held out for ``setup``: where they disagree, and which is right there."""
        from smallearn.cli.app.comparison import compare

        self._stage("Comparing two models")
        test = _split(self._rows(setup)[0], setup)[1]
        return compare(SMaLLModel.from_json(first), SMaLLModel.from_json(second), test.X, test.y, test.numbers)

    # --- what they share -------------------------------------------------------------------------------------------

    def _finished(self, model: SMaLLModel, setup: Setup, test: Any, notes: Notes) -> dict[str, Any]:
        """What the page shows of a model."""
        from smallearn.evaluation import evaluate
        from smallearn.report import report_html

        self._stage("Testing the model")
        evaluation = replace(evaluate(model, test.X, test.y), is_held_out=setup.test_size > 0.0)
        self._stage("Writing the page")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            page = report_html(
                model,
                test.X,
                test.y,
                evaluation=evaluation,
                source=setup.table.name,
                rows=test.numbers.tolist(),
                chips=(),
            )
        return {
            "model": model.to_json(),
            "page": page,
            "n_terms": model.n_terms,
            "features": [term.label for term in model.features],
            "cross_validation": None if model.selection is None else model.selection.text,
            "figures": _figures_of(model, evaluation),
            "n_tested": evaluation.n_rows,
            "held_out": setup.test_size > 0.0,
            "changed": [],
            "before": None,
            "notes": notes.texts,
        }

    def _table(self, table: TableFacts) -> Any:
        """A table in memory."""
        from smallearn.cli.io.files import size_text
        from smallearn.cli.io.stored import bytes_in_memory, is_large
        from smallearn.cli.io.tables import open_table

        if table not in self._tables:
            file = open_table(table.path, table.options)
            if is_large(file):
                raise CommandError(
                    f"{table.name} would take {size_text(bytes_in_memory(file))} or more in memory, too much for this "
                    "page; smallearn fit, at a command line, trains on tables of any size"
                )
            loaded = file.load(Notes())
            self._tables, self._training = {table: loaded}, {}  # the last one only
        return self._tables[table]

    def _rows(self, setup: Setup) -> tuple[Any, Notes]:
        """The rows to learn from, and what reading them had to note."""
        from smallearn.cli.io.rules import TrainingRules
        from smallearn.cli.io.training import convert_for_training

        table = self._table(setup.table)
        key = (setup.table, setup.target, setup.drop, setup.keep)
        if key not in self._training:
            notes = Notes()
            with library_errors(setup.arguments()):
                rules = TrainingRules(drop=setup.drop, keep=setup.keep)
                rows = convert_for_training(table, setup.target, rules=rules, console=notes)
            self._training = {key: (rows, notes)}
        return self._training[key]

    def _stage(self, text: str) -> None:
        self._told = 0.0
        self._tell({"stage": text, "done": 0, "total": 0, "left": None})

    def _progress(self, progress: Progress) -> None:
        now = time.monotonic()
        if now < self._told + TOLD_SECONDS and progress.done < progress.total:
            return
        self._told = now
        over = progress.total > 0 and progress.done >= progress.total
        stage = "Training the chosen model on all rows" if over else "Comparing models by cross-validation"
        self._tell({"stage": stage, "done": progress.done, "total": progress.total, "left": progress.left})


def _split(table: Any, setup: Setup) -> tuple[Any, Any, HeldOut | None]:
    """The rows to train on, those to test on, and what tells them apart. They are those that ``fit --test-size`` holds
    out; without a test the rows are the same."""
    from smallearn.cli.io.held_out import Split, held_out_of
    from smallearn.cli.io.rules import Share

    if setup.test_size == 0.0:
        return table, table, None
    labels, code, counts = np.unique(table.y, return_inverse=True, return_counts=True)
    try:
        held_out = held_out_of(Share(setup.test_size, setup.arguments().seed), counts.tolist(), labels.tolist())
    except CommandError:  # which names an option of the command
        raise CommandError(
            "there are too few rows to hold some of each class out for a test: choose to hold out none, and rely on "
            "the score by cross-validation"
        ) from None
    held = Split(held_out, counts.tolist()).holds_out(code)
    return _taken(table, ~held), _taken(table, held), held_out


def _figures(model: SMaLLModel, test: Any) -> list[list[str]]:
    """The scores of a model on the rows of the test."""
    from smallearn.evaluation import evaluate

    return _figures_of(model, evaluate(model, test.X, test.y))


def _figures_of(model: SMaLLModel, evaluation: Any) -> list[list[str]]:
    return [list(line) for line in (*evaluation.figures(), *_rare_figures(model, evaluation.confusion))]


def _rare_figures(model: SMaLLModel, confusion: np.ndarray) -> list[tuple[str, str, str]]:
    """The recall and the precision of a rare class, which accuracy hides."""
    label = rare_class(model)
    if label is None:
        return []
    found = found_of(model, label, confusion)
    shares = ((found.recall, found.there, "found"), (found.precision, found.flagged, "right"))
    return [
        (f"{name} of {show(label)}", "–" if share is None else percent(share), f"{found.found:,} of {number:,} {what}")
        for name, (share, number, what) in zip(("recall", "precision"), shares, strict=True)
    ]


def _taken(table: Any, chosen: np.ndarray) -> Any:
    """Some rows of a `TrainingTable`."""
    X = table.X[chosen].reset_index(drop=True)
    return replace(table, X=X, y=table.y[chosen], numbers=table.numbers[chosen])


# --- the process -----------------------------------------------------------------------------------------------------


def run(connection: Connection) -> None:
    """Do jobs until the other end of the connection is closed."""
    begin_spawned_worker()
    workshop = Workshop(lambda said: connection.send(("progress", said)))
    while True:
        try:
            job, request = connection.recv()
        except (EOFError, OSError):
            return
        with _closed_quietly():
            connection.send(_answer(workshop, job, request))


def _answer(workshop: Workshop, job: str, request: dict[str, Any]) -> tuple[str, Any]:
    try:
        return "done", getattr(workshop, job)(**request)
    except (CommandError, *LIBRARY_ERRORS) as error:
        if not isinstance(error, CommandError):
            traceback.print_exc()
        return "failed", message_of(error, {})
    except MemoryError:
        return "failed", OUT_OF_MEMORY
    except Exception:
        print(f"smallearn app: the job {job!r} failed", file=sys.stderr)
        traceback.print_exc()
        return "failed", UNEXPECTED


@contextmanager
def _closed_quietly() -> Iterator[None]:
    """The server may end while an answer is sent."""
    try:
        yield
    except (BrokenPipeError, ConnectionError):
        sys.exit(0)
