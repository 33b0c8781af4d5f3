"""Changes that a person makes to a model, step by step, and the record of them that its file keeps."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smallearn._text import listed, show
from smallearn.model._parts import Category, Prototype, Term
from smallearn.model._term import DIGITS, term_text

if TYPE_CHECKING:
    from smallearn.model._model import SMaLLModel

ACTIONS = ("cut", "weight", "constant", "threshold", "add", "drop", "forbid", "refit", "found")
MOST_LISTED = 30  # terms in a message


@dataclass(frozen=True)
class Edit:
    """One change that was made to a model after it was trained.

    Parameters
    ----------
    action : str
        "cut", "weight", "constant", "threshold", "add", "drop" or "forbid" by a person; "refit" if the other weights
        were refitted after that, and "found" for a term that the refit added.
    what : str
        The term as it is printed, for "cut" with its new value; the feature that is forbidden; or the weights that were
        refitted.
    before : float or None, default=None
        The cut, weight, constant or threshold before; None if there was none.
    after : float or None, default=None
        That after the change; for "refit" the number of rows.
    score : int or None, default=None
        The number of the score that was changed, from 1; None if the model has one, or it is no single one.

    Examples
    --------
    >>> from smallearn.model import Edit
    >>> Edit("cut", "[age > 45]", before=40.0, after=45.0).text
    'cut 40 → 45 in [age > 45]'
    """

    action: str
    what: str
    before: float | None = None
    after: float | None = None
    score: int | None = None

    @property
    def text(self) -> str:
        """The change in words.

        Returns
        -------
        str
            On one line.
        """
        where = "" if self.score is None else f" (score {self.score})"
        digits = DIGITS if self.action == "cut" else 4
        before, after = ("none" if number is None else f"{number:.{digits}g}" for number in (self.before, self.after))
        change = f"kept at {after}" if before == after else f"{before} → {after}"
        return {
            "cut": f"cut {change} in {self.what}",
            "weight": f"weight of {self.what}{where} {change}",
            "constant": f"constant{where} {change}",
            "threshold": f"decision threshold {change}",
            "add": f"added {self.what}{where} with weight {after}",
            "drop": f"dropped {self.what}{where} with weight {before}",
            "forbid": f"feature {show(self.what)} forbidden",
            "refit": f"{self.what} refitted on {self.after or 0:,.0f} rows",
            "found": f"added by the refit: {self.what}{where} with weight {after}",
        }[self.action]


@dataclass(frozen=True)
class Editor:
    """A model that is changed step by step; every step returns a new editor.

    `SMaLLModel.edit` makes one. ``model`` is the changed model at any time: it remembers each change in ``edits`` and
    has neither a certificate, nor a cross-validated score, nor models of other sizes, as these are about the model
    before it was changed.

    Terms are named as they are printed, such as ``"[age > 40]"``; ``<=`` may stand for ``≤``. Where a model has several
    scores, they are counted from 1.

    Parameters
    ----------
    model : SMaLLModel
        The model as it is so far.
    known : tuple of (int, str or None), default=()
        The position and the name of each feature that a term may be added for.

    Examples
    --------
    >>> from smallearn.model import Prototype, SMaLLModel, Term
    >>> terms = (Term(0, 2.0, "age", "above", 40.0), Term(1, 1.0, "ward", "equals", "A"))
    >>> model = SMaLLModel(("no", "yes"), "<U3", n_features=2, prototypes=(Prototype(1, -1.0, terms),))
    >>> edited = model.edit().change_cut("age", 40, 45).set_weight("[age > 45]", 3).drop("[ward = 'A']").model
    >>> print(edited)
    SMaLL model: 1 term in 1 prototype, 1 of 2 features used
    Predict 'yes' if this score is above 0, otherwise 'no'.
    Changed by hand:
      cut 40 → 45 in [age > 45]
      weight of [age > 45] 2 → 3
      dropped [ward = 'A'] with weight 1
    <BLANKLINE>
      Score for class 'yes'
        +3 × [age > 45]
        -1 (constant)
    <BLANKLINE>
      points: probability of 'yes'
        -1: 26.9%
        +2: 88.1%
    """

    model: "SMaLLModel"
    known: tuple[tuple[int, str | None], ...] = ()

    # --- the steps ---------------------------------------------------------------------------------------------------

    def change_cut(self, feature: str, old: float, new: float) -> "Editor":
        """Change a cut of a numeric feature, in every score that has it.

        Parameters
        ----------
        feature : str
            The name of the feature (``x0``, ``x1``, … if the data had no names).
        old : float
            The cut as the model prints it.
        new : float
            The new cut.

        Returns
        -------
        Editor
            With the changed model.
        """
        new = _finite(new, "A cut")
        old = _finite(old, "A cut")
        cuts = [term for term in self._of_feature(feature) if term.kind in ("at_most", "above")]
        values = sorted({float(term.value) for term in cuts})  # type: ignore[arg-type]  # a cut is a number
        exact = [value for value in values if value == old]
        matching = exact or [value for value in values if f"{value:.{DIGITS}g}" == f"{old:.{DIGITS}g}"]
        if len(matching) != 1:
            has = f"it is cut at {', '.join(map(repr, values))}" if values else "the model does not cut it"
            problem = f"{len(matching)} cuts read so" if matching else "there is no such cut"
            raise ValueError(f"Cut {old:.{DIGITS}g} of {show(feature)}: {problem}; {has}.")
        if new == matching[0]:
            raise ValueError(f"Cut {old:.{DIGITS}g} of {show(feature)} is to be changed to what it is.")

        def changed(term: Term) -> Term:
            is_meant = term.kind in ("at_most", "above") and term.label == feature and term.value == matching[0]
            return replace(term, value=new) if is_meant else term

        prototypes = tuple(
            replace(prototype, terms=tuple(map(changed, prototype.terms))) for prototype in self.model.prototypes
        )
        for prototype in prototypes:
            keys = [(term.feature, term.kind, term.value) for term in prototype.terms]
            if len(set(keys)) < len(keys):
                raise ValueError(f"The model has a cut of {show(feature)} at {new:.6g} already: drop one of the terms.")
        texts = dict.fromkeys(changed(term).text for term in cuts if term.value == matching[0])
        return self._with(*(Edit("cut", text, matching[0], new) for text in texts), prototypes=prototypes)

    def set_weight(self, term: str, weight: float, *, score: int | None = None) -> "Editor":
        """Set the weight of a term; a refit keeps it.

        Parameters
        ----------
        term : str
            The term as it is printed.
        weight : float
            The new weight, or the points of a score card, as they are printed.
        score : int, default=None
            The number of the score, from 1; None if a single score has the term.

        Returns
        -------
        Editor
            With the changed model.
        """
        weight = _finite(weight, "A weight")
        if weight == 0.0:
            raise ValueError(f"A weight of 0 is no term: drop {term} instead.")
        found = self.find(term, score)
        if len(found) > 1:
            scores = " or ".join(f"score={j + 1}" for j in found)
            raise ValueError(f"{len(found)} scores have the term {found[min(found)].text}: say {scores}.")
        ((j, old),) = found.items()
        per_unit = (old.unit or 1.0) if self.model.is_score_card else 1.0
        new = replace(old, weight=weight / per_unit)
        terms = tuple(new if one is old else one for one in self.model.prototypes[j].terms)
        return self._with(
            Edit("weight", old.text, old.weight * per_unit, weight, self._number(j)),
            prototypes=self._terms_of(j, terms),
        )

    def set_constant(self, value: float, *, score: int | None = None) -> "Editor":
        """Set the constant of a score; a refit keeps it.

        Parameters
        ----------
        value : float
            The new constant.
        score : int, default=None
            The number of the score, from 1; None if the model has one.

        Returns
        -------
        Editor
            With the changed model.
        """
        value = _finite(value, "A constant")
        j = self._score(score, "The constant")
        changed = replace(self.model.prototypes[j], intercept=value)
        prototypes = (*self.model.prototypes[:j], changed, *self.model.prototypes[j + 1 :])
        before = self.model.prototypes[j].intercept
        return self._with(Edit("constant", "constant", before, value, self._number(j)), prototypes=prototypes)

    def set_threshold(self, probability: float) -> "Editor":
        """Set the decision threshold of a model for two classes.

        Parameters
        ----------
        probability : float
            The second class is predicted where its probability exceeds this.

        Returns
        -------
        Editor
            With the changed model.
        """
        probability = _finite(probability, "A decision threshold")
        if len(self.model.classes) > 2:
            raise ValueError(
                f"A decision threshold is for two classes; this model has {len(self.model.classes)}: "
                f"{listed(self.model.classes)}."
            )
        if not 0.0 < probability < 1.0:
            raise ValueError(f"A decision threshold is a probability above 0 and below 1, not {probability!r}.")
        change = Edit("threshold", "decision threshold", self.model.decision_threshold, probability)
        return self._with(change, decision_threshold=probability)

    def add(
        self,
        feature: str,
        *,
        weight: float,
        above: float | None = None,
        at_most: float | None = None,
        equals: Category | None = None,
        missing: bool = False,
        score: int | None = None,
    ) -> "Editor":
        """Add a term; a refit keeps its weight.

        Parameters
        ----------
        feature : str
            The name of the feature.
        weight : float
            The weight of the term.
        above : float, default=None
            Add ``[feature > above]``.
        at_most : float, default=None
            Add ``[feature ≤ at_most]``.
        equals : str, int, float or bool, default=None
            Add ``[feature = equals]``.
        missing : bool, default=False
            Add ``[feature is missing]``. Without any of these four, the feature itself is added, times the weight.
        score : int, default=None
            The number of the score, from 1; None if the model has one.

        Returns
        -------
        Editor
            With the changed model.
        """
        weight = _finite(weight, "A weight")
        if weight == 0.0:
            raise ValueError("A term of weight 0 changes nothing: give another weight.")
        conditions: dict[str, Any] = {"above": above, "at_most": at_most, "equals": equals}
        given: dict[str, Any] = {kind: value for kind, value in conditions.items() if value is not None}
        given |= {"missing": None} if missing else {}
        if len(given) > 1:
            raise ValueError(f"A term has one condition; {' and '.join(given)} are two of them.")
        kind, value = next(iter(given.items()), ("raw", None))
        if kind in ("above", "at_most"):
            value = _finite(value, "A cut")
        elif kind == "equals" and not isinstance(value, str | bool):
            value = _finite(value, "A category")
        j = self._score(score, "The term")
        position, name = self._feature(feature)
        unit = 1.0 if kind == "raw" and self.model.is_score_card else None
        term = Term(position, weight, name, kind, value, unit=unit)
        own = self.model.prototypes[j].terms
        if any((one.feature, one.kind, one.value) == (position, kind, value) for one in own):
            raise ValueError(f"Score {j + 1} has the term {term.text} already: set its weight.")
        return self._with(
            Edit("add", term.text, None, weight, self._number(j)), prototypes=self._terms_of(j, (*own, term))
        )

    def drop(self, term: str, *, score: int | None = None) -> "Editor":
        """Drop a term.

        Parameters
        ----------
        term : str
            The term as it is printed.
        score : int, default=None
            The number of the score, from 1; None for every score that has the term.

        Returns
        -------
        Editor
            With the changed model.
        """
        return self._without(self.find(term, score))

    def forbid(self, feature: str) -> "Editor":
        """Drop all terms of a feature; a refit does not add others of it.

        Parameters
        ----------
        feature : str
            The name of the feature.

        Returns
        -------
        Editor
            With the changed model.
        """
        self._feature(feature)
        changed = self
        for term in dict.fromkeys(term.text for term in self.model.terms if term.label == feature):
            changed = changed.drop(term)
        return changed._with(Edit("forbid", feature))

    # --- finding -----------------------------------------------------------------------------------------------------

    def find(self, text: str, score: int | None = None) -> dict[int, Term]:
        """Find a term by its text.

        Parameters
        ----------
        text : str
            The term as it is printed.
        score : int, default=None
            The number of the score, from 1; None for all.

        Returns
        -------
        dict from int to Term
            The term of each score that has it, by the position of the score, from 0.
        """
        wanted = _compared(str(text))
        among = range(len(self.model.prototypes)) if score is None else (self._score(score, "The term"),)
        every = [(j, term) for j in among for term in self.model.prototypes[j].terms]
        exact = [(j, term) for j, term in every if _compared(_in_full(term)) == wanted]
        found = exact or [(j, term) for j, term in every if _compared(term.text) == wanted]
        if not found:
            texts = list(dict.fromkeys(term.text for _, term in every))
            more = f" and {len(texts) - MOST_LISTED} more" if len(texts) > MOST_LISTED else ""
            where = "The model" if score is None else f"Score {score}"
            has = f"{where} has {', '.join(texts[:MOST_LISTED])}{more}." if texts else f"{where} has no terms."
            raise ValueError(f"There is no term {show(str(text), quote=False)}. {has}")
        if len({(term.feature, term.kind, term.value) for _, term in found}) > 1:
            texts = list(dict.fromkeys(_in_full(term) for _, term in found))
            raise ValueError(f"Several terms read {text}: name one in full, {' or '.join(texts)}.")
        return dict(found)

    def _of_feature(self, feature: str) -> list[Term]:
        found = [term for term in self.model.terms if term.label == feature]
        if not found:
            used = listed([term.label for term in self.model.features])
            raise ValueError(f"The model does not use {show(feature)}; it uses {used or 'no feature'}.")
        return found

    def _feature(self, feature: str) -> tuple[int, str | None]:
        """The position and the name of a feature that a term may be added for."""
        forbidden = {edit.what for edit in self.model.edits if edit.action == "forbid"}
        if feature in forbidden:
            raise ValueError(f"Feature {show(feature)} was forbidden before.")
        labels = {f"x{position}" if name is None else name: (position, name) for position, name in self.known}
        if feature not in labels:
            advice = "" if len(labels) == self.model.n_features else " For others, edit(feature_names=…) says where."
            shown = listed(list(labels)[:MOST_LISTED])
            raise ValueError(f"There is no feature {show(feature)} among those known: {shown}.{advice}")
        return labels[feature]

    def _score(self, score: int | None, what: str) -> int:
        """The position of a score, from its number."""
        n_scores = len(self.model.prototypes)
        if score is None and n_scores == 1:
            return 0
        names = ", ".join(f"{at + 1} for class {show(self.model.classes[k])}" for at, k in enumerate(self.model.owners))
        if score is None:
            raise ValueError(f"{what} of which score? Say score=1 to {n_scores}: {names}.")
        if isinstance(score, bool) or not isinstance(score, int) or not 1 <= score <= n_scores:
            raise ValueError(f"There is no score {score!r}; the model has {names}.")
        return score - 1

    def _number(self, j: int) -> int | None:
        """The number of a score in a record; None if the model has one."""
        return j + 1 if len(self.model.prototypes) > 1 else None

    # --- changing ----------------------------------------------------------------------------------------------------

    def _without(self, found: dict[int, Term]) -> "Editor":
        prototypes = tuple(
            replace(prototype, terms=tuple(term for term in prototype.terms if term is not found.get(j)))
            for j, prototype in enumerate(self.model.prototypes)
        )
        edits = [Edit("drop", term.text, term.weight, None, self._number(j)) for j, term in found.items()]
        return self._with(*edits, prototypes=prototypes)

    def _terms_of(self, j: int, terms: tuple[Term, ...]) -> tuple[Prototype, ...]:
        changed = replace(self.model.prototypes[j], terms=terms)
        return (*self.model.prototypes[:j], changed, *self.model.prototypes[j + 1 :])

    def _with(self, *edits: Edit, **fields: Any) -> "Editor":
        return replace(self, model=changed_by(self.model, edits, **fields))


def changed_by(model: "SMaLLModel", edits: tuple[Edit, ...], **fields: Any) -> "SMaLLModel":
    """The model with other fields and a record of how that came; what no longer holds is left out."""
    prototypes = fields.get("prototypes", model.prototypes)
    used = {term.feature for prototype in prototypes for term in prototype.terms}
    training, data, deployment = model.training, model.data, model.deployment
    if training is not None:
        training = replace(training, lower_bound=None, certified=False)
    if used != {term.feature for term in model.terms}:
        deployment = None  # its counts are those of other features
        if data is not None:  # the fingerprint is of the features in use
            data = replace(data, fingerprint="")
    changed: dict[str, Any] = {
        "edits": (*model.edits, *edits),
        "training": training,
        "selection": None,
        "data": data,
        "deployment": deployment,
        "frontier_models": (),
        "alternatives": (),
        "reference": None,  # its histograms are of the score before
        "ranges": tuple(extent for extent in model.ranges if extent.feature in used),
        "accepted": tuple(one for one in model.accepted if one.feature in used),
    }
    return replace(model, **(changed | fields))


def known_features(model: "SMaLLModel", names: Any = None) -> tuple[tuple[int, str | None], ...]:
    """The position and the name of each feature that is known: all ``names``, or those that some term has."""
    if names is not None:
        names = [str(name) for name in names]
        if len(names) != model.n_features or len(set(names)) < len(names):
            raise ValueError(
                f"feature_names has {len(names)} names, {len(set(names))} of them different; the model was trained on "
                f"{model.n_features} features."
            )
        wrong = [term.name for term in model.features if term.name is not None and names[term.feature] != term.name]
        if wrong:
            raise ValueError(f"feature_names has {listed(wrong[:5])} at another position than the model.")
        named = not model.terms or model.terms[0].name is not None
        return tuple((position, name if named else None) for position, name in enumerate(names))
    if all(term.name is None for term in model.terms) and model.terms:
        return tuple((position, None) for position in range(model.n_features))
    every = (model, *model.frontier_models, *model.alternatives)
    found = {term.feature: term.name for one in every for term in one.terms}
    return tuple(sorted(found.items()))


def _finite(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool | str) or not math.isfinite(number):
        raise ValueError(f"{what} is a finite number, not {show(value)}.")
    return number


def _in_full(term: Term) -> str:
    return term_text(term, longest=10_000, all_digits=True)


def _compared(text: str) -> str:
    """A text as terms are compared: without brackets, with ≤ for <=."""
    text = " ".join(text.split())
    text = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return text.replace("<=", "≤")
