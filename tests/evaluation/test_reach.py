"""Which features can lead people to what is wanted, against all that brute force finds."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from counterset import Constraints, DiverseExplainer, InvalidInputError, NearData
from counterset.evaluation import reach

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame({
    "rooms": RANDOM.integers(0, 6, 200),
    "home": pd.Categorical(RANDOM.choice(["own", "rent", "free"], 200)),
    "savings": pd.Categorical(
        RANDOM.choice(["no", "some", "much"], 200), ["no", "some", "much"], ordered=True
    ),
    "late": RANDOM.integers(0, 2, 200),
})  # fmt: skip


def accept(rows: pd.DataFrame) -> Any:
    points = rows["rooms"].to_numpy() + 2 * (rows["home"] == "own").to_numpy()
    points = points + 2 * rows["savings"].cat.codes.to_numpy() - 3 * rows["late"].to_numpy()
    return np.where(points > 6, "yes", "no")


def by_force(x: pd.Series, names: tuple[str, ...], allowed: Any = lambda row: True) -> bool:
    """Try all values of the training data."""
    values = [sorted(TABLE[name].unique().tolist(), key=str) for name in names]
    rows = pd.concat([x.to_frame().T] * int(np.prod([len(v) for v in values])), ignore_index=True)
    for at, point in enumerate(itertools.product(*values)):
        for name, value in zip(names, point, strict=True):
            rows.loc[at, name] = value
    rows = rows[[bool(allowed(row)) for _, row in rows.iterrows()]].astype(TABLE.dtypes)
    return bool(len(rows) and (accept(rows) == "yes").any())


DECLINED = TABLE[accept(TABLE) == "no"][:12]


@pytest.mark.parametrize("fixed", [[], ["home"]])
def test_every_set_is_tried_with_all_values(fixed: list[str]) -> None:
    kept = Constraints(immutable=fixed, increase_only=["rooms"])
    explainer = DiverseExplainer(accept, constraints=kept).fit(TABLE)
    found = reach(explainer, DECLINED)
    free = [name for name in TABLE.columns if name not in fixed]
    pairs = list(itertools.combinations(free, 2))
    assert list(found.sets) == [(name,) for name in free] + pairs
    for person, (_, x) in enumerate(DECLINED.iterrows()):
        for at, names in enumerate(found.sets):
            reached = by_force(x, names, lambda row, x=x: row["rooms"] >= x["rooms"])
            # Any model will do: nothing is left that was not tried.
            assert found.results[person, at] == ("possible" if reached else "impossible")
    assert {"possible", "impossible"} <= set(found.results.ravel())


def test_a_set_is_needed_where_no_feature_of_it_is_enough() -> None:
    found = reach(DiverseExplainer(accept).fit(TABLE), DECLINED)
    for person in range(len(DECLINED)):
        possible = {
            names
            for names, each in zip(found.sets, found.results[person], strict=True)
            if each == "possible"
        }
        for at, names in enumerate(found.sets):
            parts = {(name,) for name in names} if len(names) > 1 else set()
            assert found.needed[person, at] == (names in possible and not parts & possible)
            if parts & possible:
                assert names in possible


def test_a_table_counts_people() -> None:
    found = reach(DiverseExplainer(accept).fit(TABLE), DECLINED)
    table = found.to_frame()
    assert (table["people"] == len(DECLINED)).all()
    counts = table[["possible", "impossible", "not_found"]].sum(axis=1)
    assert (counts == len(DECLINED)).all()
    assert str(found) == table.to_string()
    nobody = found.helps_nobody
    for names, each in zip(found.sets, table["possible"], strict=True):
        assert (names in nobody) == (each == 0)
    assert set(nobody.values()) <= {"impossible"}


def test_of_one_person_the_example_is_said() -> None:
    explainer = DiverseExplainer(accept).fit(TABLE)
    x = {"rooms": 3, "home": "rent", "savings": "no", "late": 0}
    found = reach(explainer, x, target="yes")
    table = found.to_frame()
    assert table["result"].to_dict() == {
        "rooms": "impossible",
        "home": "impossible",
        "savings": "possible",
        "late": "impossible",
        "rooms + home": "possible",
        "rooms + savings": "possible",
        "rooms + late": "impossible",
        "home + savings": "possible",
        "home + late": "impossible",
        "savings + late": "possible",
    }
    assert str(found).splitlines() == [
        "enough alone: savings",
        "enough together: rooms + home",
        "proved impossible: rooms; home; late; rooms + late; home + late",
        "tried, nothing found: -",
    ]
    shown = table["example"]
    assert (shown[table["result"] != "possible"] == "").all()
    for text in filter(None, shown):
        assert "savings from no to much" in text or "home from rent to own" in text


def smooth() -> tuple[pd.DataFrame, Any]:
    points = np.random.default_rng(1).random((300, 4)).round(3)
    return pd.DataFrame(points, columns=list("abcd")), points @ [3.0, 2.0, 1.0, 0.2] > 4


@pytest.mark.parametrize(
    "model", [LogisticRegression(), GradientBoostingClassifier(n_estimators=5)]
)
def test_what_is_proved_of_a_readable_model_is_true_on_a_fine_grid(model: Any) -> None:
    X, y = smooth()
    model.fit(X, y)
    explainer = DiverseExplainer(model).fit(X)
    people = X[~model.predict(X)][:3]
    found = reach(explainer, people)
    assert "not found" not in set(found.results.ravel())
    low, high = X.min(), X.max()
    for person, (_, x) in enumerate(people.iterrows()):
        for at, names in enumerate(found.sets):
            axes = [np.linspace(min(low[n], x[n]), max(high[n], x[n]), 60) for n in names]
            points = np.stack([each.ravel() for each in np.meshgrid(*axes)], axis=1)
            rows = pd.DataFrame(np.tile(x.to_numpy(), (len(points), 1)), columns=X.columns)
            rows[list(names)] = points
            if model.predict(rows).any():
                assert found.results[person, at] == "possible"


def test_without_a_proof_nothing_is_called_impossible() -> None:
    X, y = smooth()
    model = LogisticRegression().fit(X, y)
    people = X[~model.predict(X)][:3]
    for explainer, asked in (
        (DiverseExplainer(model).fit(X), {"prove": False}),
        (DiverseExplainer(model.predict).fit(X), {}),
    ):
        found = reach(explainer, people, **asked)  # type: ignore[arg-type]
        assert set(found.results.ravel()) == {"possible", "not found"}
    assert reach(DiverseExplainer(model).fit(X), people).helps_nobody[("d",)] == "impossible"


def test_a_witness_of_the_solver_has_to_be_plausible_too() -> None:
    X, y = smooth()
    model = LogisticRegression().fit(X, y)
    far = DiverseExplainer(model, plausibility=NearData(share=0.5)).fit(X)
    free = DiverseExplainer(model).fit(X)
    people = X[~model.predict(X)][:3]
    strict, loose = reach(far, people), reach(free, people)
    assert (strict.results == "possible").sum() < (loose.results == "possible").sum()
    assert ((strict.results == "impossible") <= (loose.results == "impossible")).all()


def test_those_who_have_it_are_left_out_and_targets_are_kept() -> None:
    X, _ = smooth()

    def thirds(rows: pd.DataFrame) -> Any:
        return np.select([rows["a"] > 0.66, rows["a"] > 0.33], ["high", "middle"], "low")

    def doubled(rows: pd.DataFrame) -> Any:
        return 2.0 * rows["a"].to_numpy()

    explainer = DiverseExplainer(thirds).fit(X)
    found = reach(explainer, X[:20], target="high", size=1)
    assert found.index.tolist() == X.index[:20][thirds(X[:20]) != "high"].tolist()
    assert (found.results[:, 0] == "possible").all()
    assert (found.results[:, 1:] == "not found").all()
    numbers = DiverseExplainer(doubled).fit(X)
    person = {"a": 0.1, "b": 0.5, "c": 0.5, "d": 0.5}
    found = reach(numbers, person, interval=(1.5, 1.9), size=1)
    assert found.results[0].tolist() == ["possible", *["not found"] * 3]


def test_the_row_of_one_person_is_no_example() -> None:
    table = pd.DataFrame({"home": ["own"] + ["rent"] * 9})
    explainer = DiverseExplainer(lambda rows: rows["home"] == "own").fit(table)
    shown: Any = reach(explainer, {"home": "rent"}, size=1).to_frame()
    assert shown.loc["home"].tolist() == ["possible", ""]


def test_nonsense_is_refused() -> None:
    explainer = DiverseExplainer(accept).fit(TABLE)
    with pytest.raises(InvalidInputError, match="size must be 1 or 2, got 3"):
        reach(explainer, DECLINED, size=3)
    with pytest.raises(InvalidInputError, match="size must be a whole number"):
        reach(explainer, DECLINED, size=0)
    with pytest.raises(InvalidInputError, match="time_limit"):
        reach(explainer, DECLINED, time_limit=0)
    for wrong in (accept, DiverseExplainer(accept)):
        with pytest.raises(InvalidInputError, match="takes a fitted DiverseExplainer"):
            reach(wrong, DECLINED)
