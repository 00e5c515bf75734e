"""Explanations to draw: a plane of numbers, a mixed table with a missing value, 50 features."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.interpolate import RegularGridInterpolator

from counterset import Constraints, DiverseExplainer, Explanation, NearestCandidates, Schema
from counterset._base.arrays import Mask, Matrix
from counterset.plots.map import Background

LONG = "monthly_income_after_all_taxes_and_social_contributions"


def approve(rows: pd.DataFrame) -> Any:
    score = rows[LONG] / 3000 + (rows["home"] == "own") * 0.8 + (rows["score"] - 600) / 100
    return np.where(score - rows["debt"].fillna(6000) / 5000 > 1.2, "yes", "no")


@cache
def mixed() -> tuple[Explanation, DiverseExplainer]:
    """5 features: numbers, a category, one that misses, and a long name."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({
        "age": rng.integers(18, 80, 400),
        LONG: rng.integers(8, 90, 400) * 100,
        "home": rng.choice(["rent", "own", "with <b>parents</b>"], 400),
        "score": rng.normal(600, 80, 400).round(1),
        "debt": np.where(rng.random(400) < 0.2, np.nan, rng.integers(0, 200, 400) * 50.0),
    })  # fmt: skip
    explainer = DiverseExplainer(
        approve, constraints=Constraints(immutable=["age"]), max_counterfactuals=4
    ).fit(X)
    declined = X[(approve(X) == "no") & X["debt"].isna()]
    return explainer.explain(declined.iloc[0]), explainer


@cache
def wide() -> tuple[Explanation, DiverseExplainer]:
    """50 numbers, all of which change."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 50))
    weights = rng.normal(size=50)
    explainer = DiverseExplainer.paper(lambda rows: rows @ weights > 3).fit(X)
    return explainer.explain(X[(X @ weights < 0)][0]), explainer


@cache
def plane() -> tuple[Explanation, DiverseExplainer]:
    """Two numbers, of which the model takes a curve."""
    X = np.random.default_rng(2).random((150, 2))
    explainer = DiverseExplainer.paper(
        lambda rows: rows[:, 0] + 0.8 * rows[:, 1] ** 2 > 1,
        max_counterfactuals=2,
        candidates=NearestCandidates(40),
    ).fit(X)
    return explainer.explain([0.2, 0.3]), explainer


@cache
def three_classes() -> tuple[Explanation, DiverseExplainer]:
    """Two numbers, and three classes side by side."""
    X = np.random.default_rng(4).random((200, 2))

    def model(rows: Any) -> Any:
        return np.array(["low", "middle", "high"])[np.digitize(rows.sum(axis=1), [0.8, 1.1])]

    explainer = DiverseExplainer(model, max_counterfactuals=2).fit(X)
    return explainer.explain([0.1, 0.2]), explainer


@cache
def few_changes() -> tuple[Explanation, DiverseExplainer]:
    """Eight numbers, of which each option changes few."""
    X = np.random.default_rng(5).random((300, 8))

    def model(rows: Any) -> Any:
        return rows[:, 0] * rows[:, 1] + rows[:, 2] ** 2 > 0.9

    explainer = DiverseExplainer(model, max_counterfactuals=2).fit(X)
    return explainer.explain(X[~model(X)][0]), explainer


@cache
def special() -> tuple[Explanation, DiverseExplainer]:
    """A number of which -9 says that there is no record, as the input has it."""
    rng = np.random.default_rng(3)
    late = np.where(rng.random(200) < 0.2, -9, rng.integers(0, 50, 200))
    X = pd.DataFrame({"late": late.astype(float), "saved": rng.random(200)})

    def trust(rows: pd.DataFrame) -> Any:
        return np.where(rows["late"] == -9, 60, rows["late"]) / 50 < 0.6 * rows["saved"]

    schema = Schema(special={"late": [-9]})
    explainer = DiverseExplainer(trust, schema=schema, max_counterfactuals=1).fit(X)
    return explainer.explain(X[late == -9].iloc[0]), explainer


def depth_at(background: Background, points: Matrix) -> Any:
    """Interpolate how deep points lie between the middles of the cells, as the drawing does."""
    axes = background.up[:, 0], background.right[0]
    return RegularGridInterpolator(axes, background.depth)(points[:, ::-1])


def at_cell(background: Background, position: Matrix) -> Mask:
    """Return what the cell of a point says; of several cells, if it lies between them."""
    apart = np.maximum(np.abs(background.right - position[0]), np.abs(background.up - position[1]))
    here: Mask = background.reached[apart <= apart.min() + 1e-9]
    return here
