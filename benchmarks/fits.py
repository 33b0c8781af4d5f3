"""Fits of the breast cancer data, after compilation, against abess and scikit-learn's logistic regression."""

import inspect
import time
import warnings

from abess import LogisticRegression as BestSubset
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.timing import interleaved, verdict
from smallearn import SMaLLClassifier

K = 3


def l1_logistic() -> LogisticRegression:
    """l1 by saga at the default tolerance, in the spelling of the installed scikit-learn."""
    since_1_8 = inspect.signature(LogisticRegression).parameters["penalty"].default != "l2"
    return LogisticRegression(solver="saga", **({"l1_ratio": 1.0} if since_1_8 else {"penalty": "l1"}))


def main() -> None:
    """Medians of 60 interleaved runs. smallearn standardises the data itself; its rivals get standardised data.

    At its default tolerance saga stops at its default number of iterations, with a warning, which favours it here.
    """
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = load_breast_cancer(return_X_y=True)
    standard = StandardScaler().fit_transform(X)

    def smallest() -> object:
        return SMaLLClassifier(1, K, random_state=0).fit(X, y)

    def subset() -> object:
        return BestSubset(support_size=K).fit(standard, y)

    seconds = interleaved(
        {
            "smallearn, p = 1": smallest,
            "smallearn, p = 2, no reassignment": lambda: SMaLLClassifier(2, K, random_state=0, reassign=False).fit(
                X, y
            ),
            "smallearn, p = 2": lambda: SMaLLClassifier(2, K, random_state=0).fit(X, y),
            f"abess, {K} features": subset,
            "l1 logistic regression (saga)": lambda: l1_logistic().fit(standard, y),
            "l2 logistic regression (lbfgs)": lambda: LogisticRegression().fit(standard, y),
        },
        repeats=60,
    )
    one, two, reassigned, abess, saga, _ = seconds.values()
    print(f"\nFits of breast cancer, 569 × 30, k = {K}, medians after compilation")
    print(f"  {'':<36} {'ms':>8} {'to abess':>9} {'to saga':>8}")
    for name, value in seconds.items():
        print(f"  {name:<36} {1e3 * value:>8.2f} {value / abess:>8.2f}× {value / saga:>7.2f}×")
    verdict(f"p = 1 no slower than abess ({one / abess:.2f}×)", one <= abess)
    for threads, name in ((1, "one thread"), (None, "default threads")):
        cpu = interleaved({"one": smallest, "abess": subset}, repeats=60, clock=time.process_time, threads=threads)
        ratio = cpu["one"] / cpu["abess"]
        verdict(f"p = 1 takes no more CPU time than abess, {name} ({ratio:.2f}×)", ratio <= 1.0)
    verdict(f"p = 2 without reassignment no slower than saga ({two / saga:.2f}×)", two <= saga)
    verdict(f"p = 2 with reassignment at most twice saga ({reassigned / saga:.2f}×)", reassigned <= 2.0 * saga)
