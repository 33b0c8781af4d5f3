"""A model as PMML 4.4: a score card where it is one, otherwise a tree."""

import re
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import indent, tostring

from smallearn._errors import Parameter, ParameterError
from smallearn._text import show
from smallearn.export._flat import flatten
from smallearn.export._pmml.document import Document
from smallearn.export._pmml.scorecard import Scorecard, is_card
from smallearn.export._pmml.tree import Tree
from smallearn.export._reason_codes import check_number, shortfalls

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_pmml(
    model: Any, *, reason_codes: int = 0, wording: Mapping[str, str] | None = None, favourable: Any = None
) -> str:
    """Write a model as PMML 4.4, for evaluators such as JPMML and PMML4S.

    A model of one prototype whose terms are literals is a ``Scorecard``, with a characteristic for each of them. Any
    other is a ``TreeModel`` over derived fields.

    The inputs are the features in use, by their labels: text, or numbers as doubles. The outputs are ``label``, the
    class; ``probability(…)`` of each class; and ``score(0)``, ``score(1)``, … of each prototype. If a feature has such
    a name, underscores are added to that of the output. Where the model cannot predict because a value is missing, all
    outputs are missing. A score that is too large for a double is not refused.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.
    reason_codes : int, default=0
        How many more outputs a score card has, ``reason_1``, ``reason_2`` and so on: the terms that held the favourable
        class back most, as `smallearn.explain.reason_codes` defines them. The order of terms that fall short equally is
        the evaluator's; where fewer terms fall short, PMML4S repeats the last one.
    wording : mapping from str to str, default=None
        Words for the terms in reason codes, by the term as it is printed or by its feature, no two the same.
    favourable : class label, default=None
        The class that reason codes speak of. None for the second of two.

    Returns
    -------
    str
        An XML document.

    Raises
    ------
    ValueError
        If a label, a category or a class has a sign that XML cannot hold, such as U+0000; if a feature is compared with
        text and with numbers; if two classes are the same text; if a name is empty; or if reason codes are asked for
        and the model is no such card.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import to_pmml
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> print(to_pmml(clf).splitlines()[1])
    <PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">
    """
    check_number("reason_codes", reason_codes, least=0)
    flat = flatten(model)
    document: Document
    if is_card(flat):
        document = Scorecard(flat, shortfalls(flat, wording, favourable) if reason_codes else None, reason_codes)
    elif reason_codes:
        raise ParameterError(
            Parameter("reason_codes", reason_codes),
            " needs a score card in PMML: one prototype, whose terms are all literals, and an answer for every row.",
        )
    else:
        document = Tree(flat)
    root = document.root()
    indent(root)
    for element in root.iter():
        for text in (*element.attrib.values(), element.text or ""):
            found = NOT_XML.search(text)
            if found:
                raise ValueError(f"XML cannot hold the sign U+{ord(found[0]):04X} in {show(text)}.")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'
