"""What an attacker learns of training rows from options: two simple attacks.

python benchmarks/privacy.py --people 50
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd
from common import IMMUTABLE, MODELS, TREES, behind_encoders, load, print_row
from sklearn.metrics import roc_auc_score

from counterset import (
    Constraints,
    CountersetWarning,
    DiverseExplainer,
    Explanations,
    Nearest,
    Paper,
    Shared,
    metrics,
)

SETTINGS: dict[str, dict[str, Any]] = {
    "nearest": {"strategy": Nearest()},
    "nearest, anonymity=2": {"strategy": Nearest(), "anonymity": 2},
    "shared, anonymity=2": {"strategy": Shared(), "anonymity": 2},
    "paper": {"strategy": Paper()},
    "paper, rows": {"strategy": Paper(search=None)},
}
DECLINED = {"german_credit": "bad", "diabetes": 1, "spambase": "spam", "adult": "<=50K"}


def found_once(explanations: Explanations, rows: np.ndarray) -> float:
    """Return the share of options whose new values are those of exactly one of some rows."""
    coded, once = explanations.coded, []
    for option, moved in zip(coded.matrix, coded.changed, strict=True):
        equal = (rows[:, moved] == option[moved]).all(axis=1)
        once.append(equal.sum() == 1)
    return float(np.mean(once))


def auc(members: np.ndarray, others: np.ndarray) -> float:
    """Return how well scores tell members from others: 0.5 is as good as guessing."""
    truth = np.repeat([1, 0], [len(members), len(others)])
    return float(roc_auc_score(truth, np.concatenate([members, others])))


def measure(name: str, kind: str, people: int) -> list[dict[str, Any]]:
    rows, y, explained = load(name)
    half = len(rows) // 2  # the model is trained on one half of the rows and never sees the other
    train, unseen = rows[:half], rows[half : 2 * half]
    model = behind_encoders(MODELS[kind](), scaled=kind not in TREES).fit(train, y[:half])
    explained = explained[model.predict(explained) == DECLINED[name]][:people]
    ours, theirs = (
        each[model.predict(each) == DECLINED[name]][: 3 * people] for each in (train, unseen)
    )
    sure = [model.predict_proba(each).max(axis=1) for each in (ours, theirs)]
    results = []
    for setting, parameters in SETTINGS.items():
        explainer = DiverseExplainer(
            model, constraints=Constraints(immutable=IMMUTABLE.get(name, [])), **parameters
        ).fit(train)
        published = explainer.explain_many(explained, if_none="ignore")
        table, distance = explainer.training_.table, explainer.distance_
        coded = [table.encode(each)[0] for each in (train, unseen)]
        near = [-distance.pairwise(each, published.coded.matrix).min(axis=1) for each in coded]
        own = [
            explainer.explain_many(each, if_none="ignore").coded.nearest for each in (ours, theirs)
        ]
        own = [each[~np.isnan(each)] for each in own]
        results.append(
            {
                "data": name,
                "model": kind,
                "setting": setting,
                "options": len(published.coded.matrix),
                "equal a training row": f"{metrics.disclosure(published, train):.1%}",
                "found once, members": f"{found_once(published, coded[0]):.1%}",
                "found once, others": f"{found_once(published, coded[1]):.1%}",
                "AUC, near an option": f"{auc(*near):.2f}",
                "AUC, own distance": f"{auc(*own):.2f}",
                "AUC, model alone": f"{auc(*sure):.2f}",
            }
        )
    return results


def measure_questions(count: int) -> list[dict[str, Any]]:
    """Tell what anonymity costs on a small table of categories: 800 people, 200 explained."""
    random = np.random.default_rng(count)
    X = pd.DataFrame(
        {
            f"q{i}": pd.Categorical(random.choice(list("abc"), 1000, p=[0.5, 0.3, 0.2]))
            for i in range(count)
        }
    )
    points = (X == "a").sum(axis=1) + random.normal(0, 0.5, 1000)
    train, test = X[:800], X[800:]
    y = pd.Series(np.where(points > count / 2, "yes", "no"))[:800]
    model = behind_encoders(MODELS["boosting"](), scaled=False).fit(train, y)
    results = []
    for anonymity in (1, 2, 5):
        explainer = DiverseExplainer(model, anonymity=anonymity).fit(train)
        found = explainer.explain_many(test, if_none="ignore")
        alone = metrics.disclosure(found, train, fewer_than=2)
        results.append(
            {
                "questions": count,
                "anonymity": anonymity,
                "options": f"{found.counts.mean():.2f}",
                "without": f"{(found.counts == 0).sum()} of {len(found)}",
                "nearest distance": f"{np.nanmean(found.coded.nearest):.2f}",
                "rows of one person": f"{alone:.1%}",
                "rows of fewer than 5": f"{metrics.disclosure(found, train, fewer_than=5):.1%}",
            }
        )
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default="german_credit,diabetes,spambase")
    parser.add_argument("--models", default="boosting,forest,logistic")
    parser.add_argument("--people", type=int, default=50)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CountersetWarning)
    warnings.filterwarnings("ignore", module="sklearn")
    first = True
    for row in (row for count in (4, 6, 8) for row in measure_questions(count)):
        print_row(row, heading=first)
        first = False
    print()
    first = True
    for name in options.datasets.split(","):
        for kind in options.models.split(","):
            for row in measure(name, kind, options.people):
                print_row(row, heading=first)
                first = False


if __name__ == "__main__":
    main()
