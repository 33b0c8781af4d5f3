"""How many rows of each class are predicted as the second of two, at every threshold of the page's slider."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from smallearn.model import Rows, SMaLLModel
from smallearn.model._decision import class_scores, decision_of

STEPS = tuple(n / 1000 for n in range(1, 1000))


@dataclass(frozen=True)
class Counts:
    """For each threshold, and for the model's own, the rows of both classes that are predicted as the second.

    ``hits`` are of the second class, ``false`` of the first; ``sizes`` the rows of the first and of the second.
    """

    hits: tuple[int, ...]
    false: tuple[int, ...]
    own: tuple[int, int]
    sizes: tuple[int, int]

    def for_script(self) -> dict[str, Any]:
        """Coded by differences, which are mostly 0 and then left out."""
        return {"hits": _deltas(self.hits), "false": _deltas(self.false), "own": self.own}


def counts_of(model: SMaLLModel, rows: Rows, code: np.ndarray) -> Counts:
    """Count, with the arithmetic of `SMaLLModel.decide`."""
    z = model.scores(rows)
    best = class_scores(z, model.owners, 2)
    owner = model.sole_owner
    thresholds = (*STEPS, model.decision_threshold)
    found = []
    for label in (1, 0):
        mine = best[code == label]
        if owner is None:
            found.append([_by_offsets(mine, threshold, model.scale) for threshold in thresholds])
            continue
        ordered = np.sort(mine[:, owner])
        cuts = [decision_of(threshold, None, owner, model.scale).cut for threshold in thresholds]
        if owner == 1:
            found.append((len(ordered) - np.searchsorted(ordered, cuts, side="right")).tolist())
        else:
            found.append(np.searchsorted(ordered, cuts, side="left").tolist())
    hits, false = found
    return Counts(
        hits=tuple(hits[:-1]),
        false=tuple(false[:-1]),
        own=(hits[-1], false[-1]),
        sizes=(int(np.sum(code == 0)), int(np.sum(code == 1))),
    )


def _by_offsets(best: np.ndarray, threshold: float, scale: float) -> int:
    """The rows whose second class wins, where both classes have prototypes."""
    offsets = decision_of(threshold, None, None, scale).offsets or (0.0, 0.0)
    return int(np.sum(best[:, 1] + offsets[1] > best[:, 0] + offsets[0]))


def _deltas(values: tuple[int, ...]) -> str:
    steps = [values[0], *(after - before for before, after in itertools.pairwise(values))]
    return ",".join(str(step) if step else "" for step in steps)
