"""How many different terms prototypes have, without making the card."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from smallearn.model._parts import Prototype
from smallearn.model._term import Category, Term


def key_of(term: Term | None) -> tuple[int, str, Category | None]:
    """What makes two terms the same row of a card."""
    assert term is not None
    return term.feature, term.kind, term.value


def count_terms(prototypes: Sequence[Prototype]) -> tuple[int, int]:
    """How many rows the card has, and how many of them are in several prototypes; without making it."""
    found: Counter = Counter(
        key for prototype in prototypes for key in {(*key_of(term), at) for at, term in _numbered(prototype.terms)}
    )
    return len(found), sum(times > 1 for times in found.values())


def _numbered(terms: Iterable[Term]) -> Iterator[tuple[int, Term]]:
    """Each term, with how many equal ones are before it."""
    seen: Counter = Counter()
    for term in terms:
        yield seen[key_of(term)], term
        seen[key_of(term)] += 1
