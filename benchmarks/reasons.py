"""Reasons: do people almost alike get the same, how sure are they, and what do they cost.

    COUNTERSET_DATA=folder python benchmarks/reasons.py [--inputs 60] [--copies 5] [--times 1]

Reasons are those of ``explanation.reasons()``: at most four. Beside them stand reasons from
options, as letters had them before: the features that options change, ordered by how much more
probable the wanted class becomes when one value alone is changed to an option's, without those that
do less than a tenth of the first.

- alike: the mean share of reasons that a person and a near copy have in common
- first: how often the first reason of both is the same
- K: the same two figures for one person, with 1 option asked for and with 8
- number: how many reasons a person gets
- orders: the same two figures for the reasons of one person, and those from 32 times as many orders
- error: the standard error of the first reason's contribution, over the contribution
- rows: the rows that the model is asked about for one person
- one, many: processor time of the reasons over that of explaining; of one person, and of all
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from common import behind_encoders, best, print_row
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from counterset import DiverseExplainer, Explanation, FewerCounterfactualsWarning, datasets
from counterset.evaluation.noise import GaussianNoise, NumericColumns
from counterset.explanations import reasons as reasons_module

#: Seeds of this benchmark alone: none was looked at when settings were chosen.
SPLIT, MODEL, NOISE = 2027, 23, 31
MODELS: dict[str, Callable[[], Any]] = {
    "boosting": lambda: GradientBoostingClassifier(random_state=MODEL),
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "forest": lambda: RandomForestClassifier(100, min_samples_leaf=3, random_state=MODEL),
}
WANTED = {"german_credit": "good", "adult": ">50K"}
SETTINGS = [
    ("german_credit", "boosting"),
    ("german_credit", "logistic"),
    ("german_credit", "forest"),
    ("adult", "boosting"),
]
#: Adult has 12,000 rows here, for time.
MOST_ROWS = 12_000
#: The reasons of the first 15 people are found from 32 times as many orders too.
MANY_ORDERS, WITH_MANY = 32, 15
Reasons = list[str]


class Counted:
    """A model that counts the rows that it is asked about."""

    def __init__(self, model: Any) -> None:
        self.model, self.classes_, self.rows = model, model.classes_, 0

    def predict(self, X: pd.DataFrame) -> Any:
        return self.model.predict(X)

    def predict_proba(self, X: pd.DataFrame) -> Any:
        self.rows += len(X)
        return self.model.predict_proba(X)


def own(explanation: Explanation) -> Reasons:
    return [reason.feature for reason in explanation.reasons()]


def from_options(explanation: Explanation, model: Any, wanted: Any) -> Reasons:
    """Return the features that options change, by what the change of each does alone."""
    coded, column = explanation.coded, list(model.classes_).index(wanted)
    options, features = np.nonzero(coded.changed)
    if not len(options):
        return []
    rows = np.repeat(coded.input[None, :], len(options) + 1, axis=0)
    rows[np.arange(len(options)), features] = coded.matrix[options, features]
    probable = model.predict_proba(coded.table.decode(rows))[:, column]
    gains = {at: (probable[:-1] - probable[-1])[features == at].max() for at in features}
    most = max(gains.values())
    named = sorted(
        (at for at in gains if gains[at] >= max(0.1 * most, 1e-12)), key=lambda at: -gains[at]
    )
    return [coded.table.names[at] for at in (named or list(gains))[:4]]


def in_common(first: Reasons, second: Reasons) -> float:
    return len({*first} & {*second}) / max(len(first), len(second), 1)


def compare(pairs: Iterable[tuple[Reasons, Reasons]]) -> str:
    """Return the share of reasons in common, and how often the first is the same."""
    known = list(pairs)
    alike = np.mean([in_common(*pair) for pair in known])
    first = np.mean([one[:1] == other[:1] for one, other in known])
    return f"{alike:.2f}, {first:.2f}"


def measure(name: str, kind: str, count: int, copies: int) -> dict[str, Any]:
    data, wanted = datasets.load(name), WANTED[name]
    whole = data.X.notna().all(axis=1)
    X, y = data.X[whole].head(MOST_ROWS), data.y[whole].head(MOST_ROWS)
    train, test, y_train, _ = train_test_split(X, y, train_size=0.8, random_state=SPLIT, stratify=y)
    model = behind_encoders(MODELS[kind](), scaled=kind == "logistic").fit(train, y_train)
    counted = Counted(model)
    explainer = DiverseExplainer(counted, schema=data.schema).fit(train)
    people = test[model.predict(test) != wanted].head(count)
    ask: dict[str, Any] = {"target": wanted, "if_none": "ignore"}
    explanations = explainer.explain_many(people, **ask)
    alike = explainer.explain_many(_copies(explainer, model, people, copies), **ask)
    pairs = [(explanations[i // copies], alike[i]) for i in range(len(alike))]
    reasons = [own(each) for each in explanations]
    eight, one = (
        DiverseExplainer(counted, schema=data.schema, max_counterfactuals=k)
        .fit(train)
        .explain_many(people, **ask)
        for k in (8, 1)
    )
    counted.rows = 0
    first = explainer.explain(people.iloc[0], target=wanted)
    first.reasons()
    rows = counted.rows
    single = best(lambda: explainer.explain(people.iloc[0], target=wanted), 5)
    with_reasons = best(lambda: explainer.explain(people.iloc[0], target=wanted).reasons(), 5)
    together = best(lambda: explainer.explain_many(people, **ask))
    all_reasons = best(explanations.reasons)

    def by_options(each: Explanation) -> Reasons:
        return from_options(each, model, wanted)

    with more_orders(MANY_ORDERS):
        many_orders = [own(each) for each in explanations[:WITH_MANY]]
    errors = [each.reasons()[0] for each in explanations]
    return {
        "table, model": f"{name}, {kind}",
        "alike, first": compare((own(a), own(b)) for a, b in pairs),
        "from options": compare((by_options(a), by_options(b)) for a, b in pairs),
        "K": compare(zip(map(own, one), map(own, eight), strict=True)),
        "K, from options": compare(zip(map(by_options, one), map(by_options, eight), strict=True)),
        "orders": compare(zip(reasons, many_orders, strict=False)),
        "error": f"{np.mean([each.standard_error / each.contribution for each in errors]):.2f}",
        "number": f"{np.mean([len(each) for each in reasons]):.1f}",
        "rows": f"{rows:,}",
        "one": f"{(with_reasons - single) / single:.2f}",
        "many": f"{all_reasons / together:.2f}",
    }


@contextmanager
def more_orders(times: int) -> Iterator[None]:
    """Find reasons from more orders; the people are the same."""
    orders = reasons_module.antithetic_orders
    reasons_module.antithetic_orders = lambda pairs, *rest: orders(times * pairs, *rest)
    try:
        yield
    finally:
        reasons_module.antithetic_orders = orders


def _copies(explainer: Any, model: Any, people: pd.DataFrame, copies: int) -> pd.DataFrame:
    """Return near copies of the same class, in the order of the people."""
    table, space = explainer.training_.table, explainer.distance_.space
    rows, labels = table.encode(people)[0], model.predict(people)

    def same_class(drawn: Any, owners: Any) -> Any:
        return model.predict(table.decode(drawn)) == labels[owners]

    columns = NumericColumns.of(table, space)
    random = np.random.default_rng(NOISE)
    drawn, found = GaussianNoise().copies(rows, columns, copies, same_class, random)
    assert found.all(), "a copy of the same class was found for everybody"
    return table.decode(drawn.reshape(-1, rows.shape[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=60)
    parser.add_argument("--copies", type=int, default=5)
    parser.add_argument("--times", type=int, default=1, help="find reasons from more orders")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    with more_orders(arguments.times):
        for i, (name, kind) in enumerate(SETTINGS):
            print_row(measure(name, kind, arguments.inputs, arguments.copies), heading=not i)


if __name__ == "__main__":
    main()
