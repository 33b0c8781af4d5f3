"""Model files to begin with: one of every format, and models with everything that a file can have."""

import functools
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from smallearn.model import (
    Accepted,
    DataFacts,
    Deployment,
    Description,
    HeldOut,
    Histogram,
    Range,
    Reference,
    Selection,
    Step,
    TableFacts,
)
from smallearn.model._edit import Edit
from smallearn.model._parts import Familiar, StandardModels
from tests.helpers.exports import BOTH, DECISIONS, EXPECTED_COSTS, MIXED, SHARED
from tests.helpers.models import CARD, THREE, TRAINING

FILES = Path(__file__).parents[2] / "tests" / "model" / "files"


@functools.cache
def seeds() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts of the model files: those that are quick to explain, and the others, which are drawn less often."""
    quick = [path.read_text(encoding="utf-8") for path in sorted(FILES.glob("format-*.json"))]
    quick += [model.to_json() for model in (CARD, MIXED, everything(), SHARED["shared, out of order"])]
    others = [THREE, *BOTH.values(), *DECISIONS.values(), *EXPECTED_COSTS.values()]
    others += [SHARED["shared literals"], SHARED["shared raw"], SHARED["one number"]]
    return tuple(quick), tuple(model.to_json() for model in others)


@functools.cache
def trees() -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The same, parsed."""
    quick, others = seeds()
    return tuple(map(json.loads, quick)), tuple(map(json.loads, others))


def drawn(dice: random.Random, both: tuple[tuple[Any, ...], tuple[Any, ...]]) -> Any:
    """One of the seeds, or of the trees."""
    return dice.choice(both[dice.random() < 0.08])


def everything():
    """A model with every optional field."""
    simple = replace(CARD, prototypes=(replace(CARD.prototypes[0], terms=CARD.prototypes[0].terms[:2]),))
    other = replace(CARD, prototypes=(replace(CARD.prototypes[0], terms=CARD.prototypes[0].terms[2:]),))
    return replace(
        CARD,
        training=TRAINING,
        ranges=(Range(0, 18.0, 90.0),),
        selection=Selection("accuracy", (0.8, 0.9, 0.7), 4, (Step(1, 1, 0.7, 0.02), Step(4, 1, 0.8, 0.01))),
        data=DataFacts("0123456789abcdef", (20, 20), "result", "data.csv"),
        accepted=(Accepted(0, None, False), Accepted(1, ("red", "blue", "green"), True)),
        deployment=Deployment("atmega328p", "int16", "table", "codes", ()),
        frontier_models=(simple, replace(CARD, training=TRAINING)),
        alternatives=(other,),
        descriptions=(Description("age", "age at admission", "years"), Description("colour", None, None)),
        device_limits=(("max_flash", 500.0),),
        reference=Reference(
            n_rows=40,
            scores=(Histogram((20, 20), edges=(-3.0, 0.0, 4.0)),),
            predicted=(22.0, 18.0),
            features=(
                Histogram((10, 20), edges=(18.0, 40.0, 90.0), missing=10, feature=0),
                Histogram((30, 8), categories=("red", "blue"), other=2, feature=1),
            ),
            scored_by="0123",
            decided_by="4567",
        ),
        standard_models=StandardModels((Familiar("tree", 0.8, 0.01, "7 leaves", 0.5),), 5, 40, None),
        edits=(Edit("cut", "age", 41.0, 40.0, 1),),
        table=TableFacts(("id",), (("no", "healthy"), ("yes", "ill")), HeldOut(3, (5, 5))),
    )
