"""Bonsai and ProtoNN, trained by Microsoft's own code: edgeml-pytorch, which needs numpy before 1.24 and torch.

It has an environment of its own, so this file is run there as a script and imports nothing from here::

    python -m venv edgeml && edgeml/bin/pip install edgeml-pytorch torch 'numpy<1.24' scikit-learn
    edgeml/bin/python benchmarks/flash/edgeml.py bonsai rows.npz 512 answer.npz

``rows.npz`` has X, y (training rows) and X_test. ``answer.npz`` gets the predictions, the bytes and the setting, which
is chosen on a quarter of the training rows. Their code counts nothing, a weight one byte, and one of a sparse matrix
two, with its index; they predict in float32.
"""

import contextlib
import io
import sys
import tempfile

import numpy as np
import torch
from edgeml_pytorch.graph.bonsai import Bonsai
from edgeml_pytorch.graph.protoNN import ProtoNN
from edgeml_pytorch.trainer.bonsaiTrainer import BonsaiTrainer
from edgeml_pytorch.trainer.protoNNTrainer import ProtoNNTrainer
from sklearn.cluster import KMeans
from sklearn.model_selection import train_test_split

BONSAI = (  # dimensions, depth, learning rate, penalty, epochs
    (5, 1, 0.05, 1e-4, 100),
    (10, 1, 0.05, 1e-4, 100),
    (3, 2, 0.05, 1e-4, 100),
    (10, 2, 0.05, 1e-5, 100),
    (10, 1, 0.02, 1e-5, 100),
    (15, 2, 0.02, 1e-5, 100),
    (10, 3, 0.02, 1e-5, 100),
    (20, 2, 0.02, 1e-4, 100),
)
PROTONN = (  # dimensions, prototypes, width, learning rate, epochs
    (5, 20, 1.0, 0.003, 200),
    (10, 10, 1.0, 0.003, 200),
    (10, 20, 0.7, 0.003, 200),
    (10, 20, 1.0, 0.003, 200),
    (15, 30, 1.0, 0.003, 200),
    (10, 40, 1.0, 0.003, 200),
    (15, 20, 1.5, 0.003, 200),
    (20, 20, 1.0, 0.003, 200),
)


def train_bonsai(X, y, flash, dimensions, depth, rate, penalty, epochs):
    """A function from rows to classes, and the bytes; None if the dense part alone takes all bytes."""
    inner, nodes = 2**depth - 1, 2 ** (depth + 1) - 1
    columns, dense = X.shape[1] + 1, dimensions * (2 * nodes + inner)
    entries = min((flash - dense) // 2, dimensions * columns)
    if entries < columns // 20:
        return None
    model = Bonsai(2, columns, dimensions, depth, 1.0)
    rows, labels = torch.tensor(with_constant(X)), torch.tensor(y[:, None].astype(np.float32))
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        sparsity = entries / (dimensions * columns)
        trainer = BonsaiTrainer(
            model, penalty, penalty, penalty, penalty / 10, 1, 1, 1, sparsity, rate, outFile=f"{folder}/log"
        )
        trainer.train(56, epochs, rows, rows[:64], labels, labels[:64], folder, folder)

    def predict(X):
        with torch.no_grad():
            scores, _ = model(torch.tensor(with_constant(X)), 1e9)
        return (scores.numpy()[:, 0] > 0).astype(np.int64)

    return predict, 2 * int((model.Z != 0).sum()) + dense


def with_constant(X):
    return np.hstack([X, np.ones((len(X), 1))]).astype(np.float32)


def train_protonn(X, y, flash, dimensions, prototypes, width, rate, epochs):
    """The same, from k-means in a random projection; ``width`` is over the median distance to a prototype."""
    dense = prototypes * (dimensions + 2)
    entries = min((flash - dense) // 2, dimensions * X.shape[1])
    if entries < X.shape[1] // 20:
        return None
    X = X.astype(np.float32)
    W = 3 * np.random.RandomState(0).randn(X.shape[1], dimensions) / np.sqrt(X.shape[1])
    projected = X @ W
    each = prototypes // 2
    centres = [KMeans(each, n_init=1, random_state=0).fit(projected[y == label]).cluster_centers_ for label in (0, 1)]
    B, Z = np.vstack(centres).T, np.repeat(np.eye(2), each, axis=1)
    distance = np.sqrt(((projected[:, :, None] - B[None]) ** 2).sum(axis=1))
    model = ProtoNN(X.shape[1], dimensions, prototypes, 2, width / np.median(distance), W=W, B=B, Z=Z)
    labels = np.eye(2, dtype=np.float32)[y]
    with contextlib.redirect_stdout(io.StringIO()):
        sparsity = entries / W.size
        trainer = ProtoNNTrainer(model, 0, 0, 0, sparsity, 1, 1, rate, lossType="xentropy")
        trainer.train(32, epochs, X, X[:64], labels, labels[:64], printStep=10**6, valStep=10**6)

    def predict(X):
        with torch.no_grad():
            return model(torch.tensor(X.astype(np.float32))).numpy().argmax(axis=1)

    return predict, 2 * int((model.W != 0).sum()) + dense


METHODS = {"bonsai": (train_bonsai, BONSAI), "protonn": (train_protonn, PROTONN)}


def main(method, rows, flash, answer):
    """Choose a setting on a quarter of the rows, train it on all of them, predict."""
    torch.set_num_threads(1)
    train, settings = METHODS[method]
    given = np.load(rows)
    X, y = given["X"], given["y"]
    fit, compare = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=0)
    accuracy = {}
    for setting in settings:
        torch.manual_seed(0)
        trained = train(X[fit], y[fit], int(flash), *setting)
        if trained is not None:
            accuracy[setting] = np.mean(trained[0](X[compare]) == y[compare])
    best = max(accuracy, key=accuracy.get)
    torch.manual_seed(0)
    predict, size = train(X, y, int(flash), *best)
    np.savez(answer, predicted=predict(given["X_test"]), flash=size, about=f"{best[0]} dimensions, {best[1]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
