"""The trained model: frozen, in raw units, only the terms it uses. Needs numpy alone.

The rule is one everywhere: a prototype's score is ``z = intercept + Σ weight · feature``, a class's score the greatest
of its prototypes', and the prediction the class of the greatest score. With two classes one of them owns all the
prototypes and the other scores 0. Ties go to the first of ``classes``.
"""

import decimal
import errno
import json
import math
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

FORMAT, VERSION = "smallearn-model", 1
# The types of class labels that a model can hold, as numpy writes them.
_CLASS_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|U[1-9][0-9]{0,5}|O)")
_TEXT = (str, bytes, bytearray)
CHUNK_ROWS = 4096  # so that the columns gathered for one chunk stay in the cache


@dataclass(frozen=True)
class Term:
    """``weight · x``, where ``x`` is the feature at position ``feature``, called ``name`` if the data had names."""

    feature: int
    weight: float
    name: str | None = None

    @property
    def label(self) -> str:
        return f"x{self.feature}" if self.name is None else self.name


@dataclass(frozen=True)
class Prototype:
    """A score for class number ``owner`` of the model's classes."""

    owner: int
    intercept: float
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Training:
    """How the model was made. The bound is on the training objective at the final assignment of rows to prototypes: no
    model with at most ``n_nonzero`` terms a prototype has a lower one there. It says nothing of test accuracy."""

    smallearn: str
    n_rows: int
    alpha: float
    n_nonzero: int
    objective: float
    lower_bound: float

    @property
    def optimality_gap(self) -> float:
        return (self.objective - self.lower_bound) / self.objective


@dataclass(frozen=True)
class SMaLLModel:
    """A k-sparse p-prototype classifier: ``sign(max_j (w_j·x + b_j))`` with two classes, the greatest score with more.

    ``classes`` are the labels in order, ``class_dtype`` the numpy type of what `predict` returns, ``n_features`` the
    width of the training data, ``prototypes`` the scores, ``training`` how the model was made (None if unknown).
    """

    classes: tuple[Any, ...]
    class_dtype: str
    n_features: int
    prototypes: tuple[Prototype, ...]
    training: Training | None = None

    def __post_init__(self):
        if len(self.classes) < 2 or not self.prototypes:
            raise ValueError("A model needs at least two classes and one prototype.")
        names: dict[int, str | None] = {}
        for term in (term for prototype in self.prototypes for term in prototype.terms):
            if names.setdefault(term.feature, term.name) != term.name:
                both = _list([names[term.feature], term.name])
                raise ValueError(f"Feature {term.feature} has two names: {both}.")
        given = [name for name in names.values() if name is not None]
        if len(set(given)) < len(given) or 0 < len(given) < len(names):
            called = _list(list(names.values()))
            raise ValueError(f"The features in use must have different names, or all none: {called}.")
        owners = {prototype.owner for prototype in self.prototypes}
        if len(self.classes) == 2 and len(owners) != 1:
            raise ValueError("With two classes, one of them owns all the prototypes.")
        if len(self.classes) > 2 and owners != set(range(len(self.classes))):
            raise ValueError("With more than two classes, each of them owns a prototype.")

    # --- predictions -----------------------------------------------------------------------------------------------

    @property
    def features(self) -> tuple[Term, ...]:
        """One term for each feature in use, in the order of the features."""
        used = {term.feature: term for prototype in self.prototypes for term in prototype.terms}
        return tuple(used[index] for index in sorted(used))

    def with_feature_names(self, names: Sequence[str]) -> "SMaLLModel":
        """The same model, its features called ``names``: for data that came without."""
        if len(names) != self.n_features:
            raise ValueError(f"There are {len(names)} names for {self.n_features} features.")
        prototypes = tuple(
            replace(prototype, terms=tuple(replace(term, name=str(names[term.feature])) for term in prototype.terms))
            for prototype in self.prototypes
        )
        return replace(self, prototypes=prototypes)

    def scores(self, X: Any) -> np.ndarray:
        """The score of every prototype, rows × prototypes. Each is summed term by term, in the order of the terms."""
        features = self.features
        place = {term.feature: position for position, term in enumerate(features)}
        blocks = []
        for columns in _gather(X, features, self.n_features):
            z = np.empty((columns.shape[1], len(self.prototypes)))
            with np.errstate(over="ignore", invalid="ignore"):
                for j, prototype in enumerate(self.prototypes):
                    z[:, j] = prototype.intercept
                    for term in prototype.terms:
                        z[:, j] += term.weight * columns[place[term.feature]]
            if not np.isfinite(z).all():
                raise ValueError("The scores overflow: X has values far beyond those that the model was trained on.")
            blocks.append(z)
        return np.concatenate(blocks) if blocks else np.empty((0, len(self.prototypes)))

    def decision_function(self, X: Any) -> np.ndarray:
        """Two classes: positive for ``classes[1]``. More: the score of each class, rows × classes."""
        z = self.scores(X)
        if len(self.classes) == 2:
            best = z.max(axis=1)
            return best if self.prototypes[0].owner == 1 else -best
        owner = np.array([prototype.owner for prototype in self.prototypes])
        return np.column_stack([z[:, owner == label].max(axis=1) for label in range(len(self.classes))])

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row of an array, a sparse matrix, or a pandas or polars table, by name if it has names."""
        decision = self.decision_function(X)
        index = (decision > 0.0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return self._class_array()[index]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The softmax of the class scores; with two classes ``σ`` of the decision function."""
        decision = self.decision_function(X)
        if decision.ndim == 1:
            decision = np.column_stack([np.zeros(len(decision)), decision])
        weight = np.exp(decision - decision.max(axis=1, keepdims=True))
        return weight / weight.sum(axis=1, keepdims=True)

    def predict_one(self, row: Any) -> Any:
        """The class of one row: a mapping from feature names (``x0``, ``x1``, … if the data had none), of which only
        those in use are read, or a sequence of all features."""
        by_name = hasattr(row, "keys")
        best, winner = (0.0, 1 - self.prototypes[0].owner) if len(self.classes) == 2 else (-math.inf, -1)
        try:
            if isinstance(row, _TEXT):
                raise TypeError(f"{row!r} is text")
            if not by_name and len(row) != self.n_features:
                raise ValueError(f"The row has {len(row)} values; the model was trained on {self.n_features} features.")
            for prototype in self.prototypes:
                z = prototype.intercept
                for term in prototype.terms:
                    value = row[term.label if by_name else term.feature]
                    if isinstance(value, _TEXT):
                        raise TypeError(f"{value!r} is text")
                    z += term.weight * float(value)
                if not -math.inf < z < math.inf:
                    values = {term.label: row[term.label if by_name else term.feature] for term in self.features}
                    raise ValueError(f"The row has a value that is too large or not a finite number: {values}.")
                if z > best or (z == best and prototype.owner < winner):
                    best, winner = z, prototype.owner
        except KeyError as problem:
            raise ValueError(f"The row lacks {_show(problem.args[0])}; the model uses {_list(self._used())}.") from None
        except (IndexError, TypeError, OverflowError) as problem:
            raise ValueError(
                f"The row must be a mapping or a sequence with a number for each of {_list(self._used())}: {problem}."
            ) from None
        return self.classes[winner]

    def _used(self) -> list[str]:
        return [term.label for term in self.features]

    def _class_array(self) -> np.ndarray:
        values = np.empty(len(self.classes), dtype=self.class_dtype)
        values[:] = self.classes
        return values

    # --- in words --------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        most = max(len(prototype.terms) for prototype in self.prototypes)
        head = (
            f"SMaLL model: {_count(len(self.prototypes), 'prototype')} of at most {_count(most, 'term')}, "
            f"{len(self.features)} of {_count(self.n_features, 'feature')} used"
        )
        return "\n".join([head, *self._rule(), *self._blocks(), *self._certificate()])

    def _rule(self) -> Iterator[str]:
        if len(self.classes) > 2:
            yield f"Predict the class of the highest score; at a tie the first of {_list(self.classes)}."
            return
        owner = self.prototypes[0].owner
        which = "this score is" if len(self.prototypes) == 1 else "any of these scores is"
        bar = "above 0" if owner == 1 else "0 or more"
        yield f"Predict {_show(self.classes[owner])} if {which} {bar}, otherwise {_show(self.classes[1 - owner])}."

    def _blocks(self) -> Iterator[str]:
        for number, prototype in enumerate(self.prototypes, start=1):
            of_class = f", for {_show(self.classes[prototype.owner])}" if len(self.classes) > 2 else ""
            yield f"\n  prototype {number}{of_class}"
            lines = [(f"{term.weight:+.4g}", f"× {_show(term.label, quote=False)}") for term in prototype.terms]
            lines.append((f"{prototype.intercept:+.4g}", "(constant)"))
            width = max(len(weight) for weight, _ in lines)
            for weight, name in lines:
                yield f"    {weight:>{width}} {name}".rstrip()

    def _certificate(self) -> Iterator[str]:
        if self.training is None:
            return
        facts = self.training
        yield (
            f"\nCertificate: training objective {facts.objective:.4g}; no model with at most "
            f"{_count(facts.n_nonzero, 'term')} a prototype is below {_rounded_down(facts.lower_bound)}\n"
            f"(gap {facts.optimality_gap:.1%}), for this assignment of rows to prototypes. "
            "It says nothing of test accuracy."
        )

    # --- JSON ------------------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The model as JSON text, every number exact; `from_json` gives an equal model back."""
        for label in self.classes:
            if not isinstance(label, bool | int | float | str) or label in (math.inf, -math.inf) or label != label:
                kind = type(label).__name__
                raise ValueError(f"Class {label!r} is a {kind}; JSON holds finite numbers, strings and booleans.")
        content = {
            "format": FORMAT,
            "version": VERSION,
            "classes": list(self.classes),
            "class_dtype": self.class_dtype,
            "n_features": self.n_features,
            "prototypes": [
                {
                    "class": prototype.owner,
                    "intercept": prototype.intercept,
                    "terms": [{"kind": "raw", **asdict(term)} for term in prototype.terms],
                }
                for prototype in self.prototypes
            ],
            "training": None if self.training is None else asdict(self.training),
        }
        return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "SMaLLModel":
        """Read what `to_json` wrote. Anything else is an error that says where and why."""
        try:
            content = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
        except (json.JSONDecodeError, RecursionError) as problem:
            raise ValueError(f"Not a smallearn model: not valid JSON ({problem}).") from None
        return _read_model(content)

    def save(self, path: str | os.PathLike) -> None:
        """Write the JSON to ``path``, whole or not at all: a crash leaves the old file or the new one."""
        text = self.to_json()
        target = Path(os.path.realpath(path))
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "No such folder", str(target.parent))
        if target.exists() and not target.is_file():
            raise ValueError(f"{target} is not a file that a model could replace.")
        draft = target.with_name(f".smallearn-{secrets.token_hex(8)}.tmp")
        try:
            with draft.open("x", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                draft.chmod(target.stat().st_mode & 0o777)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


def class_dtype(classes: np.ndarray) -> str:
    """The type under which a model keeps these labels: their own, or plain objects."""
    return classes.dtype.str if _CLASS_DTYPE.fullmatch(classes.dtype.str) else "|O"


def load_model(path: str | os.PathLike) -> SMaLLModel:
    """Read a model that `SMaLLModel.save` wrote. The file is data, never code, and is checked before use."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{os.fspath(path)}: not a smallearn model: not UTF-8 text.") from None
    try:
        return SMaLLModel.from_json(text)
    except ValueError as problem:
        raise ValueError(f"{os.fspath(path)}: {problem}") from None


# --- gathering the columns in use ------------------------------------------------------------------------------------


def _gather(X: Any, features: tuple[Term, ...], n_features: int) -> Iterator[np.ndarray]:
    """The features in use as float64, features × rows, a chunk of rows at a time."""
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"X has shape {X.shape}; the model was trained on {n_features} features, rows × features.")
    read = _table_reader(X, features) if _by_name(X, features) else _array_reader(X, features, n_features)
    for begin in range(0, X.shape[0], CHUNK_ROWS):
        rows = slice(begin, min(X.shape[0], begin + CHUNK_ROWS))
        columns = np.ascontiguousarray(read(rows)) if features else np.empty((0, rows.stop - begin))
        if not np.isfinite(columns).all():
            raise ValueError("The features that the model uses contain NaN or infinity; it needs finite numbers.")
        yield columns


def _by_name(X: Any, features: tuple[Term, ...]) -> bool:
    return hasattr(X, "columns") and all(term.name is not None for term in features)


def _table_reader(X: Any, features: tuple[Term, ...]) -> Callable[[slice], np.ndarray]:
    names = list(X.columns)
    missing = [term.name for term in features if term.name not in names]
    if missing:
        raise ValueError(f"The table lacks the columns {_list(missing)} that the model uses.")
    twice = [term.name for term in features if names.count(term.name) > 1]
    if twice:
        raise ValueError(f"The table has more than one column called {_list(twice)}, which the model uses.")
    columns = [_numbers(X[term.name]) for term in features]
    return lambda rows: np.array([column[rows] for column in columns])


def _array_reader(X: Any, features: tuple[Term, ...], n_features: int) -> Callable[[slice], np.ndarray]:
    if X.shape[1] != n_features:
        raise ValueError(f"X has shape {X.shape}; the model was trained on {n_features} features.")
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    index = [term.feature for term in features]

    def read(rows: slice) -> np.ndarray:
        chosen = X[rows][:, index]
        return _numbers(chosen.toarray() if hasattr(chosen, "toarray") else chosen).T

    return read


def _numbers(values: Any) -> np.ndarray:
    """As float64, from numbers only: dates, complex numbers and text are refused, not converted."""
    values = np.asarray(values)
    text = [value for value in values.flat if isinstance(value, _TEXT)] if values.dtype.kind in "OUS" else []
    if text or values.dtype.kind not in "biufO":
        what = f"text ({_show(text[0])})" if text else f"values of type {values.dtype}"
        raise ValueError(f"The features that the model uses contain {what}; it needs numbers.")
    try:
        return values.astype(np.float64)
    except (TypeError, OverflowError) as problem:
        raise ValueError(f"The features that the model uses are not all numbers: {problem}.") from None


# --- reading and checking JSON ---------------------------------------------------------------------------------------


def _read_model(content: Any) -> SMaLLModel:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'Not a smallearn model: the field "format" is not {FORMAT!r}.')
    if type(content.get("version")) is not int or content["version"] != VERSION:
        raise ValueError(
            f"The model has schema version {_show(content.get('version'))}; this smallearn reads version {VERSION}. "
            "Upgrade smallearn, or export the model again."
        )
    names = ("format", "version", "classes", "class_dtype", "n_features", "prototypes", "training")
    fields = _fields(content, "model", names)
    dtype = _of_type(fields["class_dtype"], str, "class_dtype")
    classes = _read_classes(_of_type(fields["classes"], list, "classes"), dtype)
    n_features = _whole(fields["n_features"], "n_features", 1)
    prototypes = tuple(
        _read_prototype(entry, f"prototypes[{j}]", len(classes), n_features)
        for j, entry in enumerate(_of_type(fields["prototypes"], list, "prototypes"))
    )
    training = None if fields["training"] is None else _read_training(fields["training"])
    return SMaLLModel(classes, dtype, n_features, prototypes, training)


def _read_classes(labels: list, dtype: str) -> tuple:
    if not _CLASS_DTYPE.fullmatch(dtype):
        raise ValueError(f"class_dtype: {_show(dtype)} is not the type of a boolean, number, string or object array.")
    if len(labels) < 2:
        raise ValueError(f"classes: a model needs at least two, found {len(labels)}.")
    kind = np.dtype(dtype).kind
    kinds: dict[str, tuple[type, ...]] = {"b": (bool,), "i": (int,), "u": (int,), "f": (float, int), "U": (str,)}
    for position, label in enumerate(labels):
        allowed = kinds.get(kind, (bool, int, float, str))
        if not isinstance(label, allowed) or (isinstance(label, bool) and bool not in allowed):
            raise ValueError(f"classes[{position}]: {_show(label)} does not fit the type {dtype!r}.")
        if isinstance(label, float) and not math.isfinite(label):
            raise ValueError(f"classes[{position}]: {label} is not a finite number.")
    if len(set(labels)) < len(labels):
        raise ValueError(f"classes: {_show(labels)} names a class twice.")
    values = np.empty(len(labels), dtype=dtype)
    fits = kind not in "iu" or all(np.iinfo(dtype).min <= label <= np.iinfo(dtype).max for label in labels)
    try:
        with np.errstate(over="ignore"):
            values[:] = labels if fits else 0
    except OverflowError:  # a whole number beyond the range of floats
        fits = False
    if not fits or values.tolist() != labels:
        raise ValueError(f"classes: {_show(labels)} do not fit the type {dtype!r}.")
    return tuple(values.tolist())


def _read_prototype(entry: Any, where: str, n_classes: int, n_features: int) -> Prototype:
    fields = _fields(entry, where, ("class", "intercept", "terms"))
    owner = _whole(fields["class"], f"{where}.class", 0, n_classes - 1)
    intercept = _number(fields["intercept"], f"{where}.intercept")
    terms = tuple(
        _read_term(term, f"{where}.terms[{position}]", n_features)
        for position, term in enumerate(_of_type(fields["terms"], list, f"{where}.terms"))
    )
    if len({term.feature for term in terms}) < len(terms):
        raise ValueError(f"{where}.terms: a feature stands there twice.")
    return Prototype(owner, intercept, terms)


def _read_term(entry: Any, where: str, n_features: int) -> Term:
    fields = _fields(entry, where, ("kind", "feature", "weight", "name"))
    if fields["kind"] != "raw":
        raise ValueError(f"{where}.kind: {_show(fields['kind'])} is not 'raw', the only kind in version {VERSION}.")
    name = None if fields["name"] is None else _of_type(fields["name"], str, f"{where}.name")
    feature = _whole(fields["feature"], f"{where}.feature", 0, n_features - 1)
    return Term(feature, _number(fields["weight"], f"{where}.weight"), name)


def _read_training(entry: Any) -> Training:
    readers: dict[str, Callable[[Any, str], Any]] = {
        "smallearn": lambda value, where: _of_type(value, str, where),
        "n_rows": lambda value, where: _whole(value, where, 1),
        "alpha": _number,
        "n_nonzero": lambda value, where: _whole(value, where, 1),
        "objective": _number,
        "lower_bound": _number,
    }
    fields = _fields(entry, "training", tuple(readers))
    facts = Training(**{name: read(fields[name], f"training.{name}") for name, read in readers.items()})
    if facts.objective <= 0.0 or facts.alpha <= 0.0:
        raise ValueError("training: objective and alpha must be positive.")
    return facts


def _fields(entry: Any, where: str, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise ValueError(f"{where}: expected an object, found {_show(entry)}.")
    missing, unknown = set(names) - set(entry), set(entry) - set(names)
    if missing or unknown:
        raise ValueError(f"{where}: missing fields {sorted(missing)}, unknown fields {sorted(unknown)}.")
    return entry


def _of_type(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{where}: expected {kind.__name__}, found {_show(value)}.")
    return value


def _whole(value: Any, where: str, low: int, high: int | None = None) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{where}: expected a whole number {limits}, found {_show(value)}.")
    return value


def _number(value: Any, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= 1.7976931348623157e308:
        raise ValueError(f"{where}: expected a finite number, found {_show(value)}.")
    return float(value)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("Not a smallearn model: a field stands twice in one object.")
    return content


def _no_constant(name: str) -> None:
    raise ValueError(f"Not a smallearn model: {name} is not a finite number.")


# --- words -----------------------------------------------------------------------------------------------------------


def _show(value: Any, quote: bool = True, most: int = 60) -> str:
    """A value on one line: control characters escaped, long text cut."""
    text = value if isinstance(value, str) else repr(value)
    text = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text[: most + 1])
    if len(text) > most:
        text = text[: most - 1] + "…"
    return f"'{text}'" if quote and isinstance(value, str) else text


def _rounded_down(value: float) -> str:
    """Four digits, none of them too high: a bound may not be rounded up."""
    down = decimal.Context(prec=4, rounding=decimal.ROUND_FLOOR)
    return f"{float(down.create_decimal_from_float(value)):.4g}"


def _list(values: Sequence[Any]) -> str:
    return ", ".join(_show(value) for value in values)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
