"""Answers that last: options and sets after retraining and under noise, and whose rows they are.

COUNTERSET_DATA=folder python benchmarks/lasting.py --people 20 --bootstraps 8
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from common import IMMUTABLE, TREES, behind_encoders, fit_model, load, print_row
from common import MODELS as KINDS

from counterset import (
    Constraints,
    CountersetWarning,
    DiverseExplainer,
    Explanations,
    Nearest,
    Paper,
    Shared,
    metrics,
    survival,
)
from counterset.evaluation import retrainings
from counterset.evaluation.noise import NumericColumns

#: What is compared: the parameters of an explainer. A setting more is a line more.
SETTINGS: dict[str, Callable[[], dict[str, Any]]] = {
    "nearest": lambda: {"strategy": Nearest()},
    "shared": lambda: {"strategy": Shared()},
    "paper": lambda: {"strategy": Paper()},
    "paper, rows": lambda: {"strategy": Paper(search=None)},
}
#: People are declined: these classes are not wanted.
DECLINED = {"german_credit": "bad", "diabetes": 1, "spambase": "spam", "adult": "<=50K"}
#: How far people miss an option: the standard deviation of each number it sets, as a share of the
#: number's usual range.
NOISE = (0.01, 0.03)
#: Each option is missed this often.
REPEATS = 20


def hold_rate(explainer: DiverseExplainer, explanations: Explanations, noise: float) -> float:
    """Return in how many of some tries an option still works when its numbers are missed a little.

    Only numbers that the option changes are missed.
    """
    coded, table = explanations.coded, explainer.training_.table
    columns = NumericColumns.of(table, explainer.distance_.space)
    numbers = np.zeros(coded.matrix.shape[1], dtype=bool)
    numbers[columns.positions] = True
    moved = coded.changed & numbers
    unit = np.zeros(coded.matrix.shape[1])
    unit[columns.positions] = columns.unit
    random = np.random.default_rng(0)
    model, held = explainer.model, []
    wanted = np.repeat(explanations.labels, explanations.counts)
    for _ in range(REPEATS):
        rows = coded.matrix + moved * unit * noise * random.standard_normal(coded.matrix.shape)
        rows = np.where(moved, columns.confine(rows, coded.matrix), coded.matrix)
        held.append(np.asarray(model.predict(table.decode(rows))) != wanted)
    return float(np.mean(held))


def measure(name: str, kind: str, people: int, bootstraps: int) -> list[dict[str, Any]]:
    train, y, test = load(name)
    model = fit_model(kind, train, y)
    declined = test[model.predict(test) == DECLINED[name]][:people]
    estimator = behind_encoders(KINDS[kind](), scaled=kind not in TREES)
    models = list(retrainings(estimator, train, y, n=bootstraps))
    kept = Constraints(immutable=IMMUTABLE.get(name, []))
    base = DiverseExplainer(model, constraints=kept).fit(train)
    rows = []
    for setting, parameters in SETTINGS.items():
        explainer = DiverseExplainer(model, constraints=kept, **parameters())
        if set(parameters()) == {"strategy"}:
            explainer = base.with_strategy(parameters()["strategy"])
        else:
            explainer.fit(train)
        started = time.process_time()
        explanations = explainer.explain_many(declined, if_none="ignore")
        seconds = time.process_time() - started
        survived = survival(explanations, models=models)
        rows.append(
            {
                "data": name,
                "model": kind,
                "setting": setting,
                "people": len(declined),
                "none": int((explanations.counts == 0).sum()),
                "options": f"{explanations.counts.mean():.1f}",
                "option survives": f"{survived.share:.0%}",
                "nearest survives": f"{survived.nearest_share:.0%}",
                "set survives": f"{survived.set_share:.0%}",
                **{
                    f"holds, {noise:.0%}": f"{hold_rate(explainer, explanations, noise):.0%}"
                    for noise in NOISE
                },
                "nearest distance": f"{np.nanmean(explanations.coded.nearest):.3f}",
                "distance": f"{explanations.coded.distances.mean():.3f}",
                "rows disclosed": f"{metrics.disclosure(explanations, train):.1%}",
                "ms each": f"{1000 * seconds / max(1, len(declined)):.0f}",
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default="german_credit,diabetes,spambase,adult")
    parser.add_argument("--models", default=",".join(KINDS))
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--bootstraps", type=int, default=8)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CountersetWarning)
    warnings.filterwarnings("ignore", module="sklearn")
    every = []
    for name in options.datasets.split(","):
        for kind in options.models.split(","):
            for row in measure(name, kind, options.people, options.bootstraps):
                print_row(row, heading=not every)
                every.append(row)
    table = pd.DataFrame(every)
    shares = [column for column in table if "survives" in column or "holds" in column]
    print("\nMeans over data and models:\n")
    for column in shares:
        table[column] = table[column].str.rstrip("%").astype(float)
    means = table.groupby("setting", sort=False)[shares].mean()
    for i, (setting, mean) in enumerate(means.iterrows()):
        figures = {column: f"{value:.0f}%" for column, value in mean.items()}
        print_row({"setting": setting, **figures}, heading=not i)


if __name__ == "__main__":
    main()
