"""The folder of converted tables: each has a folder of its own, named by the content that it was made of."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smallearn._learn.data.table import Table
from smallearn._run.files import DRAFT, folder_draft_of

FORMAT = 1  # of the folders; it is part of their names, so that others are made anew
FACTS = "table.json"  # written last into a folder
FOLDER = "SMALLEARN_CACHE"  # the environment variable that names another place


@dataclass(frozen=True)
class CachedTable:
    """A converted table in the cache.

    Parameters
    ----------
    path : Path
        Its folder.
    source : str
        What it was made of.
    n_rows, n_features : int
        Its shape.
    n_bytes : int
        What it takes on the disk.

    Examples
    --------
    >>> from pathlib import Path
    >>> from smallearn.tables import CachedTable
    >>> CachedTable(path=Path("3f9a"), source="rows.parquet", n_rows=1000, n_features=4, n_bytes=36_000).source
    'rows.parquet'
    """

    path: Path
    source: str
    n_rows: int
    n_features: int
    n_bytes: int


def cache_folder(folder: str | os.PathLike | None = None) -> Path:
    """The folder given, or that of the environment, or the one for caches on this system."""
    if folder is not None:
        return Path(folder)
    if os.environ.get(FOLDER):
        return Path(os.environ[FOLDER])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "smallearn" / "tables"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/smallearn/tables"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "smallearn" / "tables"


def kept(folder: Path, key: str, make: Callable[[Path], dict[str, Any]]) -> Table:
    """The table of this key: read, or made first. ``make`` fills an empty folder and returns the facts about it."""
    place = folder / key
    if not (place / FACTS).is_file():
        with folder_draft_of(place) as draft:
            facts = make(draft)
            (draft / FACTS).write_text(json.dumps({"format": FORMAT, **facts}), encoding="utf-8")
    return read(place)


def read(place: Path) -> Table:
    """A table from its folder."""
    facts = json.loads((place / FACTS).read_text(encoding="utf-8"))
    n_rows, n = facts["n_rows"], len(facts["features"])
    kind = facts["class_type"]
    return Table(
        X=np.memmap(place / "X", dtype=facts["dtype"], mode="r", shape=(n_rows, n)),
        code=np.memmap(place / "code", dtype=np.int32, mode="r", shape=(n_rows,)),
        classes=np.array(facts["classes"], dtype=object if kind == "object" else kind),
        feature_names=np.array(facts["features"], dtype=object),
        target=facts["target"],
        weight=np.memmap(place / "weight", dtype=float, mode="r", shape=(n_rows,)) if facts["weight"] else None,
        categories={int(l): tuple(values) for l, values in facts["categories"].items()},
    )


def cached_tables(folder: str | os.PathLike | None = None) -> list[CachedTable]:
    """List the converted tables in the cache.

    Parameters
    ----------
    folder : path, default=None
        The folder of the cache. None: that of the environment variable ``SMALLEARN_CACHE``, or the system's.

    Returns
    -------
    list of CachedTable
        By name.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow
    >>> from smallearn.tables import cached_tables, open_table
    >>> batch = pyarrow.RecordBatch.from_pydict({"age": [20.0, 40.0, 60.0], "ill": ["no", "no", "yes"]})
    >>> with TemporaryDirectory() as folder:
    ...     table = open_table([batch], "ill", cache=folder)
    ...     print([(one.n_rows, one.n_features) for one in cached_tables(folder)])
    [(3, 1)]
    """
    found = []
    for facts_file in sorted(cache_folder(folder).glob(f"*/{FACTS}")):
        facts, place = json.loads(facts_file.read_text(encoding="utf-8")), facts_file.parent
        found.append(CachedTable(place, facts["source"], facts["n_rows"], len(facts["features"]), _size(place)))
    return found


def clear_cache(folder: str | os.PathLike | None = None) -> int:
    """Remove the converted tables from the cache, and what interrupted conversions left there.

    Parameters
    ----------
    folder : path, default=None
        The folder of the cache, as in `cached_tables`.

    Returns
    -------
    int
        The number of bytes that were freed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from smallearn.tables import cached_tables, clear_cache
    >>> with TemporaryDirectory() as folder:
    ...     print(clear_cache(folder), cached_tables(folder))
    0 []
    """
    place = cache_folder(folder)
    freed = 0
    for table in [*(facts.parent for facts in place.glob(f"*/{FACTS}")), *place.glob(f"{DRAFT}*")]:
        freed += _size(table)
        shutil.rmtree(table)
    return freed


def _size(folder: Path) -> int:
    """The bytes of the files in a folder, and in those inside it."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
