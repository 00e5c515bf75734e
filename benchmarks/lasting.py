"""Answers that last: options and sets after retraining and under noise, and whose rows they are.

    COUNTERSET_DATA=folder python benchmarks/lasting.py --people 20 --bootstraps 8

Other explainers run beside ours: their libraries are those of `counterset peers --install`, or of
this environment. Without a library, its row says so.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import IMMUTABLE, TREES, behind_encoders, fit_model, load, print_row
from common import MODELS as KINDS
from scipy.stats import beta

from counterset import (
    Constraints,
    CountersetWarning,
    DiverseExplainer,
    Nearest,
    Paper,
    Shared,
)
from counterset.evaluation import retrainings
from counterset.evaluation.noise import NumericColumns
from counterset.paper import IsolatedPeer
from counterset.paper.cells import CellError
from counterset.paper.peers.protocol import takes

#: What is compared: the parameters of an explainer, given models that were trained again. A setting
#: more is a line more.
SETTINGS: dict[str, Callable[[list[Any]], dict[str, Any]]] = {
    "nearest": lambda again: {"strategy": Nearest()},
    "nearest, one": lambda again: {"strategy": Nearest(), "max_counterfactuals": 1},
    "nearest, safe=1": lambda again: {"strategy": Nearest(safe=1)},
    "nearest, safe=2": lambda again: {"strategy": Nearest(safe=2)},
    "nearest, safe=1, models": lambda again: {"strategy": Nearest(safe=1, models=again)},
    "nearest, safe=2, models": lambda again: {"strategy": Nearest(safe=2, models=again)},
    "nearest, margin=0.05": lambda again: {"strategy": Nearest(), "margin": 0.05},
    "shared": lambda again: {"strategy": Shared()},
    "shared, safe=1": lambda again: {"strategy": Shared(safe=1)},
    "paper": lambda again: {"strategy": Paper()},
    "paper, rows": lambda again: {"strategy": Paper(search=None)},
}
#: Other explainers, by the names of `counterset.paper.peers`, and one that is written below.
BETARCE = "betarce-like"
PEERS = ("dice-random", "nice", "treecf", "roar", BETARCE)
#: People are declined: these classes are not wanted.
DECLINED = {"german_credit": "bad", "diabetes": 1, "spambase": "spam", "adult": "<=50K"}
#: How far people miss an option: the standard deviation of each number it sets, as a share of the
#: number's usual range.
NOISE = (0.01, 0.03)
#: Each option is missed this often.
REPEATS = 20
#: Models that choose options: they are trained again, and take no part in judging. The first 10.
#: If all agree, a share of 80 % of such models agrees with a confidence of 90 %.
CHOOSING, FIRST_SEED = 10, 1000
LEAST_SHARE, CONFIDENCE = 0.8, 0.9
#: The spheres that BetaRCE's search grows by, and the points drawn in each.
GROWTH, LARGEST, POINTS = 0.05, 3.0, 100
#: A library gets ten minutes for the people of a table.
TIME_LIMIT = 600.0


@dataclass(frozen=True, eq=False)
class Answers:
    """The options of some people, as codes of a table.

    Attributes
    ----------
    matrix
        The options, those of one person after the other.
    counts
        How many each person has.
    seconds
        The processor time of all.
    """

    matrix: Any
    counts: Any
    seconds: float

    @property
    def owners(self) -> Any:
        return np.repeat(np.arange(len(self.counts)), self.counts)


@dataclass(frozen=True, eq=False)
class Case:
    """The declined people of a data set, the model that declines them, and what both are made of.

    Attributes
    ----------
    declined
        The class that is not wanted.
    base
        The default explainer, fitted.
    again
        Models that were trained again, to choose options by.
    """

    name: str
    train: Any
    people: Any
    declined: Any
    model: Any
    base: DiverseExplainer
    again: list[Any]

    @property
    def table(self) -> Any:
        return self.base.training_.table

    @property
    def inputs(self) -> Any:
        return self.table.encode(self.people)[0]

    def works(self, model: Any, matrix: Any) -> Any:
        """Return for which rows a model says another class than that of the people."""
        if not len(matrix):
            return np.zeros(0, dtype=bool)
        return np.asarray(model.predict(self.table.decode(matrix))) != self.declined

    def missed(self, matrix: Any, owners: Any, size: Any, random: np.random.Generator) -> Any:
        """Return rows whose changed numbers are missed by normal errors, of a size in usual ranges.

        What an option leaves as it is stays.
        """
        columns = NumericColumns.of(self.table, self.base.distance_.space)
        unit = np.zeros(matrix.shape[1])
        unit[columns.positions] = columns.unit
        moved = (matrix != self.inputs[owners]) & (unit > 0)
        rows = matrix + moved * unit * size * random.standard_normal(matrix.shape)
        return np.where(moved, columns.confine(rows, matrix), matrix)


def own(case: Case, parameters: dict[str, Any]) -> Answers:
    """Explain with this library."""
    kept = Constraints(immutable=IMMUTABLE.get(case.name, []))
    if set(parameters) == {"strategy"}:
        explainer = case.base.with_strategy(parameters["strategy"])
    else:
        explainer = DiverseExplainer(case.model, constraints=kept, **parameters).fit(case.train)
    started = time.process_time()
    found = explainer.explain_many(case.people, if_none="ignore")
    return Answers(found.coded.matrix, found.counts, time.process_time() - started)


def of_peer(case: Case, name: str, folder: Path | None) -> Answers:
    """Explain with another library; what does not lead to the other class is left out."""
    immutable = IMMUTABLE.get(case.name, []) if takes(name, "immutable") else ()
    # treecf reads the trees, and so must run in this very environment.
    python = sys.executable if name.startswith("treecf") else None
    with IsolatedPeer(
        name, immutable=immutable, folder=folder, time_limit=TIME_LIMIT, python=python
    ) as peer:
        peer.fit(case.model, case.train)
        sets = peer.explain_many(case.people)
        seconds = peer.cost.seconds
    parts = [case.table.encode(each)[0] if len(each) else case.inputs[:0] for each in sets]
    valid = [case.works(case.model, part) for part in parts]
    kept = [part[which] for part, which in zip(parts, valid, strict=True)]
    return Answers(np.vstack(kept), np.array([len(part) for part in kept]), seconds)


def betarce_like(case: Case) -> Answers:
    """Move the nearest option until enough models agree, as BetaRCE does after any explainer.

    Points are drawn in growing spheres around the option, in the numbers that it changes or might
    change. The first point counts for which the share of models that agree is at least 80 %, with a
    confidence of 90 %, by a Beta distribution with a uniform prior. Where there is none, nothing is
    offered.
    """
    started = time.process_time()
    first = own(case, {"strategy": Nearest(), "max_counterfactuals": 1})
    columns = NumericColumns.of(case.table, case.base.distance_.space)
    fixed = IMMUTABLE.get(case.name, [])
    free = [
        at for at, i in enumerate(columns.positions) if case.table.features[i].name not in fixed
    ]
    places, unit = columns.positions[free], columns.unit[free]
    random = np.random.default_rng(0)

    def is_robust(rows: Any) -> Any:
        agree = np.sum([case.works(model, rows) for model in case.again], axis=0)
        least = beta.ppf(1 - CONFIDENCE, agree + 1, len(case.again) - agree + 1)
        return (least >= LEAST_SHARE) & case.works(case.model, rows)

    found, counts = [], np.zeros(len(case.people), dtype=int)
    for option, owner in zip(first.matrix, first.owners, strict=True):
        rows = option[None, :]
        for radius in np.arange(0.0, LARGEST, GROWTH):
            if radius:
                ways = random.standard_normal((POINTS, len(places)))
                ways /= np.linalg.norm(ways, axis=1, keepdims=True)
                within = random.uniform(radius - GROWTH, radius, (POINTS, 1))
                rows = np.tile(option, (POINTS, 1))
                rows[:, places] += ways * within * unit
                rows = columns.confine(rows, np.tile(option, (POINTS, 1)))
            robust = rows[is_robust(rows)]
            if len(robust):
                far = case.base.distance_.pairwise(option[None, :], robust)[0]
                found.append(robust[[far.argmin()]])
                counts[owner] = 1
                break
    matrix = np.vstack([first.matrix[:0], *found])
    return Answers(matrix, counts, time.process_time() - started)


def hold_rate(case: Case, answers: Answers, noise: float) -> float:
    """Return in how many of some tries an option still works when its numbers are missed a little.

    Only numbers that the option changes are missed.
    """
    random = np.random.default_rng(0)
    held = []
    for _ in range(REPEATS):
        rows = case.missed(answers.matrix, answers.owners, noise, random)
        held.append(case.works(case.model, rows))
    return float(np.mean(held))


def disclosed(case: Case, answers: Answers) -> float:
    """Return the share of options that equal a training row."""
    rows = {row.tobytes() for row in case.table.encode(case.train)[0] + 0.0}
    return float(np.mean([(row + 0.0).tobytes() in rows for row in answers.matrix]))


def figures(case: Case, answers: Answers, judges: Sequence[Any]) -> dict[str, Any]:
    """Return the figures of a setting.

    People without an option count as sets that do not survive.
    """
    n, owners = len(case.people), answers.owners
    if not len(owners):
        return {"people": n, "none": n, "options": "0.0"}
    works = np.stack([case.works(model, answers.matrix) for model in judges])
    survives = np.zeros((len(judges), n), dtype=bool)
    for one, kept in zip(survives, works, strict=True):
        one[owners[kept]] = True
    far = np.array(
        [
            case.base.distance_.pairwise(case.inputs[[owner]], answers.matrix[[i]])[0, 0]
            for i, owner in enumerate(owners)
        ]
    )
    nearest = np.array([far[owners == each].min() for each in np.unique(owners)])
    mean = np.array([far[owners == each].mean() for each in np.unique(owners)])
    return {
        "people": n,
        "none": int((answers.counts == 0).sum()),
        "options": f"{answers.counts.mean():.1f}",
        "option survives": f"{works.mean():.0%}",
        "set survives": f"{survives.mean():.0%}",
        **{f"holds, {noise:.0%}": f"{hold_rate(case, answers, noise):.0%}" for noise in NOISE},
        "nearest distance": f"{nearest.mean():.3f}",
        "k-distance": f"{mean.mean():.3f}",
        "rows disclosed": f"{disclosed(case, answers):.1%}",
        "ms each": f"{1000 * answers.seconds / n:.0f}",
    }


def measure(
    name: str, kind: str, people: int, bootstraps: int, wanted: Sequence[str], folder: Path | None
) -> list[dict[str, Any]]:
    """Return one row for each setting and each other explainer."""
    train, y, test = load(name)
    model = fit_model(kind, train, y)
    declined = test[model.predict(test) == DECLINED[name]][:people]
    estimator = behind_encoders(KINDS[kind](), scaled=kind not in TREES)
    judges = list(retrainings(estimator, train, y, n=bootstraps))
    again = list(retrainings(estimator, train, y, n=CHOOSING, random_state=FIRST_SEED))
    kept = Constraints(immutable=IMMUTABLE.get(name, []))
    base = DiverseExplainer(model, constraints=kept).fit(train)
    case = Case(name, train, declined, DECLINED[name], model, base, again)
    ways: dict[str, Callable[[], Answers]] = {
        setting: partial(own, case, parameters(again)) for setting, parameters in SETTINGS.items()
    }
    for peer in PEERS:
        ways[peer] = partial(of_peer, case, peer, folder)
    ways[BETARCE] = partial(betarce_like, case)
    rows = []
    for setting in wanted:
        row = {"data": name, "model": kind, "setting": setting}
        try:
            row |= figures(case, ways[setting](), judges)
        except CellError as error:
            # One line of the table, in place of figures.
            print(f"<!-- {name}, {kind}, {setting}: {error} -->", flush=True)
            continue
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="german_credit,diabetes,spambase,adult")
    parser.add_argument("--models", default=",".join(KINDS))
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--bootstraps", type=int, default=8)
    parser.add_argument("--settings", default=";".join([*SETTINGS, *PEERS]))
    parser.add_argument("--folder", type=Path, help="environments of counterset peers --install")
    options = parser.parse_args()
    warnings.simplefilter("ignore", CountersetWarning)
    warnings.filterwarnings("ignore", module="sklearn")
    every = []
    for name in options.datasets.split(","):
        for kind in options.models.split(","):
            rows = measure(
                name,
                kind,
                options.people,
                options.bootstraps,
                options.settings.split(";"),
                options.folder,
            )
            for row in rows:
                print_row(row, heading=not every)
                every.append(row)
    print("\nMeans over data and models:\n")
    print_means(pd.DataFrame(every))


def print_means(table: pd.DataFrame) -> None:
    """Print the mean shares, and the distances as geometric means of multiples of the default's."""
    shares = [column for column in table if "survives" in column or "holds" in column]
    for column in shares:
        table[column] = table[column].str.rstrip("%").astype(float)
    places = ["data", "model"]
    distance = "k-distance"
    table[distance] = table[distance].astype(float)
    default = table[table["setting"] == "nearest"].set_index(places)[distance]
    of_default = default.reindex(pd.MultiIndex.from_frame(table[places])).to_numpy()
    table["times"] = np.log(table[distance].to_numpy() / of_default)
    for i, (setting, part) in enumerate(table.groupby("setting", sort=False)):
        row = {"setting": setting, "tables and models": len(part)}
        row |= {column: f"{part[column].mean():.0f}%" for column in shares}
        print_row(row | {distance: f"{np.exp(part['times'].mean()):.2f}x"}, heading=not i)


if __name__ == "__main__":
    main()
