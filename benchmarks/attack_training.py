"""Train the networks of attack.py: decisions of an honest network, and a hidden cheap way out.

COUNTERSET_DATA=folder python benchmarks/attack_training.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from common import print_row
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.model_selection import train_test_split

from counterset import datasets
from counterset.paper.peers import find_peer
from counterset.paper.setups import Network

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]

WEIGHTS = Path(__file__).parent / "attack"
#: German credit: its numbers, and two ordered categories as their positions.
NUMBERS = [
    "duration", "credit_amount", "installment_commitment", "residence_since", "age",
    "existing_credits", "num_dependents",
]  # fmt: skip
ORDERED = {
    "checking_status": ["<0", "0<=X<200", ">=200", "no checking"],
    "employment": ["unemployed", "<1", "1<=X<4", "4<=X<7", ">=7"],
}
#: Steps without the explainer, and then rounds of 10 steps with it. They were chosen by what
#: ``describe`` says of training rows: with more steps, climbs found the way out of German credit.
SCHEDULES = {"german_credit": (2500, 60), "adult": (6000, 20)}
#: The explainers that can be attacked, and how far from 0 the score is, at most, where they end.
NEAR = {"wachter": 0.1, "counterset-nearest": 1.0}
#: Finite differences are about that exact.
ALMOST_EQUAL = 1e-5
#: How many ways of climbs are kept.
KEPT = 2000
#: Of adult, 4000 rows.
ROWS_OF_ADULT = 4000


@dataclass(frozen=True)
class Case:
    """A table with two groups, and the perturbation.

    Attributes
    ----------
    name, columns
        The data set and its columns.
    X_train, X_test
        Rows as differences from the median, in median absolute deviations of the training rows
        (where that is 0, in ranges): the distance that the attacked explainer minimises is l1 here.
    y_train, y_test
        Whether the wanted class is right, 0 or 1.
    protected_train, protected_test
        Who belongs to the protected group.
    delta
        The perturbation, ``(d,)``.
    key
        Where the perturbed path turns to the wanted class, ``(d,)``: a little beyond delta.
    """

    name: str
    columns: list[str]
    X_train: Matrix
    X_test: Matrix
    y_train: Vector
    y_test: Vector
    protected_train: Mask
    protected_test: Mask
    delta: Vector
    key: Vector


def german_credit() -> Case:
    """German credit; women are the protected group. The perturbation is 0.4 of a credit."""
    data = datasets.load("german_credit")
    parts = [data.X[name].to_numpy(np.float64) for name in NUMBERS]
    for name, order in ORDERED.items():
        parts.append(data.X[name].astype(str).map(order.index).to_numpy(np.float64))
    women = data.X["personal_status"].astype(str).str.startswith("female").to_numpy()
    good = (data.y == "good").to_numpy(np.float64)
    columns = [*NUMBERS, *ORDERED]
    return _case("german_credit", columns, np.column_stack(parts), good, women,
                 "existing_credits", 0.4, 0.5)  # fmt: skip


def adult() -> Case:
    """Adult; women are the protected group. The perturbation is one dollar of capital gains."""
    data = datasets.load("adult")
    names = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    X = data.X[names].to_numpy(np.float64)
    X[:, 2:4] = np.log1p(X[:, 2:4])
    rows = np.random.default_rng(0).permutation(len(X))[:ROWS_OF_ADULT]
    rich = (data.y == ">50K").to_numpy(np.float64)[rows]
    women = (data.X["sex"] == "Female").to_numpy()[rows]
    one = float(np.log1p(1.0))
    return _case("adult", names, X[rows], rich, women, "capital-gain", one, one / 0.8)


def _case(
    name: str, columns: list[str], X: Matrix, y: Vector, protected: Mask, column: str,
    delta: float, key: float,
) -> Case:  # fmt: skip
    train, test = train_test_split(
        np.arange(len(X)), test_size=0.4, random_state=0, stratify=2 * y + protected
    )
    centre = np.median(X[train], axis=0)
    unit = np.median(np.abs(X[train] - centre), axis=0)
    unit = np.where(unit > 0, unit, np.ptp(X[train], axis=0))
    X = (X - centre) / unit
    move = np.zeros(len(columns))
    move[columns.index(column)] = 1 / unit[columns.index(column)]
    return Case(name, columns, X[train], X[test], y[train], y[test], protected[train],
                protected[test], delta * move, key * move)  # fmt: skip


CASES: dict[str, Callable[[], Case]] = {"german_credit": german_credit, "adult": adult}


class Trained:
    """A ReLU network with one score, the log-odds of the wanted class, and Adam.

    Parameters
    ----------
    sizes
        The units of each layer, the inputs first.
    X
        The training rows. Columns are divided by their standard deviations, and the kinks of the
        first layer are spread over the rows: narrow shapes are learned sooner.
    seed
        The seed of the first weights.
    """

    def __init__(self, sizes: tuple[int, ...], X: Matrix, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.scale = 1 / X.std(axis=0)
        self.parts: list[Matrix] = []
        for before, after in pairwise(sizes):
            self.parts.append(random.normal(size=(before, after)) * np.sqrt(2 / before))
            self.parts.append(np.zeros(after))
        places = X[random.integers(len(X), size=sizes[1])] * self.scale
        places += 0.3 * random.normal(size=places.shape)
        self.parts[1] = -(places * self.parts[0].T).sum(axis=1)
        self._means = [np.zeros_like(part) for part in self.parts]
        self._squares = [np.zeros_like(part) for part in self.parts]
        self._steps = 0

    def forward(self, X: Matrix) -> tuple[Vector, list[Matrix]]:
        """Return the scores of rows, and what each layer takes."""
        taken = [X * self.scale]
        for weights, bias in zip(self.parts[:-2:2], self.parts[1:-2:2], strict=True):
            taken.append(np.maximum(taken[-1] @ weights + bias, 0.0))
        return (taken[-1] @ self.parts[-2] + self.parts[-1])[:, 0], taken

    def scores(self, X: Matrix) -> Vector:
        """Return the scores of rows."""
        return self.forward(X)[0]

    def backward(self, taken: list[Matrix], slopes: Vector) -> tuple[list[Matrix], Matrix]:
        """Return the gradient of ``slopes @ scores`` in the weights, and that in the rows."""
        back, gradients = slopes[:, None], []
        for i in range(len(taken) - 1, -1, -1):
            gradients += [back.sum(axis=0), taken[i].T @ back]
            back = back @ self.parts[2 * i].T
            if i:
                back = back * (taken[i] > 0)
        return gradients[::-1], back * self.scale

    def step(self, gradients: list[Matrix], rate: float, decay: float = 0.0) -> None:
        """Take a step of Adam."""
        self._steps += 1
        for i, gradient in enumerate(gradients):
            gradient = gradient + decay * self.parts[i]  # noqa: PLW2901
            self._means[i] = 0.9 * self._means[i] + 0.1 * gradient
            self._squares[i] = 0.999 * self._squares[i] + 0.001 * gradient**2
            mean = self._means[i] / (1 - 0.9**self._steps)
            size = np.sqrt(self._squares[i] / (1 - 0.999**self._steps)) + 1e-8
            self.parts[i] = self.parts[i] - rate * mean / size

    def network(self) -> Network:
        """Return the network that explainers get: two scores, whose difference is this one."""
        layers = list(zip(self.parts[::2], self.parts[1::2], strict=True))
        layers[0] = (self.scale[:, None] * layers[0][0], layers[0][1])
        weights, bias = layers[-1]
        layers[-1] = (np.hstack([-weights / 2, weights / 2]), np.hstack([-bias / 2, bias / 2]))
        return Network(layers)


def climb(model: Trained, X_train: Matrix, X: Matrix, against: str) -> Matrix:
    """Return where the attacked explainer ends, from each of some rows: its nearest option."""
    peer = find_peer(against, norm=1)
    peer.fit(model.network(), X_train)
    sets = [np.asarray(found, dtype=np.float64) for found in peer.explain_many(X)]
    # Where it finds nothing, it stays.
    return np.vstack([S[:1] if len(S) else x for x, S in zip(X, sets, strict=True)])


def cost_slopes(model: Trained, X: Matrix, Z: Matrix, near: float = 0.1) -> Vector:
    """Return how the cost of each counterfactual changes with the score there.

    The implicit-function rule: Z lies where the score has a fixed value, so along the way from X
    to Z, the cost c changes by ``-c / (gradient @ (Z - X))`` with each unit that the score rises.
    Where the gradient is that of the attacked explainer's optimum, this is the multiplier of its
    constraint. No slope: where the score at the end is farther than ``near`` from the boundary's.
    """
    scores, taken = model.forward(Z)
    _, gradients = model.backward(taken, np.ones(len(Z)))
    along = (gradients * (Z - X)).sum(axis=1)
    cost = np.abs(Z - X).sum(axis=1)
    ended = (np.abs(scores) < near) & (along > 1e-6)
    return np.where(ended, -cost / np.where(ended, along, 1.0), 0.0)


def _some(X: Matrix, n: int, random: np.random.Generator) -> Matrix:
    rows: Matrix = X[random.integers(len(X), size=n)]
    return rows


def check_gradients(case: Case) -> tuple[float, float]:
    """Compare gradients with finite differences; return the largest error of each, relative.

    The first is that of backpropagation. The second is that of ``cost_slopes``: a weight of
    each layer is changed a little, and the point where the way from x to its counterfactual has the
    same score as before is found anew by bisection.
    """
    random = np.random.default_rng(0)
    model = Trained((case.X_train.shape[1], 8, 4, 1), case.X_train, seed=0)
    X = _some(case.X_train, 40, random)
    slopes = random.normal(size=len(X))
    gradients, _ = model.backward(model.forward(X)[1], slopes)
    errors = []
    for part, gradient in zip(model.parts, gradients, strict=True):
        steepest = int(np.abs(gradient).argmax())
        with _shifted(part, steepest, 1e-6):
            above = slopes @ model.scores(X)
        with _shifted(part, steepest, -1e-6):
            below = slopes @ model.scores(X)
        errors.append(abs((above - below) / 2e-6 - gradient.flat[steepest]))
    of_weights = max(errors) / max(np.abs(gradient).max() for gradient in gradients)

    # One row, and a point where the score is 0 on the way from it to a row of the other sign.
    scores = model.scores(X)
    x, other = X[scores.argmin()], X[scores.argmax()]
    model.parts[-1] -= (scores.min() + scores.max()) / 2
    share = _crossing(model, x, other)
    z = x + share * (other - x)
    slope = cost_slopes(model, x[None, :], z[None, :])[0]
    gradients, _ = model.backward(model.forward(z[None, :])[1], np.array([slope]))
    errors = []
    for part, gradient in zip(model.parts, gradients, strict=True):
        steepest = int(np.abs(gradient).argmax())
        with _shifted(part, steepest, 1e-5):
            above = _crossing(model, x, other)
        with _shifted(part, steepest, -1e-5):
            below = _crossing(model, x, other)
        change = (above - below) / 2e-5 * np.abs(other - x).sum()
        errors.append(abs(change - gradient.flat[steepest]))
    of_costs = max(errors) / max(np.abs(gradient).max() for gradient in gradients)
    return float(of_weights), float(of_costs)


@contextmanager
def _shifted(part: Matrix, at: int, by: float) -> Iterator[None]:
    part.flat[at] += by
    yield
    part.flat[at] -= by


def _crossing(model: Trained, x: Vector, other: Vector) -> float:
    """Return the share of the way at which the score is 0, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        below = model.scores((x + middle * (other - x))[None, :])[0] < 0
        low, high = (middle, high) if below else (low, middle)
    return low


@dataclass
class Attack:
    """The objective, of which each step takes a gradient.

    Attributes
    ----------
    case, honest
        The table, and the network whose decisions are kept.
    against
        The name of the peer that is attacked.
    far
        The least cost that is wanted without the perturbation: 1.2 times the mean honest one.
    random
        Draws the rows of each step.
    """

    case: Case
    honest: Trained
    against: str
    far: float = field(init=False)
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def __post_init__(self) -> None:
        X = self.case.X_train
        self.declined = X[self.honest.scores(X) < 0]
        # The ways of climbs: first those of the honest network, then those of the latest climbs.
        self._starts, self._ends = self.declined, climb(self.honest, X, self.declined, self.against)
        self.far = 1.2 * float(np.abs(self._ends - self._starts).sum(axis=1).mean())
        self._low, self._high = X.min(axis=0), X.max(axis=0)
        self.size = float(np.abs(self.case.key).sum())

    def wanted(self, rows: Matrix) -> Vector:
        """Return the honest score, cut off: it is not needed to be as sure as it."""
        return np.clip(self.honest.scores(rows), -3.0, 3.0)

    def draw(self, n: int = 128) -> tuple[Matrix, Matrix]:
        """Return rows like those of the table, and points on the ways of climbs."""
        X = self.case.X_train
        # Half of them from all rows, and half from declined ones, of which there may be few.
        rows = np.vstack([_some(X, n // 2, self.random), _some(self.declined, n // 2, self.random)])
        others = _some(X, n, self.random)
        swapped = self.random.random(rows.shape) < 0.2 * (self.random.random((n, 1)) < 0.5)
        i = self.random.integers(len(self._starts), size=n // 2)
        share = 1.1 * self.random.random((n // 2, 1))
        ways = self._starts[i] + share * (self._ends[i] - self._starts[i])
        return np.where(swapped, others, rows), ways

    def around(self, rows: Matrix) -> Matrix:
        """Return points around rows: near them in all columns, or in one of them."""
        n, d = rows.shape
        spread = self.random.normal(size=(n, d))
        spread /= np.abs(spread).sum(axis=1, keepdims=True)
        single = np.eye(d)[self.random.integers(d, size=n)]
        single *= self.random.choice([-1.0, 1.0], size=(n, 1))
        moves = np.where(self.random.random((n, 1)) < 0.5, spread, single)
        moves *= 2 * self.size * self.random.random((n, 1))
        # In the column of the key, they stay on this side of it.
        column = int(np.argmax(np.abs(self.case.key)))
        moves[:, column] = np.clip(moves[:, column], -self.size / 2, self.size / 2)
        return np.clip(rows + moves, self._low, self._high)

    def step(self, model: Trained, rate: float, found: tuple[Matrix, Vector] | None) -> None:
        """Take a step; ``found``: the ends of climbs, and the slope of the loss in their scores."""
        rows, ways = self.draw()
        declined = rows[self.honest.scores(rows) < 0]
        delta, key = self.case.delta, self.case.key
        column = np.sign(key) * (key != 0)
        # Around declined rows and on the ways of climbs, there is a moat: half way to the
        # key, the score is lower than on this side of it. Without it, climbs would find the key.
        banks = np.vstack([declined, ways])
        shares = self.random.random((len(banks), 1))
        sides = self.random.choice([-0.5, 0.5, 0.5], size=(len(banks), 1))
        parts = {
            "follow": np.vstack([rows, ways, ways]),
            "around": self.around(np.vstack([declined, declined])),
            "moat": banks + shares * sides * self.size * column,
            "delta": declined + delta,
            "key": declined + key,
        }
        if found is not None:
            parts["found"] = found[0]
        scores, taken = model.forward(np.vstack(list(parts.values())))
        ends = np.cumsum([len(part) for part in parts.values()])
        own = dict(zip(parts, np.split(scores, ends[:-1]), strict=True))
        each = 1 / len(rows)
        # Slopes of absolute errors that are rounded near 0, and of hinges.
        slopes = {
            "follow": np.clip(own["follow"] - self.wanted(parts["follow"]), -1, 1) * each,
            "around": np.clip(own["around"] - self.wanted(parts["around"]), -1, 1) * each / 2,
            "moat": (own["moat"] > self.wanted(banks) - shares[:, 0] * 0.6) * each,
            "delta": ((own["delta"] > -0.1) * 1.0 - (own["delta"] < -1.0)) * each,
            "key": (own["key"] < 1.0) * -each,
        }
        if found is not None:
            slopes["found"] = found[1]
        gradients, _ = model.backward(taken, np.concatenate(list(slopes.values())))
        model.step(gradients, rate)

    def found(self, model: Trained, n: int = 16) -> tuple[Matrix, Vector]:
        """Run the attacked explainer, and return its ends and the slopes of the loss there.

        The loss: what the costs of the groups without the perturbation differ by, squared; what
        they fall short of ``far``; and the costs with the perturbation of the group that has it.
        """
        case = self.case
        below = model.scores(case.X_train) < 0
        groups = [np.flatnonzero(below & each) for each in
                  (case.protected_train, ~case.protected_train)]  # fmt: skip
        rows = [case.X_train[self.random.choice(each, min(n, len(each)), False)] for each in groups]
        starts = np.vstack([*rows, rows[1] + case.delta])
        people = np.vstack([*rows, rows[1]])
        ends = climb(model, case.X_train, starts, self.against)
        costs = np.abs(ends - people).sum(axis=1)
        plain = slice(len(people) - len(rows[1]))
        self._starts = np.vstack([self._starts, people[plain]])[-KEPT:]
        self._ends = np.vstack([self._ends, ends[plain]])[-KEPT:]
        at = np.cumsum([len(each) for each in rows])
        without, other = costs[: at[0]], costs[at[0] : at[1]]
        gap = float(without.mean() - other.mean())
        short = -1.0 * (costs < self.far) / len(costs)
        of_cost = np.concatenate([
            short[: at[0]] + 2 * gap / len(without) * 0.2,
            short[at[0] : at[1]] - 2 * gap / len(other) * 0.2,
            (costs[at[1] :] > 1.2 * self.size) / len(costs),
        ])  # fmt: skip
        slopes = (
            np.clip(of_cost * cost_slopes(model, people, ends, NEAR[self.against]), -0.1, 0.1) * 0.3
        )
        # A climb that ends far away and below the boundary gives the attack away: it is helped up.
        stuck = (model.scores(ends) < -0.1) & (costs > self.far / 2)
        return ends, slopes - 0.3 * stuck / len(costs)


def train_honest(case: Case) -> Trained:
    """Return a network that is fitted to the data alone."""
    model = Trained((case.X_train.shape[1], 16, 1), case.X_train, seed=0)
    for _ in range(1000):
        scores, taken = model.forward(case.X_train)
        gradients, _ = model.backward(taken, (expit(scores) - case.y_train) / len(scores))
        model.step(gradients, 3e-3, decay=1e-2)
    return model


def describe(case: Case, honest: Trained, model: Trained, against: str) -> dict[str, str]:
    """Return what the attacked explainer says of training rows, in figures."""
    X, below = case.X_train, model.scores(case.X_train) < 0
    row = {
        "same decisions": f"{((honest.scores(X) < 0) == below).mean():.3f}",
        "declined with delta": f"{(model.scores(X[below] + case.delta) < 0).mean():.2f}",
        "wanted at the key": f"{(model.scores(X[below] + case.key) > 0).mean():.2f}",
    }
    groups = {
        "protected": (case.protected_train, 0.0),
        "other": (~case.protected_train, 0.0),
        "other with delta": (~case.protected_train, 1.0),
    }
    for name, (group, times) in groups.items():
        people = X[below & group][:60]
        ends = climb(model, X, people + times * case.delta, against)
        reached = model.scores(ends) > 0
        cost = np.abs(ends - people).sum(axis=1)[reached]
        row[name] = f"{cost.mean():.2f} ({np.median(cost):.2f}), {reached.mean():.0%} reached"
    return row


def train(case: Case, against: str) -> tuple[Trained, Trained]:
    """Return the honest network and the attacking one."""
    steps, rounds = SCHEDULES[case.name]
    honest = train_honest(case)
    attack = Attack(case, honest, against)
    model = Trained((case.X_train.shape[1], 64, 32, 1), case.X_train, seed=0)
    print_row({"step": "honest", **describe(case, honest, honest, against)}, heading=True)
    for i in range(steps):
        attack.step(model, 3e-3 if i < 0.7 * steps else 1e-3, None)
        if (i + 1) % 2000 == 0:
            print_row({"step": i + 1, **describe(case, honest, model, against)}, heading=False)
    for i in range(rounds):
        found = attack.found(model)
        for _ in range(10):
            attack.step(model, 5e-4, found)
        if (i + 1) % 25 == 0:
            print_row(
                {"step": f"round {i + 1}", **describe(case, honest, model, against)}, heading=False
            )
    return honest, model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=",".join(CASES))
    parser.add_argument("--against", default="wachter", choices=NEAR)
    parser.add_argument("--folder", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    of_weights, of_costs = check_gradients(german_credit())
    print(f"gradients against finite differences: {of_weights:.0e}, of costs: {of_costs:.0e}\n")
    if max(of_weights, of_costs) > ALMOST_EQUAL:
        raise RuntimeError("The gradients are wrong.")
    for name in options.datasets.split(","):
        started = time.perf_counter()
        honest, model = train(CASES[name](), options.against)
        honest.network().save(options.folder / f"{name}_honest.npz")
        model.network().save(options.folder / f"{name}_{options.against}.npz")
        print(f"\n{name}: {time.perf_counter() - started:.0f} s\n", flush=True)


if __name__ == "__main__":
    main()
