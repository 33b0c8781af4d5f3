"""Two models on the same rows: where they disagree, and which of them is right there."""

from typing import Any

import numpy as np

from smallearn._text import show
from smallearn.model import SMaLLModel

MOST_ROWS = 10


def compare(first: SMaLLModel, second: SMaLLModel, X: Any, y: np.ndarray, numbers: np.ndarray) -> dict[str, Any]:
    """How many rows the models decide differently, how often each is right there, and the first such rows."""
    answers = [np.asarray(model.predict(X)) for model in (first, second)]
    differ = np.flatnonzero(answers[0] != answers[1])
    used = list(dict.fromkeys(term.label for model in (first, second) for term in model.features))
    named = [name for name in used if name in X.columns]
    rows = [
        {
            "row": int(numbers[at]),
            "true": _text(y[at]),
            "first": _text(answers[0][at]),
            "second": _text(answers[1][at]),
            "values": [_text(X[name].iloc[at]) for name in named],
        }
        for at in differ[:MOST_ROWS]
    ]
    return {
        "n_rows": len(y),
        "n_differ": len(differ),
        "n_right": [int(np.sum(answer[differ] == y[differ])) for answer in answers],
        "n_correct": [int(np.sum(answer == y)) for answer in answers],
        "rules": [str(model) for model in (first, second)],
        "names": named,
        "rows": rows,
    }


def _text(value: Any) -> str:
    """A cell of the table; empty where a value is missing."""
    if value is None or value != value:
        return ""
    value = value.item() if isinstance(value, np.generic) else value
    return f"{value:.6g}" if isinstance(value, float) else show(value, quote=False)
