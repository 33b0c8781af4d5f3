"""A model as PMML 4.4: a tree with one leaf for each class, over derived fields.

The fields are the terms, the score of each prototype, the best score of each class, the position of the class that is
decided for, and the probabilities. Sums are taken in the order of the terms, so the scores are those of `SMaLLModel` to
the last bit. Evaluators differ in what a comparison with a missing value gives, so that none is made: where a value is
missing without which the model has no answer, the fields of the results are not computed.
"""

import json
import re
from collections.abc import Sequence
from functools import reduce
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from smallearn._text import show
from smallearn.export._flat import FlatModel, FlatTerm, flatten, unchecked
from smallearn.export._scripts.skeleton import NUMERIC, term_text

NAMESPACE = "http://www.dmg.org/PMML-4_4"
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
INT32 = 2**31


def to_pmml(model: Any) -> str:
    """Write a model as PMML 4.4, for evaluators such as JPMML and PMML4S.

    The inputs are the features in use, by their labels: text, or numbers as doubles. The outputs are ``label``, the
    class; ``probability(…)`` of each class; and ``score(0)``, ``score(1)``, … of each prototype. If a feature has such
    a name, underscores are added to that of the output. Where the model cannot predict because a value is missing, all
    outputs are missing. A score that is too large for a double is not refused.

    Parameters
    ----------
    model : SMaLLModel or fitted estimator
        The model.

    Returns
    -------
    str
        An XML document.

    Raises
    ------
    ValueError
        If a label, a category or a class has a sign that XML cannot hold, such as U+0000; if a feature is compared with
        text and with numbers; if two classes are the same text; or if a name is empty.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from smallearn import SMaLLClassifier
    >>> from smallearn.export import to_pmml
    >>> clf = SMaLLClassifier(1, 2, random_state=0).fit(*load_breast_cancer(return_X_y=True))
    >>> print(to_pmml(clf).splitlines()[1])
    <PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">
    """
    root = _Document(flatten(model)).root()
    indent(root)
    for element in root.iter():
        for text in element.attrib.values():
            found = NOT_XML.search(text)
            if found:
                raise ValueError(f"XML cannot hold the sign U+{ord(found[0]):04X} in {show(text)}.")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


class _Document:
    """The elements of a document."""

    def __init__(self, flat: FlatModel) -> None:
        self.flat = flat
        self.inputs = [input_.label for input_ in flat.inputs]
        self.taken = set(self.inputs)
        self.derived: list[Element] = []
        self.complete: str | None = None  # the field that is 1 where the model has an answer, 0 elsewhere
        self.terms: dict[tuple, str] = {}
        self.classes = [label if isinstance(label, str) else json.dumps(label) for label in flat.classes]
        if "" in (*self.inputs, *self.classes):
            raise ValueError("PMML needs names for features and classes: one is empty.")
        if len(set(self.classes)) < len(self.classes):
            raise ValueError("PMML has classes as text, and two classes of the model have the same text.")

    def root(self) -> Element:
        flat = self.flat
        target, label = self._free("class"), self._free("label")
        of_classes = [self._free(f"probability({text})") for text in self.classes]
        of_prototypes = [self._free(f"score({j})") for j in range(len(flat.owners))]
        needed = [input_.label for input_ in flat.inputs if not input_.may_be_missing]
        self.complete = self._derive("complete", _all_present(needed)) if needed else None
        scores = [self._derive(f"prototype {j}", self._if_complete(self._score(j))) for j in range(len(flat.owners))]
        best = self._best(scores)
        decided = self._derive("decided", self._if_complete(self._decided(best)))
        probabilities = self._probabilities(best)

        root = Element("PMML", xmlns=NAMESPACE, version="4.4")
        header = SubElement(root, "Header", description="\n".join([flat.stamp, *unchecked(flat)]))
        SubElement(header, "Application", name="smallearn", version=flat.version)
        self._add_dictionary(root, target)
        tree = SubElement(
            root,
            "TreeModel",
            functionName="classification",
            missingValueStrategy="nullPrediction",
            noTrueChildStrategy="returnNullPrediction",
            splitCharacteristic="multiSplit",
        )
        schema = SubElement(tree, "MiningSchema")
        SubElement(schema, "MiningField", name=target, usageType="target")
        for name in self.inputs:
            SubElement(schema, "MiningField", name=name, invalidValueTreatment="asIs")
        output = SubElement(tree, "Output")
        SubElement(output, "OutputField", self._class_type(), name=label, feature="predictedValue")
        numbers = {"optype": "continuous", "dataType": "double", "feature": "transformedValue"}
        for name, field in zip([*of_classes, *of_prototypes], [*probabilities, *scores], strict=True):
            SubElement(output, "OutputField", numbers, name=name).append(_field(field))
        SubElement(tree, "LocalTransformations").extend(self.derived)
        top = SubElement(tree, "Node", id="0")
        SubElement(top, "True")
        for k, text in enumerate(self.classes):
            node = SubElement(top, "Node", id=str(k + 1), score=text)
            SubElement(node, "SimplePredicate", field=decided, operator="equal", value=_number(k))
        return root

    def _add_dictionary(self, root: Element, target: str) -> None:
        fields = SubElement(root, "DataDictionary", numberOfFields=str(len(self.inputs) + 1))
        classes = SubElement(fields, "DataField", self._class_type(), name=target)
        for text in self.classes:
            SubElement(classes, "Value", value=text)
        for position, name in enumerate(self.inputs):
            kind = ("categorical", "string") if self._is_text(position) else ("continuous", "double")
            SubElement(fields, "DataField", name=name, optype=kind[0], dataType=kind[1])

    def _class_type(self) -> dict[str, str]:
        whole = all(type(label) is int and abs(label) < INT32 for label in self.flat.classes)
        return {"optype": "categorical", "dataType": "integer" if whole else "string"}

    def _free(self, name: str) -> str:
        """The name, with underscores if it is taken already."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _derive(self, name: str, expression: Element) -> str:
        """The name of a new derived field."""
        name = self._free(name)
        field = Element("DerivedField", name=name, optype="continuous", dataType="double")
        field.append(expression)
        self.derived.append(field)
        return name

    def _if_complete(self, expression: Element) -> Element:
        """The expression, or a missing value where the model has no answer."""
        if self.complete is None:
            return expression
        return _apply("if", _apply("equal", _field(self.complete), _constant(1.0)), expression)

    def _is_text(self, position: int) -> bool:
        is_number = any(term.kind in NUMERIC for term in self.flat.terms if term.input == position)
        return self.flat.inputs[position].is_text and not is_number

    # Terms and scores.

    def _score(self, prototype: int) -> Element:
        parts = [_apply("*", _constant(term.weight), self._factor(term)) for term in self.flat.of(prototype)]
        return _sum([_constant(self.flat.intercepts[prototype]), *parts])

    def _factor(self, term: FlatTerm) -> Element:
        """What the weight of a term is multiplied by: a field for each, however many prototypes have it."""
        if term.kind == "raw" and term.mean is None:
            return _field(self.inputs[term.input])
        key = (term.input, term.kind, term.value, term.mean)
        if key not in self.terms:
            self.terms[key] = self._derive(term_text(self.flat, term), self._factor_expression(term))
        return _field(self.terms[key])

    def _factor_expression(self, term: FlatTerm) -> Element:
        name = self.inputs[term.input]
        one, zero = _constant(1.0), _constant(0.0)
        is_missing = _apply("isMissing", _field(name))
        if term.kind == "missing":
            return _apply("if", is_missing, one, zero)
        if term.kind == "raw":
            assert term.mean is not None
            return _apply("if", is_missing, _constant(term.mean), _field(name))
        if term.kind == "equals" and self._is_text(term.input):
            if not isinstance(term.value, str):
                raise ValueError(f"PMML cannot compare {show(name)} with text and numbers: a field has one type.")
            return Element("NormDiscrete", field=name, value=term.value, mapMissingTo="0")
        if isinstance(term.value, str) or term.value is None:
            return zero
        comparison = {"at_most": "lessOrEqual", "above": "greaterThan", "equals": "equal"}[term.kind]
        held = _apply("if", _apply(comparison, _field(name), _constant(float(term.value))), one, zero)
        return _apply("if", is_missing, _constant(0.0), held)

    # The decision.

    def _best(self, scores: list[str]) -> list[str]:
        """The field with the best score of each class; a class without prototypes scores 0."""
        owned = [
            [z for z, owner in zip(scores, self.flat.owners, strict=True) if owner == k]
            for k in range(len(self.classes))
        ]
        return [
            self._extreme(f"best of {text}", fields, "greaterOrEqual")
            if fields
            else self._derive(f"best of {text}", _constant(0.0))
            for text, fields in zip(self.classes, owned, strict=True)
        ]

    def _extreme(self, name: str, fields: Sequence[str], comparison: str) -> str:
        """The greatest or the least of some fields."""
        found = fields[0]
        for field in fields[1:]:
            better = _apply(comparison, _field(found), _field(field))
            found = self._derive(name, _apply("if", better, _field(found), _field(field)))
        return found

    def _decided(self, best: list[str]) -> Element:
        """The position of the class."""
        decision, owners = self.flat.decision, self.flat.owners
        if self.flat.has_one_owner:
            comparison = "greaterThan" if owners[0] == 1 else "lessThan"
            is_second = _apply(comparison, _field(best[owners[0]]), _constant(decision.cut))
            return _apply("if", is_second, _constant(1.0), _constant(0.0))
        if decision.costs is not None:
            chances = self._exponentials(best)
            sums = [
                [_apply("*", _field(e), _constant(row[k])) for e, row in zip(chances, decision.costs, strict=True)]
                for k in range(len(best))
            ]
            costs = [
                self._derive(f"cost of {text}", _sum(parts)) for text, parts in zip(self.classes, sums, strict=True)
            ]
            return self._first(costs, self._extreme("least cost", costs, "lessOrEqual"))
        if decision.offsets is not None:
            best = [
                self._derive(f"shifted {field}", _apply("+", _field(field), _constant(offset)))
                for field, offset in zip(best, decision.offsets, strict=True)
            ]
        return self._first(best, self._extreme("greatest", best, "greaterOrEqual"))

    def _first(self, fields: Sequence[str], extreme: str) -> Element:
        """The position of the first field that equals the extreme of all."""
        found = _constant(float(len(fields) - 1))
        for k in reversed(range(len(fields) - 1)):
            equal = _apply("equal", _field(fields[k]), _field(extreme))
            found = _apply("if", equal, _constant(float(k)), found)
        return found

    def _exponentials(self, best: list[str]) -> list[str]:
        """For each class, its odds against the class with the greatest score."""
        top = self._extreme("top", best, "greaterOrEqual")
        behind = [_apply("*", _constant(self.flat.scale), _apply("-", _field(field), _field(top))) for field in best]
        return [
            self._derive(f"odds of {text}", _apply("exp", one)) for text, one in zip(self.classes, behind, strict=True)
        ]

    def _probabilities(self, best: list[str]) -> list[str]:
        odds = self._exponentials(best)
        total = self._derive("all odds", _sum([_field(one) for one in odds]))
        return [
            self._derive(f"share of {text}", self._if_complete(_apply("/", _field(one), _field(total))))
            for text, one in zip(self.classes, odds, strict=True)
        ]


def _apply(function: str, *arguments: Element) -> Element:
    element = Element("Apply", function=function)
    element.extend(arguments)
    return element


def _all_present(names: Sequence[str]) -> Element:
    """1 if none of the fields is missing, else 0."""
    return reduce(
        lambda found, name: _apply("if", _apply("isMissing", _field(name)), _constant(0.0), found),
        names,
        _constant(1.0),
    )


def _sum(parts: Sequence[Element]) -> Element:
    """In order: PMML's ``sum`` may take another, and leaves out what is missing."""
    return reduce(lambda total, part: _apply("+", total, part), parts)


def _field(name: str) -> Element:
    return Element("FieldRef", field=name)


def _constant(value: float) -> Element:
    element = Element("Constant", dataType="double")
    element.text = _number(value)
    return element


def _number(value: float) -> str:
    return repr(float(value))
