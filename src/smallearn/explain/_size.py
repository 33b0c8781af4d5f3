"""How large a model may be for what takes work that grows faster than the model."""

from smallearn._text import count
from smallearn.model import SMaLLModel

MOST_WORK = 50_000_000  # terms times thresholds; a minute or so


def check_size(model: SMaLLModel, what: str) -> None:
    """Raise ValueError if ``what`` would take very long: it asks for every term at every threshold."""
    n_terms = len(model.terms)
    if n_terms * n_terms > MOST_WORK:
        size = f"{count(n_terms, 'term')} in {count(len(model.prototypes), 'prototype')}"
        most = int(MOST_WORK**0.5)
        raise ValueError(f"The model has {size}, too many for {what}: that is for models of at most {most:,} terms.")
