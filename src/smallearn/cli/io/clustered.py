"""Rows to train on that lie on a Dask cluster: every worker reads its parts of a table in Parquet.

The parts are looked at where they are read, for the labels and for how each column is read, and what was seen is put
together here, in order. So the rows are those that `training.convert_for_training` would make, and so is the model.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from smallearn._learn.data import source as sources
from smallearn._text import count, show
from smallearn.cli.console import SILENT, Console
from smallearn.cli.errors import CommandError, not_installed
from smallearn.cli.io.arrow_tables import ParquetFile
from smallearn.cli.io.feature_columns import FeatureReader, Reading
from smallearn.cli.io.labels import LabelReader
from smallearn.cli.io.rules import TrainingRules, weights_in
from smallearn.cli.io.stored import labelled
from smallearn.cli.io.tables import ReadOptions, need_tables, open_table, paths_of
from smallearn.cli.io.training import decide_features, frame_of
from smallearn.model import DataFacts, SMaLLModel

LOCAL = "local"  # in place of an address: a cluster on this machine, as long as the command runs
PATIENCE = 30  # seconds until the scheduler has answered


@dataclass(frozen=True)
class ClusteredTable:
    """Rows to train on that workers read; the same questions as to a `TrainingTable`.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster.
    X, y : list of delayed
        The features and the labels of each part.
    weight : list of delayed, or None
        The weights of the rows of each part, if they have any.
    features, categorical : list of str
        The names of the features, and of those that are categorical.
    classes : list
        The different labels, sorted.
    class_counts : tuple of int
        The number of rows of each class.
    ignored : dict from str to str
        The columns of the table that are not used, each with the reason.
    """

    client: Any
    X: list[Any]
    y: list[Any]
    features: list[str]
    categorical: list[str]
    classes: list[Any]
    class_counts: tuple[int, ...]
    ignored: dict[str, str]
    weight: list[Any] | None = None
    held_out = None  # where a row is in the table is not known on the workers

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.class_counts)

    def fitted(self, selector: Any) -> Any:
        """Train a `SMaLLClassifierCV` with the same parameters on the cluster."""
        from smallearn.dask import SMaLLClassifierCV

        parameters = {**selector.get_params(deep=False), "client": self.client}
        return SMaLLClassifierCV(**parameters).fit(self.X, self.y, sample_weight=self.weight)

    def confusion(self, model: SMaLLModel) -> np.ndarray | None:
        """None: that would take one more pass over the rows."""
        return None

    def remembered_by(self, model: SMaLLModel, target: str, source: str) -> SMaLLModel:
        """The model with what it has to know of the rows to recognise them; too many rows it does not recognise."""
        facts = model.data or DataFacts(fingerprint="", class_counts=self.class_counts)
        return replace(model, data=replace(facts, target=target, source=source))


@contextmanager
def connected(address: str, n_workers: int | None) -> Iterator[Any]:
    """A client of the cluster at an address, or of one here, with so many workers (None: one for each core)."""
    try:
        from distributed import Client, LocalCluster
        from distributed.comm import parse_address
        from distributed.comm.registry import get_backend
    except ModuleNotFoundError:
        raise not_installed("--dask", "dask.distributed", "dask") from None
    try:
        get_backend(parse_address(address)[0])
    except ValueError as error:
        raise CommandError(
            f"--dask {show(address, quote=False)} is no address of a scheduler, such as tcp://scheduler:8786, nor "
            f"{LOCAL}: {error}"
        ) from None
    with ExitStack() as stack:
        place: Any = address
        if address == LOCAL:
            place = stack.enter_context(
                LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, silence_logs="ERROR")
            )
        try:
            client = Client(place, timeout=PATIENCE, set_as_default=False)
        except (OSError, TimeoutError):
            where = show(address, quote=False)
            raise CommandError(f"no Dask scheduler answered at {where} within {PATIENCE} seconds") from None
        yield stack.enter_context(client)


def read_on_cluster(
    path: Path | Sequence[Path],
    target: str,
    *,
    rules: TrainingRules | None = None,
    options: ReadOptions | None = None,
    client: Any,
    console: Console,
) -> ClusteredTable:
    """Let the workers look at a table in Parquet, and say how they are to read it."""
    from smallearn.dask._cluster import Cluster, address

    rules = rules or TrainingRules()
    file = open_table([one.absolute() for one in paths_of(path)], options)
    if not isinstance(file, ParquetFile):
        raise CommandError(f"--dask reads Parquet, which {file.shown} is not: workers cannot start in the midst of it")
    rules.check(file, target)
    parts = file.split(sources.BLOCK_ENTRIES)
    if not parts:
        raise CommandError(f"{file.shown} has no rows")
    with Cluster(client) as cluster:

        def everywhere(question: Any, *arguments: Any) -> list[Any]:
            return list(cluster.compute(cluster.tasks(question, parts, [arguments] * len(parts))))

        n_workers = count(len(client.nthreads()), "worker")
        size = f"{file.about_rows():,} rows × {len(file.names):,} columns"
        console.note(f"{file.shown}, {size}, is read by {n_workers} of the Dask cluster at {address(client)}.")
        labels = LabelReader(file, target, console, rules)
        for seen in everywhere(look_at_labels, target):
            labels.add(seen)
        classes = labels.decide()
        names = rules.features(file, target)
        reader = FeatureReader(file, names, rules.keep, console)
        for seen in everywhere(look_at_features, labels, target, names, rules.keep):
            reader.add(seen)
        readings, ignored = decide_features(reader, rules)
        told = (labels, target, readings, classes, rules.weights)
        read = cluster.tasks(read_part, parts, [told] * len(parts))
    return ClusteredTable(
        client=client,
        X=[part[0] for part in read],
        y=[part[1] for part in read],
        weight=None if rules.weights is None else [part[2] for part in read],
        features=list(readings),
        categorical=[name for name, reading in readings.items() if reading.kind != "numbers"],
        classes=classes.tolist(),
        class_counts=labels.class_counts,
        ignored=ignored,
    )


# --- on the workers ---------------------------------------------------------------------------------------------------


def look_at_labels(part: ParquetFile, target: str) -> LabelReader:
    """What a part of the table has in the column of classes."""
    _check(part)
    labels = LabelReader(part, target, SILENT)
    for chunk in part.chunks(SILENT, columns=[target]):
        labels.look(chunk.column(target))
    return labels


def look_at_features(
    part: ParquetFile, labels: LabelReader, target: str, names: Sequence[str], keep: Sequence[str]
) -> FeatureReader:
    """What a part of the table has in its other columns."""
    reader = FeatureReader(part, names, keep, SILENT)
    for chunk, rows, _ in labelled(part, labels, target, names, SILENT):
        reader.look(chunk, rows)
    return reader


def read_part(
    part: ParquetFile,
    labels: LabelReader,
    target: str,
    readings: dict[str, Reading],
    classes: np.ndarray,
    weights: str | None,
) -> tuple[Any, np.ndarray, np.ndarray]:
    """The features, the labels and the weights, if there are any, in a part of the table."""
    reader = FeatureReader(part, (), (), SILENT)
    columns: dict[str, list[np.ndarray]] = {
        name: [np.empty(0, dtype=float if reading.kind == "numbers" else object)] for name, reading in readings.items()
    }
    codes = [np.empty(0, dtype=np.int64)]
    weight = [np.empty(0)]
    for chunk, rows, of_rows in labelled(part, labels, target, [*readings, *filter(None, [weights])], SILENT):
        codes.append(of_rows)
        if weights is not None:
            weight.append(weights_in(part, weights, chunk.column(weights), rows))
        for name, reading in readings.items():
            columns[name].append(reader.convert(chunk.column(name), reading))
    X = frame_of({name: np.concatenate(pieces) for name, pieces in columns.items()})
    return X, classes[np.concatenate(codes)], np.concatenate(weight)


def _check(part: ParquetFile) -> None:
    """Check that this worker can read the files of a part."""
    need_tables()
    for path in part.files:
        if not path.exists():
            raise CommandError(
                f"a Dask worker finds no file {show(str(path))}: every worker has to see the table under the same path"
            )
