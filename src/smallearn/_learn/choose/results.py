"""The scores of all candidate models on all folds, and the rule that chooses one of them."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from smallearn._learn.choose.families import CandidateModel, Task
from smallearn._learn.choose.scores import FoldScore, Swept
from smallearn._learn.data.labels import LOG_LOSS
from smallearn.model import Step
from smallearn.model._parts import standard_error

BEYOND_CHANCE = 4.0  # standard errors: an advantage that the best of hundreds of candidate models does not have by luck
DIGITS = 12  # after the point, of scores that are compared


class Results:
    """The score of every candidate model on every fold that it was run on.

    Parameters
    ----------
    n_folds : int
    n_rows : float
        Rows in all; a row of weight 2 counts as two where weights count rows.
    """

    def __init__(self, n_folds: int, n_rows: float):
        self.n_folds, self.n_rows = n_folds, n_rows
        self.scores: dict[CandidateModel, list[FoldScore | None]] = {}
        self._at_thresholds: dict[CandidateModel, list[FoldScore | None]] = {}

    def enter(self, fold: int, scores: Mapping[CandidateModel, FoldScore]) -> None:
        """Enter the scores of some candidate models on one fold."""
        for candidate, score in scores.items():
            self.scores.setdefault(candidate, [None] * self.n_folds)[fold] = score
            self._at_thresholds.pop(candidate, None)

    def complete(self) -> list[CandidateModel]:
        """The candidate models that have a score on every fold."""
        return [candidate for candidate, scores in self.scores.items() if all(score is not None for score in scores)]

    def on_folds_run(self) -> "Results":
        """The results on the folds that any candidate model was run on; folds are missing only if time was up.

        Then those that no candidate model was run on together with all before are left out too.
        """
        run = [fold for fold in range(self.n_folds) if any(scores[fold] is not None for scores in self.scores.values())]
        results = self
        if len(run) < self.n_folds:
            while len(run) > 1 and not any(all(scores[f] is not None for f in run) for scores in self.scores.values()):
                run.pop()
            results = Results(len(run), self.n_rows)
            kept = {candidate: [scores[fold] for fold in run] for candidate, scores in self.scores.items()}
            results.scores = {c: scores for c, scores in kept.items() if any(score is not None for score in scores)}
        return results if results.complete() else results.with_smaller_models()

    def with_smaller_models(self) -> "Results":
        """The same results, where a fold that lacks a model of ``n_terms`` terms counts its largest smaller one.

        On few or noisy rows, or if signs are forbidden, the searches of two folds may have no size in common.
        """
        filled = Results(self.n_folds, self.n_rows)
        for fold in range(self.n_folds):
            for candidate in self.scores:
                sizes = range(candidate.n_terms, -1, -1)
                smaller = (self.scores.get(candidate._replace(n_terms=size)) for size in sizes)
                score = next((scores[fold] for scores in smaller if scores and scores[fold] is not None), None)
                if score is not None:
                    filled.enter(fold, {candidate: score})
        return filled

    # --- scores ----------------------------------------------------------------------------------------------------

    def of(self, candidate: CandidateModel) -> list[FoldScore | None]:
        """The score on each fold. Where the threshold is chosen too, it is the best for the other folds that were run
        (or for the only one)."""
        swept = self._swept(candidate)
        if not swept:
            return self.scores[candidate]
        if candidate not in self._at_thresholds:
            values = swept[0].sweep.across([fold.above for fold in swept]).tolist()
            scored = iter(
                FoldScore(reported=value, deciding=value + fold.besides)
                for value, fold in zip(values, swept, strict=True)
            )
            self._at_thresholds[candidate] = [None if s is None else next(scored) for s in self.scores[candidate]]
        return self._at_thresholds[candidate]

    def threshold(self, candidate: CandidateModel) -> float | None:
        """The decision threshold, a probability, that is best for the held-out rows of all folds; None if it is not
        chosen."""
        swept = self._swept(candidate)
        return swept[0].sweep.threshold([fold.above for fold in swept]) if swept else None

    def _swept(self, candidate: CandidateModel) -> list[Swept]:
        scores = self.scores[candidate]
        return [score.swept for score in scores if score is not None and score.swept is not None]

    def reported(self, candidate: CandidateModel) -> np.ndarray:
        """The reported score of each fold; NaN where the candidate model was not run."""
        return np.array([np.nan if score is None else score.reported for score in self.of(candidate)])

    def mean(self, candidate: CandidateModel) -> float:
        """The mean deciding score over the folds that the candidate model was run on, rounded: ties are ties."""
        scores = [score.deciding for score in self.of(candidate) if score is not None]
        return round(float(np.mean(scores)), DIGITS)

    def least_error(self) -> float:
        """The least mean error rate of any candidate model on the folds that it was run on; 1 if that is not known."""
        known = (
            [s.reported for s in scores if s is not None and s.correct is not None] for scores in self.scores.values()
        )
        return 1.0 - max((float(np.mean(accuracy)) for accuracy in known if accuracy), default=0.0)

    def smoothed(self, candidates: Iterable[CandidateModel]) -> dict[CandidateModel, float]:
        """The mean deciding score of each, averaged with its neighbours: one term more or less, and the next λ.

        A candidate model that scores much better than its neighbours usually does so by luck.
        """
        mean = {candidate: self.mean(candidate) for candidate in candidates}
        alphas = sorted({candidate.alpha for candidate in mean})
        by_size = {
            c: _average(mean, c, [c._replace(n_terms=c.n_terms - 1), c._replace(n_terms=c.n_terms + 1)]) for c in mean
        }
        position = {alpha: at for at, alpha in enumerate(alphas)}
        smoothed = {}
        for c in by_size:
            near = [alphas[at] for at in (position[c.alpha] - 1, position[c.alpha] + 1) if 0 <= at < len(alphas)]
            smoothed[c] = _average(by_size, c, [c._replace(alpha=alpha) for alpha in near])
        return smoothed

    def advantage(self, one: CandidateModel, other: CandidateModel) -> tuple[float, float]:
        """How much better ``one`` is than ``other`` on the folds that both were run on, and its standard error."""
        both = zip(self.of(one), self.of(other), strict=True)
        pairs = [(a, b) for a, b in both if a is not None and b is not None]
        by_fold = np.array([a.deciding - b.deciding for a, b in pairs])
        mean = round(float(by_fold.mean()), DIGITS)
        by_row = [(a.rows, b.rows) for a, b in pairs if a.rows is not None and b.rows is not None]
        if len(by_row) == len(pairs):
            each = np.concatenate([a.score - b.score for a, b in by_row])
            weight = np.concatenate([a.weight for a, _ in by_row])
            variance = float(np.average((each - np.average(each, weights=weight)) ** 2, weights=weight))
            n_rows = min(sum(a.n_rows for a, _ in by_row), self.n_rows)  # a repeated row is no new evidence
            return mean, float(np.sqrt(variance / n_rows))
        return mean, float(by_fold.std(ddof=1) / np.sqrt(len(by_fold))) if len(by_fold) > 1 else 0.0

    # --- choosing --------------------------------------------------------------------------------------------------

    def choose(self, candidates: list[CandidateModel], one_standard_error: bool = False) -> CandidateModel:
        """The best candidate model, with caution: the best of many by a noisy score is partly luck.

        It is the best by the smoothed score, unless the best without smoothing is better beyond chance. Several
        prototypes must beat the best single prototype by more than a standard error. With ``one_standard_error`` it is
        the candidate model with fewest terms that is worse by at most one standard error.
        """
        scores = self.smoothed(candidates)
        chosen = best(scores)
        sharp = best({candidate: self.mean(candidate) for candidate in candidates})
        mean, error = self.advantage(sharp, chosen)
        chosen = sharp if mean > BEYOND_CHANCE * error else chosen
        simple = {candidate: value for candidate, value in scores.items() if candidate.family.n_prototypes == 1}
        if simple and chosen.family.n_prototypes > 1:
            single = best(simple)
            mean, error = self.advantage(chosen, single)
            chosen = chosen if mean > error else single
        if one_standard_error:
            near = []
            for candidate in candidates:
                mean, error = self.advantage(chosen, candidate)
                if mean <= error or candidate == chosen:
                    near.append(candidate)
            fewest = min(candidate.n_terms for candidate in near)
            chosen = best({c: scores[c] for c in near if c.n_terms == fewest})
        return chosen

    def best_of_each_size(self) -> dict[int, CandidateModel]:
        """The best candidate model with each number of terms, by number of terms."""
        every = self.complete()
        sizes = sorted({candidate.n_terms for candidate in every})
        return {size: self.choose([c for c in every if c.n_terms == size]) for size in sizes}

    def sizes_like(self, chosen: CandidateModel) -> dict[int, CandidateModel]:
        """A candidate model with each number of terms, by number of terms: one of the chosen one's family, unless the
        best with that number is better by more than a standard error. With its own number it is the chosen one."""
        of_family: dict[int, list[CandidateModel]] = {}
        for candidate in self.complete():
            if candidate.family == chosen.family:
                of_family.setdefault(candidate.n_terms, []).append(candidate)
        sizes = self.best_of_each_size()
        for size, leader in sizes.items():
            if size == chosen.n_terms:
                sizes[size] = chosen
            elif leader.family != chosen.family and size in of_family:
                akin = self.choose(of_family[size])
                ahead, error = self.advantage(leader, akin)
                sizes[size] = leader if ahead > error else akin
        return sizes

    def frontier(self) -> tuple[Step, ...]:
        """The score of the best candidate model with each number of terms."""
        return tuple(self.step(candidate) for candidate in self.best_of_each_size().values())

    def step(self, candidate: CandidateModel) -> Step:
        """The candidate model's reported score with its standard error."""
        scores = tuple(self.reported(candidate).tolist())
        return Step(
            n_terms=candidate.n_terms,
            n_prototypes=candidate.family.n_prototypes,
            score=float(np.mean(scores)),
            spread=standard_error(scores),
        )

    # --- against training ------------------------------------------------------------------------------------------

    def with_same_errors(self, chosen: CandidateModel) -> list[CandidateModel]:
        """The candidate models of the family that classify the same held-out rows correctly, including ``chosen``."""
        family = [candidate for candidate in self.complete() if candidate.family == chosen.family]
        return [candidate for candidate in family if candidate == chosen or self._same_errors(candidate, chosen)]

    def _same_errors(self, one: CandidateModel, other: CandidateModel) -> bool:
        for a, b in zip(self.scores[one], self.scores[other], strict=True):
            if a is None or b is None or a.correct is None or b.correct is None:
                return False
            if not np.array_equal(a.correct, b.correct):
                return False
        return True

    def beats_training(self, candidate: CandidateModel, training_error: float) -> bool:
        """Whether the candidate model was more accurate on held-out rows, beyond chance, than a model with this error
        rate on its own training rows: the search for that model got stuck."""
        if any(score is None or score.correct is None for score in self.scores[candidate]):
            return False
        error = np.sqrt(training_error * (1.0 - training_error) / self.n_rows)
        return bool(1.0 - training_error + 2.0 * error < self.reported(candidate).mean())


def best(scores: Mapping[CandidateModel, float]) -> CandidateModel:
    """The highest score; among equals fewer prototypes, fewer terms, the larger λ."""
    return max(scores, key=lambda c: (round(scores[c], DIGITS), -c.family.n_prototypes, -c.n_terms, c.alpha))


def _average(scores: Mapping[CandidateModel, float], own: CandidateModel, near: list[CandidateModel]) -> float:
    """The mean of the own score, counted twice, and those of the neighbours that exist."""
    values = [scores[own], scores[own], *(scores[c] for c in near if c in scores)]
    return sum(values) / len(values)


# --- as users see them -----------------------------------------------------------------------------------------------


def cv_results(task: Task, results: Results) -> dict[str, np.ndarray]:
    """One line for each candidate model: its parameters, its scores, their mean, standard deviation and rank."""
    candidates = list(results.scores)
    scores = np.array([results.reported(candidate) for candidate in candidates])
    complete = ~np.isnan(scores).any(axis=1)
    mean = np.nanmean(scores, axis=1)
    rank = np.full(len(candidates), np.nan)
    rank[complete] = 1 + np.searchsorted(np.sort(-mean[complete]), -mean[complete])
    params = [parameters_of(task, candidate) for candidate in candidates]
    return {
        **{name: np.array([entry[name] for entry in params]) for name in params[0]},
        "mean_test_score": mean,
        "std_test_score": np.nanstd(scores, axis=1),
        "rank_test_score": rank,
        **{f"split{fold}_test_score": scores[:, fold] for fold in range(results.n_folds)},
        "params": np.array(params, dtype=object),
    }


def parameters_of(task: Task, candidate: CandidateModel) -> dict[str, Any]:
    """What distinguishes the candidate model from the others, by name."""
    owner = candidate.family.owner
    return {
        "n_terms": candidate.n_terms,
        "n_prototypes": candidate.family.n_prototypes,
        "alpha": candidate.alpha,
        "literals": candidate.family.literals,
        "budget": candidate.family.pooling,
        "one_sided": candidate.family.one_sided,
        "loss": "log" if candidate.family.sharpness == LOG_LOSS else "spherical",
        "positive_class": None if owner is None else task.problem.classes.tolist()[owner],
    }
