"""The paper's classifiers: small networks, with the published weights or trained here."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from counterset._base.arrays import Codes, Matrix
from counterset.benchmark.data import Split
from counterset.exceptions import InvalidInputError

__all__ = ["Network", "obtain", "train"]


@dataclass(frozen=True, eq=False)
class Network:
    """A network of dense layers, ReLU between them and softmax at the end.

    Parameters
    ----------
    weights, biases
        One of each for every layer.

    Examples
    --------
    >>> network = Network((np.array([[-1.0, 1.0]]),), (np.array([0.5, -0.5]),))
    >>> network.predict(np.array([[0.2], [0.9]]))
    array([0, 1])
    """

    weights: tuple[Matrix, ...]
    biases: tuple[Matrix, ...]

    @classmethod
    def load(cls, file: Path) -> Network:
        """Read ``W0``, ``b0``, ``W1``, ... from an ``.npz`` file."""
        if not file.is_file():
            raise InvalidInputError(
                f"There are no weights at {file}. Pass a folder that holds one .npz file per "
                f"dataset, or leave --weights out to train the networks."
            )
        with np.load(file) as arrays:
            layers = range(len(arrays.files) // 2)
            return cls(
                tuple(arrays[f"W{i}"].astype(np.float64) for i in layers),
                tuple(arrays[f"b{i}"].astype(np.float64) for i in layers),
            )

    def save(self, file: Path) -> None:
        """Write the weights as ``load`` reads them."""
        file.parent.mkdir(parents=True, exist_ok=True)
        layers = enumerate(zip(self.weights, self.biases, strict=True))
        arrays = {name + str(i): v for i, wb in layers for name, v in zip("Wb", wb, strict=True)}
        # Written aside first: an interrupted run leaves no half file behind.
        unfinished = file.with_name(f"{file.stem}.{os.getpid()}.npz")
        np.savez(unfinished, **arrays)  # type: ignore[arg-type]
        unfinished.replace(file)

    def logits(self, X: Matrix) -> Matrix:
        """Give the values before the softmax, one per class."""
        values = np.asarray(X, dtype=np.float64)
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = values @ weight + bias
            if i + 1 < len(self.weights):
                np.maximum(values, 0, out=values)
        return values

    def predict(self, X: Matrix) -> Codes:
        """Give the class of each row."""
        classes: Codes = self.logits(X).argmax(axis=1)
        return classes

    def predict_proba(self, X: Matrix) -> Matrix:
        """Give the probability of each class."""
        logits = self.logits(X)
        powers: Matrix = np.exp(logits - logits.max(axis=1, keepdims=True))
        powers /= powers.sum(axis=1, keepdims=True)
        return powers

    def accuracy(self, split: Split) -> float:
        """Give the share of test rows that are classified rightly."""
        return float((self.predict(split.X_test) == split.y_test).mean())


def train(split: Split, epochs: int = 100) -> Network:
    """Train a network as the paper did: 20 and 10 units, plain SGD, batches of 8, 100 epochs."""
    classifier = MLPClassifier(
        (20, 10),
        solver="sgd",
        batch_size=8,
        learning_rate_init=0.01,
        momentum=0.0,
        alpha=0.0,
        max_iter=epochs,
        n_iter_no_change=epochs,
        random_state=0,
    )
    with warnings.catch_warnings():
        # A fixed number of epochs is what is wanted, converged or not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(split.X_train, split.y_train)
    *hidden, last = zip(classifier.coefs_, classifier.intercepts_, strict=True)
    # One logistic unit says class 1 where it is positive, as softmax over (0, z) does.
    pair = np.hstack([np.zeros_like(last[0]), last[0]]), np.array([0.0, last[1][0]])
    weights, biases = zip(*hidden, pair, strict=True)
    return Network(weights, biases)


def obtain(split: Split, weights: Path | None, cache: Path) -> Network:
    """Give the network of a dataset: the published one, or our own, trained once and kept."""
    if weights is not None:
        return Network.load(weights / f"{split.name}.npz")
    file = cache / "networks" / f"{split.name}.npz"
    if not file.is_file():
        train(split).save(file)
    return Network.load(file)
