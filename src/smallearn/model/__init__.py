"""The trained model on its own: it predicts, prints itself and reads and writes JSON, with numpy alone."""

from smallearn.model._model import SMaLLModel, load_model
from smallearn.model._parts import DataFacts, Prototype, Range, Selection, Step, Term, Training

__all__ = [
    "DataFacts",
    "Prototype",
    "Range",
    "SMaLLModel",
    "Selection",
    "Step",
    "Term",
    "Training",
    "load_model",
]
