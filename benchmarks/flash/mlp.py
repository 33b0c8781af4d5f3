"""A neural network with one hidden layer in int8: which pixels, and how many hidden units, by validation.

All pixels would leave room for a unit or two, so that it gets the pixels that a forest finds most important.
"""

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from benchmarks.flash.found import CHIP, Found, validation_split
from smallearn.devices._measure import measure
from smallearn.devices._toolchain import Program

INPUTS = (25, 40, 60, 80, 110, 150, 200, 300)
PENALTIES = (1e-3, 1e-1)
CODE, PER_UNIT = 80, 5  # bytes: about what the loops take, and a unit besides its weights
LARGEST = 127
SEEDS = 3  # the last training is repeated: some end in a bad minimum
BITS = 6  # by which a hidden unit is shortened, so that sums fit 32 bits

SOURCE = """\
static const int8_t weight[] = {{{weight}}};
static const int32_t constant[] = {{{constant}}};
static const int8_t out[] = {{{out}}};
static uint8_t network(const int8_t *x)
{{
    const int8_t *w = weight;
    int32_t score = {score};
    uint8_t j;
    for (j = 0; j < {units}; j++) {{
        int32_t z = constant[j];
        {count} i;
        for (i = 0; i < {inputs}; i++) z += *w++ * x[i];
        if (z > 0) score += (z >> {bits}) * out[j];
    }}
    return score > 0;
}}
"""


@dataclass(frozen=True)
class Network:
    """A network in whole numbers on the pixels ``used``."""

    used: np.ndarray
    weight: np.ndarray  # inputs × units
    constant: np.ndarray
    out: np.ndarray
    score: int

    @classmethod
    def of(cls, trained: MLPClassifier, used: np.ndarray) -> "Network":
        """The weights of each layer, by one factor each; pixels are between 0 and 127."""
        (weight, out), (constant, score) = trained.coefs_, trained.intercepts_
        first, second = LARGEST / np.abs(weight).max(), LARGEST / np.abs(out).max()
        return cls(
            used=used,
            weight=np.round(weight * first).astype(np.int64),
            constant=np.round(constant * first * LARGEST).astype(np.int64),
            out=np.round(out[:, 0] * second).astype(np.int64),
            score=int(np.round(score[0] * second * first * LARGEST / 2**BITS)),
        )

    def predict(self, X: np.ndarray) -> np.ndarray:
        """What the chip answers."""
        z = np.round(X[:, self.used] * LARGEST).astype(np.int64) @ self.weight + self.constant
        return (self.score + (np.maximum(z, 0) >> BITS) @ self.out > 0).astype(np.int64)

    @property
    def program(self) -> Program:
        """The network in C."""
        inputs, units = self.weight.shape
        source = SOURCE.format(
            weight=", ".join(map(str, self.weight.T.ravel())),
            constant=", ".join(map(str, self.constant)),
            out=", ".join(map(str, self.out)),
            score=self.score,
            inputs=inputs,
            units=units,
            count="uint8_t" if inputs < 256 else "uint16_t",
            bits=BITS,
        )
        return Program(source, "return network(x);", "int8", inputs)


def mlp(X: np.ndarray, y: np.ndarray, flash: int) -> Found:
    """The best of the networks that fit."""
    fit, compare = validation_split(y)
    settings = [
        (inputs, units, penalty)
        for inputs in INPUTS
        if inputs <= X.shape[1]
        if (units := (flash - CODE) // (inputs + PER_UNIT)) > 0
        for penalty in PENALTIES
    ]
    important = importance(X[fit], y[fit])
    accuracy = {
        one: np.mean(_train(X[fit], y[fit], important, *one).predict(X[compare]) == y[compare]) for one in settings
    }
    important = importance(X, y)
    for setting in sorted(settings, key=lambda one: -accuracy[one]):
        trained = [_train(X, y, important, *setting, seed) for seed in range(SEEDS)]
        network = max(trained, key=lambda one: np.mean(one.predict(X) == y))
        size = measure(network.program, CHIP, np.zeros((1, setting[0]))).flash
        if size <= flash:
            return Found(
                "int8 MLP", f"{setting[0]} pixels, {setting[1]} units", size, partial(Network.predict, network)
            )
    raise ValueError(f"No network takes at most {flash} bytes.")


def importance(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The pixels, the most important first."""
    return np.argsort(-ExtraTreesClassifier(200, random_state=0).fit(X, y).feature_importances_, kind="stable")


def _train(
    X: np.ndarray, y: np.ndarray, important: np.ndarray, inputs: int, units: int, penalty: float, seed: int = 0
) -> Network:
    used = np.sort(important[:inputs])
    model = MLPClassifier((units,), alpha=penalty, learning_rate_init=0.005, max_iter=100, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[:, used], y)
    return Network.of(model, used)
