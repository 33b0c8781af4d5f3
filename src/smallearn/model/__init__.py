"""The trained model on its own: it predicts, prints itself and reads and writes JSON, with numpy alone."""

from smallearn.model._arguments import as_model, read_rows
from smallearn.model._card import CardRow
from smallearn.model._edit import Edit, Editor
from smallearn.model._histograms import Histogram, Reference
from smallearn.model._model import SMaLLModel, load_model
from smallearn.model._parts import (
    Accepted,
    DataFacts,
    Deployment,
    Description,
    HeldOut,
    Prototype,
    Range,
    Selection,
    StandardModels,
    Step,
    TableFacts,
    Term,
    Training,
)
from smallearn.model._pipeline.fold import fold_pipeline
from smallearn.model._rows import Rows
from smallearn.model._score_card import ScoreCard
from smallearn.model._score_card_bins import Card, CardBin, CardFeature

__all__ = [
    "Accepted",
    "Card",
    "CardBin",
    "CardFeature",
    "CardRow",
    "DataFacts",
    "Deployment",
    "Description",
    "Edit",
    "Editor",
    "HeldOut",
    "Histogram",
    "Prototype",
    "Range",
    "Reference",
    "Rows",
    "SMaLLModel",
    "ScoreCard",
    "Selection",
    "StandardModels",
    "Step",
    "TableFacts",
    "Term",
    "Training",
    "as_model",
    "fold_pipeline",
    "load_model",
    "read_rows",
]
