"""What a page is about: the models, the rows that were read for them, and their classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from smallearn._text import count, show
from smallearn.evaluation import Evaluation
from smallearn.model import Rows, SMaLLModel, Term
from smallearn.model._arguments import codes
from smallearn.report._backdrop import backdrop_of, extent_of
from smallearn.report._bins import cuts_of, is_number
from smallearn.report._svg import RIGHT

RARE = 0.3  # of the rows: a class that the page speaks of, whatever high scores mean
LABELS = 56  # units to the right of a picture with the names of classes


@dataclass(frozen=True)
class Subject:
    """The models and what was given with them.

    ``models`` begins with the chosen one. ``rows`` and ``y`` are None if not given, ``judged`` None without either.
    ``row_numbers`` are those of the rows in the file ``source``; None for 1, 2, …. ``sampled_from`` is the number of
    rows if ``rows`` are a sample of them. ``units`` are by the features' names in ``models``.
    """

    models: tuple[SMaLLModel, ...]
    rows: Rows | None = None
    y: Any = None
    judged: Evaluation | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None
    row_numbers: Sequence[int] | None = None
    sampled_from: int | None = None

    @property
    def model(self) -> SMaLLModel:
        """The chosen model."""
        return self.models[0]

    @property
    def rows_text(self) -> str:
        """``171 rows of test.csv``."""
        read = 0 if self.rows is None else self.rows.n_rows
        n_rows = count(read if self.sampled_from is None else self.sampled_from, "row")
        return n_rows if self.source is None else f"{n_rows} of {show(self.source, quote=False)}"

    def number_of(self, row: int) -> int:
        """The number of a row in its file, by its position."""
        return row + 1 if self.row_numbers is None else int(self.row_numbers[row])

    @cached_property
    def code(self) -> np.ndarray | None:
        """The position of the class of each row."""
        return None if self.y is None or self.rows is None else codes(self.model, self.y, self.rows.n_rows)

    @cached_property
    def class_names(self) -> list[str]:
        """The classes as the page writes them."""
        return [show(label, quote=False, most=40).strip() or "(empty)" for label in self.model.classes]

    @cached_property
    def positive(self) -> int:
        """The class that the page speaks of: the rarer of two if it is rare, else the one that high scores mean."""
        owner = self.model.sole_owner
        sizes = np.bincount(self.code, minlength=len(self.model.classes)) if self.code is not None else None
        if sizes is None and self.model.data is not None:
            sizes = np.array(self.model.data.class_counts)
        if sizes is None or len(sizes) != 2 or sizes[0] == sizes[1] or not sizes.all():
            return 1 if owner is None else owner
        rarer = int(np.argmin(sizes))
        return rarer if owner is None or sizes[rarer] < RARE * sizes.sum() else owner

    # --- features ----------------------------------------------------------------------------------------------------

    def unit_of(self, term: Term) -> str | None:
        """The unit of a term's feature."""
        return self.units.get(term.label)

    @cached_property
    def features(self) -> list[Term]:
        """A term for each feature that any of the models reads, in the order of the features."""
        return features_of_all(self.models)

    def terms_of(self, feature: int) -> list[Term]:
        """The terms of a feature in all models."""
        return [term for model in self.models for term in model.terms if term.feature == feature]

    @cached_property
    def margin(self) -> int:
        """The right margin of the pictures of features: they share what is drawn behind the curves."""
        return LABELS if any(len(model.prototypes) > 1 for model in self.models) else RIGHT

    @cached_property
    def _extents(self) -> dict[int, tuple[float, float]]:
        found = {}
        for term in self.features:
            every = self.terms_of(term.feature)
            if not is_number(every):
                continue
            cuts = cuts_of(every)
            if self.rows is not None:
                numbers = self.rows.columns[term.feature].numbers
            else:
                ends = [(one.low, one.high) for one in self.model.ranges if one.feature == term.feature]
                numbers = np.array(
                    ends[0] if ends else [*cuts, *((min(cuts) - 1, max(cuts) + 1) if cuts else (0.0, 1.0))]
                )
            found[term.feature] = extent_of(numbers, cuts)
        return found

    def extent_of(self, term: Term) -> tuple[float, float]:
        """The range of the pictures of a number."""
        return self._extents[term.feature]

    def backdrop(self, term: Term) -> str:
        """What lies behind the curves of a feature: a reference to what `backdrops` draws."""
        return "" if self.rows is None else f'<use href="#rows-{term.feature}"/>'

    def backdrops(self) -> list[tuple[int, str]]:
        """The feature, and what is drawn behind its curves."""
        if self.rows is None:
            return []
        two = self.code is not None and len(self.model.classes) == 2
        is_positive = np.asarray(self.code == self.positive) if two else None
        return [
            (feature, backdrop_of(self.rows.columns[feature], extent, is_positive, self.margin))
            for feature, extent in self._extents.items()
        ]


def features_of_all(models: Sequence[SMaLLModel]) -> list[Term]:
    """A term for each feature that any of the models reads, in the order of the features."""
    used = {term.feature: term for model in reversed(models) for term in model.features}
    return [used[feature] for feature in sorted(used)]
