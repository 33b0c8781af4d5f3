"""A term of a model, and its text.

A term is ``weight · b``, where ``b`` is the feature itself (kind ``raw``) or a literal, which is 1 where it is true and
0 elsewhere. For a missing value every literal but ``missing`` is false, so that ``at_most`` and ``above`` of one
threshold are both false there; a raw term uses the training mean in its place.
"""

from dataclasses import dataclass

from smallearn._text import exact, of_unit, show, show_category

KINDS = ("raw", "at_most", "above", "equals", "missing")
Category = str | int | float | bool
DIGITS = 10  # of a threshold, where not all of them are asked for; those that are learned have fewer
LONGEST_NAME = 60  # characters of a name or category, beyond which it is cut


@dataclass(frozen=True)
class Term:
    """A weight times a feature or times a literal.

    What the weight is multiplied by depends on the kind:

    ========  ===========  ==========================================
    kind      factor       fields
    ========  ===========  ==========================================
    raw       x            ``mean`` and ``unit``, if any
    at_most   [x ≤ value]  ``value`` is a number
    above     [x > value]  ``value`` is a number
    equals    [x = value]  ``value`` is text, a number or a boolean
    missing   [x missing]  none
    ========  ===========  ==========================================

    Parameters
    ----------
    feature : int
        The position of the feature in the training data.
    weight : float
        What the score gains per unit of the feature, or if the literal is true.
    name : str or None, default=None
        The name of the feature; None if the data had no names.
    kind : {"raw", "at_most", "above", "equals", "missing"}, default="raw"
        What the weight is multiplied by.
    value : str, int, float, bool or None, default=None
        The threshold or the category of a literal.
    mean : float or None, default=None
        What a raw term uses for a missing value; None if a missing value is an error.
    unit : float or None, default=None
        In a score card, ``weight * unit`` is a whole number of points for each ``unit`` of the feature.

    Examples
    --------
    >>> from smallearn.model import Term
    >>> Term(feature=0, weight=2.0, name="age", kind="above", value=40.0).text
    '[age > 40]'
    """

    feature: int
    weight: float
    name: str | None = None
    kind: str = "raw"
    value: Category | None = None
    mean: float | None = None
    unit: float | None = None

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"A term's kind is one of {', '.join(KINDS)}, not {show(self.kind)}.")

    @property
    def label(self) -> str:
        """The name of the feature, or ``x0``, ``x1``, … by its position.

        Returns
        -------
        str
            As it is in the data: it may be long or contain control characters.
        """
        return f"x{self.feature}" if self.name is None else self.name

    @property
    def text(self) -> str:
        """What the weight is multiplied by: ``radius`` or ``[radius ≤ 13.2]``.

        Returns
        -------
        str
            On one line, control characters escaped, long names cut, numbers in ten digits.
        """
        return term_text(self)

    @property
    def points(self) -> float:
        """The weight for each ``unit`` of the feature.

        Returns
        -------
        float
            A whole number in a score card, but for rounding.
        """
        return self.weight * (self.unit or 1.0)


def term_text(term: Term, *, longest: int = LONGEST_NAME, all_digits: bool = False) -> str:
    """``radius`` or ``[radius ≤ 13.2]``, with names and categories of at most ``longest`` characters."""
    text = plain_text(term, longest=longest, all_digits=all_digits)
    return text if term.kind == "raw" else f"[{text}]"


def plain_text(term: Term, *, longest: int = LONGEST_NAME, all_digits: bool = False, at_most: str = "≤") -> str:
    """`term_text` without brackets, and with ``at_most`` for the sign ≤."""
    label = show(term.label, quote=False, most=longest)
    if term.kind == "raw":
        return label
    if term.kind == "missing":
        return f"{label} is missing"
    if term.kind == "equals":
        return f"{label} = {show_category(term.value, most=longest)}"
    threshold = exact(term.value) if all_digits else f"{term.value:.{DIGITS}g}"
    return f"{label} {at_most if term.kind == 'at_most' else '>'} {threshold}"


def condition_text(term: Term, unit: str | None = None) -> str:
    """A literal as a clause: ``age is at most 40 years``, ``colour is 'red'``, ``age is missing``."""
    label = show(term.label, quote=False)
    if term.kind == "missing":
        return f"{label} is missing"
    if term.kind == "equals":
        return f"{label} is {show_category(term.value)}"
    return f"{label} is {'at most' if term.kind == 'at_most' else 'above'} {exact(term.value)}{of_unit(unit)}"
