"""Any model as a tree with one leaf for each class, over derived fields.

The fields are the terms, the score of each prototype, the best score of each class, the position of the class that is
decided for, and the probabilities. Sums are taken in the order of the terms, so the scores are those of `SMaLLModel` to
the last bit. Evaluators differ in what a comparison with a missing value gives, so that none is made: where a value is
missing without which the model has no answer, the fields of the results are not computed.
"""

from collections.abc import Sequence
from functools import reduce
from xml.etree.ElementTree import Element, SubElement

from smallearn.export._flat import FlatModel, FlatTerm
from smallearn.export._pmml.document import COMPARISONS, Document, apply, constant, number_text, reference, sum_of
from smallearn.export._scripts._skeleton import term_text


class Tree(Document):
    """The document of any model."""

    def __init__(self, flat: FlatModel) -> None:
        super().__init__(flat)
        self.derived: list[Element] = []
        self.complete: str | None = None  # the field that is 1 where the model has an answer, 0 elsewhere
        self.terms: dict[tuple, str] = {}

    def root(self) -> Element:
        """The whole document."""
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

        root = self._root(target)
        tree = SubElement(
            root,
            "TreeModel",
            functionName="classification",
            missingValueStrategy="nullPrediction",
            noTrueChildStrategy="returnNullPrediction",
            splitCharacteristic="multiSplit",
        )
        self._add_schema(tree, target)
        output = SubElement(tree, "Output")
        SubElement(output, "OutputField", self._class_type(), name=label, feature="predictedValue")
        numbers = {"optype": "continuous", "dataType": "double", "feature": "transformedValue"}
        for name, field in zip([*of_classes, *of_prototypes], [*probabilities, *scores], strict=True):
            SubElement(output, "OutputField", numbers, name=name).append(reference(field))
        SubElement(tree, "LocalTransformations").extend(self.derived)
        top = SubElement(tree, "Node", id="0")
        SubElement(top, "True")
        for k, text in enumerate(self.classes):
            node = SubElement(top, "Node", id=str(k + 1), score=text)
            SubElement(node, "SimplePredicate", field=decided, operator="equal", value=number_text(k))
        return root

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
        return apply("if", apply("equal", reference(self.complete), constant(1.0)), expression)

    # Terms and scores.

    def _score(self, prototype: int) -> Element:
        parts = [apply("*", constant(term.weight), self._factor(term)) for term in self.flat.of(prototype)]
        return sum_of([constant(self.flat.intercepts[prototype]), *parts])

    def _factor(self, term: FlatTerm) -> Element:
        """What the weight of a term is multiplied by: a field for each, however many prototypes have it."""
        if term.kind == "raw" and term.mean is None:
            return reference(self.inputs[term.input])
        key = (term.input, term.kind, term.value, term.mean)
        if key not in self.terms:
            self.terms[key] = self._derive(term_text(self.flat, term), self._factor_expression(term))
        return reference(self.terms[key])

    def _factor_expression(self, term: FlatTerm) -> Element:
        name = self.inputs[term.input]
        one, zero = constant(1.0), constant(0.0)
        is_missing = apply("isMissing", reference(name))
        if term.kind == "missing":
            return apply("if", is_missing, one, zero)
        if term.kind == "raw":
            assert term.mean is not None
            return apply("if", is_missing, constant(term.mean), reference(name))
        value = self._compared(term)
        if value is None:
            return zero
        if isinstance(value, str):
            return Element("NormDiscrete", field=name, value=value, mapMissingTo="0")
        held = apply("if", apply(COMPARISONS[term.kind], reference(name), constant(value)), one, zero)
        return apply("if", is_missing, constant(0.0), held)

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
            else self._derive(f"best of {text}", constant(0.0))
            for text, fields in zip(self.classes, owned, strict=True)
        ]

    def _extreme(self, name: str, fields: Sequence[str], comparison: str) -> str:
        """The greatest or the least of some fields."""
        found = fields[0]
        for field in fields[1:]:
            better = apply(comparison, reference(found), reference(field))
            found = self._derive(name, apply("if", better, reference(found), reference(field)))
        return found

    def _decided(self, best: list[str]) -> Element:
        """The position of the class."""
        decision, owners = self.flat.decision, self.flat.owners
        if self.flat.has_one_owner:
            comparison = "greaterThan" if owners[0] == 1 else "lessThan"
            is_second = apply(comparison, reference(best[owners[0]]), constant(decision.cut))
            return apply("if", is_second, constant(1.0), constant(0.0))
        if decision.costs is not None:
            chances = self._exponentials(best)
            sums = [
                [apply("*", reference(e), constant(row[k])) for e, row in zip(chances, decision.costs, strict=True)]
                for k in range(len(best))
            ]
            costs = [
                self._derive(f"cost of {text}", sum_of(parts)) for text, parts in zip(self.classes, sums, strict=True)
            ]
            return self._first(costs, self._extreme("least cost", costs, "lessOrEqual"))
        if decision.offsets is not None:
            best = [
                self._derive(f"shifted {field}", apply("+", reference(field), constant(offset)))
                for field, offset in zip(best, decision.offsets, strict=True)
            ]
        return self._first(best, self._extreme("greatest", best, "greaterOrEqual"))

    def _first(self, fields: Sequence[str], extreme: str) -> Element:
        """The position of the first field that equals the extreme of all."""
        found = constant(float(len(fields) - 1))
        for k in reversed(range(len(fields) - 1)):
            equal = apply("equal", reference(fields[k]), reference(extreme))
            found = apply("if", equal, constant(float(k)), found)
        return found

    def _exponentials(self, best: list[str]) -> list[str]:
        """For each class, its odds against the class with the greatest score."""
        top = self._extreme("top", best, "greaterOrEqual")
        behind = [apply("*", constant(self.flat.scale), apply("-", reference(field), reference(top))) for field in best]
        return [
            self._derive(f"odds of {text}", apply("exp", one)) for text, one in zip(self.classes, behind, strict=True)
        ]

    def _probabilities(self, best: list[str]) -> list[str]:
        odds = self._exponentials(best)
        total = self._derive("all odds", sum_of([reference(one) for one in odds]))
        return [
            self._derive(f"share of {text}", self._if_complete(apply("/", reference(one), reference(total))))
            for text, one in zip(self.classes, odds, strict=True)
        ]


def _all_present(names: Sequence[str]) -> Element:
    """1 if none of the fields is missing, else 0."""
    return reduce(
        lambda found, name: apply("if", apply("isMissing", reference(name)), constant(0.0), found),
        names,
        constant(1.0),
    )
