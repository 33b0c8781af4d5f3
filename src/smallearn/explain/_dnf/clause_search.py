"""A search for a few clauses that agree with given labels on as many rows as possible.

Beam search: a clause is built condition by condition, and the best few attempts are extended. It gains the rows of the
target that it adds and loses the others. Then each clause is built anew while the others stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

PENALTIES = (1.0, 2.0, 5.0)  # for a row outside the target that a clause includes, when clauses are first built
BEAM = 16  # clauses that are extended at each step

Clause = tuple[int, ...]  # positions of conditions, all of which must hold


@dataclass(frozen=True)
class ClauseSearch:
    """What clauses are made of and what they should say.

    ``held``: conditions × rows, whether the condition holds; ``subjects``: the variable of each condition; ``target``:
    the rows that the clauses should include.
    """

    held: np.ndarray
    subjects: np.ndarray
    target: np.ndarray
    max_conditions: int

    @cached_property
    def _factors(self) -> np.ndarray:
        return self.held.astype(np.float32)

    @cached_property
    def _signs(self) -> np.ndarray:
        """What including each row is worth: 1 in the target, -1 outside."""
        return self._penalised(1.0)

    def _penalised(self, penalty: float) -> np.ndarray:
        return np.where(self.target, 1.0, -penalty).astype(np.float32)

    def find(self, max_clauses: int, least_gain: float) -> list[Clause]:
        """The best of several attempts, which avoid rows outside the target more and more."""
        attempts = [self._attempt(max_clauses, least_gain, penalty) for penalty in PENALTIES]
        return min(attempts, key=lambda clauses: (-self._agreement(clauses), sum(map(len, clauses))))

    def _attempt(self, max_clauses: int, least_gain: float, penalty: float) -> list[Clause]:
        """Add one clause after the other, as long as one gains enough, and improve all of them."""
        signs = self._penalised(penalty)
        clauses: list[Clause] = []
        while len(clauses) < max_clauses:
            clause, gain = self._best_clause(clauses, signs)
            if gain < least_gain:
                break
            clauses = self.improved([*clauses, clause]) if penalty == 1.0 else [*clauses, clause]
        return self.pruned(self.improved(clauses))

    def _agreement(self, clauses: Sequence[Clause]) -> int:
        """The rows of the target that they include, less the others."""
        return int((self._signs - self._left(clauses, self._signs)).sum())

    def improved(self, clauses: list[Clause], most_rounds: int = 4) -> list[Clause]:
        """Build each clause anew, while that agrees with more rows."""
        for _ in range(most_rounds):
            before = list(clauses)
            for i in range(len(clauses)):
                others = clauses[:i] + clauses[i + 1 :]
                clause, gain = self._best_clause(others, self._signs)
                if gain > self._gain(clauses[i], others):
                    clauses = [*clauses[:i], clause, *clauses[i + 1 :]]
            if clauses == before:
                break
        return clauses

    def pruned(self, clauses: list[Clause]) -> list[Clause]:
        """Drop clauses, and then conditions, without which they agree with as many rows."""
        for clause in list(reversed(clauses)):
            others = [other for other in clauses if other != clause]
            if self._gain(clause, others) <= 0.0:
                clauses = others
        for i, clause in enumerate(clauses):
            others = clauses[:i] + clauses[i + 1 :]
            for condition in clause:
                fewer = tuple(other for other in clauses[i] if other != condition)
                if self._gain(fewer, others) >= self._gain(clauses[i], others):
                    clauses = [*clauses[:i], fewer, *clauses[i + 1 :]]
        return clauses

    def _rows(self, clause: Clause) -> np.ndarray:
        """The rows that a clause includes."""
        return np.logical_and.reduce(self.held[list(clause)], axis=0)

    def _left(self, clauses: Sequence[Clause], signs: np.ndarray) -> np.ndarray:
        """What each row is worth to another clause: nothing if it is included already."""
        taken = np.zeros(len(signs), dtype=bool)
        for clause in clauses:
            taken |= self._rows(clause)
        return np.where(taken, np.float32(0.0), signs)

    def _gain(self, clause: Clause, others: Sequence[Clause]) -> float:
        return float(self._left(others, self._signs)[self._rows(clause)].sum())

    def _best_clause(self, others: Sequence[Clause], signs: np.ndarray) -> tuple[Clause, float]:
        """The clause that gains most beside the others, and its gain."""
        worth = self._left(others, signs)
        best: tuple[Clause, float] = ((), float(worth.sum()))
        beam: list[Clause] = [()]
        for _ in range(self.max_conditions):
            left = np.array([worth * self._rows(clause) for clause in beam])
            gain_of = self._extended(beam, left @ self._factors.T)
            beam = list(gain_of)
            if not beam:  # no condition tells the rows apart
                break
            if gain_of[beam[0]] > best[1]:
                best = (beam[0], gain_of[beam[0]])
        return best

    def _extended(self, beam: Sequence[Clause], gains: np.ndarray) -> dict[Clause, float]:
        """The best clauses with one more condition, and the best for each variable among those about other variables.

        ``gains``: clauses of the beam × conditions.
        """
        best = np.argsort(-gains, axis=None, kind="stable")[: 4 * BEAM].tolist()
        chosen = self._clauses(beam, gains, best, BEAM)
        n_conditions = len(self.held)
        of_variable = [np.flatnonzero(self.subjects == variable) for variable in np.unique(self.subjects)]
        others = [
            which * n_conditions + int(numbers[gains[which, numbers].argmax()])
            for numbers in of_variable
            for which in range(len(beam))
        ]
        others.sort(key=lambda place: -gains.flat[place])
        known = {self._variables(clause) for clause in chosen}
        for clause, gain in self._clauses(beam, gains, others, len(others)).items():
            if self._variables(clause) not in known and len(chosen) < 2 * BEAM:
                known.add(self._variables(clause))
                chosen[clause] = gain
        return chosen

    def _clauses(self, beam: Sequence[Clause], gains: np.ndarray, places: list[int], most: int) -> dict[Clause, float]:
        """The clauses at these places of ``gains``, at most so many, with their gains."""
        clauses: dict[Clause, float] = {}
        for place in places:
            which, condition = divmod(place, len(self.held))
            if len(clauses) < most:
                clauses.setdefault(tuple(sorted({*beam[which], condition})), float(gains.flat[place]))
        return clauses

    def _variables(self, clause: Clause) -> tuple[int, ...]:
        """The variables of a clause."""
        return tuple(sorted({int(self.subjects[number]) for number in clause}))
