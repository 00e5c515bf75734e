"""Answers in a person's own units: are the printed options true, whole, few, near and stable?

    COUNTERSET_DATA=folder python benchmarks/own_units.py      # adult.csv.gz is in the folder
    python benchmarks/own_units.py --only german_credit incomes

Every explainer is `DiverseExplainer(model)` with the defaults; the codes of `sensors` are declared.
`--scale` takes another scale, `--paper` the settings of the paper.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from counterset import (
    CountersetWarning,
    DiverseExplainer,
    Explanation,
    Explanations,
    Schema,
    counterfactual_distance,
    datasets,
)
from counterset.exact import Box
from counterset.words.changes import capitalised

UNCHANGED = "·"
#: An outlier is 1000 times as large as the largest value: a slip of the comma by three digits.
OUTLIER = 1000
#: The most for one exact distance; if time is up, its lower bound counts.
SECONDS = 20.0

Data = tuple[pd.DataFrame, pd.Series, Any]


def boosted(**parameters: Any) -> Any:
    # Categories by name: one that is missing is a category of its own to the encoder.
    words = (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number"))
    prepare = make_column_transformer(words, remainder="passthrough")
    return make_pipeline(prepare, GradientBoostingClassifier(random_state=0, **parameters))


def bundled(name: str) -> Data:
    data = datasets.load(name)
    return data.X, data.y, boosted()


def breast_cancer() -> Data:
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target, make_pipeline(StandardScaler(), LogisticRegression())


def incomes() -> Data:
    """Make raw applications for loans: incomes with slips, a column of nearly all zeros."""
    random, n = np.random.default_rng(0), 3000
    income = random.lognormal(10.3, 0.6, n).round(2)
    income[:3] *= OUTLIER  # the comma slipped
    debt = random.lognormal(8, 1.5, n).round(2)
    gains = np.where(random.random(n) < 0.03, random.lognormal(8, 1.2, n).round(2), 0.0)
    dependants = random.poisson(1.2, n).astype(np.float64)
    dependants[random.random(n) < 0.04] = np.nan  # which makes a count a float
    frame = pd.DataFrame(
        {
            "monthly_income": income,
            "debt": debt,
            "capital_gains": gains,
            "dependants": dependants,
            "age": random.integers(18, 80, n),
            "months_employed": random.exponential(60, n).astype(np.int64),
            "home": pd.Categorical(random.choice(["own", "rent", "other"], n)),
            "has_card": random.integers(0, 2, n).astype(np.float64),
        }
    )
    score = np.log(income) - 0.35 * np.log1p(debt) + 0.3 * (gains > 0) + 0.3 * frame["has_card"]
    score += 0.004 * frame["months_employed"] - 0.15 * frame["dependants"].fillna(1)
    wanted = score + random.normal(0, 0.3, n) > np.median(score)
    words = (OneHotEncoder(), make_column_selector(dtype_exclude="number"))
    prepare = make_column_transformer(words, remainder="passthrough", sparse_threshold=0)
    model = make_pipeline(prepare, HistGradientBoostingClassifier(random_state=0))
    return frame, pd.Series(np.where(wanted, "granted", "declined")), model


def sensors() -> Data:
    """Make readings of machines: many digits, a count with gaps, codes that are no numbers."""
    random, n = np.random.default_rng(1), 3000
    vibration = random.lognormal(-3, 1.0, n)
    vibration[:2] *= OUTLIER
    faults = random.poisson(0.4, n).astype(np.float64)
    faults[random.random(n) < 0.05] = np.nan
    since = random.integers(0, 60, n)
    coded = random.random(n) < 0.2
    since = np.where(coded, random.choice([-7, -8, -9], n), since)
    frame = pd.DataFrame(
        {
            "temperature": 60 + 8 * random.standard_normal(n),
            "pressure": 101_325 + 2_000 * random.standard_normal(n),
            "vibration": vibration,
            "faults": faults,
            "months_since_service": since,
            "rpm": random.integers(900, 3600, n),
            "is_outdoors": random.integers(0, 2, n).astype(np.float64),
        }
    )
    score = (frame["temperature"] - 60) / 8 + np.log(vibration) + 0.5 * np.nan_to_num(faults)
    score += np.where(since > 0, since, 30) / 30 + (frame["pressure"] - 101_325) / 4_000
    bad = score + random.normal(0, 0.5, n) > np.median(score)
    model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
    return frame, pd.Series(np.where(bad, "service", "run")), model


TABLES: dict[str, Callable[[], Data]] = {
    "german_credit": lambda: bundled("german_credit"),
    "adult": lambda: bundled("adult"),
    "diabetes": lambda: bundled("diabetes"),
    "breast_cancer": breast_cancer,
    "incomes": incomes,
    "sensors": sensors,
}


class Cells(HTMLParser):
    """Reads the rows of the table that a notebook shows: what a person sees, cell by cell."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._open = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        del attrs
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._open = True

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._open:
            self.rows[-1][-1] += data


def printed(explanation: Explanation) -> list[dict[str, str]]:
    """Return the text of each changed feature, for each option."""
    cells = Cells()
    cells.feed(explanation._repr_html_())
    options: list[dict[str, str]] = [{} for _ in range(len(explanation))]
    features = explanation.coded.table.features
    names = {capitalised(feature.label): feature.name for feature in features}
    for label, _, *texts in cells.rows[1:]:
        if label in names:
            for option, text in zip(options, texts, strict=True):
                if text != UNCHANGED:
                    option[names[label]] = text
    return options


def typed(text: str, column: pd.Series) -> Any:
    """Return the value that a person types who reads the text."""
    if text == "missing":
        return np.nan
    if is_numeric_dtype(column.dtype):
        return float(text.replace(",", ""))
    return next(value for value in column.cat.categories if str(value) == text)


def type_in(explanations: Explanations, inputs: pd.DataFrame, train: pd.DataFrame) -> pd.DataFrame:
    """Return the inputs with the printed changes typed in, one row per option."""
    rows = []
    for explanation, (_, x) in zip(explanations, inputs.iterrows(), strict=True):
        for option in printed(explanation):
            rows.append({**x, **{name: typed(text, train[name]) for name, text in option.items()}})
    frame = pd.DataFrame(rows, columns=train.columns)
    # A whole number stays one; what is printed as a fraction is typed as a fraction.
    return frame.astype(
        {name: dtype for name, dtype in train.dtypes.items() if not is_numeric_dtype(dtype)}
    )


def explain(explainer: DiverseExplainer, inputs: pd.DataFrame) -> Explanations:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CountersetWarning)
        return explainer.explain_many(inputs, if_none="warn")


def fitted(make: Callable[..., DiverseExplainer], model: Any, train: Any) -> DiverseExplainer:
    codes = [-7, -8, -9]
    special = {"months_since_service": codes} if "months_since_service" in train else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CountersetWarning)
        return make(model, schema=Schema(special=special)).fit(train)


def with_outlier(train: pd.DataFrame) -> pd.DataFrame:
    """Return the training rows and one more, whose numbers are far too large."""
    row = train.iloc[[0]].copy()
    for name in train.select_dtypes("number"):
        row[name] = np.asarray(OUTLIER * max(train[name].max(), 1)).astype(train[name].dtype)
    return pd.concat([train, row], ignore_index=True)


def nearest(explanations: Explanations) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Return the nearest option of each input as printed, and the features that it changes."""
    for explanation in explanations:
        options = printed(explanation)
        yield (options[0], sorted(options[0])) if options else ({}, [])


def exact_ratio(explainer: DiverseExplainer, model: Any, inputs: pd.DataFrame) -> str:
    """Return how far the nearest option is, over the exact counterfactual distance, on average."""
    ours, best = [], []
    for explanation in explain(explainer, inputs):
        box = Box.of(explainer).holding(explanation.input)
        bounds = counterfactual_distance(
            model, explanation.input, explainer.distance_, box, time_limit=SECONDS
        )
        ours.append(explanation.distances.min())
        best.append(bounds.lower)  # the exact distance, or less where time was up
    return f"{np.mean(ours) / np.mean(best):.2f}"


def measure(
    name: str, make: Callable[..., DiverseExplainer], most: int, exact: int
) -> dict[str, Any]:
    X, y, model = TABLES[name]()
    train, test, y_train, _ = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
    train = train.reset_index(drop=True)
    model.fit(train, y_train)
    inputs = test.head(most)
    explainer = fitted(make, model, train)
    start = time.process_time()
    found = explain(explainer, inputs)
    seconds = time.process_time() - start
    options = found.to_frame()[list(train.columns)]
    owners = np.repeat(np.arange(len(inputs)), found.counts)
    flips = model.predict(type_in(found, inputs, train)) != np.asarray(found.labels)[owners]
    shown = np.array([len(option) for each in found for option in printed(each)])
    numbers = train.select_dtypes("number")
    whole = [each for each in numbers if (train[each].dropna() % 1 == 0).all()]
    broken = ((options[whole] % 1).fillna(0) != 0).any(axis=1)
    others = explain(fitted(make, model, with_outlier(train)), inputs)
    pairs = list(zip(nearest(found), nearest(others), strict=True))
    changed = np.concatenate([each.changed.sum(axis=1) for each in found])
    cut = shown < changed  # a notebook shows 20 features, and says that there are more
    return {
        "data": name,
        "inputs": len(inputs),
        "options": len(options),
        "false as printed": int((~flips & ~cut).sum()),
        "cut": int(cut.sum()),
        "fractions": int(broken.sum()),
        "changed, median": float(np.median(changed)),
        "outlier: other features": f"{np.mean([a[1] != b[1] for a, b in pairs]):.1%}",
        "outlier: other values": f"{np.mean([a[0] != b[0] for a, b in pairs]):.1%}",
        "nearest / exact": exact_ratio(explainer, model, inputs.head(exact))
        if name == "german_credit" and exact
        else "",
        "CPU ms each": round(1000 * seconds / len(inputs), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--inputs", type=int, default=600, help="the most inputs of each table")
    parser.add_argument("--exact", type=int, default=30, help="inputs with exact distances")
    parser.add_argument("--scale", help="in place of the default")
    parser.add_argument("--paper", action="store_true", help="the settings of the paper")
    given = parser.parse_args()
    changes: dict[str, Any] = {} if given.scale is None else {"scale": given.scale}

    def make(model: Any, schema: Schema) -> DiverseExplainer:
        if given.paper:
            return DiverseExplainer.paper(model, **changes)
        return DiverseExplainer(model, schema=schema, **changes)

    for name in given.only:
        row = measure(name, make, given.inputs, given.exact)
        if name == given.only[0]:
            print("| " + " | ".join(row) + " |\n|" + "---|" * len(row))
        print("| " + " | ".join(map(str, row.values())) + " |", flush=True)


if __name__ == "__main__":
    main()
