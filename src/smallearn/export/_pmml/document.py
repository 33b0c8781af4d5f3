"""What the documents have in common: the dictionary of fields, names that are free, and expressions."""

import json
from collections.abc import Sequence
from functools import reduce
from xml.etree.ElementTree import Element, SubElement

from smallearn._text import show
from smallearn.export._flat import FlatModel, FlatTerm, unchecked
from smallearn.export._scripts._skeleton import NUMERIC

NAMESPACE = "http://www.dmg.org/PMML-4_4"
INT32 = 2**31
COMPARISONS = {"at_most": "lessOrEqual", "above": "greaterThan", "equals": "equal"}


class Document:
    """A model, its inputs and its classes, by the names that they have in a document."""

    def __init__(self, flat: FlatModel) -> None:
        self.flat = flat
        self.inputs = [input_.label for input_ in flat.inputs]
        self.taken = set(self.inputs)
        self.classes = [label if isinstance(label, str) else json.dumps(label) for label in flat.classes]
        if "" in (*self.inputs, *self.classes):
            raise ValueError("PMML needs names for features and classes: one is empty.")
        if len(set(self.classes)) < len(self.classes):
            raise ValueError("PMML has classes as text, and two classes of the model have the same text.")

    def root(self) -> Element:
        """The whole document."""
        raise NotImplementedError

    def _root(self, target: str | None = None) -> Element:
        """The header and the dictionary; ``target`` is a field with the class."""
        root = Element("PMML", xmlns=NAMESPACE, version="4.4")
        header = SubElement(root, "Header", description="\n".join([self.flat.stamp, *unchecked(self.flat)]))
        SubElement(header, "Application", name="smallearn", version=self.flat.version)
        n_fields = len(self.inputs) + (target is not None)
        fields = SubElement(root, "DataDictionary", numberOfFields=str(n_fields))
        if target is not None:
            classes = SubElement(fields, "DataField", self._class_type(), name=target)
            for text in self.classes:
                SubElement(classes, "Value", value=text)
        for position, name in enumerate(self.inputs):
            kind = ("categorical", "string") if self._is_text(position) else ("continuous", "double")
            SubElement(fields, "DataField", name=name, optype=kind[0], dataType=kind[1])
        return root

    def _add_schema(self, model: Element, target: str | None = None) -> None:
        schema = SubElement(model, "MiningSchema")
        if target is not None:
            SubElement(schema, "MiningField", name=target, usageType="target")
        for name in self.inputs:
            SubElement(schema, "MiningField", name=name, invalidValueTreatment="asIs")

    def _class_type(self) -> dict[str, str]:
        whole = all(type(label) is int and abs(label) < INT32 for label in self.flat.classes)
        return {"optype": "categorical", "dataType": "integer" if whole else "string"}

    def _free(self, name: str) -> str:
        """The name, with underscores if it is taken already."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _is_text(self, position: int) -> bool:
        is_number = any(term.kind in NUMERIC for term in self.flat.terms if term.input == position)
        return self.flat.inputs[position].is_text and not is_number

    def _compared(self, term: FlatTerm) -> str | float | None:
        """What a literal compares its input with; None if it compares nothing, or never holds."""
        if self._is_text(term.input):
            if term.kind == "equals" and not isinstance(term.value, str):
                name = show(self.inputs[term.input])
                raise ValueError(f"PMML cannot compare {name} with text and numbers: a field has one type.")
            return term.value
        return None if isinstance(term.value, str) or term.value is None else float(term.value)


def apply(function: str, *arguments: Element) -> Element:
    """A function of some expressions."""
    element = Element("Apply", function=function)
    element.extend(arguments)
    return element


def sum_of(parts: Sequence[Element]) -> Element:
    """In order: PMML's ``sum`` may take another, and leaves out what is missing."""
    return reduce(lambda total, part: apply("+", total, part), parts)


def reference(name: str) -> Element:
    """The value of a field."""
    return Element("FieldRef", field=name)


def constant(value: float) -> Element:
    """A double."""
    element = Element("Constant", dataType="double")
    element.text = number_text(value)
    return element


def number_text(value: float) -> str:
    """A double in all its digits."""
    return repr(float(value))
