"""How fast explaining is: defaults and the paper's settings, one row and a batch, beside others.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/speed.py --peers FOLDER

Spambase, German credit, adult (6,000 training rows), and a million made-up rows of 20 columns; four
models, behind encoders where there are categories. FOLDER holds the environments of the other
libraries, see `counterset peers --install`; without it, they are left out, and the table says so.
Everything may change. Prints a Markdown table.

- one row: the mean over the inputs, each alone. Calls and rows asked are those of the model.
- floor: the model's own time for the input, for one round of the search (31 points for each of
  the returned options) and for these options, in three calls.
- batch, model's share: the time of a batch, by that of the model for the same rows.
- nearest: the mean distance of the nearest option, as a share of the default's.

Times of ours are processor times, and so are their ratios to the floor and the model. Other
libraries run in processes of their own and are timed by the clock, without the pipe to the model;
"by NICE" compares times of the clock. The explainers take turns, and the best of the rounds counts.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import TREES, fit_model, load, print_row
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from counterset import DiverseExplainer, FewerCounterfactualsWarning, Schema
from counterset.paper.cells import CellError
from counterset.paper.isolation import IsolatedPeer

Rows = np.ndarray[Any, np.dtype[np.float64]]
PEERS = ("nice-sparsity", "dice-random-binary", "treecf")
#: What takes tenths of seconds or seconds is run once, for fewer inputs.
SLOW = ("dice-random-binary", "treecf")
#: An option's search asks about 31 points in one call.
ROUND = 31
#: The million rows: how many, and of how many the model learns.
MANY, COLUMNS, LEARNED = 1_000_000, 20, 20_000


def network(X: Rows, y: np.ndarray[Any, Any]) -> Callable[[Rows], np.ndarray[Any, Any]]:
    """Train the paper's d-20-10-2 network and return it as plain numpy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        trained = MLPClassifier((20, 10), max_iter=30, random_state=0).fit(X, y)
    (w0, w1, w2), (b0, b1, b2) = trained.coefs_, trained.intercepts_

    def predict(rows: Rows) -> np.ndarray[Any, Any]:
        hidden = np.maximum(rows @ w0 + b0, 0)
        hidden = np.maximum(hidden @ w1 + b1, 0)
        return (hidden @ w2 + b2)[:, 0] > 0

    return predict


def spambase(folder: str) -> tuple[Rows, np.ndarray[Any, Any]]:
    """Return the rows of spambase, scaled to [0, 1], and their classes."""
    frame = pd.read_csv(Path(folder) / "spambase.csv")
    y = frame.pop("Outcome").to_numpy()
    X = frame.to_numpy(dtype=float)
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)), y


def million() -> tuple[Rows, np.ndarray[Any, Any], Rows]:
    """Return a million rows, classes of the first ones, and inputs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(MANY + 1000, COLUMNS))
    score = X @ rng.normal(size=COLUMNS) + 2 * np.sin(2 * X[:, :5]).sum(axis=1)
    return X[:MANY], (score > 0)[:LEARNED].astype(int), X[MANY:]


class Recorder:
    """A model that keeps what it is asked, in which order, and how long it takes."""

    def __init__(self, model: Any) -> None:
        self.model, self.classes_ = model, model.classes_
        self.asked: list[int] = []
        self.seconds = 0.0

    def predict(self, rows: Any) -> Any:
        return self._ask(self.model.predict, rows)

    def predict_proba(self, rows: Any) -> Any:
        return self._ask(self.model.predict_proba, rows)

    def _ask(self, ask: Callable[[Any], Any], rows: Any) -> Any:
        self.asked.append(len(rows))
        start = time.process_time()
        answer = ask(rows)
        self.seconds += time.process_time() - start
        return answer

    def clear(self) -> None:
        self.asked, self.seconds = [], 0.0


class Ours:
    """An explainer of this library."""

    def __init__(self, make: Callable[[Any], DiverseExplainer], model: Any, train: Any) -> None:
        self.model = Recorder(model)
        self.explainer = make(self.model).fit(train)

    def one(self, row: Any) -> tuple[float, float, list[int], Any]:
        self.model.clear()
        clock, start = time.perf_counter(), time.process_time()
        found = self.explainer.explain_many(row, if_none="ignore")[0]
        seconds, clock = time.process_time() - start, time.perf_counter() - clock
        return seconds, clock, list(self.model.asked), found.counterfactuals

    def batch(self, rows: Any) -> tuple[float, float, int]:
        self.model.clear()
        start = time.process_time()
        self.explainer.explain_many(rows, if_none="ignore")
        return time.process_time() - start, self.model.seconds, sum(self.model.asked)


class Peer:
    """Another library, in a process of its own; it gets the model itself, which it may read."""

    def __init__(self, name: str, model: Any, train: Any, folder: Path) -> None:
        self.peer = IsolatedPeer(name, folder=folder, time_limit=120.0)
        self.peer.fit(model, train)

    def one(self, row: Any) -> tuple[float, float, list[int], Any]:
        (found,) = self.peer.explain_many(row)
        seconds = self.peer.cost.seconds
        return seconds, seconds, [self.peer.cost.rows], found


def cut(rows: Any, start: int, stop: int) -> Any:
    """Return some rows of a frame or an array."""
    return rows.iloc[start:stop] if isinstance(rows, pd.DataFrame) else rows[start:stop]


def floor_of(model: Any, train: Any, options: int) -> float:
    """Return the time of the least work for one input."""
    best = np.inf
    for _ in range(5):
        start = time.process_time()
        for count in (1, ROUND * options, options):
            model.predict(cut(train, 0, count))
        best = min(best, time.process_time() - start)
    return best


@dataclass
class Measured:
    """What one explainer took for each input, and what it found."""

    times: list[float] = field(default_factory=list)
    clock: list[float] = field(default_factory=list)
    asked: list[list[int]] = field(default_factory=list)
    sets: list[Any] = field(default_factory=list)


def explainers_of(
    kind: str, model: Any, train: Any, folder: Path | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the fitted explainers, and why others are missing."""
    scale = {} if isinstance(train, pd.DataFrame) else {"scale": "range"}
    explainers: dict[str, Any] = {
        "default": Ours(DiverseExplainer, model, train),
        "paper": Ours(lambda asked: DiverseExplainer.paper(asked, **scale), model, train),
    }
    missing: dict[str, str] = {}
    for peer in PEERS:
        if peer == "treecf" and kind not in TREES:
            continue
        if folder is None:
            missing[peer] = "not installed"
        elif len(train) == MANY:
            missing[peer] = "not run on a million rows"
        else:
            try:
                explainers[peer] = Peer(peer, model, train, folder)
            except CellError as error:
                missing[peer] = f"failed: {error}".splitlines()[0][:60]
    return explainers, missing


def run(explainers: dict[str, Any], inputs: list[Any], rounds: int, slow: int) -> dict[str, Any]:
    """Let the explainers take turns; the first round warms up."""
    found = {name: Measured() for name in explainers}
    for at in range(rounds + 1):
        for i, row in enumerate(inputs):
            for name, explainer in explainers.items():
                if name in SLOW and (at != 1 or i >= slow):
                    continue
                seconds, clock, asked, options = explainer.one(row)
                own = found[name]
                if at == 1:
                    own.times.append(seconds)
                    own.clock.append(clock)
                    own.asked.append(asked)
                    own.sets.append(options)
                elif at > 1:
                    own.times[i] = min(own.times[i], seconds)
                    own.clock[i] = min(own.clock[i], clock)
    return found


def measure(
    name: str, kind: str, data: tuple[Any, Any, Any], given: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the rows of a table and a model."""
    train, y, test = data
    model = fit_model(kind, cut(train, 0, len(y)), pd.Series(y))
    explainers, missing = explainers_of(kind, model, train, given.peers)
    inputs = [cut(test, i, i + 1) for i in range(100, 100 + given.inputs)]
    found = run(explainers, inputs, given.rounds, given.slow)
    distance = DiverseExplainer(model, schema=Schema(step=0)).fit(cut(train, 0, 5000)).distance_
    nearest = {
        each: {
            i: float(distance(inputs[i], options).min())
            for i, options in enumerate(own.sets)
            if len(options)
        }
        for each, own in found.items()
    }
    lines = []
    for each, own in found.items():
        options = float(np.mean([len(found) for found in own.sets]))
        both = [i for i in nearest[each] if i in nearest["default"]]
        mean, nice = float(np.mean(own.times)), found.get("nice-sparsity")
        floor = floor_of(model, train, max(round(options), 1))
        line = {
            "data": name,
            "model": kind,
            "explainer": each,
            "options": f"{options:.1f}",
            "nearest": _ratio([(nearest[each][i], nearest["default"][i]) for i in both]),
            "calls": "",
            "rows": f"{np.mean([sum(rows) for rows in own.asked]):.0f}",
            "one row, ms": f"{1000 * mean:.3g}",
            "by the floor": f"{mean / floor:.1f}x" if isinstance(explainers[each], Ours) else "",
            "by NICE": _ratio(list(zip(own.clock, nice.clock, strict=False))) if nice else "",
            "batch, ms each": "",
            "rows in the batch, each": "",
            "batch by the model": "",
        }
        if isinstance(explainers[each], Ours):
            line["calls"] = f"{np.mean([len(rows) for rows in own.asked]):.1f}"
            batch = cut(test, 100, 100 + given.batch)
            seconds, alone, rows = min(explainers[each].batch(batch) for _ in range(2))
            line["batch, ms each"] = f"{1000 * seconds / given.batch:.3g}"
            line["rows in the batch, each"] = f"{rows / given.batch:.0f}"
            line["batch by the model"] = f"{seconds / alone:.2f}x"
        lines.append(line)
    names = {"data": name, "model": kind}
    return lines + [names | {"explainer": f"{each}: {why}"} for each, why in missing.items()]


def _ratio(pairs: list[tuple[float, float]]) -> str:
    """Return the sum of the first numbers by that of the second ones."""
    return f"{sum(a for a, _ in pairs) / sum(b for _, b in pairs):.2f}x" if pairs else ""


def read(name: str) -> tuple[Any, Any, Any]:
    """Return training rows, classes of the first ones, and test rows."""
    if name == "million":
        return million()
    train, y, test = load(name)
    if name == "spambase":
        rows = [each.to_numpy(np.float64) for each in (train, test)]
        low, high = rows[0].min(axis=0), rows[0].max(axis=0)
        train, test = ((each - low) / (high - low) for each in rows)
        y = pd.Series(pd.Categorical(y).codes)
    return train, y, test


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="german_credit,adult,spambase,million")
    parser.add_argument("--models", default="boosting,forest,logistic,network")
    parser.add_argument("--peers", type=Path, help="the folder of their environments")
    parser.add_argument("--inputs", type=int, default=10)
    parser.add_argument("--slow", type=int, default=2, help="inputs of what takes seconds")
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    heading = True
    for name in given.datasets.split(","):
        data = read(name)
        for kind in given.models.split(","):
            for line in measure(name, kind, data, given):
                print_row(line, heading=heading)
                heading = False


if __name__ == "__main__":
    main()
