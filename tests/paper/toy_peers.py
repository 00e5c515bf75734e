"""Peers that work and peers that fail; imported by worker processes."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np

from counterset._base.arrays import Matrix
from counterset.exceptions import NoCounterfactualError
from counterset.paper.setups import Network


class Corner:
    """Reports the corner of the cube that the network classifies differently."""

    name = "corner"
    uses_norm = False

    def __init__(self, norm: int) -> None:
        self.norm = norm

    def fit(self, model: Network, X: Matrix) -> None:
        self.model = model

    def explain_many(self, X: Matrix) -> list[Matrix]:
        labels = self.model.predict(X)
        return [np.full((1, X.shape[1]), 0.0 if label else 1.0) for label in labels]


class Unchanged(Corner):
    """Reports the input itself, which is not a counterfactual."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        return [x[None, :] for x in X]


class Crashing(Corner):
    """Raises an error."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        raise RuntimeError("the matrix is on fire")


class Wordless(Corner):
    """Raises an error without a message."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        raise KeyError


class Dying(Corner):
    """Ends the process without a message."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        os._exit(3)


class Hanging(Corner):
    """Never returns."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        while True:
            time.sleep(60)


class Crooked(Corner):
    """Reports rows of the wrong length."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        return [np.ones((1, 3)) for _ in X]


class Killed(Corner):
    """Is ended by the system."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("unreachable")


class Greedy(Corner):
    """Takes memory without end."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        taken = []
        while True:
            taken.append(np.ones(10_000_000))


class Short(Corner):
    """Returns fewer sets than inputs."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        return super().explain_many(X)[:-1]


class Loud(Corner):
    """Prints while it works."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        sys.stdout.write("working " * 100_000)
        sys.stderr.write("warning " * 100_000)
        os.write(1, b"more")
        return super().explain_many(X)


class Tiring(Corner):
    """Ends the process when it is asked about a third row, each time anew."""

    asked = 0

    def explain_many(self, X: Matrix) -> list[Matrix]:
        self.asked += len(X)
        if self.asked > 2:
            os._exit(3)
        return super().explain_many(X)


class NothingFound(Corner):
    """Says with an error that there is no counterfactual."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        raise NoCounterfactualError("There is none.")


class Offering(Corner):
    """Reports the same five rows for each input of two features, whatever the class.

    The first is far, the second is nearer; the third is the first again, the fourth has the
    input's class, and the fifth changes the second feature.
    """

    def explain_many(self, X: Matrix) -> list[Matrix]:
        return [
            np.array([[0.9, x[1]], [0.7, x[1]], [0.9, x[1]], [0.2, x[1]], [0.8, x[1] / 2]])
            for x in X
        ]


class Rounding(Offering):
    """Reports the first of these rows, in single precision."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        return [
            found[:1].astype(np.float32).astype(np.float64) for found in super().explain_many(X)
        ]


class Silent(Corner):
    """Finds nothing."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        return [np.empty((0, X.shape[1])) for _ in X]
