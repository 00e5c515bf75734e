"""For how many copies a way is found again, on toys that can be worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.settings import explainer_by_steps
from support.shifting_noise import Shift
from support.worded import MATRIX, TABLE

from counterset import (
    Constraints,
    DiverseExplainer,
    Explanation,
    InvalidInputError,
    NoCounterfactualError,
    evaluate,
)
from counterset.evaluation import GaussianNoise, stability
from counterset.evaluation.noise import NumericColumns
from counterset.evaluation.option_keys import option_keys
from counterset.evaluation.stability import asked_for, compare_with_copies
from counterset.explanations.stability import least_shares

X = np.random.default_rng(0).random((300, 2))


def high(rows: Any) -> Any:
    return np.asarray(rows).sum(axis=1) > 1


def explainer(model: Any = high, rows: Any = X, **settings: Any) -> DiverseExplainer:
    return explainer_by_steps(model, **({"max_counterfactuals": 2} | settings)).fit(rows)


def literally(
    explainer: DiverseExplainer, explanation: Explanation, copies: Any, **asked: Any
) -> tuple[list[int], int]:
    """Compare as people do, one copy at a time: what rises, what falls, what is chosen."""

    def told(one: Explanation) -> list[tuple[tuple[str, Any], ...]]:
        ways = []
        for _, row in one.to_frame().iterrows():
            way: list[tuple[str, Any]] = []
            for name in explainer.feature_names_in_:
                before, after = one.input[name], row[name]
                if before != after:
                    up = "rises" if isinstance(after, int | float) and after > before else "falls"
                    way.append((name, after if isinstance(after, str) else up))
            ways.append(tuple(way))
        return ways

    own = told(explanation)
    others = [set(told(explainer.explain(copy, **asked))) for _, copy in copies.iterrows()]
    kept = [sum(way in other for other in others) for way in own]
    return kept, sum(other == set(own) for other in others)


@pytest.mark.filterwarnings("ignore:.*have fewer than 3 counterfactuals")
def test_a_table_is_compared_as_people_would() -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame({
        "income": random.integers(10, 60, 300),
        "debt": random.random(300).round(2) * 20,
        "home": random.choice(["own", "rent", "free"], 300),
    })  # fmt: skip

    def approve(rows: pd.DataFrame) -> Any:
        bonus = rows["home"].map({"own": 15.0, "rent": 0.0, "free": 5.0})
        return np.where(rows["income"] - rows["debt"] + bonus > 30, "yes", "no")

    asked: dict[str, Any] = {"target": "yes", "constraints": Constraints(decrease_only=["debt"])}
    one = explainer(approve, frame, max_counterfactuals=3)
    noise = GaussianNoise(0.01)
    kept = []
    declined = frame[approve(frame) == "no"]
    for i in range(5):
        explanation = one.explain(declined.iloc[i], **asked)
        measured = stability(one, explanation, repeats=8, random_state=i, noise=noise)
        copies = _copies(one, declined.iloc[[i]], 8, i, noise)
        assert (measured.kept.tolist(), measured.same) == literally(
            one, explanation, copies, **asked
        )
        assert measured.copies == len(copies)
        away = one.distance_(declined.iloc[[i]], copies)
        assert measured.moved == pytest.approx(float(np.mean(away)))
        kept += measured.kept.tolist()
    assert min(kept) < 8  # the comparison above has seen ways that were lost
    assert max(kept) == 8


def _copies(one: DiverseExplainer, row: Any, repeats: int, seed: int, noise: Any) -> Any:
    """Draw the copies again, and drop those of the wanted class."""

    def declined(copies: Any, owners: Any) -> Any:
        return one.model(one.training_.table.decode(copies)) == "no"

    x = one.training_.table.encode(row)[0]
    random = np.random.default_rng(seed)
    columns = NumericColumns.of(one.training_.table, one.distance_.space)
    copies, found = noise.copies(x, columns, repeats, declined, random)
    return one.training_.table.decode(copies[found])


def test_the_same_seed_gives_the_same_result() -> None:
    one = explainer()
    explanation = one.explain([0.3, 0.4])
    first, second = (stability(one, explanation, random_state=7) for _ in range(2))
    assert first.to_dict() == second.to_dict()
    assert first.moved != stability(one, explanation, random_state=8).moved


def test_copies_are_explained_in_one_call() -> None:
    calls = []

    class Counted(DiverseExplainer):
        def explain_many(self, X: Any, **asked: Any) -> Any:
            calls.append(len(X))
            return super().explain_many(X, **asked)

    one = Counted(high, max_counterfactuals=2).fit(X)
    stability(one, one.explain([0.3, 0.4]), repeats=12)
    assert calls == [12]


def test_only_copies_of_the_same_class_count() -> None:
    one = explainer()
    measured = stability(one, one.explain([0.3, 0.4]), noise=Shift(0.5))
    assert measured.to_dict() == {
        "copies": 0,
        "kept": [0, 0],
        "least_shares": None,
        "same": 0,
        "covered": 0,
        "moved": None,
        "differences": {},
    }


def test_a_copy_without_ways_keeps_none() -> None:
    def model(rows: Any) -> Any:
        return (rows[:, 0] > 0.5) & (rows[:, 1] < 0.5)

    one = explainer(model, constraints=Constraints(immutable=["x1"]), max_counterfactuals=1)
    explanation = one.explain([0.2, 0.4])

    class Up:
        def copies(self, rows: Any, columns: Any, repeats: int, same: Any, random: Any) -> Any:
            copies = np.repeat(rows[:, None, :], repeats, axis=1)
            copies[:, 1:, 1] = 0.9  # nothing leads from there to the other class
            return copies, np.ones((1, repeats), dtype=bool)

    measured = stability(one, explanation, repeats=3, noise=Up())
    expected = {"copies": 3, "kept": [1], "same": 1}
    assert {name: measured.to_dict()[name] for name in expected} == expected
    assert measured.differences == pytest.approx({"x0": 0, "x1": 1 / 3})


def test_a_regression_is_asked_for_the_interval() -> None:
    one = explainer(lambda rows: rows.sum(axis=1))
    explanation = one.explain([0.3, 0.4], interval=(1.2, 2))
    assert asked_for(explanation.context)["interval"] == (1.2, 2)
    measured = stability(one, explanation, repeats=5)
    assert measured.copies == 5
    assert measured.kept.max() > 0


@pytest.mark.parametrize(
    ("feature", "before", "after", "other_before", "other_after", "same"),
    [
        ("duration", 24, 12, 20, 6, True),
        ("duration", 24, 12, 6, 12, False),
        ("credit_amount", np.nan, 100.0, np.nan, 900.0, True),
        ("credit_amount", np.nan, 900.0, 100.0, 900.0, False),
        ("score", -9, 600, -9, 700, True),
        ("score", 700, -9, 600, -9, True),
        ("score", 700, -9, 600, 500, False),
        ("savings", 0, 1, 0, 1, True),
        ("purpose", 0, 1, 0, 2, False),
        ("purpose", 0, 2, 1, 2, True),
        ("late", 0, 1, 0, 1, True),
        ("start", 5e15, 6e15, 5.5e15, 5.6e15, True),
        ("housing", 0, 1, 0, 1, True),
        ("duration", 24, 12, 12, 12, False),
    ],
)
def test_when_two_ways_are_the_same(
    feature: str, before: float, after: float, other_before: float, other_after: float, same: bool
) -> None:
    i = TABLE.names.index(feature)
    x, row, y, other = (MATRIX[1].copy() for _ in range(4))
    x[i], row[i], y[i], other[i] = before, after, other_before, other_after
    row[0 if i else 1] += 1  # something else rises, in both
    other[0 if i else 1] += 2
    (first,), (second,) = option_keys(x, row[None], TABLE), option_keys(y, other[None], TABLE)
    assert (first == second) is same


def test_what_is_no_explanation_of_this_explainer_is_refused() -> None:
    one, two = explainer(), explainer(distance="l2", scale=None)
    explanation = one.explain([0.3, 0.4])
    with pytest.raises(InvalidInputError, match="made by another explainer"):
        stability(two, explanation)
    with pytest.raises(InvalidInputError, match=r"at least one option, as .* got list"):
        stability(one, [0.3, 0.4])  # type: ignore[arg-type]
    (empty,) = one.explain_many([[0.7, 0.8]], target=True, skip=True)
    with pytest.raises(InvalidInputError, match="got one without options"):
        stability(one, empty)
    with pytest.raises(InvalidInputError, match="repeats"):
        stability(one, explanation, repeats=0)
    with pytest.raises(NoCounterfactualError):
        one.explain([0.3, 0.4], target="maybe")


def test_an_explanation_that_was_written_and_loaded_can_be_measured() -> None:
    one = explainer()
    explanation = one.explain([0.3, 0.4], target=True)
    loaded = Explanation.from_json(explanation.to_json())
    expected = stability(one, explanation, repeats=4).to_dict()
    assert stability(one, loaded, repeats=4).to_dict() == expected


def test_copies_are_compared_one_by_one() -> None:
    own = explainer()
    explanation = own.explain([0.3, 0.4])
    noise = GaussianNoise(variance=0.01)
    compared = compare_with_copies(own, explanation, repeats=12, random_state=3, noise=noise)
    counted = stability(own, explanation, repeats=12, random_state=3, noise=noise)
    assert len(compared) == counted.copies == 12
    assert compared.kept_by.shape == (len(explanation), 12)
    assert compared.kept_by.sum(axis=1).tolist() == counted.kept.tolist()
    assert compared.same.sum() == counted.same
    assert compared.distances.mean() == pytest.approx(counted.moved)
    table = evaluate(own, [[0.3, 0.4]], repeats=12, random_state=3, noise=noise)
    assert compared.covered.sum() == counted.covered == table["covered"].sum()
    assert compared.kept_by.mean() == pytest.approx(table["kept"].mean())
    np.testing.assert_allclose(compared.distances, table["input_distance"])


def test_twenty_of_twenty_means_at_least_86_percent() -> None:
    # With a share below 0.05 ** (1 / 20), all of 20 copies are kept in less than 5 % of all draws.
    assert least_shares(np.array([20]), 20)[0] == pytest.approx(0.05 ** (1 / 20))
    assert math.isnan(least_shares(np.array([0]), 0)[0])


@given(st.integers(1, 40), st.data())
def test_the_least_share_keeps_as_many_copies_in_one_of_twenty_draws(
    copies: int, data: st.DataObject
) -> None:
    kept = data.draw(st.integers(1, copies))
    least = least_shares(np.array([kept]), copies)[0]
    as_many = sum(
        math.comb(copies, k) * least**k * (1 - least) ** (copies - k)
        for k in range(kept, copies + 1)
    )
    assert as_many == pytest.approx(0.05)
    assert least < kept / copies
    assert least_shares(np.array([0]), copies)[0] == 0
