"""How wide ranges are, how many are proved, and whether a million points break one.

    COUNTERSET_DATA=folder python benchmarks/ranges.py [--people 20] [--points 1000000]
        [--tables german_credit,spambase] [--models logistic,network,forest,boosting,curved]

People whom the model declines, from test rows that it was not trained on, are explained by the
default strategy; `with_ranges` finds the ranges of their options. Age, sex and the like are
immutable. `curved` is a support vector machine, which no solver reads.

Each table and model gets the points of `--points`, shared among the options with a range. A point
has a value of each range: anywhere in it, at an end, next to a threshold of the model's trees
(the doubles and the single floats on both sides), or beyond an open end, up to a billion times as
far as the option's value. The model is asked about every point.

- options: how many options change a number or an ordinal, and in brackets the share that has a
  range wider than a point
- proved: the share of those that is proved
- open: the share of their ranges that has one end only, "at most 3,900 DM"
- width: the median share of the training range that a range covers (an open end ends with the data)
- points, broken: how many points proved ranges were attacked with, and how many missed the goal
- checked: the same for ranges that are not proved
- time: seconds for the ranges of one person over those for the explanation; without the first
  person, for whom the model is read
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from common import IMMUTABLE, behind_encoders, fit_model, load, print_row
from sklearn.svm import SVC

from counterset import Constraints, DiverseExplainer, Explanation, Option, datasets

#: The label that people want.
WANTED = {"german_credit": "good", "spambase": "nonspam", "adult": ">50K"}
#: Beyond an open end, points lie so many times as far as the option's value.
FAR = (1e-9, 1.0, 100.0, 1e9)
BATCH = 50_000


def thresholds(model: Any, option: Option) -> dict[Any, np.ndarray]:
    """Return the thresholds of trees on numbers that are not scaled, by the name of the feature."""
    trees = np.ravel(getattr(model[-1], "estimators_", []))
    names = [str(name).split("__")[-1] for name in model[0].get_feature_names_out()]
    return {
        each.name: np.concatenate(
            [
                tree.tree_.threshold[tree.tree_.feature == names.index(str(each.name))]
                for tree in trees
            ]
        )
        for each in option.ranges or ()
        if len(trees) and str(each.name) in names
    }


def points_of(option: Option, coded: Any, model: Any, count: int, rng: Any) -> np.ndarray:
    """Return points of an option's ranges, as codes."""
    rows, near = np.tile(option.codes, (count, 1)), thresholds(model, option)
    span = option.span
    assert span is not None, "ranges were found"
    for at in np.flatnonzero(span.low < span.high):
        feature, low, high = coded.table.features[at], span.low[at], span.high[at]
        own = option.codes[at]
        far = max(1.0, abs(own)) * rng.choice(FAR, count)
        low, high = (
            np.where(np.isinf(low), own - far, low),
            np.where(np.isinf(high), own + far, high),
        )
        drawn = low + rng.random(count) * (high - low)
        drawn = np.select([rng.random(count) < 0.2, rng.random(count) < 0.2], [low, high], drawn)
        if len(near.get(feature.name, ())):
            cuts = rng.choice(near[feature.name], count)
            single = cuts.astype(np.float32)
            sides = [np.nextafter(cuts, side) for side in (-np.inf, np.inf)]
            sides += [np.nextafter(single, np.float32(s)).astype(float) for s in (-np.inf, np.inf)]
            cuts = np.choose(rng.integers(0, 5, count), [cuts, *sides])
            drawn = np.where(rng.random(count) < 0.4, cuts, drawn)
        rows[:, at] = np.clip(feature.hold(np.clip(drawn, low, high)), low, high)
    return rows


def attack(explanation: Explanation, option: Option, model: Any, count: int, rng: Any) -> int:
    """Return at how many points of an option's ranges the model does not say what is wanted."""
    broken = 0
    for start in range(0, count, BATCH):
        rows = points_of(option, explanation.coded, model, min(BATCH, count - start), rng)
        rows = np.unique(rows, axis=0, return_inverse=True)
        predicted = model.predict(explanation.coded.table.decode(rows[0]))[rows[1].ravel()]
        broken += int((predicted != option.label).sum())
    return broken


def widths(option: Option, coded: Any) -> list[float]:
    """Return the share of the training range that each range covers."""
    shares, span = [], option.span
    assert span is not None, "ranges were found"
    for each in option.ranges or ():
        feature = coded.table.features[coded.table.position(each.name)]
        at = coded.table.position(each.name)
        low, high = max(span.low[at], feature.low), min(span.high[at], feature.high)
        shares.append((high - low) / (feature.high - feature.low))
    return shares


def measure(table: str, kind: str, people: int, points: int) -> dict[str, Any]:
    """Return the figures of one table and model."""
    train, y, test = load(table)
    if kind == "curved":
        model = behind_encoders(SVC(), scaled=True).fit(train, y)
    else:
        model = fit_model(kind, train, y)
    explainer = DiverseExplainer(
        model,
        schema=datasets.load(table).schema,
        constraints=Constraints(immutable=IMMUTABLE.get(table, [])),
    ).fit(train)
    declined = test[model.predict(test) != WANTED[table]].head(people + 1)
    seconds, found = [], []
    for i in range(len(declined)):
        start = time.process_time()
        explained = explainer.explain(declined.iloc[i], target=WANTED[table])
        between = time.process_time()
        found.append(explainer.with_ranges(explained))
        seconds.append((between - start, time.process_time() - between))
    pairs = [(e, o) for e in found for o in e.options if o.ranges]
    wide = [(e, o) for e, o in pairs if o.span is not None and not o.span.is_point]
    proved = [(e, o) for e, o in wide if o.span is not None and o.span.proved]
    checked = [pair for pair in wide if pair not in proved]
    ranges = [each for _, o in wide for each in o.ranges or () if each.low != each.high]
    rng, counts = np.random.default_rng(0), {}
    for name, some in (("proved", proved), ("checked", checked)):
        each = -(-points // len(some)) if some else 0
        counts[name] = (each * len(some), sum(attack(e, o, model, each, rng) for e, o in some))
    once, ranged = np.sum(seconds[1:], axis=0)
    return {
        "table, model": f"{table}, {kind}",
        "options": f"{len(pairs)} ({len(wide) / len(pairs):.0%})",
        "proved": f"{len(proved) / len(wide):.0%}",
        "open": f"{np.mean([None in (each.low, each.high) for each in ranges]):.0%}",
        "width": f"{np.median([w for e, o in wide for w in widths(o, e.coded) if w]):.2f}",
        "points": f"{counts['proved'][0]:,}",
        "broken": f"{counts['proved'][1]:,}",
        "checked": f"{counts['checked'][0]:,}",
        "broken of these": f"{counts['checked'][1]:,}",
        "time": f"{ranged / len(seconds[1:]):.2f} s ({ranged / once:.1f}x)",
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--tables", default="german_credit,spambase")
    parser.add_argument("--models", default="logistic,network,forest,boosting,curved")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    heading = True
    for table in arguments.tables.split(","):
        for kind in arguments.models.split(","):
            print_row(measure(table, kind, arguments.people, arguments.points), heading=heading)
            heading = False


if __name__ == "__main__":
    main()
