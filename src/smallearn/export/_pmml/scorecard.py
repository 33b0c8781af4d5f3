"""A score card as PMML's ``Scorecard``: a characteristic for each literal, with the points that it adds.

Evaluators may add up the characteristics before they add the initial score. That is the model's constant where all are
whole numbers, and no order of a sum matters; otherwise the constant is the first characteristic, so that the score is
that of `SMaLLModel` to the last bit. A characteristic asks first whether the value is missing: evaluators differ in
what a comparison with a missing value gives.
"""

from xml.etree.ElementTree import Element, SubElement

from smallearn._errors import Parameter, ParameterError
from smallearn._text import listed
from smallearn.export._flat import FlatModel, FlatTerm
from smallearn.export._pmml.document import COMPARISONS, Document, apply, constant, number_text, reference
from smallearn.export._reason_codes import Shortfalls
from smallearn.export._scripts._skeleton import term_text

LARGEST_WHOLE = 2.0**53  # whole numbers below have exact sums


def is_card(flat: FlatModel) -> bool:
    """Whether the model has one prototype, of literals alone, and an answer whatever is missing.

    Classes are the text of elements in a card: evaluators strip it of blanks.
    """
    is_plain = all(not isinstance(label, str) or label == " ".join(label.split()) for label in flat.classes)
    literals = all(term.kind != "raw" for term in flat.terms) and all(one.may_be_missing for one in flat.inputs)
    return bool(flat.terms) and len(flat.owners) == 1 and flat.has_one_owner and literals and is_plain


class Scorecard(Document):
    """The document of a card; ``codes`` are the terms that may fall short, ``n_codes`` how many are named."""

    def __init__(self, flat: FlatModel, codes: Shortfalls | None, n_codes: int) -> None:
        super().__init__(flat)
        self.codes, self.n_codes = codes, n_codes
        words = [] if codes is None else [text for _, _, text in codes.terms[0]]
        same = sorted({text for text in words if words.count(text) > 1})
        if same:
            raise ParameterError(
                Parameter("wording"), f": PMML adds up terms of the same words: {listed(same)} is that of several."
            )

    def root(self) -> Element:
        """The whole document."""
        root = self._root()
        algorithm = "pointsBelow" if self.codes is None or self.codes.sign > 0.0 else "pointsAbove"
        weights = [self.flat.intercepts[0], *(term.weight for term in self.flat.terms)]
        is_whole = all(one.is_integer() for one in weights) and sum(map(abs, weights)) < LARGEST_WHOLE
        card = SubElement(
            root,
            "Scorecard",
            functionName="regression",
            initialScore=number_text(weights[0] if is_whole else 0.0),
            useReasonCodes="false" if self.codes is None else "true",
            reasonCodeAlgorithm=algorithm,
        )
        self._add_schema(card)
        self._add_output(card)
        every = SubElement(card, "Characteristics")
        if not is_whole:
            self._add_constant(every, weights[0])
        for place, term in enumerate(self.flat.terms):
            self._add_literal(every, place, term)
        return root

    def _add_output(self, card: Element) -> None:
        """The same outputs as those of the other models, computed from the score."""
        output = SubElement(card, "Output")
        numbers = {"optype": "continuous", "dataType": "double"}
        label, score = self._free("label"), self._free("score(0)")
        shares = [self._free(f"probability({text})") for text in self.classes]
        SubElement(output, "OutputField", numbers, name=score, feature="predictedValue")
        kind = self._class_type()
        decided = SubElement(output, "OutputField", kind, name=label, feature="transformedValue")
        decided.append(self._decided(score, kind["dataType"]))
        owner, scale = self.flat.owners[0], self.flat.scale
        for k, name in enumerate(shares):
            odds = apply("exp", apply("*", constant(-scale if k == owner else scale), reference(score)))
            share = apply("/", constant(1.0), apply("+", constant(1.0), odds))
            SubElement(output, "OutputField", numbers, name=name, feature="transformedValue").append(share)
        text = {"optype": "categorical", "dataType": "string", "feature": "reasonCode"}
        for rank in range(1, self.n_codes + 1):
            SubElement(output, "OutputField", text, name=self._free(f"reason_{rank}"), rank=str(rank))

    def _decided(self, score: str, kind: str) -> Element:
        owner = self.flat.owners[0]
        above = apply("greaterThan" if owner else "greaterOrEqual", reference(score), constant(self.flat.decision.cut))
        answers = []
        for place in (owner, 1 - owner):
            answer = Element("Constant", dataType=kind)
            answer.text = self.classes[place]
            answers.append(answer)
        return apply("if", above, *answers)

    def _add_literal(self, every: Element, place: int, term: FlatTerm) -> None:
        """The points of a literal where it holds, otherwise 0."""
        one = SubElement(every, "Characteristic", name=self._free(term_text(self.flat, term)))
        if self.codes is not None:
            _, most, words = self.codes.terms[0][place]
            one.attrib |= {"reasonCode": words, "baselineScore": number_text(self.codes.sign * most)}
        field, value = self.inputs[term.input], self._compared(term)
        gap = SubElement(one, "Attribute", partialScore=number_text(term.weight if term.kind == "missing" else 0.0))
        SubElement(gap, "SimplePredicate", field=field, operator="isMissing")
        if value is not None:
            held = SubElement(one, "Attribute", partialScore=number_text(term.weight))
            text = value if isinstance(value, str) else number_text(value)
            SubElement(held, "SimplePredicate", field=field, operator=COMPARISONS[term.kind], value=text)
        SubElement(SubElement(one, "Attribute", partialScore=number_text(0.0)), "True")

    def _add_constant(self, every: Element, value: float) -> None:
        one = SubElement(every, "Characteristic", name=self._free("constant"))
        if self.codes is not None:  # it never falls short
            one.attrib |= {"reasonCode": "constant", "baselineScore": number_text(value)}
        SubElement(SubElement(one, "Attribute", partialScore=number_text(value)), "True")
