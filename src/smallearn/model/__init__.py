"""The trained model on its own: it predicts, prints itself and reads and writes JSON, with numpy alone."""

from smallearn.model._arguments import as_model, read_rows
from smallearn.model._card import CardRow
from smallearn.model._model import SMaLLModel, load_model
from smallearn.model._parts import DataFacts, Prototype, Range, Selection, Step, Term, Training
from smallearn.model._rows import Rows

__all__ = [
    "CardRow",
    "DataFacts",
    "Prototype",
    "Range",
    "Rows",
    "SMaLLModel",
    "Selection",
    "Step",
    "Term",
    "Training",
    "as_model",
    "load_model",
    "read_rows",
]
