"""The decision about one row, in plain Python: no array is made but for expected costs."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from smallearn._text import listed, show
from smallearn.model._columns import TEXT, check_accepted_in_row, factor_of_one
from smallearn.model._decision import decide, score

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel


def decide_one(model: "SMaLLModel", row: Any) -> int:
    """The position of the predicted class; ``row`` is a mapping by name or a sequence of all features."""
    by_name = hasattr(row, "keys")
    decision, scores = model.decision, []
    owner = model.sole_owner
    best, winner = (-math.inf, -1) if owner is None else (decision.cut, 1 - owner)
    try:
        if isinstance(row, TEXT):
            raise TypeError(f"{row!r} is text")
        if not by_name and len(row) != model.n_features:
            raise ValueError(f"The row has {len(row)} values; the model was trained on {model.n_features} features.")
        check_accepted_in_row(model, lambda term: row[term.label if by_name else term.feature])
        for prototype in model.prototypes:
            z = score(prototype, lambda term: factor_of_one(term, row[term.label if by_name else term.feature]))
            if not -math.inf < z < math.inf:
                values = {term.label: row[term.label if by_name else term.feature] for term in model.features}
                raise ValueError(f"The row has a value that is too large or not a finite number: {values}.")
            scores.append(z)
            if decision.offsets is not None:
                z += decision.offsets[prototype.owner]
            if z > best or (z == best and prototype.owner < winner):
                best, winner = z, prototype.owner
    except KeyError as error:
        raise ValueError(f"The row lacks {show(error.args[0])}; the model uses {_used(model)}.") from None
    except (IndexError, TypeError, OverflowError) as error:
        kind = "value" if any(term.kind in ("equals", "missing") for term in model.terms) else "number"
        raise ValueError(
            f"The row must be a mapping or a sequence with a {kind} for each of {_used(model)}: {error}."
        ) from None
    if decision.costs is not None:
        return int(decide(np.array([scores]), model.owners, len(model.classes), decision)[0])
    return winner


def _used(model: "SMaLLModel") -> str:
    """The features in use, for a message."""
    return listed([term.label for term in model.features])
