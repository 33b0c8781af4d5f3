"""Small problems for the tests: random ones, and the one of the reference table."""

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer

from smallearn._learn.data.blocks import DenseRows, Scaling
from smallearn._learn.data.labels import Assignment, Labels
from smallearn._learn.kernels import NO_PROTOTYPE
from smallearn._learn.solve.objective import Objective, Penalty

# Optimum of the relaxed objective for (k, λ) on the breast cancer data: see `breast_cancer`.
REFERENCE = {
    (3, 0.1): 0.4393754,
    (3, 0.01): 0.2169341,
    (3, 0.001): 0.1087107,
    (10, 0.1): 0.3230136,
    (10, 0.01): 0.1534827,
    (10, 0.001): 0.0824216,
    (30, 0.1): 0.2738951,
    (30, 0.01): 0.1329903,
    (30, 0.001): 0.0730435,
}


def breast_cancer_groups():
    """The data, and two groups of the benign rows by k-means in standardised space; malignant rows have none."""
    X, y = load_breast_cancer(return_X_y=True)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    own = np.full(len(y), NO_PROTOTYPE)
    own[y == 1] = KMeans(2, n_init=5, random_state=0).fit_predict(standard[y == 1])
    return X, y, own


def breast_cancer(k, alpha):
    """Two prototypes for the benign class and an intercept that is always in."""
    X, y, own = breast_cancer_groups()
    labels = equal_weights(y.astype(np.int64), zero_owner=0)
    rows = DenseRows(X, scaling_of(X), intercept=True, labels=labels)
    return Objective(
        rows, Assignment(own=own, owner=np.ones(2, dtype=np.int64)), Penalty.count(alpha, k, X.shape[1], 1)
    )


def scaling_of(X):
    """The scaling that gives every column mean 0 and standard deviation 1."""
    return Scaling(mean=X.mean(axis=0), inverse_scale=1.0 / X.std(axis=0))


def standardised(X):
    """The columns with mean 0 and standard deviation 1, then a column of ones."""
    mean, inverse_scale = scaling_of(X)
    return np.column_stack([(X - mean) * inverse_scale, np.ones(len(X))])


def equal_weights(code, zero_owner=None):
    """Labels of rows that all weigh the same."""
    m = len(code)
    return Labels(code=np.asarray(code), weight=np.full(m, 1.0 / m), total=float(m), zero_owner=zero_owner)


def random_labels(rng, m, n_classes):
    """Classes, weights, owners and an assignment at random: two classes with a frozen zero, or more without."""
    code = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, m - n_classes)])
    weight = rng.uniform(0.5, 2.0, m)
    if n_classes == 2:
        zero_owner = int(rng.integers(0, 2))
        owner = np.full(int(rng.integers(1, 4)), 1 - zero_owner)
        own = np.where(code == zero_owner, NO_PROTOTYPE, rng.integers(0, len(owner), m))
    else:
        zero_owner = None
        counts = rng.integers(1, 3, n_classes)
        owner = np.repeat(np.arange(n_classes), counts)
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        own = first[code] + (rng.integers(0, 2, m) % counts[code])
    labels = Labels(code=code, weight=weight / weight.sum(), total=float(weight.sum()), zero_owner=zero_owner)
    return labels, Assignment(own=own, owner=owner)


def only_owner(labels):
    """The one class that owns prototypes, or None if every class does."""
    return None if labels.zero_owner is None else 1 - labels.zero_owner


def random_problem(seed, m=12, n=5, n_classes=2, k=2, alpha=0.05):
    """A dense objective with an intercept, its standardised matrix (constant column last) and a random W."""
    rng = np.random.default_rng(seed)
    labels, assignment = random_labels(rng, m, n_classes)
    X = rng.normal(size=(m, n)) * rng.uniform(0.1, 10.0, n) + rng.normal(size=n)
    rows = DenseRows(X, scaling_of(X), intercept=True, labels=labels)
    objective = Objective(rows=rows, assignment=assignment, penalty=Penalty.count(alpha, k, n, 1))
    return objective, standardised(X), rng.normal(size=objective.shape)


def sparse_matrix(m, n, density, seed):
    """A CSR array with about that share of uniform entries."""
    rng = np.random.default_rng(seed)
    count = int(m * n * density)
    return sparse.csr_array((rng.random(count), (rng.integers(0, m, count), rng.integers(0, n, count))), shape=(m, n))
